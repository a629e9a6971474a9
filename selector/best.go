package selector

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"supervise/metric"
)

// Candidate is an iteration that can be chosen. Candidates are given in the
// order of their iterations.
type Candidate struct {
	Iteration       int
	Score           float64     // in [0,1]; valid when Scored
	Scored          bool        // false: nothing of it could be measured
	Set             *metric.Set // nil for a score from another tool, which is compared plainly
	Verified        bool
	Critical        bool // has a CRITICAL alert that is not resolved
	HasOpenFindings bool // findings about integrity are open: it is chosen only where nothing else can be
	Guarded         bool // its tests notice faults in the lines that changed
	EmptyTests      int  // added tests that notice none; they are no progress
	Partial         bool // a planned section could not be measured
	Rejected        bool // was rolled back, or is to be
	StillInPlace    bool // rejected and not rolled back: later iterations are based on it, or there are none
	Baseline        bool
	Balance         *Balance // nil: there is nothing to compare it with
	Tree            string   // identity of its contents; "" if it is not known

	// What it took, for the summary; nil when not known.
	Tokens   *int64
	CostUSD  *float64
	Duration *time.Duration
}

// isEligible reports whether the candidate may be chosen as an iteration.
func (c Candidate) isEligible() bool { return !c.Baseline && !c.Rejected && !c.Critical }

// Mode is how the best iteration is chosen.
type Mode string

// The modes of choice.
const (
	HighestQuality           Mode = "highest_quality"
	HighestQualityVerified   Mode = "highest_quality_verified"
	MostRecentAboveThreshold Mode = "most_recent_above_threshold"
)

// modes is the table of the modes, the default first, each with what it chooses.
var modes = []struct {
	mode    Mode
	chooses string
}{
	{HighestQualityVerified, "the verified iteration with the highest score; if none is verified, the highest unverified one. Superseded iterations are excluded"},
	{HighestQuality, "the iteration with the highest score, verified or not"},
	{MostRecentAboveThreshold, "the latest iteration whose score reaches the threshold; if none does, the highest score"},
}

// ModeNames lists the modes, the default first.
func ModeNames() []string {
	out := make([]string, len(modes))
	for i, m := range modes {
		out[i] = string(m.mode)
	}
	return out
}

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return slices.Contains(ModeNames(), string(m)) }

// OverrideKind is what a human wants instead of the automatic choice.
type OverrideKind string

// The overrides.
const (
	UseBest     OverrideKind = "use_best"     // the automatic choice, confirmed
	UseFinal    OverrideKind = "use_final"    // the last iteration
	UseSpecific OverrideKind = "use_specific" // the iteration named
)

// Override is a human's choice. A reason is mandatory.
type Override struct {
	Kind      OverrideKind `json:"kind"`
	Iteration int          `json:"iteration,omitempty"` // for UseSpecific
	Reason    string       `json:"reason"`
	User      string       `json:"by,omitempty"` // who wants it
}

// Options say how to choose. Thresholds are in [0,1].
type Options struct {
	Mode      Mode    // HighestQualityVerified when empty
	Threshold float64 // acceptable quality
	// CoverageSlack is by how many points coverage may fall in an iteration that
	// supersedes an earlier one. 0 means the default of .5, a negative number
	// none.
	CoverageSlack float64
	Override      *Override
}

// DefaultOptions returns the options of a user who sets nothing.
func DefaultOptions() Options {
	return Options{Mode: HighestQualityVerified, Threshold: .70, CoverageSlack: .5}
}

