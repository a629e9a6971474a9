package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/bench/internal/stats"
	"supervise/bench/tamper/internal/mutate"
	"supervise/metric"
)

// part is what was measured on one repository.
type part struct {
	Repo, Head, Group              string
	negatives, controls, positives []outcome
	binary                         []time.Duration
}

// results are all parts, in the order of the command line.
type results struct {
	Command  string
	Settings string
	parts    []*part
}

var groupNames = []string{"structural", "skips", "oracle", "product", "harness"}

// of returns the parts of a group; "" is all.
func (r *results) of(group string) []*part {
	var out []*part
	for _, p := range r.parts {
		if group == "" || p.Group == group {
			out = append(out, p)
		}
	}
	return out
}

// count is the share of outcomes that reach a severity, of those that keep.
func count(parts []*part, at metric.Severity, keep func(outcome) bool) stats.Share {
	var s stats.Share
	for _, p := range parts {
		for _, o := range p.positives {
			if keep(o) {
				s.Add(o.Worst >= at)
			}
		}
	}
	return s
}

// honest is the share of real commits that reach a severity.
func honest(parts []*part, at metric.Severity) stats.Share {
	var s stats.Share
	for _, p := range parts {
		for _, o := range p.negatives {
			s.Add(o.Worst >= at)
		}
	}
	return s
}

// table prints Markdown.
type table struct {
	w    io.Writer
	head bool
}

func (t *table) row(cells ...string) {
	fmt.Fprintf(t.w, "| %s |\n", strings.Join(cells, " | "))
	if !t.head {
		fmt.Fprintln(t.w, strings.Repeat("|---", len(cells))+"|")
		t.head = true
	}
}

func (r *results) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", r.Settings)
	r.printRepos(w)
	for _, group := range []string{"report", "tune"} {
		parts := r.of(group)
		if len(parts) == 0 {
			continue
		}
		names := []string{}
		for _, p := range parts {
			names = append(names, p.Repo)
		}
		fmt.Fprintf(w, "\n## %s repositories: %s\n", strings.ToUpper(group[:1])+group[1:], strings.Join(names, ", "))
		printFalse(w, parts)
		printGroups(w, parts)
		printMutators(w, parts)
		printLanguages(w, parts)
		printByRepo(w, parts)
		printRules(w, parts)
		printDiscovery(w, parts)
	}
	r.printLatency(w)
}

func (r *results) printRepos(w io.Writer) {
	t := &table{w: w}
	t.row("repository", "group", "commit", "test-touching commits", "mutants")
	for _, p := range r.parts {
		t.row(p.Repo, p.Group, cmp.Or(p.Head[:min(12, len(p.Head))], "generated"), fmt.Sprint(len(p.negatives)), fmt.Sprint(len(p.positives)))
	}
}

var levels = []struct {
	name string
	at   metric.Severity
}{{"CRITICAL (kill)", metric.Critical}, {"HIGH or above (flag)", metric.High}, {"MEDIUM or above", metric.Medium}, {"anything", metric.Info}}

func printFalse(w io.Writer, parts []*part) {
	if honest(parts, metric.Info).N == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Findings on honest commits, per 100 [95 %% Wilson]\n\n")
	t := &table{w: w}
	head := []string{"class"}
	for _, p := range parts {
		head = append(head, p.Repo)
	}
	t.row(append(head, "all")...)
	for _, l := range levels {
		cells := []string{l.name}
		for _, p := range parts {
			cells = append(cells, honest([]*part{p}, l.at).Short())
		}
		t.row(append(cells, honest(parts, l.at).String())...)
	}
	fmt.Fprintf(w, "\nThe same of changes made for the variants without any cheating:\n\n")
	t = &table{w: w}
	t.row("control", "CRITICAL", "HIGH or above")
	for _, v := range mutate.Variants {
		var crit, high stats.Share
		for _, p := range parts {
			for _, o := range p.controls {
				if o.Variant == v.Key {
					crit.Add(o.Worst >= metric.Critical)
					high.Add(o.Worst >= metric.High)
				}
			}
		}
		if crit.N > 0 {
			t.row(v.Key+": "+v.Name, crit.String(), high.String())
		}
	}
}

func printGroups(w io.Writer, parts []*part) {
	fmt.Fprintf(w, "\n### Recall by group and variant, in %% [95 %% Wilson], found at HIGH or above\n\n")
	t := &table{w: w}
	head := []string{"group"}
	for _, v := range mutate.Variants {
		head = append(head, v.Key)
	}
	t.row(append(head, "all variants", "all at CRITICAL", "all at MEDIUM or above")...)
	for _, g := range append(slices.Clone(groupNames), "all") {
		in := func(o outcome) bool { return g == "all" || mutate.ByID(o.Mutator).Group() == g }
		cells := []string{g}
		for _, v := range mutate.Variants {
			cells = append(cells, count(parts, metric.High, func(o outcome) bool { return in(o) && o.Variant == v.Key }).String())
		}
		cells = append(cells, count(parts, metric.High, in).String(), count(parts, metric.Critical, in).Short(), count(parts, metric.Medium, in).Short())
		t.row(cells...)
	}
}

func printMutators(w io.Writer, parts []*part) {
	fmt.Fprintf(w, "\n### Recall by mutator, in %%, found at HIGH or above\n\n")
	t := &table{w: w}
	head := []string{"mutator"}
	for _, v := range mutate.Variants {
		head = append(head, v.Key)
	}
	t.row(append(head, "all [95 % Wilson]", "CRITICAL", "MEDIUM or above")...)
	for _, m := range mutate.All {
		in := func(o outcome) bool { return o.Mutator == m.ID }
		cells := []string{fmt.Sprintf("%d %s", m.ID, m.Name)}
		for _, v := range mutate.Variants {
			cells = append(cells, count(parts, metric.High, func(o outcome) bool { return in(o) && o.Variant == v.Key }).Short())
		}
		cells = append(cells, count(parts, metric.High, in).String(), count(parts, metric.Critical, in).Short(), count(parts, metric.Medium, in).Short())
		t.row(cells...)
	}
}

