package testdiff

import (
	"slices"

	"supervise/detector/internal/loss"
	"supervise/metric"
)

// CompareAcross compares the tests of two measurements several iterations apart. explained
// are the losses of the accepted iterations in between, oldest first: a test that was
// renamed is followed to its last name. The result is empty if one side has no tests.
func CompareAcross(before, now *metric.Tests, explained []loss.Loss) TestChanges {
	if before == nil || now == nil {
		return TestChanges{}
	}

	d := Compare(before.Sorted(), now.Sorted())
	d.Flaky = d.FlakyNow
	lost := make(map[metric.ID]loss.Loss, len(explained))
	for _, l := range explained {
		lost[l.ID] = l
	}

	for _, id := range d.Gone {
		l, ok := d.lastSuccessor(id, lost)
		if !ok {
			continue
		}
		d.Explained = append(d.Explained, l)
		d.followLoss(l)
		old, _ := d.Before.Lookup(id)
		if current, exists := d.Now.Lookup(l.Successor); exists && d.Replacements[l.Successor] && old.Failed() && current.Status == metric.Passed {
			d.NewlyPassing = addOnce(d.NewlyPassing, l.Successor)
		}
	}

	d.New = slices.DeleteFunc(d.New, func(id metric.ID) bool { return d.Replacements[id] })
	for _, list := range [][]metric.ID{d.NewlyFailing, d.NewlyPassing, d.NewlySkipped} {
		slices.SortFunc(list, metric.ID.Compare)
	}

	return d.TestChanges
}

// lastSuccessor follows the losses of a test to its current name, or to the reason why it
// is gone. It reports false if nothing explains one of the losses.
func (d *Diff) lastSuccessor(id metric.ID, lost map[metric.ID]loss.Loss) (loss.Loss, bool) {
	l := lost[id]
	for range len(lost) { // names may go in a circle
		if _, exists := d.Now.Lookup(l.Successor); exists || l.Successor == (metric.ID{}) {
			return loss.Loss{ID: id, Explanation: l.Explanation, Successor: l.Successor}, l.Explanation != ""
		}
		l = lost[l.Successor]
	}
	return loss.Loss{}, false
}
