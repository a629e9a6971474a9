package gitstate

import (
	"fmt"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/worktree"
)

// Files is the state of the tree's own repository in one snapshot. Names are relative to the git folder.
type Files struct {
	objects *pack.Objects
	entries map[string]manifest.Entry
	dotGit  bool              // the tree has a .git
	Hidden  func(string) bool // whether a name may be there although it is not among the entries
}

// FilesOf selects them from a manifest. ext is the git folder outside of the tree, if there is one.
func FilesOf(o *pack.Objects, m *manifest.Manifest, ext worktree.External) Files {
	g := Files{objects: o, entries: map[string]manifest.Entry{}, Hidden: func(string) bool { return false }}
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
	unknown := m.Unknown()
	g.Hidden = func(rel string) bool { return unknown(".git/" + rel) }
	return g
}

// Exists reports whether there is a repository.
func (g Files) Exists() bool {
	_, head := g.entries["HEAD"]
	return head && g.dotGit
}

// Reftable reports whether refs are kept in the reftable format, which is not read.
func (g Files) Reftable() bool {
	_, ok := g.entries["reftable"]
	return ok
}

// LostBranch compares what is known of the current branch of a linked worktree.
func LostBranch(old, now manifest.Branch) []string {
	if old.Commit == "" || now.Name != old.Name || now.Commit != "" {
		return nil
	}
	return []string{refText(old.Name)}
}

// StashRef is the ref of the newest entry of the stash.
const StashRef = "refs/stash"

// Lost names the refs and the entries of the stash that now does not have.
func (g Files) Lost(now Files) ([]string, error) {
	had, err := g.refs()
	if err != nil {
		return nil, err
	}
	has, err := now.refs()
	if err != nil {
		return nil, err
	}
	lost, stashes, err := g.lostStashes(now)
	if err != nil {
		return nil, err
	}
	for name := range had {
		known := !now.Hidden(name) && !now.Hidden("packed-refs")
		if !has[name] && known && counts(name) && !(name == StashRef && stashes) {
			lost = append(lost, refText(name))
		}
	}
	return lost, nil
}

// counts tells the refs that somebody made by hand from those that are a copy or a tool's own.
func counts(name string) bool {
	for _, p := range []string{"refs/remotes/", "refs/prefetch/", "refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	return true
}

func refText(name string) string {
	if b, ok := strings.CutPrefix(name, "refs/heads/"); ok {
		return "branch " + b
	}
	if t, ok := strings.CutPrefix(name, "refs/tags/"); ok {
		return "tag " + t
	}
	return "ref " + name
}

// refs names the loose and the packed refs. An empty file is what a crash leaves of a loose one.
func (g Files) refs() (map[string]bool, error) {
	out := map[string]bool{}
	for name, e := range g.entries {
		if strings.HasPrefix(name, "refs/") && e.Kind != disk.KindDir && e.Stat.Size > 0 && !strings.HasSuffix(name, ".lock") {
			out[name] = true
		}
	}
	lines, err := g.lines("packed-refs")
	for _, l := range lines {
		if _, name, ok := strings.Cut(l, " "); ok && strings.HasPrefix(name, "refs/") {
			out[name] = true
		}
	}
	return out, err
}

// lostStashes lists the lost entries of the stash and reports whether it had any entry at all.
func (g Files) lostStashes(now Files) (lost []string, had bool, err error) {
	const log = "logs/" + StashRef
	was, err := g.lines(log)
	if err != nil || now.Hidden(log) {
		return nil, len(was) > 0, err
	}
	is, err := now.lines(log)
	kept := map[string]bool{}
	for _, l := range is {
		commit, _ := stashEntry(l)
		kept[commit] = true
	}
	for i, l := range was {
		if commit, subject := stashEntry(l); !kept[commit] {
			lost = append(lost, stashText(len(was)-1-i, subject))
		}
	}
	return lost, len(was) > 0, err
}

func stashText(n int, subject string) string { return fmt.Sprintf("stash entry %d (%s)", n, subject) }

// stashEntry takes a line of a reflog apart: old id, new id, who and when, a tab, the subject.
func stashEntry(line string) (commit, subject string) {
	head, subject, _ := strings.Cut(line, "\t")
	if f := strings.Fields(head); len(f) > 1 {
		commit = f[1]
	}
	return commit, subject
}

// lines reads a file of git's state, which may be missing.
func (g Files) lines(name string) ([]string, error) {
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

// commit is the object that a ref names; "" for one that names another ref.
func (g Files) commit(name string) (string, error) {
	lines, err := g.lines(name)
	if err == nil && len(lines) == 0 {
		lines, err = g.lines("packed-refs")
	}
	for _, l := range lines {
		if id, of, packed := strings.Cut(l, " "); (!packed || of == name) && !strings.HasPrefix(l, "ref:") {
			return id, err
		}
	}
	return "", err
}
