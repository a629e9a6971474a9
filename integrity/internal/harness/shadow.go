package harness

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

var (
	// startupFileRE matches files that an interpreter runs before anything else, such as
	// sitecustomize.py. pthImportRE matches the line by which a .pth file does the same.
	startupFileRE = regexp.MustCompile(`(^|/)(sitecustomize|usercustomize)\.py$|(^|/)\.pythonrc(\.py)?$`)
	pthImportRE   = regexp.MustCompile(`(?m)^\s*import[ \t]`)
	// runnerNames are programs that run tests or check. A file of the project with such a name is
	// started instead of the program if the search path leads to it first.
	runnerNames = framework.Programs()
	// binstubRE matches scripts that only start the installed program, as those of Bundler do.
	// buildWrapperRE matches the names of scripts that download a build tool and start it.
	binstubRE      = regexp.MustCompile(`(?i)Gem\.bin_path|bundler|rubygems|vendor/autoload|composer|autoload\.php|require_relative|APP_PATH|hermit|pkgx|nix-shell|docker|basedir=|console_main|sys\.exit\(\w+\(\)\)`)
	buildWrapperRE = regexp.MustCompile(`^(gradlew|mvnw)$`)
)

// findShims finds files that run instead of the runner, or before it.
func findShims(f *facts.ChangedFile, report facts.Report) {
	if !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) || len(f.AddedLines()) == 0 && f.OldPath == "" {
		return
	}
	switch {
	case isStartupCode(f), isShim(f):
		report(f.NewFinding(1, f.After().LineAt(1)))
	case buildWrapperRE.MatchString(path.Base(f.Path)):
		if l, ok := facts.FirstMatchingLine(f.AddedLines(), disablingLineRE); ok {
			report(f.NewFinding(l.Number, l.Text))
		}
	}
}

// disablingLineRE matches a line that makes a wrapper of a build tool succeed, such as "exit 0".
var disablingLineRE = regexp.MustCompile(`^\s*exit\s+0\s*$|\|\|\s*true|-DskipTests|failure\.ignore`)

// isStartupCode reports whether an interpreter runs the file before anything else.
func isStartupCode(f *facts.ChangedFile) bool {
	return startupFileRE.MatchString(f.Path) || path.Ext(f.Path) == ".pth" && pthImportRE.Match(f.After().Text)
}

// isShim reports whether a file is a script with the name of a runner. Either it is new, or it
// succeeds at once and is in a folder for installed tools.
func isShim(f *facts.ChangedFile) bool {
	text := f.After().Text
	if !slices.Contains(runnerNames, path.Base(f.Path)) || !strings.HasPrefix(string(text), "#!") || binstubRE.Match(text) {
		return false
	}
	if source.IsVendored(f.Path) {
		return path.Base(path.Dir(f.Path)) == "bin" && strings.Contains(string(text), "exit 0")
	}
	return (f.Added || f.OldPath != "") && !callsItsTool(f)
}

// searchPathFolderRE matches folders that a search path usually leads to: the root, bin and shims.
var searchPathFolderRE = regexp.MustCompile(`(?i)^$|bin$|shims?$`)

// callsItsTool reports whether a script is called by its path, such as scripts/coverage, and runs
// the tool that it is named after.
func callsItsTool(f *facts.ChangedFile) bool {
	dir, name := path.Split(f.Path)
	if searchPathFolderRE.MatchString(strings.Trim(dir, "/")) {
		return false
	}
	text := f.After().Text
	call := regexp.MustCompile(`(?m)^\s*(?:exec\s+|[A-Z_]+=\S*\s+)*(?:["']?\$\{?\w+\}?["']?/?|\./|[\w./-]+/bin/|npx\s+|bundle exec\s+|(?:poetry|uv|pipenv|hatch) run\s+|python3? -m\s+)?` + regexp.QuoteMeta(name) + `(?:\s|$)`)
	return call.Match(text) && !slices.ContainsFunc(f.After().Lines(), func(l facts.Line) bool { return disablingLineRE.MatchString(l.Text) })
}

var (
	// libraries are import names of packages that tests use: a module of the project
	// with such a name hides the package.
	libraries = slices.Concat(framework.PythonTestModules, strings.Fields("nose2 faker responses freezegun vcr tox nox "+
		"requests numpy pandas attr attrs yaml click flask django jinja2 werkzeug sqlalchemy pydantic httpx aiohttp simplejson dateutil six typing_extensions setuptools pkg_resources "+
		"json time datetime random subprocess asyncio logging typing math decimal os sys re io socket threading traceback inspect functools itertools collections pathlib shutil tempfile warnings difflib operator contextlib importlib builtins assertpy expects hamcrest"))
	// goReplaceRE matches a replaced module in go.mod, as in "replace example.com/a v1.0.0 =>
	// ../a". goModuleRE matches the line with the name of the module. dependencyListRE matches
	// files that list dependencies.
	goReplaceRE      = regexp.MustCompile(`^\s*(?:replace\s+)?([\w./~-]+)(?:\s+v\S+)?\s+=>\s+(\S+)(?:\s+v\S+)?`)
	goModuleRE       = regexp.MustCompile(`(?m)^module\s+(\S+)`)
	dependencyListRE = regexp.MustCompile(`(^|/)(vendor/modules\.txt|go\.(mod|sum)|composer\.(json|lock)|package(-lock)?\.json|yarn\.lock|Gemfile\.lock|Cargo\.(toml|lock)|\.gitmodules)$`)
)