// Selection is the iteration that was chosen, and why.
type Selection struct {
	Iteration              int                 `json:"selected_iteration"`
	Score                  float64             `json:"quality_score"`
	Final                  int                 `json:"final_iteration"`
	FinalScore             float64             `json:"final_quality"`
	Mode                   Mode                `json:"mode"`
	Threshold              float64             `json:"threshold"`
	Reason                 string              `json:"reason"`
	Verified               bool                `json:"verified"`
	BelowThreshold         bool                `json:"below_threshold,omitempty"`
	NoneVerified           bool                `json:"fell_back,omitempty"`                 // no iteration was verified
	Partial                bool                `json:"partial,omitempty"`                   // only partial ones were eligible
	Unscored               bool                `json:"unscored,omitempty"`                  // nothing of it was measured
	BaselineChosen         bool                `json:"baseline_chosen,omitempty"`           // no iteration was eligible
	OnlyBaseline           bool                `json:"alone,omitempty"`                     // there was nothing but the baseline
	Superseded             []int               `json:"superseded,omitempty"`                // exceeded by later progress
	Ineligible             []int               `json:"ineligible,omitempty"`                // rejected, with a CRITICAL alert, or worse than the baseline
	Worse                  []WorseIteration    `json:"worse_than_baseline,omitempty"`       // those that are ineligible for this reason only
	Costs                  []string            `json:"costs,omitempty"`                     // measured HIGH findings of the selected tree against the baseline
	Tied                   []int               `json:"tied,omitempty"`                      // other trees with the same score
	SkippedForOpenFindings []int               `json:"skipped_for_open_findings,omitempty"` // findings about integrity are open
	Rationale              []string            `json:"rationale"`
	Degradation            *Degradation        `json:"degradation,omitempty"` // nil when the last iteration is the best
	DiminishingReturns     *DiminishingReturns `json:"diminishing_returns,omitempty"`
	Override               *Override           `json:"override,omitempty"`
}

// The errors of [Best].
var (
	ErrNoCandidates = errors.New("there are no iterations to choose from")
	ErrNoEligible   = errors.New("no iteration is eligible and there is no baseline")
	ErrNoReason     = errors.New("an override needs a reason")
	ErrNoIteration  = errors.New("there is no such iteration")
	ErrMode         = errors.New("unknown selection mode")
	ErrOverride     = errors.New("unknown override")
)

// epsilon is how far scores may differ and still be equal.
const epsilon = 1e-9

// Best chooses among the candidates. The baseline is chosen when no iteration is
// eligible: each is rolled back, has a CRITICAL alert, or is worse than it. Of equal scores the
// earlier one is chosen, unless a later tree is other and in nothing worse.
func Best(cands []Candidate, o Options) (Selection, error) {
	o.Mode, o.CoverageSlack = cmp.Or(o.Mode, HighestQualityVerified), cmp.Or(o.CoverageSlack, .5)
	switch {
	case len(cands) == 0:
		return Selection{}, ErrNoCandidates
	case !o.Mode.Valid():
		return Selection{}, fmt.Errorf("%w: %s", ErrMode, o.Mode)
	case o.Override != nil && strings.TrimSpace(o.Override.Reason) == "":
		return Selection{}, ErrNoReason
	}
	p := newPool(cands, o)
	chosen, err := p.choose(cands, o)
	if err != nil {
		return Selection{}, err
	}
	return p.selection(chosen, cands, o), nil
}

// candidatePool is what is left to choose from, and what was left out. Numbers are those of
// iterations.
type candidatePool struct {
	candidates []Candidate // what is left
	ineligible []int
	worse      []WorseIteration // worse than the baseline
	trees      map[string]bool  // the trees of worse
	superseded []int
	open       []int // left out because of open findings
	fellBack   bool  // no candidate is verified
	partial    bool  // no candidate is completely measured
}

// newPool keeps the eligible candidates (those whose tests could be read, if the
// baseline's could), of those the completely measured and
// verified ones if there are any, and of those what is not superseded.
func newPool(cands []Candidate, o Options) candidatePool {
	p := candidatePool{trees: map[string]bool{}}
	tested := slices.ContainsFunc(cands, func(c Candidate) bool { return c.Baseline && c.Set != nil && c.Set.Tests != nil })
	for _, c := range cands {
		eligible, why := c.isEligible() && !(tested && c.isUntested()), ""
		if eligible {
			if why = c.worseReason(cands); why != "" && !p.hasWorseTree(c) {
				p.worse = append(p.worse, WorseIteration{c.Iteration, why})
			}
		}
		switch {
		case eligible && why == "":
			p.candidates = append(p.candidates, c)
		case !c.Baseline:
			p.ineligible = append(p.ineligible, c.Iteration)
		}
	}

	p.skipOpenFindings()
	p.prefer(func(c Candidate) bool { return c.Scored })
	p.partial = !p.prefer(func(c Candidate) bool { return !c.Partial })
	if o.Mode == HighestQualityVerified {
		p.fellBack = !p.prefer(func(c Candidate) bool { return c.Verified })
		p.dropSuperseded(o.CoverageSlack)
		p.dropUnguarded()
	}
	return p
}

