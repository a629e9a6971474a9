package coverage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// lcovRecords are prefixes of lines that identify an LCOV file.
var lcovRecords = []string{"DA:", "BRDA:", "FN:", "FNDA:", "FNL:", "FNF:", "LF:", "LH:", "end_of_record"}

// detectLCOV recognizes an SF record together with another record.
func detectLCOV(h sniff.Head) bool {
	source := func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "SF:") }
	record := func(l string) bool {
		l = strings.TrimSpace(l)
		return slices.ContainsFunc(lcovRecords, func(r string) bool { return strings.HasPrefix(l, r) })
	}
	return h.MatchesLine(source) && h.MatchesLine(record)
}

// lcovReader reads an LCOV tracefile, written by lcov, llvm-cov, istanbul, coverage.py,
// simplecov-lcov and many others. Lines are counted from DA records; duplicates count once. The
// totals in LF, LH, BRF and BRH are compared, and used only if no lines are listed. Whether a
// line is executed depends on its own count, not on its branches.
type lcovReader struct {
	*collector
	input      textstream.Line // the current line
	inSource   bool            // a source file is open
	inTest     bool            // a TN record was read, and no SF record after it
	startLine  int             // line number of the SF or TN record
	branchHits marks           // branches of the open source file

	declaredLines, declaredBranches declaredRatio // of the open source file
}

// parseLCOV reads a tracefile. It is incomplete if it ends within the records of a source file.
func parseLCOV(r io.Reader) (Report, error) {
	l := &lcovReader{collector: newCollector(metric.Lines)}
	lines := textstream.NewLines(r)
	var err error
	for err == nil {
		if l.input, err = lines.Next(); err == nil {
			err = l.readRecord()
		}
	}

	_, damaged := errors.AsType[*SyntaxError](err)
	switch {
	// An error in an incomplete last line only shows that the report was cut off.
	case damaged && (l.input.Complete || !l.inSource):
		return l.finish(err)
	case !damaged && !errors.Is(err, io.EOF):
		return l.finish(fmt.Errorf("read LCOV: %w", err))
	case l.inSource:
		why := "the record of " + l.current.path + " has no end_of_record: the tool was stopped, or its output was cut off"
		return l.finish(&SyntaxError{Line: l.startLine, Problem: why})
	case l.inTest && len(l.files) > 0:
		return l.finish(&SyntaxError{Line: l.startLine, Problem: "a test is named and no source file follows: the tool was stopped, or its output was cut off"})
	case len(l.files) == 0:
		return Report{}, &SyntaxError{Problem: "no source file is named"}
	}
	return l.finish(nil)
}

// readRecord reads one line. A line that is no record is text outside the report.
func (l *lcovReader) readRecord() error {
	if number, hit, ok := parsePlainLine(l.input.Text); ok && l.inSource { // the most common record
		l.collector.addLine(number, hit)
		return nil
	}

	text := bytes.TrimSpace(l.input.Text)
	key, value, ok := bytes.Cut(text, []byte{':'})
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case string(text) == "end_of_record":
		return l.endSource()
	case ok && string(key) == "SF":
		return l.beginSource(string(value))
	case !l.inSource && isTestName(text, l.input.Complete):
		l.inTest, l.startLine = true, l.input.Number
		return nil
	case ok && isRecordName(key):
		read := lcovRecordReaders[string(key)]
		if read == nil {
			return nil
		}
		if l.inSource {
			return read(l, value)
		}
	}

	if l.noise == "" {
		l.noise = textstream.CleanText(string(text[:min(len(text), 1<<10)]))
	}
	return nil
}

// lcovRecordReaders read the records of a source file. Functions and MC/DC are not counted.
var lcovRecordReaders = map[string]func(*lcovReader, []byte) error{
	"DA":   (*lcovReader).readLine,
	"BRDA": (*lcovReader).readBranch,
	"LF":   func(l *lcovReader, value []byte) error { l.declaredLines.total = parseDeclared(value); return nil },
	"LH":   func(l *lcovReader, value []byte) error { l.declaredLines.covered = parseDeclared(value); return nil },
	"BRF":  func(l *lcovReader, value []byte) error { l.declaredBranches.total = parseDeclared(value); return nil },
	"BRH":  func(l *lcovReader, value []byte) error { l.declaredBranches.covered = parseDeclared(value); return nil },
}

// parsePlainLine parses the most common record, such as "DA:12,3". It returns false for any
// other.
func parsePlainLine(text []byte) (number int, hit, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte("DA:"))
	i := bytes.IndexByte(text, ',')
	if !ok || i < 0 {
		return 0, false, false
	}
	if number, ok = parseNatural(text[:i]); !ok {
		return 0, false, false
	}
	hit, ok = parseHit(text[i+1:])
	return number, hit, ok
}

