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

// dependency matches keys that name packages and their versions.
var dependency = regexp.MustCompile(`dependenc|requires?\b|\bextras|devdeps|packages\b`)

// touchesRunner reports whether a change of a mixed file is one of the runner's part.
func touchesRunner(f facts.File) bool {
	kind := configtext.KindOf(f.Path, nil)
	was, ok := configtext.Read(kind, f.Path, f.Before)
	is, well := configtext.Read(kind, f.Path, f.After)
	if kind == configtext.None || !ok && len(f.Before) > 0 || !well && len(f.After) > 0 {
		return slices.ContainsFunc(differing(lines(f.Before), lines(f.After)), framework.RunnerLine.MatchString)
	}
	a, b := parts(was), parts(is)
	if len(a)+len(b) == 0 || codeLike.MatchString(f.Path) {
		a, b = lines(f.Before), lines(f.After)
		return slices.ContainsFunc(differing(a, b), framework.RunnerLine.MatchString)
	}
	return len(differing(a, b)) > 0
}

// codeLike matches mixed files of which more than the settings that can be read counts.
var codeLike = regexp.MustCompile(`\.(py|cmake|swift|exs)$|CMakeLists|BUILD|meson|[Rr]akefile|unt?file\.|ulpfile\.|go\.(mod|work)$`)

