package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// MutationResult says how many mutants of the product code a group of changed tests kills,
// in their original and in their current form.
type MutationResult struct {
	Files          []string    `json:"files"`             // the test files, before and after the change
	Tests          []metric.ID `json:"tests,omitempty"`   // the original tests
	Mutants        int         `json:"mutants"`           // how many mutants both versions ran on
	KilledBefore   int         `json:"killed_by_old"`     // how many the original tests kill
	KilledAfter    int         `json:"killed_by_new"`     // how many the current tests kill
	Survivors      []Survivor  `json:"survivors"`         // mutants that only the original tests kill
	NeverKilled    int         `json:"never_killed"`      // how many neither version kills
	Why            string      `json:"why,omitempty"`     // why there is no result, "" if there is one
	OnOldCode      bool        `json:"apart,omitempty"`   // the original tests ran on the old code
	OutOfTime      bool        `json:"stopped,omitempty"` // the time was over before all mutants were run
	AcceptedBefore bool        `json:"found,omitempty"`   // an earlier, accepted iteration weakened the tests
}

// Survivor is a mutant that the original tests killed and the current ones do not.
type Survivor struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function,omitempty"`
	Operator string `json:"operator"`
	Original string `json:"was"`
	Mutated  string `json:"is"`
}

// String returns the mutant in one line.
func (s Survivor) String() string {
	mutated := s.Mutated
	if mutated == "" {
		mutated = "nothing"
	}
	return fmt.Sprintf("%s:%d %s: %s → %s", s.File, s.Line, s.Operator, s.Original, mutated)
}

// IsKnown reports whether the original tests kill any mutant; otherwise nothing can be
// compared.
func (p MutationResult) IsKnown() bool { return p.Why == "" && p.KilledBefore > 0 }

// If there was no time for all mutants, minKillsForLoss is the number of killed mutants
// that proves that the current tests kill none, and minKillsForKept the number that proves
// that they kill as many as before. The second is higher, since few mutants show the loss
// of one test of many, and an agent must gain nothing by slowing the tests down.
const (
	minKillsForLoss = 3
	minKillsForKept = 10
)

// ScoreKept reports whether the tests kill as many mutants as before.
func (p MutationResult) ScoreKept() bool {
	return p.IsKnown() && p.KilledAfter >= p.KilledBefore && (p.KilledBefore >= minKillsForKept || !p.OutOfTime)
}

// ScoreDropped reports whether the tests kill fewer mutants than before.
func (p MutationResult) ScoreDropped() bool { return p.IsKnown() && p.KilledAfter < p.KilledBefore }

// killsNothing reports whether the tests no longer kill any mutant, with enough mutants run
// to prove it.
func (p MutationResult) killsNothing() bool {
	return p.ScoreDropped() && p.KilledAfter == 0 && (p.KilledBefore >= minKillsForLoss || !p.OutOfTime)
}

// String returns the result in words.
func (p MutationResult) String() string {
	switch {
	case p.Why != "":
		return "what the tests notice is not known: " + p.Why
	case p.KilledBefore == 0:
		return fmt.Sprintf("the tests noticed none of %s before either", countMutants(p.Mutants))
	}
	text := fmt.Sprintf("of %s the tests noticed %d before and notice %d now", countMutants(p.Mutants), p.KilledBefore, p.KilledAfter)
	if p.OutOfTime {
		text += " (there was no time for more)"
	}
	return text
}

func countMutants(n int) string {
	if n == 1 {
		return "1 mutant of the code"
	}
	return fmt.Sprintf("%d mutants of the code", n)
}

// MutationScoreDropped is the rule about tests that kill fewer mutants than before.
const MutationScoreDropped = "mutation_score_dropped"

// maxSurvivors is the number of mutants that a finding names.
const maxSurvivors = 5

// mutationScoreDropped makes one finding for each group of tests with a lower score.
func mutationScoreDropped(j *judge, _ comparison, r appliedRule) []finding {
	if j.now.Tests == nil {
		return nil
	}
	var out []finding
	for _, p := range j.in.Mutations {
		isTolerated := float64(p.KilledBefore-p.KilledAfter) <= r.threshold() || p.AcceptedBefore && p.KilledAfter > 0
		if !p.ScoreDropped() || isTolerated || j.isRemovalAllowed(p) {
			continue
		}
		f := finding{severity: High, action: actionOf(High), files: p.Files, values: Values{Why: p.droppedText(), N: len(p.Survivors)}}
		if p.killsNothing() {
			f.severity, f.action = Critical, actionOf(Critical)
		}
		out = append(out, f)
	}
	return out
}

// isRemovalAllowed reports whether tests are gone, and the user declared that all of them
// may be removed.
func (j *judge) isRemovalAllowed(p MutationResult) (anyGone bool) {
	for _, id := range p.Tests {
		if _, exists := j.now.Tests.Lookup(id); exists {
			continue
		}
		if j.opts.Strict || !j.removable.matchesTest(id, p.Files...) {
			return false
		}
		anyGone = true
	}
	return anyGone
}

// droppedText returns the result with the first survivors.
func (p MutationResult) droppedText() string {
	var list []string
	for _, s := range p.Survivors[:min(len(p.Survivors), maxSurvivors)] {
		list = append(list, s.String())
	}
	if more := len(p.Survivors) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return p.String() + "; not any more: " + strings.Join(list, "; ")
}

// cleared returns the tests for which findings do not count, with the result that clears
// them: the original test passes on the new code, and the tests kill as many mutants as
// before. If the code is unchanged, an original test that cannot run on it is cleared by
// the mutants of the old code.
func (in Input) cleared() map[metric.ID]MutationResult {
	ended := make(map[metric.ID]Outcome, len(in.Goals))
	for _, g := range in.Goals {
		ended[g.ID] = g.Outcome
	}
	out := map[metric.ID]MutationResult{}
	for _, p := range in.Mutations {
		for _, id := range p.Tests {
			o := ended[id]
			if p.ScoreKept() && (o == Passed || p.OnOldCode && in.ProductUnchanged && o != Failed) {
				out[id] = p
			}
		}
	}
	return out
}

// clearingResult returns a result that clears the tests of a finding in the text. It is false
// unless every affected test is cleared.
func (j *judge) clearingResult(t Tampering) (MutationResult, bool) {
	if len(j.cleared) == 0 || !slices.Contains(clearablePatterns, t.Pattern) {
		return MutationResult{}, false
	}
	var result MutationResult
	cases := j.affectedTests(t)
	for _, c := range cases {
		p, ok := j.cleared[c.ID]
		if !ok {
			return MutationResult{}, false
		}
		result = p
	}
	return result, len(cases) > 0
}
