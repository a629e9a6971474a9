package coverage

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"supervise/internal/textstream"
	"supervise/metric"
)

// maxFiles limits the number of files in a report.
const maxFiles = 1 << 18

// maxLine is the largest valid line number.
const maxLine = 1<<31 - 1

// file is the coverage of one source file. A format sets what it contains: lines, statements
// with their lines, or only totals.
type file struct {
	path         string
	lines        lineSet
	statements   marks // by line<<32 | index on the line
	branches     marks // by branchKey
	conditions   conditions
	totals       metric.Ratio // of units that are not listed
	branchTotals metric.Ratio // of branches that are not listed
}

// collector collects the files of a report. One file is open at a time. A file that is opened
// again is merged.
type collector struct {
	unit         metric.Unit
	problems     textstream.Problems
	files        map[string]*file
	current      *file
	currentLines marks // lines of the open file
	declared     totals
	required     string // an element that the report must have and that was not found yet
	noise        string // first line of text outside the report
}

func newCollector(unit metric.Unit) *collector {
	return &collector{unit: unit, files: map[string]*file{}, declared: noTotals}
}

// openFile closes the current file and opens another one.
func (c *collector) openFile(path string) *file {
	path = textstream.CleanName(path)
	if c.current != nil && c.current.path == path {
		return c.current
	}
	c.closeFile()
	f := c.files[path]
	if f == nil {
		f = &file{path: path}
		if len(c.files) < maxFiles { // otherwise finish refuses the report
			c.files[path] = f
		}
	}
	c.current = f
	return f
}

// closeFile closes the current file.
func (c *collector) closeFile() {
	if c.current != nil {
		c.current.lines.add(&c.currentLines)
		c.currentLines = marks{list: c.currentLines.list[:0]}
		c.current = nil
	}
}

// addLine adds a line of the current file. Lines start at 1; some compilers use line 0 for
// generated code.
func (c *collector) addLine(number int, hit bool) {
	if number < 1 || number > maxLine {
		c.problems.Add("%s: %d is no line", c.current.path, number)
		return
	}
	c.currentLines.add(uint64(number), hit)
}

// addStatement adds a statement of the current file, the nth on its line.
func (c *collector) addStatement(line int, nth uint32, hit bool) {
	line = max(0, min(line, maxLine))
	c.current.statements.add(uint64(line)<<32|uint64(nth), hit)
	if line > 0 {
		c.currentLines.add(uint64(line), hit)
	}
}

// addCondition adds the branches of a line of the current file.
func (c *collector) addCondition(line int, covered, total int64) {
	if line < 1 || line > maxLine || total <= 0 || covered < 0 {
		return
	}
	c.current.conditions.add(uint32(line), uint32(min(covered, total, maxLine)), uint32(min(total, maxLine)))
}

// addBranch adds one branch of a line of the current file.
func (c *collector) addBranch(line int, block, name []byte, taken bool) {
	c.current.branches.add(branchKey(line, block, name), taken)
}

// branchKey returns a number that identifies a branch: line, block and name combined if they are
// small, otherwise a hash.
func branchKey(line int, block, name []byte) uint64 {
	b, okBlock := parseSmall(block, 1<<16)
	n, okName := parseSmall(name, 1<<15)
	if okBlock && okName && line >= 0 && line <= maxLine {
		return uint64(line)<<31 | b<<15 | n
	}
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(nil, int64(line), 10)) // never fails
	for _, part := range [][]byte{block, name} {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write(part)
	}
	return 1<<62 | h.Sum64()>>2
}

// parseSmall parses a decimal number, and returns false unless it is below limit.
func parseSmall(digits []byte, limit uint64) (uint64, bool) {
	if len(digits) == 0 || len(digits) > 5 {
		return 0, false
	}
	var n uint64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	return n, n < limit
}

