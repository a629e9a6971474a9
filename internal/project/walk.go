package project

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// maxDepth is how many levels below the root are searched.
const maxDepth = 3

// skipped are folders without projects of their own: output of tools, third-party code,
// and samples.
var skipped = []string{
	"node_modules", "bower_components", "vendor", "third_party", "site-packages", "deps", "Pods",
	"target", "build", "dist", "out", "bin", "obj", "coverage", "htmlcov",
	"testdata", "fixtures", "examples", "example", "samples", "fuzz",
	"venv", "env",
}

// aside marks names of folders that Go and others leave out: _examples, __fixtures__.
const aside = "_"

// walk collects the projects of a checkout.
type walk struct{ found []part }

// visit looks at one folder and at those below it. above are the projects found on the
// way down.
func (w *walk) visit(f folder, above []part) {
	here := w.recognise(f, above)
	above = append(slices.Clip(above), here...)
	if depth(f.dir) == maxDepth {
		return
	}
	ignored := f.ignored()
	for _, name := range f.folders() {
		if !strings.HasPrefix(name, aside) && !slices.Contains(skipped, name) && !slices.Contains(ignored, name) {
			w.visit(f.below(name), above)
		}
	}
}

// recognise finds the projects in one folder. A Makefile adds what nothing else there
// provides, where nothing there or above has tests.
func (w *walk) recognise(f folder, above []part) []part {
	var here []part
	for _, r := range recognisers {
		if p, ok := r.ask(f, above); ok {
			here = append(here, p)
		}
	}
	if !slices.ContainsFunc(slices.Concat(above, here), func(p part) bool { return p.has(Test) }) {
		if p, ok := makefile.ask(f, nil); ok {
			p.checks = slices.DeleteFunc(p.checks, func(c Check) bool {
				return slices.ContainsFunc(here, func(p part) bool { return p.has(c.Kind) })
			})
			here = append(here, p)
		}
	}
	w.found = append(w.found, here...)
	return here
}

// ask runs the recogniser on a folder. Below the root only a folder with tests is a
// project of its own.
func (r recogniser) ask(f folder, above []part) (part, bool) {
	if !f.readable(r.markers...) {
		return part{}, false
	}
	for _, a := range above {
		if a.from == r.language && a.takesIn(f.dir) {
			return part{}, false
		}
	}
	p := part{proposal: r.propose(f), dir: f.dir, from: r.language}
	p.language = cmp.Or(p.language, r.language)
	if len(p.checks)+len(p.notes) == 0 || f.dir != "" && (!p.has(Test) || measuring.MatchString(f.dir) && !p.tests()) {
		return part{}, false
	}
	p.checks = slices.DeleteFunc(p.checks, func(c Check) bool { return c.Kind == Lint && linted(c.Name, r.language, above) })
	return p, true
}

// measuring are folders whose scripts named test usually measure time.
var measuring = regexp.MustCompile(`(?i)(^|/)(bench(mark)?(s|ing)?|perf|performance)(/|$)`)

// tests reports whether a known framework runs tests.
func (p part) tests() bool {
	return slices.ContainsFunc(p.checks, func(c Check) bool { return c.Kind == Test && c.Runner != "" })
}

// linted reports whether a linter of a folder above already covers the folder.
func linted(name, language string, above []part) bool {
	return slices.ContainsFunc(above, func(a part) bool {
		return a.from == language && a.lintsAll &&
			slices.ContainsFunc(a.checks, func(c Check) bool { return c.Kind == Lint && c.Name == name })
	})
}

func depth(dir string) int {
	if dir == "" {
		return 0
	}
	return strings.Count(dir, "/") + 1
}

// folders lists the folders in f that may contain something, sorted, without links,
// hidden folders and virtual environments.
func (f folder) folders() []string {
	entries, err := os.ReadDir(f.abs(""))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && f.has(e.Name()+"/pyvenv.cfg") == "" {
			out = append(out, e.Name())
		}
	}
	return out
}

// ignored lists the names of folders in f that the .gitignore of f or of the root names
// literally, without patterns.
func (f folder) ignored() []string {
	var out []string
	for _, dir := range unique([]string{"", f.dir}) {
		for line := range strings.Lines((folder{dir: dir, files: f.files}).read(".gitignore")) {
			line = strings.TrimSpace(line)
			anchored := strings.HasPrefix(line, "/")
			name := strings.Trim(line, "/")
			if name == "" || strings.ContainsAny(name, "*?[!#\\") {
				continue
			}
			switch parent, base := path.Split(name); {
			case parent == "" && (!anchored || dir == f.dir):
				out = append(out, name)
			case parent != "" && join(dir, strings.TrimSuffix(parent, "/")) == f.dir:
				out = append(out, base)
			}
		}
	}
	return out
}
