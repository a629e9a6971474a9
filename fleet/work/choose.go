package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/fleet/flow"
	"supervise/internal/git"
	"supervise/internal/ledger"
)

// choiceName is the file in a state that says what was chosen.
const choiceName = "choice.json"

// Choose merges the states of the candidates, has supervise run each candidate's tests on
// the others, and stores the best tree in the repository.
func (w *Worker) Choose(ctx context.Context, in flow.ChooseInput) (flow.Choice, error) {
	ctx, onProgress, done := w.reporting(ctx)
	defer done()
	leave, err := w.slot(ctx)
	if err != nil {
		return flow.Choice{}, temporalError(err)
	}
	defer leave()
	c, err := w.choose(ctx, onProgress, in)
	return c, temporalError(err)
}

func (w *Worker) choose(ctx context.Context, onProgress func(flow.Progress), in flow.ChooseInput) (out flow.Choice, err error) {
	at := w.place(in.Place, "choice")
	leave, err := w.lockFolder(ctx, at.dir)
	if err != nil {
		return out, err
	}
	defer leave()
	r, err := w.remote(ctx, in.Place)
	if err != nil {
		return out, err
	}
	if out, err := chosen(ctx, r, in.Place); err != nil || out.Pack != "" {
		return out, err
	}
	onProgress(flow.Progress{Phase: "fetch", Since: time.Now()})
	if err := mergeStates(ctx, r, at, in); err != nil {
		return out, fmt.Errorf("merge the candidates: %w", err)
	}
	defer os.RemoveAll(at.dir)
	end, err := w.supervise(ctx, at, onProgress, "resume", in.Loop, "--choose", "--trees", at.trees, "--force", "--json")
	if err != nil {
		return out, fmt.Errorf("compare the candidates: %w", err)
	}
	if out, err = read(at, in.Loop, end); err != nil {
		return out, err
	}
	onProgress(flow.Progress{Phase: "push", Since: time.Now()})
	return keep(ctx, r, at, in, out)
}

