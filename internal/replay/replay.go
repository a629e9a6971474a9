// Package replay judges again what has happened already: a history of commits, as
// if each were an iteration of a loop, or a recorded loop. It shows how often
// the rules raise false alarms on a project, so that they can be tuned before anything
// depends on them.
//
// A history is measured in a separate checkout, commit by commit; what was
// measured once is kept by tree and not measured again. The user's tree, index
// and refs are never touched.
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
)

// The errors that another command line fixes.
var (
	ErrRange          = errors.New("not a range of commits")
	ErrNothingToJudge = errors.New("nothing to judge")
)

// Options are the circumstances of the replay of a history.
type Options struct {
	Repo     string // a folder of the repository
	Range    string // REV..REV
	Max      int    // how many of the latest commits, 0: all
	Jobs     int    // how many commits are measured at the same time, at least 1
	Setup    string // run by the shell in the checkout before the checks, "" for nothing
	Uncached bool   // measure also what was measured before

	// CachedOnly measures nothing: commits that were not measured before are named
	// and left out.
	CachedOnly bool

	Plan        measure.Plan // for the user's tree; it is moved to the checkout
	Root        string       // the working tree, with Plan.Root in it
	Settings    judge.Settings
	WhatIf      *judge.Settings // also judged by these
	Sensitivity float64         // share of real faults that a rule finds, in (0,1]
	Home        string          // the folder of this tree's loops, see [ledger.Home]
	CheckoutDir string          // a folder for checkouts, outside the tree
	Env         []string        // whose secrets are not stored
	Version     string          // of supervise: another one measures again
	Now         time.Time
	OnProgress  func(Progress) // may be nil; called by one at a time
}

// Progress reports a commit that was measured.
type Progress struct {
	Done, Total int // of those that had to be measured
	Commit      Commit
	Took        time.Duration
	IsRerun     bool   // suspicious tests alone were run again
	IsProof     bool   // original tests and a mutation check were run
	Why         string // it could not be measured
}

// JudgeHistory measures and judges the commits of a range. What a commit did to the tests is
// shown by running the original tests and a mutation check; a commit that cannot be run is
// judged by its texts alone. The error wraps [ErrRange] for a range that is none,
// [ErrNothing] when there is nothing to judge, and the cause of ctx when that ends; what
// was measured until then is kept.
func JudgeHistory(ctx context.Context, o Options) (Report, error) {
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	r := repo{o.Repo}
	list, err := r.commits(ctx, o.Range, o.Max)
	if err != nil {
		return Report{}, err
	}
	o.Plan = unlisted(o.Plan)
	c, err := newCache(filepath.Join(o.Home, "replay"), o.Plan, o.Plan.Root, o.Setup, o.Version)
	if err != nil {
		return Report{}, err
	}
	h := &history{opts: o, repo: r, cache: c, commits: list, entries: map[string]entry{}}
	for _, step := range []func(context.Context) error{h.measure, h.compare, h.prove} {
		if err := step(ctx); err != nil {
			return Report{}, err
		}
	}
	return h.judge()
}

// unlisted returns the plan without the lists of tests, which a loop requests if a known test
// is missing: here every commit would pay for distinguishing hidden tests from lost ones.
func unlisted(p measure.Plan) measure.Plan {
	p.Checks = slices.Clone(p.Checks)
	for i := range p.Checks {
		p.Checks[i].Inventory = nil
	}
	return p
}

// history is a range of commits on its way from git to the verdict.
type history struct {
	opts    Options
	repo    repo
	cache   cache
	commits []Commit // the one before the range first
	entries map[string]entry
	missing int // trees that had to be measured

	measured []pair
	left     []unread
}

// measure fills the entries of all commits.
func (h *history) measure(ctx context.Context) error {
	var missing []Commit
	asked := map[string]bool{}
	for _, c := range h.commits {
		var e entry
		known := h.cache.get(c.tree, &e)
		switch {
		case known && !h.opts.Uncached && (e.Why == "" || h.opts.CachedOnly): // the machine may be the reason
			h.entries[c.tree] = e
		case !asked[c.tree]:
			missing = append(missing, c)
		}
		asked[c.tree] = true
	}
	if h.opts.CachedOnly {
		return nil
	}
	h.missing = len(missing)
	if err := h.measureAll(ctx, missing); err != nil {
		return err
	}
	return h.confirm(ctx)
}

// project is what is checked in the user's working tree.
func (h *history) project() treecopy.Project {
	return treecopy.Project{Root: h.opts.Root, Plan: h.opts.Plan, Setup: h.opts.Setup}
}

// CheckoutDir returns a folder for the checkouts of a replay: below home, unless that
// is in the working tree.
func CheckoutDir(home, root, temp string) string {
	if _, inside := ledger.PathInTree(home, root); inside {
		return filepath.Join(temp, "supervise-replay-"+filepath.Base(ledger.Home(temp, root)))
	}
	return filepath.Join(home, "replay", "checkout")
}
