// Package replay judges past work again: the commits of a history, as if each were an iteration
// of a loop, or the iterations of a recorded loop. It shows how often the rules raise false
// alarms on a project, so that they can be tuned before they are enforced.
//
// [JudgeHistory] works in four steps. It measures each commit in a separate checkout (measure.go,
// site.go), collects the evidence from the changed files (judge.go, git.go), runs the original
// tests and mutants where that helps (prove.go), and judges all commits (judge.go). Measurements
// are cached by tree (cache.go). The user's tree, index and refs are never changed.
//
// [ReadLoop] and [Recorded.Judge] do the same for a loop, whose measurements are in its folder.
// [Verify] checks that such a folder is complete and has not been changed.
package replay

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/internal/treediff"
)

// Errors that another command line fixes.
var (
	ErrRange          = errors.New("not a range of commits")
	ErrNothingToJudge = errors.New("nothing to judge")
)

// Options are the options of [JudgeHistory].
type Options struct {
	Repo     string // a folder of the repository
	Range    string // as in HEAD~50..HEAD
	Max      int    // number of commits, the latest of the range; 0 for all
	Jobs     int    // how many commits are measured in parallel, at least 1
	Setup    string // shell command that prepares a checkout before the checks, "" for nothing
	Uncached bool   // measure commits that are in the cache as well

	// CachedOnly measures nothing. Commits that are not in the cache are reported as
	// unmeasured.
	CachedOnly bool

	Plan        measure.Plan // plan for the user's tree
	Root        string       // the working tree, with Plan.Root in it
	Settings    judge.Settings
	WhatIf      *judge.Settings // other settings to judge by as well, nil for none
	Sensitivity float64         // share of real faults that a rule finds, in (0,1]
	Home        string          // the folder of this tree's loops, see [ledger.Home]
	CheckoutDir string          // a folder for checkouts, outside the tree
	Env         []string        // its secrets are not stored
	Version     string          // version of supervise; measurements of other versions are not reused
	Now         time.Time
	OnProgress  func(Progress) // may be nil; calls do not overlap
}

// Progress reports a commit that was measured, rerun or proven.
type Progress struct {
	Done, Total int // counts of the commits that have to be measured
	Commit      Commit
	Took        time.Duration
	IsRerun     bool   // only failing tests were rerun
	IsProof     bool   // original tests and a mutation check were run
	Why         string // why it could not be measured, "" if it was
}

// JudgeHistory measures and judges the commits of a range. For commits that change tests, it
// runs the original tests and a mutation check. A commit that cannot run is judged by its
// text alone. The error wraps [ErrRange] for an invalid range, [ErrNothingToJudge], or the
// cause of ctx. All measurements up to an error stay in the cache.
func JudgeHistory(ctx context.Context, o Options) (Report, error) {
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	r := repo{treediff.Repo{Dir: o.Repo}}
	list, err := r.commits(ctx, o.Range, o.Max)
	if err != nil {
		return Report{}, err
	}
	o.Plan = withoutInventories(o.Plan)
	c, err := newCache(filepath.Join(o.Home, "replay"), o.Plan, o.Setup, o.Version)
	if err != nil {
		return Report{}, err
	}
	h := &historyReplay{opts: o, repo: r, cache: c, commits: list, measurements: map[string]measurement{}}
	for _, step := range []func(context.Context) error{h.measureMissing, h.collectEvidence, h.proveAll} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	return h.judge()
}

// withoutInventories returns the plan without the commands that list tests. A loop runs them
// to distinguish hidden tests from lost ones, which is too slow for every commit.
func withoutInventories(p measure.Plan) measure.Plan {
	p.Checks = slices.Clone(p.Checks)
	for i := range p.Checks {
		p.Checks[i].Inventory = nil
	}
	return p
}

// historyReplay is the state of [JudgeHistory].
type historyReplay struct {
	opts          Options
	repo          repo
	cache         cache
	commits       []Commit // the commits of the range, after the one before it
	measurements  map[string]measurement
	newlyMeasured int // number of trees that were not in the cache

	pairs []pair // the measured commits, filled by collectEvidence
	// textOnly are the commits that are judged by their changed text alone, because they could not be
	// measured, or because no commit before them was measured.
	textOnly []pair
}

// measureMissing loads the measurements of all commits from the cache, and measures the trees
// that are missing there, each once.
func (h *historyReplay) measureMissing(ctx context.Context) error {
	var missing []Commit
	seen := map[string]bool{}
	for _, c := range h.commits {
		var m measurement
		isCached := h.cache.load(c.tree, &m) && !h.opts.Uncached
		isUsable := m.Failure == "" || h.opts.CachedOnly // the machine may be the reason for a failure
		switch {
		case isCached && isUsable:
			h.measurements[c.tree] = m
		case !seen[c.tree]:
			missing = append(missing, c)
		}
		seen[c.tree] = true
	}

	if h.opts.CachedOnly {
		return nil
	}
	h.newlyMeasured = len(missing)
	if err := h.measureAll(ctx, missing); err != nil {
		return err
	}
	return h.rerunSuspects(ctx)
}

// project returns the project in the user's working tree.
func (h *historyReplay) project() treecopy.Project {
	return treecopy.Project{Root: h.opts.Root, Plan: h.opts.Plan, Setup: h.opts.Setup}
}

// CheckoutDir returns the folder for the checkouts of a replay. It is below home, or below
// temp if home is in the working tree.
func CheckoutDir(home, root, temp string) string {
	if _, inside := ledger.PathInTree(home, root); inside {
		return filepath.Join(temp, "supervise-replay-"+filepath.Base(ledger.Home(temp, root)))
	}
	return filepath.Join(home, "replay", "checkout")
}
