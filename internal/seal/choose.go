package seal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"supervise/metric"
	"supervise/source"
)

// ErrNothing is wrapped by the error if no test can be sealed.
var ErrNothing = errors.New("no test can be sealed")

// Options say what is sealed.
type Options struct {
	Share float64
	Seed  uint64
	How   Fineness
}

// Choose chooses a share of the failing tests, at least one and not all: rows of tables and subtests
// first. If possible, a failing one of each table and of each file stays, so that the visible tests still
// show all behaviour that is missing.
func Choose(tests *metric.Tests, files []Source, o Options) (Record, error) {
	r := newReported(tests)
	n := len(r.failing.Cases)
	var units []unit
	for i, f := range files {
		for _, u := range r.units(f, o.How) {
			u.file = i
			units = append(units, u)
			n += u.unread
		}
	}
	switch {
	case n == 0 && len(tests.Broken) > 0:
		return Record{}, fmt.Errorf("%w: which tests fail is unknown as long as %s cannot run: make it build, or give a folder of hidden tests", ErrNothing, tests.Broken[0].Name)
	case n < 2:
		return Record{}, fmt.Errorf("%w: fewer than two tests fail, and one has to stay visible: add failing tests, or give a folder of hidden tests", ErrNothing)
	}
	random := rand.New(rand.NewPCG(o.Seed, uint64(o.How))) //nolint:gosec // the agent does not see it, and it has to be repeatable
	random.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	slices.SortStableFunc(units, func(a, b unit) int { return min(1, len(b.group)) - min(1, len(a.group)) })
	want := min(max(1, int(math.Round(o.Share*float64(n)))), n-1)
	chosen := pick(units, want, true)
	if len(chosen) == 0 {
		chosen = pick(units, want, false)
	}
	if len(chosen) == 0 {
		return Record{}, fmt.Errorf("%w: none of the %d failing tests is alone in a test definition, a row of a table or a file that supervise can take out: give a folder of hidden tests", ErrNothing, n)
	}
	out := Record{Share: o.Share, Seed: o.Seed, Failing: n}
	out.add(chosen, files)
	return out, nil
}

// pick returns the first units that have at most the wanted number of tests, or else the smallest. One
// unit stays, and with leave one of each file and of each table.
func pick(units []unit, want int, leave bool) (out []unit) {
	left := map[string]int{}
	for _, u := range units {
		for _, g := range u.groups(leave) {
			left[g]++
		}
	}
	take := func(most int) {
		for _, u := range units {
			isLast := slices.ContainsFunc(u.groups(leave), func(g string) bool { return left[g] < 2 })
			if isLast || want <= 0 || len(u.tests) > most {
				continue
			}
			want, most = want-len(u.tests), min(most, want-len(u.tests))
			out = append(out, u)
			for _, g := range u.groups(leave) {
				left[g]--
			}
		}
	}
	if take(want); len(out) > 0 {
		return out
	}
	for _, u := range slices.SortedStableFunc(slices.Values(units), func(a, b unit) int { return len(a.tests) - len(b.tests) }) {
		want = 1
		if take(len(u.tests)); len(out) > 0 {
			break
		}
	}
	return out
}

// groups names the groups of units of which one stays.
func (u unit) groups(leave bool) []string {
	if !leave {
		return []string{""}
	}
	file := strconv.Itoa(u.file)
	if u.group == "" {
		return []string{"", file}
	}
	return []string{"", file, file + " " + u.group}
}

// add adds units to the record.
func (r *Record) add(units []unit, files []Source) {
	byFile := map[int]*File{}
	for _, u := range units {
		f := byFile[u.file]
		if f == nil {
			f = &File{Path: files[u.file].Path, Mode: files[u.file].Mode}
			byFile[u.file] = f
		}
		if u.span != (source.Span{}) {
			f.Cuts = append(f.Cuts, u.span)
		}
		f.gone = append(f.gone, u.gone...)
		for _, id := range u.tests {
			r.Tests = append(r.Tests, Test{id, f.Path})
		}
	}
	for i, f := range byFile {
		if f.Cuts = joined(f.Cuts); strings.HasSuffix(f.Path, ".go") && len(f.Cuts) > 0 {
			text, _ := f.apply(files[i].Text)
			f.Cuts = joined(append(f.Cuts, unusedImports(files[i].Text, text)...))
		}
		r.Files = append(r.Files, *f)
	}
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Tests, func(a, b Test) int { return a.Compare(b.ID) })
}

// Difference says how the tests without the sealed ones differ from those before, "" if they do not.
// before has the names of the second run where names vary.
func (r Record) Difference(before, after *metric.Tests) string {
	if after == nil {
		return "no test runs"
	}
	gone := map[metric.ID]bool{}
	for _, f := range r.Files {
		for _, id := range f.gone {
			gone[id] = true
		}
	}
	why := ""
	metric.Pair(before, after, func(old, now *metric.Test) {
		runsNow := old == nil && before.IsBroken(now.ID) // the suite could not run because of the sealed tests
		if why == "" && !runsNow {
			why = r.difference(old, now, gone)
		}
	})
	if why == "" && len(after.Broken) > len(before.Broken) {
		why = after.Broken[len(after.Broken)-1].Name + " does not run"
	}
	return why
}

// difference says how one test differs, "" if it does not.
func (r Record) difference(old, now *metric.Test, gone map[metric.ID]bool) string {
	switch {
	case old == nil:
		return now.ID.String() + " is new"
	case now == nil && gone[old.ID]:
		return ""
	case now == nil:
		return old.ID.String() + " is missing"
	case slices.ContainsFunc(r.Tests, func(t Test) bool { return t.ID == old.ID }):
		return old.ID.String() + " still runs"
	case now.Failed() && !old.Failed():
		return old.ID.String() + " fails"
	}
	return ""
}
