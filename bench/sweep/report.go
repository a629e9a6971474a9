package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// row is a repository and what was measured.
type row struct {
	repo *repo
	*result
}

// said reports whether our output has a word on numbers that are not the native ones.
func (r *row) said() bool { return len(r.Words) > 0 }

// total sums rows up.
type total struct {
	name                             string
	rows                             []*row
	recognised, exact, said, silent  int
	full, edited, oursShare, natives []float64
}

// sumUp takes the rows that a condition holds for. Rows that their own commands could
// not be run for say nothing of supervise and are left out.
func sumUp(name string, rows []*row, in func(*row) bool) *total {
	t := &total{name: name}
	for _, r := range rows {
		if r.Error != "" || !in(r) {
			continue
		}
		t.rows = append(t.rows, r)
		switch {
		case r.exact():
			t.exact++
		case r.said():
			t.said++
		default:
			t.silent++
		}
		if !r.Recognised {
			continue
		}
		t.recognised++
		if r.untimed() {
			continue
		}
		t.full = append(t.full, r.OursFull/r.NativeFull)
		if r.OursEdited > 0 {
			t.edited = append(t.edited, r.OursEdited/r.NativeEdited)
		}
		if r.OursEdited > 0 && r.repo.of.Incremental != "" {
			t.oursShare = append(t.oursShare, 100*r.OursEdited/r.OursFull)
			t.natives = append(t.natives, 100*r.NativeEdited/r.NativeFull)
		}
	}
	return t
}

func median(v []float64, form string) string {
	if len(v) == 0 {
		return "–"
	}
	v = slices.Sorted(slices.Values(v))
	m := v[len(v)/2]
	if len(v)%2 == 0 {
		m = (m + v[len(v)/2-1]) / 2
	}
	return fmt.Sprintf(form, m)
}

const totalsHead = `| repositories | measured | recognised | exact | differ, explained | differ, unexplained | full, ours : native | edited, ours : native | edited : full, ours | native |
|---|---|---|---|---|---|---|---|---|---|
`

func (t *total) line() string {
	n := len(t.rows)
	return fmt.Sprintf("| %s | %d | %s | %s | %d | %d | %s | %s | %s | %s |\n", t.name, n, share(t.recognised, n), share(t.exact, n), t.said, t.silent,
		median(t.full, "%.2f"), median(t.edited, "%.2f"), median(t.oursShare, "%.0f %%"), median(t.natives, "%.0f %%"))
}

func share(k, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%.0f %%)", k, 100*float64(k)/float64(n))
}

// totals are the totals that the page and the report share.
func totals(rows []*row) string {
	var b strings.Builder
	b.WriteString(totalsHead)
	main := func(r *row) bool { return !r.repo.of.Apart }
	for _, t := range []*total{
		sumUp("first set", rows, func(r *row) bool { return main(r) && r.repo.Last == 0 }),
		sumUp("second set", rows, func(r *row) bool { return main(r) && r.repo.Last == 1 }),
		sumUp("third set", rows, func(r *row) bool { return main(r) && r.repo.Last == 2 }),
		sumUp("fourth set", rows, func(r *row) bool { return main(r) && r.repo.Last == 3 }),
		sumUp("fifth set", rows, func(r *row) bool { return main(r) && r.repo.Last == 4 }),
		sumUp("sixth set", rows, func(r *row) bool { return main(r) && r.repo.Last == 5 }),
		sumUp("separate: Ruby", rows, func(r *row) bool { return r.repo.of.Apart }),
	} {
		if len(t.rows) > 0 {
			b.WriteString(t.line())
		}
	}
	return b.String()
}

// report writes the report and the table of the page from all results.
func (t *table) report(f *flags) error {
	rows, err := t.measured(f)
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := os.WriteFile(f.report, []byte(t.page(rows)), 0o644); err != nil {
		return err
	}
	return inPage(f.projects, totals(rows))
}

const (
	blockOpen = "<!-- generated: sweep (make sweep) -->\n"
	blockEnd  = "<!-- end -->\n"
)

// inPage replaces the generated part of a page.
func inPage(file, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), blockOpen)
	_, after, closed := strings.Cut(rest, blockEnd)
	if !ok || !closed {
		return fmt.Errorf("%s has no part %q … %q", file, strings.TrimSpace(blockOpen), strings.TrimSpace(blockEnd))
	}
	return os.WriteFile(file, []byte(before+blockOpen+text+blockEnd+after), 0o644)
}

