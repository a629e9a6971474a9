package ledger

import (
	"slices"

	"supervise/detector"
	"supervise/metric"
)

// Declarations are findings that the user let happen before the loop.
type Declarations []detector.Alert

// FindDeclarations are the findings about the tree of an iteration that the user let happen
// before the loop: a person reads them at its end. A finding is left out where a later
// iteration, up to that one, brought all of its tests back.
func FindDeclarations(its []Iteration, selected int) Declarations {
	var out Declarations
	for _, it := range its[:min(selected+1, len(its))] {
		if it.Rejected || it.Interrupted {
			continue
		}
		held := it.passedAsBefore()
		out = slices.DeleteFunc(out, func(a detector.Alert) bool {
			return len(a.Tests) > 0 && !slices.ContainsFunc(a.Tests, func(id metric.ID) bool { return !held[id] })
		})
		for _, a := range it.Assessment.Alerts {
			if a.Declared {
				out = append(out, a)
			}
		}
	}
	return out
}

// passedAsBefore are the tests that pass as they were before the loop.
func (it Iteration) passedAsBefore() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if it.Goals == nil {
		return out
	}
	for _, g := range it.Goals.Results {
		out[g.ID] = out[g.ID] || g.Outcome == detector.Passed
	}
	return out
}
