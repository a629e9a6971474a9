package coverage

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// detectGcovText recognizes the line that names the source: "-:    0:Source:calc.c".
func detectGcovText(h sniff.Head) bool {
	return h.MatchesLine(func(s string) bool { return strings.HasPrefix(strings.TrimLeft(s, " "), "-:    0:Source:") })
}

// gcovText reads the annotated sources of gcov and "llvm-cov gcov": each source line with its
// count, followed by its branches. A template is repeated for each of its instances. A text may
// contain several sources (gcov -t).
type gcovText struct {
	*collector
	input      textstream.Line // the current line of the report
	hasSource  bool            // a source was found
	lastNumber int             // largest line number of the current source so far
	branchLine int             // number of the source line that branches belong to; 0 for none
	cut        bool            // the last line of the report is incomplete
}

// parseGcovText reads a report. It stops at the first invalid line.
func parseGcovText(r io.Reader) (Report, error) {
	g := &gcovText{collector: newCollector(metric.Lines)}
	var fault error
	err := textstream.EachLine(r, func(line textstream.Line) {
		if fault == nil {
			g.input = line
			fault = g.readLine(line.Text)
			g.cut = !line.Complete
		}
	})
	switch {
	case err != nil:
		err = fmt.Errorf("read report: %w", err)
	case fault != nil:
		err = fault
	case !g.hasSource:
		err = ErrUnknownFormat
	case g.cut:
		err = g.input.Error("the report ends in the middle of a line")
	}
	return g.finish(err)
}

// readLine reads one line of the report, such as "        3:   12:  return x;".
func (g *gcovText) readLine(s []byte) error {
	count, rest, _ := bytes.Cut(bytes.TrimLeft(s, " "), []byte(":"))
	number, text, isLine := bytes.Cut(rest, []byte(":"))
	n, isNumber := parseNatural(bytes.TrimLeft(number, " "))
	switch {
	case !isLine || !isNumber:
		return g.readBranch(s)
	case n > 0:
		return g.sourceLine(count, n)
	}
	if path, ok := bytes.CutPrefix(text, []byte("Source:")); ok {
		g.openFile(string(path))
		g.hasSource, g.lastNumber, g.branchLine = true, 0, 0
	}
	return nil
}

// sourceLine reads the count of source line n. The lines of a source follow each other without
// gaps; a template starts again at a smaller number.
func (g *gcovText) sourceLine(count []byte, n int) error {
	switch {
	case g.current == nil:
		return g.input.Error("line %d of no source: the beginning of the report is missing", n)
	case n > g.lastNumber+1:
		return g.input.Error("line %d follows line %d of %s", n, g.lastNumber, g.current.path)
	}
	g.lastNumber, g.branchLine = max(g.lastNumber, n), n
	if string(count) == "-" {
		return nil
	}
	hit, ok := gcovCount(count)
	if !ok {
		return g.input.Error("%q is no number of executions", count)
	}
	g.addLine(n, hit)
	return nil
}

// gcovCount parses a count: "3", "3*" if a block of the line did not run, "1.2k" with the option
// -H, or a mark of a line that did not run.
func gcovCount(count []byte) (hit, ok bool) {
	if lcovNoCount[string(count)] {
		return false, true
	}
	count = bytes.TrimSuffix(count, []byte("*"))
	if n := len(count); n > 1 && bytes.IndexByte([]byte("kMGTPEZY"), count[n-1]) >= 0 {
		count = count[:n-1]
	}
	return parseHit(count)
}

// readBranch reads what follows a source line, such as "branch  0 taken 50% (fallthrough)". Blocks,
// calls, functions and the names of instances do not count.
func (g *gcovText) readBranch(s []byte) error {
	fields := bytes.Fields(s)
	if len(fields) < 4 || string(fields[0]) != "branch" || g.current == nil || g.branchLine == 0 {
		return nil
	}
	if _, ok := parseNatural(fields[1]); !ok {
		return nil
	}
	taken, ok := false, string(fields[2]) == "never"
	if string(fields[2]) == "taken" {
		taken, ok = gcovCount(bytes.TrimSuffix(fields[3], []byte("%")))
	}
	if !ok {
		return g.input.Error("%q is no number of times a branch was taken", fields[3])
	}
	g.addBranch(g.branchLine, nil, fields[1], taken)
	return nil
}
