package loop

import (
	"slices"
	"strconv"

	"supervise/detector"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/judge"
	"supervise/internal/prompt"
	"supervise/metric"
)

// prompt writes the text of the iteration and tells of its level.
func (s *session) prompt(w *work) (string, error) {
	level, why := s.opts.Escalation.For(s.situation(w.it.Number))
	if s.opts.Level != nil {
		level, why = *s.opts.Level, "set by the user"
	}
	from := ""
	if n := len(s.state.Levels); n > 0 {
		from = s.state.Levels[n-1].To
	}
	s.state.Level, w.it.Level, w.it.LevelReason = level.String(), level.String(), why
	text, points, err := s.texts.Text(level, s.facts(w.it.Number))
	if err == nil && from != level.String() {
		err = s.event(event.LevelChanged, w.it.Number, event.LevelChange{From: from, To: level.String(), Why: why})
	}
	if err != nil {
		return "", err
	}
	return text, s.event(event.IterationStarted, w.it.Number, event.AgentStart{Max: s.opts.MaxIterations, Level: level.String(), Why: why, Points: points})
}

// lookBack is how many iterations the level of the prompt follows from.
const lookBack = 5

// situation is what the level of the next iteration follows from.
func (s *session) situation(n int) prompt.Situation {
	out := prompt.Situation{
		Iteration: n, Rejected: s.past.Rejected != nil, Plateau: s.standsStill(), Repeated: s.repeated(),
	}
	for _, it := range s.past.Iterations[max(1, len(s.past.Iterations)-lookBack):] {
		if !it.Interrupted && (it.Rejected || it.Assessment.Class == detector.Regression) {
			out.Setbacks++
		}
	}
	if k := len(s.past.Accepted); k >= 3 {
		a, b, c := s.past.Accepted[k-3], s.past.Accepted[k-2], s.past.Accepted[k-1]
		out.Falling = a.Scored && b.Scored && c.Scored && a.Score > b.Score && b.Score > c.Score
	}
	return out
}

// standsStill reports whether quality does: the last iteration was a plateau, or
// its score differs from the one before by less than the user's threshold.
func (s *session) standsStill() bool {
	if s.past.Previous.Class == detector.Plateau {
		return true
	}
	k := len(s.past.Accepted)
	if s.opts.PlateauBelow == 0 || k < 2 {
		return false
	}
	a, b := s.past.Accepted[k-2], s.past.Accepted[k-1]
	return a.Scored && b.Scored && max(a.Score-b.Score, b.Score-a.Score) < s.opts.PlateauBelow
}

// repeated is how often the error of the last iteration came in a row, 0 where it
// had none.
func (s *session) repeated() (times int) {
	for i := len(s.past.Errors) - 1; i >= 0 && detector.Fingerprint(s.past.Errors[i]) == detector.Fingerprint(s.past.Errors[len(s.past.Errors)-1]); i-- {
		times++
	}
	return times
}

// facts are the numbers of the tree that the agent starts from.
func (s *session) facts(n int) prompt.Facts {
	set := s.past.Previous.Set
	counts := set.Tests.Counts()
	f := prompt.Facts{
		Task: s.opts.Task, Iteration: n, Max: s.opts.MaxIterations, Criterion: s.opts.Until.String(), Last: n == s.opts.MaxIterations,
		Measured: set.Tests != nil, Passed: counts.Passed, Count: counts.Count, Failing: judge.Failing(set.Tests), Near: counts.Passed > 0 && counts.Failed == 0,
	}
	f.Hidden = s.past.Iterations[s.past.Previous.Iteration].Hidden.Failing()
	for _, o := range s.past.Iterations[s.past.Previous.Iteration].Open {
		f.Open = append(f.Open, o.Message)
	}
	if s.opts.Until.Kind == criterion.Never {
		f.Criterion = ""
	}
	if v, ok := set.Value(metric.CoveragePct); ok {
		f.Coverage = strconv.FormatFloat(v, 'f', 1, 64) + "%"
	}
	if v, ok := set.Value(metric.ErrorCount); ok {
		f.Errors = strconv.Itoa(int(v))
	}
	if times := s.repeated(); times > 0 {
		f.Error = &prompt.Failure{Text: s.past.Errors[len(s.past.Errors)-1], Times: times}
	}
	s.lastTold(&f)
	return f
}

// lastTold adds what became of the last iteration.
func (s *session) lastTold(f *prompt.Facts) {
	last := s.past.Iterations[len(s.past.Iterations)-1]
	switch {
	case s.past.Rejected != nil:
		f.Rejection = &prompt.Rejection{Iteration: s.past.Rejected.Number, Advice: s.past.Rejected.Decision.Advice}
		f.Rejection.Reasons, f.Rejection.Tests = reasonsOf(nameless(s.past.Rejected.Assessment.Alerts))
	case last.Number > 0:
		f.Changes = toldChanges(last.Assessment.Changes)
		if last.Decision != nil {
			f.Note = last.Decision.Advice
		}
	}
}

// beware adds to a warning before a tool call what the level of the iteration has
// to say of it.
func (s *session) beware(levelName string, d hook.Decision) hook.Decision {
	level, err := prompt.ParseLevel(levelName)
	if err != nil || d.Verdict != hook.Warn || len(d.Risks) == 0 {
		return d
	}
	text, err := s.texts.Inject(prompt.RiskyTool, level, prompt.Facts{Iteration: s.state.Iteration}) // the reason names the risk
	if err == nil && text != "" {
		d.Reason += "\n" + text
	}
	return d
}

// nameless takes the tests out of the alerts that are about hidden ones: the agent
// is told how many fail and not which.
func nameless(alerts []detector.Alert) []detector.Alert {
	out := slices.Clone(alerts)
	for i := range out {
		if out[i].Secret() {
			out[i].Tests, out[i].Files = nil, nil
		}
	}
	return out
}

// toldChanges are what the next iteration has to know of what became of which
// test.
func toldChanges(c detector.TestChanges) []prompt.Change {
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