// isTestName reports whether a line outside a record is a TN record, or an incomplete TN or SF
// record.
func isTestName(text []byte, complete bool) bool {
	if bytes.HasPrefix(text, []byte("TN:")) {
		return true
	}
	return !complete && (bytes.HasPrefix([]byte("TN:"), text) || bytes.HasPrefix([]byte("SF:"), text))
}

// isRecordName reports whether a key consists of two to seven upper-case letters.
func isRecordName(key []byte) bool {
	return len(key) > 1 && len(key) < 8 && !slices.ContainsFunc(key, func(c byte) bool { return c < 'A' || c > 'Z' })
}

// beginSource opens a source file.
func (l *lcovReader) beginSource(path string) error {
	if l.inSource {
		return l.input.Error("another source file begins before the end_of_record of %s, which began on line %d", l.current.path, l.startLine)
	}
	l.openFile(path)
	l.inSource, l.inTest, l.startLine = true, false, l.input.Number
	l.declaredLines, l.declaredBranches = declaredRatio{-1, -1}, declaredRatio{-1, -1}
	return nil
}

// endSource closes the open source file, and compares its declared totals with what it lists.
func (l *lcovReader) endSource() error {
	if !l.inSource {
		return nil // a repeated end_of_record
	}

	lines := l.currentLines.ratio()
	if lines.Total == 0 && l.declaredLines.total > 0 && l.declaredLines.isValid() {
		l.useDeclared()
	} else {
		l.compareTotal("lines", l.current.path, l.declaredLines, lines)
		l.compareTotal("branches", l.current.path, l.declaredBranches, l.branchHits.ratio())
	}

	l.current.branches.addAll(&l.branchHits)
	l.branchHits = marks{list: l.branchHits.list[:0]}
	l.inSource = false
	l.closeFile()
	return nil
}

// useDeclared uses the declared totals of a file whose lines are not listed, as written by
// llvm-cov -summary-only.
func (l *lcovReader) useDeclared() {
	if l.declaredLines.total > l.current.totals.Total {
		l.current.totals = metric.Ratio{Covered: l.declaredLines.covered, Total: l.declaredLines.total}
	}
	if l.declaredBranches.isValid() && l.declaredBranches.total > l.current.branchTotals.Total {
		l.current.branchTotals = metric.Ratio{Covered: l.declaredBranches.covered, Total: l.declaredBranches.total}
	}
}

// isValid reports whether both numbers are known and consistent.
func (c declaredRatio) isValid() bool { return c.covered >= 0 && c.covered <= c.total }

// lcovNoCount are marks that some tools write instead of the count 0.
var lcovNoCount = map[string]bool{"-": true, "#####": true, "=====": true, "=": true, "undefined": true}

// parseLCOVCount parses a count, and reports whether it is positive. ok is false if it is neither
// a number nor one of lcovNoCount.
func parseLCOVCount(count []byte) (hit, ok bool) {
	if lcovNoCount[string(count)] {
		return false, true
	}
	return parseHit(count)
}

// readLine reads the value of a DA record, such as "12,3" or "12,3,checksum": line, count and an
// optional checksum.
func (l *lcovReader) readLine(value []byte) error {
	number, remaining, _ := bytes.Cut(value, []byte{','})
	count, _, _ := bytes.Cut(remaining, []byte{','})
	n, ok := parseNatural(number)
	if !ok && string(number) == "undefined" {
		l.problems.Add("%s: a line has no number", l.current.path)
		return nil
	}
	if !ok {
		return l.input.Error("%q is no line number", number)
	}
	hit, ok := parseLCOVCount(count)
	if !ok {
		return l.input.Error("%q is no number of executions", count)
	}
	l.collector.addLine(n, hit)
	return nil
}

// readBranch reads the value of a BRDA record, such as "12,0,1,3": line, block, branch and count.
// The count is "-" if the line was never reached. The branch may be a text with commas.
func (l *lcovReader) readBranch(value []byte) error {
	number, remaining, _ := bytes.Cut(value, []byte{','})
	block, remaining, _ := bytes.Cut(remaining, []byte{','})
	i := bytes.LastIndexByte(remaining, ',')
	n, ok := parseNatural(number)
	if !ok || i < 0 {
		return l.input.Error("%q is no branch", value)
	}
	taken, ok := parseLCOVCount(remaining[i+1:])
	if !ok { // vitest writes NaN
		l.problems.Add("%s:%d: a branch has the count %q, which is no number: it counts as not executed", l.current.path, n, remaining[i+1:])
	}
	l.branchHits.add(branchKey(n, block, remaining[:i]), taken)
	return nil
}
