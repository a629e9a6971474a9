package coverage

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

// simplecovReader reads .resultset.json of SimpleCov, with one result for each command, and
// coverage.json of its JSON formatter. Results are merged as SimpleCov does: a line is executed
// if one result says so. It is not code if one result says so and none executed it, because
// SimpleCov guesses about files that a command did not load.
type simplecovReader struct {
	*collector
	lines map[string][]simplecovLine // the merged lines of each file; the first is line 1
	order []string                   // the paths of lines, in the order of the report
}

// simplecovLine is the state of a line. The order of the constants matters for merge.
type simplecovLine uint8

const (
	simplecovNoCode simplecovLine = iota
	simplecovMissed
	simplecovHit
)

// merge returns the state of a line that two results list.
func (a simplecovLine) merge(b simplecovLine) simplecovLine {
	if a == simplecovHit || b == simplecovHit {
		return simplecovHit
	}
	return min(a, b)
}

// parseSimpleCov reads both formats. The results of .resultset.json are one level deeper.
func parseSimpleCov(r io.Reader) (Report, error) {
	s := &simplecovReader{collector: newCollector(metric.Lines), lines: map[string][]simplecovLine{}}
	s.required = "results"
	err := s.documents(r, func(r *jsonstream.Reader) error {
		return r.Object(func(name string) error {
			switch {
			case r.Kind() != '{':
				return r.Skip()
			case name == "coverage":
				return s.readResult(r)
			}
			return r.Object(func(name string) error {
				if name != "coverage" || r.Kind() != '{' {
					return r.Skip()
				}
				return s.readResult(r)
			})
		})
	})
	s.addLines()
	return s.finish(err)
}

// addLines adds the merged lines of all results to the collector.
func (s *simplecovReader) addLines() {
	for _, path := range s.order {
		s.openFile(path)
		for i, l := range s.lines[path] {
			if l != simplecovNoCode {
				s.addLine(i+1, l == simplecovHit)
			}
		}
	}
	s.closeFile()
}

// readResult reads the files of one result.
func (s *simplecovReader) readResult(r *jsonstream.Reader) error {
	s.required = ""
	return r.Object(func(path string) error {
		if len(s.lines) >= maxFiles {
			return r.Error("the report has %d files or more", maxFiles)
		}
		s.openFile(path)
		if r.Kind() == '[' { // the format of SimpleCov before 0.18
			return s.readLines(r, path)
		}

		hasLines := false
		err := r.Object(func(name string) error {
			switch {
			case name == "lines":
				hasLines = true
				return s.readLines(r, path)
			case name == "branches" && r.Kind() == '{':
				return s.readBranchesByName(r)
			case name == "branches" && r.Kind() == '[':
				return s.readBranchList(r)
			}
			return r.Skip()
		})
		if err == nil && !hasLines {
			err = r.Error("%s has no lines", path)
		}
		return err
	})
}

// readLines reads the lines of one file, such as [1,0,null], and merges them with those of
// earlier results.
func (s *simplecovReader) readLines(r *jsonstream.Reader, path string) error {
	var raw jsonstream.Raw
	if err := r.Value(&raw); err != nil {
		return err
	}

	known, seen := s.lines[path]
	n := 0
	list := bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("[")), []byte("]"))
	for len(list) > 0 {
		item, remaining, _ := bytes.Cut(list, []byte{','})
		list = remaining
		line, ok := parseSimplecovLine(bytes.TrimSpace(item))
		switch {
		case !ok:
			return r.Error("line %d of %s is no count: %s", n+1, path, item)
		case n < len(known):
			known[n] = known[n].merge(line)
		case seen: // the other results do not list the line as code
			known = append(known, line.merge(simplecovNoCode))
		default:
			known = append(known, line)
		}
		n++
	}

	for i := n; i < len(known); i++ {
		known[i] = known[i].merge(simplecovNoCode)
	}
	if !seen {
		s.order = append(s.order, path)
	}
	s.lines[path] = known
	return nil
}

// parseSimplecovLine reads a count, null for a line without code, or "ignored".
func parseSimplecovLine(item []byte) (simplecovLine, bool) {
	if string(item) == "null" || string(item) == `"ignored"` || len(item) == 0 {
		return simplecovNoCode, true
	}
	hit, ok := parseHit(item)
	if hit {
		return simplecovHit, true
	}
	return simplecovMissed, ok
}

// readBranchesByName reads the branches of a file: {"[:if, 0, 3, 4, 5, 6]": {"[:then, …]": 1,
// "[:else, …]": 0}}. A name has the kind, a number, and the lines and columns where the code
// starts and ends.
func (s *simplecovReader) readBranchesByName(r *jsonstream.Reader) error {
	return r.Object(func(condition string) error {
		return r.Object(func(branch string) error {
			if r.Kind() != '0' {
				return r.Skip()
			}
			var count float64
			err := r.Value(&count)
			s.addBranch(simplecovBranchLine(condition), []byte(condition), []byte(branch), count > 0)
			return err
		})
	})
}

// simplecovBranchLine returns the line in the name of a condition, or 0 if it has none.
func simplecovBranchLine(condition string) int {
	fields := strings.Split(strings.Trim(condition, "[]"), ",")
	if len(fields) < 3 {
		return 0
	}
	line, _ := parseNatural(strings.TrimSpace(fields[2]))
	return min(line, maxLine)
}

// readBranchList reads the branches of coverage.json.
func (s *simplecovReader) readBranchList(r *jsonstream.Reader) error {
	n := 0
	return r.Array(func() error {
		var b struct {
			Type     string         `json:"type"`
			Line     int            `json:"start_line"`
			Coverage jsonstream.Raw `json:"coverage"`
		}
		if err := r.Value(&b); err != nil {
			return err
		}
		n++
		if taken, ok := parseHit(b.Coverage); ok { // otherwise the branch is "ignored"
			s.addBranch(max(0, min(b.Line, maxLine)), []byte(b.Type), strconv.AppendInt(nil, int64(n), 10), taken)
		}
		return nil
	})
}
