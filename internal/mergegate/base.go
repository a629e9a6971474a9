package mergegate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Source is where the measurements of a base come from.
type Source string

// The sources, in the order in which they are tried.
const (
	FromFile     Source = "file"     // a file that the user names
	FromRecord   Source = "record"   // the record of the commit
	FromAncestor Source = "ancestor" // the record of the nearest ancestor with one
	FromMeasured Source = "measured" // measured by this gate, in a separate checkout
)

// Base is what a change is compared with.
type Base struct {
	Commit   string `json:"commit,omitempty"` // "" for a file without a commit
	Why      string `json:"why"`              // why it is this commit, as in "the common ancestor with origin/main"
	Source   Source `json:"source"`
	File     string `json:"file,omitempty"`
	Distance int    `json:"distance,omitempty"` // commits from the base to the ancestor with the record
}

// findBase sets g.base, the tree of the base, and its record if there is one. --base names a file
// or a revision; without it, [mergeGate.baseCommit] finds the commit. Anyone who can push can forge
// a record, so records count only if the user says that they are protected. A record of an ancestor
// replaces the base by that ancestor.
func (g *mergeGate) findBase(ctx context.Context) error {
	if g.Base != "" {
		if info, err := os.Stat(g.Base); err == nil && info.Mode().IsRegular() {
			return g.readBaseFile(ctx)
		}
	}

	commit, why, err := g.baseCommit(ctx)
	if err != nil {
		return err
	}

	g.base = Base{Commit: commit, Why: why, Source: FromMeasured}
	if !g.TrustRecords {
		return g.findBaseTree(ctx, commit)
	}
	rec, at, distance, err := g.repo.nearestRecord(ctx, commit)
	if err != nil {
		return err
	}
	if rec == nil {
		return g.findBaseTree(ctx, commit)
	}

	g.record, g.base.Source = rec, FromRecord
	if distance > 0 {
		g.base.Commit, g.base.Source, g.base.Distance = at, FromAncestor, distance
	}

	g.baseTree, err = g.repo.treeID(ctx, RecordRef(at)+":"+treeName)
	return err
}

// readBaseFile reads the record of the base from the file that the user named, and finds the tree
// of the commit in it.
func (g *mergeGate) readBaseFile(ctx context.Context) error {
	rec, err := ReadRecord(g.Base)
	if err != nil {
		return err
	}
	g.record, g.base = &rec, Base{Commit: rec.Commit, Why: "named", Source: FromFile, File: g.Base}
	if rec.Commit == "" {
		g.addNote("%s names no commit: the texts before the change are not known, and renamed tests count as deleted ones", g.Base)
		return nil
	}
	return g.findBaseTree(ctx, rec.Commit)
}

// findBaseTree sets g.baseTree to the ID of a commit's tree, and fetches the commit if necessary.
// If it is missing, the record suffices, and g.baseTree is "". Without a record that is an error.
func (g *mergeGate) findBaseTree(ctx context.Context, commit string) (err error) {
	if g.baseTree, err = g.repo.treeID(ctx, commit+"^{tree}"); err == nil || ctx.Err() != nil {
		return err
	}
	fetched := g.repo.fetch(ctx, "--depth=1", commit)
	if g.baseTree, err = g.repo.treeID(ctx, commit+"^{tree}"); err == nil {
		return nil
	}
	if g.record != nil {
		g.baseTree = ""
		g.addNote("the files of %s are not here: renamed tests count as deleted ones, and texts are not compared", shortID(commit))
		return nil
	}
	return fmt.Errorf("%w: commit %s is not in this clone, and no record of it is used: fetch it (a deeper checkout), or trust records that 'supervise baseline --push' stores (%w)", ErrBase, shortID(commit), fetched)
}

// baseCommit finds the commit to compare the change with, and says why it is that one. It tries,
// in this order: the named revision, the first parent of a merge, the variables of CI services,
// the main branch, HEAD if the tree has uncommitted changes, and the parent of HEAD.
func (g *mergeGate) baseCommit(ctx context.Context) (id, why string, err error) {
	parents, err := g.repo.parents(ctx)
	if err != nil {
		return "", "", err
	}
	if g.Base != "" {
		return g.namedCommit(ctx, g.Base, parents, "the common ancestor with "+g.Base)
	}
	if len(parents) > 1 {
		id, why = g.mergeTarget(ctx, parents)
		return id, why, nil
	}

	for _, v := range targetVariables {
		ref := g.envValue(v.name)
		if ref == "" {
			continue
		}
		if v.commit {
			return ref, v.name, nil
		}
		return g.namedCommit(ctx, ref, parents, "the common ancestor with "+ref+", the target of the request")
	}

	for _, ref := range mainBranches {
		at, checked := g.branchTip(ctx, ref)
		if at, err := g.repo.mergeBase(ctx, at, "HEAD"); err == nil && at != g.repo.commitID(ctx, "HEAD") {
			return at, "the common ancestor with " + shortRef(ref) + checked, nil
		}
	}

	switch dirty, err := g.repo.isDirty(ctx); {
	case err != nil:
		return "", "", err
	case dirty:
		return g.repo.commitID(ctx, "HEAD"), "HEAD: the working tree differs from it", nil
	case len(parents) == 1:
		return parents[0], "the commit before HEAD", nil
	}
	return "", "", fmt.Errorf("%w: HEAD has no commit before it; name one with --base", ErrBase)
}