// findShadowedDependencies finds modules of the project that hide a dependency, and dependencies
// that were replaced or edited.
func findShadowedDependencies(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	if !f.After().Exists() || configtext.DataFolderRE.MatchString(f.Path) && !strings.Contains(f.Path, "node_modules/") {
		return
	}
	switch name := shadowedLibrary(f.Path); {
	case path.Base(f.Path) == "go.mod":
		findReplacements(c, f, report)
	case path.Base(f.Path) == "go.work" && f.Added:
		report(f.NewFinding(1, f.After().LineAt(1)).WithSeverity(metric.Info))
	case f.Added && name != "" && !isOwnPackage(c, f.Path):
		finding := f.NewFinding(1, "import "+name+" finds "+f.Path)
		if slices.Contains(framework.PythonTestModules, name) {
			finding.Severity = metric.Critical
		}
		report(finding)
	case isInstalledDependency(c, f):
		report(f.NewFinding(1, f.Path))
	}
}

// isInstalledDependency reports whether the file belongs to a dependency as it is installed,
// and was changed manually: no list of dependencies changed with it.
func isInstalledDependency(c *facts.Change, f *facts.ChangedFile) bool {
	if strings.Contains("/"+f.Path, "/node_modules/") {
		return true
	}
	isEdited := !f.Added && strings.HasPrefix(f.Path, "vendor/") && f.After().Language() != source.Unknown
	return isEdited && !slices.ContainsFunc(c.Files, func(g *facts.ChangedFile) bool { return dependencyListRE.MatchString(g.Path) })
}

// shadowedLibrary returns the name of the library that a Python module at the root of the project,
// of its sources or of its tests hides. It returns "" if there is none.
func shadowedLibrary(name string) string {
	dir, base := path.Split(name)
	dir = strings.Trim(dir, "/")
	module, ok := strings.CutSuffix(base, ".py")
	if ok && module == "__init__" {
		dir, module = path.Split(dir)
		dir = strings.Trim(dir, "/")
	}
	isImportable := slices.Contains([]string{"", "tests", "test", "src"}, dir)
	if !ok || !isImportable || !slices.Contains(libraries, module) {
		return ""
	}
	return module
}

// manifests are the files at the root of a project that contain its name.
var manifests = []string{"pyproject.toml", "setup.cfg", "setup.py"}

// isProjectName reports whether the project itself has a name, going by a manifest that
// existed before the change, or by that of a new project.
func isProjectName(c *facts.Change, module string) bool {
	at := regexp.MustCompile(`\b(?i:name|py_modules|packages)\s*=\s*\[?\s*["']?` + regexp.QuoteMeta(module) + `["'\s,]`)
	begins := c.IsNewProject()
	if !begins && c.Base.Texts != nil {
		for _, text := range c.Base.Texts(manifests) {
			if at.Match(text) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return slices.Contains(manifests, f.Path) && (at.Match(f.Before().Text) || begins && at.Match(f.After().Text))
	})
}

// isOwnPackage reports whether the project itself is the library that a file seems to hide: it has
// the name, or the change has other files of that package that existed before.
func isOwnPackage(c *facts.Change, name string) bool {
	module := shadowedLibrary(name)
	return isProjectName(c, module) || slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		isInPackage := strings.HasPrefix(f.Path, module+"/") || strings.HasPrefix(f.Path, "src/"+module+"/") || strings.HasPrefix(f.Before().Path, module)
		return f.Path != name && !f.Added && isInPackage
	})
}

// findReplacements finds the first Go module that is newly replaced by a folder or by another
// module. A module of the same repository may rightly be replaced.
func findReplacements(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	own := ""
	if m := goModuleRE.FindSubmatch(f.After().Text); m != nil {
		own = string(m[1])
	}
	for _, l := range f.AddedLines() {
		m := goReplaceRE.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		finding := f.NewFinding(l.Number, l.Text)
		switch {
		case !strings.HasPrefix(m[2], ".") && !strings.HasPrefix(m[2], "/"):
			finding.Severity = metric.Medium
		case repositoryOf(own) == repositoryOf(m[1]), isNeighbouringModule(c, f, m[1], m[2]):
			continue
		}
		report(finding)
		return
	}
}

// isNeighbouringModule reports whether a module is replaced by the folder of the repository that
// contains it. The folder contained it before the change, or the module was no dependency yet.
func isNeighbouringModule(c *facts.Change, f *facts.ChangedFile, module, folder string) bool {
	name := path.Join(path.Dir(f.Path), folder, "go.mod")
	if strings.HasPrefix(folder, "/") || strings.HasPrefix(name, "../") {
		return false
	}
	declares := func(text []byte) bool {
		m := goModuleRE.FindSubmatch(text)
		return m != nil && string(m[1]) == module
	}
	for _, g := range c.Files {
		if g.Path == name {
			return declares(g.Before().Text) || declares(g.After().Text) && !slices.Contains(strings.Fields(string(f.Before().Text)), module)
		}
	}
	return c.Base.Texts != nil && declares(c.Base.Texts([]string{name})[name])
}

// repositoryOf returns the part of the path of a module that names its repository: "github.com/a/b"
// for github.com/a/b/c. For a path without a host it is the first element.
func repositoryOf(module string) string {
	parts := strings.SplitN(module, "/", 4)
	if !strings.Contains(parts[0], ".") {
		return parts[0]
	}
	return strings.Join(parts[:min(3, len(parts))], "/")
}