// parts are what configures the runner in a file.
func parts(r configtext.Reading) []string {
	var out []string
	for _, s := range r.Settings {
		if framework.RunnerKey.MatchString(s.Key) && !dependency.MatchString(s.Key) || strings.HasPrefix(s.Key, "scripts.") && framework.TestCommand.MatchString(s.Value) {
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

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

// differing are the texts that one list has more often than the other.
func differing(a, b []string) []string {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	var out []string
	for s, n := range count {
		if n != 0 {
			out = append(out, s)
		}
	}
	return out
}

// maxConfigs bounds the configuration files that are read, those near the root first.
const maxConfigs = 60

// configure reads what the configuration of the tree names.
func (t *tree) configure() {
	if t.ready {
		return
	}
	t.ready, t.named, t.product = true, map[string]bool{}, map[string]bool{}
	var configs []string
	for _, p := range t.paths {
		if !mayConfigure(p) {
			continue
		}
		role, _ := byPath(p)
		if role == Runner || mixed.MatchString(p) || path.Base(p) == "conftest.py" {
			configs = append(configs, p)
		}
	}
	slices.SortStableFunc(configs, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	configs = configs[:min(len(configs), maxConfigs)]
	t.fetch(configs)
	for _, name := range configs {
		text := t.texts[name]
		if kind := configtext.KindOf(name, nil); kind != configtext.None {
			reading, _ := configtext.Read(kind, name, text)
			t.settings(name, reading)
			t.commands(name, reading)
		}
		switch path.Ext(name) {
		case ".py":
			t.plugins(name, text)
		case ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts":
			if role, _ := byPath(name); role == Runner {
				t.localImports(name, text)
			}
		}
	}
}

func mayConfigure(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.ContainsFunc(framework.ConfigNameParts, func(part string) bool { return strings.Contains(base, part) })
}

// namedBy are settings of runners whose values are files that run in the tests.
var namedBy = strings.Fields("setupfiles setupfilesafterenv setupfilesafterenvironment globalsetup globalteardown transform reporters reporter testenvironment environment resolver " +
	"snapshotresolver snapshotserializers snapshotserializer testrunner runner testsequencer testresultsprocessor dependencyextractor preset watchplugins require import file supportfile helpers requires bootstrap preload loader plugins")

// plainKey removes the marks of lists and of attributes from a key.
var plainKey = strings.NewReplacer("[]", "", "@", "")

var (
	// replacing are settings whose values stand for other modules: those of the product,
	// unless they are called otherwise.
	replacing  = []string{"modulenamemapper", "alias"}
	substitute = regexp.MustCompile(`(?i)mock|stub|fake|dummy|noop|empty|fixture|test|spec|transform|shim`)
	globKeys   = []string{"pythonfiles", "testmatch", "spec", "testpathpatterns"}
)

// settings takes in what the settings of a file name.
func (t *tree) settings(name string, r configtext.Reading) {
	role, _ := byPath(name)
	for _, s := range r.Settings {
		names := strings.Split(plainKey.Replace(s.Key), ".")
		has := func(list []string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
		}
		if slices.Contains(names, framework.PluginEntry) {
			t.plugin(name, s.Value, t.product)
			continue
		}
		if slices.Contains(names, "coverage") || role != Runner && !framework.RunnerKey.MatchString(s.Key) {
			continue
		}
		switch {
		case has(globKeys), slices.Contains(names, "include") && slices.Contains(names, "test"):
			t.globs = append(t.globs, path.Join(path.Dir(name), strings.TrimPrefix(s.Value, "<rootDir>/")))
			if slices.Contains(names, "pythonfiles") {
				t.globs = append(t.globs, "**/"+s.Value)
			}
		case has(replacing):
			if substitute.MatchString(s.Value) {
				t.file(name, s.Value)
			}
		case slices.Contains(names, "scripts"):
		case slices.Contains(names, "pytestplugins"):
			t.plugin(name, s.Value, t.named)
		case has(namedBy):
			t.file(name, s.Value)
		}
	}
}

var (
	// options of runners that are followed by a file, and by a module of Python.
	fileOption   = regexp.MustCompile(`(?:^|\s)(?:-r|-I|--require|--import|--loader|--experimental-loader|--test-reporter|--reporters?|--setupFiles\w*|--setup-files|--globalSetup|--environment|--preload|--bootstrap|--helper|--file|--config|-c)[ =]['"]?([^\s'"]+)`)
	moduleOption = regexp.MustCompile(`(?:^|\s)-p[ =]?([A-Za-z_][\w.]*)`)
)

// commands takes in the files that commands which run tests name.
func (t *tree) commands(name string, r configtext.Reading) {
	for _, c := range r.Commands {
		if !framework.TestCommand.MatchString(c.Text) && !framework.RunnerKey.MatchString(c.Key) && framework.ArgumentFiles[path.Base(name)] == "" {
			continue
		}
		for _, m := range fileOption.FindAllStringSubmatch(c.Text, -1) {
			t.file(name, m[1])
		}
		for _, m := range moduleOption.FindAllStringSubmatch(c.Text, -1) {
			t.plugin(name, m[1], t.named)
		}
		for word := range strings.FieldsSeq(c.Text) {
			if word = strings.Trim(word, `'"`); source.DetectLanguage(word, nil) != source.Unknown || strings.ContainsAny(word, "*") {
				t.globs = append(t.globs, path.Join(path.Dir(name), word))
			}
		}
	}
}

// file takes in a file that configuration names, relative to it or to the root.
func (t *tree) file(config, value string) {
	value = strings.TrimPrefix(strings.TrimPrefix(value, "<rootDir>"), "/")
	if value == "" || strings.ContainsAny(value, "*$\n ") {
		return
	}
	for _, dir := range []string{path.Dir(config), ".", "spec", "test"} {
		full := path.Join(dir, value)
		for _, end := range []string{"", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".tsx", ".jsx", ".rb", ".php", ".py", "/index.js", "/index.ts", framework.NodePreset + ".js", framework.NodePreset + ".json"} {
			if t.there[full+end] {
				t.named[full+end] = true
				return
			}
		}
	}
}

// plugin takes in a module of Python by its dotted name.
func (t *tree) plugin(config, module string, into map[string]bool) {
	module = strings.TrimSpace(module[strings.IndexByte(module, '=')+1:])
	if module, _, _ = strings.Cut(module, ":"); module == "" || strings.ContainsAny(module, " \n/") {
		return
	}
	rel := strings.ReplaceAll(module, ".", "/")
	for _, dir := range []string{path.Dir(config), ".", "src", "lib", "tests", "test"} {
		for _, end := range []string{".py", "/__init__.py"} {
			if full := path.Join(dir, rel) + end; t.there[full] {
				into[full] = true
				return
			}
		}
	}
}

var (
	quotedModule = regexp.MustCompile(`["']([A-Za-z_][\w.]*)["']`)
	localImport  = regexp.MustCompile(`(?:\bfrom|\bimport|\brequire\s*\(|\bresolve\s*\(|\bimport\s*\()\s*["'](\.{1,2}/[^"'\n]+)["']`)
)

// plugins takes in what pytest_plugins names.
func (t *tree) plugins(name string, text []byte) {
	if !bytes.Contains(text, []byte(framework.PluginVariable)) {
		return
	}
	for _, list := range framework.PluginList.FindAllSubmatch(text, -1) {
		for _, m := range quotedModule.FindAllSubmatch(list[1], -1) {
			t.plugin(name, string(m[1]), t.named)
		}
	}
}

// localImports takes in the files of the project that the runner's configuration imports.
func (t *tree) localImports(name string, text []byte) {
	for _, m := range localImport.FindAllSubmatch(text, -1) {
		t.file(name, string(m[1]))
	}
}

// discovered reports whether a file is one that the runner is configured to look for.
func (t *tree) discovered(name string) bool {
	return slices.ContainsFunc(t.globs, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok && err == nil
	})
}
