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

// prompter writes the prompts of the agent. A prompt has the task, facts about the last results,
// evidence, and reminders whose number depends on the level.
type prompter struct {
	texts *prompt.Texts
	set   *Settings
	past  *judge.History
	// blocked is the command with which the agent reports that it cannot continue, "" if there
	// is none.
	blocked      string
	iterationDir func(n int) (string, error) // returns the folder of an iteration
}

// promptResult is the prompt of an iteration, and what it was made from.
type promptResult struct {
	text     string
	evidence map[string]string // all evidence, by file name
	level    string            // name of the level of the prompt
	why      string            // reason for the level
	points   []string          // the reminders in addition to the task
}

// Text writes the prompt of iteration n. left describes what remains of the loop's limits, and
// hints are texts that a person adds.
func (p *prompter) Text(n int, left, hints []string) (promptResult, error) {
	level, why := p.set.Escalation.LevelFor(p.situation(n))
	if p.set.Level != nil {
		level, why = *p.set.Level, "set by the user"
	}
	f, evidence := p.facts(n), map[string]string(nil)
	if level != prompt.Off && p.set.EvidenceTokens > 0 {
		evidence = p.addEvidence(&f, left)
	}
	for _, hint := range hints {
		f.Task = strings.TrimSpace(f.Task + "\n\n[supervise] A person adds: " + hint)
	}
	text, points, err := p.texts.Prompt(level, f)
	return promptResult{text + p.set.Until.PromptText(), evidence, level.String(), why, points}, err
}

// maxLookBack is how many iterations determine the level of the prompt.
const maxLookBack = 5

// situation summarizes the last iterations. The result determines the level of the next prompt.
func (p *prompter) situation(n int) prompt.Situation {
	out := prompt.Situation{
		Iteration: n, Rejected: p.past.Rejected != nil, OnPlateau: p.onPlateau(), SameErrors: p.sameErrorCount(),
		Circling: p.past.Rejected == nil && p.past.Last().Assessment.Cycle != nil,
	}
	for _, it := range p.past.Iterations[max(1, len(p.past.Iterations)-maxLookBack):] {
		isSetback := it.Rejected || it.Assessment.Class == detector.Regression
		if isSetback && !it.Interrupted {
			out.Setbacks++
		}
	}
	if n := len(p.past.Accepted); n >= 3 {
		a, b, c := p.past.Accepted[n-3], p.past.Accepted[n-2], p.past.Accepted[n-1]
		areScored := a.Scored && b.Scored && c.Scored
		out.Falling = areScored && a.Score > b.Score && b.Score > c.Score
	}
	return out
}

// onPlateau reports whether quality no longer changes: the last iteration is classified as a
// plateau, or its score differs from the previous one by less than the user's threshold.
func (p *prompter) onPlateau() bool {
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

// sameErrorCount returns how often in a row the error of the last iteration has occurred, 0 if it
// had none. Errors are the same if their fingerprints are.
func (p *prompter) sameErrorCount() (count int) {
	for _, text := range slices.Backward(p.past.Errors) {
		if fingerprint.Of(text) != fingerprint.Of(p.past.Errors[len(p.past.Errors)-1]) {
			break
		}
		count++
	}
	return count
}

// facts returns the values for the prompt of iteration n. They describe the tree that the agent
// starts with.
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

	hidden := p.past.Iterations[p.past.Previous.Iteration].Hidden
	f.Hidden, f.Sealed = hidden.Failing(), len(p.set.Hidden.Sealed)
	if f.Sealed > 0 && p.past.Previous.Iteration > 0 {
		f.SealedIn = hidden.FailingFiles()
	}
	for _, o := range p.past.Iterations[p.past.Previous.Iteration].Open {
		f.Open = append(f.Open, o.Message)
	}

	f.Worse = p.past.CompareWithBaseline(set, p.past.Iterations[p.past.Previous.Iteration].CoverageLosses, p.set.Rules).CostMessages()
	if p.set.Until.Kind == criterion.Never {
		f.Criterion = ""
	}
	if v, ok := set.Value(metric.CoveragePct); ok {
		f.Coverage = strconv.FormatFloat(v, 'f', 1, 64) + "%"
	}
	if v, ok := set.Value(metric.ErrorCount); ok {
		f.Errors = strconv.Itoa(int(v))
	}
	if count := p.sameErrorCount(); count > 0 {
		f.Error = &prompt.Failure{Text: p.past.Errors[len(p.past.Errors)-1], Times: count}
	}

	p.addOutcome(&f)
	return f
}

// addOutcome adds to the facts how the last iteration ended: why it was rejected, or how its tests
// changed.
func (p *prompter) addOutcome(f *prompt.Facts) {
	last := p.past.Iterations[len(p.past.Iterations)-1]
	switch rejected := p.past.Rejected; {
	case rejected != nil:
		f.Rejection = &prompt.Rejection{Iteration: rejected.Number, Advice: rejected.Decision.Advice, Files: p.past.RefusedFiles(*rejected)}
		f.Rejection.Reasons, f.Rejection.Tests = reasonsOf(withoutHiddenTests(rejected.Assessment.Alerts))
	case last.Number > 0:
		f.Changes = testChanges(last.Assessment.Changes)
		if last.Decision != nil {
			f.Note = last.Decision.Advice
		}
	}
}

// addReminder returns the decision about a tool call. If it is a warning about a risk, it has the
// reminder for such calls as well.
func (p *prompter) addReminder(n int, levelName string, d hook.Decision) hook.Decision {
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

// withoutHiddenTests returns the alerts without the tests and files of those about hidden tests.
// The agent may know how many of them fail, but not which.
func withoutHiddenTests(alerts []detector.Alert) []detector.Alert {
	out := slices.Clone(alerts)
	for i := range out {
		if out[i].IsAboutHiddenTests() {
			out[i].Tests, out[i].Files = nil, nil
		}
	}
	return out
}

// testChanges returns the changed tests, grouped by the kind of their change.
func testChanges(c detector.TestChanges) []prompt.Change {
	var out []prompt.Change
	for _, group := range []struct {
		change string
		ids    []metric.ID
	}{{"newly failing", c.NewlyFailing}, {"newly skipped", c.NewlySkipped}, {"did not run", c.NotRun}, {"flaky", c.Flaky}, {"newly passing", c.NewlyPassing}} {
		if len(group.ids) == 0 {
			continue
		}
		change := prompt.Change{What: group.change}
		for _, id := range group.ids {
			change.Tests = append(change.Tests, id.String())
		}
		out = append(out, change)
	}
	return out
}
