package loop

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/seal"
	"supervise/internal/treecopy"
	"supervise/internal/treediff"
	"supervise/internal/unstablenames"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// sealedBaseline is what was measured while the tests were sealed.
type sealedBaseline struct {
	result      measure.Result      // of the tree without the sealed tests
	uncommitted *ledger.Uncommitted // of the original tree
}

// sealTests takes a share of the failing tests out of the tree, which equals a snapshot. It returns the
// snapshot of the tree without them, in which the other tests have the same results.
func (r *run) sealTests(ctx context.Context, original snapshot.Info) (snapshot.Info, *sealedBaseline, error) {
	out := &sealedBaseline{uncommitted: r.auditUncommitted(ctx)}
	before, err := r.checks.measure(ctx, measureQuickly, nil)
	if err == nil {
		r.checks.checkOutputs, err = r.tree.ExcludeCheckFiles(ctx, original.ID, r.checks.checkOutputs)
	}
	if err != nil {
		return original, nil, fmt.Errorf("measure the tests to seal: %w", err)
	}
	if before.Set.Tests == nil {
		return original, nil, r.requireJudgeable(before.Set)
	}
	files, err := r.testSources(ctx, original.ID)
	if err != nil {
		return original, nil, err
	}
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // it never fails
	why := ""
	for how := range seal.WholeFiles + 1 {
		record, err := seal.Choose(before.Set.Tests, files, seal.Options{Share: r.opts.Hidden.Seal, Seed: binary.NativeEndian.Uint64(seed[:]), How: how})
		if err != nil && why != "" && errors.Is(err, seal.ErrNothing) {
			continue
		}
		if err != nil {
			return original, nil, err
		}
		record.Snapshot = original.ID
		info, result, diff, err := r.trySeal(ctx, record, files, before.Set.Tests)
		if out.result = result; err != nil || diff == "" {
			return info, out, err
		}
		why = diff
	}
	return original, nil, fmt.Errorf("%w: without the sealed tests, %s: give a folder of hidden tests", seal.ErrNothing, why)
}

// trySeal takes the tests of a record out of the tree and measures it. If the other tests differ, it
// restores the tree and says how.
func (r *run) trySeal(ctx context.Context, record seal.Record, files []seal.Source, before *metric.Tests) (info snapshot.Info, res measure.Result, diff string, err error) {
	s, err := record.Store(r.ledger.Dir(), originals(record, files))
	if err == nil {
		err = s.Hide(r.opts.Root)
	}
	if err == nil {
		info, err = r.tree.Take(ctx, 0, event.BeforeChecks)
	}
	if err == nil {
		res, err = r.checks.measure(ctx, measureQuickly, nil)
	}
	if err != nil {
		return info, res, "", err
	}
	if diff = record.Difference(before, unstablenames.MatchNames(res.Set.Tests, before)); diff != "" {
		_, err = s.Restore(r.opts.Root)
		return info, res, diff, err
	}
	r.useSealed(s)
	if s.InHistory, err = r.inHistory(ctx, s); err != nil {
		return info, res, "", err
	}
	return info, res, "", errors.Join(s.MarkChecked(), r.journal.Write(event.TestsSealed, 0, event.SealedTests{Tests: len(s.Tests), Failing: s.Failing, Files: len(s.Files), InHistory: s.InHistory}))
}

// useSealed makes the sealed tests the hidden ones.
func (r *run) useSealed(s *seal.Sealed) {
	r.opts.Hidden.Dir, r.opts.Hidden.Sealed, r.opts.Hidden.Merge, r.original = s.FilesDir(), s.ByFile(), s.Merge, s.Snapshot
}

// loadSealed reads the sealed tests of a resumed loop. It returns nil if there are none that the loop has
// started to use.
func (r *run) loadSealed() (*seal.Sealed, error) {
	if r.opts.Hidden.Seal == 0 {
		return nil, nil //nolint:nilnil // there are none, as documented
	}
	s, err := seal.Read(r.ledger.Dir())
	if err != nil || s == nil || !s.Checked {
		return nil, err
	}
	r.useSealed(s)
	return s, nil
}

// requireSealedRun returns an error if a sealed test does not run in a copy of the tree, unless its suite
// does not run in the tree either.
func requireSealedRun(h *ledger.Hidden, visible *metric.Tests) error {
	if h == nil || !h.Sealed {
		return nil
	}
	if h.Tests == nil {
		return fmt.Errorf("%w: the sealed tests do not run in a copy of the tree: %s", ErrUnmeasurable, h.Why)
	}
	for _, t := range h.Tests.Cases {
		if t.Status == metric.NotRun && !visible.IsBroken(t.ID) {
			return fmt.Errorf("%w: the sealed test %s does not run in a copy of the tree: %s", ErrUnmeasurable, t.ID, t.Message)
		}
	}
	return nil
}

// restoreSealed puts the sealed tests of the loop back into its tree, if it has any.
func (r *run) restoreSealed() error { return r.restoreSealedOf(r.ledger.Dir(), "") }

// restoreSealedOf does so for a loop by its folder. The name is that of another loop.
func (r *run) restoreSealedOf(dir, name string) error {
	s, err := seal.Read(dir)
	if err != nil || s == nil || s.Restored && name != "" {
		return err
	}
	wasOut := s.Checked && !s.Restored && name == ""
	out, err := s.Restore(r.opts.Root)
	if err != nil {
		return err
	}
	if !wasOut {
		out.Found = nil // by an earlier end of the loop
	}
	n, err := r.inHistory(context.Background(), s)
	if err != nil {
		return err
	}
	return r.journal.Write(event.SealedRestored, r.state.Iteration, event.RestoredTests{LoopID: name, Tests: len(s.Tests), Files: out.Restored, Kept: out.Kept, Found: out.Found, Uncommitted: max(0, s.InHistory-n)})
}

// testSources returns the test files of a snapshot.
func (r *run) testSources(ctx context.Context, id snapshot.ID) (out []seal.Source, err error) {
	list, err := r.tree.Store.Files(id)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if source.IsVendored(f.Path) || !source.IsTestFile(f.Path, source.DetectLanguage(f.Path, nil)) {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.opts.Root, filepath.FromSlash(f.Path)))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		text, err := r.tree.Store.ReadFile(ctx, id, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the tests to seal: %w", err)
		}
		out = append(out, seal.Source{File: seal.File{Path: f.Path, Mode: info.Mode().Perm()}, Text: text})
	}
	return out, nil
}

// originals returns the original files of a record.
func originals(record seal.Record, files []seal.Source) (out treecopy.Files) {
	for _, f := range record.Files {
		for _, s := range files {
			if s.Path == f.Path {
				out = append(out, treecopy.File{Path: f.Path, Text: s.Text, Executable: f.Mode&0o100 != 0})
			}
		}
	}
	return out
}

// inHistory returns how many files with sealed tests HEAD has with these tests.
func (r *run) inHistory(ctx context.Context, s *seal.Sealed) (int, error) {
	repo := treediff.Repo{Dir: r.opts.Root}
	if !repo.HasCommits(ctx) {
		return 0, nil
	}
	return s.CountIn(func(path string) []byte {
		text, err := repo.Git(ctx, "cat-file", "blob", "HEAD:./"+path)
		if err != nil {
			return nil // it is not there
		}
		return text
	})
}
