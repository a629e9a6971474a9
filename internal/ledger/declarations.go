package ledger

import (
	"slices"

	"supervise/detector"
	"supervise/metric"
)

// Declarations are findings that the user allowed before the loop started.
type Declarations []detector.Alert

// FindDeclarations lists the declared findings about the tree of the selected iteration,
// for the user to read at the end of the loop. A finding is omitted if a later iteration,
// up to the selected one, restored all of its tests.
func FindDeclarations(its []Iteration, selected int) Declarations {
	var out Declarations
	for _, it := range its[:min(selected+1, len(its))] {
		if it.Rejected || it.Interrupted {
			continue
		}
		passing := it.originalTestsPassing()
		out = slices.DeleteFunc(out, func(a detector.Alert) bool {
			return len(a.Tests) > 0 && !slices.ContainsFunc(a.Tests, func(id metric.ID) bool { return !passing[id] })
		})
		for _, a := range it.Assessment.Alerts {
			if a.Declared {
				out = append(out, a)
			}
		}
	}
	return out
}

// originalTestsPassing returns the tests whose original version passes.
func (it Iteration) originalTestsPassing() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if it.Goals == nil {
		return out
	}
	for _, g := range it.Goals.Results {
		out[g.ID] = out[g.ID] || g.Outcome == detector.Passed
	}
	return out
}
