package listing

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/unstablenames"
	"supervise/metric"
)

// changingNames matches tests whose names change from run to run. A listed test that did not
// run under its name is matched with one that ran if their names differ only in a changing
// part: a time, or a random value.
type changingNames struct {
	byStem         map[Test][]metric.ID // tests that ran, by suite and stem: the name without its changing part
	matched        map[metric.ID]bool   // tests that ran and match a listed test
	unmatched      int                  // listed tests with an obviously changing name that no test matches
	firstUnmatched string               // the name of the first of them
}

// findChangingNames collects the tests that ran and that are not in the list by their names.
func findChangingNames(t *metric.Tests, list []Test) *changingNames {
	out := &changingNames{byStem: map[Test][]metric.ID{}, matched: map[metric.ID]bool{}}
	named := make(map[Test]bool, len(list))
	for _, l := range list {
		named[NormalizedName(l.Suite, l.Name)] = true
	}
	for _, c := range t.Cases {
		names := Aliases(c)
		if slices.ContainsFunc(names, func(n Test) bool { return named[n] }) {
			continue
		}
		slices.SortFunc(names, func(a, b Test) int { return strings.Compare(a.Suite+"\x00"+a.Name, b.Suite+"\x00"+b.Name) })
		for _, n := range slices.Compact(names) {
			if stem, ok := unstablenames.StemOf(n.Name); ok {
				n.Name = stem
				out.byStem[n] = append(out.byStem[n], c.ID)
			}
		}
	}
	return out
}

// matchListed reports whether a listed test need not have run under its name: a test with a
// changed name ran, or its name always changes.
func (n *changingNames) matchListed(l Test) bool {
	name := NormalizedName(l.Suite, l.Name)
	stem, ok := unstablenames.StemOf(name.Name)
	if !ok || l.Ignored {
		return false
	}
	name.Name = stem
	for _, id := range n.byStem[name] {
		if !n.matched[id] {
			n.matched[id] = true
			return true
		}
	}
	_, changes := unstablenames.ShapeOf(l.Name)
	if changes {
		if n.unmatched++; n.firstUnmatched == "" {
			n.firstUnmatched = strings.TrimSpace(l.Suite + " " + l.Name)
		}
	}
	return changes
}

// markMatched marks the matched tests, and reports how many there are.
func (n *changingNames) markMatched(cases []metric.Test, problems *[]string) {
	first := ""
	for i, c := range cases {
		if n.matched[c.ID] {
			cases[i].UnstableName = true
			if first == "" {
				first = c.ID.String()
			}
		}
	}
	if first != "" {
		*problems = append(*problems, fmt.Sprintf("%d tests have names that change from run to run, and are matched by what stays of them, the first: %s; give their parameters fixed ids", len(n.matched), first))
	}
	if n.unmatched > 0 {
		*problems = append(*problems, fmt.Sprintf("%d tests are listed under names that change from run to run, and none that ran matches; they are not counted, the first: %s", n.unmatched, n.firstUnmatched))
	}
}
