package detector

import (
	"fmt"
	"maps"
	"slices"

	"supervise/detector/internal/glob"
	"supervise/metric"
)

// coverageRegression compares the total coverage, and of the parts of the tree
// that have a limit of their own. Against the baseline it fires only where this
// iteration lost something, and once for each depth.
func coverageRegression(j *judge, c comparison, r row) []finding {
	var out []finding
	step, ok := j.previous.delta[metric.CoveragePct]
	if j.coverageFell(c, r.threshold()) && (c.includeReported || (!ok || step < 0) && !j.reportedDepth(c, r.threshold(), (*metric.Coverage).Percent)) {
		out = append(out, finding{
			values: j.numbers(c, metric.CoveragePct, r.threshold()),
			files:  lessCovered(c, func(string) bool { return true }),
		})
	}
	for _, pattern := range slices.Sorted(maps.Keys(r.own.Paths)) {
		if f, fell := j.partCoverageFell(c, pattern, r.own.Paths[pattern]); fell {
			out = append(out, f)
		}
	}
	return out
}

// reportedDepth reports whether coverage is no deeper below the baseline than an
// accepted iteration left it, which was reported then. To be reported again it has to
// fall by more than the limit once more: from where it was reported, or from where it
// has recovered to by more than the limit since.
func (j *judge) reportedDepth(c comparison, limit float64, of func(*metric.Coverage) (float64, bool)) bool {
	base, ok1 := of(c.before.Coverage)
	now, ok2 := of(c.now.Coverage)
	if c.against != AgainstBaseline || !ok1 || !ok2 {
		return false
	}
	limit = max(limit, j.variation(metric.CoveragePct)) + epsilon
	at := base
	for _, o := range j.in.History {
		switch v, ok := of(o.Set.Coverage); {
		case !ok || !o.Set.Coverage.Comparable(c.before.Coverage):
		case v < at-limit:
			at = v
		case v > at+limit:
			at = min(v, base)
		}
	}
	return now >= at-limit
}

// partCoverageFell compares the coverage of the files that a pattern matches.
func (j *judge) partCoverageFell(c comparison, pattern string, limit float64) (finding, bool) {
	if !c.now.Coverage.Comparable(c.before.Coverage) {
		return finding{}, false
	}
	in := glob.Path(pattern).Match
	before, ok1 := part(c.before.Coverage, in).Percent()
	now, ok2 := part(c.now.Coverage, in).Percent()
	if !ok1 || !ok2 || before-now <= max(limit, j.variation(metric.CoveragePct))+epsilon {
		return finding{}, false
	}
	of := func(c *metric.Coverage) (float64, bool) { return part(c, in).Percent() }
	if start, ok := of(j.previous.before.Coverage); !c.includeReported && (ok && now >= start || j.reportedDepth(c, limit, of)) {
		return finding{}, false
	}
	v := Values{Prev: &before, Curr: &now, Delta: new(now - before), Threshold: &limit, Path: pattern}
	if base, ok := part(j.baseline.before.Coverage, in).Percent(); ok {
		v.Baseline = &base
	}
	return finding{values: v, files: lessCovered(c, in)}, true
}

// UnmatchedPaths explains for each limit of a part of the tree why it has no effect on a
// tree with these measurements: most likely its pattern is misspelt.
func (o Options) UnmatchedPaths(s metric.Set) []string {
	var out []string
	for _, r := range rules {
		own := o.Rules[r.Name]
		if o.Mode == ModeOff || own.Off || own.Action == Off {
			continue
		}
		for _, pattern := range slices.Sorted(maps.Keys(own.Paths)) {
			if why := unmatched(pattern, s.Coverage); why != "" {
				out = append(out, fmt.Sprintf("rules.%s.paths: %s has no effect: %s", r.Name, pattern, why))
			}
		}
	}
	return out
}

func unmatched(pattern string, c *metric.Coverage) string {
	switch {
	case c == nil:
		return "coverage was not measured"
	case len(c.Files) == 0:
		return "the coverage report names no files"
	}
	fits := glob.Path(pattern)
	if slices.ContainsFunc(c.Files, func(f metric.FileCoverage) bool { return fits.Match(f.Path) }) {
		return ""
	}
	return fmt.Sprintf("it fits none of the %d files of the coverage report, such as %s", len(c.Files), c.Files[0].Path)
}

// part returns the coverage of some files.
func part(c *metric.Coverage, in func(path string) bool) *metric.Coverage {
	if c == nil {
		return nil
	}
	out := metric.Coverage{Unit: c.Unit, Format: c.Format}
	for _, f := range c.Files {
		if in(f.Path) {
			out.Covered += f.Covered
			out.Total += f.Total
		}
	}
	return &out
}

// lessCovered lists the files of a part of the tree that lost coverage.
func lessCovered(c comparison, in func(path string) bool) []string {
	before := make(map[string]metric.FileCoverage, len(c.before.Coverage.Files))
	for _, f := range c.before.Coverage.Files {
		before[f.Path] = f
	}
	var out []string
	for _, f := range c.now.Coverage.Files {
		if b, ok := before[f.Path]; ok && in(f.Path) && f.Covered*b.Total < b.Covered*f.Total {
			out = append(out, f.Path)
		}
	}
	return out
}
