package coverage

import (
	"supervise/internal/jsonstream"
	"supervise/metric"
)

// llvmSummary contains the totals of a file or of a program.
type llvmSummary struct {
	Lines    *llvmCount `json:"lines"`
	Branches llvmCount  `json:"branches"`
}

// llvmCount is the number of units, and how many of them are covered.
type llvmCount struct {
	Count   int64 `json:"count"`
	Covered int64 `json:"covered"`
}

func (c llvmCount) ratio() metric.Ratio { return metric.Ratio{Covered: c.Covered, Total: c.Count} }

// isValid reports whether the numbers are consistent.
func (c llvmCount) isValid() bool { return c.Covered >= 0 && c.Covered <= c.Count }

// readLLVM reads the JSON of "llvm-cov export", which cargo llvm-cov and Swift also write. The
// totals of a file are those of its summary, which counts lines by function: a line in two
// functions, such as a closure, counts twice. Executed lines are computed from the segments, as
// in "llvm-cov show" and the LCOV export; a report made with -summary-only has none.
func (c *collector) readLLVM(r *jsonstream.Reader) error {
	return r.Object(func(name string) error {
		if name != "data" {
			return r.Skip()
		}
		c.required = ""
		return r.Array(func() error { return r.Object(func(name string) error { return c.readLLVMMember(r, name) }) })
	})
}

// readLLVMMember reads one member of an export. data contains an export for each program.
func (c *collector) readLLVMMember(r *jsonstream.Reader, name string) error {
	switch name {
	case "files":
		return r.Array(func() error { return c.readLLVMFile(r) })
	case "totals":
		var s llvmSummary
		if err := r.Value(&s); err != nil || s.Lines == nil {
			return err
		}
		d := &c.declared // the sum over all programs
		d.covered = max(d.covered, 0) + s.Lines.Covered
		d.units = max(d.units, 0) + s.Lines.Count
		d.coveredBranches = max(d.coveredBranches, 0) + s.Branches.Covered
		d.branches = max(d.branches, 0) + s.Branches.Count
		return nil
	}
	return r.Skip()
}

// readLLVMFile reads one file.
func (c *collector) readLLVMFile(r *jsonstream.Reader) error {
	var summary llvmSummary
	var lines llvmLines
	path := ""
	err := r.Object(func(name string) (err error) {
		switch name {
		case "filename":
			path, err = r.Text()
		case "summary":
			err = r.Value(&summary)
		case "segments":
			lines = llvmLines{}
			err = lines.read(r)
		default:
			err = r.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	if path == "" || summary.Lines == nil || !summary.Lines.isValid() || !summary.Branches.isValid() {
		return r.Error("a file has no name or no numbers of lines")
	}

	f := c.addTotals(path, summary.Lines.ratio(), summary.Branches.ratio())
	f.lines.add(&lines.marks)
	c.closeFile()
	return nil
}

// llvmSegment is the start or the continuation of a code region. In the report it is a list such
// as [12,5,3,true,true,false].
type llvmSegment struct {
	// line is the first element. The second, the column, is not used.
	line int
	// hit reports whether the count, the third element, is positive. counted reports whether the
	// region has a count (the fourth element).
	hit, counted bool
	// entry reports whether the region starts here, and gap whether it is a gap between regions
	// (the last two elements). known is false for the zero value.
	entry, gap, known bool
}

// maxSegment limits the number of lines of a region.
const maxSegment = 1 << 20

// llvmLines computes lines from segments. A line has code if a region with a count starts on it
// or continues from the previous line. It is executed if one of these regions is.
type llvmLines struct {
	marks          marks
	lastOfPrevious llvmSegment // last segment of the lines before the current one
	last           llvmSegment // last segment so far
	line           int         // number of the current line; 0 at the start
	regions        int         // number of regions that start on the current line
	hit            bool        // one of these regions was executed
	skipped        bool        // the current line starts with code that was not compiled
}

// read reads the segments of a file, which are sorted by line.
func (l *llvmLines) read(r *jsonstream.Reader) error {
	var raw []jsonstream.Raw
	err := r.Array(func() error {
		raw = raw[:0]
		if err := r.Value(&raw); err != nil {
			return err
		}
		s, ok := newLLVMSegment(raw)
		if !ok || s.line < l.line || l.line > 0 && s.line-l.line > maxSegment {
			return r.Error("a segment has no place or no count")
		}
		l.addSegment(s)
		return nil
	})
	l.endLine()
	return err
}

// newLLVMSegment parses the elements of a segment. It returns false if they are invalid.
func newLLVMSegment(raw []jsonstream.Raw) (s llvmSegment, ok bool) {
	if len(raw) < 5 {
		return s, false
	}
	flag := func(i int) bool { return i < len(raw) && (string(raw[i]) == "true" || string(raw[i]) == "1") }
	line, okLine := parseNatural(raw[0])
	hit, okCount := parseHit(raw[2])
	return llvmSegment{line: line, hit: hit, counted: flag(3), entry: flag(4), gap: flag(5), known: true}, okLine && okCount && line <= maxLine
}

// addSegment adds the next segment of the file.
func (l *llvmLines) addSegment(s llvmSegment) {
	if s.line != l.line {
		l.endLine()
		l.markBetween(s.line)
		l.line, l.regions, l.hit = s.line, 0, false
		l.skipped = !s.counted && s.entry
	}
	if s.counted && s.entry && !s.gap {
		l.regions++
		l.hit = l.hit || s.hit
	}
	l.last = s
}

// endLine adds the current line to the marks, if it has code.
func (l *llvmLines) endLine() {
	if !l.last.known || l.line < 1 {
		return
	}
	if !l.skipped && (l.lastOfPrevious.counted || l.regions > 0) {
		l.marks.add(uint64(l.line), l.hit || l.lastOfPrevious.known && l.lastOfPrevious.hit)
	}
	l.lastOfPrevious = l.last
}

// markBetween adds the lines between the current line and the given next one, if they continue a
// region.
func (l *llvmLines) markBetween(next int) {
	if !l.lastOfPrevious.counted {
		return
	}
	for n := l.line + 1; n < next; n++ {
		l.marks.add(uint64(n), l.lastOfPrevious.hit)
	}
}
