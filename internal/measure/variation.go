package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/metric"
)

// RecordVariation notes on the runs of a measurement which of their results differ in a second
// measurement of the same tree.
func RecordVariation(first, second []Run) {
	for i := range first {
		for _, again := range second {
			if first[i].Check.ID() != again.Check.ID() {
				continue
			}
			if text := describeVariation(&first[i], again); text != "" {
				first[i].Problems = append(first[i].Problems, text)
			}
		}
	}
}

// describeVariation names the results that differ between two runs, "" if none does.
func describeVariation(r *Run, again Run) string {
	was, is := varyingSections(r), varyingSections(&again)
	differs := was.VariationFrom(is)
	delete(differs, metric.ErrorCount) // the sum of others
	if len(differs) == 0 {
		return ""
	}
	var list []string
	for _, f := range slices.Sorted(maps.Keys(differs)) {
		a, _ := was.Value(f)
		b, _ := is.Value(f)
		list = append(list, fmt.Sprintf("%s %.4g, then %.4g", f, a, b))
	}
	return fmt.Sprintf("its results vary between runs on the same tree: %s; a difference within that range is no regression", strings.Join(list, "; "))
}

// varyingSections returns the results of the check that may vary, without its tests.
func varyingSections(r *Run) (s metric.Set) {
	if r.State == metric.Measured && r.Check.Kind == Lint {
		s.Lint = r.Lint
	}
	if r.State == metric.Measured {
		s.Coverage = r.Coverage
	}
	return s
}