// hasWorseTree reports whether the tree of the candidate is among those that are worse already.
func (p *candidatePool) hasWorseTree(c Candidate) bool {
	known := c.Tree != "" && p.trees[c.Tree]
	p.trees[c.Tree] = true
	return known
}

// skipOpenFindings leaves out what findings are open against, unless that is everything.
func (p *candidatePool) skipOpenFindings() {
	candidates := p.candidates
	if !p.prefer(func(c Candidate) bool { return !c.HasOpenFindings }) || len(p.candidates) == len(candidates) {
		return
	}
	for _, c := range candidates {
		if c.HasOpenFindings {
			p.open = append(p.open, c.Iteration)
		}
	}
}

// isUntested reports whether the tests of a measured iteration could not be read. Where
// those of the baseline could, the iteration may be broken, and breaking the tests
// must not pay more than failing them.
func (c Candidate) isUntested() bool { return c.Set != nil && c.Set.Tests == nil }

// prefer keeps the candidates that are good, or all when none is, and reports
// whether there was a good one or nothing to choose from.
func (p *candidatePool) prefer(good func(Candidate) bool) bool {
	preferred := slices.DeleteFunc(slices.Clone(p.candidates), func(c Candidate) bool { return !good(c) })
	if len(preferred) == 0 {
		return len(p.candidates) == 0
	}
	p.candidates = preferred
	return true
}

// dropSuperseded leaves out candidates that later ones supersede: with at least as much progress in
// everything, except for slack points of coverage.
func (p *candidatePool) dropSuperseded(slack float64) {
	later := progressFronts{}
	var remaining []Candidate
	for _, c := range slices.Backward(p.candidates) {
		state, ok := progressOf(c)
		if ok && later.supersede(state, slack) {
			p.superseded = append(p.superseded, c.Iteration)
		} else {
			remaining = append(remaining, c)
		}
		if ok {
			later.add(state)
		}
	}
	slices.Reverse(remaining)
	slices.Reverse(p.superseded)
	p.candidates = remaining
}

// dropUnguarded leaves out candidates whose change is not guarded by tests where another one has the
// same progress and is: of these the score does not decide.
func (p *candidatePool) dropUnguarded() {
	guarded := map[progress]bool{}
	for _, c := range p.candidates {
		if state, ok := progressOf(c); ok && c.Guarded {
			guarded[state] = true
		}
	}
	p.candidates = slices.DeleteFunc(p.candidates, func(c Candidate) bool {
		state, ok := progressOf(c)
		return ok && !c.Guarded && guarded[state]
	})
}

func (p candidatePool) choose(cands []Candidate, o Options) (Candidate, error) {
	if o.Override != nil && o.Override.Kind != UseBest {
		return applyOverride(cands, *o.Override)
	}
	if len(p.candidates) == 0 {
		if i := slices.IndexFunc(cands, func(c Candidate) bool { return c.Baseline }); i >= 0 {
			return cands[i], nil
		}
		return Candidate{}, ErrNoEligible
	}
	if !p.candidates[0].Scored {
		return p.candidates[len(p.candidates)-1], nil
	}
	if o.Mode == MostRecentAboveThreshold {
		for _, c := range slices.Backward(p.candidates) {
			if c.Score >= o.Threshold-epsilon {
				return c, nil
			}
		}
	}
	return highest(p.candidates), nil
}

// highest returns the candidate with the highest score. Of equals it is the earliest,
// unless a later one has another tree that is in nothing worse: its work was accepted,
// and dropping it gains nothing.
func highest(cands []Candidate) Candidate {
	best := cands[0]
	for _, c := range cands[1:] {
		if c.Score > best.Score+epsilon || c.hasSameScore(best) && c.isAsGoodAs(best) {
			best = c
		}
	}
	return best
}

// hasSameScore reports whether both candidates have scores that are equal.
func (c Candidate) hasSameScore(other Candidate) bool {
	return c.Scored && other.Scored && math.Abs(c.Score-other.Score) <= epsilon
}

