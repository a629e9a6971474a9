package listing

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/unstablenames"
	"supervise/metric"
)

// changingNames are the tests that ran and that the framework's list does not hold by
// their names. A listed test without a name that ran is one of those, if the two names
// differ in nothing but what changes: a time, a random value.
type changingNames struct {
	waiting map[Test][]metric.ID // by suite and stem
	taken   map[metric.ID]bool
	lost    int // listed tests whose names change by their shape, and that nothing matches
	first   string
}

func changing(t *metric.Tests, list []Test) *changingNames {
	out := &changingNames{waiting: map[Test][]metric.ID{}, taken: map[metric.ID]bool{}}
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
				out.waiting[n] = append(out.waiting[n], c.ID)
			}
		}
	}
	return out
}

// take reports whether a listed test need not have run under its name: one did under
// another, or nobody can know its name.
func (n *changingNames) take(l Test) bool {
	name := NormalizedName(l.Suite, l.Name)
	stem, ok := unstablenames.StemOf(name.Name)
	if !ok || l.Ignored {
		return false
	}
	name.Name = stem
	for _, id := range n.waiting[name] {
		if !n.taken[id] {
			n.taken[id] = true
			return true
		}
	}
	_, changes := unstablenames.ShapeOf(l.Name)
	if changes {
		if n.lost++; n.first == "" {
			n.first = strings.TrimSpace(l.Suite + " " + l.Name)
		}
	}
	return changes
}

// mark marks the tests that were taken, and says how many there are.
func (n *changingNames) mark(cases []metric.Test, problems *[]string) {
	first := ""
	for i, c := range cases {
		if n.taken[c.ID] {
			cases[i].UnstableName = true
			if first == "" {
				first = c.ID.String()
			}
		}
	}
	if first != "" {
		*problems = append(*problems, fmt.Sprintf("%d tests have names that change from run to run, and are matched by what stays of them, the first: %s; give their parameters fixed ids", len(n.taken), first))
	}
	if n.lost > 0 {
		*problems = append(*problems, fmt.Sprintf("%d tests are listed under names that change from run to run, and none that ran matches; they are not counted, the first: %s", n.lost, n.first))
	}
}
