package remeasure

import (
	"slices"

	"supervise/metric"
)

// LowerCoverage returns the lower coverage: a, unless b is comparable and lower.
func LowerCoverage(a, b *metric.Coverage) *metric.Coverage {
	aPercent, ok1 := a.Percent()
	bPercent, ok2 := b.Percent()
	if ok1 && ok2 && a.Comparable(b) && bPercent < aPercent {
		return b
	}
	return a
}

// excludedCode returns which part of each file is left out of the coverage. It is nil if other files
// are left out too, as by settings.
func excludedCode(with, without *metric.Coverage, files []string) []metric.FileCoverage {
	var out []metric.FileCoverage
	total := with.Total
	for _, path := range files {
		counted, exists := fileCoverage(without, path)
		if !exists {
			return nil
		}
		reported, _ := fileCoverage(with, path)
		out = append(out, metric.FileCoverage{Path: path, Covered: counted.Covered - reported.Covered, Total: counted.Total - reported.Total})
		total += counted.Total - reported.Total
	}
	if total != without.Total {
		return nil
	}
	return out
}

// fileCoverage returns the coverage of one file; false if the report does not have it.
func fileCoverage(c *metric.Coverage, path string) (metric.FileCoverage, bool) {
	for _, f := range c.Files {
		if f.Path == path {
			return f, true
		}
	}
	return metric.FileCoverage{}, false
}

// AddHidden returns the coverage with the code that is left out of it.
func AddHidden(c *metric.Coverage, hidden []metric.FileCoverage) *metric.Coverage {
	out := *c
	out.Files = slices.Clone(c.Files)
	for _, h := range hidden {
		out.Covered, out.Total = out.Covered+h.Covered, out.Total+h.Total
		for i := range out.Files {
			if f := &out.Files[i]; f.Path == h.Path {
				f.Covered, f.Total = f.Covered+h.Covered, f.Total+h.Total
			}
		}
	}
	return &out
}