// isAsGoodAs reports whether a later candidate has another tree and is worse in nothing.
func (c Candidate) isAsGoodAs(earlier Candidate) bool {
	now, ok1 := progressOf(c)
	old, ok2 := progressOf(earlier)
	return c.Tree != "" && earlier.Tree != "" && c.Tree != earlier.Tree && ok1 && ok2 && now.scale == old.scale && now.isAtLeast(old) &&
		(c.Verified || !earlier.Verified) && (!c.HasOpenFindings || earlier.HasOpenFindings)
}

// tiedWith lists the other iterations to choose from with the score of the chosen one, and
// another tree as far as that is known.
func (p candidatePool) tiedWith(chosen Candidate) []int {
	var out []int
	trees := map[string]bool{chosen.Tree: true, "": false}
	for _, c := range p.candidates {
		if c.Iteration != chosen.Iteration && c.hasSameScore(chosen) && !trees[c.Tree] {
			out = append(out, c.Iteration)
			trees[c.Tree] = c.Tree != ""
		}
	}
	return out
}

// applyOverride returns the candidate that a person chose.
func applyOverride(cands []Candidate, o Override) (Candidate, error) {
	switch o.Kind {
	case UseFinal:
		return cands[len(cands)-1], nil
	case UseSpecific:
		for _, c := range cands {
			if c.Iteration == o.Iteration {
				return c, nil
			}
		}
		return Candidate{}, fmt.Errorf("%w: %d", ErrNoIteration, o.Iteration)
	case UseBest:
	}
	return Candidate{}, fmt.Errorf("%w: %s", ErrOverride, o.Kind)
}

// selection returns the selection of the chosen candidate, with its reasons.
func (p candidatePool) selection(chosen Candidate, cands []Candidate, o Options) Selection {
	final := cands[len(cands)-1]
	c := Selection{
		Iteration: chosen.Iteration, Score: chosen.Score, Final: final.Iteration, FinalScore: final.Score,
		Mode: o.Mode, Threshold: o.Threshold, Verified: chosen.Verified, Partial: chosen.Partial, Unscored: !chosen.Scored,
		BelowThreshold: chosen.Scored && chosen.Score < o.Threshold-epsilon,
		NoneVerified:   p.fellBack, BaselineChosen: chosen.Baseline, OnlyBaseline: chosen.Baseline && len(cands) == 1,
		Superseded: p.superseded, Ineligible: p.ineligible, Worse: p.worse, SkippedForOpenFindings: p.open, Tied: p.tiedWith(chosen), Degradation: FindDegradation(p.withoutSuperseded(cands), p.peak(chosen, o)), Override: o.Override,
		DiminishingReturns: FindDiminishingReturns(cands, SmallGains, SmallGain),
	}
	if chosen.Balance != nil {
		c.Costs = chosen.Balance.Costs
	}
	c.Reason = selectionReason(c)
	c.Rationale = rationale(c, chosen, final)
	return c
}

// peak returns the iteration from which a loss of quality is measured: the chosen one or, if a
// person chose, the one with the highest score.
func (p candidatePool) peak(chosen Candidate, o Options) int {
	if o.Override == nil || len(p.candidates) == 0 {
		return chosen.Iteration
	}
	return highest(p.candidates).Iteration
}

// withoutSuperseded returns the candidates that are not superseded, since a score that fell because
// the work grew is no degradation.
func (p candidatePool) withoutSuperseded(cands []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(cands), func(c Candidate) bool {
		_, superseded := slices.BinarySearch(p.superseded, c.Iteration)
		return superseded
	})
}

