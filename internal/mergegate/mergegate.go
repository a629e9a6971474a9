// Package mergegate is the merge gate: it measures the tree that is checked out, finds
// what its base measured, and judges the difference by the rules of a loop, as if
// the change were one iteration. Configuration and acknowledgements come from the base: the
// change under review cannot configure its own review.
package mergegate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/checkout"
	"supervise/internal/judge"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/metric"
	"supervise/snapshot"
)

// The errors that another command line or checkout fixes.
var (
	ErrBase         = errors.New("no base")
	ErrUnmeasurable = errors.New("nothing to judge by")
)

// Options are the circumstances of a gate.
type Options struct {
	Root    string // the working tree, under git
	Project string // the folder of the project, Root or below: the checks run there
	Base    string // a revision, or the path of a record; "" finds one
	Setup   string // run by the shell in a checkout of the base before its checks, "" for nothing
	Remote  string // to fetch records and bases from; "" fetches nothing
	State   string // the folder of the state of loops, which the reviewer must not write to
	Scratch string // a separate folder outside the tree, which is removed at the end

	// Configure returns the settings from the project folder of the base, with the plan
	// for the project in another folder.
	Configure func(base, project string) (judge.Settings, error)

	FailOn     FailOn   // which findings fail
	Env        []string // its secrets are not stored; its variables name the target branch
	Version    string   // of supervise
	Now        time.Time
	OnProgress func(what string) // may be nil
}

// Gate measures and judges the tree. The error wraps [ErrBase] when there is nothing
// to compare with, [ErrUnmeasurable] when one of the two sides has no tests that
// could be read, and the cause of ctx when that ends.
func Gate(ctx context.Context, o Options) (out Report, err error) {
	if o.OnProgress == nil {
		o.OnProgress = func(string) {}
	}
	g := &gate{Options: o, repo: repo{dir: o.Root, remote: o.Remote}}
	if g.below, err = filepath.Rel(o.Root, o.Project); err != nil {
		return out, fmt.Errorf("find the project in the tree: %w", err)
	}
	if err := g.find(ctx); err != nil {
		return out, err
	}
	if g.tree, err = checkout.New(ctx, o.Root, filepath.Join(o.Scratch, "trees")); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, g.tree.Remove(), os.RemoveAll(o.Scratch)) }()
	for _, step := range []func(context.Context) error{g.capture, g.configure, g.measureBase, g.measureHead, g.judge} {
		if err := step(ctx); err != nil {
			return out, err
		}
	}
	out = g.report()
	return out, g.ratchet(&out)
}

// gate is one run, from the search for the base to the verdict.
type gate struct {
	Options
	repo  repo
	below string // slash path of the project in the tree, "." for all of it

	base     Base
	record   *Record        // nil: the base has to be measured
	tree     *checkout.Tree // of the base, and for a moment of the head
	texts    string         // git's id of a tree with the files of the base, "" when they are not here
	head     string         // the working tree as a commit of the checkout's own repository
	commitID string         // of HEAD
	dirty    bool           // the working tree differs from HEAD

	store    *snapshot.Store
	was, is  snapshot.ID
	files    map[string]bool // of the tree
	settings judge.Settings
	meter    *measure.Meter

	basePlan  measure.Plan // of the checkout of the base
	baseMeter *measure.Meter
	moved     bool // to other test runners

	before   metric.Set
	measured judge.Measured
	verdict  judge.Verdict
	now      metric.Set // that counts
	notes    []string
}

// mask masks the secrets of the environment.
func (g *gate) mask() secrets.Mask { return secrets.NewMask(g.Env) }

func (g *gate) note(format string, args ...any) {
	g.notes = append(g.notes, fmt.Sprintf(format, args...))
}

// at is the folder of the project in a tree.
func (g *gate) at(root string) string { return filepath.Join(root, g.below) }
