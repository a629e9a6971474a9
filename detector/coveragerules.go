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
	add := func(part coveragePart, limit float64) {
		if f, fell := j.coverageFinding(c, part, limit); fell {
			out = append(out, f)
		}
	}
	add(coveragePart{}, r.threshold())
	for _, pattern := range slices.Sorted(maps.Keys(r.own.Paths)) {
		add(coveragePart{pattern, glob.CompilePath(pattern).Match}, r.own.Paths[pattern])
	}
	return out
}

// coveragePart are the files that a pattern matches; the zero part has all files.
type coveragePart struct {
	pattern string
	in      func(path string) bool
}

// percent returns the coverage of the part as it counts.
func (p coveragePart) percent(c *metric.Coverage) (float64, bool) {
	if p.in == nil {
		return c.CountedPercent()
	}
	return partialCoverage(c, p.in).Percent()
}

// coverageFinding compares the coverage of a part of the tree.
func (j *judge) coverageFinding(c comparison, part coveragePart, limit float64) (finding, bool) {
	d, ok := j.coverageDrop(c, part.in)
	if !ok || d.points <= max(limit, j.variation(metric.CoveragePct))+epsilon {
		return finding{}, false
	}
	if !c.includeReported {
		step, ok := j.coverageDrop(j.previous, part.in)
		if ok && !step.fell || j.wasReported(c, limit, part.percent) {
			return finding{}, false
		}
	}
	v := Values{Delta: new(-d.points), Threshold: &limit, Path: part.pattern}
	for _, side := range []struct {
		to  **float64
		set metric.Set
	}{{&v.Prev, c.before}, {&v.Curr, c.now}, {&v.Baseline, j.baseline.before}} {
		cov := side.set.Coverage
		if part.in != nil {
			cov = partialCoverage(cov, part.in)
		}
		if percent, ok := cov.Percent(); ok {
			*side.to = &percent
		}
	}
	f := finding{values: v, files: filesWithLessCoverage(c, part.in)}
	if len(d.lines) > 0 {
		d.describe(&f)
	}
	return f, true
}

// describe adds the lines to a finding.
func (d coverageDrop) describe(f *finding) {
	f.files = nil
	var where []string
	for _, l := range d.lines {
		f.files = append(f.files, l.Path)
		f.values.N += int(l.Lines.Count())
		where = append(where, l.Path+":"+string(l.Lines))
	}
	f.values.Why = joinFirst(where)
	if d.undecided != "" {
		f.severity = Medium
		f.values.Why += " (perhaps only by tests that failed: " + d.undecided + ")"
	}
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

// filesWithLessCoverage lists the files of a part of the tree that lost coverage; in is nil for all of it.
func filesWithLessCoverage(c comparison, in func(path string) bool) []string {
	before := make(map[string]metric.FileCoverage, len(c.before.Coverage.Files))
	for _, f := range c.before.Coverage.Files {
		before[f.Path] = f
	}
	var out []string
	for _, f := range c.now.Coverage.Files {
		if b, ok := before[f.Path]; ok && (in == nil || in(f.Path)) && f.Covered*b.Total < b.Covered*f.Total {
			out = append(out, f.Path)
		}
	}
	return out
}
