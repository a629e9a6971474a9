package detector

import (
	"slices"

	"supervise/metric"
)

// testDiff is what happened to each test between two measurements.
type testDiff struct {
	TestChanges
	before, now *metric.Tests
	unexplained []metric.ID        // of Gone
	broken      []metric.ID        // passed before, and does not although it should: failing, not run, or gone without an explanation
	uncounted   map[metric.ID]bool // earlier tests that need not be there any more
	excused     map[metric.ID]bool // tests that need not pass any more
	standIns    map[metric.ID]bool // new tests that replace an explained loss
	flakyNow    []metric.ID        // failed first and passed then
	knownFlaky  []metric.ID        // fail now, and are known to be flaky
	earlier     erosion
	counted     *counted // see counts; nothing changes any more when they are asked for
}

// erosion is what earlier iterations did to the tests of the baseline without being
// accepted.
type erosion struct{ gone, broken, skipped []metric.ID }

// settle returns t with the failures that were confirmed to be flaky as passes.
func settle(t *metric.Tests, flaky []metric.ID) *metric.Tests {
	t = t.Sorted()
	for _, id := range flaky {
		if c, ok := t.Lookup(id); ok && c.Failed() {
			c.Status, c.Flaky = metric.Passed, true
			t = t.WithTest(c)
		}
	}
	return t
}

// diffTests compares two sets of tests. Nothing is explained yet.
func diffTests(before, now *metric.Tests) *testDiff {
	d := &testDiff{
		before: before, now: now,
		uncounted: map[metric.ID]bool{}, excused: map[metric.ID]bool{}, standIns: map[metric.ID]bool{},
	}
	metric.Pair(before, now, func(was, is *metric.Test) {
		switch {
		case is == nil:
			d.lost(*was)
		case was == nil:
			d.added(*is)
		default:
			d.changed(*was, *is)
		}
	})
	return d
}

func (d *testDiff) added(c metric.Test) {
	d.New = append(d.New, c.ID)
	if c.Flaky {
		d.flakyNow = append(d.flakyNow, c.ID)
	}
}

func (d *testDiff) changed(before, now metric.Test) {
	switch {
	case now.Status == metric.NotRun && before.Status != metric.NotRun:
		d.NotRun = append(d.NotRun, now.ID)
	case now.Failed() && before.Status == metric.Passed:
		d.NewlyFailing = append(d.NewlyFailing, now.ID)
	case now.Status == metric.Passed && before.Failed():
		d.NewlyPassing = append(d.NewlyPassing, now.ID)
	case now.Status == metric.Skipped && ran(before):
		d.NewlySkipped = append(d.NewlySkipped, now.ID)
		d.excused[now.ID] = true
	}
	if before.Status == metric.Passed && now.Failed() {
		d.broken = append(d.broken, now.ID)
	}
	if now.Flaky {
		d.flakyNow = append(d.flakyNow, now.ID)
	}
}

func ran(c metric.Test) bool { return c.Status != metric.Skipped && c.Status != metric.NotRun }

// lost files a test that is there no more. The case of a test that failed or
// was skipped before it came to the case, and a test of a suite that broke off,
// did not run; they are not gone.
func (d *testDiff) lost(c metric.Test) {
	switch parent, ok := d.standingParent(c.ID); {
	case ok && parent.Status == metric.Skipped:
		d.uncounted[c.ID], d.excused[c.ID] = true, true
	case ok && parent.Failed(), d.suiteBroke(c.Suite):
		d.uncounted[c.ID] = true
		d.NotRun = append(d.NotRun, c.ID)
		if c.Status == metric.Passed {
			d.broken = append(d.broken, c.ID)
		}
	default:
		d.Gone = append(d.Gone, c.ID)
	}
}

// standingParent returns the nearest test around a case that is still there.
func (d *testDiff) standingParent(id metric.ID) (metric.Test, bool) {
	for p, ok := id.Parent(); ok; p, ok = p.Parent() {
		if c, there := d.now.Lookup(p); there {
			return c, true
		}
	}
	return metric.Test{}, false
}

// goneBefore lists the tests that were gone already when their suite broke off:
// the tests that it had then carry over, and they are not among them.
func (d *testDiff) goneBefore() []metric.ID {
	carried := map[string]bool{}
	for _, c := range d.now.Cases {
		carried[c.Suite] = carried[c.Suite] || c.Status == metric.NotRun && d.suiteBroke(c.Suite)
	}
	return slices.DeleteFunc(slices.Clone(d.NotRun), func(id metric.ID) bool {
		_, there := d.now.Lookup(id)
		return there || !carried[id.Suite]
	})
}

func (d *testDiff) suiteBroke(name string) bool {
	return slices.ContainsFunc(d.now.Broken, func(s metric.Suite) bool { return s.Name == name })
}

// explain separates the lost tests that are no deletion from those that are.
func (d *testDiff) explain(ex *explainer) {
	d.Explained = ex.losses(d)
	for _, l := range d.Explained {
		d.follow(l)
	}
	for _, id := range d.Gone {
		if d.uncounted[id] {
			continue
		}
		d.unexplained = append(d.unexplained, id)
		if c, _ := d.before.Lookup(id); c.Status == metric.Passed {
			d.broken = append(d.broken, id)
		}
	}
	slices.SortFunc(d.NewlySkipped, metric.ID.Compare)
	slices.SortFunc(d.NewlyFailing, metric.ID.Compare)
	slices.SortFunc(d.broken, metric.ID.Compare)
}

