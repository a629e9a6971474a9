package coverage

import (
	"io"
	"strconv"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
)

func detectGcov(h sniff.Head) bool { return h.JSON("files.[].file", "files.[].lines") }

// gcovFile is one file of "gcov --json-format" and of "gcovr --json". A line
// stands there once for each function it is compiled into.
type gcovFile struct {
	File  string     `json:"file"`
	Lines []gcovLine `json:"lines"`
}

type gcovLine struct {
	Number   int            `json:"line_number"`
	Function string         `json:"function_name"`
	Count    jsonstream.Raw `json:"count"`
	Branches []struct {
		Count jsonstream.Raw `json:"count"`
	} `json:"branches"`
	NoCode   bool `json:"gcovr/noncode"`
	Excluded bool `json:"gcovr/excluded"`
}

// parseGcov reads the JSON of gcov and of gcovr. A line is executed if it is in
// one of its functions; lines that gcovr excludes do not count.
func parseGcov(r io.Reader) (Report, error) {
	c := newCollector(metric.Lines)
	return c.documents(r, "gcov", func(r *jsonstream.Reader) error {
		return r.Object(func(name string) error {
			if name != "files" {
				return r.Skip()
			}
			return r.Array(func() error { return c.gcovFile(r) })
		})
	})
}

func (c *collector) gcovFile(r *jsonstream.Reader) error {
	var f gcovFile
	if err := r.Value(&f); err != nil {
		return err
	}
	if f.File == "" || f.Lines == nil {
		return r.Error("a file has no name or no lines: this is no report of gcov")
	}
	c.begin(f.File)
	for _, l := range f.Lines {
		if l.NoCode || l.Excluded {
			continue
		}
		hit, ok := positive(l.Count)
		if !ok {
			return r.Error("line %d of %s has no count", l.Number, f.File)
		}
		c.line(l.Number, hit)
		for i, b := range l.Branches {
			taken, ok := positive(b.Count)
			if !ok {
				return r.Error("a branch on line %d of %s has no count", l.Number, f.File)
			}
			c.branch(l.Number, []byte(l.Function), strconv.AppendInt(nil, int64(i), 10), taken)
		}
	}
	c.end()
	return nil
}
