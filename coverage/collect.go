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

// maxFiles is more than any project has.
const maxFiles = 1 << 18

// maxLine is the greatest line number that is one.
const maxLine = 1<<31 - 1

// file is what a report says of one source file. Formats use the part of it
// that they have: lines, or statements with their lines, or numbers alone.
type file struct {
	path         string
	lines        lineSet
	statements   marks // line<<32 | which one of the line
	branches     marks // by identity
	conditions   conditions
	totals       metric.Ratio // of units that are not named one by one
	branchTotals metric.Ratio // of branches, likewise
}

// collector gathers the files of a report. One of them is open at a time; a
// file that is opened again adds to what is known of it.
type collector struct {
	unit         metric.Unit
	problems     textstream.Problems
	files        map[string]*file
	current      *file
	currentLines marks // lines of the open file
	declared     totals
	required     string // what was not found yet, and has to be in a report
	noise        string // the first line of text that does not belong to the report
}

func newCollector(unit metric.Unit) *collector {
	return &collector{unit: unit, files: map[string]*file{}, declared: noTotals}
}

// openFile opens a file and closes the one before.
func (c *collector) openFile(path string) *file {
	path = textstream.CleanName(path)
	if c.current != nil && c.current.path == path {
		return c.current
	}
	c.closeFile()
	f := c.files[path]
	if f == nil {
		f = &file{path: path}
		if len(c.files) < maxFiles { // else the report is refused at its end
			c.files[path] = f
		}
	}
	c.current = f
	return f
}

// closeFile closes the open file.
func (c *collector) closeFile() {
	if c.current != nil {
		c.current.lines.add(&c.currentLines)
		c.currentLines = marks{list: c.currentLines.list[:0]}
		c.current = nil
	}
}

// addLine adds a line of the open file. Lines are counted from 1: some compilers
// name a line 0 for code without a place, which is not a line.
func (c *collector) addLine(number int, hit bool) {
	if number < 1 || number > maxLine {
		c.problems.Add("%s: %d is no line", c.current.path, number)
		return
	}
	c.currentLines.add(uint64(number), hit)
}

// addStatement adds a statement of the open file, the nth of its line.
func (c *collector) addStatement(line int, nth uint32, hit bool) {
	line = max(0, min(line, maxLine))
	c.current.statements.add(uint64(line)<<32|uint64(nth), hit)
	if line > 0 {
		c.currentLines.add(uint64(line), hit)
	}
}

// addCondition adds the branches of a line of the open file.
func (c *collector) addCondition(line int, covered, total int64) {
	if line < 1 || line > maxLine || total <= 0 || covered < 0 {
		return
	}
	c.current.conditions.add(uint32(line), uint32(min(covered, total, maxLine)), uint32(min(total, maxLine)))
}

// addBranch adds one branch of a line of the open file.
func (c *collector) addBranch(line int, block, name []byte, taken bool) {
	c.current.branches.add(branchKey(line, block, name), taken)
}

// branchKey makes a number of what identifies a branch: the numbers themselves
// where they are small, as a rule.
func branchKey(line int, block, name []byte) uint64 {
	b, okBlock := parseSmall(block, 1<<16)
	n, okName := parseSmall(name, 1<<15)
	if okBlock && okName && line >= 0 && line <= maxLine {
		return uint64(line)<<31 | b<<15 | n
	}
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(nil, int64(line), 10)) // a hash takes everything
	for _, part := range [][]byte{block, name} {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write(part)
	}
	return 1<<62 | h.Sum64()>>2
}

// parseSmall returns the decimal number, if it is one below limit.
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

// coverage returns what was gathered, the files in the order of their paths.
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

// nilIfEmpty returns nil for what has no parts.
func nilIfEmpty(r metric.Ratio) *metric.Ratio {
	if r.Total <= 0 {
		return nil
	}
	return &r
}

// number is a total that a report declares; -1 if it does not.
type number = int64

// totals are what a report declares of all its files.
type totals struct{ covered, units, coveredBranches, branches number }

var noTotals = totals{-1, -1, -1, -1}

// declaredRatio is what a report declares of one thing.
type declaredRatio struct{ covered, total number }

// compareTotal compares a claim about a file, or about all, with the recount.
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

// finish returns what was gathered; err is what ended the reading early. Only a report
// that was read completely is compared with its totals.
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

// addTotals adds a file of which only numbers are known. Two files of one name
// cannot be merged: the one with more units stays.
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
