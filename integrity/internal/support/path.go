package support

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

// pathRoles are roles that a path gives for certain; the first match counts.
var pathRoles = []struct {
	path *regexp.Regexp
	role Role
}{
	{regexp.MustCompile(`(^|/)(node_modules|site-packages|\.?venv|virtualenv|\.yarn|\.tox|\.nox|__pycache__|\.pytest_cache|\.git|\.hg|\.svn)/`), Other},
	{regexp.MustCompile(`(^|/)(conftest|sitecustomize|usercustomize)\.py$|\.pth$`), Support},
	{regexp.MustCompile(`(^|/)\.?pytest\.(ini|toml)$|(^|/)(tox\.ini|\.?coveragerc|nose2?\.cfg|\.noserc|\.?nosetests\.cfg|\.testr\.conf|\.stestr\.conf|noxfile\.py)$`), Runner},
	{regexp.MustCompile(`(^|/)(jest|vitest|playwright|karma|cypress|wdio|ava|nyc|c8|mocha|jasmine|protractor|testcafe|tap|nightwatch|web-test-runner|stryker|testem|detox|japa|codecept)\.([\w-]+\.)*(config|conf|workspace|projects|rc|setup|preset)(\.[\w-]+)*\.([mc]?[jt]s|json5?|ya?ml|toml)$`), Runner},
	{regexp.MustCompile(`(^|/)(jest|vitest|playwright|karma|cypress|ava|mocha)\.(config|conf|workspace|setup|json)(\.[\w-]+)*$|(^|/)(testem|jasmine|cypress|\.testcaferc)\.(js|json)$`), Runner},
	{regexp.MustCompile(`(^|/)\.(mocha|nyc|c8|tap|testcafe|ava)rc(\.\w+)?$|(^|/)mocha\.opts$|(^|/)tsconfig[.-](\w+[.-])?(tests?|specs?|jest|vitest|e2e)\.json$`), Runner},
	{regexp.MustCompile(`(^|/)(jest|vitest|mocha|test|tests)[.-]?setup\.[mc]?[jt]sx?$|(^|/)setup-?[tT]ests?\.[mc]?[jt]sx?$|(^|/)setup[.-](jest|vitest|mocha)\.[mc]?[jt]sx?$`), Support},
	{regexp.MustCompile(`(^|/)\.(rspec(-local|-parallel)?|simplecov|cucumber|minitest)$|(^|/)cucumber\.(ya?ml|[mc]?js|json)$`), Runner},
	{regexp.MustCompile(`(^|/)(spec|test|rails|minitest)_helper\.rb$|(^|/)test_helper\.exs?$|(^|/)test_helper\.(ba)?sh$`), Support},
	{regexp.MustCompile(`(^|/)(phpunit|codeception|behat|kahlan|phpspec|infection)([.-][\w-]+)*\.(xml|ya?ml|json5?|php)(\.dist)?$`), Runner},
	{regexp.MustCompile(`(^|/)(junit-platform\.properties|testng[\w-]*\.xml|surefire\.properties|TestNG\.xml|kotest\.properties|allure\.properties)$|(^|/)META-INF/services/(org\.(junit|testng|spockframework)|io\.kotest)[\w.$]*$`), Runner},
	{regexp.MustCompile(`(^|/)(\.config/)?nextest\.toml$|(^|/)(tarpaulin|insta)\.(toml|yaml)$|(^|/)xunit\.runner\.json$|\.(runsettings|xctestplan|testsettings)$|(^|/)testconfig\.json$|(^|/)CTest(Custom|Config|TestfileLocal)\.cmake$`), Runner},
	{regexp.MustCompile(`(^|/)(run[_-]?)?(unit|integration|all)?[_-]?(run)?tests?\.(sh|bash|ps1|bat|cmd)$|(^|/)run[_-]?tests?(\.py|\.[mc]?js)?$|(^|/)\.env\.tests?(\.\w+)?$`), Runner},
	{regexp.MustCompile(`(?i)\.(snap|ambr|golden)$|\.(golden|snap|approved|verified)\.\w+$|(^|/)__(snapshots|image_snapshots|file_snapshots|mocks|fixtures)__/|(^|/)(cassettes|goldens?|golden[-_]files)/|-snapshots/`), Support},
	{regexp.MustCompile(`(^|/)testdata/|(^|/)src/(test|it|[a-z]+Test)(Fixtures)?/|(^|/)src/(testFixtures|testUtils|testkit)/|\.(Unit|Integration)?Tests?\.\w*proj$`), Support},
	{regexp.MustCompile(`(^|/)src/(main|commonMain|jvmMain)/`), Product},
	{regexp.MustCompile(`(^|/)\.(github|gitlab|circleci|buildkite|vscode|idea|husky|githooks|cursor|claude|devcontainer)/|(^|/)(\.gitlab-ci|\.travis|appveyor|azure-pipelines|\.pre-commit-config|codecov|\.codecov|renovate)\.(ya?ml|json5?)$|(^|/)\.(gitignore|gitattributes|gitmodules|editorconfig|dockerignore|npmignore|mailmap|git-blame-ignore-revs|prettierrc|prettierignore|eslintignore)$|(^|/)(CODEOWNERS|AGENTS\.md|CLAUDE\.md)$|\.(log|tmp|bak|orig|rej|swp)$`), Other},
}

