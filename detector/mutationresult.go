package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// MutationResult is how many mutants of the product code die by a group of changed tests: as they
// were, and as they are.
type MutationResult struct {
	Files          []string    `json:"files"`             // of tests, before and after
	Tests          []metric.ID `json:"tests,omitempty"`   // as they were
	Mutants        int         `json:"mutants"`           // that both were run over
	KilledBefore   int         `json:"killed_by_old"`     // by the tests as they were
	KilledAfter    int         `json:"killed_by_new"`     // by the tests as they are
	Survivors      []Survivor  `json:"survivors"`         // that died and live now
	NeverKilled    int         `json:"never_killed"`      // that both let live
	Why            string      `json:"why,omitempty"`     // nothing is known
	OnOldCode      bool        `json:"apart,omitempty"`   // the old tests ran over the old code
	OutOfTime      bool        `json:"stopped,omitempty"` // the time was over before all mutants were run
	AcceptedBefore bool        `json:"found,omitempty"`   // an earlier iteration, which was accepted, was found to have lost it
}

// Survivor is a mutant that the tests do not notice any more.
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
	is := s.Mutated
	if is == "" {
		is = "nothing"
	}
	return fmt.Sprintf("%s:%d %s: %s → %s", s.File, s.Line, s.Operator, s.Original, is)
}

// IsKnown reports whether the tests as they were notice anything: without that nothing can
// be compared.
func (p MutationResult) IsKnown() bool { return p.Why == "" && p.KilledBefore > 0 }

// minNoticed and minKept are how many mutants prove that tests notice nothing any more, or
// as much as before, where there was no time for all. One test of many that is gone shows
// by few of the mutants, and an agent that slows tests down must gain nothing by that.
const (
	minNoticed = 3
	minKept    = 10
)

// ScoreKept reports whether the tests notice as much as before.
func (p MutationResult) ScoreKept() bool {
	return p.IsKnown() && p.KilledAfter >= p.KilledBefore && (p.KilledBefore >= minKept || !p.OutOfTime)
}

// ScoreDropped reports whether they notice less.
func (p MutationResult) ScoreDropped() bool { return p.IsKnown() && p.KilledAfter < p.KilledBefore }

// gone reports whether nothing is noticed any more. Where there was no time for all
// mutants, others may be.
func (p MutationResult) gone() bool {
	return p.ScoreDropped() && p.KilledAfter == 0 && (p.KilledBefore >= minNoticed || !p.OutOfTime)
}

// String says the result in words.
func (p MutationResult) String() string {
	switch {
	case p.Why != "":
		return "what the tests notice is not known: " + p.Why
	case p.KilledBefore == 0:
		return fmt.Sprintf("the tests noticed none of %s before either", mutants(p.Mutants))
	}
	text := fmt.Sprintf("of %s the tests noticed %d before and notice %d now", mutants(p.Mutants), p.KilledBefore, p.KilledAfter)
	if p.OutOfTime {
		text += " (there was no time for more)"
	}
	return text
}

func mutants(n int) string {
	if n == 1 {
		return "1 mutant of the code"
	}
	return fmt.Sprintf("%d mutants of the code", n)
}

// MutationScoreDropped is the rule about tests that notice less than before.
const MutationScoreDropped = "mutation_score_dropped"

// maxSurvivors is how many mutants a finding names.
const maxSurvivors = 5

// mutationScoreDropped makes one finding of each group of tests that notices less than before.
func mutationScoreDropped(j *judge, _ comparison, r row) []finding {
	if j.now.Tests == nil {
		return nil
	}
	var out []finding
	for _, p := range j.in.Mutations {
		if !p.ScoreDropped() || float64(p.KilledBefore-p.KilledAfter) <= r.threshold() || p.AcceptedBefore && p.KilledAfter > 0 || j.mayGo(p) {
			continue
		}
		f := finding{severity: High, action: actionOf(High), files: p.Files, values: Values{Why: p.lost(), N: len(p.Survivors)}}
		if p.gone() {
			f.severity, f.action = Critical, actionOf(Critical)
		}
		out = append(out, f)
	}
	return out
}

// mayGo reports whether tests are gone, and the user declared that they may be removed.
func (j *judge) mayGo(p MutationResult) (gone bool) {
	for _, id := range p.Tests {
		if _, there := j.now.Tests.Lookup(id); there {
			continue
		}
		if j.opts.Strict || !j.removable.test(id, p.Files...) {
			return false
		}
		gone = true
	}
	return gone
}

// lost says what is not noticed any more.
func (p MutationResult) lost() string {
	var list []string
	for _, s := range p.Survivors[:min(len(p.Survivors), maxSurvivors)] {
		list = append(list, s.String())
	}
	if more := len(p.Survivors) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return p.String() + "; not any more: " + strings.Join(list, "; ")
}

// cleared returns the result that takes the weight of findings about a test away: as it
// was, it passes over the new code, and the tests notice as much as before. A test that
// cannot run over the new code, which is the old one, is cleared by what it noticed there.
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

// clearedBy returns the result that clears all of the tests of a finding in the texts.
func (j *judge) clearedBy(t Tampering) (MutationResult, bool) {
	if len(j.cleared) == 0 || !slices.Contains(clearable, t.Pattern) {
		return MutationResult{}, false
	}
	var by MutationResult
	cases := j.cases(t)
	for _, c := range cases {
		p, ok := j.cleared[c.ID]
		if !ok {
			return MutationResult{}, false
		}
		by = p
	}
	return by, len(cases) > 0
}
