// Package mergegate is the merge gate. It measures the tree that is checked out, finds the
// measurements of its base, and judges the difference by the rules of a loop, as if the change
// were one iteration. Configuration and acknowledgements come from the base: the change under
// review cannot configure its own review.
//
// [Gate] runs these steps: it finds the base (base.go) and its stored record (record.go), measures
// both sides (measure.go, recheck.go), judges them (judge.go, hidden.go, review.go), and compares the metrics
// with their limits (ratchet.go). The result is a [Report] (report.go). It is printed for people
// (text.go), and for GitHub, GitLab and other tools (github.go, exchange.go).
package mergegate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/detector"
	"supervise/internal/checkout"
	"supervise/internal/criterion"
	"supervise/internal/judge"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/metric"
	"supervise/snapshot"
)

// Errors that another command line or another checkout fixes.
var (
	ErrBase         = errors.New("no base")
	ErrUnmeasurable = errors.New("nothing to judge by")
)

// Options are the options of [Gate] and [MeasureRecord].
type Options struct {
	Root         string // the working tree, under git
	Project      string // the folder of the project, in which checks run: Root, or a folder in it
	Base         string // a revision, or the path of a record; "" to find the base
	Setup        string // shell command that prepares a checkout of the base before its checks, "" for nothing
	Remote       string // git remote from which records and bases are fetched, "" to fetch nothing
	TrustRecords bool   // stored records count: only trusted jobs can write them
	State        string // the folder with the state of loops, which the reviewer must not change
	Scratch      string // a folder outside the tree, which the gate deletes

	// Configure returns the settings from the project folder of the base, and the criterion. Their plan
	// is for the project in another folder, the second argument.
	Configure func(base, project string) (judge.Settings, criterion.Criterion, error)

	FailOn FailOn // which findings fail the gate
	// FailOnUnguarded says that mutants of the change that no test notices fail the gate too.
	FailOnUnguarded bool
	OnlyMutants     bool // nothing but mutants of the change is run and judged

	Accept     []string // IDs of findings that Configure accepts; the report names those that no finding has
	Env        []string // its secrets are not stored, and CI variables name the target branch
	Version    string   // version of supervise
	Now        time.Time
	OnProgress func(what string) // may be nil
}

// Gate measures and judges the tree. The error wraps [ErrBase] if there is nothing to compare
// with, [ErrUnmeasurable] if no tests of one side could be read, or the cause of ctx.
func Gate(ctx context.Context, o Options) (out Report, err error) {
	if o.OnProgress == nil {
		o.OnProgress = func(string) {}
	}
	g := &mergeGate{Options: o, repo: repo{dir: o.Root, remote: o.Remote}}
	if g.projectPath, err = filepath.Rel(o.Root, o.Project); err != nil {
		return out, fmt.Errorf("find the project in the tree: %w", err)
	}
	if err := g.findBase(ctx); err != nil {
		return out, err
	}
	if g.tree, err = checkout.New(ctx, o.Root, filepath.Join(o.Scratch, "trees")); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, g.tree.Remove(), os.RemoveAll(o.Scratch)) }()
	for _, step := range []func(context.Context) error{g.capture, g.configure, g.measureBase, g.measureHead, g.recheckBase, g.checkCriterion, g.judge} {
		if err := step(ctx); err != nil {
			return out, err
		}
	}
	out = g.newReport()
	if err := g.checkRatchet(&out); err != nil {
		return out, err
	}
	if out.Passed && g.undecided != "" {
		return out, fmt.Errorf("%w: not decided: %s", ErrUnmeasurable, g.undecided)
	}
	return out, nil
}

// mergeGate is the state of one run of [Gate].
type mergeGate struct {
	Options
	repo        repo
	projectPath string // slash path of the project in the tree, "." for all of it

	base     Base
	record   *Record        // nil if the base must be measured
	tree     *checkout.Tree // the checkout: of the head while its snapshot is taken, then of the base
	baseTree string         // ID of the git tree of the base, "" if its files are missing
	head     string         // commit of the working tree, in the repository of the checkout
	commitID string         // commit ID of HEAD
	dirty    bool           // the working tree differs from HEAD
	headTree string         // ID of the git tree of the working tree
	excludes string         // path of the user's info/exclude

	store                      *snapshot.Store
	baseSnapshot, headSnapshot snapshot.ID
	files                      map[string]bool // slash paths of all files of the tree
	settings                   judge.Settings
	until                      criterion.Criterion
	meter                      *measure.Meter

	basePlan       measure.Plan // plan for the checkout of the base
	baseMeter      *measure.Meter
	runnersChanged bool // the base runs its tests with other test runners

	baseSet     metric.Set
	baseChanges []detector.CheckChange // what the checks of the base changed in their tree
	measured    judge.Measured
	verdict     judge.Verdict
	headSet     metric.Set // metrics of the tree as they were judged
	criterion   *CriterionResult
	notes       []string

	undecided string // why the verdict cannot be that the change passes, "" if it can
}

// mask masks the secrets of the environment.
func (g *mergeGate) mask() secrets.Mask { return secrets.NewMask(g.Env) }

// addNote adds a note to the report.
func (g *mergeGate) addNote(format string, args ...any) {
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// projectIn returns the folder of the project in a tree.
func (g *mergeGate) projectIn(root string) string { return filepath.Join(root, g.projectPath) }
