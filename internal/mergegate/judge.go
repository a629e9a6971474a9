package mergegate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/treecopy"
	"supervise/internal/treediff"
	"supervise/metric"
	"supervise/runner"
)

// judge judges the tree as if the change were one iteration after the base. It sets g.verdict and
// g.headSet, and adds notes about what could not be tried.
func (g *mergeGate) judge(ctx context.Context) (err error) {
	kept := &treecopy.Kept{}
	defer func() { err = errors.Join(err, kept.Remove()) }()
	nobody := &ledger.AgentRun{Cause: runner.Exited.String()}
	t := judge.Tree{Iteration: ledger.Iteration{Number: 1, Agent: nobody, Start: g.baseSnapshot, Snapshot: g.headSnapshot}}
	settings := g.settings
	settings.Hidden.AtEnd = false // there is only one tree
	if g.baseSnapshot != "" {
		var err error
		if t.Changes, err = g.store.Changes(ctx, g.baseSnapshot, g.headSnapshot); err != nil {
			return err
		}
		settings.Integrity.Base = treediff.Repo{Dir: g.tree.Dir}.BaseTree(ctx, g.baseTree)
	}

	var untried []string
	j := judge.Judge{
		Reviewer: g.reviewer(ctx), Ending: g.ending(),
		Settings: settings, Subject: judge.Change, Mask: g.mask(), Now: func() time.Time { return g.Now }, OnProgress: g.OnProgress,
		Workspace: treecopy.Workspace{Store: g.store, Meter: g.meter, Plan: g.settings.Plan, Root: g.Root, Scratch: filepath.Join(g.Scratch, "copies"), Original: g.originalRunners(), Kept: kept},
		OnProblem: func(what string, err error) { untried = append(untried, fmt.Sprintf("%s: %v", what, err)) },
	}

	past, err := g.baseHistory(ctx, j)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	apply := j.Judge
	if g.OnlyMutants {
		apply = j.JudgeMutants
	}
	if g.verdict, err = apply(ctx, t, g.measured, past); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := checkHiddenRead(g.verdict.Hidden, past); err != nil {
		return err
	}

	g.headSet = g.verdict.JudgedSet()
	g.noteSilenced(g.verdict.Silenced)
	g.noteExcluded(g.verdict.Excluded, g.verdict.Set.Coverage)
	g.notes = g.mask().Texts(append(g.notes, untried...))
	return nil
}

// noteSilenced adds a note if new comments silence linters.
func (g *mergeGate) noteSilenced(q *ledger.Silenced) {
	switch {
	case q == nil:
	case q.Why != "":
		g.addNote("new comments silence linters in %s; what they hide is not known: %s", listFiles(q.Files), q.Why)
	case len(q.Findings) > 0:
		g.addNote("new comments silence linters in %s and hide %s, which count", listFiles(q.Files), report.Pluralize(len(q.Findings), "finding", "findings"))
	}
}

// noteExcluded adds a note if the change excludes code from the coverage. counted is the coverage
// that the verdict uses.
func (g *mergeGate) noteExcluded(x *ledger.Excluded, counted *metric.Coverage) {
	if x == nil {
		return
	}
	with, _ := x.Measured.Percent()
	without, _ := counted.Percent()
	switch {
	case x.Why != "":
		g.addNote("%s takes code out of the coverage; what it is without is not known, so that it counts as no better than that of the base (%.1f %%, measured %.1f %%): %s", listFiles(x.Files), without, with, x.Why)
	case without < with:
		g.addNote("%s takes code out of the coverage, which counts as %.1f %%, as it is without, and not as %.1f %%", listFiles(x.Files), without, with)
	}
}

// listFiles joins the first names, and counts the others, as in "a.go, b.go and 3 more".
func listFiles(files []string) string {
	if len(files) > maxLocations {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:maxLocations], ", "), len(files)-maxLocations)
	}
	return strings.Join(files, ", ")
}
