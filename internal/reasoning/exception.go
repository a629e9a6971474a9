package reasoning

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/metric"
)

// Exception is something unusual that affects how far the verdict can be trusted.
type Exception struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Tests *Names `json:"tests,omitempty"`
}

// exceptionRows find the exceptions, in the order of the report.
var exceptionRows = []func(Input) []Exception{
	regressions, trajectory, partial, broken, notRun, flaky, variation, erosion, acknowledged, overridden, patterns,
}

func exceptions(in Input) []Exception {
	out := []Exception{}
	for _, find := range exceptionRows {
		out = append(out, find(in)...)
	}
	return out
}

func one(kind, format string, args ...any) []Exception {
	return []Exception{{Kind: kind, Text: fmt.Sprintf(format, args...)}}
}

func named(kind, text string, ids []metric.ID) []Exception {
	if len(ids) == 0 {
		return nil
	}
	n := testNames(ids)
	return []Exception{{Kind: kind, Text: text, Tests: &n}}
}

// regressions are the findings that an iteration must not have.
func regressions(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Severity >= detector.High {
			out = append(out, one("regression", "%s %s: %s", a.Severity, a.Type, a.Message())...)
		}
	}
	return out
}

// trajectory are surprises in the run of the iteration.
func trajectory(in Input) (out []Exception) {
	it := in.Iteration
	if it.Interrupted {
		out = append(out, one("interrupted", "The loop was interrupted before the iteration could be judged")...)
	}
	if it.Resumed {
		out = append(out, one("resumed", "supervise ended in this iteration and resumed it later; its times are not reliable")...)
	}
	if it.Reused {
		out = append(out, one("reused", "No check ran: the same tree was measured before, and its results are used")...)
	}
	if a := it.Agent; a != nil && (a.Cause != "exited" || a.ExitCode != 0 || a.Signal != "") {
		end := fmt.Sprintf("status %d", a.ExitCode)
		if a.Signal != "" {
			end = "signal " + a.Signal
		}
		out = append(out, one("agent_ended", "The agent failed (%s, %s); its changes were judged", strings.ReplaceAll(a.Cause, "_", " "), end)...)
	}
	if it.Agent != nil && len(it.Changed) == 0 && !it.Interrupted {
		out = append(out, one("unchanged", "The agent changed nothing")...)
	}
	return out
}

func partial(in Input) (out []Exception) {
	for _, g := range in.Iteration.Set.Gaps {
		out = append(out, one("partial", "%s %s: %s; rules that need it did not fire", g.Section, g.State, g.Why)...)
	}
	return out
}

// broken are the suites whose known tests keep their last state.
func broken(in Input) (out []Exception) {
	t := in.Iteration.Set.Tests
	if t == nil {
		return nil
	}
	for i, s := range t.Broken {
		if i == MaxNames {
			return append(out, one("suite_broken", "and %d more suites could not run", len(t.Broken)-i)...)
		}
		out = append(out, one("suite_broken", "Suite %s could not run (%s); its known tests count as failed, not as deleted", s.Name, s.MainError())...)
	}
	return out
}

func notRun(in Input) []Exception {
	return named("not_run", "Known tests that did not run", in.Iteration.Assessment.Changes.NotRun)
}

// flaky are the tests that failed and then passed on the same tree.
func flaky(in Input) []Exception {
	var ids []metric.ID
	if t := in.Iteration.Set.Tests; t != nil {
		for _, c := range t.Cases {
			if c.Flaky {
				ids = append(ids, c.ID)
			}
		}
	}
	return named("flaky", "Failed, and passed when run again on the same tree", ids)
}

func variation(in Input) []Exception {
	var out []Exception
	for _, f := range slices.Sorted(maps.Keys(in.Baseline.Set.Variation)) {
		d := in.Iteration.Assessment.FromPrevious[f]
		if w := in.Baseline.Set.Variation[f]; d*float64(f.Better()) < 0 && math.Abs(d) <= w {
			out = append(out, one("variation", "%s moved by %s, within its variation of %s between runs", f, number(d), number(w))...)
		}
	}
	return out
}

// erosion names what only the comparison with the baseline shows.
func erosion(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Against == detector.AgainstBaseline {
			out = append(out, one("erosion", "%s fired against the baseline, not against the previous iteration: small steps added up", a.Rule)...)
		}
	}
	return out
}

// acknowledged lists what a person had accepted before.
func acknowledged(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if k := a.Acknowledged; k != nil {
			out = append(out, one("acknowledged", "%s %s (finding %s) was acknowledged as %s: %s", k.Severity, a.Rule, a.ID(), k.ID, k.Reason)...)
		}
	}
	return out
}

// overridden lists what the user changed in the table of rules.
func overridden(in Input) (out []Exception) {
	if in.Rules.Strict {
		out = append(out, one("strict", "strict is set: no lost test is explained")...)
	}
	switch in.Rules.Mode {
	case detector.ModeOff:
		out = append(out, one("mode", "mode is off: no rule applies")...)
	case detector.ModeMinimal:
		out = append(out, one("mode", "mode is minimal: findings below CRITICAL are not raised")...)
	case detector.ModeStandard, detector.ModeAggressive:
	}
	for _, name := range slices.Sorted(maps.Keys(in.Rules.Rules)) {
		if set := settings(in.Rules.Rules[name]); len(set) > 0 {
			out = append(out, one("overridden", "Rule %s is set to %s by the configuration", name, strings.Join(set, ", "))...)
		}
	}
	return out
}

// settings are what a rule is set to.
func settings(r detector.RuleOptions) (set []string) {
	if r.Off || r.Action == detector.Off {
		set = append(set, "off")
	}
	if r.Severity != 0 {
		set = append(set, "severity "+r.Severity.String())
	}
	if r.Threshold != nil {
		set = append(set, "threshold "+number(*r.Threshold))
	}
	if r.Action != "" && r.Action != detector.Off {
		set = append(set, "action "+string(r.Action))
	}
	for _, pattern := range slices.Sorted(maps.Keys(r.Paths)) {
		set = append(set, fmt.Sprintf("%s in %s", number(r.Paths[pattern]), pattern))
	}
	for _, part := range []struct {
		against string
		own     *detector.RuleOptions
	}{{detector.AgainstPrevious, r.Previous}, {detector.AgainstBaseline, r.Baseline}} {
		if part.own != nil {
			for _, text := range settings(*part.own) {
				set = append(set, text+" against the "+part.against)
			}
		}
	}
	return set
}

// patterns are what only several iterations together show.
func patterns(in Input) (out []Exception) {
	a := in.Iteration.Assessment
	if a.Stall != nil {
		out = append(out, one("stall", "%s: their scores are within %s", a.Stall.Message(), number(a.Stall.Range))...)
	}
	if a.Cycle != nil {
		how := "the last metrics repeat earlier ones"
		if a.Cycle.SameTree {
			how = "the same tree is back"
		}
		out = append(out, one("cycle", "%s: %s", a.Cycle.Message(), how)...)
	}
	if a.Stuck != nil {
		out = append(out, one("stuck", "Stuck: %s", a.Stuck.Message())...)
	}
	return out
}
