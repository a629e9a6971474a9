package coverage

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

// simplecovReader reads what SimpleCov keeps (.resultset.json, one result for
// each command) and what its JSON formatter writes (coverage.json). Results
// are merged as SimpleCov does: a line is executed if it is in one result, and
// is not code if one result says so and none executed it, since files that a
// command did not load are guessed at.
type simplecovReader struct {
	*collector
	lines map[string][]simplecovLine
	order []string
}

// simplecovLine is what is known of a line.
type simplecovLine uint8

const (
	simplecovNoCode simplecovLine = iota
	simplecovMissed
	simplecovHit
)

func (a simplecovLine) merge(b simplecovLine) simplecovLine {
	if a == simplecovHit || b == simplecovHit {
		return simplecovHit
	}
	return min(a, b)
}

func parseSimpleCov(r io.Reader) (Report, error) {
	s := &simplecovReader{collector: newCollector(metric.Lines), lines: map[string][]simplecovLine{}}
	s.needs = "results"
	err := s.documents(r, func(r *jsonstream.Reader) error {
		return r.Object(func(name string) error {
			switch {
			case r.Kind() != '{':
				return r.Skip()
			case name == "coverage":
				return s.result(r)
			}
			return r.Object(func(name string) error {
				if name != "coverage" || r.Kind() != '{' {
					return r.Skip()
				}
				return s.result(r)
			})
		})
	})
	s.finish()
	return s.report(err)
}

func (s *simplecovReader) finish() {
	for _, path := range s.order {
		s.begin(path)
		for i, l := range s.lines[path] {
			if l != simplecovNoCode {
				s.line(i+1, l == simplecovHit)
			}
		}
	}
	s.end()
}

// result reads the files of one result.
func (s *simplecovReader) result(r *jsonstream.Reader) error {
	s.needs = ""
	return r.Object(func(path string) error {
		if len(s.lines) >= maxFiles {
			return r.Error("the report has %d files or more", maxFiles)
		}
		s.begin(path)
		if r.Kind() == '[' { // as before SimpleCov 0.18
			return s.fileLines(r, path)
		}
		some := false
		err := r.Object(func(name string) error {
			switch {
			case name == "lines":
				some = true
				return s.fileLines(r, path)
			case name == "branches" && r.Kind() == '{':
				return s.branchesByName(r)
			case name == "branches" && r.Kind() == '[':
				return s.branchList(r)
			}
			return r.Skip()
		})
		if err == nil && !some {
			err = r.Error("%s has no lines", path)
		}
		return err
	})
}

// fileLines reads the lines of one file and merges them with those of other
// results.
func (s *simplecovReader) fileLines(r *jsonstream.Reader, path string) error {
	var raw jsonstream.Raw
	if err := r.Value(&raw); err != nil {
		return err
	}
	known, again := s.lines[path]
	n := 0
	list := bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("[")), []byte("]"))
	for len(list) > 0 {
		item, rest := field(list)
		list = rest
		line, ok := newSimplecovLine(bytes.TrimSpace(item))
		switch {
		case !ok:
			return r.Error("line %d of %s is no count: %s", n+1, path, item)
		case n < len(known):
			known[n] = known[n].merge(line)
		case again: // the other results have no code there
			known = append(known, line.merge(simplecovNoCode))
		default:
			known = append(known, line)
		}
		n++
	}
	for i := n; i < len(known); i++ {
		known[i] = known[i].merge(simplecovNoCode)
	}
	if !again {
		s.order = append(s.order, path)
	}
	s.lines[path] = known
	return nil
}

// newSimplecovLine reads a count, null for no code, or "ignored".
func newSimplecovLine(item []byte) (simplecovLine, bool) {
	if string(item) == "null" || string(item) == `"ignored"` || len(item) == 0 {
		return simplecovNoCode, true
	}
	hit, ok := positive(item)
	if hit {
		return simplecovHit, true
	}
	return simplecovMissed, ok
}

// branchesByName reads {"[:if, 0, 3, 4, 5, 6]": {"[:then, …]": 1, "[:else, …]": 0}}:
// kind, number, and the lines and columns where it begins and ends.
func (s *simplecovReader) branchesByName(r *jsonstream.Reader) error {
	return r.Object(func(condition string) error {
		return r.Object(func(branch string) error {
			if r.Kind() != '0' {
				return r.Skip()
			}
			var count float64
			err := r.Value(&count)
			s.branch(simplecovPlace(condition), []byte(condition), []byte(branch), count > 0)
			return err
		})
	})
}

func simplecovPlace(condition string) int {
	fields := strings.Split(strings.Trim(condition, "[]"), ",")
	if len(fields) < 3 {
		return 0
	}
	line, _ := natural(strings.TrimSpace(fields[2]))
	return min(line, maxLine)
}

// branchList reads the branches of coverage.json.
func (s *simplecovReader) branchList(r *jsonstream.Reader) error {
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
		if taken, ok := positive(b.Coverage); ok { // else it is "ignored"
			s.branch(max(0, min(b.Line, maxLine)), []byte(b.Type), strconv.AppendInt(nil, int64(n), 10), taken)
		}
		return nil
	})
}
