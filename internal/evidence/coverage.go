package evidence

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/metric"
	"supervise/snapshot"
)

// CoverageChange is a change between two trees whose coverage is known.
type CoverageChange struct {
	Before, Now *metric.Coverage
	Changes     []snapshot.Change
	Renamed     map[string]string // changed files, old path to new
	Read        Reader
	// Passing limits what counts as executed before; nil: everything.
	Passing func(path string, lines metric.LineSet) metric.LineSet
	Base    integrity.Tree // the project before the change
}

// Losses returns the lines that tests executed before the change, that still exist, and that are not
// executed now. It is false if the lines are unknown, or the reports cannot be compared. Errors are
// those of Read.
func (c CoverageChange) Losses() ([]detector.LostLines, bool, error) {
	if !c.Now.Comparable(c.Before) || !c.Now.NamesLines() || !c.Before.NamesLines() {
		return nil, false, nil
	}
	now := make(map[string]metric.LineSet, len(c.Now.Files))
	for _, f := range c.Now.Files {
		now[f.Path] = f.Executed
	}
	changed := map[string]int{} // by the name in the report: the index of the change
	var files []string
	for _, change := range c.Changes {
		files = append(files, change.Path)
	}
	names := NamesOf(files, c.Before)
	for i, f := range files {
		if name := names[f]; name != "" {
			changed[name] = i
		}
	}
	var out []detector.LostLines
	for _, f := range c.Before.Files {
		i, isChanged := changed[f.Path]
		if !isChanged {
			i = -1
		}
		if f.Executed == now[f.Path] && (!isChanged || f.Executed == "") {
			continue
		}
		l, err := c.fileLosses(f, i, now)
		if err != nil {
			return nil, false, err
		}
		if l.Units > 0 {
			out = append(out, l)
		}
	}
	return out, true, nil
}

// fileLosses returns the lines that a file lost. i is the index of its change, -1 if it is the same.
func (c CoverageChange) fileLosses(f metric.FileCoverage, i int, now map[string]metric.LineSet) (detector.LostLines, error) {
	executed := f.Executed
	if c.Passing != nil {
		executed = c.Passing(f.Path, executed)
	}
	out := detector.LostLines{Path: f.Path}
	if i < 0 {
		out.Lines = executed.Minus(now[f.Path])
	} else {
		kept, name, err := c.keptLines(c.Changes[i])
		if err != nil {
			return out, err
		}
		out.Path = cmp.Or(name, f.Path)
		out.Lines = renumber(executed, kept).Minus(now[out.Path])
	}
	if total := f.Executed.Count(); total > 0 {
		out.Units = float64(out.Lines.Count()) / float64(total) * float64(f.Covered)
	}
	return out, nil
}

// keptLines returns [keptLines] of a changed file, and its name in the report now if it was renamed.
func (c CoverageChange) keptLines(change snapshot.Change) (kept []int, name string, err error) {
	before, after, err := readVersions(change, c.Read)
	if to := c.Renamed[change.Path]; err == nil && after == nil && to != "" {
		name = NamesOf([]string{to}, c.Now)[to]
		after, err = c.Read(to, true)
	}
	return keptLines(before, limitText(after)), name, err
}

// renumber returns the lines with the numbers that they have now, without those that are gone.
func renumber(lines metric.LineSet, kept []int) metric.LineSet {
	var out []metric.Span
	for _, s := range lines.Spans() {
		for n := s.First; n <= min(s.Last, len(kept)); n++ {
			if at := kept[n-1]; at > 0 {
				out = append(out, metric.Span{First: at, Last: at})
			}
		}
	}
	return metric.NewLineSet(metric.UnionSpans(nil, out))
}

// NamesOf returns the names that a report has for files, by file. Reports name a file by its path in
// the project, or start with the name of its module or the folder of the build.
func NamesOf(files []string, c *metric.Coverage) map[string]string {
	byBase := map[string][]string{}
	for _, f := range files {
		byBase[path.Base(f)] = nil
	}
	for _, f := range c.Files {
		if list, wanted := byBase[path.Base(f.Path)]; wanted {
			byBase[path.Base(f.Path)] = append(list, f.Path)
		}
	}
	out := make(map[string]string, len(files))
	for _, f := range files {
		best := 0
		for _, name := range byBase[path.Base(f)] {
			if n := similarity(f, name, c.Format == "go"); n > best {
				best, out[f] = n, name
			}
		}
	}
	return out
}

// similarity returns how well a name in a report fits a file, 0 if not at all. The fewer elements
// differ, the better; a module of Go may have a name that says nothing about its folder.
func similarity(file, name string, isModule bool) int {
	a, b := strings.Split(file, "/"), strings.Split(name, "/")
	same := 0
	for same < min(len(a), len(b)) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	const most = 1 << 16
	switch differing := len(a) + len(b) - 2*same; {
	case same == min(len(a), len(b)):
		return 2*most - differing
	case isModule:
		return most - differing
	}
	return 0
}

// keptLines returns, for each line of the text before, the number of the same line after, wherever
// it was moved; 0 if it is gone or has no word. Lines that occur once are the same, and so are equal
// lines next to the same (P. Heckel, "A technique for isolating differences between files", 1978).
func keptLines(before, after []byte) []int {
	m := lineMatch{before: trimmedLines(before), after: trimmedLines(after)}
	m.kept, m.taken = make([]int, len(m.before)), make([]bool, len(m.after))
	m.matchUnique()
	for i := 0; m.match(i, i); i++ {
	}
	for i := 1; m.match(len(m.before)-i, len(m.after)-i); i++ {
	}
	for i := 1; i < len(m.before); i++ {
		if m.kept[i-1] > 0 {
			m.match(i, m.kept[i-1])
		}
	}
	for i := len(m.before) - 2; i >= 0; i-- {
		if m.kept[i+1] > 0 {
			m.match(i, m.kept[i+1]-2)
		}
	}
	for i, l := range m.before {
		if !hasLetter(l) {
			m.kept[i] = 0
		}
	}
	return m.kept
}

// lineMatch matches the lines of two texts.
type lineMatch struct {
	before, after []string
	kept          []int  // by line before: the number of the same line after, 0 for none
	taken         []bool // by line after: it is the same as a line before
}

// match matches two lines, by index, if they are equal and not matched yet.
func (m *lineMatch) match(i, k int) bool {
	inside := i >= 0 && k >= 0 && i < len(m.before) && k < len(m.after)
	if !inside || m.kept[i] > 0 || m.taken[k] || m.before[i] != m.after[k] {
		return false
	}
	m.kept[i], m.taken[k] = k+1, true
	return true
}

// matchUnique matches the lines that occur once in both texts.
func (m *lineMatch) matchUnique() {
	places := func(lines []string) map[string]int {
		at := make(map[string]int, len(lines))
		for i, l := range lines {
			if _, seen := at[l]; seen {
				i = -1
			}
			at[l] = i
		}
		return at
	}
	after := places(m.after)
	for l, i := range places(m.before) {
		if k, exists := after[l]; exists {
			m.match(i, k)
		}
	}
}

// trimmedLines returns the lines of a text without the spaces around them: code in another block is
// the same code.
func trimmedLines(text []byte) []string {
	var out []string
	for line := range bytes.Lines(text) {
		out = append(out, string(bytes.TrimSpace(line)))
	}
	return out
}
