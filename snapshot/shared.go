package snapshot

import (
	"cmp"
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
func sharedFiles(ext external, w *packWriter, base []entry, stable int64) ([]entry, error) {
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
		e, err := sharedFile(w, p, base, stable, rel)
		if err == nil && e.path != "" {
			list = append(list, e)
		}
		return err
	})
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return list, err
}

// sharedFile captures one file; its path is "" where that is not possible.
func sharedFile(w *packWriter, file string, base []entry, stable int64, rel string) (entry, error) {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxShared {
		return entry{}, nil //nolint:nilerr // it is gone by now
	}
	e := entry{path: rel, kind: kindFile, st: statOf(fi)}
	if i := lookup(base, rel); i >= 0 && base[i].st == e.st && e.st.ctime != 0 && e.st.ctime < stable && (w == nil || w.has(base[i].oid)) {
		e.oid = base[i].oid
		return e, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return entry{}, nil //nolint:nilerr // as above
	}
	if w == nil {
		e.oid = hashObject(objBlob, data)
		return e, nil
	}
	e.oid, err = w.add(objBlob, data)
	return e, err
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
