package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Evidence is what the section of measured facts is written from.
type Evidence struct {
	History    *judge.History
	Patch      string                             // of the last iteration, where it was undone
	SourceLine func(file string, line int) string // of the tree that the agent starts from; "" where it is not known
	Remaining  []string                           // what is left of the loop's limits
	HasNext    bool                               // another iteration may follow
}

// Groups are all facts, the most useful kinds first.
func (e Evidence) Groups() []Group {
	set := e.History.Previous.Set
	return []Group{
		e.refused(), e.broken(set), e.failing(set), e.errors(set), e.criterion(),
		e.notes(), e.earlier(),
		{Title: "What is left", Unit: "limit", Facts: e.Remaining},
	}
}

// refused is what was undone, by hunk, with what failed by it.
func (e Evidence) refused() Group {
	g := Group{Unit: "refused hunk"}
	it := e.History.Rejected
	if it == nil {
		return g
	}
	gone := Evidence{History: e.History} // without lines of source, which are others now
	g.Title = fmt.Sprintf("Refused in iteration %d, and no longer there", it.Number)
	brought := gone.fresh(it.Set, e.History.Previous.Set.Lint)
	var failing []metric.Test
	for _, c := range cases(it.Set) {
		if before, known := e.History.Previous.Set.Tests.Lookup(c.ID); c.Failed() && !(known && before.Failed()) {
			failing = append(failing, c)
		}
	}
	for _, text := range gone.failed(failing, bare(brought)) {
		g.Facts = append(g.Facts, "it made fail: "+text)
	}
	for _, text := range brought {
		g.Facts = append(g.Facts, "it brought: "+text)
	}
	g.Facts = append(g.Facts, hunks(e.Patch, e.History.RefusedFiles(*it))...)
	return g
}

// broken is what could not even be run.
func (e Evidence) broken(set metric.Set) Group {
	g := Group{Title: "Could not be run", Unit: "suite"}
	if set.Tests == nil {
		return g
	}
	for _, s := range set.Tests.Broken {
		g.Facts = append(g.Facts, s.Name+": "+brief(s.Why))
	}
	if set.Tests.Failure != "" {
		g.Facts = append(g.Facts, brief(set.Tests.Failure))
	}
	return g
}

// failing are the tests that fail, with their messages.
func (e Evidence) failing(set metric.Set) Group {
	g := Group{Title: "Failing tests", Unit: "failing test"}
	var failing []metric.Test
	for _, c := range cases(set) {
		if c.Failed() {
			failing = append(failing, c)
		}
	}
	g.Facts = e.failed(failing, bare(e.errors(set).Facts))
	return g
}

// errors are those of compilers and linters that the baseline did not have, and those that
// it had where there are no others.
func (e Evidence) errors(set metric.Set) Group {
	g := Group{Title: "Errors", Unit: "error"}
	g.Facts = e.fresh(set, e.History.Baseline.Set.Lint)
	if len(g.Facts) == 0 {
		g.Facts = e.fresh(set, nil)
	}
	if len(g.Facts) == 0 && set.Build != nil && set.Build.FirstError != "" {
		g.Facts = []string{brief(set.Build.FirstError)}
	}
	return g
}

