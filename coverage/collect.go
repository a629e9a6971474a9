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
	statements   marks        // the number of a statement is line<<32 | index on the line
	branches     marks        // the number of a branch is its branchKey
	conditions   conditions   // numbers of branches by line
	totals       metric.Ratio // units of a file for which the report's own totals are used
	branchTotals metric.Ratio // branches of such a file
}

// collector collects the files of a report. One file is open at a time. An entry of a file that
// was open before is merged with it.
type collector struct {
	unit         metric.Unit
	problems     textstream.Problems
	files        map[string]*file // by path
	current      *file            // the open file; nil if there is none
	currentLines marks            // lines of the open file
	declared     totals           // the totals that the report declares
	required     string           // an element that the report must have and that is not read yet; "" for none
	noise        string           // the first line of text outside the report
}

// newCollector returns an empty collector. No totals are declared.
func newCollector(unit metric.Unit) *collector {
	return &collector{unit: unit, files: map[string]*file{}, declared: noTotals}
}

// openFile closes the current file and opens the file with the path.
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

// closeFile closes the current file, if there is one.
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

// addStatement adds the nth statement on a line of the current file. A statement without a line
// has line 0.
func (c *collector) addStatement(line int, nth uint32, hit bool) {
	line = max(0, min(line, maxLine))
	c.current.statements.add(uint64(line)<<32|uint64(nth), hit)
	if line > 0 {
		c.currentLines.add(uint64(line), hit)
	}
}

// addCondition adds the number of branches of a line of the current file, and how many of them
// were taken. Invalid numbers are ignored.
func (c *collector) addCondition(line int, covered, total int64) {
	if line < 1 || line > maxLine || total <= 0 || covered < 0 {
		return
	}
	if c.current.conditions == nil {
		c.current.conditions = conditions{}
	}
	c.current.conditions.add(uint32(line), uint32(min(covered, total, maxLine)), uint32(min(total, maxLine)))
}

// addBranch adds one branch of a line of the current file.
func (c *collector) addBranch(line int, block, name []byte, taken bool) {
	c.current.branches.add(branchKey(line, block, name), taken)
}

// branchKey returns a number below 1<<63 that identifies a branch. It combines the line, the
// block and the name if they are small numbers, otherwise it is a hash.
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

// parseSmall parses a decimal number of at most five digits. It returns false unless the number is
// below limit.
func parseSmall(digits []byte, limit uint64) (uint64, bool) {
	n, ok := parseNatural(digits)
	return uint64(n), ok && len(digits) <= 5 && uint64(n) < limit
}

// coverage returns the collected coverage, with the files sorted by path.
func (c *collector) coverage() *metric.Coverage {
	c.closeFile()
	out := &metric.Coverage{Unit: c.unit}
	for _, f := range c.files {
		fc := f.coverage()
		out.Covered += fc.Covered
		out.Total += fc.Total
		out.Branches = out.Branches.Plus(fc.Branches)
		out.Files = append(out.Files, fc)
	}
	slices.SortFunc(out.Files, func(a, b metric.FileCoverage) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// coverage returns the coverage of one file. Totals outweigh statements, and statements outweigh
// lines.
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
		branches = *branches.Plus(&r)
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

// number is a total that a report declares; -1 if it is missing.
type number = int64

// totals are the totals that a report declares for all files.
type totals struct{ covered, units, coveredBranches, branches number }

var noTotals = totals{-1, -1, -1, -1}

// declaredRatio is a ratio declared by a report.
type declaredRatio struct{ covered, total number }

// compareTotal adds a problem if a declared ratio differs from the counted one. path is the file,
// or "" for the complete report.
func (c *collector) compareTotal(what, path string, declared declaredRatio, got metric.Ratio) {
	if (declared.total < 0 || declared.total == got.Total) && (declared.covered < 0 || declared.covered == got.Covered) {
		return
	}
	if path != "" {
		what += " of " + path
	}
	c.problems.Add("the report declares %s of %s %s, and lists %d of %d", formatNumber(declared.covered), formatNumber(declared.total), what, got.Covered, got.Total)
}

// formatNumber returns a declared total as text, or "?" if it is missing.
func formatNumber(n number) string {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// finish returns the report. err is the error that ended the reading, or nil if the report was
// read completely. Only then are declared totals compared.
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
		branches := *(&metric.Ratio{}).Plus(cov.Branches) // 0 of 0 if the report has none
		c.compareTotal("branches", "", declaredRatio{c.declared.coveredBranches, c.declared.branches}, branches)
	}

	if c.noise != "" {
		c.problems.Add("text outside of the report: %s", c.noise)
	}
	return Report{Coverage: cov, Problems: c.problems.All()}, err
}

// addTotals adds a file of which only totals are known, and returns it. Two entries of one file
// cannot be merged, so the one with more units is used.
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
