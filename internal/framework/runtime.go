package framework

// Interpreters run a script that follows them.
var Interpreters = append(split("python python2 python3 ruby perl php"), runtimes...)

var runtimes = split("node deno bun")

// NodeInterpreters and TypeScriptInterpreters are programs of "#!" lines.
var (
	NodeInterpreters       = split("node nodejs bun")
	TypeScriptInterpreters = split("deno ts-node tsx")
)

// PackageManager runs the scripts of package.json, and programs of the dependencies.
type PackageManager struct {
	Exec     []string // subcommands after which a program follows
	NeedsRun bool     // a script must follow the word run
}

// PackageManagers are those of Node, by name.
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

	// RuntimeConfig matches the names of their configuration files.
	RuntimeConfig = `deno\.jsonc?|bunfig\.toml`

	// RuntimeConfigStem matches the start of such a name.
	RuntimeConfigStem = `deno|bunfig`

	// NodeLintConfig matches a part of the names of files that configure linters.
	NodeLintConfig = `eslint|package\.json|tsconfig|jsconfig|biome|deno|tslint|jshint|stylelint|oxlint`

	// NodeSuppression matches a comment that silences a linter or a type checker, and
	// NodeFileSuppression one that does so for the file.
	NodeSuppression     = `eslint-disable(?:-next-line|-line)?\b|@ts-(?:ignore|nocheck|expect-error)\b|biome-ignore\b|tslint:disable|prettier-ignore\b|@deno-lint-ignore|deno-lint-ignore`
	NodeFileSuppression = `@ts-nocheck|^eslint-disable\s*(?:\*/|$)|deno-lint-ignore-file`
)

// Folders of runtimes and of browsers for tests, below the home folder, and the variables
// that name such folders in other places.
var (
	ProgramFolders   = split(".bun .deno")
	CacheFolders     = split(".cache/ms-playwright .cache/Cypress .cache/deno")
	ProgramVariables = split("BUN_INSTALL")
	CacheVariables   = split("PLAYWRIGHT_BROWSERS_PATH")
)
