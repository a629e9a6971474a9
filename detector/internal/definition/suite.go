package definition

import (
	"path"
	"slices"
	"strings"

	"supervise/metric"
)

// WithSuites returns the definitions, those at the root of the tree with their suite. No
// folder names that suite: it is the common prefix of all suites.
func WithSuites(list []TestSource, suites map[string]bool) []TestSource {
	root := commonPath(suites)
	out := slices.Clone(list)
	for i := range out {
		t := &out[i]
		isAtRoot := t.Suite == "" && t.File != "" && path.Dir(t.File) == "." && t.isExact()
		if isAtRoot && !suites[t.File] && suites[root] {
			t.Suite = root
		}
	}
	return out
}

// commonPath returns the folders with which all names start.
func commonPath(names map[string]bool) string {
	var common []string
	first := true
	for name := range names {
		parts := strings.Split(name, "/")
		if first {
			common, first = parts, false
			continue
		}
		n := 0
		for n < min(len(common), len(parts)) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, "/")
}

// SuitesOf returns the names of all suites of the sets.
func SuitesOf(sets ...*metric.Tests) map[string]bool {
	out := map[string]bool{}
	for _, tests := range sets {
		if tests == nil {
			continue
		}
		for _, c := range tests.Cases {
			out[c.Suite] = true
		}
	}
	return out
}

// TestsOf returns the reported tests with a given name that a file defines, or all tests
// of the file if name is "". list are the definitions before a change, renamed maps old
// paths of files to new ones.
func TestsOf(file, name string, tests *metric.Tests, list []TestSource, renamed map[string]string) []metric.Test {
	if tests == nil {
		return nil
	}

	inFile := slices.DeleteFunc(WithSuites(list, SuitesOf(tests)), func(t TestSource) bool {
		return t.File != file && renamed[t.File] != file
	})
	index := NewIndex(inFile)
	var certain, possible []metric.Test
	for _, c := range tests.Cases {
		switch t := index.enclosing(c); {
		case t == nil || name != "" && t.Def.Name != name:
		case t.isExact() || t.fileRank(c) > 0:
			certain = append(certain, c)
		default:
			possible = append(possible, c)
		}
	}

	switch {
	case len(certain) > 0:
		return certain
	case len(possible) > 0 || name != "":
		return possible
	}
	return TestsExpecting(file, tests)
}

// TestsExpecting returns the tests whose expected output a file holds, by its location:
// next to the test file after which it is named, or below the folder of the tests.
func TestsExpecting(file string, tests *metric.Tests) []metric.Test {
	if tests == nil {
		return nil
	}
	testFile, folder := expectingTests(file)
	if testFile == "" && folder == "" {
		return nil
	}
	var out []metric.Test
	for _, c := range tests.Cases {
		inFolder := folder != "" && (c.Suite == folder || strings.HasSuffix(c.Suite, "/"+folder))
		if inFolder || testFile != "" && fileRank(c, testFile) == 2 {
			out = append(out, c)
		}
	}
	return out
}

// expectingTests returns the test file, or the folder of tests, to which a file of expected
// output belongs. Both are "" if it belongs to none.
func expectingTests(file string) (testFile, folder string) {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	switch {
	case path.Base(dir) == "__snapshots__":
		return path.Join(path.Dir(dir), strings.TrimSuffix(strings.Replace(name, ".ambr", ".py", 1), ".snap")), ""
	case strings.HasSuffix(name, ".snap"):
		return strings.TrimSuffix(file, ".snap"), ""
	}
	if i := strings.LastIndex("/"+dir+"/", "/testdata/"); i >= 0 {
		return "", strings.Trim(("/" + dir)[:i], "/")
	}
	return "", ""
}

// DefinitionsOf returns the definitions of those tests that have one in the list.
func DefinitionsOf(tests *metric.Tests, list []TestSource) map[metric.ID]TestSource {
	out := map[metric.ID]TestSource{}
	if tests == nil || len(list) == 0 {
		return out
	}
	index := NewIndex(WithSuites(list, SuitesOf(tests)))
	reportedFiles, possible := map[string]bool{}, map[metric.ID]TestSource{}
	for _, c := range tests.Cases {
		switch t := index.enclosing(c); {
		case t == nil:
		case t.isExact() || t.fileRank(c) > 0:
			out[c.ID], reportedFiles[t.File] = *t, true
		default:
			possible[c.ID] = *t
		}
	}
	for id, t := range possible { // of a file that no report names
		if !reportedFiles[t.File] {
			out[id] = t
		}
	}
	return out
}
