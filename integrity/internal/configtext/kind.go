package configtext

import (
	"path"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// Kind is how a configuration file is written.
type Kind uint8

// The ways in which configuration is written.
const (
	None        Kind = iota
	yamlConfig       // YAML
	jsonConfig       // JSON, with comments
	braceConfig      // objects of JavaScript, blocks of Gradle and its kin
	tomlConfig       // TOML
	iniConfig        // sections, names and values
	xmlConfig        // XML
	makeConfig       // targets with recipes
	dockerConfig
	shellConfig
	argsConfig // arguments, one or more a line
	powerShellConfig
	codeConfig // code that sets options by calling functions
)

// configNames give the format of a file by its path. The first row that matches counts, so the
// files that are not read come first. The comment above a row has a path that it matches.
var configNames = []struct {
	name *regexp.Regexp
	kind Kind
}{
	// package-lock.json
	{regexp.MustCompile(`(^|/)(package-lock|npm-shrinkwrap|composer\.lock|pnpm-lock|packages\.lock|project\.assets)\b|\.lock$|\.min\.js$`), None},
	// Makefile
	{regexp.MustCompile(`(^|/)(GNU|BSD)?[Mm]akefile(\.\w+)?$|\.mk$|(^|/)\.?[Jj]ustfile$`), makeConfig},
	// Dockerfile
	{regexp.MustCompile(`(^|/)(Docker|Container)file[^/]*$|\.[Dd]ockerfile$`), dockerConfig},
	// .husky/pre-commit
	{regexp.MustCompile(`(^|/)(\.husky|\.githooks|git-?hooks|hooks)/[^/.]+$|(^|/)\.envrc$`), shellConfig},
	// build.ps1
	{regexp.MustCompile(`(?i)\.(ps1|cmd|bat)$`), powerShellConfig},
	// Shop.xctestplan
	{regexp.MustCompile(`\.xctestplan$|(^|/)CMake(User)?Presets\.json$`), jsonConfig},
	// src/Makefile.am
	{regexp.MustCompile(`(^|/)Makefile\.am$`), makeConfig},
	// .rspec
	{regexp.MustCompile(`(^|/)(` + framework.ArgumentFile + `|\.mvn/(maven|jvm)\.config|\.jvmopts|\.sbtopts)$`), argsConfig},
	// jest.config.js
	{regexp.MustCompile(`(^|/)(` + framework.NodeConfig + `)\.(\w+\.)?(config|conf|workspace|rc|setup)(\.\w+)?\.[mc]?[jt]s$`), braceConfig},
	// .mocharc.js
	{regexp.MustCompile(`(^|/)(\w+\.(workspace|conf)|\.(` + framework.DotSettings + `))\.[mc]?[jt]s$`), braceConfig},
	// build.gradle
	{regexp.MustCompile(`\.gradle(\.kts)?$|\.sbt$|(^|/)(Jenkinsfile|mix\.exs|\.credo\.exs|coveralls\.exs|[Gg]runtfile\.js)$`), braceConfig},
	// .babelrc
	{regexp.MustCompile(`(^|/)\.(` + framework.DotSettings + `|babelrc|swcrc|jshintrc)$|\.(jsonc|json5)$`), jsonConfig},
	// tsconfig.json
	{regexp.MustCompile(`(^|/)([^/]*(config|rc|conf)[^/]*|package|composer|` + framework.RuntimeConfigStem + `|biome|project|nx|lerna|turbo|` + framework.NodeConfig + `|settings[^/]*|infection|phpstan|tslint|coveralls|codecov|hooks|nest-cli|angular|xunit\.runner|testconfig|testem|coverlet[^/]*|\.c8rc)\.json$`), jsonConfig},
	// .github/workflows/ci.yml
	{regexp.MustCompile(`\.ya?ml$|(^|/)\.clang-(tidy|format)$|(^|/)(phpstan|phpstan-baseline)(\.dist)?\.neon(\.dist)?$`), yamlConfig},
	// pyproject.toml
	{regexp.MustCompile(`\.toml$|(^|/)\.cargo/config$|(^|/)Pipfile$`), tomlConfig},
	// setup.cfg
	{regexp.MustCompile(`(^|/)(\.coveragerc|\.flake8|\.?pylintrc|\.npmrc|\.yarnrc|\.bandit|\.pydocstyle|\.condarc|\.nosetestsrc|\.testr\.conf|\.gitconfig|\.gitmodules|\.pypirc)$|\.(ini|cfg|properties|editorconfig)$|(^|/)\.?env(\.[\w.-]+)?$`), iniConfig},
	// pom.xml
	{regexp.MustCompile(`(^|/)(` + framework.XMLSettings + `)[\w.-]*\.xml(\.dist)?$|\.xml\.dist$|(^|/)[\w.-]*(exclude|suppress|baseline|checkstyle|detekt|lint)[\w.-]*\.xml$`), xmlConfig},
	// Shop.csproj
	{regexp.MustCompile(`\.(cs|fs|vb|vcx)proj$|\.(props|targets|runsettings|ruleset)$`), xmlConfig},
	// noxfile.py
	{regexp.MustCompile(`(^|/)(noxfile|tasks|setup|runtests?|run_tests?|conftest|dodo|fabfile)\.py$|(^|/)(Rakefile|\.simplecov|Guardfile|Fastfile|SConstruct)$|\.rake$|(^|/)(spec|test|rails)_helper\.rb$|(^|/)(test|spec)/helper\.rb$|(^|/)test_helper\.exs$|(^|/)(CMakeLists\.txt|BUILD(\.bazel)?|meson\.build|gulpfile\.[mc]?js|Package\.swift|\.php-cs-fixer(\.dist)?\.php|build\.rs|build\.xs)$|\.cmake$`), codeConfig},
}

// DataFolderRE matches paths in folders with files that tests read, such as
// testdata/app/package.json. Configuration there configures nothing.
var DataFolderRE = regexp.MustCompile(`(?i)(^|/)(testdata|__?fixtures?__?|fixtures?|test-?(cases?|files?|resources|assets|data)|tests?/(data|resources|assets|samples?|projects?|cases?|inputs?)|src/test/resources|__mocks__|__snapshots__|goldens?|skeletons?|cookiecutter)/`)

// DetectKind returns the format of a file that configures what runs, measures and judges the code.
// It returns None for other files. head is the beginning of the text, by which scripts without an
// extension are recognized; it may be nil.
func DetectKind(name string, head []byte) Kind {
	if DataFolderRE.MatchString(name) || source.IsVendored(name) {
		return None
	}
	for _, c := range configNames {
		if c.name.MatchString(name) {
			return c.kind
		}
	}
	if source.DetectLanguage(name, head) == source.Shell && path.Ext(name) != ".bats" {
		return shellConfig
	}
	return None
}

// ToolName returns the part of a path that identifies the tool it configures: the base name, or the
// path if the name of a folder says more.
func ToolName(name string) string {
	if strings.Contains(name, ".github/") || strings.Contains(name, ".circleci/") || strings.Contains(name, ".cargo/") || strings.Contains(name, ".mvn/") {
		return name
	}
	return path.Base(name)
}