// fresh are the errors of a set that another one did not have, those of compilers first.
func (e Evidence) fresh(set metric.Set, base *metric.Lint) (out []string) {
	had := map[string]int{}
	if base != nil {
		for _, x := range base.Findings {
			had[x.Fingerprint()]++
		}
	}
	var list []metric.Finding
	if set.Lint != nil {
		for _, x := range set.Lint.Findings {
			print := x.Fingerprint()
			if had[print]--; had[print] < 0 && x.Level == metric.Error {
				list = append(list, x)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b metric.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	rules := map[string][]string{} // that say the same of the same place, as vet and the compiler do
	said := func(x metric.Finding) string { return place(x.File, x.Line) + ": " + brief(x.Message) }
	for _, x := range list {
		if rule := strings.TrimSpace(x.Tool + " " + x.Rule); rule != "" && !slices.Contains(rules[said(x)], rule) {
			rules[said(x)] = append(rules[said(x)], rule)
		}
	}
	told := map[string]bool{}
	for _, x := range list {
		text := said(x)
		if told[text] {
			continue
		}
		told[text] = true
		if by := rules[text]; len(by) > 0 {
			text += " [" + strings.Join(by, ", ") + "]"
		}
		if x.Text != "" {
			text += "\n> " + textstream.Truncate(strings.TrimSpace(x.Text), maxLine)
		} else {
			text += e.source(x.File, x.Line)
		}
		out = append(out, text)
	}
	return out
}

// bare are errors without who says so and the line of code.
func bare(errors []string) []string {
	out := make([]string, len(errors))
	for i, text := range errors {
		out[i], _, _ = strings.Cut(text, "\n")
		out[i], _, _ = strings.Cut(out[i], " [")
	}
	return out
}

// rank has errors of types and compilers first.
func rank(x metric.Finding) int {
	if x.Type {
		return 0
	}
	return 1
}

// criterion is what the command of the criterion printed when it failed on the tree that
// the agent starts from.
func (e Evidence) criterion() Group {
	g := Group{Title: "The command that decides whether the loop is done failed, and printed at its end", Unit: "output"}
	at := e.History.Iterations[e.History.Previous.Iteration]
	if d := at.Decision; d != nil && d.Criterion != nil && !*d.Criterion && d.CriterionOutput != "" {
		g.Facts = []string{d.CriterionOutput}
	}
	return g
}

// notes are those of the agent itself. It is told of them where somebody may read them.
func (e Evidence) notes() Group {
	g := Group{Unit: "line of notes", Title: "Your notes, in the file $" + agent.NotesEnv + " (change it for later iterations; lines that begin with \"lesson:\" outlive one that is undone)"}
	for line := range strings.Lines(ledger.NotesAfter(e.History.Iterations, e.History.Previous.Iteration)) {
		if line = strings.TrimSpace(line); line != "" {
			g.Facts = append(g.Facts, strings.TrimPrefix(line, "- "))
		}
	}
	if len(g.Facts) == 0 && e.HasNext {
		g.Facts = []string{"none yet"}
	}
	return g
}

// earlier are the iterations before, the latest first.
func (e Evidence) earlier() Group {
	g := Group{Title: "Earlier iterations", Unit: "iteration"}
	for _, it := range slices.Backward(e.History.Iterations) {
		if it.Number > 0 {
			g.Facts = append(g.Facts, account(it, e.History.Rejected != nil && e.History.Rejected.Number == it.Number))
		}
	}
	return g
}

// account says what an iteration did, and how it ended; why it was undone, unless the
// prompt tells that of it anyhow.
func account(it ledger.Iteration, refused bool) string {
	how := "kept, " + it.Assessment.Class.String()
	switch {
	case it.Interrupted:
		how = "interrupted, undone"
	case refused:
		how = "undone"
	case it.Rejected:
		how = "undone"
		for _, a := range it.Assessment.Alerts {
			if a.CountsAtLeast(detector.High) && !a.IsAboutHiddenTests() {
				how += ": " + textstream.Truncate(a.Message(), maxLine)
				break
			}
		}
	}
	text := fmt.Sprintf("%d: %s; ", it.Number, how)
	var names []string
	for _, c := range it.Changed {
		names = append(names, c.Kind+" "+c.Path)
	}
	text += cmp.Or(listed(names), "nothing was changed")
	if it.Agent != nil {
		if said := brief(it.Agent.LastOutput); said != "" {
			text += "\nyou said: " + said
		}
	}
	return text
}

const (
	maxNames   = 6
	maxLine    = 160 // bytes of a line of source
	briefLines = 3
	briefBytes = 400
)

// brief is the beginning of a message: its first lines that are not blank.
func brief(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
		if len(out) == briefLines {
			break
		}
	}
	return textstream.Truncate(strings.TrimSpace(strings.Join(out, "\n")), briefBytes)
}

// RemainingLimits says what is left of a loop's limits at a moment, where there are any. more is how
// many iterations may follow this one.
func RemainingLimits(more int, b event.Budget, now time.Time) []string {
	var out []string
	switch {
	case more == 1:
		out = append(out, "1 more iteration after this one")
	case more > 1:
		out = append(out, fmt.Sprintf("%d more iterations after this one", more))
	}
	if !b.Deadline.IsZero() {
		out = append(out, "time: "+max(0, b.Deadline.Sub(now)).Round(time.Second).String())
	}
	if b.MaxCost > 0 && b.UsedCost != nil {
		out = append(out, fmt.Sprintf("cost: $%.2f of $%.2f", max(0, b.MaxCost-*b.UsedCost), b.MaxCost))
	}
	if b.MaxTokens > 0 && b.UsedTokens != nil {
		out = append(out, fmt.Sprintf("tokens: %d of %d", max(0, b.MaxTokens-*b.UsedTokens), b.MaxTokens))
	}
	return out
}
