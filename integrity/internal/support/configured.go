package support

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// dependencyKeyRE matches keys that name packages and their versions, such as devdependencies.jest.
var dependencyKeyRE = regexp.MustCompile(`dependenc|requires?\b|\bextras|devdeps|packages\b`)

// touchesRunner reports whether the change of a mixed file is to the part that configures the
// runner.
func touchesRunner(f facts.File) bool {
	kind := configtext.DetectKind(f.Path, nil)
	before, ok := configtext.Read(kind, f.Path, f.Before)
	after, well := configtext.Read(kind, f.Path, f.After)
	if kind == configtext.None || !ok && len(f.Before) > 0 || !well && len(f.After) > 0 {
		return slices.ContainsFunc(differingTexts(lines(f.Before), lines(f.After)), framework.RunnerLine.MatchString)
	}
	a, b := runnerParts(before), runnerParts(after)
	if len(a)+len(b) == 0 || codeConfigRE.MatchString(f.Path) {
		a, b = lines(f.Before), lines(f.After)
		return slices.ContainsFunc(differingTexts(a, b), framework.RunnerLine.MatchString)
	}
	return len(differingTexts(a, b)) > 0
}

// OnlyPackagesChanged reports whether two versions of a manifest, such as package.json, differ only in
// the packages that they name.
func OnlyPackagesChanged(name string, before, after []byte) bool {
	if path.Base(name) == "go.mod" {
		return !bytes.Contains(after, []byte("replace"))
	}
	kind := configtext.DetectKind(name, nil)
	a, ok := configtext.Read(kind, name, before)
	b, well := configtext.Read(kind, name, after)
	others := func(r configtext.Reading) []string {
		var out []string
		for _, s := range r.Settings {
			if !dependencyKeyRE.MatchString(strings.ToLower(s.Key)) {
				out = append(out, s.Key+"\x00"+s.Value)
			}
		}
		return out
	}
	return kind != configtext.None && ok && well && len(before) > 0 && len(a.Settings) > 0 && len(differingTexts(others(a), others(b))) == 0
}

// codeConfigRE matches mixed files that are code, such as tasks.py and CMakeLists.txt. More counts
// there than the settings that can be read.
var codeConfigRE = regexp.MustCompile(`\.(py|cmake|swift|exs)$|CMakeLists|BUILD|meson|[Rr]akefile|unt?file\.|ulpfile\.|go\.(mod|work)$`)

// runnerParts returns the settings and commands of a file that configure the runner.
func runnerParts(r configtext.Reading) []string {
	var out []string
	for _, s := range r.Settings {
		if framework.RunnerKey.MatchString(s.Key) && !dependencyKeyRE.MatchString(s.Key) || strings.HasPrefix(s.Key, "scripts.") && framework.TestCommand.MatchString(s.Value) {
			out = append(out, s.Key+"\x00"+s.Value)
		}
	}
	for _, c := range r.Commands {
		if framework.RunnerKey.MatchString(c.Key) || framework.TestCommand.MatchString(c.Text) {
			out = append(out, c.Key+"\x00"+c.Text)
		}
	}
	return out
}

// lines splits a text at line feeds.
func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// differingTexts returns the texts that one list has more often than the other.
func differingTexts(a, b []string) []string {
	text := func(s string) string { return s }
	return slices.Concat(facts.Surplus(a, b, text), facts.Surplus(b, a, text))
}

// maxConfigs bounds how many configuration files are read. Those near the root come first.
const maxConfigs = 60

