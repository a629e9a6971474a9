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
	"supervise/internal/mutation"
	"supervise/internal/textstream"
	"supervise/metric"
)

// Evidence is the input of the section of measured facts.
type Evidence struct {
	History    *judge.History
	Patch      string                             // of the last iteration, if it was rolled back
	SourceLine func(file string, line int) string // reads the tree that the agent starts from; "" if the line is unknown
	Remaining  []string                           // what remains of the loop's limits
	HasNext    bool                               // another iteration may follow
}

// Groups returns all facts by kind, the most useful kinds first.
func (e Evidence) Groups() []Group {
	set := e.History.Previous.Set
	return []Group{
		e.refusedGroup(), e.brokenGroup(set), e.failingGroup(set), e.errorsGroup(set), e.criterionGroup(), e.untestedGroup(), e.survivorsGroup(),
		e.notesGroup(), e.earlierGroup(),
		{Title: "What is left", Unit: "limit", Facts: e.Remaining},
	}
}

// refusedGroup lists the hunks that were rolled back, after the failures and errors that they
// caused.
func (e Evidence) refusedGroup() Group {
	g := Group{Unit: "refused hunk"}
	it := e.History.Rejected
	if it == nil {
		return g
	}
	withoutSource := Evidence{History: e.History} // the source of the refused tree is no longer there
	g.Title = fmt.Sprintf("Refused in iteration %d, and no longer there", it.Number)
	newErrors := withoutSource.newErrors(it.Set, e.History.Previous.Set.Lint)
	failing := slices.DeleteFunc(failingTests(it.Set), func(c metric.Test) bool {
		before, known := e.History.Previous.Set.Tests.Lookup(c.ID)
		return known && before.Failed()
	})
	for _, text := range withoutSource.failureFacts(failing, withoutDetails(newErrors)) {
		g.Facts = append(g.Facts, "it made fail: "+text)
	}
	for _, text := range newErrors {
		g.Facts = append(g.Facts, "it brought: "+text)
	}
	g.Facts = append(g.Facts, patchHunks(e.Patch, e.History.RefusedFiles(*it))...)
	return g
}

// brokenGroup lists the suites that could not be run.
func (e Evidence) brokenGroup(set metric.Set) Group {
	g := Group{Title: "Could not be run", Unit: "suite"}
	if set.Tests == nil {
		return g
	}
	for _, s := range set.Tests.Broken {
		g.Facts = append(g.Facts, s.Name+": "+firstLines(s.Why))
	}
	if set.Tests.Failure != "" {
		g.Facts = append(g.Facts, firstLines(set.Tests.Failure))
	}
	return g
}

// failingGroup lists the failing tests with their messages.
func (e Evidence) failingGroup(set metric.Set) Group {
	facts := e.failureFacts(failingTests(set), withoutDetails(e.errorsGroup(set).Facts))
	return Group{Title: "Failing tests", Unit: "failing test", Facts: facts}
}

// errorsGroup lists the errors of compilers and linters that are new since the baseline, or
// all errors if none is new.
func (e Evidence) errorsGroup(set metric.Set) Group {
	g := Group{Title: "Errors", Unit: "error"}
	g.Facts = e.newErrors(set, e.History.Baseline.Set.Lint)
	if len(g.Facts) == 0 {
		g.Facts = e.newErrors(set, nil)
	}
	if len(g.Facts) == 0 && set.Build != nil && set.Build.FirstError != "" {
		g.Facts = []string{firstLines(set.Build.FirstError)}
	}
	return g
}

// newErrors describes the errors of a set that base does not have, those of compilers first.
// Equal messages at one position, as from vet and the compiler, become one fact.
func (e Evidence) newErrors(set metric.Set, base *metric.Lint) (out []string) {
	var order []string // descriptions
	findings := map[string]metric.Finding{}
	rules := map[string][]string{}
	for _, f := range addedErrors(set.Lint, base) {
		text := filePosition(f.File, f.Line) + ": " + firstLines(f.Message)
		if _, known := findings[text]; !known {
			order, findings[text] = append(order, text), f
		}
		rule := strings.TrimSpace(f.Tool + " " + f.Rule)
		if rule != "" && !slices.Contains(rules[text], rule) {
			rules[text] = append(rules[text], rule)
		}
	}
	for _, text := range order {
		fact, f := text, findings[text]
		if len(rules[text]) > 0 {
			fact += " [" + strings.Join(rules[text], ", ") + "]"
		}
		source := e.sourceText(f.File, f.Line)
		if f.Text != "" {
			source = "\n> " + textstream.Truncate(strings.TrimSpace(f.Text), maxLine)
		}
		out = append(out, fact+source)
	}
	return out
}

// addedErrors returns the errors of lint that base does not have, those of compilers and type
// checkers first.
func addedErrors(lint, base *metric.Lint) []metric.Finding {
	var typeErrors, others []metric.Finding
	known := map[string]int{}
	if base != nil {
		for _, f := range base.Findings {
			known[f.Fingerprint()]++
		}
	}
	if lint != nil {
		for _, f := range lint.Findings {
			key := f.Fingerprint()
			known[key]--
			switch isNew := known[key] < 0 && f.Level == metric.Error; {
			case isNew && f.Type:
				typeErrors = append(typeErrors, f)
			case isNew:
				others = append(others, f)
			}
		}
	}
	return append(typeErrors, others...)
}

