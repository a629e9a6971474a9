package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// silencing is the type of the finding that comments came which silence linters.
const silencing = "suppression_added"

// unsilenced counts what the linters find without the comments that came in the
// iteration and silence them: in a tree of its own, where their words are crossed
// out. It is nil where none came, or no linter was read.
func (s *session) unsilenced(ctx context.Context, w *work) (*ledger.Silenced, error) {
	if w.it.Set.Lint == nil || !slices.ContainsFunc(w.it.Evidence.Tampering, isSilencing) {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	texts, err := s.crossedOut(ctx, w)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	out, err := s.lintWithout(ctx, w.it.Snapshot, texts)
	if err != nil {
		return nil, fmt.Errorf("lint without new comments that silence: %w", err)
	}
	out.Why = s.masker.String(out.Why)
	for i, r := range out.Runs {
		out.Runs[i].Output, out.Runs[i].Why = s.masker.String(r.Output), s.masker.String(r.Why)
	}
	out.Findings = append([]metric.Finding{}, s.maskedSet(metric.Set{Lint: &metric.Lint{Findings: out.Findings}}).Lint.Findings...)
	return out, nil
}

// crossedOut are the texts of the changed files without those comments.
func (s *session) crossedOut(ctx context.Context, w *work) (map[string][]byte, error) {
	var files audited
	for _, c := range w.changes {
		was, is, err := versions(c, func(path string, after bool) ([]byte, error) {
			id := w.start.ID
			if after {
				id = w.it.Snapshot
			}
			return s.store.ReadFile(ctx, id, path)
		})
		if err != nil {
			return nil, fmt.Errorf("read changed file: %w", err)
		}
		files.add(c, was, is)
	}
	return integrity.Unsilenced(files.joined(w.it.Evidence.Renamed)), nil
}

// lintWithout runs the linters over a tree with other texts of some files. Where
// they find anything, they run once more over the tree as it is, in the same place:
// what they find there as well is not due to the texts.
func (s *session) lintWithout(ctx context.Context, id snapshot.ID, texts map[string][]byte) (out *ledger.Silenced, err error) {
	out = &ledger.Silenced{Files: slices.Sorted(maps.Keys(texts))}
	if err := os.MkdirAll(s.ledger.ScratchDir(), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.ledger.ScratchDir(), "tree-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ledger.RemoveTree(dir)) }()
	tree := trialTree{dir: dir, root: s.opts.Root, store: s.store, plan: s.opts.Plan}
	if err := tree.lay(ctx, id); err != nil {
		return nil, err
	}
	var files hiddenFiles
	for _, path := range out.Files {
		files = append(files, hiddenFile{path: path, text: texts[path]})
	}
	if err := files.lay(dir); err != nil {
		return nil, err
	}
	without, err := s.lintIn(ctx, tree, out)
	if err != nil || without == nil || len(without.Findings) == 0 {
		return out, err
	}
	if err := s.store.Export(ctx, id, dir, out.Files...); err != nil {
		return nil, err
	}
	with, err := s.lintIn(ctx, tree, out)
	if err != nil || out.Why != "" {
		return out, err
	}
	out.Findings = appeared(without, with)
	return out, nil
}

// lintIn runs the linters in the tree.
func (s *session) lintIn(ctx context.Context, tree trialTree, out *ledger.Silenced) (*metric.Lint, error) {
	found, err := s.meter.LintElsewhere(ctx, tree.project())
	out.Runs = append(out.Runs, Runs(found.Runs)...)
	out.Why = found.Why
	return found.Lint, err
}

// appeared returns the findings that are not among others. The lines are the same
// in both.
func appeared(without, with *metric.Lint) []metric.Finding {
	type place struct {
		tool, rule, file string
		level            metric.Level
		line             int
	}
	at := func(f metric.Finding) place { return place{f.Tool, f.Rule, f.File, f.Level, f.Line} }
	count := map[place]int{}
	if with != nil {
		for _, f := range with.Findings {
			count[at(f)]++
		}
	}
	var out []metric.Finding
	for _, f := range without.Findings {
		if count[at(f)]--; count[at(f)] < 0 {
			out = append(out, f)
		}
	}
	return out
}

func isSilencing(t detector.Tampering) bool { return t.Type == silencing }
