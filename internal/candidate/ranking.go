package candidate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"supervise/internal/ledger"
	"supervise/metric"
)

// rankCandidates returns the candidates with the best first, and explains the rank of each. The
// candidates that did the task come first. Among them, the first criterion by which two differ
// decides.
func rankCandidates(list []ledger.Rank) []ledger.Rank {
	list = slices.Clone(list)
	usable := usableCriteria(list)
	slices.SortStableFunc(list, func(a, b ledger.Rank) int {
		switch {
		case a.Eligible && !b.Eligible:
			return -1
		case !a.Eligible && b.Eligible:
			return 1
		}
		_, order := decidingCriterion(usable, a, b)
		return cmp.Or(order, cmp.Compare(a.Candidate, b.Candidate))
	})
	for i := range list {
		list[i].Chosen = i == 0 && list[i].Eligible
		list[i].Why = explainRank(usable, list, i)
	}
	return list
}

// criterion is a number by which candidates are compared, and its description in a sentence. A
// higher value is better, so values of which less is better are negative. A criterion that is
// unknown (nil) for one of the candidates is not used.
type criterion struct {
	value    func(ledger.Rank) *float64
	describe func(ledger.Rank) string
}

// criteria lists the criteria, the most important first: tests of the others that pass, killed
// mutants, score, changed lines, cost, and tokens.
var criteria = []criterion{
	{agreement, func(s ledger.Rank) string {
		if s.Agreement == nil {
			return "no test of the others counts against it"
		}
		return fmt.Sprintf("%.0f %% of the others' tests pass on it", 100**agreement(s))
	}},
	{func(s ledger.Rank) *float64 { return s.MutationScore }, func(s ledger.Rank) string {
		return fmt.Sprintf("its tests kill %.0f %% of the mutants", 100**s.MutationScore)
	}},
	{func(s ledger.Rank) *float64 { return s.MutantsNoticed }, func(s ledger.Rank) string {
		return fmt.Sprintf("its tests notice %.0f %% of the mutants of its change", 100**s.MutantsNoticed)
	}},
	{func(s ledger.Rank) *float64 { return &s.Score }, func(s ledger.Rank) string { return fmt.Sprintf("score %.1f", 100*s.Score) }},
	{func(s ledger.Rank) *float64 { return new(-float64(s.Lines)) }, func(s ledger.Rank) string { return fmt.Sprintf("%d changed lines", s.Lines) }},
	{func(s ledger.Rank) *float64 { return negated(s.CostUSD) }, func(s ledger.Rank) string { return fmt.Sprintf("cost $%.2f", *s.CostUSD) }},
	{func(s ledger.Rank) *float64 { return negated(s.Tokens) }, func(s ledger.Rank) string { return fmt.Sprintf("%d tokens", *s.Tokens) }},
}

// agreement returns the share of the other candidates' tests that pass, in [0,1]. It is 1 if none
// could be run.
func agreement(s ledger.Rank) *float64 {
	if s.Agreement == nil {
		return new(1.0)
	}
	return s.Agreement
}

// negated returns -*v, nil for nil.
func negated[T int64 | float64](v *T) *float64 {
	if v == nil {
		return nil
	}
	return new(-float64(*v))
}

// usableCriteria returns the criteria that are known for all candidates that did the task.
func usableCriteria(list []ledger.Rank) []criterion {
	return slices.DeleteFunc(slices.Clone(criteria), func(c criterion) bool {
		return slices.ContainsFunc(list, func(s ledger.Rank) bool { return s.Eligible && c.value(s) == nil })
	})
}

// decidingCriterion returns the first criterion by which two candidates differ, and -1 or 1 as
// [cmp.Compare] does for the order in the ranking. If none differs, it returns nil and 0.
func decidingCriterion(usable []criterion, a, b ledger.Rank) (decides *criterion, order int) {
	if !a.Eligible || !b.Eligible {
		return nil, 0
	}
	for i := range usable {
		if x, y := roundScore(usable[i].value(a)), roundScore(usable[i].value(b)); x != y {
			return &usable[i], cmp.Compare(y, x)
		}
	}
	return nil, 0
}

// roundScore rounds a value to four decimals, so that rounding errors do not decide.
func roundScore(v *float64) float64 { return math.Round(*v*1e4) / 1e4 }