// withoutDetails removes the rules and the source line from descriptions of errors.
func withoutDetails(errors []string) []string {
	out := make([]string, len(errors))
	for i, text := range errors {
		out[i], _, _ = strings.Cut(text, "\n")
		out[i], _, _ = strings.Cut(out[i], " [")
	}
	return out
}

// criterionGroup contains what the command of the criterion printed when it failed on the tree
// that the agent starts from.
func (e Evidence) criterionGroup() Group {
	g := Group{Title: "The command that decides whether the loop is done failed, and printed at its end", Unit: "output"}
	decision := e.History.Iterations[e.History.Previous.Iteration].Decision
	hasFailed := decision != nil && decision.Criterion != nil && !*decision.Criterion
	if hasFailed && decision.CriterionOutput != "" {
		g.Facts = []string{decision.CriterionOutput}
	}
	return g
}

// untestedGroup lists the changed lines that no test executes, the longest runs first.
func (e Evidence) untestedGroup() Group {
	c := e.History.Iterations[e.History.Previous.Iteration].ChangeCoverage
	g := Group{Title: "Changed lines that no test executes", Unit: "untested part"}
	if short := c.Shortfall(); short != "" {
		g.Title += fmt.Sprintf(" (at least %g %% of the changed lines must be tested)", c.Min)
	}
	type part struct {
		file string
		metric.Span
	}
	var parts []part
	for _, f := range c.Changed() {
		for _, s := range f.Untested().Spans() {
			parts = append(parts, part{f.Path, s})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.Last-b.First, a.Last-a.First) })
	for _, p := range parts {
		text := p.file + ":" + string(metric.NewLineSet([]metric.Span{p.Span}))
		for n := p.First; n <= min(p.Last, p.First+briefLines-1); n++ {
			text += e.sourceText(p.file, n)
		}
		g.Facts = append(g.Facts, text)
	}
	return g
}

// survivorsGroup lists the faults in changed lines that no test notices, those of conditions and results
// first.
func (e Evidence) survivorsGroup() Group {
	g := Group{Title: "No test fails when one of these changed lines changes (a test that fails then belongs to the task)", Unit: "change that no test notices"}
	m := e.History.Iterations[e.History.Previous.Iteration].ChangeMutants
	if m == nil {
		return g
	}
	list := slices.Clone(m.Survivors)
	rank := func(s ledger.ChangeSurvivor) int {
		return slices.Index(mutation.Operators(), mutation.Operator(s.Operator))
	}
	slices.SortStableFunc(list, func(a, b ledger.ChangeSurvivor) int { return rank(a) - rank(b) })
	for _, s := range list {
		g.Facts = append(g.Facts, fmt.Sprintf("%s:%d: %s", s.File, s.Line, s.Change()))
	}
	for _, x := range m.Findings {
		if x.Rule != detector.ChangeUnguarded {
			g.Facts = append([]string{x.Why}, g.Facts...)
		}
	}
	return g
}

// notesGroup lists the agent's own notes. Without any, it mentions the file of the notes only
// if a later iteration may read them.
func (e Evidence) notesGroup() Group {
	g := Group{Unit: "line of notes", Title: "Your notes, in the file $" + agent.NotesEnv + " (change it for later iterations; lines that begin with \"lesson:\" outlive one that is rolled back)"}
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

// earlierGroup summarizes the earlier iterations, the latest first.
func (e Evidence) earlierGroup() Group {
	g := Group{Title: "Earlier iterations", Unit: "iteration"}
	for _, it := range slices.Backward(e.History.Iterations) {
		if it.Number > 0 {
			g.Facts = append(g.Facts, summarizeIteration(it, e.History.Rejected != nil && e.History.Rejected.Number == it.Number))
		}
	}
	return g
}

// summarizeIteration says what an iteration changed, how it ended, and why it was rolled back.
// For the iteration of [Evidence.refusedGroup], the reason is left out.
func summarizeIteration(it ledger.Iteration, isRefused bool) string {
	outcome := "kept, " + it.Assessment.Class.String()
	switch {
	case it.Interrupted:
		outcome = "interrupted, rolled back"
	case isRefused, it.Rejected:
		outcome = "rolled back"
		showsReason := func(a detector.Alert) bool { return a.CountsAtLeast(detector.High) && !a.IsAboutHiddenTests() }
		if i := slices.IndexFunc(it.Assessment.Alerts, showsReason); i >= 0 && !isRefused {
			outcome += ": " + textstream.Truncate(it.Assessment.Alerts[i].Message(), maxLine)
		}
	}
	text := fmt.Sprintf("%d: %s; ", it.Number, outcome)
	var names []string
	for _, c := range it.Changed {
		names = append(names, c.Kind+" "+c.Path)
	}
	text += cmp.Or(joinNames(names), "nothing was changed")
	if it.Agent != nil {
		if lastOutput := firstLines(it.Agent.LastOutput); lastOutput != "" {
			text += "\nyou said: " + lastOutput
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

// firstLines returns the first lines of a message that are not blank.
func firstLines(text string) string {
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

// RemainingLimits describes what remains of a loop's limits. iterations is how many iterations
// may follow the current one.
func RemainingLimits(iterations int, b event.Budget, now time.Time) (out []string) {
	switch {
	case iterations == 1:
		out = append(out, "1 more iteration after this one")
	case iterations > 1:
		out = append(out, fmt.Sprintf("%d more iterations after this one", iterations))
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
