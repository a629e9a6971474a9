package replay

import (
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/judge"
	"supervise/internal/ledger"
)

// Report is the result of the replay of a history.
type Report struct {
	From       string       `json:"from"`     // the commit before the range, which is the baseline
	To         string       `json:"to"`       // the last commit of the range
	Total      int          `json:"commits"`  // number of commits in the range
	Judged     int          `json:"judged"`   // number of commits judged by their tests, each against the last measured one before it
	Measured   int          `json:"measured"` // trees that were measured now and not taken from the cache
	Unmeasured []Unmeasured `json:"unmeasured"`
	Proven     ProofCounts  `json:"proven"`
	Moved      MovedTests   `json:"moved_tests"`
	Rules      []Rate       `json:"rules"`                // rates over the commits whose tests ran
	TextRules  []Rate       `json:"text_rules,omitempty"` // rates over the commits that were judged by text alone
	Commits    []Verdict    `json:"verdicts"`
	WhatIf     *WhatIf      `json:"what_if,omitempty"`
}

// ProofCounts counts the judged commits by what was run for their verdict in addition to their
// tests.
type ProofCounts struct {
	Touching        int `json:"touch_tests"` // commits that touch tests, of those that were judged by their tests
	OriginalTests   int `json:"as_they_were"`
	MutationChecked int `json:"mutation_checked"`
	Untried         int `json:"untried"` // they touch tests, and neither could run
	TextOnly        int `json:"by_text"` // judged by text alone
}

// Unmeasured is a commit whose tests could not be read.
type Unmeasured struct {
	Commit
	Why string `json:"why"`
}

// Verdict is the verdict on a commit, or on an iteration of a loop.
type Verdict struct {
	*Commit
	Number         int                     `json:"iteration"`
	Class          detector.Class          `json:"classification"`
	Alerts         []detector.Alert        `json:"alerts"`
	Recommendation detector.Recommendation `json:"recommendation"`
	RolledBack     bool                    `json:"undone"`            // a loop would restore the tree
	Blocked        bool                    `json:"blocked"`           // a merge gate would fail with its default settings
	Partial        bool                    `json:"partial"`           // some checks have no result
	TextOnly       string                  `json:"by_text,omitempty"` // why it was judged by text alone
	Untried        string                  `json:"untried,omitempty"` // why original tests of a commit were not run
	Goals          *ledger.Goals           `json:"goals,omitempty"`
	MutationCheck  *ledger.MutationCheck   `json:"power,omitempty"`
}

// Name returns the short ID of the commit, or the number of the iteration, as in "iteration 3".
func (v Verdict) Name() string {
	if v.Commit != nil {
		return v.Short()
	}
	return fmt.Sprintf("iteration %d", v.Number)
}

// MovedTests counts the commits in which all missing tests were only moved, renamed or
// merged. None of these commits should be CRITICAL.
type MovedTests struct {
	Commits  int                          `json:"commits"`
	Critical int                          `json:"critical"`
	Tests    map[detector.Explanation]int `json:"tests"` // explained tests in all commits
}

// WhatIf describes how other settings would change the verdicts.
type WhatIf struct {
	Changes   []Difference `json:"changes"`
	Rules     []Rate       `json:"rules,omitempty"`
	TextRules []Rate       `json:"text_rules,omitempty"`
	Selection *Reselected  `json:"selection,omitempty"` // nil for a history, or if the same iteration is selected
}

// Difference has two different verdicts on the same commit or iteration.
type Difference struct {
	Recorded Verdict `json:"recorded"`
	Replayed Verdict `json:"replayed"`
}

// Reselected has the iteration that was selected and the one that the replay selects.
type Reselected struct {
	Recorded int `json:"recorded"`
	Replayed int `json:"replayed"`
}

