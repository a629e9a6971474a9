package gitstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Files is the state of the tree's own repository in one snapshot. Names are relative to the git folder.
type Files struct {
	objects  *pack.Objects
	entries  map[string]manifest.Entry // by name
	dotGit   bool                      // the tree has a .git
	IsHidden func(string) bool         // whether a file may exist although it was not captured
}

// FilesOf selects the git files from a manifest. ext is the git folder outside the tree, if there is one.
func FilesOf(o *pack.Objects, m *manifest.Manifest, ext gitdir.External) Files {
	g := Files{objects: o, entries: map[string]manifest.Entry{}, IsHidden: func(string) bool { return false }}
	for _, e := range m.Git {
		if rel, ok := strings.CutPrefix(e.Path, ".git/"); ok {
			g.entries[rel] = e
		}
		g.dotGit = g.dotGit || e.Path == ".git"
	}
	if ext.GitDir != "" {
		g.entries = manifest.ByPath(m.Ext)
		return g
	}
	unknown := m.UnknownPaths()
	g.IsHidden = func(rel string) bool { return unknown(".git/" + rel) }
	return g
}

// Exists reports whether the repository exists.
func (g Files) Exists() bool {
	_, head := g.entries["HEAD"]
	return head && g.dotGit
}

// UsesReftable reports whether refs are in the reftable format, which is not supported.
func (g Files) UsesReftable() bool {
	_, ok := g.entries["reftable"]
	return ok
}

// LostBranch names the current branch of a linked worktree if it was deleted. The result is
// nil if it was not.
func LostBranch(old, now manifest.Branch) []string {
	if old.Commit == "" || now.Name != old.Name || now.Commit != "" {
		return nil
	}
	return []string{refText(old.Name)}
}

// StashRef is the ref of the newest entry of the stash.
const StashRef = "refs/stash"

// LostRef is a missing ref or stash entry. Text names it for the user.
type LostRef struct{ Name, Commit, Subject, Text string }

// FindLost lists the refs that are missing in now, by name, followed by the stash entries, oldest first.
func (g Files) FindLost(now Files) ([]LostRef, error) {
	refsBefore, errHad := g.refNames()
	refsNow, errHas := now.refNames()
	stashes, hadStash, errStash := g.findLostStashes(now)
	if err := errors.Join(errHad, errHas, errStash); err != nil {
		return nil, err
	}
	var lost []LostRef
	for name := range refsBefore {
		known := !now.IsHidden(name) && !now.IsHidden("packed-refs")
		if refsNow[name] || !known || !isUserRef(name) || name == StashRef && hadStash {
			continue
		}
		commit, err := g.commitOf(name)
		if err != nil {
			return nil, err
		}
		lost = append(lost, LostRef{Name: name, Commit: commit, Text: refText(name)})
	}
	slices.SortFunc(lost, func(a, b LostRef) int { return cmp.Compare(a.Name, b.Name) })
	return append(lost, stashes...), nil
}

// Texts returns the texts of lost refs, sorted.
func Texts(lost []LostRef) []string {
	var out []string
	for _, l := range lost {
		out = append(out, l.Text)
	}
	slices.Sort(out)
	return out
}

// isUserRef reports whether a ref belongs to the user, and is neither a copy nor internal to a tool.
func isUserRef(name string) bool {
	for _, p := range []string{"refs/remotes/", "refs/prefetch/", "refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return true
}

// refText returns the text for the user that names a ref, like "branch main".
func refText(name string) string {
	if b, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return "branch " + b
	}
	if t, ok := strings.CutPrefix(name, "refs/tags/"); ok {
		return "tag " + t
	}
	return "ref " + name
}