// follow judges the test that an explained loss lives on in: a rename hides
// neither a skip nor a failure.
func (d *testDiff) follow(l Loss) {
	was, _ := d.before.Lookup(l.ID)
	is, there := d.now.Lookup(l.Successor)
	d.uncounted[l.ID] = true
	if _, old := d.before.Lookup(l.Successor); there && !old {
		d.standIns[l.Successor] = true
	}
	switch {
	case there && is.Status == metric.Skipped && ran(was) && d.standIns[l.Successor]:
		d.NewlySkipped = addOnce(d.NewlySkipped, l.Successor)
	case there && is.Failed() && was.Status == metric.Passed && d.standIns[l.Successor]:
		d.NewlyFailing, d.broken = addOnce(d.NewlyFailing, l.Successor), addOnce(d.broken, l.Successor)
		return
	}
	d.excused[l.ID] = true
}

func addOnce(ids []metric.ID, id metric.ID) []metric.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// forget drops what had already happened when the iteration began: it was
// judged in the iteration that did it. What was not settled then is kept as
// erosion. A test that a settled loss lives on in is no new one.
func (d *testDiff) forget(earlier *testDiff, settled map[metric.ID]metric.ID) {
	gone, judged := map[metric.ID]bool{}, map[metric.ID]bool{}
	before := slices.Concat(earlier.Gone, earlier.goneBefore())
	for _, id := range before {
		gone[id], d.uncounted[id] = true, true
	}
	for _, id := range slices.Concat(before, earlier.broken, earlier.NewlySkipped) {
		judged[id], d.excused[id] = true, true
	}
	for _, id := range slices.Concat(d.broken, d.NewlySkipped) { // under another name, maybe
		is, _ := d.now.Lookup(id)
		if was, there := earlier.now.Lookup(id); there && (was.Status == is.Status || was.Failed() && is.Failed()) {
			judged[id] = true
		}
	}
	drop := func(ids []metric.ID, known map[metric.ID]bool) (left, eroded []metric.ID) {
		for _, id := range ids {
			if _, ok := settled[id]; known[id] && !ok {
				eroded = append(eroded, id)
			} else if !known[id] {
				left = append(left, id)
			}
		}
		return left, eroded
	}
	d.Gone, _ = drop(d.Gone, gone)
	d.NewlyFailing, _ = drop(d.NewlyFailing, judged)
	d.unexplained, d.earlier.gone = drop(d.unexplained, gone)
	d.NewlySkipped, d.earlier.skipped = drop(d.NewlySkipped, judged)
	d.broken, d.earlier.broken = drop(d.broken, judged)
	d.adopt(settled)
}

// adopt follows the settled losses of earlier tests to where they live on.
func (d *testDiff) adopt(settled map[metric.ID]metric.ID) {
	for id := range settled {
		if _, ours := d.before.Lookup(id); !ours {
			continue
		}
		into := settled[id]
		for range len(settled) {
			next, ok := settled[into]
			if !ok {
				break
			}
			into = next
		}
		if _, old := d.before.Lookup(into); !old {
			d.standIns[into] = true
		}
	}
}

// excuseFlaky drops the failures of tests that are known to be flaky, unless their
// file was changed: that they fail says nothing.
func (d *testDiff) excuseFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	d.listFlaky(known, touched)
	d.broken = slices.DeleteFunc(d.broken, func(id metric.ID) bool {
		is, there := d.now.Lookup(id)
		if !known[id] || !there || is.Status == metric.NotRun || touched(id) {
			return false
		}
		d.knownFlaky, d.excused[id] = append(d.knownFlaky, id), true
		return true
	})
	d.Flaky = together(d.Flaky, d.knownFlaky)
}

// listFlaky finds the tests that turned out to be flaky now, and those that are or
// were and whose file was changed. That a known one was flaky again is nothing new.
func (d *testDiff) listFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	for _, id := range d.flakyNow {
		was, _ := d.before.Lookup(id)
		changed := touched(id)
		if changed || !was.Flaky && !known[id] {
			d.Flaky = append(d.Flaky, id)
		}
		if changed && !known[id] {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	for id, yes := range known {
		if _, there := d.now.Lookup(id); yes && there && touched(id) {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	slices.SortFunc(d.FlakyTouched, metric.ID.Compare)
}

// failing lists the broken tests that are still there.
func (d *testDiff) failing() []metric.ID {
	gone := map[metric.ID]bool{}
	for _, id := range d.unexplained {
		gone[id] = true
	}
	return slices.DeleteFunc(slices.Clone(d.broken), func(id metric.ID) bool { return gone[id] })
}

// counts returns the number of tests and of passing tests of each side, without what
// is accounted for: explained losses with the new tests that replace them, and among
// the passing ones the newly skipped tests, which have a rule of their own.
func (d *testDiff) counts() (before, now metric.Counts) {
	if d.counted != nil {
		return d.counted.before, d.counted.now
	}
	before, now = d.before.Counts(), d.now.Counts()
	for id := range d.uncounted {
		if _, there := d.before.Lookup(id); there {
			before.Count--
		}
	}
	for id := range d.excused {
		if c, there := d.before.Lookup(id); there && c.Status == metric.Passed {
			before.Passed--
		}
		if c, there := d.now.Lookup(id); there && c.Status == metric.Passed && !d.standIns[id] {
			now.Passed--
		}
	}
	for id := range d.standIns {
		if c, there := d.now.Lookup(id); there {
			now.Count--
			if c.Status == metric.Passed {
				now.Passed--
			}
		}
	}
	d.counted = &counted{before, now}
	return before, now
}

// counted are the counts of both sides.
type counted struct{ before, now metric.Counts }

// decreased reports whether there are fewer tests than before and one of them
// is gone without an explanation.
func (d *testDiff) decreased() bool {
	before, now := d.counts()
	return len(d.unexplained) > 0 && now.Count < before.Count
}

func (d *testDiff) changes() TestChanges {
	if d == nil {
		return TestChanges{}
	}
	return d.TestChanges
}
