package reasoning

import (
	"math"

	"supervise/detector"
	"supervise/metric"
)

// Reasoning says which rules fired or came near, and what became of each test.
type Reasoning struct {
	Fired     []Fired     `json:"fired"`
	Near      []Near      `json:"near"`       // moved the wrong way, and not too far
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
	Against  string            `json:"against"`
	Message  string            `json:"message"`
	Values   detector.Values   `json:"values"`
	Tests    Names             `json:"tests"`
	Files    Names             `json:"files"`
	Action   detector.Action   `json:"action"`
	// Acknowledged is set where a person had accepted the finding.
	Acknowledged *detector.Acknowledged `json:"acknowledged,omitempty"`
}

// Near is a rule whose number moved the wrong way, but not beyond its threshold.
type Near struct {
	Rule      string       `json:"rule"`
	Against   string       `json:"against"`
	Field     metric.Field `json:"field"`
	Prev      float64      `json:"prev"`
	Now       float64      `json:"now"`
	Moved     float64      `json:"moved"` // the wrong way, above zero, in the unit of the threshold
	Threshold float64      `json:"threshold"`
	Percent   bool         `json:"percent"` // moved and threshold are per cent of what it was
	Share     float64      `json:"share"`   // of the threshold, up to 1
}

// NotJudged is a rule that could not fire, because a number was not measured.
type NotJudged struct {
	Rule  string       `json:"rule"`
	Field metric.Field `json:"field"`
}

// Group are the tests to which the same thing happened since the previous
// iteration.
type Group struct {
	What  string `json:"what"`
	Tests Names  `json:"tests"`
}

// Explained are lost tests that are no deletion, and why.
type Explained struct {
	By    detector.Explanation `json:"by"`
	Why   string               `json:"why"`
	Tests Names                `json:"tests"` // "m: TestAdd", or "m: TestAdd → m: TestSum"
}

// watch is a rule over one number.
type watch struct {
	rule    string
	field   metric.Field
	wrong   float64 // the direction that fires it: -1 a fall, +1 a rise
	percent bool    // the threshold is in per cent of what it was
	from    float64 // the rule looks only where it was at least this
}

// watched are the rules over one number; it has to say what the detector's rules
// do.
var watched = []watch{
	{rule: "test_count_decreased", field: metric.TestCount, wrong: -1},
	{rule: "working_tests_failing", field: metric.TestsPassed, wrong: -1},
	{rule: "coverage_regression", field: metric.CoveragePct, wrong: -1},
	{rule: "error_increase", field: metric.ErrorCount, wrong: +1},
	{rule: "file_deletion", field: metric.FileCount, wrong: -1},
	{rule: "complexity_explosion", field: metric.Complexity, wrong: +1, percent: true},
	{rule: "coverage_denominator", field: metric.CoverageTotal, wrong: -1, percent: true},
	{rule: "test_time_anomaly", field: metric.TestTime, wrong: -1, percent: true, from: 1000},
}

func reasoning(in Input) Reasoning {
	a := in.It.Assessment
	r := Reasoning{Fired: []Fired{}, Near: []Near{}, NotJudged: []NotJudged{}, Tests: Groups(a.Changes), Explained: Losses(a.Changes)}
	fired := map[string]bool{}
	for _, alert := range a.Alerts {
		r.Fired = append(r.Fired, firedOf(alert))
		fired[alert.Rule] = true
	}
	if in.It.Number == 0 {
		return r
	}
	for _, w := range watched {
		if fired[w.rule] || !applies(in.Rules, ruleOf(w.rule)) {
			continue
		}
		r.look(w, in)
	}
	return r
}

func firedOf(a detector.Alert) Fired {
	return Fired{
		ID: a.ID(), Rule: a.Rule, Type: a.Type, Severity: a.Severity, Against: a.Against, Message: a.Message(),
		Values: a.Values, Tests: testNames(a.Tests), Files: NamesOf(a.Files), Action: a.Action,
		Acknowledged: a.Acknowledged,
	}
}

// look adds what a rule that did not fire has to say: against the previous
// iteration, or else against the baseline.
func (r *Reasoning) look(w watch, in Input) {
	a, rule := in.It.Assessment, ruleOf(w.rule)
	if _, ok := a.FromPrevious[w.field]; !ok {
		r.NotJudged = append(r.NotJudged, NotJudged{w.rule, w.field})
		return
	}
	near, ok := w.near(in, detector.AgainstPrevious, a.FromPrevious)
	if !ok && rule.Baseline {
		near, ok = w.near(in, detector.AgainstBaseline, a.FromBaseline)
	}
	if ok {
		r.Near = append(r.Near, near)
	}
}

func (w watch) near(in Input, against string, delta metric.Delta) (Near, bool) {
	d, ok := delta[w.field]
	now, measured := in.It.Set.Value(w.field)
	prev := now - d
	limit, on := in.Rules.Limit(ruleOf(w.rule), against)
	if !ok || !measured || !on || prev < w.from {
		return Near{}, false
	}
	n := Near{Rule: w.rule, Against: against, Field: w.field, Prev: prev, Now: now, Moved: d * w.wrong, Percent: w.percent, Threshold: limit}
	if w.percent && prev != 0 {
		n.Moved = 100 * n.Moved / math.Abs(prev)
	}
	if n.Moved <= 1e-9 {
		return Near{}, false
	}
	if n.Threshold > 0 {
		n.Share = min(1, n.Moved/n.Threshold)
	}
	return n, true
}

func ruleOf(name string) detector.Rule {
	for _, r := range detector.Rules() {
		if r.Name == name {
			return r
		}
	}
	return detector.Rule{Name: name}
}

// Groups returns the tests by what happened to them; groups without any are
// left out.
func Groups(c detector.TestChanges) []Group {
	out := []Group{}
	for _, g := range []struct {
		what string
		ids  []metric.ID
	}{
		{"New", c.New},
		{"Gone", unexplained(c)},
		{"Newly failing", c.NewlyFailing},
		{"Newly passing", c.NewlyPassing},
		{"Newly skipped", c.NewlySkipped},
		{"Flaky", c.Flaky},
		{"Did not run", c.NotRun},
	} {
		if len(g.ids) > 0 {
			out = append(out, Group{g.what, testNames(g.ids)})
		}
	}
	return out
}

// unexplained are the lost tests that nothing explains.
func unexplained(c detector.TestChanges) []metric.ID {
	known := make(map[metric.ID]bool, len(c.Explained))
	for _, l := range c.Explained {
		known[l.ID] = true
	}
	var out []metric.ID
	for _, id := range c.Gone {
		if !known[id] {
			out = append(out, id)
		}
	}
	return out
}

// Losses returns the explained losses by their explanation, in the order of the
// tests.
func Losses(c detector.TestChanges) []Explained {
	out := []Explained{}
	at := map[detector.Explanation]int{}
	for _, l := range c.Explained {
		i, ok := at[l.By]
		if !ok {
			i = len(out)
			at[l.By] = i
			out = append(out, Explained{By: l.By, Why: l.By.String(), Tests: Names{List: []string{}}})
		}
		e := &out[i].Tests
		if len(e.List) == MaxNames {
			e.More++
			continue
		}
		name := l.ID.String()
		if l.Into != (metric.ID{}) {
			name += " → " + l.Into.String()
		}
		e.List = append(e.List, name)
	}
	return out
}
