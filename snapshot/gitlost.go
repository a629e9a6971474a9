package snapshot

import (
	"context"
	"fmt"
	"slices"

	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
)

// GitLost says in words, sorted, what of git's own state the snapshot from holds and the snapshot to does not: ".git"
// alone when the repository itself is gone; otherwise "branch NAME", "tag NAME" and "ref NAME" (full name) for refs that
// no longer exist under their name, and "stash entry N (subject)" for entries of the stash, numbered as in from, whose
// commit is in the stash no more. A ref that moved is not lost. Remote-tracking refs and those of one worktree's own,
// such as refs/bisect, do not count, nor do the refs of nested repositories.
//
// Of a linked worktree only its own folder and its current branch are known; that the branch is gone shows only while it
// is still checked out, and what the worktrees share is told by SharedLost. Refs in the reftable format are not read, and what to could not read is not called lost. Where
// there was no repository nothing is lost. A repository in place of another is not told from the first one.
func (s *Store) GitLost(ctx context.Context, from, to ID) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compare git state: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.manifest(from)
	if err != nil {
		return nil, err
	}
	b, err := s.manifest(to)
	if err != nil {
		return nil, err
	}
	old, now := gitstate.FilesOf(s.objects, a, s.config.External), gitstate.FilesOf(s.objects, b, s.config.External)
	switch {
	case !old.Exists():
		return nil, nil
	case !now.Exists():
		if now.Hidden("HEAD") {
			return nil, nil
		}
		return []string{".git"}, nil
	case s.config.External.Linked():
		return gitstate.LostBranch(a.Branch, b.Branch), nil
	case now.Reftable() || old.Reftable():
		return nil, nil
	}
	lost, err := old.Lost(now)
	if err != nil {
		return nil, err
	}
	slices.Sort(lost)
	return lost, nil
}

// SharedLost says in words, as GitLost does, what of the state that linked worktrees share the snapshot from holds and the
// snapshot to does not. Whoever works in another worktree may have done that.
func (s *Store) SharedLost(from, to ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list [2][]manifest.Entry
	for i, id := range []ID{from, to} {
		m, err := s.manifest(id)
		if err == nil {
			list[i], err = gitstate.ReadShared(s.objects, m)
		}
		if err != nil {
			return nil, err
		}
	}
	lost, err := gitstate.LostShared(s.objects, list[0], list[1])
	out := make([]string, len(lost))
	for i, l := range lost {
		out[i] = l.Text
	}
	slices.Sort(out)
	return out, err
}
