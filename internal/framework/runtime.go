package framework

// Interpreters are programs that run the script which follows them.
var Interpreters = append(split("python python2 python3 ruby perl php"), runtimes...)

// runtimes are the programs that run JavaScript outside of a browser.
var runtimes = split("node deno bun")

// NodeInterpreters and TypeScriptInterpreters are the programs by whose name in a "#!" line a script
// is recognized as JavaScript or TypeScript.
var (
	NodeInterpreters       = split("node nodejs bun")
	TypeScriptInterpreters = split("deno ts-node tsx")
)

// PackageManager is a program that runs the scripts of package.json, and programs of the
// dependencies.
type PackageManager struct {
	Exec     []string // subcommands after which a program follows
	NeedsRun bool     // the name of a script must follow the word run
}

// PackageManagers are the package managers of Node, by name.
var PackageManagers = map[string]PackageManager{
	"npm":  {Exec: split("exec x"), NeedsRun: true},
	"pnpm": {Exec: split("exec dlx")},
	"yarn": {Exec: split("exec dlx")},
	"bun":  {Exec: split("x"), NeedsRun: true},
}

// LockFiles are the lock files of Node's package managers that do not end in ".lock".
var LockFiles = split("package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb")

// Expressions for runtimes of JavaScript, to be combined by callers.
const (
	// OtherRuntimes matches the names of runtimes that code compares with Node.
	OtherRuntimes = `deno|bun\b`

	// RuntimeConfig matches the names of the configuration files of Deno and Bun.
	RuntimeConfig = `deno\.jsonc?|bunfig\.toml`

	// RuntimeConfigStem matches the beginning of such a name, before the extension.
	RuntimeConfigStem = `deno|bunfig`

	// NodeLintConfig matches a part of the names of files that configure linters.
	NodeLintConfig = `eslint|package\.json|tsconfig|jsconfig|biome|deno|tslint|jshint|stylelint|oxlint`

	// NodeSuppression matches a comment that silences a linter or a type checker, such as
	// eslint-disable-next-line. NodeFileSuppression matches one that does so for the file, such as
	// @ts-nocheck.
	NodeSuppression     = `eslint-disable(?:-next-line|-line)?\b|@ts-(?:ignore|nocheck|expect-error)\b|biome-ignore\b|tslint:disable|prettier-ignore\b|@deno-lint-ignore|deno-lint-ignore`
	NodeFileSuppression = `@ts-nocheck|^eslint-disable\s*(?:\*/|$)|deno-lint-ignore-file`
)

// ProgramFolders are folders of runtimes below the home folder, and CacheFolders those of browsers
// and dependencies for tests. ProgramVariables and CacheVariables are environment variables that name
// such folders in other places.
var (
	ProgramFolders   = split(".bun .deno")
	CacheFolders     = split(".cache/ms-playwright .cache/Cypress .cache/deno")
	ProgramVariables = split("BUN_INSTALL")
	CacheVariables   = split("PLAYWRIGHT_BROWSERS_PATH")
)
