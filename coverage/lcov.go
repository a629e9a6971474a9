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

// lcovRecords are the lines that identify an LCOV file.
var lcovRecords = []string{"DA:", "BRDA:", "FN:", "FNDA:", "FNL:", "FNF:", "LF:", "LH:", "end_of_record"}

func detectLCOV(h sniff.Head) bool {
	source := func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "SF:") }
	record := func(l string) bool {
		l = strings.TrimSpace(l)
		return slices.ContainsFunc(lcovRecords, func(r string) bool { return strings.HasPrefix(l, r) })
	}
	return h.MatchesLine(source) && h.MatchesLine(record)
}

// lcovReader reads an LCOV tracefile: of lcov, llvm-cov, istanbul, coverage.py,
// simplecov-lcov and many others. Lines are counted by their DA records, a
// line or branch that is listed twice once; what LF, LH, BRF and BRH say is
// compared, and counts where no lines are listed. A line counts as executed by its own count, never by its branches.
type lcovReader struct {
	*collector
	at      textstream.Line
	within  bool  // a source file is open
	titled  bool  // a test is named, and no source file came yet
	started int   // the line of its SF, or TN
	taken   marks // branches of this section

	lines, branches claim // of this section
}

func parseLCOV(r io.Reader) (Report, error) {
	l := &lcovReader{collector: newCollector(metric.Lines)}
	lines := textstream.NewLines(r)
	var err error
	for err == nil {
		if l.at, err = lines.Next(); err == nil {
			err = l.take()
		}
	}
	_, damaged := errors.AsType[*SyntaxError](err)
	switch {
	case damaged && (l.at.Complete || !l.within): // else what is wrong is that it is cut off
		return l.report(err)
	case !damaged && !errors.Is(err, io.EOF):
		return l.report(fmt.Errorf("read LCOV: %w", err))
	case l.within:
		why := "the record of " + l.open.path + " has no end_of_record: the tool was stopped, or its output was cut off"
		return l.report(&SyntaxError{Line: l.started, Problem: why})
	case l.titled && len(l.files) > 0:
		return l.report(&SyntaxError{Line: l.started, Problem: "a test is named and no source file follows: the tool was stopped, or its output was cut off"})
	case len(l.files) == 0:
		return Report{}, &SyntaxError{Problem: "no source file is named"}
	}
	return l.report(nil)
}

// take reads one line.
func (l *lcovReader) take() error {
	if number, hit, ok := plainLine(l.at.Text); ok && l.within { // nearly all of them
		l.collector.line(number, hit)
		return nil
	}
	text := bytes.TrimSpace(l.at.Text)
	key, value, ok := bytes.Cut(text, []byte{':'})
	switch {
	case len(text) == 0 || text[0] == '#':
		return nil
	case string(text) == "end_of_record":
		return l.endSource()
	case ok && string(key) == "SF":
		return l.beginSource(string(value))
	case !l.within && isTitle(text, l.at.Complete):
		l.titled, l.started = true, l.at.Number
		return nil
	case ok && isRecordName(key):
		read := lcovReaders[string(key)]
		if read == nil {
			return nil
		}
		if l.within {
			return read(l, value)
		}
	}
	if l.noise == "" {
		l.noise = textstream.CleanText(string(text[:min(len(text), 1<<10)]))
	}
	return nil
}

// lcovReaders read the records of a source file. Functions and MC/DC are not
// counted.
var lcovReaders = map[string]func(*lcovReader, []byte) error{
	"DA":   (*lcovReader).line,
	"BRDA": (*lcovReader).branchLine,
	"LF":   func(l *lcovReader, value []byte) error { l.lines.total = declaredNumber(value); return nil },
	"LH":   func(l *lcovReader, value []byte) error { l.lines.covered = declaredNumber(value); return nil },
	"BRF":  func(l *lcovReader, value []byte) error { l.branches.total = declaredNumber(value); return nil },
	"BRH":  func(l *lcovReader, value []byte) error { l.branches.covered = declaredNumber(value); return nil },
}

