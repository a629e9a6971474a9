package detector

import (
	"slices"

	"supervise/metric"
)

// CompareTests compares the tests of two measurements several iterations apart. explained
// are the losses of the accepted iterations in between, oldest first: a test that was
// renamed is followed to its last name. The result is empty if one side has no tests.
func CompareTests(before, now *metric.Tests, explained []Loss) TestChanges {
	if before == nil || now == nil {
		return TestChanges{}
	}

	d := diffTests(before.Sorted(), now.Sorted())
	d.Flaky = d.flakyNow
	lost := make(map[metric.ID]Loss, len(explained))
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
		old, _ := d.before.Lookup(id)
		if current, exists := d.now.Lookup(l.Successor); exists && d.replacements[l.Successor] && old.Failed() && current.Status == metric.Passed {
			d.NewlyPassing = addOnce(d.NewlyPassing, l.Successor)
		}
	}

	d.New = slices.DeleteFunc(d.New, func(id metric.ID) bool { return d.replacements[id] })
	for _, list := range [][]metric.ID{d.NewlyFailing, d.NewlyPassing, d.NewlySkipped} {
		slices.SortFunc(list, metric.ID.Compare)
	}

	return d.TestChanges
}

// lastSuccessor follows the losses of a test to its current name, or to the reason why it
// is gone. It reports false if nothing explains one of the losses.
func (d *testDiff) lastSuccessor(id metric.ID, lost map[metric.ID]Loss) (Loss, bool) {
	l := lost[id]
	for range len(lost) { // names may go in a circle
		if _, exists := d.now.Lookup(l.Successor); exists || l.Successor == (metric.ID{}) {
			return Loss{ID: id, Explanation: l.Explanation, Successor: l.Successor}, l.Explanation != ""
		}
		l = lost[l.Successor]
	}
	return Loss{}, false
}
