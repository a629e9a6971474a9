package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/metric"
)

// NoteWobble notes on the runs of a measurement which numbers of a check were others in a
// second measurement of the same tree.
func RecordVariation(first, second []Run) {
	for i := range first {
		for _, again := range second {
			if first[i].Check.ID() != again.Check.ID() {
				continue
			}
			if told := variation(&first[i], again); told != "" {
				first[i].Problems = append(first[i].Problems, told)
			}
		}
	}
}

// wobble says which numbers of two runs differ, "" if none does.
func variation(r *Run, again Run) string {
	was, is := varying(r), varying(&again)
	differs := was.Wobble(is)
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
	return fmt.Sprintf("its numbers wobble on the same tree: %s; a difference within that is no regression", strings.Join(list, "; "))
}

// varying is what the check measured by itself, its tests apart.
func varying(r *Run) (s metric.Set) {
	if r.State == metric.Measured && r.Check.Kind == Lint {
		s.Lint = r.Lint
	}
	if r.State == metric.Measured {
		s.Coverage = r.Coverage
	}
	return s
}