// plainLine reads "DA:12,3" as nearly every line is written.
func plainLine(text []byte) (number int, hit, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte("DA:"))
	i := bytes.IndexByte(text, ',')
	if !ok || i < 0 {
		return 0, false, false
	}
	if number, ok = natural(text[:i]); !ok {
		return 0, false, false
	}
	hit, ok = positive(text[i+1:])
	return number, hit, ok
}

// isTitle reports whether a line outside of a record is a TN, or the beginning
// of a TN or SF that was cut off.
func isTitle(text []byte, complete bool) bool {
	if bytes.HasPrefix(text, []byte("TN:")) {
		return true
	}
	return !complete && (bytes.HasPrefix([]byte("TN:"), text) || bytes.HasPrefix([]byte("SF:"), text))
}

func isRecordName(key []byte) bool {
	return len(key) > 1 && len(key) < 8 && !slices.ContainsFunc(key, func(c byte) bool { return c < 'A' || c > 'Z' })
}

func (l *lcovReader) beginSource(path string) error {
	if l.within {
		return l.at.Error("another source file begins before the end_of_record of %s, which began on line %d", l.open.path, l.started)
	}
	l.begin(path)
	l.within, l.titled, l.started = true, false, l.at.Number
	l.lines, l.branches = claim{-1, -1}, claim{-1, -1}
	return nil
}

func (l *lcovReader) endSource() error {
	if !l.within {
		return nil // a second one ends nothing
	}
	lines := l.section.ratio()
	if lines.Total == 0 && l.lines.total > 0 && l.lines.possible() {
		l.summary()
	} else {
		l.check("lines", l.open.path, l.lines, lines)
		l.check("branches", l.open.path, l.branches, l.taken.ratio())
	}
	l.open.branches.addAll(&l.taken)
	l.taken = marks{list: l.taken.list[:0]}
	l.within = false
	l.end()
	return nil
}

// summary takes the numbers of a file whose lines are not listed, as llvm-cov
// writes them with -summary-only.
func (l *lcovReader) summary() {
	if l.lines.total > l.open.counts.Total {
		l.open.counts = metric.Ratio{Covered: l.lines.covered, Total: l.lines.total}
	}
	if l.branches.possible() && l.branches.total > l.open.taken.Total {
		l.open.taken = metric.Ratio{Covered: l.branches.covered, Total: l.branches.total}
	}
}

// possible reports whether the numbers can be true.
func (c claim) possible() bool { return c.covered >= 0 && c.covered <= c.total }

// lcovNoCount are what some tools write instead of a count of 0.
var lcovNoCount = map[string]bool{"-": true, "#####": true, "=====": true, "=": true, "undefined": true}

func lcovCount(count []byte) (hit, ok bool) {
	if lcovNoCount[string(count)] {
		return false, true
	}
	return positive(count)
}

// line reads "12,3" or "12,3,checksum".
func (l *lcovReader) line(value []byte) error {
	number, rest := field(value)
	count, _ := field(rest)
	n, ok := natural(number)
	if !ok && string(number) == "undefined" {
		l.problems.Add("%s: a line has no number", l.open.path)
		return nil
	}
	if !ok {
		return l.at.Error("%q is no line number", number)
	}
	hit, ok := lcovCount(count)
	if !ok {
		return l.at.Error("%q is no number of executions", count)
	}
	l.collector.line(n, hit)
	return nil
}

// branchLine reads "12,0,1,3": line, block, branch and how often it was taken,
// "-" where the line was never reached. The branch may be text with commas.
func (l *lcovReader) branchLine(value []byte) error {
	number, rest := field(value)
	block, rest := field(rest)
	i := bytes.LastIndexByte(rest, ',')
	n, ok := natural(number)
	if !ok || i < 0 {
		return l.at.Error("%q is no branch", value)
	}
	taken, ok := lcovCount(rest[i+1:])
	if !ok {
		return l.at.Error("%q is no number of executions", rest[i+1:])
	}
	l.taken.add(branchKey(n, block, rest[:i]), taken)
	return nil
}
