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

// exceptions is the list of exceptions of an iteration.
type exceptions []Exception

// exceptionFinders add the exceptions, in the order of the report.
var exceptionFinders = []func(*exceptions, Input){
	(*exceptions).addSevereFindings, (*exceptions).addRun, (*exceptions).addGaps, (*exceptions).addSuites, (*exceptions).addNotRun, (*exceptions).addFlaky,
	(*exceptions).addVariation, (*exceptions).addErosion, (*exceptions).addAcknowledged, (*exceptions).addRules, (*exceptions).addTrajectory,
}

// findExceptions returns all exceptions; the list is never nil.
func findExceptions(in Input) []Exception {
	out := exceptions{}
	for _, find := range exceptionFinders {
		find(&out, in)
	}
	return out
}

// add adds an exception with a formatted text.
func (e *exceptions) add(kind, format string, args ...any) {
	*e = append(*e, Exception{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// addTests adds an exception about tests, none if there are no tests.
func (e *exceptions) addTests(kind, text string, ids []metric.ID) {
	if len(ids) > 0 {
		n := namesOfTests(ids)
		*e = append(*e, Exception{Kind: kind, Text: text, Tests: &n})
	}
}

// addSevereFindings adds the alerts of the iteration that are HIGH or CRITICAL.
func (e *exceptions) addSevereFindings(in Input) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Severity >= detector.High {
			e.add("regression", "%s %s: %s", a.Severity, a.Type, a.Message())
		}
	}
}

// addRun adds what was unusual in the run of the iteration.
func (e *exceptions) addRun(in Input) {
	it := in.Iteration
	if it.Interrupted {
		e.add("interrupted", "The loop was interrupted before the iteration could be judged")
	}
	if it.Resumed {
		e.add("resumed", "supervise ended in this iteration and resumed it later; its times are not reliable")
	}
	if it.Reused {
		e.add("reused", "No check ran: the same tree was measured before, and its results are used")
	}
	if a := it.Agent; a != nil && (a.Cause != "exited" || a.ExitCode != 0 || a.Signal != "") {
		end := fmt.Sprintf("status %d", a.ExitCode)
		if a.Signal != "" {
			end = "signal " + a.Signal
		}
		e.add("agent_ended", "The agent failed (%s, %s); its changes were judged", strings.ReplaceAll(a.Cause, "_", " "), end)
	}
	if it.Agent != nil && len(it.Changed) == 0 && !it.Interrupted {
		e.add("unchanged", "The agent changed nothing")
	}
}

// addGaps adds the sections that were not measured.
func (e *exceptions) addGaps(in Input) {
	for _, g := range in.Iteration.Set.Gaps {
		e.add("partial", "%s %s: %s; rules that need it did not fire", g.Section, g.State, g.Why)
	}
}

// addSuites adds the broken suites, whose known tests keep their last state.
func (e *exceptions) addSuites(in Input) {
	if in.Iteration.Set.Tests == nil {
		return
	}
	broken := in.Iteration.Set.Tests.Broken
	for _, s := range broken[:min(len(broken), MaxNames)] {
		e.add("suite_broken", "Suite %s could not run (%s); its known tests count as failed, not as deleted", s.Name, s.MainError())
	}
	if len(broken) > MaxNames {
		e.add("suite_broken", "and %d more suites could not run", len(broken)-MaxNames)
	}
}

// addNotRun adds the known tests that did not run.
func (e *exceptions) addNotRun(in Input) {
	e.addTests("not_run", "Known tests that did not run", in.Iteration.Assessment.Changes.NotRun)
}

// addFlaky adds the tests that failed and then passed on the same tree.
func (e *exceptions) addFlaky(in Input) {
	var ids []metric.ID
	if t := in.Iteration.Set.Tests; t != nil {
		for _, c := range t.Cases {
			if c.Flaky {
				ids = append(ids, c.ID)
			}
		}
	}
	e.addTests("flaky", "Failed, and passed when run again on the same tree", ids)
}

// addVariation adds the numbers that got worse, but only within their variation between runs.
func (e *exceptions) addVariation(in Input) {
	for _, f := range slices.Sorted(maps.Keys(in.Baseline.Set.Variation)) {
		d := in.Iteration.Assessment.FromPrevious[f]
		if w := in.Baseline.Set.Variation[f]; d*float64(f.Better()) < 0 && math.Abs(d) <= w {
			e.add("variation", "%s moved by %s, within its variation of %s between runs", f, formatNumber(d), formatNumber(w))
		}
	}
}

// addErosion adds what only the comparison with the baseline shows.
func (e *exceptions) addErosion(in Input) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Against == detector.AgainstBaseline {
			e.add("erosion", "%s fired against the baseline, not against the previous iteration: small steps added up", a.Rule)
		}
	}
}

// addAcknowledged adds what a person had accepted before.
func (e *exceptions) addAcknowledged(in Input) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if ack := a.Acknowledged; ack != nil {
			e.add("acknowledged", "%s %s (finding %s) was acknowledged as %s: %s", ack.Severity, a.Rule, a.ID(), ack.ID, ack.Reason)
		}
	}
}

// addRules adds what the user changed in the table of rules.
func (e *exceptions) addRules(in Input) {
	if in.Rules.Strict {
		e.add("strict", "strict is set: no lost test is explained")
	}
	switch in.Rules.Mode {
	case detector.ModeOff:
		e.add("mode", "mode is off: no rule applies")
	case detector.ModeMinimal:
		e.add("mode", "mode is minimal: findings below CRITICAL are not raised")
	case detector.ModeStandard, detector.ModeAggressive:
	}
	for _, name := range slices.Sorted(maps.Keys(in.Rules.Rules)) {
		if set := ruleSettings(in.Rules.Rules[name]); len(set) > 0 {
			e.add("overridden", "Rule %s is set to %s by the configuration", name, strings.Join(set, ", "))
		}
	}
}

// ruleSettings describes what the user set for a rule, one text per setting: "threshold 5".
func ruleSettings(r detector.RuleOptions) (set []string) {
	if r.Off || r.Action == detector.Off {
		set = append(set, "off")
	}
	if r.Severity != 0 {
		set = append(set, "severity "+r.Severity.String())
	}
	if r.Threshold != nil {
		set = append(set, "threshold "+formatNumber(*r.Threshold))
	}
	if r.Action != "" && r.Action != detector.Off {
		set = append(set, "action "+string(r.Action))
	}

	for _, pattern := range slices.Sorted(maps.Keys(r.Paths)) {
		set = append(set, fmt.Sprintf("%s in %s", formatNumber(r.Paths[pattern]), pattern))
	}

	for _, part := range []struct {
		against  string
		override *detector.RuleOptions
	}{{detector.AgainstPrevious, r.Previous}, {detector.AgainstBaseline, r.Baseline}} {
		if part.override != nil {
			for _, text := range ruleSettings(*part.override) {
				set = append(set, text+" against the "+part.against)
			}
		}
	}

	return set
}

// addTrajectory adds what only several iterations together show: a stall, a cycle, or a stuck loop.
func (e *exceptions) addTrajectory(in Input) {
	a := in.Iteration.Assessment
	if a.Stall != nil {
		e.add("stall", "%s: their scores are within %s", a.Stall.Message(), formatNumber(a.Stall.Range))
	}
	if a.Cycle != nil {
		how := "the last metrics repeat earlier ones"
		if a.Cycle.SameTree {
			how = "the same tree is back"
		}
		e.add("cycle", "%s: %s", a.Cycle.Message(), how)
	}
	if a.Stuck != nil {
		e.add("stuck", "Stuck: %s", a.Stuck.Message())
	}
}