func (t *table) page(rows []*row) string {
	var b strings.Builder
	versions, days := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		versions[r.Version], days[r.Date[:10]] = true, true
	}
	fmt.Fprintf(&b, "# Sweep\n\n%d of %d repositories of bench/sweep/repos.yaml, measured by `make sweep` on %s with supervise at %s. Written by the program; [how it measures](../sweep/README.md).\n\n%s\n## By language\n\n%s",
		len(rows), len(t.Repos), keys(days), keys(versions), totals(rows), totalsHead)
	for _, l := range t.Languages {
		if s := sumUp(l.Name, rows, func(r *row) bool { return r.repo.of == l }); len(s.rows) > 0 {
			b.WriteString(s.line())
		}
	}
	b.WriteString(saving(rows))
	b.WriteString("\n## Repositories\n\nTimes are in seconds, the best of up to three runs; load is that of the machine when the measurement began. –: counted only. Carried are tests that the iteration with the edit did not run again. \\*: of the last twenty, \\*\\*: of the second, \\*\\*\\*: of the third, \\*\\*\\*\\*: of the fourth, and so on.\n\n" +
		"| repository | language | native tests | ours | native full | ours | native edited | ours | carried | load |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		if r.Error != "" {
			continue
		}
		ours := r.Ours.String()
		switch {
		case !r.Recognised:
			ours = "not measured"
		case r.exact():
			ours = "the same"
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s | %s | %s | %s | %s | %s | %d | %s |\n", r.repo.Name, star(r.repo), r.repo.Language, r.Native, ours,
			seconds(r.NativeFull), seconds(r.OursFull), seconds(r.NativeEdited), seconds(r.OursEdited), r.Carried, r.Load)
	}
	b.WriteString(differing(rows))
	return b.String()
}

// saving is the line about the repositories whose own way does most of the work no more
// after an edit.
func saving(rows []*row) string {
	const share = 0.4
	s := sumUp("", rows, func(r *row) bool {
		return r.repo.of.Incremental != "" && !r.untimed() && r.NativeEdited <= share*r.NativeFull
	})
	if len(s.oursShare) == 0 {
		return ""
	}
	return fmt.Sprintf("\nWhere the native commands take at most %.0f %% of their full run after the edit, in %d repositories, they take %s and ours %s (medians). In the others there is little to save: a full run of Go uses its cache of builds, and most of Maven's time goes to the tests.\n",
		100*share, len(s.oursShare), median(s.natives, "%.0f %%"), median(s.oursShare, "%.0f %%"))
}

// differing lists what is not exact, with what our output says and what is known.
func differing(rows []*row) string {
	var b strings.Builder
	b.WriteString("\n## Other numbers\n\n")
	for _, r := range rows {
		if r.Error != "" || r.exact() {
			continue
		}
		fmt.Fprintf(&b, "- %s: native %s, ours %s.", r.repo.Name, r.Native, r.Ours)
		if r.repo.Differs != "" {
			fmt.Fprintf(&b, " %s.", r.repo.Differs)
		}
		if len(r.Words) == 0 {
			b.WriteString(" The output says nothing.")
		}
		b.WriteString("\n")
		for _, w := range r.Words {
			fmt.Fprintf(&b, "  - said: %s\n", strings.Join(strings.Fields(w), " "))
		}
	}
	for _, r := range rows {
		if want := r.repo.Expect; r.Error == "" && want.Total > 0 && want != r.Native {
			fmt.Fprintf(&b, "- %s: its own commands counted %s, and the table expects %s.\n", r.repo.Name, r.Native, want)
		}
	}
	b.WriteString("\n## Not run\n\nTheir own commands could not be run, so that there is nothing to compare with.\n\n")
	for _, r := range rows {
		if r.Error != "" {
			first, _, _ := strings.Cut(r.Error, "\n")
			fmt.Fprintf(&b, "- %s: %s\n", r.repo.Name, first)
		}
	}
	return b.String()
}

func seconds(s float64) string {
	if s == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", s)
}

func star(r *repo) string {
	return strings.Repeat("\\*", r.Last)
}

func keys(m map[string]bool) string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