// mixed matches files that configure the runner among other things.
var mixed = regexp.MustCompile(`(^|/)(package\.json|deno\.jsonc?|bunfig\.toml|composer\.json|pyproject\.toml|setup\.(cfg|py)|Cargo\.toml|\.cargo/config(\.toml)?|pom\.xml|(build|settings)\.gradle(\.kts)?|gradle\.properties|build\.(sbt|xml)|go\.(mod|work)|` +
	`vite\.(\w+\.)?config\.[mc]?[jt]s|(babel|rollup|webpack)\.config\.[mc]?[jt]s|\.babelrc(\.\w+)?|(angular|nx|turbo|project|workspace)\.json|(GNU)?[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml|[Rr]akefile|\.mvn/\w+\.config|` +
	`[\w.-]+\.(cs|fs|vb)proj|Directory\.Build\.(props|targets)|mix\.exs|Package\.swift|CMakeLists\.txt|CMake(User)?Presets\.json|meson\.build|BUILD(\.bazel)?|\.bazelrc|tasks\.py|fabfile\.py|[Gg]ulpfile\.[mc]?js|[Gg]runtfile\.js)$`)

// folders for tests and what they need: in certain ones there is nothing else, others may
// as well be packages of the product.
var (
	certainFolders  = []string{"__tests__", "testdata", "__mocks__", "__fixtures__", "__snapshots__"}
	probableFolders = []string{"test", "tests", "spec", "specs", "fixtures", "e2e", "testing", "cypress", "unittests"}
)

func inTestFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(certainFolders, dir) || slices.Contains(probableFolders, strings.ToLower(dir))
	})
}

// byPath returns the role that a path suggests, and whether nothing in the tree can change
// that.
func byPath(name string) (role Role, sure bool) {
	for _, p := range pathRoles {
		if p.path.MatchString(name) {
			return p.role, true
		}
	}
	lang := source.LanguageOf(name, nil)
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case source.Vendored(name):
		return Product, true
	case source.TestFile(base, lang):
		// Commands and pages are called test.py and tests.ts, too.
		return Test, lang == source.Go || stem != "test" && stem != "tests"
	case slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(certainFolders, dir) }):
		return Support, true
	case inTestFolder(name):
		return Support, lang == source.Unknown
	case source.TestFile(name, lang):
		return Support, true
	case lang == source.Unknown && facts.IsDocumentation(name):
		return Other, false
	}
	return Product, false
}