// readConfigs reads what the configuration of the tree names: files that the runner loads, plugins,
// and patterns of test files. It does so once.
func (t *tree) readConfigs() {
	if t.configured {
		return
	}
	t.configured, t.supportFiles, t.pluginFiles = true, map[string]bool{}, map[string]bool{}

	var configs []string
	for _, p := range t.paths {
		if !mayConfigure(p) {
			continue
		}
		role, _ := pathRole(p)
		if role == Runner || mixedConfigRE.MatchString(p) || path.Base(p) == "conftest.py" {
			configs = append(configs, p)
		}
	}

	slices.SortStableFunc(configs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	configs = configs[:min(len(configs), maxConfigs)]
	t.fetch(configs)

	for _, name := range configs {
		text := t.texts[name]
		if kind := configtext.DetectKind(name, nil); kind != configtext.None {
			reading, _ := configtext.Read(kind, name, text)
			t.addSettings(name, reading)
			t.addCommands(name, reading)
		}
		switch path.Ext(name) {
		case ".py":
			t.addPlugins(name, text)
		case ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts":
			if role, _ := pathRole(name); role == Runner {
				t.addLocalImports(name, text)
			}
		}
	}
}

// mayConfigure reports whether a path may be that of a configuration file. It is a fast check.
func mayConfigure(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.ContainsFunc(framework.ConfigNameParts, func(part string) bool { return strings.Contains(base, part) })
}

// fileKeys are settings of runners whose values are files that run in the tests.
var fileKeys = strings.Fields("setupfiles setupfilesafterenv setupfilesafterenvironment globalsetup globalteardown transform reporters reporter testenvironment environment resolver " +
	"snapshotresolver snapshotserializers snapshotserializer testrunner runner testsequencer testresultsprocessor dependencyextractor preset watchplugins require import file supportfile helpers requires bootstrap preload loader plugins")

// keyMarkReplacer removes the marks of lists and of attributes from a key.
var keyMarkReplacer = strings.NewReplacer("[]", "", "@", "")

var (
	// replacementKeys are settings whose values replace other modules. The values are product code
	// unless substituteRE matches their name, such as mocks/fs.js. globKeys are settings with
	// patterns of test files.
	replacementKeys = []string{"modulenamemapper", "alias"}
	substituteRE    = regexp.MustCompile(`(?i)mock|stub|fake|dummy|noop|empty|fixture|test|spec|transform|shim`)
	globKeys        = []string{"pythonfiles", "testmatch", "spec", "testpathpatterns"}
)

// addSettings adds what the settings of a file name.
func (t *tree) addSettings(name string, r configtext.Reading) {
	role, _ := pathRole(name)
	for _, s := range r.Settings {
		names := strings.Split(keyMarkReplacer.Replace(s.Key), ".")
		has := func(list []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
		}

		if slices.Contains(names, framework.PluginEntry) {
			t.addPlugin(name, s.Value, t.pluginFiles)
			continue
		}
		if slices.Contains(names, "coverage") || role != Runner && !framework.RunnerKey.MatchString(s.Key) {
			continue
		}

		switch {
		case has(globKeys), slices.Contains(names, "include") && slices.Contains(names, "test"):
			t.testGlobs = append(t.testGlobs, path.Join(path.Dir(name), strings.TrimPrefix(s.Value, "<rootDir>/")))
			if slices.Contains(names, "pythonfiles") {
				t.testGlobs = append(t.testGlobs, "**/"+s.Value)
			}
		case has(replacementKeys):
			if substituteRE.MatchString(s.Value) {
				t.addFile(name, s.Value)
			}
		case slices.Contains(names, "scripts"):
		case slices.Contains(names, "pytestplugins"):
			t.addPlugin(name, s.Value, t.supportFiles)
		case has(fileKeys):
			t.addFile(name, s.Value)
		}
	}
}

var (
	// fileOptionRE matches an option of a runner that is followed by a file, as in "--require
	// ./setup.js", and moduleOptionRE one that is followed by a module of Python, as in "-p
	// tests.plugin".
	fileOptionRE   = regexp.MustCompile(`(?:^|\s)(?:-r|-I|--require|--import|--loader|--experimental-loader|--test-reporter|--reporters?|--setupFiles\w*|--setup-files|--globalSetup|--environment|--preload|--bootstrap|--helper|--file|--config|-c)[ =]['"]?([^\s'"]+)`)
	moduleOptionRE = regexp.MustCompile(`(?:^|\s)-p[ =]?([A-Za-z_][\w.]*)`)
)

// addCommands adds the files that commands which run tests name. name is the file with the
// commands.
func (t *tree) addCommands(name string, r configtext.Reading) {
	for _, c := range r.Commands {
		if !framework.TestCommand.MatchString(c.Text) && !framework.RunnerKey.MatchString(c.Key) && framework.ArgumentFiles[path.Base(name)] == "" {
			continue
		}
		for _, m := range fileOptionRE.FindAllStringSubmatch(c.Text, -1) {
			t.addFile(name, m[1])
		}
		for _, m := range moduleOptionRE.FindAllStringSubmatch(c.Text, -1) {
			t.addPlugin(name, m[1], t.supportFiles)
		}
		for word := range strings.FieldsSeq(c.Text) {
			if word = strings.Trim(word, `'"`); source.DetectLanguage(word, nil) != source.Unknown || strings.ContainsAny(word, "*") {
				t.testGlobs = append(t.testGlobs, path.Join(path.Dir(name), word))
			}
		}
	}
}

// addFile adds a file that configuration names, relative to the configuration, to the root, or to a
// folder of tests. The extension may be missing. Values that are not paths of existing files are
// ignored.
func (t *tree) addFile(config, value string) {
	value = strings.TrimPrefix(strings.TrimPrefix(value, "<rootDir>"), "/")
	if value == "" || strings.ContainsAny(value, "*$\n ") {
		return
	}
	for _, dir := range []string{path.Dir(config), ".", "spec", "test"} {
		full := path.Join(dir, value)
		for _, end := range []string{"", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".php", ".py", "/index.js", "/index.ts", framework.NodePreset + ".js", framework.NodePreset + ".json"} {
			if t.exists[full+end] {
				t.supportFiles[full+end] = true
				return
			}
		}
	}
}

// addPlugin adds the file of a Python module, given by its dotted name, to a set. Modules that do
// not exist in the tree are ignored.
func (t *tree) addPlugin(config, module string, into map[string]bool) {
	module = strings.TrimSpace(module[strings.IndexByte(module, '=')+1:])
	if module, _, _ = strings.Cut(module, ":"); module == "" || strings.ContainsAny(module, " \n/") {
		return
	}
	rel := strings.ReplaceAll(module, ".", "/")
	for _, dir := range []string{path.Dir(config), ".", "src", "lib", "tests", "test"} {
		for _, end := range []string{".py", "/__init__.py"} {
			if full := path.Join(dir, rel) + end; t.exists[full] {
				into[full] = true
				return
			}
		}
	}
}

// quotedModuleRE matches a dotted name in quotes, such as "tests.plugin". localImportRE matches the
// import of a file of the project in a script, as in require("./setup").
var (
	quotedModuleRE = regexp.MustCompile(`["']([A-Za-z_][\w.]*)["']`)
	localImportRE  = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bresolve\s*\(|\bimport\s*\()\s*["'](\.{1,2}/[^"'\n]+)["']`)
)

// addPlugins adds the modules in the list pytest_plugins of a file.
func (t *tree) addPlugins(name string, text []byte) {
	if !bytes.Contains(text, []byte(framework.PluginVariable)) {
		return
	}
	for _, list := range framework.PluginList.FindAllSubmatch(text, -1) {
		for _, m := range quotedModuleRE.FindAllSubmatch(list[1], -1) {
			t.addPlugin(name, string(m[1]), t.supportFiles)
		}
	}
}

// addLocalImports adds the files of the project that the configuration of a runner imports.
func (t *tree) addLocalImports(name string, text []byte) {
	for _, m := range localImportRE.FindAllSubmatch(text, -1) {
		t.addFile(name, string(m[1]))
	}
}

// isDiscovered reports whether a file matches a pattern of test files in the configuration.
func (t *tree) isDiscovered(name string) bool {
	return slices.ContainsFunc(t.testGlobs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, name) })
}
