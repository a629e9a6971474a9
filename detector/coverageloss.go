package detector

import "supervise/metric"

// CoverageLoss are the lines that tests executed in an earlier tree, that still exist, and that no
// test executes now. There are none if only new lines are not executed.
type CoverageLoss struct {
	Since int         `json:"since"` // number of the iteration with the earlier tree
	Files []LostLines `json:"files,omitempty"`
	// Undecided says why it is unknown whether passing tests executed the lines in the earlier tree,
	// in which tests failed; "" if it is known.
	Undecided string `json:"undecided,omitempty"`
}

// LostLines are the lines of a file that lost their coverage.
type LostLines struct {
	Path  string         `json:"path"`  // in the coverage report
	Lines metric.LineSet `json:"lines"` // as they are numbered now
	Units float64        `json:"units"` // what they are in the unit of the report
}

// minLost is the smallest drop that counts if the lines are unknown, in the unit of the report: in a
// small project a single line is several percentage points, and code that was replaced by less code
// counts as lost too.
const minLost = 5

// coverageDrop is by how many percentage points coverage is lower, as far as that counts.
type coverageDrop struct {
	points    float64
	fell      bool        // it is lower, even if too little to count
	lines     []LostLines // nil if they are unknown
	undecided string      // see [CoverageLoss]
}

// coverageDrop compares the coverage of the files in which in holds, or of all files if in is nil.
// Where lines are known, only lines that lost their coverage count. Otherwise a drop counts if
// several executed lines are missing. A strict comparison, and one of numbers that another program
// recorded, is of the percentages alone.
func (j *judge) coverageDrop(c comparison, in func(path string) bool) (coverageDrop, bool) {
	before, now := c.before.Coverage, c.now.Coverage
	if in != nil {
		before, now = partialCoverage(before, in), partialCoverage(now, in)
	}
	was, ok1 := before.Percent()
	is, ok2 := now.Percent()
	if !ok1 || !ok2 || !c.now.Coverage.Comparable(c.before.Coverage) {
		return coverageDrop{}, false
	}
	d := coverageDrop{points: was - is, fell: is < was}
	if j.opts.Strict || j.in.PlainCoverage || before.Unit == metric.Percentage {
		return d, true
	}
	if loss := j.in.lossSince(c.since); loss != nil {
		return loss.drop(before.Total, in), true
	}
	if before.Covered-now.Covered < minLost {
		d.points = min(0, d.points)
	}
	return d, true
}

// coverageDelta returns by how much the coverage changed, as far as that counts.
func (j *judge) coverageDelta(c comparison) float64 {
	d, _ := j.coverageDrop(c, nil)
	if d.points > 0 && d.undecided == "" {
		return -d.points
	}
	return max(0, c.delta[metric.CoveragePct])
}

// lossSince returns the lines that lost their coverage since an iteration, nil if they are unknown.
func (in Input) lossSince(iteration int) *CoverageLoss {
	for i := range in.CoverageLosses {
		if in.CoverageLosses[i].Since == iteration {
			return &in.CoverageLosses[i]
		}
	}
	return nil
}

// drop returns what the lines that were lost in some files are of the total.
func (l CoverageLoss) drop(total int64, in func(path string) bool) coverageDrop {
	d, units := coverageDrop{undecided: l.Undecided}, 0.0
	for _, f := range l.Files {
		if in == nil || in(f.Path) {
			d.lines = append(d.lines, f)
			units += f.Units
		}
	}
	d.fell = len(d.lines) > 0
	d.points = 100 * units / float64(total)
	return d
}

// CoverageDelta returns by how many percentage points the coverage changed since an observation, as
// far as that counts. It is false if they cannot be compared.
func CoverageDelta(in Input, since Observation, o Options) (float64, bool) {
	j := &judge{in: in, opts: o}
	c := comparison{since: since.Iteration, before: since.Set, now: in.Current.Set, delta: in.Current.Set.Sub(since.Set)}
	_, ok := c.delta[metric.CoveragePct]
	return j.coverageDelta(c), ok
}