// mergeStates makes one state out of those of all candidates whose loops are over.
func mergeStates(ctx context.Context, r *remote, at place, in flow.ChooseInput) error {
	if err := os.RemoveAll(at.dir); err != nil {
		return err
	}
	if err := r.fetch(ctx, ref(in.Place, baseName), in.Pack); err != nil {
		return err
	}
	if _, err := r.commit(ctx, in.Commit); err != nil {
		return err
	}
	if err := errors.Join(r.unpack(ctx, in.Pack, at.home), r.tree(ctx, at.tree, in.Commit)); err != nil {
		return err
	}
	for i, e := range in.Ends {
		switch e.Reason {
		case flow.BudgetSpent, flow.WorkerFailed, flow.EndedEarly:
			continue // its loop is not over
		}
		if err := r.fetch(ctx, refOf(in.Place, i+1), e.Pack); err != nil {
			return err
		}
		dir := ledger.CandidateHome(at.home, in.Loop, i+1)
		rel, err := filepath.Rel(at.home, dir)
		if err != nil {
			return err
		}
		if err := r.unpack(ctx, e.Pack+":"+filepath.ToSlash(rel), dir); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	return nil
}

// read reads what was chosen.
func read(at place, loop string, end ending) (out flow.Choice, err error) {
	dir := ledger.LoopDir(at.home, loop)
	state, err := ledger.ReadState(dir)
	if err != nil {
		return out, failed("compare the candidates", end, err)
	}
	list, err := ledger.ReadRanking(dir)
	if err != nil || len(list) == 0 || !state.Status.IsOver() {
		return out, failed("compare the candidates", end, err)
	}
	out.Reason, out.Text, out.Status = state.StopReason, short(state.StopText), state.ExitCode
	if first := list[0]; first.Chosen {
		out.Candidate, out.Score, out.Lines = first.Candidate, first.Score, first.Lines
	}
	return out, nil
}

// keep brings the best tree, and the state, into the repository.
func keep(ctx context.Context, r *remote, at place, in flow.ChooseInput, out flow.Choice) (flow.Choice, error) {
	if out.Candidate > 0 {
		if err := commit(ctx, r, at.tree, in, &out); err != nil {
			return out, fmt.Errorf("keep the best tree: %w", err)
		}
	}
	var err error
	out.Pack, err = r.keep(ctx, at.home, ref(in.Place, resultName), document{choiceName, out}, fmt.Sprintf("%s: candidate %d", in.Task, out.Candidate))
	if errors.Is(err, errMoved) {
		return chosen(ctx, r, in.Place)
	}
	return out, err
}

// commit commits the best tree. Where nothing of it is to be kept by git it is the commit
// that all began with.
func commit(ctx context.Context, r *remote, tree string, in flow.ChooseInput, out *flow.Choice) error {
	says := fmt.Sprintf("%s: candidate %d\n\n%s\n\nLoop: %s\n", in.Task, out.Candidate, out.Text, in.Loop)
	run := func(args ...string) (string, error) {
		text, err := git.NewCommand(tree, args...).Output(ctx)
		return strings.TrimSpace(string(text)), err
	}
	if _, err := run("add", "-A"); err != nil {
		return err
	}
	id, err := run("write-tree")
	if err != nil {
		return err
	}
	if out.Commit, err = run("-c", "user.name=supervise-fleet", "-c", "user.email=fleet@localhost", "commit-tree", id, "-p", in.Commit, "-m", says); err != nil {
		return err
	}
	const here = "refs/supervise/best"
	if _, err := run("update-ref", here, out.Commit); err != nil {
		return err
	}
	if _, err := r.git(ctx, "fetch", "-q", "--no-tags", tree, here); err != nil {
		return err
	}
	// Another attempt may have been here: then its commit is replaced, since the result is not written.
	to := ref(in.Place, proposedName)
	was, err := r.read(ctx, to)
	if err != nil {
		return err
	}
	return r.write(ctx, to, out.Commit, was, in.Commit)
}

// chosen is what an earlier attempt has chosen, without a pack where there was none.
func chosen(ctx context.Context, r *remote, p flow.Place) (out flow.Choice, err error) {
	id, err := r.kept(ctx, ref(p, resultName), document{choiceName, &out})
	out.Pack = id
	return out, err
}

// Publish makes the proposed tree the best one.
func (w *Worker) Publish(ctx context.Context, p flow.Place, c flow.Choice) error {
	ctx, _, done := w.reporting(ctx)
	defer done()
	return temporalError(w.publish(ctx, p, c))
}

func (w *Worker) publish(ctx context.Context, p flow.Place, c flow.Choice) error {
	r, err := w.remote(ctx, p)
	if err != nil {
		return err
	}
	if _, err := r.commit(ctx, p.Commit); err != nil {
		return err
	}
	if err := r.fetch(ctx, ref(p, proposedName), c.Commit); err != nil {
		return err
	}
	was, err := r.read(ctx, ref(p, bestName))
	if err != nil || was == c.Commit {
		return err
	}
	return r.write(ctx, ref(p, bestName), c.Commit, was, p.Commit)
}

// Drop removes the intermediate states of a task. Best tree and result stay.
func (w *Worker) Drop(ctx context.Context, p flow.Prepared, candidates int) error {
	ctx, _, done := w.reporting(ctx)
	defer done()
	return temporalError(w.drop(ctx, p, candidates))
}

func (w *Worker) drop(ctx context.Context, p flow.Prepared, candidates int) error {
	r, err := w.remote(ctx, p.Place)
	if err != nil {
		return err
	}
	refs := []string{ref(p.Place, baseName), ref(p.Place, proposedName)}
	for n := range candidates {
		refs = append(refs, refOf(p.Place, n+1))
	}
	return errors.Join(r.remove(ctx, refs...), os.RemoveAll(filepath.Join(w.Dir, fleets, p.Fleet, p.Task)))
}
