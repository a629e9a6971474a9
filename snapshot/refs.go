package snapshot

import (
	"fmt"
	"strings"
)

// gitFiles is the state of the tree's own repository in one snapshot. Names are relative to the git folder.
type gitFiles struct {
	objects *objects
	entries map[string]entry
	dotGit  bool              // the tree has a .git
	hidden  func(string) bool // whether a name may be there although it is not among the entries
}

func gitFilesOf(o *objects, m *manifest, ext external) gitFiles {
	g := gitFiles{objects: o, entries: map[string]entry{}, hidden: func(string) bool { return false }}
	for _, e := range m.git {
		if rel, ok := strings.CutPrefix(e.path, ".git/"); ok {
			g.entries[rel] = e
		}
		g.dotGit = g.dotGit || e.path == ".git"
	}
	if ext.GitDir != "" {
		g.entries = byPath(m.ext)
		return g
	}
	unknown := m.unknown()
	g.hidden = func(rel string) bool { return unknown(".git/" + rel) }
	return g
}

func (g gitFiles) exists() bool {
	_, head := g.entries["HEAD"]
	return head && g.dotGit
}

func (g gitFiles) reftable() bool {
	_, ok := g.entries["reftable"]
	return ok
}

// lostBranch compares what is known of the current branch of a linked worktree.
func lostBranch(old, now branchRef) []string {
	if old.Commit == "" || now.Name != old.Name || now.Commit != "" {
		return nil
	}
	return []string{refText(old.Name)}
}

const stashRef = "refs/stash"

// lost names the refs and the entries of the stash that now does not have.
func (g gitFiles) lost(now gitFiles) ([]string, error) {
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
		known := !now.hidden(name) && !now.hidden("packed-refs")
		if !has[name] && known && counts(name) && !(name == stashRef && stashes) {
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
func (g gitFiles) refs() (map[string]bool, error) {
	out := map[string]bool{}
	for name, e := range g.entries {
		if strings.HasPrefix(name, "refs/") && e.kind != kindDir && e.st.size > 0 && !strings.HasSuffix(name, ".lock") {
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

// lostStashes lists the lost entries of the stash and tells whether it had any entry at all.
func (g gitFiles) lostStashes(now gitFiles) (lost []string, had bool, err error) {
	const log = "logs/" + stashRef
	was, err := g.lines(log)
	if err != nil || now.hidden(log) {
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
func (g gitFiles) lines(name string) ([]string, error) {
	e, ok := g.entries[name]
	if !ok || e.kind != kindFile {
		return nil, nil
	}
	data, err := g.objects.content(e.oid)
	if err != nil {
		return nil, fmt.Errorf("read %s of git: %w", name, err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), nil
}

// commit is the object that a ref names; "" for one that names another ref.
func (g gitFiles) commit(name string) (string, error) {
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
