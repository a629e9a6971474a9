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

// rank orders candidates, the best first: those that did the task, by the tests of the
// others that pass over them, by the power of their own, by score, by size and by cost. It
// says of each why it has its place. A number that is not known decides nothing.
func rank(list []ledger.Rank) []ledger.Rank {
	list = slices.Clone(list)
	by := known(list)
	slices.SortStableFunc(list, func(a, b ledger.Rank) int {
		_, differ := decides(by, a, b)
		return cmp.Or(cmp.Compare(order(a.Eligible), order(b.Eligible)), differ, cmp.Compare(a.Candidate, b.Candidate))
	})
	for i := range list {
		list[i].Chosen = i == 0 && list[i].Eligible
		list[i].Why = place(by, list, i)
	}
	return list
}

func order(eligible bool) int {
	if eligible {
		return 0
	}
	return 1
}

// criterion is one of the things by which candidates are compared: a number, the higher
// the better. Where it is not known of all, it decides nothing.
type criterion struct {
	of   func(ledger.Rank) *float64
	says func(ledger.Rank) string
}

var criteria = []criterion{
	{agreed, func(s ledger.Rank) string {
		return fmt.Sprintf("%.0f %% of the others' tests pass over it", 100**agreed(s))
	}},
	{func(s ledger.Rank) *float64 { return s.MutationScore }, func(s ledger.Rank) string {
		return fmt.Sprintf("its tests notice %.0f %% of the mutants", 100**s.MutationScore)
	}},
	{func(s ledger.Rank) *float64 { return &s.Score }, func(s ledger.Rank) string { return fmt.Sprintf("score %.1f", 100*s.Score) }},
	{func(s ledger.Rank) *float64 { return new(-float64(s.Lines)) }, func(s ledger.Rank) string { return fmt.Sprintf("%d changed lines", s.Lines) }},
	{func(s ledger.Rank) *float64 { return less(s.CostUSD) }, func(s ledger.Rank) string { return fmt.Sprintf("cost $%.2f", *s.CostUSD) }},
	{func(s ledger.Rank) *float64 {
		if s.Tokens == nil {
			return nil
		}
		return new(-float64(*s.Tokens))
	}, func(s ledger.Rank) string { return fmt.Sprintf("%d tokens", *s.Tokens) }},
}

// agreed is the agreement; where no test of others could be run, nothing speaks against it.
func agreed(s ledger.Rank) *float64 {
	if s.Agreement == nil {
		return new(1.0)
	}
	return s.Agreement
}

func less(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return new(-*v)
}

// known are the criteria of which all that did the task have the number.
func known(list []ledger.Rank) []criterion {
	return slices.DeleteFunc(slices.Clone(criteria), func(c criterion) bool {
		return slices.ContainsFunc(list, func(s ledger.Rank) bool { return s.Eligible && c.of(s) == nil })
	})
}

// decides is the first criterion by which two candidates differ, nil for none.
func decides(by []criterion, a, b ledger.Rank) (row *criterion, order int) {
	if !a.Eligible || !b.Eligible {
		return nil, 0
	}
	for i := range by {
		if x, y := rounded(by[i].of(a)), rounded(by[i].of(b)); x != y {
			return &by[i], cmp.Compare(y, x)
		}
	}
	return nil, 0
}

// rounded is a number without what only arithmetic adds.
func rounded(v *float64) float64 { return math.Round(*v*1e4) / 1e4 }

// place says why a candidate has its place: against the next one for the first, against
// the one before for the others.
func place(by []criterion, list []ledger.Rank, i int) string {
	s := list[i]
	if !s.Eligible {
		return s.Text
	}
	against := max(i-1, 0)
	if i == 0 {
		if len(list) < 2 || !list[1].Eligible {
			return "the only one that did the task"
		}
		against = 1
	}
	row, _ := decides(by, list[i], list[against])
	if row == nil {
		return fmt.Sprintf("as good as candidate %d", list[against].Candidate)
	}
	return fmt.Sprintf("%s; candidate %d: %s", row.says(s), list[against].Candidate, row.says(list[against]))
}

// judged adds to the ranking what the tests of the candidates say of each other. code
// identifies the product code of each: the same code has one voice.
func judged(list []ledger.Rank, all crossed, code map[int]string) {
	disputed := map[int]map[metric.ID]bool{}
	for author, runs := range all {
		if all.contradicted(author) {
			disputed[author] = disputes(runs, code)
		}
	}
	for i := range list {
		s := &list[i]
		s.OwnDisputed = len(disputed[s.Candidate])
		for _, passes := range all[s.Candidate][0] {
			if passes {
				s.OwnPassingBefore++
			}
		}
		var sum float64
		var authors int
		for _, author := range slices.Sorted(maps.Keys(all)) {
			passed, failed := counted(all[author][s.Candidate], disputed[author])
			if passed+len(failed) == 0 || !s.Eligible {
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
}

// contradicted reports whether a test of another candidate fails over the code of one.
func (all crossed) contradicted(candidate int) bool {
	for _, runs := range all {
		for _, passes := range runs[candidate] {
			if !passes {
				return true
			}
		}
	}
	return false
}

// disputes are the tests of a candidate that fail over most of the others, and over two at
// least: where the tests of others contradict the candidate too, it may be its own that are
// wrong.
func disputes(runs map[int]result, code map[int]string) map[metric.ID]bool {
	passed, failed := map[metric.ID]map[string]bool{}, map[metric.ID]map[string]bool{}
	for candidate, res := range runs {
		for id, passes := range res {
			votes := failed
			if passes {
				votes = passed
			}
			if votes[id] == nil {
				votes[id] = map[string]bool{}
			}
			votes[id][code[candidate]] = candidate > 0 // over the baseline they are to fail
		}
	}
	out := map[metric.ID]bool{}
	for id, votes := range failed {
		if n := count(votes); n >= 2 && n > count(passed[id]) {
			out[id] = true
		}
	}
	return out
}

func count(votes map[string]bool) (n int) {
	for _, counts := range votes {
		if counts {
			n++
		}
	}
	return n
}

func counted(res result, disputed map[metric.ID]bool) (passed int, failed []string) {
	for id, passes := range res {
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
