package support

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// pathRoles are the roles that a path decides on its own. The first row that matches counts. The
// comment above a row has a path that it matches.
var pathRoles = []struct {
	matches func(path string) bool
	role    Role
}{
	// node_modules/react/index.js
	{regexp.MustCompile(`(^|/)(node_modules|site-packages|\.?venv|virtualenv|\.yarn|\.tox|\.nox|__pycache__|\.\w+_cache|\.git|\.hg|\.svn)/`).MatchString, Other},
	// pytest.ini
	{framework.RunnerFile, Runner},
	// conftest.py
	{framework.SupportFile, Support},
	// app.test.js.snap
	{regexp.MustCompile(`(?i)\.(snap|ambr|golden)$|\.(golden|snap|approved|verified)\.\w+$|(^|/)__(snapshots|image_snapshots|file_snapshots|mocks|fixtures)__/|(^|/)(cassettes|goldens?|golden[-_]files)/|-snapshots/`).MatchString, Support},
	// testdata/cart.json
	{regexp.MustCompile(`(^|/)testdata/|(^|/)src/(test|it|[a-z]+Test)(Fixtures)?/|(^|/)src/(testFixtures|testUtils|testkit)/|\.(Unit|Integration)?Tests?\.\w*proj$`).MatchString, Support},
	// src/main/Cart.java
	{regexp.MustCompile(`(^|/)src/(main|commonMain|jvmMain)/`).MatchString, Product},
	// .github/workflows/ci.yml
	{regexp.MustCompile(`(^|/)\.(github|gitlab|circleci|buildkite|vscode|idea|husky|githooks|cursor|claude|devcontainer)/|(^|/)(\.gitlab-ci|\.travis|appveyor|azure-pipelines|\.pre-commit-config|codecov|\.codecov|renovate)\.(ya?ml|json5?)$|(^|/)\.(gitignore|gitattributes|gitmodules|editorconfig|dockerignore|npmignore|mailmap|git-blame-ignore-revs|prettierrc|prettierignore|eslintignore)$|(^|/)(CODEOWNERS|AGENTS\.md|CLAUDE\.md)$|\.(log|tmp|bak|orig|rej|swp)$`).MatchString, Other},
}

// mixedConfigRE matches files that configure the runner among other things, such as package.json.
var mixedConfigRE = regexp.MustCompile(`(^|/)(package\.json|` + framework.RuntimeConfig + `|composer\.json|pyproject\.toml|setup\.(cfg|py)|Cargo\.toml|\.cargo/config(\.toml)?|pom\.xml|(build|settings)\.gradle(\.kts)?|gradle\.properties|build\.(sbt|xml)|go\.(mod|work)|` +
	`vite\.(\w+\.)?config\.[mc]?[jt]s|(babel|rollup|webpack)\.config\.[mc]?[jt]s|\.babelrc(\.\w+)?|(angular|nx|turbo|project|workspace)\.json|(GNU)?[Mm]akefile|[Jj]ustfile|Taskfile\.ya?ml|[Rr]akefile|\.mvn/\w+\.config|` +
	`[\w.-]+\.(cs|fs|vb)proj|Directory\.Build\.(props|targets)|mix\.exs|Package\.swift|CMakeLists\.txt|CMake(User)?Presets\.json|meson\.build|BUILD(\.bazel)?|\.bazelrc|tasks\.py|fabfile\.py|[Gg]ulpfile\.[mc]?js|[Gg]runtfile\.js)$`)

// certainFolders have nothing but tests and what these need. probableFolders usually do, but may also
// be packages of the product.
var (
	certainFolders  = []string{"__tests__", "testdata", "__mocks__", "__fixtures__", "__snapshots__"}
	probableFolders = slices.Concat(framework.EndToEndFolders, strings.Fields("test tests spec specs fixtures testing unittests"))
)

// isInTestFolder reports whether a path is in a folder for tests and what they need.
func isInTestFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(certainFolders, dir) || slices.Contains(probableFolders, strings.ToLower(dir))
	})
}

// pathRole returns the role that a path suggests, and whether nothing in the tree can change
// that.
func pathRole(name string) (role Role, sure bool) {
	for _, p := range pathRoles {
		if p.matches(name) {
			return p.role, true
		}
	}

	lang := source.DetectLanguage(name, nil)
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case source.IsVendored(name):
		return Product, true
	case source.IsTestFile(base, lang):
		// Commands and pages are called test.py and tests.ts, too.
		return Test, lang == source.Go || stem != "test" && stem != "tests"
	case slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(certainFolders, dir) }):
		return Support, true
	case isInTestFolder(name):
		return Support, lang == source.Unknown
	case source.IsTestFile(name, lang):
		return Support, true
	case lang == source.Unknown && facts.IsDocumentation(name):
		return Other, false
	}
	return Product, false
}