// explainRank says why candidate i of the list has its rank, compared with its neighbor: the next
// one for the first candidate, and the previous one for all others.
func explainRank(usable []criterion, list []ledger.Rank, i int) string {
	candidate, neighbor := list[i], list[max(i-1, 0)]
	switch {
	case !candidate.Eligible:
		return candidate.Text
	case i == 0 && (len(list) < 2 || !list[1].Eligible):
		return "the only one that did the task"
	case i == 0:
		neighbor = list[1]
	}
	c, _ := decidingCriterion(usable, candidate, neighbor)
	if c == nil {
		return fmt.Sprintf("as good as candidate %d", neighbor.Candidate)
	}
	return fmt.Sprintf("%s; candidate %d: %s", c.describe(candidate), neighbor.Candidate, c.describe(neighbor))
}

// addCrossResults adds the results of the cross-check to the ranking. codeHash has a hash of the
// product code of each candidate, because candidates with equal code have one vote together. On a
// red baseline, whose failing tests are the task, a test that passes may assert what is to be
// fixed: it counts only if it passes on most others.
func addCrossResults(list []ledger.Rank, results crossResults, codeHash map[int]string, isRed bool) {
	for i := range list {
		s := &list[i]
		for id, passes := range results[s.Candidate][0] {
			if !passes {
				continue
			}
			s.OwnPassingBefore++
			if passed, failed := results[s.Candidate].votes(id, codeHash); isRed && failed >= passed {
				results[s.Candidate].discard(id)
			}
		}
	}

	disputed := map[int]map[metric.ID]bool{}
	for author, outcomes := range results {
		if results.isContradicted(author) {
			disputed[author] = disputedTests(outcomes, codeHash)
		}
	}
	for i := range list {
		s := &list[i]
		s.OwnDisputed = len(disputed[s.Candidate])
		if s.Eligible {
			addAgreement(s, results, disputed)
		}
	}
}

// addAgreement sets s.Agreement to the share of the other candidates' tests that pass on the code
// of s, as the mean over their authors. It also sets s.Failed to the failing tests by author.
func addAgreement(s *ledger.Rank, results crossResults, disputed map[int]map[metric.ID]bool) {
	var sum float64
	var authors int
	for _, author := range slices.Sorted(maps.Keys(results)) {
		passed, failed := countOutcomes(results[author][s.Candidate], disputed[author])
		if passed+len(failed) == 0 {
			continue
		}
		authors++
		sum += float64(passed) / float64(passed+len(failed))
		if len(failed) > 0 {
			if s.Failed == nil {
				s.Failed = map[int][]string{}
			}
			s.Failed[author] = failed
		}
	}
	if authors > 0 {
		s.Agreement = new(sum / float64(authors))
	}
}

// isContradicted reports whether a test of another candidate fails on the code of this one.
func (r crossResults) isContradicted(candidate int) bool {
	for _, runs := range r {
		for _, passes := range runs[candidate] {
			if !passes {
				return true
			}
		}
	}
	return false
}

// disputedTests returns the tests of one candidate that fail on the code of at least two others,
// and on more of them than they pass on. Such tests may be wrong.
func disputedTests(runs authorResults, codeHash map[int]string) map[metric.ID]bool {
	disputed := map[metric.ID]bool{}
	for _, outcomes := range runs {
		for id := range outcomes {
			if passed, failed := runs.votes(id, codeHash); failed >= 2 && failed > passed {
				disputed[id] = true
			}
		}
	}
	return disputed
}

// votes counts the others on whose code a test passes and fails. Equal code has one vote; the
// baseline has none, since new tests should fail there.
func (r authorResults) votes(id metric.ID, codeHash map[int]string) (passed, failed int) {
	votes := map[bool]map[string]bool{true: {}, false: {}}
	for candidate, outcomes := range r {
		if passes, ran := outcomes[id]; ran && candidate != 0 {
			votes[passes][codeHash[candidate]] = true
		}
	}
	return len(votes[true]), len(votes[false])
}

// discard removes a test from all results.
func (r authorResults) discard(id metric.ID) {
	for _, outcomes := range r {
		delete(outcomes, id)
	}
}

// countOutcomes counts the tests that passed, and returns the sorted names of those that failed.
// Disputed tests do not count.
func countOutcomes(outcomes testOutcomes, disputed map[metric.ID]bool) (passed int, failed []string) {
	for id, passes := range outcomes {
		switch {
		case disputed[id]:
		case passes:
			passed++
		default:
			failed = append(failed, id.String())
		}
	}
	slices.Sort(failed)
	return passed, failed
}
