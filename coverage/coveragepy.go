package coverage

import (
	"strconv"

	"supervise/internal/jsonstream"
)

// coveragepyFile is a file in the report of "coverage json". Its functions and classes repeat
// the same data and are ignored.
type coveragepyFile struct {
	Executed         []int              `json:"executed_lines"`
	Missing          []int              `json:"missing_lines"`
	ExecutedBranches [][]int            `json:"executed_branches"`
	MissingBranches  [][]int            `json:"missing_branches"`
	Summary          *coveragepySummary `json:"summary"`
}

// coveragepySummary contains the totals of the report. Those that are missing are nil.
type coveragepySummary struct {
	Covered         *int64 `json:"covered_lines"`
	Statements      *int64 `json:"num_statements"`
	CoveredBranches *int64 `json:"covered_branches"`
	Branches        *int64 `json:"num_branches"`
}

// readCoveragePy reads the JSON of coverage.py, formats 2 and 3. What it calls
// statements are lines, as in its other reports.
func (c *collector) readCoveragePy(r *jsonstream.Reader) error {
	return r.Object(func(name string) error {
		switch name {
		case "totals":
			var s coveragepySummary
			err := r.Value(&s)
			c.declared = s.totals()
			return err
		case "files":
			c.required = ""
			return r.Object(func(path string) error { return c.readCoveragePyFile(r, path) })
		}
		return r.Skip()
	})
}

// readCoveragePyFile reads one file. A branch is a pair of lines: where it starts and where it
// leads to.
func (c *collector) readCoveragePyFile(r *jsonstream.Reader, path string) error {
	var f coveragepyFile
	if err := r.Value(&f); err != nil {
		return err
	}
	if f.Executed == nil || f.Missing == nil {
		return r.Error("%s has no lines: this is no report of coverage.py", path)
	}

	c.openFile(path)
	for _, n := range f.Executed {
		c.addLine(n, true)
	}
	for _, n := range f.Missing {
		c.addLine(n, false)
	}

	for _, b := range []struct {
		list  [][]int
		taken bool
	}{{f.ExecutedBranches, true}, {f.MissingBranches, false}} {
		for _, pair := range b.list {
			if len(pair) != 2 {
				return r.Error("a branch of %s has no beginning and end", path)
			}
			c.addBranch(pair[0], []byte("0"), strconv.AppendInt(nil, int64(pair[1]), 10), b.taken)
		}
	}
	c.closeFile()
	return nil
}

// totals returns the totals that are declared.
func (s coveragepySummary) totals() totals {
	or := func(n *int64) number {
		if n == nil {
			return -1
		}
		return *n
	}
	return totals{or(s.Covered), or(s.Statements), or(s.CoveredBranches), or(s.Branches)}
}
