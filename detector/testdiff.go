package detector

import (
	"slices"

	"supervise/metric"
)

// testDiff is what happened to each test between two measurements.
type testDiff struct {
	TestChanges
	before, now  *metric.Tests
	unexplained  []metric.ID        // the part of Gone that no explanation covers
	broken       []metric.ID        // passed before and should still pass: failing, not run, or gone without an explanation
	uncounted    map[metric.ID]bool // earlier tests that no longer need to exist
	excused      map[metric.ID]bool // tests that no longer need to pass
	replacements map[metric.ID]bool // new tests that replace an explained loss
	flakyNow     []metric.ID        // failed first, and passed when run again
	knownFlaky   []metric.ID        // fail now, and are known to be flaky
	earlier      erosion
}

// erosion are tests of the baseline that earlier iterations lost and that were not accepted. They
// were within the tolerance of a rule then, and count again in an iteration that loses more.
type erosion struct{ gone, broken, skipped []metric.ID }

// countFlakyAsPassed returns the tests, in which those confirmed to be flaky count as passed.
func countFlakyAsPassed(t *metric.Tests, flaky []metric.ID) *metric.Tests {
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
		uncounted: map[metric.ID]bool{}, excused: map[metric.ID]bool{}, replacements: map[metric.ID]bool{},
	}
	metric.Pair(before, now, func(old, current *metric.Test) {
		switch {
		case current == nil:
			d.addLost(*old)
		case old == nil:
			d.addNew(*current)
		default:
			d.addChanged(*old, *current)
		}
	})
	return d
}

// addNew records a test that only the later measurement has.
func (d *testDiff) addNew(c metric.Test) {
	d.New = append(d.New, c.ID)
	if c.Flaky {
		d.flakyNow = append(d.flakyNow, c.ID)
	}
}

