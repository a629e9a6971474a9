package detector

import (
	"cmp"
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
	Flaky          []metric.ID `json:"flaky,omitempty"`   // original tests that were known to be flaky, and did not run, or had two outcomes on one mutant
	Mutants        int         `json:"mutants"`           // how many mutants both versions ran on
	KilledBefore   int         `json:"killed_by_old"`     // how many the original tests kill
	KilledAfter    int         `json:"killed_by_new"`     // how many the current tests kill
	Survivors      []Survivor  `json:"survivors"`         // mutants that only the original tests kill
	NeverKilled    int         `json:"never_killed"`      // how many neither version kills
	Why            string      `json:"why,omitempty"`     // why there is no result, "" if there is one
	OnOldCode      bool        `json:"apart,omitempty"`   // the original tests ran on the old code
	OutOfTime      bool        `json:"stopped,omitempty"` // the time was over before all mutants were run
	AcceptedBefore bool        `json:"found,omitempty"`   // an earlier, accepted iteration weakened the tests
	// OnlyRemoved says that the change only removes test code. Mutants cannot clear that.
	OnlyRemoved   bool     `json:"only_removed,omitempty"`
	Unreplaced    int      `json:"unreplaced,omitempty"`     // mutants that changed or lost originals kill, and no changed or new test
	MissingInputs []string `json:"missing_inputs,omitempty"` // literals of the originals that no changed or new test has
	TooFew        string   `json:"too_few,omitempty"`        // why fewer than [MinMutants] were run, and what changes that
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
	return fmt.Sprintf("%s:%d %s: %s", s.File, s.Line, s.Operator, s.Change())
}

// Change returns what the mutant changes, as in "a < b → a <= b".
func (s Survivor) Change() string { return s.Original + " → " + cmp.Or(s.Mutated, "nothing") }

// IsKnown reports whether the original tests kill any mutant; otherwise nothing can be
// compared.
func (p MutationResult) IsKnown() bool { return p.Why == "" && p.KilledBefore > 0 }

// MinMutants is the number of mutants without which a result clears nothing: few mutants do not
// show the loss of one test of many.
const MinMutants = 10

// minKillsForLoss is the number of killed mutants that proves that the current tests kill none, if
// there was no time for all mutants.
const minKillsForLoss = 3

// ScoreKept reports whether the tests kill as many mutants as before.
func (p MutationResult) ScoreKept() bool {
	return p.IsKnown() && p.KilledAfter >= p.KilledBefore && (p.Mutants >= MinMutants || !p.OutOfTime)
}

// Clears reports whether the result clears findings about the tests whose originals pass.
func (p MutationResult) Clears() bool {
	return !p.OnlyRemoved && p.KilledAfter >= p.KilledBefore && len(p.lacks()) == 0
}

