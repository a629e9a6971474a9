// Package testdiff compares the tests of two measurements: what happened to each, which losses are
// explained, and what earlier iterations did.
package testdiff

import (
	"slices"

	"supervise/detector/internal/loss"
	"supervise/metric"
)

// TestChanges says test by test what happened between two measurements. All
// lists are sorted by identity.
type TestChanges struct {
	New          []metric.ID `json:"new,omitempty"`
	Gone         []metric.ID `json:"gone,omitempty"` // explained or not
	NewlyFailing []metric.ID `json:"newly_failing,omitempty"`
	NewlyPassing []metric.ID `json:"newly_passing,omitempty"`
	NewlySkipped []metric.ID `json:"newly_skipped,omitempty"`
	Flaky        []metric.ID `json:"flaky,omitempty"`     // newly found to be flaky, or flaky and their file was changed
	NotRun       []metric.ID `json:"not_run,omitempty"`   // known, but their suite or parent aborted
	Explained    []loss.Loss `json:"explained,omitempty"` // the part of Gone that is no deletion
	// FlakyTouched are the tests that are or were flaky and whose file was changed.
	FlakyTouched []metric.ID `json:"flaky_touched,omitempty"`
}

// Diff is what happened to each test between two measurements.
type Diff struct {
	TestChanges
	Before, Now  *metric.Tests
	Unexplained  []metric.ID        // the part of Gone that no explanation covers
	Broken       []metric.ID        // passed before and should still pass: failing, not run, or gone without an explanation
	Uncounted    map[metric.ID]bool // earlier tests that no longer need to exist
	Excused      map[metric.ID]bool // tests that no longer need to pass
	Replacements map[metric.ID]bool // new tests that replace an explained loss
	FlakyNow     []metric.ID        // failed first, and passed when run again
	KnownFlaky   []metric.ID        // fail now, and are known to be flaky
	Earlier      Erosion
}

// Erosion are tests of the baseline that earlier iterations lost and that were not accepted. They
// were within the tolerance of a rule then, and count again in an iteration that loses more.
type Erosion struct{ Gone, Broken, Skipped []metric.ID }

// CountFlakyAsPassed returns the tests, in which those confirmed to be flaky count as passed.
func CountFlakyAsPassed(t *metric.Tests, flaky []metric.ID) *metric.Tests {
	t = t.Sorted()
	for _, id := range flaky {
		if c, ok := t.Lookup(id); ok && c.Failed() {
			c.Status, c.Flaky = metric.Passed, true
			t = t.WithTest(c)
		}
	}
	return t
}