// addChanged records a test that both measurements have.
func (d *testDiff) addChanged(before, now metric.Test) {
	switch {
	case now.Status == metric.NotRun && before.Status != metric.NotRun:
		d.NotRun = append(d.NotRun, now.ID)
	case now.Failed() && before.Status == metric.Passed:
		d.NewlyFailing = append(d.NewlyFailing, now.ID)
	case now.Status == metric.Passed && before.Failed():
		d.NewlyPassing = append(d.NewlyPassing, now.ID)
	case now.Status == metric.Skipped && hasRun(before):
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

// hasRun reports whether a test ran, whatever its result.
func hasRun(c metric.Test) bool { return c.Status != metric.Skipped && c.Status != metric.NotRun }

// addLost records a test that is missing. It did not run, and is not gone, if its parent
// failed or was skipped before it reached this case, or if its suite aborted.
func (d *testDiff) addLost(c metric.Test) {
	switch parent, ok := d.remainingParent(c.ID); {
	case ok && parent.Status == metric.Skipped:
		d.uncounted[c.ID], d.excused[c.ID] = true, true
	case ok && parent.Failed(), d.now.IsBroken(c.ID):
		d.uncounted[c.ID] = true
		d.NotRun = append(d.NotRun, c.ID)
		if c.Status == metric.Passed {
			d.broken = append(d.broken, c.ID)
		}
	default:
		d.Gone = append(d.Gone, c.ID)
	}
}

// remainingParent returns the nearest ancestor of a case that still exists, such as TestAdd of
// "TestAdd/zero"; false if there is none.
func (d *testDiff) remainingParent(id metric.ID) (metric.Test, bool) {
	for p, ok := id.Parent(); ok; p, ok = p.Parent() {
		if c, exists := d.now.Lookup(p); exists {
			return c, true
		}
	}
	return metric.Test{}, false
}

// goneBeforeBreak returns the tests that were already gone when their suite aborted: the
// other tests of the suite are still known, with the status not run.
func (d *testDiff) goneBeforeBreak() []metric.ID {
	keptSuites := map[string]bool{}
	for _, c := range d.now.Cases {
		keptSuites[c.Suite] = keptSuites[c.Suite] || c.Status == metric.NotRun && d.now.IsBroken(c.ID)
	}
	return slices.DeleteFunc(slices.Clone(d.NotRun), func(id metric.ID) bool {
		_, exists := d.now.Lookup(id)
		return exists || !keptSuites[id.Suite]
	})
}

// explain records the explained losses, and separates them from deletions.
func (d *testDiff) explain(losses []Loss) {
	d.Explained = losses
	for _, l := range d.Explained {
		d.followLoss(l)
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

// followLoss judges the successor of a lost test: a rename hides neither a skip nor a
// failure.
func (d *testDiff) followLoss(l Loss) {
	old, _ := d.before.Lookup(l.ID)
	current, exists := d.now.Lookup(l.Successor)
	d.uncounted[l.ID] = true
	if _, old := d.before.Lookup(l.Successor); exists && !old {
		d.replacements[l.Successor] = true
	}
	switch {
	case exists && current.Status == metric.Skipped && hasRun(old) && d.replacements[l.Successor]:
		d.NewlySkipped = addOnce(d.NewlySkipped, l.Successor)
	case exists && current.Failed() && old.Status == metric.Passed && d.replacements[l.Successor]:
		d.NewlyFailing, d.broken = addOnce(d.NewlyFailing, l.Successor), addOnce(d.broken, l.Successor)
		return
	}
	d.excused[l.ID] = true
}

// addOnce appends a test to a list unless the list has it.
func addOnce(ids []metric.ID, id metric.ID) []metric.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// dropEarlier removes the changes that earlier iterations made, since they were judged
// then. Unless they were settled, they are kept as erosion. The successor of a settled loss
// is not a new test.
func (d *testDiff) dropEarlier(earlier *testDiff, settled map[metric.ID]metric.ID) {
	gone, judged := map[metric.ID]bool{}, map[metric.ID]bool{}
	before := slices.Concat(earlier.Gone, earlier.goneBeforeBreak())
	for _, id := range before {
		gone[id], d.uncounted[id] = true, true
	}

	for _, id := range slices.Concat(before, earlier.broken, earlier.NewlySkipped) {
		judged[id], d.excused[id] = true, true
	}

	for _, id := range slices.Concat(d.broken, d.NewlySkipped) { // possibly renamed since
		current, _ := d.now.Lookup(id)
		if old, exists := earlier.now.Lookup(id); exists && (old.Status == current.Status || old.Failed() && current.Failed()) {
			judged[id] = true
		}
	}

	drop := func(ids []metric.ID, known map[metric.ID]bool) (remaining, eroded []metric.ID) {
		for _, id := range ids {
			if _, ok := settled[id]; known[id] && !ok {
				eroded = append(eroded, id)
			} else if !known[id] {
				remaining = append(remaining, id)
			}
		}
		return remaining, eroded
	}

	d.Gone, _ = drop(d.Gone, gone)
	d.NewlyFailing, _ = drop(d.NewlyFailing, judged)
	d.unexplained, d.earlier.gone = drop(d.unexplained, gone)
	d.NewlySkipped, d.earlier.skipped = drop(d.NewlySkipped, judged)
	d.broken, d.earlier.broken = drop(d.broken, judged)
	d.markReplacements(settled)
}

// markReplacements marks the last successors of settled losses as replacements.
func (d *testDiff) markReplacements(settled map[metric.ID]metric.ID) {
	for id := range settled {
		if _, ours := d.before.Lookup(id); !ours {
			continue
		}
		successor := settled[id]
		for range len(settled) {
			next, ok := settled[successor]
			if !ok {
				break
			}
			successor = next
		}
		if _, old := d.before.Lookup(successor); !old {
			d.replacements[successor] = true
		}
	}
}

// excuseFlaky drops the failures of tests that are known to be flaky, since they prove
// nothing, unless the file of the test was changed.
func (d *testDiff) excuseFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	d.listFlaky(known, touched)
	d.broken = slices.DeleteFunc(d.broken, func(id metric.ID) bool {
		current, exists := d.now.Lookup(id)
		if !known[id] || !exists || current.Status == metric.NotRun || touched(id) {
			return false
		}
		d.knownFlaky, d.excused[id] = append(d.knownFlaky, id), true
		return true
	})
	d.Flaky = mergeSorted(d.Flaky, d.knownFlaky)
}

// listFlaky finds the tests that are newly flaky, and the flaky ones whose file was changed.
func (d *testDiff) listFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	for _, id := range d.flakyNow {
		old, _ := d.before.Lookup(id)
		changed := touched(id)
		if changed || !old.Flaky && !known[id] {
			d.Flaky = append(d.Flaky, id)
		}
		if changed && !known[id] {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	for id, yes := range known {
		if _, exists := d.now.Lookup(id); yes && exists && touched(id) {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	slices.SortFunc(d.FlakyTouched, metric.ID.Compare)
}

// failingTests returns the broken tests that still exist.
func (d *testDiff) failingTests() []metric.ID {
	gone := map[metric.ID]bool{}
	for _, id := range d.unexplained {
		gone[id] = true
	}
	return slices.DeleteFunc(slices.Clone(d.broken), func(id metric.ID) bool { return gone[id] })
}

// counts returns the number of tests and of passing tests of each side, without those that
// are accounted for: explained losses with their successors and, among the passing ones,
// newly skipped tests, which have a separate rule.
func (d *testDiff) counts() (before, now metric.Counts) {
	before, now = d.before.Counts(), d.now.Counts()
	for id := range d.uncounted {
		if _, exists := d.before.Lookup(id); exists {
			before.Count--
		}
	}

	for id := range d.excused {
		if c, exists := d.before.Lookup(id); exists && c.Status == metric.Passed {
			before.Passed--
		}
		if c, exists := d.now.Lookup(id); exists && c.Status == metric.Passed && !d.replacements[id] {
			now.Passed--
		}
	}

	for id := range d.replacements {
		if c, exists := d.now.Lookup(id); exists {
			now.Count--
			if c.Status == metric.Passed {
				now.Passed--
			}
		}
	}
	return before, now
}

// decreased reports whether there are fewer tests than before, and at least one of them is
// gone without an explanation.
func (d *testDiff) decreased() bool {
	before, now := d.counts()
	return len(d.unexplained) > 0 && now.Count < before.Count
}

// changes returns the changes for the assessment, none if the tests were not compared.
func (d *testDiff) changes() TestChanges {
	if d == nil {
		return TestChanges{}
	}
	return d.TestChanges
}
