package loop

import (
	"slices"
	"strconv"
	"strings"

	"supervise/detector"
	"supervise/internal/criterion"
	"supervise/internal/fingerprint"
	"supervise/internal/hook"
	"supervise/internal/judge"
	"supervise/internal/prompt"
	"supervise/metric"
)

// prompter writes the prompts of the agent.
type prompter struct {
	texts *prompt.Texts
	set   *Settings
	past  *judge.History
	// blocked is the command by which the agent says that it cannot go on, "" for none.
	blocked string
	folder  func(n int) (string, error) // of an iteration
}

// prompted is the prompt of an iteration.
type prompted struct {
	text     string
	evidence map[string]string // the facts of the text, whole
	level    string
	why      string
	points   []string // that the prompt makes beside the task
}

// Text writes the prompt of iteration n. left is what is left of the loop's limits, and
// hints are the words of a person.
func (p *prompter) Text(n int, left, hints []string) (prompted, error) {
	level, why := p.set.Escalation.LevelFor(p.situation(n))
	if p.set.Level != nil {
		level, why = *p.set.Level, "set by the user"
	}
	f, evidence := p.facts(n), map[string]string(nil)
	if level != prompt.Off && p.set.EvidenceTokens > 0 {
		evidence = p.brief(&f, left)
	}
	for _, hint := range hints {
		f.Task = strings.TrimSpace(f.Task + "\n\n[supervise] A person adds: " + hint)
	}
	text, points, err := p.texts.Prompt(level, f)
	return prompted{text + p.set.Until.PromptText(), evidence, level.String(), why, points}, err
}

// lookBack is how many iterations the level of the prompt follows from.
const lookBack = 5

// situation is what the level of the next iteration follows from.
func (p *prompter) situation(n int) prompt.Situation {
	out := prompt.Situation{
		Iteration: n, Rejected: p.past.Rejected != nil, OnPlateau: p.stalled(), SameErrors: p.repeated(),
		Circling: p.past.Rejected == nil && p.past.Last().Assessment.Cycle != nil,
	}
	for _, it := range p.past.Iterations[max(1, len(p.past.Iterations)-lookBack):] {
		if !it.Interrupted && (it.Rejected || it.Assessment.Class == detector.Regression) {
			out.Setbacks++
		}
	}
	if k := len(p.past.Accepted); k >= 3 {
		a, b, c := p.past.Accepted[k-3], p.past.Accepted[k-2], p.past.Accepted[k-1]
		out.Falling = a.Scored && b.Scored && c.Scored && a.Score > b.Score && b.Score > c.Score
	}
	return out
}

// stalled reports whether quality no longer changes: the last iteration was a plateau, or
// its score differs from the one before by less than the user's threshold.
func (p *prompter) stalled() bool {
	if p.past.Previous.Class == detector.Plateau {
		return true
	}
	k := len(p.past.Accepted)
	if p.set.PlateauBelow == 0 || k < 2 {
		return false
	}
	a, b := p.past.Accepted[k-2], p.past.Accepted[k-1]
	return a.Scored && b.Scored && max(a.Score-b.Score, b.Score-a.Score) < p.set.PlateauBelow
}

// repeated is how often the error of the last iteration came in a row, 0 where it
// had none.
func (p *prompter) repeated() (times int) {
	for i := len(p.past.Errors) - 1; i >= 0 && fingerprint.Of(p.past.Errors[i]) == fingerprint.Of(p.past.Errors[len(p.past.Errors)-1]); i-- {
		times++
	}
	return times
}

// facts are the numbers of the tree that the agent starts from.
func (p *prompter) facts(n int) prompt.Facts {
	set := p.past.Previous.Set
	counts := set.Tests.Counts()
	f := prompt.Facts{
		Task: p.set.Task, Iteration: n, Max: p.set.MaxIterations, Criterion: p.set.Until.String(), Last: n == p.set.MaxIterations,
		Measured: set.Tests != nil, Passed: counts.Passed, Count: counts.Count, Failed: counts.Failed, Failing: judge.FailingTests(set.Tests), Near: counts.Passed > 0 && counts.Failed == 0,
	}
	f.Blocked = p.blocked
	for _, g := range p.past.Granted() {
		f.Allowed = append(f.Allowed, g.Test.String())
	}
	f.Hidden = p.past.Iterations[p.past.Previous.Iteration].Hidden.Failing()
	for _, o := range p.past.Iterations[p.past.Previous.Iteration].Open {
		f.Open = append(f.Open, o.Message)
	}
	f.Worse = p.past.CompareWithBaseline(set, p.set.Rules).CostMessages()
	if p.set.Until.Kind == criterion.Never {
		f.Criterion = ""
	}
	if v, ok := set.Value(metric.CoveragePct); ok {
		f.Coverage = strconv.FormatFloat(v, 'f', 1, 64) + "%"
	}
	if v, ok := set.Value(metric.ErrorCount); ok {
		f.Errors = strconv.Itoa(int(v))
	}
	if times := p.repeated(); times > 0 {
		f.Error = &prompt.Failure{Text: p.past.Errors[len(p.past.Errors)-1], Times: times}
	}
	p.outcome(&f)
	return f
}

// outcome adds what became of the last iteration.
func (p *prompter) outcome(f *prompt.Facts) {
	last := p.past.Iterations[len(p.past.Iterations)-1]
	switch {
	case p.past.Rejected != nil:
		f.Rejection = &prompt.Rejection{Iteration: p.past.Rejected.Number, Advice: p.past.Rejected.Decision.Advice, Files: p.past.RefusedFiles(*p.past.Rejected)}
		f.Rejection.Reasons, f.Rejection.Tests = reasonsOf(nameless(p.past.Rejected.Assessment.Alerts))
	case last.Number > 0:
		f.Changes = changesOf(last.Assessment.Changes)
		if last.Decision != nil {
			f.Note = last.Decision.Advice
		}
	}
}

// beware adds to a warning before a tool call what the level of the iteration has
// to say of it.
func (p *prompter) beware(n int, levelName string, d hook.Decision) hook.Decision {
	level, err := prompt.ParseLevel(levelName)
	if err != nil || d.Verdict != hook.Warn || len(d.Risks) == 0 {
		return d
	}
	text, err := p.texts.Reminder(prompt.RiskyTool, level, prompt.Facts{Iteration: n}) // the reason names the risk
	if err == nil && text != "" {
		d.Reason += "\n" + text
	}
	return d
}

// nameless takes the tests out of the alerts that are about hidden ones: the agent
// learns how many fail and not which.
func nameless(alerts []detector.Alert) []detector.Alert {
	out := slices.Clone(alerts)
	for i := range out {
		if out[i].IsAboutHiddenTests() {
			out[i].Tests, out[i].Files = nil, nil
		}
	}
	return out
}

// changesOf says what became of which test.
func changesOf(c detector.TestChanges) []prompt.Change {
	var out []prompt.Change
	for _, k := range []struct {
		what string
		ids  []metric.ID
	}{{"newly failing", c.NewlyFailing}, {"newly skipped", c.NewlySkipped}, {"did not run", c.NotRun}, {"flaky", c.Flaky}, {"newly passing", c.NewlyPassing}} {
		if len(k.ids) == 0 {
			continue
		}
		change := prompt.Change{What: k.what}
		for _, id := range k.ids {
			change.Tests = append(change.Tests, id.String())
		}
		out = append(out, change)
	}
	return out
}
