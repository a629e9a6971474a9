package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

// maxDepth is how many levels below the root are searched.
const maxDepth = 3

// walk collects the projects of a checkout.
type walk struct{ found []part }

// visit looks at one folder and at those below it. above are the projects found on the
// way down.
func (w *walk) visit(f projectfs.Folder, above []part) {
	here := w.recognize(f, above)
	above = append(slices.Clip(above), here...)
	if depthOf(f.Dir) == maxDepth {
		return
	}
	for _, sub := range f.Subfolders() {
		w.visit(sub, above)
	}
}

// recognize finds the projects in one folder. If neither the folder nor those above have tests, a
// Makefile adds the kinds of checks that the other projects of the folder do not have.
func (w *walk) recognize(f projectfs.Folder, above []part) []part {
	var here []part
	for _, r := range recognizers {
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

// run runs the recognizer on a folder. Below the root, only a folder with tests is a project.
func (r recognizer) run(f projectfs.Folder, above []part) (part, bool) {
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
	isEmpty := len(p.checks)+len(p.notes) == 0
	isBenchmark := benchmarkFolderPattern.MatchString(f.Dir) && !p.hasKnownFramework()
	if isEmpty || f.Dir != "" && (!p.hasKind(Test) || isBenchmark) {
		return part{}, false
	}
	p.checks = slices.DeleteFunc(p.checks, func(c Check) bool { return c.Kind == Lint && isLinted(c.Name, r.language, above) })
	return p, true
}

// benchmarkFolderPattern matches folders whose scripts named test usually measure time.
var benchmarkFolderPattern = regexp.MustCompile(`(?i)(^|/)(bench(mark)?(s|ing)?|perf|performance)(/|$)`)

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

// strayTests are test files without a manifest. They count only if no project is found.
var strayTests = []struct {
	patterns []string
	propose  func(projectfs.Folder) proposal // for tests that need no manifest, else nil
	missing  string                          // the manifest, and how to get it
}{
	{[]string{"test_*.py", "*_test.py"}, proposePython, ""},
	{[]string{"*_test.go"}, nil, "go.mod: run go mod init"},
	{[]string{"*.test.js", "*.test.mjs", "*.test.cjs", "*.test.ts", "*.test.tsx", "*.spec.js", "*.spec.ts"}, nil, "package.json: run npm init and install the test runner"},
	{[]string{"*_spec.rb", "*_test.rb", "test_*.rb"}, nil, "Gemfile: run bundle init and add the test runner"},
	{[]string{"*Test.php"}, nil, "composer.json: run composer init and require the test runner"},
	{[]string{"*Test.java", "*Test.kt"}, nil, "pom.xml or build.gradle: run mvn archetype:generate or gradle init"},
	{[]string{"*_test.exs"}, nil, "mix.exs: run mix new"},
	{[]string{"*.rs"}, nil, "Cargo.toml: run cargo init"},
}

// findStrayTests finds tests without a manifest. It describes the missing manifest, and is "" if
// there are no such tests or if they can run.
func (w *walk) findStrayTests(f projectfs.Folder) string {
	for _, l := range strayTests {
		found := f.Search(1, l.patterns...)
		if len(found) == 0 {
			continue
		}
		if l.propose == nil {
			return fmt.Sprintf("there is %s, but no %s", found[0], l.missing)
		}
		if p, ok := (recognizer{"python", found, l.propose}).run(f, nil); ok {
			w.found = append(w.found, p)
			return ""
		}
	}
	return ""
}
