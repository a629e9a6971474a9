package judge

import (
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/approval"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

// Decide returns what follows from a verdict, and the state of the recovery after it.
// Nothing follows in a watched session.
func (h *History) Decide(it ledger.Iteration, s Settings) (recovery.Step, recovery.State) {
	if s.IsWatching() {
		return recovery.Step{Move: recovery.Continue, Reason: it.Assessment.Recommendation.Reason, Target: h.Previous.Iteration}, h.Recovery
	}
	return recovery.Next(h.Recovery, h.recoveryCase(it), s.Recovery)
}

// NewDecision returns the record of a step. criterion says whether the completion criterion is
// met, nil if none was checked.
func NewDecision(step recovery.Step, next recovery.State, criterion *bool) *ledger.Decision {
	d := &ledger.Decision{
		Move: string(step.Move), Target: step.Target, Retry: step.Retry, Reason: step.Reason, Advice: step.Advice,
		Criterion: criterion, Retries: next.Retries, Attempts: next.Attempts, SameFinding: next.RepeatedFindings, Strategy: string(step.Strategy), QuestionKind: step.Why,
	}
	for _, p := range step.Phases {
		d.Phases = append(d.Phases, ledger.Phase{Phase: string(p.Phase), At: p.At, Text: p.Text})
	}
	if step.Diagnosis != nil {
		d.Diagnosis = step.Diagnosis.String()
	}
	return d
}

// Unblock adds to the decision about an iteration what follows from the agent's report that it
// cannot continue, and from the answer of a person, nil if no person answered. It does not change
// whether the work is accepted.
func Unblock(it *ledger.Iteration, g *ledger.Approval) {
	d := it.Decision
	if len(it.Blocks()) == 0 || d.Move == string(recovery.Abort) {
		return
	}
	if d.UnblockApproval = g; d.QuestionKind == "" {
		d.QuestionKind = AgentBlocked
	}
	if it.StaysBlocked() {
		d.Move = string(recovery.Escalate)
		return
	}

	reason := ""
	if g.Answer.Reason != "" {
		reason = ": " + g.Answer.Reason
	}

	switch g.Answer.Choice {
	case approval.Abort:
		d.Move, d.Reason = string(recovery.Abort), "the loop is aborted"+reason
	case approval.Approve:
		d.Advice = strings.TrimSpace(d.Advice + " A person agrees that what you named is wrong" + reason + ". You may change it.")
	case approval.Reject:
		d.Advice = strings.TrimSpace(d.Advice + " A person read that you cannot continue, and refused" + reason + ". Continue with the task as it is.")
	}
}

// AgentBlocked is why a person is asked if the agent cannot continue.
const AgentBlocked = "the agent says that it cannot continue"

// ApplyAnswer returns the assessment after a person's answer. After an approval its severe alerts
// count as acknowledged.
func ApplyAnswer(a detector.Assessment, g *ledger.Approval) detector.Assessment {
	if g.Answer.Choice != approval.Approve {
		return a
	}
	return a.WithApproval(g.Answer.Reason)
}

// IsVerified reports whether an iteration is proven good by its tests, by the hidden tests, and by
// the criterion if one was checked, that they execute enough of the change, and has no open findings.
func IsVerified(it ledger.Iteration, criterion *bool) bool {
	return it.Hidden.AllPass() && len(it.Open) == 0 && it.ChangeCoverage.Shortfall() == "" && selector.IsVerified(it.Set, it.Assessment.HasCritical(), criterion)
}

// FailingTests names the tests that fail.
func FailingTests(t *metric.Tests) []string {
	var out []string
	for _, id := range t.Select(metric.Test.Failed) {
		out = append(out, id.String())
	}
	return out
}

// recoveryCase returns what the recovery reads of an iteration, from recorded facts only.
func (h *History) recoveryCase(it ledger.Iteration) recovery.Case {
	c := recovery.Case{Assessment: it.Assessment, Start: h.Previous.Iteration, Paused: it.StartedAt, Now: it.EndedAt}
	if h.Rejected != nil {
		c.Refused = h.Rejected.Assessment.Alerts
	}
	e := recovery.Evidence{Files: len(it.Changed), FailedBefore: h.deletedFailingTests(it.Assessment), Refused: h.RefusedFiles(it)}
	if a := it.Agent; a != nil {
		c.Paused = it.StartedAt.Add(a.Duration)
		e.LastOutput, e.AgentFailed = a.LastOutput, a.ExitCode != 0 || a.Signal != ""
	}
	if code := it.Set.Code; code != nil && code.Added != nil && code.Deleted != nil {
		e.Lines = *code.Added + *code.Deleted
	}
	for _, check := range it.Checks {
		if check.Why != "" {
			e.NotMeasured = append(e.NotMeasured, check.Why)
		}
	}
	recent := h.recentTests(it)
	e.SameFailing, e.Flipping = alwaysFailing(recent), h.flippingTests(recent)
	c.Evidence = e
	return c
}

// deletedFailingTests returns the tests that findings report as deleted and that failed in the tree
// before.
func (h *History) deletedFailingTests(a detector.Assessment) []string {
	var out []string
	for _, alert := range a.Alerts {
		if alert.Type != "test_deletion" || alert.Acknowledged != nil {
			continue
		}
		for _, id := range alert.Tests {
			if t, ok := h.Previous.Set.Tests.Lookup(id); ok && t.Failed() && !slices.Contains(out, id.String()) {
				out = append(out, id.String())
			}
		}
	}
	return out
}

// RefusedFiles lists the files of the findings that undo an iteration: those that they name, or
// else those of the tests that they name. It omits code that the agent has to write differently.
func (h *History) RefusedFiles(it ledger.Iteration) []string {
	var out []string
	for _, alert := range it.Assessment.Alerts {
		if alert.Severity != detector.Critical || alert.Action != detector.AlertAndRollback || alert.Acknowledged != nil || alert.IsAboutHiddenTests() {
			continue
		}
		if alert.Rule == detector.PassesOnlyUnderTest { // in code that the agent has to write
			continue
		}
		out = append(out, alert.Files...)
		if len(alert.Files) == 0 && it.Evidence != nil {
			out = append(out, h.definingFiles(alert.Tests, it)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// definingFiles lists the changed files that defined the tests before. If no definition is known,
// it lists all changed test files that are not new.
func (h *History) definingFiles(tests []metric.ID, it ledger.Iteration) []string {
	var out []string
	for _, d := range it.Evidence.Before {
		cases := detector.Tampering{File: d.File, Test: d.Def.Name}.AffectedTests(h.Previous.Set.Tests, it.Evidence.Before, it.Evidence.Renamed)
		if slices.ContainsFunc(cases, func(c metric.Test) bool { return slices.Contains(tests, c.ID) }) {
			out = append(out, d.File)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, c := range it.Changed {
		if c.Kind != string(snapshot.Added) && slices.Contains(it.Evidence.TestFiles, c.Path) {
			out = append(out, c.Path)
		}
	}
	return out
}

const (
	// minSameFailing is the number of consecutive iterations after which a failing test counts as
	// too hard.
	minSameFailing = 3
	// flipWindow is the number of latest iterations that are searched for tests that alternate
	// between passing and failing, and minFlips how often such a test has to change.
	flipWindow, minFlips = 6, 3
)

// recentTests returns the tests of the latest iterations, at most [flipWindow], oldest first and
// those of it last. It omits the baseline and iterations whose tests could not be read.
func (h *History) recentTests(it ledger.Iteration) []*metric.Tests {
	var out []*metric.Tests
	if it.Set.Tests != nil {
		out = append(out, it.Set.Tests)
	}
	for _, earlier := range slices.Backward(h.Iterations) {
		if len(out) >= flipWindow || earlier.Number == 0 {
			break
		}
		if earlier.Set.Tests != nil && earlier.Number != it.Number {
			out = append(out, earlier.Set.Tests)
		}
	}
	slices.Reverse(out)
	return out
}

// alwaysFailing returns the tests that fail in each of the latest [minSameFailing] iterations.
func alwaysFailing(recent []*metric.Tests) []string {
	if len(recent) < minSameFailing {
		return nil
	}
	same := map[string]bool{}
	for i, tests := range recent[len(recent)-minSameFailing:] {
		now := map[string]bool{}
		for _, name := range FailingTests(tests) {
			now[name] = i == 0 || same[name]
		}
		same = now
	}
	maps.DeleteFunc(same, func(_ string, always bool) bool { return !always })
	return slices.Sorted(maps.Keys(same))
}

// flippingTests returns the tests that alternate between passing and failing, without flaky ones.
func (h *History) flippingTests(recent []*metric.Tests) []string {
	failed := map[metric.ID]bool{}
	for _, tests := range recent {
		for _, t := range tests.Cases {
			if t.Failed() && !h.Flaky[t.ID] {
				failed[t.ID] = true
			}
		}
	}
	var out []string
	for id := range failed {
		if countFlips(recent, id) >= minFlips {
			out = append(out, id.String())
		}
	}
	slices.Sort(out)
	return out
}

// countFlips returns how often a test changed from passing to failing or the reverse.
func countFlips(recent []*metric.Tests, id metric.ID) int {
	n, known, failed := 0, false, false
	for _, tests := range recent {
		t, exists := tests.Lookup(id)
		if !exists {
			continue
		}
		if known && failed != t.Failed() {
			n++
		}
		known, failed = true, t.Failed()
	}
	return n
}
