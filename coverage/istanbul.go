package coverage

import (
	"cmp"
	"strconv"

	"supervise/internal/jsonstream"
)

// istanbulFile is a file in coverage-final.json of jest, vitest, nyc and c8. StatementMap and
// BranchMap contain the locations of statements and branches by id, S and B their counts. Data is
// set if the file is wrapped in another object.
type istanbulFile struct {
	Path         string                      `json:"path"`
	StatementMap map[string]istanbulRange    `json:"statementMap"`
	S            map[string]jsonstream.Raw   `json:"s"`
	B            map[string][]jsonstream.Raw `json:"b"`
	BranchMap    map[string]istanbulBranch   `json:"branchMap"`
	Data         *istanbulFile               `json:"data"`
}

// istanbulRange is the location of a piece of code.
type istanbulRange struct {
	Start struct {
		Line int `json:"line"`
	} `json:"start"`
}

// istanbulBranch is the location of a branch. Some tools set only Line.
type istanbulBranch struct {
	Line int           `json:"line"`
	Loc  istanbulRange `json:"loc"`
}

// readIstanbul reads coverage-final.json. The unit is lines, as in the other reports of istanbul:
// a line counts if a statement starts on it, and is executed if one of these statements is.
func (c *collector) readIstanbul(r *jsonstream.Reader) error {
	return r.Object(func(name string) error {
		var f istanbulFile
		if err := r.Value(&f); err != nil {
			return err
		}
		if f.Data != nil {
			f = *f.Data
		}
		return c.readIstanbulFile(r, name, f)
	})
}

// readIstanbulFile reads one file.
func (c *collector) readIstanbulFile(r *jsonstream.Reader, name string, f istanbulFile) error {
	if f.StatementMap == nil || f.S == nil {
		return r.Error("%s has no statements: this is no coverage of istanbul", name)
	}
	f.Path = cmp.Or(f.Path, name)
	c.openFile(f.Path)
	for id, place := range f.StatementMap {
		hit, ok := parseHit(f.S[id])
		if !ok {
			return r.Error("statement %s of %s has no count", id, name)
		}
		c.addLine(place.Start.Line, hit)
	}
	for id, counts := range f.B {
		for i, count := range counts {
			taken, ok := parseHit(count)
			if !ok {
				return r.Error("branch %s of %s has no count", id, name)
			}
			c.addBranch(f.BranchMap[id].line(), []byte(id), strconv.AppendInt(nil, int64(i), 10), taken)
		}
	}
	c.closeFile()
	return nil
}

// line returns the line that the branch starts on.
func (b istanbulBranch) line() int {
	if b.Loc.Start.Line > 0 {
		return b.Loc.Start.Line
	}
	return b.Line
}

// istanbulSummary is a file in coverage-summary.json.
type istanbulSummary struct {
	Lines    *jsonRatio `json:"lines"`
	Branches jsonRatio  `json:"branches"`
}

// readIstanbulSummary reads coverage-summary.json, which has totals of each file and no lines.
// The member "total" declares the totals of the report.
func (c *collector) readIstanbulSummary(r *jsonstream.Reader) error {
	return r.Object(func(name string) error {
		var f istanbulSummary
		if err := r.Value(&f); err != nil {
			return err
		}
		if f.Lines == nil {
			return r.Error("%s has no lines: this is not a summary of istanbul", name)
		}
		lines, ok := f.Lines.ratio()
		branches, okBranches := f.Branches.ratio()
		switch {
		case !ok || !okBranches:
			return r.Error("%s has more covered than there is", name)
		case name == "total":
			c.declared = totals{lines.Covered, lines.Total, branches.Covered, branches.Total}
			return nil
		}
		c.addTotals(name, lines, branches)
		return nil
	})
}
