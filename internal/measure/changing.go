package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/varying"
	"supervise/metric"
)

// changingNames are the tests that ran and that the framework's list does not hold by
// their names. A listed test without a name that ran is one of those, if the two names
// differ in nothing but what changes: a time, a random value.
type changingNames struct {
	waiting map[listed][]metric.ID // by suite and stem
	taken   map[metric.ID]bool
	lost    int // listed tests whose names change by their shape, and that nothing matches
	first   string
}

func changing(t *metric.Tests, list []listed) *changingNames {
	out := &changingNames{waiting: map[listed][]metric.ID{}, taken: map[metric.ID]bool{}}
	named := make(map[listed]bool, len(list))
	for _, l := range list {
		named[key(l.suite, l.name)] = true
	}
	for _, c := range t.Cases {
		names := aliases(c)
		if slices.ContainsFunc(names, func(n listed) bool { return named[n] }) {
			continue
		}
		slices.SortFunc(names, func(a, b listed) int { return strings.Compare(a.suite+"\x00"+a.name, b.suite+"\x00"+b.name) })
		for _, n := range slices.Compact(names) {
			if stem, ok := varying.Stem(n.name); ok {
				n.name = stem
				out.waiting[n] = append(out.waiting[n], c.ID)
			}
		}
	}
	return out
}

// take reports whether a listed test need not have run under its name: one did under
// another, or nobody can know its name.
func (n *changingNames) take(l listed) bool {
	name := key(l.suite, l.name)
	stem, ok := varying.Stem(name.name)
	if !ok || l.ignored {
		return false
	}
	name.name = stem
	for _, id := range n.waiting[name] {
		if !n.taken[id] {
			n.taken[id] = true
			return true
		}
	}
	_, changes := varying.Shape(l.name)
	if changes {
		if n.lost++; n.first == "" {
			n.first = strings.TrimSpace(l.suite + " " + l.name)
		}
	}
	return changes
}

// mark marks the tests that were taken, and says how many there are.
func (n *changingNames) mark(cases []metric.Test, problems *[]string) {
	first := ""
	for i, c := range cases {
		if n.taken[c.ID] {
			cases[i].Varies = true
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
