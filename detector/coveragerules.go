package detector

import (
	"fmt"
	"maps"
	"slices"

	"supervise/detector/internal/glob"
	"supervise/metric"
)

// coverageRegression compares the total coverage, and the coverage of the parts of the tree
// that have a separate limit. Against the baseline it fires only if this iteration lost
// coverage, and once for each depth.
func coverageRegression(j *judge, c comparison, r appliedRule) []finding {
	var out []finding
	step, ok := j.previous.delta[metric.CoveragePct]
	if j.coverageDropped(c, r.threshold()) && (c.includeReported || (!ok || step < 0) && !j.wasReported(c, r.threshold(), (*metric.Coverage).Percent)) {
		out = append(out, finding{
			values: j.metricValues(c, metric.CoveragePct, r.threshold()),
			files:  filesWithLessCoverage(c, func(string) bool { return true }),
		})
	}
	for _, pattern := range slices.Sorted(maps.Keys(r.own.Paths)) {
		if f, fell := j.partCoverageDrop(c, pattern, r.own.Paths[pattern]); fell {
			out = append(out, f)
		}
	}
	return out
}

// wasReported reports whether coverage is no further below the baseline than an accepted
// iteration left it, which was reported then. It is reported again after another fall by
// more than the limit: from the reported value, or from a value to which it recovered by
// more than the limit.
func (j *judge) wasReported(c comparison, limit float64, percentOf func(*metric.Coverage) (float64, bool)) bool {
	base, ok1 := percentOf(c.before.Coverage)
	now, ok2 := percentOf(c.now.Coverage)
	if c.against != AgainstBaseline || !ok1 || !ok2 {
		return false
	}
	limit = max(limit, j.variation(metric.CoveragePct)) + epsilon
	reported := base
	for _, o := range j.in.History {
		switch v, ok := percentOf(o.Set.Coverage); {
		case !ok || !o.Set.Coverage.Comparable(c.before.Coverage):
		case v < reported-limit:
			reported = v
		case v > reported+limit:
			reported = min(v, base)
		}
	}
	return now >= reported-limit
}

// partCoverageDrop compares the coverage of the files that a pattern matches.
func (j *judge) partCoverageDrop(c comparison, pattern string, limit float64) (finding, bool) {
	if !c.now.Coverage.Comparable(c.before.Coverage) {
		return finding{}, false
	}
	in := glob.CompilePath(pattern).Match
	before, ok1 := partialCoverage(c.before.Coverage, in).Percent()
	now, ok2 := partialCoverage(c.now.Coverage, in).Percent()
	if !ok1 || !ok2 || before-now <= max(limit, j.variation(metric.CoveragePct))+epsilon {
		return finding{}, false
	}
	partPercent := func(c *metric.Coverage) (float64, bool) { return partialCoverage(c, in).Percent() }
	if start, ok := partPercent(j.previous.before.Coverage); !c.includeReported && (ok && now >= start || j.wasReported(c, limit, partPercent)) {
		return finding{}, false
	}
	v := Values{Prev: &before, Curr: &now, Delta: new(now - before), Threshold: &limit, Path: pattern}
	if base, ok := partialCoverage(j.baseline.before.Coverage, in).Percent(); ok {
		v.Baseline = &base
	}
	return finding{values: v, files: filesWithLessCoverage(c, in)}, true
}

// UnmatchedPaths explains which limits for parts of the tree have no effect with these
// measurements, most likely because their pattern is misspelt.
func (o Options) UnmatchedPaths(s metric.Set) []string {
	var out []string
	for _, r := range rules {
		override := o.Rules[r.Name]
		if o.Mode == ModeOff || override.Off || override.Action == Off {
			continue
		}
		for _, pattern := range slices.Sorted(maps.Keys(override.Paths)) {
			if why := unmatchedReason(pattern, s.Coverage); why != "" {
				out = append(out, fmt.Sprintf("rules.%s.paths: %s has no effect: %s", r.Name, pattern, why))
			}
		}
	}
	return out
}

// unmatchedReason returns why a pattern matches no file of the coverage, "" if it matches one.
func unmatchedReason(pattern string, c *metric.Coverage) string {
	switch {
	case c == nil:
		return "coverage was not measured"
	case len(c.Files) == 0:
		return "the coverage report names no files"
	}
	matcher := glob.CompilePath(pattern)
	if slices.ContainsFunc(c.Files, func(f metric.FileCoverage) bool { return matcher.Match(f.Path) }) {
		return ""
	}
	return fmt.Sprintf("it fits none of the %d files of the coverage report, such as %s", len(c.Files), c.Files[0].Path)
}

// partialCoverage returns the coverage of the files that match.
func partialCoverage(c *metric.Coverage, in func(path string) bool) *metric.Coverage {
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

// filesWithLessCoverage lists the files of a part of the tree that lost coverage.
func filesWithLessCoverage(c comparison, in func(path string) bool) []string {
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