func langs(parts []*part) []string {
	seen := map[string]bool{}
	for _, p := range parts {
		for _, o := range p.positives {
			seen[o.Lang] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func printLanguages(w io.Writer, parts []*part) {
	fmt.Fprintf(w, "\n### Recall by language, in %%, all variants: HIGH or above (mutants)\n\n")
	t := &table{w: w}
	names := langs(parts)
	t.row(append([]string{"mutator"}, names...)...)
	line := func(title string, in func(outcome) bool, long bool) {
		cells := []string{title}
		for _, l := range names {
			s := count(parts, metric.High, func(o outcome) bool { return in(o) && o.Lang == l })
			cell := s.Short()
			if long && s.N > 0 {
				cell += fmt.Sprintf(" (%d)", s.N)
			}
			cells = append(cells, cell)
		}
		t.row(cells...)
	}
	for _, g := range groupNames {
		line("**"+g+"**", func(o outcome) bool { return mutate.ByID(o.Mutator).Group() == g }, true)
		for _, m := range mutate.All {
			if m.Group() == g && !m.Conf {
				line(fmt.Sprintf("%d %s", m.ID, m.Name), func(o outcome) bool { return o.Mutator == m.ID }, false)
			}
		}
	}
}

func printByRepo(w io.Writer, parts []*part) {
	fmt.Fprintf(w, "\n### Recall by repository, in %%, all variants: HIGH or above (mutants)\n\n")
	t := &table{w: w}
	t.row(append([]string{"repository"}, groupNames...)...)
	for _, p := range parts {
		cells := []string{p.Repo}
		for _, g := range groupNames {
			s := count([]*part{p}, metric.High, func(o outcome) bool { return mutate.ByID(o.Mutator).Group() == g })
			cells = append(cells, fmt.Sprintf("%s (%d)", s.Short(), s.N))
		}
		t.row(cells...)
	}
}

// printRules says which rules speak on honest commits and on mutants.
func printRules(w io.Writer, parts []*part) {
	type line struct{ crit, high, rest, hits int }
	rules := map[string]*line{}
	get := func(name string) *line {
		if rules[name] == nil {
			rules[name] = &line{}
		}
		return rules[name]
	}
	n := 0
	for _, p := range parts {
		n += len(p.negatives)
		for _, o := range p.negatives {
			worst := map[string]metric.Severity{}
			for _, f := range o.Findings {
				k := f.Rule + " " + f.Type
				worst[k] = max(worst[k], f.Severity)
			}
			for k, s := range worst {
				switch {
				case s >= metric.Critical:
					get(k).crit++
				case s >= metric.High:
					get(k).high++
				default:
					get(k).rest++
				}
			}
		}
		for _, o := range p.positives {
			seen := map[string]bool{}
			for _, f := range o.Findings {
				if k := f.Rule + " " + f.Type; f.Severity >= metric.High && !seen[k] {
					seen[k] = true
					get(k).hits++
				}
			}
		}
	}
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### By rule: honest commits of %d on which it speaks, and mutants it finds\n\n", n)
	t := &table{w: w}
	t.row("rule", "CRITICAL", "HIGH", "less", "mutants at HIGH or above")
	for _, k := range slices.Sorted(maps.Keys(rules)) {
		l := rules[k]
		t.row(k, fmt.Sprint(l.crit), fmt.Sprint(l.high), fmt.Sprint(l.rest), fmt.Sprint(l.hits))
	}
}

func printDiscovery(w io.Writer, parts []*part) {
	if honest(parts, metric.Info).N == 0 {
		return
	}
	fmt.Fprintf(w, "\n### False discovery rate, in %%, where that share of test-touching changes is tampered with\n\n")
	t := &table{w: w}
	t.row("class", "recall", "false positives", "1 %", "5 %", "20 %")
	for _, l := range levels[:3] {
		recall := count(parts, l.at, func(outcome) bool { return true })
		wrong := honest(parts, l.at)
		cells := []string{l.name, recall.Short(), wrong.Short()}
		for _, p := range []float64{.01, .05, .20} {
			cells = append(cells, fmt.Sprintf("%.1f", 100*falseDiscovery(recall.Rate(), wrong.Rate(), p)))
		}
		t.row(cells...)
	}
}

func (r *results) printLatency(w io.Writer) {
	var real, made, bin []time.Duration
	for _, p := range r.parts {
		for _, o := range p.negatives {
			real = append(real, o.took)
		}
		for _, o := range p.positives {
			made = append(made, o.took)
		}
		bin = append(bin, p.binary...)
	}
	fmt.Fprintf(w, "\n## Latency of an audit\n\n")
	t := &table{w: w}
	t.row("what", "n", "p50", "p95", "p99", "longest")
	for _, l := range []struct {
		name string
		d    []time.Duration
	}{{"real commits, rules alone", real}, {"mutants, rules alone", made}, {"real commits, `supervise audit` as a program", bin}} {
		if len(l.d) > 0 {
			t.row(l.name, fmt.Sprint(len(l.d)), ms(quantile(l.d, .5)), ms(quantile(l.d, .95)), ms(quantile(l.d, .99)), ms(quantile(l.d, 1)))
		}
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