// refNames returns the names of the loose and packed refs. It omits empty loose refs, which a
// crash may leave.
func (g Files) refNames() (map[string]bool, error) {
	out := map[string]bool{}
	for name, e := range g.entries {
		if strings.HasPrefix(name, "refs/") && e.Kind != disk.KindDir && e.Stat.Size > 0 && !strings.HasSuffix(name, ".lock") {
			out[name] = true
		}
	}
	lines, err := g.readLines("packed-refs")
	for _, l := range lines {
		if _, name, ok := strings.Cut(l, " "); ok && strings.HasPrefix(name, "refs/") {
			out[name] = true
		}
	}
	return out, err
}

// findLostStashes lists the stash entries that are missing in now, oldest first. had says that
// the stash had any entries.
func (g Files) findLostStashes(now Files) (lost []LostRef, had bool, err error) {
	const log = "logs/" + StashRef
	before, err := g.readLines(log)
	if err != nil || now.IsHidden(log) {
		return nil, len(before) > 0, err
	}
	after, err := now.readLines(log)
	remaining := map[string]bool{}
	for _, l := range after {
		commit, _ := parseStashEntry(l)
		remaining[commit] = true
	}
	for i, l := range before {
		if commit, subject := parseStashEntry(l); !remaining[commit] {
			text := fmt.Sprintf("stash entry %d (%s)", len(before)-1-i, subject)
			lost = append(lost, LostRef{StashRef, commit, subject, text})
		}
	}
	return lost, len(before) > 0, err
}

// parseStashEntry parses a line of a reflog: old id, new id, author, time, a tab, and the subject.
func parseStashEntry(line string) (commit, subject string) {
	head, subject, _ := strings.Cut(line, "\t")
	if f := strings.Fields(head); len(f) > 1 {
		commit = f[1]
	}
	return commit, subject
}

// readLines reads the non-empty lines of a git file, which may be missing.
func (g Files) readLines(name string) ([]string, error) {
	e, ok := g.entries[name]
	if !ok || e.Kind != disk.KindFile {
		return nil, nil
	}
	data, err := g.objects.Content(e.OID)
	if err != nil {
		return nil, fmt.Errorf("read %s of git: %w", name, err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), nil
}

// commitOf returns the object that a ref points to, "" for a symbolic ref.
func (g Files) commitOf(name string) (string, error) {
	lines, err := g.readLines(name)
	if err == nil && len(lines) == 0 {
		lines, err = g.readLines("packed-refs")
	}
	for _, l := range lines {
		if id, refName, packed := strings.Cut(l, " "); (!packed || refName == name) && !strings.HasPrefix(l, "ref:") {
			return id, err
		}
	}
	return "", err
}

// CurrentBranch returns the current branch of a linked worktree and its commit, the zero value for a detached HEAD.
func CurrentBranch(ctx context.Context, gitDir string) manifest.Branch {
	head, err := projectfile.ReadAnywhere(filepath.Join(gitDir, "HEAD"), projectfile.Settings)
	name, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if err != nil || !isRef {
		return manifest.Branch{}
	}
	return manifest.Branch{Name: name, Commit: resolveRef(ctx, gitDir, name)}
}

// resolveRef returns the commit of a ref, "" if it has none.
func resolveRef(ctx context.Context, gitDir, name string) string {
	out, err := gitdir.IsolatedGit(gitDir, "--git-dir="+gitDir, "rev-parse", "--verify", "-q", name).Output(ctx)
	if err != nil {
		return "" // no commit yet
	}
	return strings.TrimSpace(string(out))
}

// RestoreBranch resets the branch of a linked worktree if it moved. It runs in gitDir, the shared folder, in which the
// branch is not checked out, so that git does not write to the HEAD log of the worktree.
func RestoreBranch(ctx context.Context, gitDir string, b manifest.Branch) error {
	if b.Name == "" || resolveRef(ctx, gitDir, b.Name) == b.Commit {
		return nil
	}
	args := []string{"--git-dir=" + gitDir, "update-ref", "-m", "supervise: restore", b.Name, b.Commit}
	if b.Commit == "" {
		args = []string{"--git-dir=" + gitDir, "update-ref", "-d", b.Name}
	}
	_, err := gitdir.IsolatedGit(gitDir, args...).Output(ctx)
	return err
}