// newReport returns the report without verdicts and rates.
func (h *historyReplay) newReport() Report {
	out := Report{
		Total: len(h.commits) - 1, Judged: max(0, len(h.pairs)-1), Measured: h.newlyMeasured,
		From: h.commits[0].ID, To: h.commits[len(h.commits)-1].ID, Unmeasured: h.unmeasured(),
		Rules: []Rate{}, Commits: []Verdict{},
	}
	out.Proven.TextOnly = len(h.textOnly)
	for i, p := range h.pairs {
		if i == 0 {
			continue
		}
		out.Proven.Touching += boolToInt(p.evidence.TouchesTests())
		out.Proven.OriginalTests += boolToInt(p.proof.Goals != nil && p.proof.Goals.NotRunReason == "")
		out.Proven.MutationChecked += boolToInt(p.proof.MutationCheck != nil && len(p.proof.MutationCheck.Mutants) > 0)
		out.Proven.Untried += boolToInt(p.proof.refusal() != "")
	}
	return out
}

// unmeasured returns the commits that could not be measured.
func (h *historyReplay) unmeasured() []Unmeasured {
	out := []Unmeasured{}
	for s := range h.steps() {
		if s.unmeasured != "" {
			out = append(out, Unmeasured{s.commit, s.unmeasured})
		}
	}
	return out
}

// toVerdict returns the verdict on a commit.
func (p pair) toVerdict(v judge.Verdict) Verdict {
	out := newVerdict(v)
	out.Commit, out.Untried = &p.commit, p.proof.refusal()
	for _, a := range out.Alerts {
		out.Blocked = out.Blocked || a.BlocksMerge()
	}
	return out
}

// newVerdict converts the verdict of the judge, without what only a commit has.
func newVerdict(v judge.Verdict) Verdict {
	return Verdict{
		Number: v.Number, Class: v.Assessment.Class, Alerts: v.Assessment.Alerts, Goals: v.Goals, MutationCheck: v.MutationCheck,
		Recommendation: v.Assessment.Recommendation, RolledBack: v.Rejected, Partial: v.Set.IsPartial(),
	}
}

// countMovedTests counts the missing tests that the detector explained, and the commits in which
// all missing tests were only moved, renamed or merged.
func countMovedTests(res judge.Rejudgement) MovedTests {
	out := MovedTests{Tests: map[detector.Explanation]int{}}
	for _, v := range res.Verdicts {
		tests := v.Assessment.Changes
		for _, l := range tests.Explained {
			out.Tests[l.Explanation]++
		}
		if len(tests.Gone) == 0 || len(tests.Gone) > len(tests.Explained) || slices.ContainsFunc(tests.Explained, isGone) {
			continue
		}
		out.Commits++
		out.Critical += boolToInt(v.Assessment.HasCritical())
	}
	return out
}

// isGone reports whether the test was deleted with a good reason, and not only moved.
func isGone(l detector.Loss) bool {
	return l.Explanation == detector.SubjectGone || l.Explanation == detector.AddedByLoop
}

// differingVerdicts pairs the verdicts that differ in their class, alerts or recommendation.
func differingVerdicts(was, is []Verdict) []Difference {
	out := []Difference{}
	for i := range min(len(was), len(is)) {
		if !sameVerdict(was[i], is[i]) {
			out = append(out, Difference{was[i], is[i]})
		}
	}
	return out
}

// sameVerdict reports whether two verdicts agree, including the texts of their alerts.
func sameVerdict(a, b Verdict) bool {
	r, s := a.Recommendation, b.Recommendation
	return a.Class == b.Class && a.RolledBack == b.RolledBack &&
		r.Action == s.Action && r.Target == s.Target && r.Reason == s.Reason && r.Confidence == s.Confidence &&
		slices.EqualFunc(a.Alerts, b.Alerts, sameAlert)
}

// sameAlert reports whether two alerts are equal in everything that users see.
func sameAlert(a, b detector.Alert) bool {
	return a.Rule == b.Rule && a.Severity == b.Severity && a.Basis == b.Basis && a.Action == b.Action && a.Against == b.Against &&
		a.Message() == b.Message() && slices.Equal(a.Tests, b.Tests)
}
