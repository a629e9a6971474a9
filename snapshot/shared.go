package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the linked worktrees of a repository share (branches, tags, the stash, the configuration) is captured and, since
// others may be at work in it, neither overwritten nor deleted by a restore: what is gone comes back, the rest stays as it
// is. An agent in a linked worktree can delete all of it.

// maxShared is the size in bytes above which a file of the shared folder is left out.
const maxShared = 4 << 20

// sharedFiles looks at the shared folder: what is in it but for objects, the git folders of submodules, and the folder of
// this worktree, which is captured by itself. Contents are stored in pack, unless that is nil. A folder that cannot be
// read has no files.
func (ext external) sharedFiles(pack *packWriter, base []entry, stable int64) ([]entry, error) {
	var list []entry
	err := filepath.WalkDir(ext.Common, func(p string, d fs.DirEntry, err error) error {
		rel, errRel := filepath.Rel(ext.Common, p)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || errRel != nil:
			return nil //nolint:nilerr // it is gone, or cannot be read
		case d.IsDir() && (p == ext.GitDir || slices.Contains([]string{"objects", "modules", "lfs", "annex"}, rel)):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(rel, ".lock"):
			return nil
		}
		e, err := sharedFile(pack, p, base, stable, rel)
		if err == nil && e.path != "" {
			list = append(list, e)
		}
		return err
	})
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return list, err
}

// sharedFile captures one file; its path is "" where that is not possible.
func sharedFile(pack *packWriter, file string, base []entry, stable int64, rel string) (entry, error) {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxShared {
		return entry{}, nil //nolint:nilerr // it is gone by now
	}
	e := entry{path: rel, kind: kindFile, st: statOf(fi)}
	if i := lookup(base, rel); i >= 0 && base[i].st == e.st && e.st.ctime != 0 && e.st.ctime < stable && (pack == nil || pack.has(base[i].oid)) {
		e.oid = base[i].oid
		return e, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return entry{}, nil //nolint:nilerr // as above
	}
	if pack == nil {
		e.oid = hashObject(objBlob, data)
		return e, nil
	}
	e.oid, err = pack.add(objBlob, data)
	return e, err
}

// sharedParts are what the commit of git's state has to hold for them.
func (m *manifest) sharedParts() []entry {
	id, err := parseOID(m.Shared)
	if err != nil {
		return nil
	}
	return append(slices.Clone(m.shared), entry{kind: kindFile, oid: id})
}

// readShared reads what a snapshot holds of the shared folder; nil for one that holds nothing of it.
func readShared(o *objects, m *manifest) ([]entry, error) {
	if m.Shared == "" || m.shared != nil {
		return m.shared, nil
	}
	id, err := parseOID(m.Shared)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	data, err := o.content(id)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	list, err := decodeEntries(data)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	return list, nil
}

// SharedLost says in words, as GitLost does, what of the state that linked worktrees share the snapshot from holds and the
// snapshot to does not. Whoever works in another worktree may have done that.
func (s *Store) SharedLost(from, to ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list [2][]entry
	for i, id := range []ID{from, to} {
		m, err := s.manifest(id)
		if err == nil {
			list[i], err = readShared(s.objects, m)
		}
		if err != nil {
			return nil, err
		}
	}
	lost, err := lostShared(s.objects, list[0], list[1])
	out := make([]string, len(lost))
	for i, l := range lost {
		out[i] = l.text
	}
	slices.Sort(out)
	return out, err
}

// lostRef is a ref, or an entry of the stash, that is gone.
type lostRef struct{ name, commit, subject, text string }

// lostShared compares two states. Entries of the stash come oldest first, as they have to be made again.
func lostShared(o *objects, had, has []entry) ([]lostRef, error) {
	old, now := sharedState(o, had), sharedState(o, has)
	if len(had) == 0 || old.reftable() || now.reftable() {
		return nil, nil
	}
	was, errWas := old.refs()
	is, errIs := now.refs()
	stashed, errOld := old.lines("logs/" + stashRef)
	kept, errNow := now.lines("logs/" + stashRef)
	if err := errors.Join(errWas, errIs, errOld, errNow); err != nil {
		return nil, err
	}
	var out []lostRef
	for name := range was {
		if is[name] || !counts(name) || name == stashRef {
			continue
		}
		commit, err := old.commit(name)
		if err != nil {
			return nil, err
		}
		out = append(out, lostRef{name: name, commit: commit, text: refText(name)})
	}
	slices.SortFunc(out, func(a, b lostRef) int { return cmp.Compare(a.name, b.name) })
	there := map[string]bool{}
	for _, l := range kept {
		commit, _ := stashEntry(l)
		there[commit] = true
	}
	for i, l := range stashed {
		if commit, subject := stashEntry(l); !there[commit] {
			out = append(out, lostRef{stashRef, commit, subject, stashText(len(stashed)-1-i, subject)})
		}
	}
	return out, nil
}

func sharedState(o *objects, list []entry) gitFiles {
	return gitFiles{objects: o, entries: byPath(list), dotGit: true, hidden: func(string) bool { return false }}
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

// restoreShared brings back what is gone of the shared state.
func (x *restorer) restoreShared(ctx context.Context, present, target *manifest) error {
	want, err := readShared(x.objects, target)
	if err != nil || len(want) == 0 {
		return err
	}
	common := x.tree.external.Common
	if _, err := os.Lstat(filepath.Join(common, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return x.remakeShared(want)
	}
	lost, err := lostShared(x.objects, want, present.shared)
	if err != nil {
		return err
	}
	for _, l := range lost {
		if l.commit == "" || l.name == target.Branch.Name {
			continue
		}
		args := []string{"--git-dir=" + common, "update-ref", "-m", "supervise: restore", l.name, l.commit, strings.Repeat("0", len(l.commit))}
		if l.name == stashRef {
			args = []string{"--git-dir=" + common, "update-ref", "--create-reflog", "-m", l.subject, l.name, l.commit}
		}
		if _, err := runGit(gitCommand(ctx, common, args...)); err != nil {
			x.r.mismatch(l.name, err.Error())
			continue
		}
		x.r.Shared = append(x.r.Shared, l.text)
	}
	return nil
}

// remakeShared writes every file that is not there; the repository was deleted.
func (x *restorer) remakeShared(want []entry) error {
	root, err := os.OpenRoot(x.tree.external.Common)
	if err != nil {
		return fmt.Errorf("open shared git folder: %w", err)
	}
	defer root.Close()
	for _, e := range want {
		if _, err := root.Lstat(e.path); err == nil {
			continue
		}
		data, err := x.objects.content(e.oid)
		if err != nil {
			return fmt.Errorf("read shared git state: %w", err)
		}
		if dir := dirOf(e.path); dir != "" {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make shared git folder: %w", err)
			}
		}
		if err := root.WriteFile(e.path, data, goMode(e.st.mode)); err != nil {
			return fmt.Errorf("write shared git folder: %w", err)
		}
	}
	for _, dir := range []string{"refs", "objects"} { // without them it is no repository
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make shared git folder: %w", err)
		}
	}
	x.r.Shared = append(x.r.Shared, "the repository "+x.tree.external.Common)
	return nil
}