// Compare compares two sets of tests. Nothing is explained yet.
func Compare(before, now *metric.Tests) *Diff {
	d := &Diff{
		Before: before, Now: now,
		Uncounted: map[metric.ID]bool{}, Excused: map[metric.ID]bool{}, Replacements: map[metric.ID]bool{},
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
func (d *Diff) addNew(c metric.Test) {
	d.New = append(d.New, c.ID)
	if c.Flaky {
		d.FlakyNow = append(d.FlakyNow, c.ID)
	}
}

// addChanged records a test that both measurements have.
func (d *Diff) addChanged(before, now metric.Test) {
	switch {
	case now.Status == metric.NotRun && before.Status != metric.NotRun:
		d.NotRun = append(d.NotRun, now.ID)
	case now.Failed() && before.Status == metric.Passed:
		d.NewlyFailing = append(d.NewlyFailing, now.ID)
	case now.Status == metric.Passed && before.Failed():
		d.NewlyPassing = append(d.NewlyPassing, now.ID)
	case now.Status == metric.Skipped && hasRun(before):
		d.NewlySkipped = append(d.NewlySkipped, now.ID)
		d.Excused[now.ID] = true
	}
	if before.Status == metric.Passed && now.Failed() {
		d.Broken = append(d.Broken, now.ID)
	}
	if now.Flaky {
		d.FlakyNow = append(d.FlakyNow, now.ID)
	}
}

// hasRun reports whether a test ran, whatever its result.
func hasRun(c metric.Test) bool { return c.Status != metric.Skipped && c.Status != metric.NotRun }

// addLost records a test that is missing. It did not run, and is not gone, if its parent
// failed or was skipped before it reached this case, or if its suite aborted.
func (d *Diff) addLost(c metric.Test) {
	switch parent, ok := d.remainingParent(c.ID); {
	case ok && parent.Status == metric.Skipped:
		d.Uncounted[c.ID], d.Excused[c.ID] = true, true
	case ok && parent.Failed(), d.Now.IsBroken(c.ID):
		d.Uncounted[c.ID] = true
		d.NotRun = append(d.NotRun, c.ID)
		if c.Status == metric.Passed {
			d.Broken = append(d.Broken, c.ID)
		}
	default:
		d.Gone = append(d.Gone, c.ID)
	}
}

// remainingParent returns the nearest ancestor of a case that still exists, such as TestAdd of
// "TestAdd/zero"; false if there is none.
func (d *Diff) remainingParent(id metric.ID) (metric.Test, bool) {
	for p, ok := id.Parent(); ok; p, ok = p.Parent() {
		if c, exists := d.Now.Lookup(p); exists {
			return c, true
		}
	}
	return metric.Test{}, false
}

// goneBeforeBreak returns the tests that were already gone when their suite aborted: the
// other tests of the suite are still known, with the status not run.
func (d *Diff) goneBeforeBreak() []metric.ID {
	keptSuites := map[string]bool{}
	for _, c := range d.Now.Cases {
		keptSuites[c.Suite] = keptSuites[c.Suite] || c.Status == metric.NotRun && d.Now.IsBroken(c.ID)
	}
	return slices.DeleteFunc(slices.Clone(d.NotRun), func(id metric.ID) bool {
		_, exists := d.Now.Lookup(id)
		return exists || !keptSuites[id.Suite]
	})
}

// Explain records the explained losses, and separates them from deletions.
func (d *Diff) Explain(losses []loss.Loss) {
	d.Explained = losses
	for _, l := range d.Explained {
		d.followLoss(l)
	}
	for _, id := range d.Gone {
		if d.Uncounted[id] {
			continue
		}
		d.Unexplained = append(d.Unexplained, id)
		if c, _ := d.Before.Lookup(id); c.Status == metric.Passed {
			d.Broken = append(d.Broken, id)
		}
	}
	slices.SortFunc(d.NewlySkipped, metric.ID.Compare)
	slices.SortFunc(d.NewlyFailing, metric.ID.Compare)
	slices.SortFunc(d.Broken, metric.ID.Compare)
}

// followLoss judges the successor of a lost test: a rename hides neither a skip nor a
// failure.
func (d *Diff) followLoss(l loss.Loss) {
	old, _ := d.Before.Lookup(l.ID)
	current, exists := d.Now.Lookup(l.Successor)
	d.Uncounted[l.ID] = true
	if _, old := d.Before.Lookup(l.Successor); exists && !old {
		d.Replacements[l.Successor] = true
	}
	switch {
	case exists && current.Status == metric.Skipped && hasRun(old) && d.Replacements[l.Successor]:
		d.NewlySkipped = addOnce(d.NewlySkipped, l.Successor)
	case exists && current.Failed() && old.Status == metric.Passed && d.Replacements[l.Successor]:
		d.NewlyFailing, d.Broken = addOnce(d.NewlyFailing, l.Successor), addOnce(d.Broken, l.Successor)
		return
	}
	d.Excused[l.ID] = true
}

// addOnce appends a test to a list unless the list has it.
func addOnce(ids []metric.ID, id metric.ID) []metric.ID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// DropEarlier removes the changes that earlier iterations made, since they were judged
// then. Unless they were settled, they are kept as erosion. The successor of a settled loss
// is not a new test.
func (d *Diff) DropEarlier(earlier *Diff, settled map[metric.ID]metric.ID) {
	gone, judged := map[metric.ID]bool{}, map[metric.ID]bool{}
	before := slices.Concat(earlier.Gone, earlier.goneBeforeBreak())
	for _, id := range before {
		gone[id], d.Uncounted[id] = true, true
	}

	for _, id := range slices.Concat(before, earlier.Broken, earlier.NewlySkipped) {
		judged[id], d.Excused[id] = true, true
	}

	for _, id := range slices.Concat(d.Broken, d.NewlySkipped) { // possibly renamed since
		current, _ := d.Now.Lookup(id)
		if old, exists := earlier.Now.Lookup(id); exists && (old.Status == current.Status || old.Failed() && current.Failed()) {
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
	d.Unexplained, d.Earlier.Gone = drop(d.Unexplained, gone)
	d.NewlySkipped, d.Earlier.Skipped = drop(d.NewlySkipped, judged)
	d.Broken, d.Earlier.Broken = drop(d.Broken, judged)
	d.markReplacements(settled)
}

// markReplacements marks the last successors of settled losses as replacements.
func (d *Diff) markReplacements(settled map[metric.ID]metric.ID) {
	for id := range settled {
		if _, ours := d.Before.Lookup(id); !ours {
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
		if _, old := d.Before.Lookup(successor); !old {
			d.Replacements[successor] = true
		}
	}
}

// ExcuseFlaky drops the failures of tests that are known to be flaky, since they prove
// nothing, unless the file of the test was changed.
func (d *Diff) ExcuseFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	d.listFlaky(known, touched)
	d.Broken = slices.DeleteFunc(d.Broken, func(id metric.ID) bool {
		current, exists := d.Now.Lookup(id)
		if !known[id] || !exists || current.Status == metric.NotRun || touched(id) {
			return false
		}
		d.KnownFlaky, d.Excused[id] = append(d.KnownFlaky, id), true
		return true
	})
	d.Flaky = MergeSorted(d.Flaky, d.KnownFlaky)
}

// listFlaky finds the tests that are newly flaky, and the flaky ones whose file was changed.
func (d *Diff) listFlaky(known map[metric.ID]bool, touched func(metric.ID) bool) {
	for _, id := range d.FlakyNow {
		old, _ := d.Before.Lookup(id)
		changed := touched(id)
		if changed || !old.Flaky && !known[id] {
			d.Flaky = append(d.Flaky, id)
		}
		if changed && !known[id] {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	for id, yes := range known {
		if _, exists := d.Now.Lookup(id); yes && exists && touched(id) {
			d.FlakyTouched = append(d.FlakyTouched, id)
		}
	}
	slices.SortFunc(d.FlakyTouched, metric.ID.Compare)
}

// FailingTests returns the broken tests that still exist.
func (d *Diff) FailingTests() []metric.ID {
	gone := map[metric.ID]bool{}
	for _, id := range d.Unexplained {
		gone[id] = true
	}
	return slices.DeleteFunc(slices.Clone(d.Broken), func(id metric.ID) bool { return gone[id] })
}

// Counts returns the number of tests and of passing tests of each side, without those that
// are accounted for: explained losses with their successors and, among the passing ones,
// newly skipped tests, which have a separate rule.
func (d *Diff) Counts() (before, now metric.Counts) {
	before, now = d.Before.Counts(), d.Now.Counts()
	for id := range d.Uncounted {
		if _, exists := d.Before.Lookup(id); exists {
			before.Count--
		}
	}

	for id := range d.Excused {
		if c, exists := d.Before.Lookup(id); exists && c.Status == metric.Passed {
			before.Passed--
		}
		if c, exists := d.Now.Lookup(id); exists && c.Status == metric.Passed && !d.Replacements[id] {
			now.Passed--
		}
	}

	for id := range d.Replacements {
		if c, exists := d.Now.Lookup(id); exists {
			now.Count--
			if c.Status == metric.Passed {
				now.Passed--
			}
		}
	}
	return before, now
}

// Decreased reports whether there are fewer tests than before, and at least one of them is
// gone without an explanation.
func (d *Diff) Decreased() bool {
	before, now := d.Counts()
	return len(d.Unexplained) > 0 && now.Count < before.Count
}

// Changes returns the changes for the assessment, none if the tests were not compared.
func (d *Diff) Changes() TestChanges {
	if d == nil {
		return TestChanges{}
	}
	return d.TestChanges
}

// MergeSorted returns the union of both lists, sorted.
func MergeSorted(a, b []metric.ID) []metric.ID {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.SortFunc(out, metric.ID.Compare)
	return slices.Compact(out)
}
