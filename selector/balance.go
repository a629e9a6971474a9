package selector

import (
	"fmt"
	"slices"

	"supervise/metric"
)

// Balance is a tree compared with the one that the user handed over.
type Balance struct {
	Passing, Failing int      // how many more tests pass and fail
	Costs            []string // measured HIGH findings against that tree
	Settled          int      // tests that no longer need to exist or pass, so that the scores are about different tests
	Since            int      // number of the iteration that is compared with: the baseline, or a later one that a person approved
	Approved         bool     // a person kept the iteration in spite of its losses
}

// WorseIteration is an iteration whose tree is worse than the user's.
type WorseIteration struct {
	Iteration int    `json:"iteration"`
	Why       string `json:"why"`
}

// minScoreSlack is how much lower the score may be if no more tests pass. It may be lower by its
// variation between runs, if that is more.
const minScoreSlack = .02

// worseReason returns why the candidate is worse than the tree that the user handed over, "" if it
// is not. It is worse if fewer tests pass or more fail. If as many pass, it is worse with a
// measured HIGH finding or a lower score.
func (c Candidate) worseReason(cands []Candidate) string {
	b := c.Balance
	switch {
	case b == nil || b.Approved:
		return ""
	case b.Failing > 0:
		return fmt.Sprintf("%s more", countTests(b.Failing, "fails", "fail"))
	case b.Passing < 0:
		return fmt.Sprintf("%s less", countTests(-b.Passing, "passes", "pass"))
	case b.Passing > 0:
		return ""
	case len(b.Costs) > 0:
		return "no more tests pass, and: " + b.Costs[0]
	}
	i := slices.IndexFunc(cands, func(o Candidate) bool { return o.Iteration == b.Since })
	if i < 0 || b.Settled > 0 || !cands[i].Scored || !c.Scored || !sameSections(cands[i].Set, c.Set) {
		return ""
	}
	if fall := cands[i].Score - c.Score; fall > max(minScoreSlack, cands[i].scoreVariation())+epsilon {
		return fmt.Sprintf("no more tests pass, and quality is %.1f points lower", 100*fall)
	}
	return ""
}

// scoreVariation returns by how much the score of the same tree varies between runs, 0 if unknown.
func (c Candidate) scoreVariation() float64 {
	if c.Set == nil {
		return 0
	}
	return c.Set.Variation[metric.QualityScore]
}

// countTests returns a number of tests with its verb: "1 test fails", "3 tests fail".
func countTests(n int, singular, many string) string {
	if n == 1 {
		return "1 test " + singular
	}
	return fmt.Sprintf("%d tests %s", n, many)
}

// sameSections reports whether two scores are about the same sections.
func sameSections(a, b *metric.Set) bool {
	if a == nil || b == nil {
		return a == b
	}
	return (a.Tests == nil) == (b.Tests == nil) && (a.Coverage == nil) == (b.Coverage == nil) && (a.Lint == nil) == (b.Lint == nil) &&
		(a.Build == nil) == (b.Build == nil) && (a.Code == nil) == (b.Code == nil)
}