// coverage returns the collected coverage, with files sorted by path.
func (c *collector) coverage() *metric.Coverage {
	c.closeFile()
	out := &metric.Coverage{Unit: c.unit}
	var branches metric.Ratio
	for _, f := range c.files {
		fc := f.coverage()
		out.Covered += fc.Covered
		out.Total += fc.Total
		if fc.Branches != nil {
			branches.Covered += fc.Branches.Covered
			branches.Total += fc.Branches.Total
		}
		out.Files = append(out.Files, fc)
	}
	slices.SortFunc(out.Files, func(a, b metric.FileCoverage) int { return cmp.Compare(a.Path, b.Path) })
	out.Branches = nilIfEmpty(branches)
	return out
}

func (f *file) coverage() metric.FileCoverage {
	f.lines.mergePending()
	units := f.lines.ratio()
	if len(f.statements.list) > 0 {
		units = f.statements.ratio()
	}
	if f.totals.Total > 0 {
		units = f.totals
	}
	branches := f.branchTotals
	for _, r := range []metric.Ratio{f.branches.ratio(), f.conditions.ratio()} {
		branches.Covered += r.Covered
		branches.Total += r.Total
	}
	return metric.FileCoverage{
		Path: f.path, Covered: units.Covered, Total: units.Total,
		Branches: nilIfEmpty(branches), Hit: f.lines.hit, Missed: f.lines.missed,
	}
}

// nilIfEmpty returns nil if the total is 0.
func nilIfEmpty(r metric.Ratio) *metric.Ratio {
	if r.Total <= 0 {
		return nil
	}
	return &r
}

// number is a total declared by a report; -1 if it is missing.
type number = int64

// totals are the totals that a report declares for all files.
type totals struct{ covered, units, coveredBranches, branches number }

var noTotals = totals{-1, -1, -1, -1}

// declaredRatio is a ratio declared by a report.
type declaredRatio struct{ covered, total number }

// compareTotal adds a problem if a declared ratio, of one file or of all, differs from the
// counted one.
func (c *collector) compareTotal(what, path string, declared declaredRatio, got metric.Ratio) {
	if (declared.total < 0 || declared.total == got.Total) && (declared.covered < 0 || declared.covered == got.Covered) {
		return
	}
	if path != "" {
		what += " of " + path
	}
	c.problems.Add("the report declares %s of %s %s, and lists %d of %d", formatNumber(declared.covered), formatNumber(declared.total), what, got.Covered, got.Total)
}

func formatNumber(n number) string {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// finish returns the report; err is the error that ended reading early. Declared totals are
// compared only if the report was read completely.
func (c *collector) finish(err error) (Report, error) {
	if err == nil && c.required != "" {
		return Report{}, &SyntaxError{Problem: "the report has no " + c.required + ": the tool measured nothing"}
	}
	cov := c.coverage()
	if err == nil && len(c.files) >= maxFiles {
		err = &SyntaxError{Problem: fmt.Sprintf("the report has %d files or more", maxFiles)}
	}
	if err == nil {
		c.compareTotal(string(c.unit), "", declaredRatio{c.declared.covered, c.declared.units}, metric.Ratio{Covered: cov.Covered, Total: cov.Total})
		branches := metric.Ratio{}
		if cov.Branches != nil {
			branches = *cov.Branches
		}
		c.compareTotal("branches", "", declaredRatio{c.declared.coveredBranches, c.declared.branches}, branches)
	}
	if c.noise != "" {
		c.problems.Add("text outside of the report: %s", c.noise)
	}
	return Report{Coverage: cov, Problems: c.problems.All()}, err
}

// addTotals adds a file of which only totals are known. Two entries of one file cannot be merged:
// the one with more units is used.
func (c *collector) addTotals(path string, units, branches metric.Ratio) *file {
	known := len(c.files)
	f := c.openFile(path)
	if len(c.files) == known {
		c.problems.Add("%s is listed twice in a report that names no lines", f.path)
		if units.Total < f.totals.Total || units.Total == f.totals.Total && units.Covered <= f.totals.Covered {
			return f
		}
	}
	f.totals, f.branchTotals = units, branches
	return f
}
