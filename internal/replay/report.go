package replay

import (
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/judge"
	"supervise/internal/ledger"
)

// Report is what the replay of a history found.
type Report struct {
	From       string       `json:"from"` // the commit before the range, which is the baseline
	To         string       `json:"to"`
	Total      int          `json:"commits"`  // of the range
	Judged     int          `json:"judged"`   // by their tests, compared with the one before that was measured
	Measured   int          `json:"measured"` // now, not from the cache
	Unmeasured []Unmeasured `json:"unmeasured"`
	Proven     ProofCounts  `json:"proven"`
	Moved      MovedTests   `json:"moved_tests"`
	Rules      []Rate       `json:"rules"`                // over the commits whose tests ran
	TextRules  []Rate       `json:"text_rules,omitempty"` // over those that were judged by text alone
	Commits    []Verdict    `json:"verdicts"`
	WhatIf     *WhatIf      `json:"what_if,omitempty"`
}

// ProofCounts counts the commits by what ran for their verdict in addition to their tests.
type ProofCounts struct {
	Touching        int `json:"touch_tests"` // of those that were judged by their tests
	OriginalTests   int `json:"as_they_were"`
	MutationChecked int `json:"mutation_checked"`
	Untried         int `json:"untried"` // touch tests, which could not be run so
	ByText          int `json:"by_text"` // judged by text alone
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
	RolledBack     bool                    `json:"undone"`  // a loop would restore the tree
	Blocked        bool                    `json:"blocked"` // a merge gate would fail, by default
	Partial        bool                    `json:"partial"`
	TextOnly       string                  `json:"by_text,omitempty"` // why it was judged by text alone
	Untried        string                  `json:"untried,omitempty"` // why original tests of a commit were not run
	Goals          *ledger.Goals           `json:"goals,omitempty"`
	MutationCheck  *ledger.MutationCheck   `json:"power,omitempty"`
}

// Name is the commit or the number of the iteration.
func (v Verdict) Name() string {
	if v.Commit != nil {
		return v.Short()
	}
	return fmt.Sprintf("iteration %d", v.Number)
}

// MovedTests counts the commits that lost tests, all of which were found again: moved,
// renamed or merged. None of those should be CRITICAL.
type MovedTests struct {
	Commits  int                          `json:"commits"`
	Critical int                          `json:"critical"`
	Tests    map[detector.Explanation]int `json:"tests"` // that were lost and explained, in all commits
}

// WhatIf is what other settings change.
type WhatIf struct {
	Changes   []Difference `json:"changes"`
	Rules     []Rate       `json:"rules,omitempty"`
	TextRules []Rate       `json:"text_rules,omitempty"`
	Selection *Reselected  `json:"selection,omitempty"` // of a loop
}

// Difference is two verdicts on the same commit or iteration.
type Difference struct {
	Recorded Verdict `json:"recorded"`
	Replayed Verdict `json:"replayed"`
}

// Reselected is the iteration that was selected, and the one that would be.
type Reselected struct {
	Recorded int `json:"recorded"`
	Replayed int `json:"replayed"`
}

func (h *history) report() Report {
	out := Report{
		Total: len(h.commits) - 1, Judged: max(0, len(h.measured)-1), Measured: h.missing,
		From: h.commits[0].ID, To: h.commits[len(h.commits)-1].ID, Unmeasured: h.unmeasured(),
		Rules: []Rate{}, Commits: []Verdict{},
	}
	out.Proven.ByText = len(h.left)
	for i, p := range h.measured {
		if i == 0 {
			continue
		}
		out.Proven.Touching += one(p.evidence.TouchesTests())
		out.Proven.OriginalTests += one(p.proof.Goals != nil && p.proof.Goals.NotRunReason == "")
		out.Proven.MutationChecked += one(p.proof.Power != nil && len(p.proof.Power.Mutants) > 0)
		out.Proven.Untried += one(p.proof.refused() != "")
	}
	return out
}

// unmeasured are the commits that could not be measured.
func (h *history) unmeasured() []Unmeasured {
	out := []Unmeasured{}
	for p := range h.steps() {
		if p.why != "" {
			out = append(out, Unmeasured{p.commit, p.why})
		}
	}
	return out
}

// verdict is the verdict on a commit.
func (p pair) verdict(v judge.Verdict) Verdict {
	out := verdict(v)
	out.Commit, out.Untried = &p.commit, p.proof.refused()
	for _, a := range out.Alerts {
		out.Blocked = out.Blocked || a.BlocksMerge()
	}
	return out
}

func verdict(v judge.Verdict) Verdict {
	return Verdict{
		Number: v.Number, Class: v.Assessment.Class, Alerts: v.Assessment.Alerts, Goals: v.Goals, MutationCheck: v.MutationCheck,
		Recommendation: v.Assessment.Recommendation, RolledBack: v.Rejected, Partial: v.Set.IsPartial(),
	}
}

// movedTests counts what the detector explained.
func movedTests(res judge.Rejudgement) MovedTests {
	out := MovedTests{Tests: map[detector.Explanation]int{}}
	for _, v := range res.Verdicts {
		tests := v.Assessment.Changes
		for _, l := range tests.Explained {
			out.Tests[l.Explanation]++
		}
		if len(tests.Gone) == 0 || len(tests.Gone) > len(tests.Explained) || slices.ContainsFunc(tests.Explained, gone) {
			continue
		}
		out.Commits++
		out.Critical += one(v.Assessment.HasCritical())
	}
	return out
}

// gone reports whether the test is not to be found anywhere, with good reason.
func gone(l detector.Loss) bool {
	return l.Explanation == detector.SubjectGone || l.Explanation == detector.AddedByLoop
}

// differences pairs the verdicts that differ in what follows from them: the class,
// the alerts or what is recommended.
func differences(was, is []Verdict) []Difference {
	out := []Difference{}
	for i := range min(len(was), len(is)) {
		if !same(was[i], is[i]) {
			out = append(out, Difference{was[i], is[i]})
		}
	}
	return out
}

func same(a, b Verdict) bool {
	r, s := a.Recommendation, b.Recommendation
	return a.Class == b.Class && a.RolledBack == b.RolledBack &&
		r.Action == s.Action && r.Target == s.Target && r.Reason == s.Reason && r.Confidence == s.Confidence &&
		slices.EqualFunc(a.Alerts, b.Alerts, sameAlert)
}

func sameAlert(a, b detector.Alert) bool {
	return a.Rule == b.Rule && a.Severity == b.Severity && a.Basis == b.Basis && a.Action == b.Action && a.Against == b.Against &&
		a.Message() == b.Message() && slices.Equal(a.Tests, b.Tests)
}
