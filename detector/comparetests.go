package detector

import (
	"slices"

	"supervise/metric"
)

// CompareTests compares the tests of two measurements that lie several iterations apart.
// explained are the losses of the accepted iterations in between, oldest first: a
// test that was renamed in between is followed to its last name. Where one side has
// no tests, the result is empty.
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
		l, ok := d.lastName(id, lost)
		if !ok {
			continue
		}
		d.Explained = append(d.Explained, l)
		d.follow(l)
		was, _ := d.before.Lookup(id)
		if is, there := d.now.Lookup(l.Successor); there && d.standIns[l.Successor] && was.Failed() && is.Status == metric.Passed {
			d.NewlyPassing = addOnce(d.NewlyPassing, l.Successor)
		}
	}
	d.New = slices.DeleteFunc(d.New, func(id metric.ID) bool { return d.standIns[id] })
	for _, list := range [][]metric.ID{d.NewlyFailing, d.NewlyPassing, d.NewlySkipped} {
		slices.SortFunc(list, metric.ID.Compare)
	}
	return d.TestChanges
}

// lastName follows the losses of a test to the name that it has now, or to the
// reason why it is there no more. It reports false if the test was lost on the
// way and nothing explains that.
func (d *testDiff) lastName(id metric.ID, lost map[metric.ID]Loss) (Loss, bool) {
	l := lost[id]
	for range len(lost) { // names may go in a circle
		if _, there := d.now.Lookup(l.Successor); there || l.Successor == (metric.ID{}) {
			return Loss{ID: id, Explanation: l.Explanation, Successor: l.Successor}, l.Explanation != ""
		}
		l = lost[l.Successor]
	}
	return Loss{}, false
}
