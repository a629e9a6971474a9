// Package unstablenames matches tests whose names change from run to run: names that hold a
// time, an address, a temporary path or a random value. Such a name is no identity; the
// test keeps the name under which it was first seen.
package unstablenames

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// placeholder replaces what changes in a name.
const placeholder = "*"

// unstablePartRE is what changes from run to run by its shape: times, UUIDs, addresses, digests,
// temporary paths, random fractions, measured durations.
var unstablePartRE = regexp.MustCompile(`(?:/private)?/(?:tmp|var/folders|var/tmp)/[^\s,\])'"]+` +
	`|[A-Za-z]:[\\/]+(?:[^\s,\])'"]*[\\/])?(?i:temp)[\\/]+[^\s,\])'"]+` +
	`|datetime\.\w+\([^)]*\)` +
	`|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:[A-Z][a-z]{2} \d\d?|\d\d? [A-Z][a-z]{2}) \d{4} \d\d:\d\d:\d\d(?: GMT)?(?: ?[+-]\d{4})?(?: \([^)]*\))?` +
	`|\d{4}-\d\d-\d\d(?:[T _]\d\d[:_.-]?\d\d(?:[:_.-]?\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?` +
	`|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b` +
	`|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b` +
	`|\b0x[0-9a-fA-F]{6,16}\b|\b[0-9a-f]{32,128}\b` +
	`|\b1[4-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b|\b\d+\.\d{9,}s?\b` +
	`|\b\d+\.\d+ ?(?:ms|µs|us|ns)\b`)

// numberedWordRE is a word that holds a digit.
var numberedWordRE = regexp.MustCompile(`[\pL\pN_.+-]*\pN[\pL\pN_.+-]*`)

// ShapeOf returns a name without what changes by its shape, and whether there is any.
func ShapeOf(name string) (string, bool) {
	if !strings.ContainsAny(name, "0123456789/\\") {
		return name, false
	}
	out := unstablePartRE.ReplaceAllString(name, placeholder)
	return out, out != name
}

// StemOf returns what the names of one test have in common whose name is known to change:
// what precedes the parameters, or the name without words that hold a digit. It is false
// for a name in which nothing can change.
func StemOf(name string) (string, bool) {
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		return name[:i] + "[" + placeholder + "]", true
	}
	out := numberedWordRE.ReplaceAllString(name, placeholder)
	return out, out != name
}

// MatchNames gives the tests of a run the names that they have among the known ones: those
// that are in one of the two alone, in the same suite and class, whose names have the
// same shape, or the same stem where the name is known to change.
func MatchNames(now, known *metric.Tests) *metric.Tests {
	if now == nil || known == nil {
		return now
	}
	names := matchLost(known, now, func(t *metric.Test) bool { return t.UnstableName })
	if len(names) == 0 && !slices.ContainsFunc(known.Cases, func(t metric.Test) bool { return t.UnstableName }) {
		return now
	}
	cases := make([]metric.Test, 0, len(now.Cases))
	metric.Pair(known, now, func(old, current *metric.Test) {
		if current == nil {
			return
		}
		c := *current
		c.UnstableName = c.UnstableName || old != nil && old.UnstableName
		if id, ok := names[c.ID]; ok {
			c.ID, c.UnstableName = id, true
		}
		cases = append(cases, c)
	})
	out := *now
	out.Cases = metric.NewTests(cases).Cases
	return &out
}

// MarkUnstable marks the tests whose names another run of the same tree does not have, if that
// run has others of the same shape or stem instead.
func MarkUnstable(first, second *metric.Tests) *metric.Tests {
	if first == nil || second == nil {
		return first
	}
	out := first
	for _, id := range matchLost(first, second, func(*metric.Test) bool { return true }) {
		if t, ok := out.Lookup(id); ok {
			t.UnstableName = true
			out = out.WithTest(t)
		}
	}
	return out
}

// matchLost pairs the tests that only one of two runs has, in their order. It maps the identity of
// each test of the current run that has another name in the old one to its old identity. changes
// reports whether the name of a test is known to change.
func matchLost(old, current *metric.Tests, changes func(*metric.Test) bool) map[metric.ID]metric.ID {
	out := map[metric.ID]metric.ID{}
	var lost, added []*metric.Test
	metric.Pair(old, current, func(before, after *metric.Test) {
		switch {
		case before == nil:
			added = append(added, after)
		case after == nil:
			lost = append(lost, before)
		}
	})
	if len(lost) == 0 || len(added) == 0 {
		return out
	}
	taken := map[*metric.Test]bool{}
	pass := func(key func(string) (string, bool), mayMatch func(*metric.Test) bool) {
		waiting := map[metric.ID][]*metric.Test{}
		for _, t := range lost {
			if reduced, ok := key(t.Name); ok && !taken[t] && mayMatch(t) {
				id := metric.ID{Suite: t.Suite, Class: t.Class, Name: reduced}
				waiting[id] = append(waiting[id], t)
			}
		}
		for _, t := range added {
			reduced, ok := key(t.Name)
			id := metric.ID{Suite: t.Suite, Class: t.Class, Name: reduced}
			if _, done := out[t.ID]; !ok || done || len(waiting[id]) == 0 {
				continue
			}
			out[t.ID], taken[waiting[id][0]] = waiting[id][0].ID, true
			waiting[id] = waiting[id][1:]
		}
	}
	pass(ShapeOf, func(*metric.Test) bool { return true })
	pass(StemOf, changes)
	return out
}