// selectionReason returns the reason for a selection in one sentence.
func selectionReason(c Selection) string {
	quality := percent(c.Score)
	text := ""
	switch {
	case c.Override != nil && c.Override.Kind != UseBest:
		return fmt.Sprintf("Chosen manually: %s", c.Override.Reason)
	case c.BaselineChosen && len(c.Worse) > 0:
		last := c.Worse[len(c.Worse)-1]
		return fmt.Sprintf("No iteration was acceptable; iteration %d is worse than the baseline: %s", last.Iteration, last.Why)
	case c.OnlyBaseline:
		return "There is no other iteration"
	case c.BaselineChosen:
		return "No iteration was acceptable"
	case c.Unscored:
		return "Latest iteration; it could not be measured"
	case c.Mode == MostRecentAboveThreshold && !c.BelowThreshold:
		return fmt.Sprintf("Most recent iteration of at least %s: %s", percent(c.Threshold), quality)
	case c.NoneVerified:
		text = fmt.Sprintf("Highest quality (no verified iterations): %s", quality)
	case c.Mode == HighestQualityVerified:
		text = fmt.Sprintf("Highest verified quality: %s", quality)
	default:
		text = fmt.Sprintf("Highest quality: %s", quality)
	}
	if c.BelowThreshold {
		text += fmt.Sprintf(" (below the threshold of %s)", percent(c.Threshold))
	}
	if len(c.Costs) > 0 {
		text += "; it costs: " + strings.Join(c.Costs, "; ")
	}
	return text
}

// percent formats a score as a rounded percentage, but never rounds up to 100%.
func percent(v float64) string {
	n := roundPoints(v)
	if n == 100 && v < 1 {
		n = 99
	}
	return fmt.Sprintf("%d%%", n)
}

// rationale lists the reasons for the choice, from its values.
func rationale(c Selection, chosen, final Candidate) []string {
	var out []string
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}

	if chosen.Set != nil {
		n := chosen.Set.Tests.Counts()
		add(chosen.Set.Tests != nil, "%d of %d tests pass", n.Passed, n.Count)
		coverage, ok := chosen.Set.Value(metric.CoveragePct)
		add(ok, "Coverage is %g%%", math.Round(coverage*10)/10)
		errs, ok := chosen.Set.Value(metric.ErrorCount)
		add(ok, "Error count is %g", errs)
	}

	add(c.Verified, "It is verified")
	add(c.NoneVerified, "No eligible iteration is verified")
	add(c.Partial, "Only a part of it could be measured")
	add(slices.Contains(c.Ineligible, c.Iteration), "It is not eligible by itself: it was rolled back, has a CRITICAL finding, or is worse than the baseline")
	add(len(c.Costs) > 0, "More tests pass than at the baseline, but: %s", strings.Join(c.Costs, "; "))
	for _, w := range c.Worse {
		add(true, "Iteration %d is worse than the baseline: %s", w.Iteration, w.Why)
	}

	add(len(c.Tied) > 0, "As good by its score: %s", joinNumbers(c.Tied))
	add(len(c.Superseded) > 0, "Superseded by later progress: %s", joinNumbers(c.Superseded))
	add(len(c.Ineligible) > 0, "Not eligible (rejected, with a CRITICAL finding, or worse than the baseline): %s", joinNumbers(c.Ineligible))
	add(len(c.SkippedForOpenFindings) > 0, "Passed over, because findings about integrity are open: %s", joinNumbers(c.SkippedForOpenFindings))
	add(chosen.HasOpenFindings, "Findings about integrity are open, and no iteration is without")
	if chosen.Iteration != final.Iteration && chosen.Scored && final.Scored {
		add(true, "Final iteration %d has %s, %+.1f points", final.Iteration, percent(final.Score), 100*(final.Score-chosen.Score))
	}
	if d := c.Degradation; d != nil {
		add(d.Peak == chosen.Iteration, "Quality fell from iteration %d on", d.Started)
	}
	return out
}

// joinNumbers formats numbers as in "1, 2, 5".
func joinNumbers(iterations []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(iterations), "[]"), " ", ", ")
}

// IsVerified reports whether an iteration is proven good: no test fails and at
// least one passes, the run of the tests did not fail outside its tests, the build is
// not broken, no CRITICAL alert is unresolved, and the completion criterion holds
// if there is one (nil: there is none).
func IsVerified(set metric.Set, critical bool, criterion *bool) bool {
	n := set.Tests.Counts()
	broken := set.Build != nil && set.Build.Status == metric.BuildFailure
	passed := set.Tests != nil && set.Tests.Failure == ""
	return passed && n.Failed == 0 && n.Passed > 0 && !broken && !critical && (criterion == nil || *criterion)
}
