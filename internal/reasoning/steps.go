package reasoning

import (
	"slices"

	"supervise/detector"
	"supervise/metric"
)

// Reasoning says which rules fired or came near, and what happened to each test.
type Reasoning struct {
	Fired     []Fired     `json:"fired"`
	Near      []NearMiss  `json:"near"`       // rules whose number got worse, within the threshold
	NotJudged []NotJudged `json:"not_judged"` // rules without the number that they need
	Tests     []Group     `json:"tests"`
	Explained []Explained `json:"explained"`
}

// Fired is a rule that fired.
type Fired struct {
	ID       string            `json:"id"` // of the finding, for supervise ack
	Rule     string            `json:"rule"`
	Type     string            `json:"type"`
	Severity detector.Severity `json:"severity"`
	Basis    detector.Basis    `json:"basis"`
	Against  string            `json:"against"`
	Message  string            `json:"message"`
	Values   detector.Values   `json:"values"`
	Tests    Names             `json:"tests"`
	Files    Names             `json:"files"`
	Action   detector.Action   `json:"action"`
	// Acknowledged is set if a person had accepted the finding.
	Acknowledged *detector.Acknowledged `json:"acknowledged,omitempty"`
}

// NearMiss is a rule whose number moved the wrong way, but not beyond its threshold.
type NearMiss struct {
	Rule      string       `json:"rule"`
	Against   string       `json:"against"`
	Field     metric.Field `json:"field"`
	Prev      float64      `json:"prev"`
	Now       float64      `json:"now"`
	Moved     float64      `json:"moved"` // by how much it got worse, above zero, in the unit of the threshold
	Threshold float64      `json:"threshold"`
	Percent   bool         `json:"percent"` // Moved and Threshold are percent of Prev
	Share     float64      `json:"share"`   // Moved as a share of Threshold, up to 1
}

// NotJudged is a rule that could not fire, because a number was not measured.
type NotJudged struct {
	Rule  string       `json:"rule"`
	Field metric.Field `json:"field"`
}

// Group are the tests to which the same thing happened since the previous
// iteration.
type Group struct {
	What  string `json:"change"`
	Tests Names  `json:"tests"`
}

// Explained are lost tests that are no deletion, and why.
type Explained struct {
	By    detector.Explanation `json:"by"`
	Why   string               `json:"why"`
	Tests Names                `json:"tests"` // "m: TestAdd", or "m: TestAdd → m: TestSum"
}

// newReasoning returns which rules fired or came near.
func newReasoning(in Input) Reasoning {
	a := in.Iteration.Assessment
	r := Reasoning{Fired: []Fired{}, Near: []NearMiss{}, NotJudged: []NotJudged{}, Tests: ChangeGroups(a.Changes), Explained: ExplainedLosses(a.Changes)}
	fired := map[string]bool{}
	for _, alert := range a.Alerts {
		r.Fired = append(r.Fired, newFired(alert))
		fired[alert.Rule] = true
	}
	if in.Iteration.Number == 0 {
		return r
	}
	for _, rule := range detector.Rules() {
		if rule.Watch.Field != "" && !fired[rule.Name] && canFire(in.Rules, rule) {
			r.addNearMiss(rule, in)
		}
	}
	return r
}

// newFired returns what is shown of an alert.
func newFired(a detector.Alert) Fired {
	return Fired{
		ID: a.ID(), Rule: a.Rule, Type: a.Type, Severity: a.Severity, Basis: a.Basis, Against: a.Against, Message: a.Message(),
		Values: a.Values, Tests: namesOfTests(a.Tests), Files: NamesOf(a.Files), Action: a.Action,
		Acknowledged: a.Acknowledged,
	}
}

// addNearMiss adds how near a rule came that did not fire: against the previous
// iteration, or else against the baseline.
func (r *Reasoning) addNearMiss(rule detector.Rule, in Input) {
	a := in.Iteration.Assessment
	if _, ok := a.FromPrevious[rule.Watch.Field]; !ok {
		r.NotJudged = append(r.NotJudged, NotJudged{rule.Name, rule.Watch.Field})
		return
	}
	near, ok := newNearMiss(rule, in, detector.AgainstPrevious, a.FromPrevious)
	if !ok && rule.Baseline {
		near, ok = newNearMiss(rule, in, detector.AgainstBaseline, a.FromBaseline)
	}
	if ok {
		r.Near = append(r.Near, near)
	}
}

// newNearMiss returns how near a rule came in one comparison. It is false if its number did not get
// worse, was not measured, or if the rule does not apply.
func newNearMiss(rule detector.Rule, in Input, against string, delta metric.Delta) (NearMiss, bool) {
	w := rule.Watch
	d, ok := delta[w.Field]
	now, measured := in.Iteration.Set.Value(w.Field)
	prev := now - d
	limit, applies := in.Rules.Limit(rule, against)
	n := NearMiss{Rule: rule.Name, Against: against, Field: w.Field, Prev: prev, Now: now, Moved: rule.WorsenedBy(prev, d), Percent: rule.IsPercent(), Threshold: limit}
	if !ok || !measured || !applies || prev < w.Min || n.Moved <= 1e-9 {
		return NearMiss{}, false
	}
	if n.Threshold > 0 {
		n.Share = min(1, n.Moved/n.Threshold)
	}
	return n, true
}

// ChangeGroups returns the tests by what happened to them; groups without any are
// left out.
func ChangeGroups(c detector.TestChanges) []Group {
	out := []Group{}
	for _, g := range []struct {
		what string
		ids  []metric.ID
	}{
		{"New", c.New},
		{"Gone", unexplainedLosses(c)},
		{"Newly failing", c.NewlyFailing},
		{"Newly passing", c.NewlyPassing},
		{"Newly skipped", c.NewlySkipped},
		{"Flaky", c.Flaky},
		{"Did not run", c.NotRun},
	} {
		if len(g.ids) > 0 {
			out = append(out, Group{g.what, namesOfTests(g.ids)})
		}
	}
	return out
}

// unexplainedLosses returns the lost tests without an explanation.
func unexplainedLosses(c detector.TestChanges) []metric.ID {
	explained := make(map[metric.ID]bool, len(c.Explained))
	for _, l := range c.Explained {
		explained[l.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(c.Gone), func(id metric.ID) bool { return explained[id] })
}

// ExplainedLosses returns the explained losses by their explanation, in the order of the
// tests.
func ExplainedLosses(c detector.TestChanges) []Explained {
	out := []Explained{}
	tests := map[detector.Explanation][]string{}
	for _, l := range c.Explained {
		name := l.ID.String()
		if l.Successor != (metric.ID{}) {
			name += " → " + l.Successor.String()
		}
		if tests[l.Explanation] == nil {
			out = append(out, Explained{By: l.Explanation, Why: l.Explanation.String()})
		}
		tests[l.Explanation] = append(tests[l.Explanation], name)
	}
	for i := range out {
		out[i].Tests = NamesOf(tests[out[i].By])
	}
	return out
}
