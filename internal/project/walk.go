package project

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/project/internal/checkout"
	"supervise/internal/regexp"
)

// maxDepth is how many levels below the root are searched.
const maxDepth = 3

// walk collects the projects of a checkout.
type walk struct{ found []part }

// visit looks at one folder and at those below it. above are the projects found on the
// way down.
func (w *walk) visit(f checkout.Folder, above []part) {
	here := w.recognise(f, above)
	above = append(slices.Clip(above), here...)
	if depthOf(f.Dir) == maxDepth {
		return
	}
	for _, sub := range f.Subfolders() {
		w.visit(sub, above)
	}
}

// recognise finds the projects in one folder. A Makefile adds what nothing else there
// provides, where nothing there or above has tests.
func (w *walk) recognise(f checkout.Folder, above []part) []part {
	var here []part
	for _, r := range recognisers {
		if p, ok := r.run(f, above); ok {
			here = append(here, p)
		}
	}
	if !slices.ContainsFunc(slices.Concat(above, here), func(p part) bool { return p.hasKind(Test) }) {
		if p, ok := makefile.run(f, nil); ok {
			p.checks = slices.DeleteFunc(p.checks, func(c Check) bool {
				return slices.ContainsFunc(here, func(p part) bool { return p.hasKind(c.Kind) })
			})
			here = append(here, p)
		}
	}
	w.found = append(w.found, here...)
	return here
}

// run runs the recogniser on a folder. Below the root only a folder with tests is a
// project of its own.
func (r recogniser) run(f checkout.Folder, above []part) (part, bool) {
	if !f.IsReadable(r.markers...) {
		return part{}, false
	}
	for _, a := range above {
		if a.from == r.language && a.includes(f.Dir) {
			return part{}, false
		}
	}
	p := part{proposal: r.propose(f), dir: f.Dir, from: r.language}
	p.language = cmp.Or(p.language, r.language)
	if len(p.checks)+len(p.notes) == 0 || f.Dir != "" && (!p.hasKind(Test) || benchmarkFolder.MatchString(f.Dir) && !p.hasKnownFramework()) {
		return part{}, false
	}
	p.checks = slices.DeleteFunc(p.checks, func(c Check) bool { return c.Kind == Lint && isLinted(c.Name, r.language, above) })
	return p, true
}

// benchmarkFolder are folders whose scripts named test usually measure time.
var benchmarkFolder = regexp.MustCompile(`(?i)(^|/)(bench(mark)?(s|ing)?|perf|performance)(/|$)`)

// hasKnownFramework reports whether a known framework runs tests.
func (p part) hasKnownFramework() bool {
	return slices.ContainsFunc(p.checks, func(c Check) bool { return c.Kind == Test && c.Runner != "" })
}

// isLinted reports whether a linter of a folder above already covers the folder.
func isLinted(name, language string, above []part) bool {
	return slices.ContainsFunc(above, func(a part) bool {
		return a.from == language && a.lintsAll &&
			slices.ContainsFunc(a.checks, func(c Check) bool { return c.Kind == Lint && c.Name == name })
	})
}

func depthOf(dir string) int {
	if dir == "" {
		return 0
	}
	return strings.Count(dir, "/") + 1
}