// mainBranches are the refs that may be the target of a change without a request.
var mainBranches = []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}

// shortRef returns a ref as users write it: origin/main.
func shortRef(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/remotes/"), "refs/heads/")
}

// mergeTarget returns the base of a merge, its first parent. But if HEAD merges the target branch
// into the change, the first parent is part of the change, and the base is where that left the
// target. A note says if that is not certain.
func (g *mergeGate) mergeTarget(ctx context.Context, parents []string) (id, why string) {
	refs, isRequest := mainBranches, false
	for _, v := range targetVariables {
		if ref := g.envValue(v.name); ref != "" && !v.commit {
			refs, isRequest = []string{"refs/remotes/" + g.Remote + "/" + ref, ref}, true
			break
		}
	}
	const merges = "what HEAD merges into"
	for _, ref := range refs {
		tip, checked := g.branchTip(ctx, ref)
		if tip == "" {
			continue
		}
		base, err := g.repo.mergeBase(ctx, tip, "HEAD")
		switch {
		case g.repo.isAncestor(ctx, parents[0], tip) || err != nil:
			return parents[0], merges
		case isRequest || g.repo.isAncestor(ctx, parents[1], tip):
			return base, "the common ancestor with " + shortRef(ref) + checked
		}
		g.addNote("HEAD merges into %s, which is not in %s: if it is part of the change, name the target with --base", shortID(parents[0]), shortRef(ref))
		return parents[0], merges
	}
	return parents[0], merges
}

// branchTip returns the commit of a ref, "" if there is none. For a remote-tracking branch it is
// the one at the remote, because anyone can move the local ref. checked says if the remote was
// not asked.
func (g *mergeGate) branchTip(ctx context.Context, ref string) (tip, checked string) {
	local := g.repo.commitID(ctx, ref)
	remote, branch := g.repo.trackedBranch(ctx, ref)
	if local == "" || remote == "" {
		return local, ""
	}
	const unchecked = " as this clone has it"
	if g.Remote == "" {
		return local, unchecked
	}

	r := repo{dir: g.Root, remote: remote}
	switch tip = r.remoteTip(ctx, branch); {
	case tip == "" || tip == local:
	case r.commitID(ctx, tip) == "" && r.fetch(ctx, "--no-prune", tip) != nil:
		tip = ""
	case !r.isAncestor(ctx, local, tip):
		g.addNote("%s was moved: it is at %s here, which %s does not have in its %s, at %s", shortRef(ref), shortID(local), remote, branch, shortID(tip))
	}
	if tip == "" {
		return local, unchecked
	}
	return tip, ""
}

// targetVariables lists the variables in which CI services have the target of a merge request or
// pull request. For other events, these are empty.
var targetVariables = []struct {
	name   string
	commit bool // its value is a commit, not a branch
}{
	{"CI_MERGE_REQUEST_DIFF_BASE_SHA", true},
	{"GITHUB_BASE_REF", false},
	{"CI_MERGE_REQUEST_TARGET_BRANCH_NAME", false},
	{"BITBUCKET_PR_DESTINATION_BRANCH", false},
	{"SYSTEM_PULLREQUEST_TARGETBRANCH", false},
	{"BUILDKITE_PULL_REQUEST_BASE_BRANCH", false},
	{"CHANGE_TARGET", false},
}

// envValue returns the value of an environment variable, "" if it is not set.
func (g *mergeGate) envValue(name string) string {
	for _, line := range g.Env {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// namedCommit returns the merge base of HEAD and a revision, and why it is that one. If the
// revision is a parent of HEAD, it returns the revision itself, since HEAD merges into it. The
// argument why is for a merge base that differs from the revision.
func (g *mergeGate) namedCommit(ctx context.Context, ref string, parents []string, why string) (string, string, error) {
	at, checked := g.branchTip(ctx, ref)
	if at == "" && g.Remote != "" {
		at, checked = g.branchTip(ctx, "refs/remotes/"+g.Remote+"/"+strings.TrimPrefix(ref, "refs/heads/"))
	}
	if at == "" && slices.Contains(parents, ref) {
		return ref, "what HEAD merges into", nil
	}
	if at == "" && g.repo.fetch(ctx, "--depth=1", ref) == nil {
		at = g.repo.commitID(ctx, "FETCH_HEAD")
	}
	if at == "" {
		return "", "", fmt.Errorf("%w: git knows no %s here; fetch it, or name another with --base", ErrBase, ref)
	}
	if slices.Contains(parents, at) {
		return at, ref + checked, nil
	}

	base, err := g.repo.mergeBase(ctx, at, "HEAD")
	switch {
	case err == nil && base == at:
		return at, ref + checked, nil
	case err == nil:
		return base, why + checked, nil
	case ctx.Err() != nil:
		return "", "", err
	case g.repo.isShallow(ctx):
		return "", "", fmt.Errorf("%w: this clone is too shallow to find where HEAD left %s: fetch the history (fetch-depth: 0), or check out the merge of both", ErrBase, ref)
	}
	return "", "", fmt.Errorf("%w: HEAD and %s have no commit in common: %w", ErrBase, ref, errors.Unwrap(err))
}

// shortID returns the first ten characters of a commit ID.
func shortID(id string) string { return id[:min(len(id), 10)] }
