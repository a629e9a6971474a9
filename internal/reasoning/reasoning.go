// Package reasoning collects the chain of reasoning of a verdict on an iteration, for the reports
// that explain it. It uses only recorded values and decides nothing.
//
// [NewChain] returns the chain in five steps: the goal, which says what was compared; the reports
// that were read (extraction.go); the rules that fired or came near (steps.go); what was unusual
// (exception.go); and the result (synthesis.go). override.go adds how a person can decide
// otherwise.
package reasoning

import (
	"cmp"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// Input is a recorded iteration with what it was judged by.
type Input struct {
	Iteration ledger.Iteration
	Previous  *ledger.Iteration // whose tree it started from; nil for the baseline
	Baseline  ledger.Iteration  // the zero Iteration when there is none
	Criterion string            // when the task is done
	Rules     detector.Options  // the loop's own, with its overrides
	Proof     *ledger.Proof     // of the selected tree; nil if it was not measured again
}

// Chain is the reasoning about one iteration, in five steps, and how to override
// it.
type Chain struct {
	LoopID     string      `json:"loop_id"`
	Iteration  int         `json:"iteration"`
	Goal       Goal        `json:"goal"`
	Extraction Extraction  `json:"extraction"`
	Reasoning  Reasoning   `json:"reasoning"`
	Exceptions []Exception `json:"exceptions"`
	Synthesis  Synthesis   `json:"synthesis"`
	Overrides  []Override  `json:"overrides"`
	// Proof is what is known about the tree; nil unless it was selected and measured again.
	Proof *ledger.Proof `json:"proof,omitempty"`
}

// Goal says what was compared with what, and towards which end.
type Goal struct {
	Current   Side   `json:"current"`
	Previous  *Side  `json:"previous,omitempty"` // nil for the baseline
	Baseline  *Side  `json:"baseline,omitempty"` // nil for the baseline, or if there is none
	Assumed   bool   `json:"assumed,omitempty"`  // it is an assumption that Previous is the start
	Criterion string `json:"criterion,omitempty"`
	Mode      string `json:"mode"`
	Strict    bool   `json:"strict"` // lost tests were not explained
	Rules     int    `json:"rules"`  // how many rules could fire
}

// Side is one of the trees that are compared.
type Side struct {
	Iteration int    `json:"iteration"`
	Snapshot  string `json:"snapshot,omitempty"` // as commands name it
}

// MaxNames is how many tests or files are named at one place.
const MaxNames = 25

// Names are the names of tests or files, and how many more there are.
type Names struct {
	List []string `json:"names"`
	More int      `json:"more,omitempty"`
}

// Len returns how many there are, named or not.
func (n Names) Len() int { return len(n.List) + n.More }

// NamesOf cuts a list of names down to [MaxNames].
func NamesOf(list []string) Names {
	n := min(len(list), MaxNames)
	return Names{List: list[:n:n], More: len(list) - n}
}

// namesOfTests is [NamesOf] for tests.
func namesOfTests(ids []metric.ID) Names {
	n := Names{List: make([]string, 0, min(len(ids), MaxNames)), More: max(0, len(ids)-MaxNames)}
	for _, id := range ids[:len(ids)-n.More] {
		n.List = append(n.List, id.String())
	}
	return n
}

// NewChain returns the chain of reasoning about an iteration.
func NewChain(in Input) Chain {
	c := Chain{
		LoopID: in.Iteration.LoopID, Iteration: in.Iteration.Number,
		Goal: newGoal(in), Extraction: newExtraction(in.Iteration), Reasoning: newReasoning(in), Synthesis: newSynthesis(in),
	}
	c.Exceptions = findExceptions(in)
	c.Overrides = newOverrides(in)
	if in.Proof != nil && in.Proof.Iteration == in.Iteration.Number {
		c.Proof = in.Proof
	}
	return c
}

// PreviousIteration returns the number of the iteration from whose tree iteration n started, -1 for
// the baseline. its are all iterations by number, the baseline first.
func PreviousIteration(its []ledger.Iteration, n int) int {
	previous := -1
	for _, it := range its {
		switch {
		case it.Number == n && it.Recorded != nil && it.Recorded.StartedFrom != nil:
			return *it.Recorded.StartedFrom
		case it.Number >= n:
			return previous
		case !it.Rejected:
			previous = it.Number
		case it.Decision != nil && it.Decision.Target > 0:
			previous = it.Decision.Target
		}
	}
	return previous
}

// newGoal returns what was compared with what.
func newGoal(in Input) Goal {
	g := Goal{Current: newSide(in.Iteration), Criterion: in.Criterion, Strict: in.Rules.Strict, Mode: string(cmp.Or(in.Rules.Mode, detector.ModeStandard))}
	for _, r := range detector.Rules() {
		if canFire(in.Rules, r) {
			g.Rules++
		}
	}
	if in.Iteration.Number == 0 {
		return g
	}
	if in.Baseline.LoopID != "" {
		baseline := newSide(in.Baseline)
		g.Baseline = &baseline
	}
	if in.Previous != nil {
		previous := newSide(*in.Previous)
		g.Previous, g.Assumed = &previous, in.Iteration.Recorded != nil && in.Iteration.Recorded.StartedFrom == nil
	}
	return g
}

func newSide(it ledger.Iteration) Side { return Side{it.Number, snapshotName(string(it.Snapshot))} }

// snapshotName returns the name of a snapshot in commands: "s12" for "12", "" for none.
func snapshotName(id string) string {
	if id == "" {
		return ""
	}
	return "s" + id
}

// canFire reports whether the rule can fire at all.
func canFire(o detector.Options, r detector.Rule) bool {
	_, previous := o.Limit(r, detector.AgainstPrevious)
	_, baseline := o.Limit(r, detector.AgainstBaseline)
	return previous || r.Baseline && baseline
}

// SourceOfSelection is why the best iteration is chosen, and not the last.
const SourceOfSelection = "Self-Refine (REF-015; Madaan et al., 2023): quality can fall while an agent continues"

// Source returns the origin of a rule, for its findings in reports.
func Source(rule string) string {
	r, _ := detector.FindRule(rule)
	return cmp.Or(r.Source, "docs/rules.md")
}