// lacks returns what is missing for the result to clear findings about the tests, as clauses.
func (p MutationResult) lacks() (out []string) {
	switch {
	case !p.IsKnown():
		out = append(out, p.String())
	case p.Unreplaced > 0 || len(p.Survivors) > 0:
		out = append(out, fmt.Sprintf("what replaces them does not kill %s that they killed", countMutants(max(p.Unreplaced, len(p.Survivors)))))
	case p.Mutants < MinMutants:
		out = append(out, cmp.Or(p.TooFew, fmt.Sprintf("of at least %d mutants only %d were run", MinMutants, p.Mutants)))
	}
	if len(p.MissingInputs) > 0 {
		out = append(out, "no changed or new test has what they checked: "+joinFirst(p.MissingInputs))
	}
	return out
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
	if p.OnlyRemoved {
		text += "; nothing replaces the removed test code, which mutants cannot clear"
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

// clearance is what running tests and mutants shows about a test whose code was changed or removed.
type clearance struct {
	result MutationResult
	open   string // what is missing for the result to clear the test; "" if nothing is
}

// clearances returns the tests that something replaces as far as running shows it: the original
// test passes on the new code, and what replaces it has its inputs and kills the mutants that it
// killed. If the code is unchanged, an original test that cannot run on it is cleared by the mutants
// of the old code. A test for which one of the three is missing is not decided, nor is one for which
// too few mutants were run where the tests did not become fewer. Nor is a flaky test: what it
// killed, it may have killed by chance.
func (in Input) clearances() map[metric.ID]clearance {
	goals := make(map[metric.ID]Goal, len(in.Goals))
	for _, g := range in.Goals {
		goals[g.ID] = g
	}
	out := map[metric.ID]clearance{}
	hasFewer := in.Current.Set.Tests.Counts().Count < in.Previous.Set.Tests.Counts().Count
	for _, p := range in.Mutations {
		p.openFlaky(out)
		if p.showsLoss(hasFewer) {
			continue
		}
		lacks := p.lacks()
		for _, id := range p.Tests {
			g, known := goals[id]
			passed := g.Outcome == Passed || p.OnOldCode && in.ProductUnchanged && g.Outcome != Failed
			switch {
			case passed:
				out[id] = clearance{p, strings.Join(lacks, "; ")}
			case known && g.Outcome != Failed && !g.FailedBefore && len(lacks) == 0:
				out[id] = clearance{p, goalText(g)}
			}
		}
	}
	return out
}

// openFlaky adds the flaky tests that have a replacement, as not decided.
func (p MutationResult) openFlaky(out map[metric.ID]clearance) {
	if p.OnlyRemoved || p.KilledAfter == 0 {
		return
	}
	for _, id := range p.Flaky {
		out[id] = clearance{p, "it was flaky, so that what it noticed may be chance"}
	}
}

// showsLoss reports whether what replaces the tests is known to check less. hasFewer says that there
// are fewer tests than before.
func (p MutationResult) showsLoss(hasFewer bool) bool {
	isDecided := p.IsKnown() && (p.Mutants >= MinMutants || hasFewer)
	return p.OnlyRemoved || p.killsNothing() || isDecided && (p.ScoreDropped() || len(p.lacks()) > 1)
}

// clearanceOf returns what running shows about the tests of a finding in the text. It is false
// unless every affected test has a clearance.
func (j *judge) clearanceOf(t Tampering) (out clearance, ok bool) {
	if len(j.clearances) == 0 || !slices.Contains(clearablePatterns, t.Pattern) {
		return clearance{}, false
	}
	cases := j.affectedTests(t)
	for i, c := range cases {
		p, ok := j.clearances[c.ID]
		if !ok {
			return clearance{}, false
		}
		if i == 0 || p.open != "" {
			out = p
		}
	}
	return out, len(cases) > 0
}

// isOnlyRemoved reports whether the change only removes code of the test that a finding is about,
// although the original test passes. Neither that nor mutants clear it.
func (j *judge) isOnlyRemoved(t Tampering) bool {
	return j.goalFor(t).Outcome == Passed && slices.ContainsFunc(j.in.Mutations, func(p MutationResult) bool {
		return p.OnlyRemoved && slices.ContainsFunc(j.affectedTests(t), func(c metric.Test) bool { return slices.Contains(p.Tests, c.ID) })
	})
}

// RewriteNotDecided is the rule about lost tests of which it is not decided whether others
// replace them.
const RewriteNotDecided = "rewrite_not_decided"

// rewriteNotDecided makes one finding for each group of tests and reason.
func rewriteNotDecided(j *judge, c comparison, r appliedRule) []finding {
	if c.tests == nil {
		return nil
	}
	var out []finding
	for _, l := range c.tests.Explained {
		if l.Explanation != NotDecided {
			continue
		}
		p := j.clearances[l.ID]
		i := slices.IndexFunc(out, func(f finding) bool { return f.values.Why == p.open && slices.Equal(f.files, p.result.Files) })
		if i < 0 {
			i, out = len(out), append(out, finding{files: p.result.Files, values: Values{Why: p.open}})
		}
		out[i].tests = append(out[i].tests, l.ID)
	}
	return r.aboveThreshold(out...)
}
