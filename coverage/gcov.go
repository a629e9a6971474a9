package coverage

import (
	"strconv"

	"supervise/internal/jsonstream"
)

// gcovFile is a file in the reports of "gcov --json-format" and "gcovr --json". A line is listed
// once for each function that contains it.
type gcovFile struct {
	File  string     `json:"file"`
	Lines []gcovLine `json:"lines"`
}

// gcovLine is one line in one function. gcovr marks lines that it excludes, or that contain no
// code.
type gcovLine struct {
	Number   int            `json:"line_number"`
	Count    jsonstream.Raw `json:"count"`
	Branches []struct {
		Count jsonstream.Raw `json:"count"`
	} `json:"branches"`
	NoCode   bool `json:"gcovr/noncode"`
	Excluded bool `json:"gcovr/excluded"`
}

// readGcov reads the JSON of gcov and gcovr. A line, or the nth branch of a line, is executed if
// it is executed in one of its functions. Lines that gcovr excludes are not counted.
func (c *collector) readGcov(r *jsonstream.Reader) error {
	return r.Object(func(name string) error {
		if name != "files" {
			return r.Skip()
		}
		return r.Array(func() error { return c.readGcovFile(r) })
	})
}

// readGcovFile reads one file.
func (c *collector) readGcovFile(r *jsonstream.Reader) error {
	var f gcovFile
	if err := r.Value(&f); err != nil {
		return err
	}
	if f.File == "" || f.Lines == nil {
		return r.Error("a file has no name or no lines: this is no report of gcov")
	}

	c.openFile(f.File)
	for _, l := range f.Lines {
		if l.NoCode || l.Excluded {
			continue
		}
		hit, ok := parseHit(l.Count)
		if !ok {
			return r.Error("line %d of %s has no count", l.Number, f.File)
		}
		c.addLine(l.Number, hit)

		for i, b := range l.Branches {
			taken, ok := parseHit(b.Count)
			if !ok {
				return r.Error("a branch on line %d of %s has no count", l.Number, f.File)
			}
			c.addBranch(l.Number, nil, strconv.AppendInt(nil, int64(i), 10), taken)
		}
	}
	c.closeFile()
	return nil
}

// gcovrSummary is a file in the report of "gcovr --json-summary".
type gcovrSummary struct {
	File            string `json:"filename"`
	Lines           *int64 `json:"line_total"`
	Covered         int64  `json:"line_covered"`
	Branches        int64  `json:"branch_total"`
	CoveredBranches int64  `json:"branch_covered"`
}

// readGcovrSummary reads the report of "gcovr --json-summary", which lists no lines.
func (c *collector) readGcovrSummary(r *jsonstream.Reader) error {
	numbers := map[string]*number{
		"line_covered": &c.declared.covered, "line_total": &c.declared.units,
		"branch_covered": &c.declared.coveredBranches, "branch_total": &c.declared.branches,
	}
	return r.Object(func(name string) error {
		if n := numbers[name]; n != nil {
			return r.Value(n)
		}
		if name != "files" {
			return r.Skip()
		}
		return r.Array(func() error { return c.readGcovrFile(r) })
	})
}

// readGcovrFile reads one file of a summary.
func (c *collector) readGcovrFile(r *jsonstream.Reader) error {
	var f gcovrSummary
	if err := r.Value(&f); err != nil {
		return err
	}
	if f.Lines == nil {
		return r.Error("%q has no lines", f.File)
	}
	lines, ok := jsonRatio{*f.Lines, f.Covered}.ratio()
	branches, okBranches := jsonRatio{f.Branches, f.CoveredBranches}.ratio()
	if !ok || !okBranches {
		return r.Error("%s has more covered than there is", f.File)
	}
	c.addTotals(f.File, lines, branches)
	return nil
}
