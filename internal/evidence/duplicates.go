package evidence

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/snapshot"
	"supervise/source"
)

// maxFolderFiles is how many unchanged test files next to that of a lost test are read at most.
const maxFolderFiles = 200

// findDuplicates returns the tests that are gone and of which an identical one stays: in the same
// file, or in one of the same folder that has the same code around its tests. Names and lines of
// comments may differ. list returns the files after the change.
func findDuplicates(e ledger.Evidence, changes []snapshot.Change, read Reader, list func() ([]snapshot.File, error)) ([]detector.Duplicate, error) {
	after := map[string]detector.TestSource{}
	for _, t := range e.After {
		after[testKey(t.File, t)] = t
	}
	dirs := map[string]bool{}
	for _, t := range e.Before {
		if _, exists := after[testKey(e.NewPath(t.File), t)]; !exists {
			dirs[path.Dir(t.File)] = true
		}
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	files, err := readFolders(dirs, changes, read, list)
	if err != nil {
		return nil, err
	}

	var lost, staying []fileTest
	for _, f := range files {
		for _, t := range f.tests {
			now, exists := after[testKey(e.NewPath(t.File), t.TestSource)]
			if f.changed && !exists {
				lost = append(lost, t)
			} else if !f.changed || detector.SameTokens(t.TestSource, now) {
				staying = append(staying, t)
			}
		}
	}
	var out []detector.Duplicate
	for _, l := range lost {
		for _, t := range staying {
			if l.isDuplicateOf(t) {
				out = append(out, detector.Duplicate{Lost: l.TestSource, Staying: t.TestSource})
			}
		}
	}
	return out, nil
}

// testKey identifies a test by its file, class and name.
func testKey(file string, t detector.TestSource) string {
	return strings.Join([]string{file, t.Def.Class, t.Def.Name}, "\x00")
}

// readFolders reads the test files of some folders: those that changed as they were before.
func readFolders(dirs map[string]bool, changes []snapshot.Change, read Reader, list func() ([]snapshot.File, error)) ([]*testFile, error) {
	changed := map[string]bool{}
	var out []*testFile
	add := func(name string, after bool) error {
		if !dirs[path.Dir(name)] || !source.IsTestFile(name, source.DetectLanguage(name, nil)) {
			return nil
		}
		text, err := read(name, after)
		if err == nil {
			out = append(out, newTestFile(name, text, !after))
		}
		return err
	}
	for _, c := range changes {
		changed[c.Path] = true
		if c.Kind == snapshot.Added {
			continue
		}
		if err := add(c.Path, false); err != nil {
			return nil, err
		}
	}
	tree, err := list()
	if err != nil {
		return nil, err
	}
	most := len(out) + maxFolderFiles
	for _, f := range tree {
		if changed[f.Path] || !f.Mode.IsRegular() || len(out) == most {
			continue
		}
		if err := add(f.Path, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// testFile is a file with tests.
type testFile struct {
	changed bool
	tests   []fileTest
	lines   []string        // with single blanks, "" instead of comments
	around  map[string]bool // the lines outside of the tests, without the names of classes
}

// fileTest is a test of a file.
type fileTest struct {
	detector.TestSource
	*testFile
	code string // without its name
}

// isDuplicateOf reports whether two tests of one folder, with names of their own, do the same.
func (t fileTest) isDuplicateOf(other fileTest) bool {
	isWhole := t.Def.Kind != source.Subtest && other.Def.Kind != source.Subtest
	return isWhole && t.code == other.code && path.Dir(t.File) == path.Dir(other.File) && maps.Equal(t.around, other.around)
}

// newTestFile reads a file. Of a file that is too long nothing is known.
func newTestFile(name string, text []byte, changed bool) *testFile {
	text = limitText(text)
	f := &testFile{changed: changed, around: map[string]bool{}}
	masked := strings.Split(string(source.Mask(source.DetectLanguage(name, text), text)), "\n")
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if strings.TrimSpace(masked[i]) == "" && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")) {
			line = ""
		}
		f.lines = append(f.lines, line)
	}
	outside := slices.Clone(f.lines)
	var classes []string
	end := 0
	for _, t := range TestsIn(name, text) {
		first, last := f.firstLine(t.Def, end), min(t.Def.End, len(f.lines))
		code := slices.DeleteFunc(slices.Clone(f.lines[first-1:last]), func(line string) bool { return line == "" })
		f.tests = append(f.tests, fileTest{t, f, strings.Replace(strings.Join(code, "\n"), strings.TrimPrefix(t.Def.Name, t.Def.Class+" "), "", 1)})
		clear(outside[first-1 : last])
		if end = last; t.Def.Class != "" && !slices.Contains(classes, t.Def.Class) {
			classes = append(classes, t.Def.Class)
		}
	}
	for _, line := range outside {
		for _, class := range classes {
			line = strings.ReplaceAll(line, class, "")
		}
		f.around[line] = true
	}
	return f
}

// firstLine returns the number of the first line of a test: that of its first annotation, if it has
// one. previous is the last line of the test before it.
func (f *testFile) firstLine(def source.TestDef, previous int) int {
	first := def.Line
	for n := def.Line - 1; n > previous && f.lines[n-1] != ""; n-- {
		if line := f.lines[n-1]; strings.HasPrefix(line, "@") || strings.HasPrefix(line, "#[") || strings.HasPrefix(line, "[") {
			first = n
		}
	}
	return first
}
