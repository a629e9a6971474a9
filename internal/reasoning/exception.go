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

// exceptionFinders find the exceptions, in the order of the report.
var exceptionFinders = []func(Input) []Exception{
	severeFindings, runExceptions, gapExceptions, suiteExceptions, notRunTests, flakyTests, variationExceptions, erosionExceptions, acknowledgedFindings, ruleOverrides, trajectoryExceptions,
}

// findExceptions returns all exceptions; the list is never nil.
func findExceptions(in Input) []Exception {
	out := []Exception{}
	for _, find := range exceptionFinders {
		out = append(out, find(in)...)
	}
	return out
}

// exceptionf returns one exception with a formatted text.
func exceptionf(kind, format string, args ...any) []Exception {
	return []Exception{{Kind: kind, Text: fmt.Sprintf(format, args...)}}
}

// testException returns one exception about tests, none if there are no tests.
func testException(kind, text string, ids []metric.ID) []Exception {
	if len(ids) == 0 {
		return nil
	}
	n := namesOfTests(ids)
	return []Exception{{Kind: kind, Text: text, Tests: &n}}
}

// severeFindings returns the alerts of the iteration that are HIGH or CRITICAL.
func severeFindings(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Severity >= detector.High {
			out = append(out, exceptionf("regression", "%s %s: %s", a.Severity, a.Type, a.Message())...)
		}
	}
	return out
}

// runExceptions returns what was unusual in the run of the iteration.
func runExceptions(in Input) (out []Exception) {
	it := in.Iteration
	if it.Interrupted {
		out = append(out, exceptionf("interrupted", "The loop was interrupted before the iteration could be judged")...)
	}
	if it.Resumed {
		out = append(out, exceptionf("resumed", "supervise ended in this iteration and resumed it later; its times are not reliable")...)
	}
	if it.Reused {
		out = append(out, exceptionf("reused", "No check ran: the same tree was measured before, and its results are used")...)
	}
	if a := it.Agent; a != nil && (a.Cause != "exited" || a.ExitCode != 0 || a.Signal != "") {
		end := fmt.Sprintf("status %d", a.ExitCode)
		if a.Signal != "" {
			end = "signal " + a.Signal
		}
		out = append(out, exceptionf("agent_ended", "The agent failed (%s, %s); its changes were judged", strings.ReplaceAll(a.Cause, "_", " "), end)...)
	}
	if it.Agent != nil && len(it.Changed) == 0 && !it.Interrupted {
		out = append(out, exceptionf("unchanged", "The agent changed nothing")...)
	}
	return out
}

// gapExceptions returns the sections that were not measured.
func gapExceptions(in Input) (out []Exception) {
	for _, g := range in.Iteration.Set.Gaps {
		out = append(out, exceptionf("partial", "%s %s: %s; rules that need it did not fire", g.Section, g.State, g.Why)...)
	}
	return out
}

// suiteExceptions returns the broken suites, whose known tests keep their last state.
func suiteExceptions(in Input) (out []Exception) {
	t := in.Iteration.Set.Tests
	if t == nil {
		return nil
	}
	for i, s := range t.Broken {
		if i == MaxNames {
			return append(out, exceptionf("suite_broken", "and %d more suites could not run", len(t.Broken)-i)...)
		}
		out = append(out, exceptionf("suite_broken", "Suite %s could not run (%s); its known tests count as failed, not as deleted", s.Name, s.MainError())...)
	}
	return out
}

func notRunTests(in Input) []Exception {
	return testException("not_run", "Known tests that did not run", in.Iteration.Assessment.Changes.NotRun)
}

// flakyTests returns the tests that failed and then passed on the same tree.
func flakyTests(in Input) []Exception {
	var ids []metric.ID
	if t := in.Iteration.Set.Tests; t != nil {
		for _, c := range t.Cases {
			if c.Flaky {
				ids = append(ids, c.ID)
			}
		}
	}
	return testException("flaky", "Failed, and passed when run again on the same tree", ids)
}

// variationExceptions returns the numbers that got worse, but only within their variation between runs.
func variationExceptions(in Input) []Exception {
	var out []Exception
	for _, f := range slices.Sorted(maps.Keys(in.Baseline.Set.Variation)) {
		d := in.Iteration.Assessment.FromPrevious[f]
		if w := in.Baseline.Set.Variation[f]; d*float64(f.Better()) < 0 && math.Abs(d) <= w {
			out = append(out, exceptionf("variation", "%s moved by %s, within its variation of %s between runs", f, formatNumber(d), formatNumber(w))...)
		}
	}
	return out
}

// erosionExceptions names what only the comparison with the baseline shows.
func erosionExceptions(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if a.Against == detector.AgainstBaseline {
			out = append(out, exceptionf("erosion", "%s fired against the baseline, not against the previous iteration: small steps added up", a.Rule)...)
		}
	}
	return out
}

// acknowledgedFindings lists what a person had accepted before.
func acknowledgedFindings(in Input) (out []Exception) {
	for _, a := range in.Iteration.Assessment.Alerts {
		if ack := a.Acknowledged; ack != nil {
			out = append(out, exceptionf("acknowledged", "%s %s (finding %s) was acknowledged as %s: %s", ack.Severity, a.Rule, a.ID(), ack.ID, ack.Reason)...)
		}
	}
	return out
}

// ruleOverrides lists what the user changed in the table of rules.
func ruleOverrides(in Input) (out []Exception) {
	if in.Rules.Strict {
		out = append(out, exceptionf("strict", "strict is set: no lost test is explained")...)
	}
	switch in.Rules.Mode {
	case detector.ModeOff:
		out = append(out, exceptionf("mode", "mode is off: no rule applies")...)
	case detector.ModeMinimal:
		out = append(out, exceptionf("mode", "mode is minimal: findings below CRITICAL are not raised")...)
	case detector.ModeStandard, detector.ModeAggressive:
	}
	for _, name := range slices.Sorted(maps.Keys(in.Rules.Rules)) {
		if set := ruleSettings(in.Rules.Rules[name]); len(set) > 0 {
			out = append(out, exceptionf("overridden", "Rule %s is set to %s by the configuration", name, strings.Join(set, ", "))...)
		}
	}
	return out
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

// trajectoryExceptions returns what only several iterations together show: a stall, a cycle, or a
// stuck loop.
func trajectoryExceptions(in Input) (out []Exception) {
	a := in.Iteration.Assessment
	if a.Stall != nil {
		out = append(out, exceptionf("stall", "%s: their scores are within %s", a.Stall.Message(), formatNumber(a.Stall.Range))...)
	}
	if a.Cycle != nil {
		how := "the last metrics repeat earlier ones"
		if a.Cycle.SameTree {
			how = "the same tree is back"
		}
		out = append(out, exceptionf("cycle", "%s: %s", a.Cycle.Message(), how)...)
	}
	if a.Stuck != nil {
		out = append(out, exceptionf("stuck", "Stuck: %s", a.Stuck.Message())...)
	}
	return out
}
