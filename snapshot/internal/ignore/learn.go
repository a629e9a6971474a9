package ignore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/walk"
)

// learner makes the rules of a new store: it copies every ignore file that counts and notes tracked files that are
// ignored.
type learner struct {
	work string
	skip string // path of the store, if it lies inside the tree
	*Rules

	mu      sync.Mutex
	j       *Judgement
	tracked []string          // of all scopes, sorted
	top     map[string]string // of folders below ignored ones: the topmost ignored one
	names   map[string]int    // in topmost ignored folders
	own     Own
	edited  map[string]string // of all scopes: tracked paths that differ from HEAD, with the id of its content
	staged  map[string]string // the same with the id that the index has, where the folder has another content
	unborn  []string          // scopes without a commit to compare with
}

// Learn fixes what is ignored by looking at the tree now. dir is where the ignore files are copied to.
//
// Own is what no commit holds.
func Learn(ctx context.Context, root *os.Root, dir, skip string, precious []string) (*Rules, Own, error) {
	l := &learner{
		work: root.Name(), skip: skip, Rules: New(dir, Config{}, precious), top: map[string]string{}, names: map[string]int{},
		own: Own{Files: map[manifest.PathText]string{}, Staged: map[manifest.PathText]string{}, Tips: map[manifest.PathText][]string{}}, edited: map[string]string{}, staged: map[string]string{},
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, Own{}, fmt.Errorf("make ignore rules: %w", err)
	}
	if err := l.addScope(ctx, ""); err != nil {
		return nil, Own{}, err
	}
	l.j = l.Judge(&manifest.Manifest{})
	defer l.j.Close()
	w := walk.Walker{Keep: l.keep, Visit: l.visit, Fail: func(string, manifest.Reason) {}}
	if err := w.Walk(ctx, root, walk.ZoneWork); err != nil {
		return nil, Own{}, err
	}
	return l.Rules, l.own, nil
}

func (l *learner) keep(dir string, _ walk.Zone) func(string) bool {
	if l.skip == "" {
		return nil
	}
	return func(name string) bool { return manifest.Join(dir, name) != l.skip }
}

func (l *learner) visit(ctx context.Context, at *walk.Folder) error {
	l.mu.Lock() // scopes are added here and looked up by others
	defer l.mu.Unlock()
	if at.Zone == walk.ZoneKept {
		l.ignoredFolder(at)
		return nil
	}
	if err := l.copyRules(ctx, at); err != nil {
		return err
	}
	ignored, err := l.j.Ignored(ctx, at)
	if err != nil {
		return err
	}
	for i := range at.Nodes {
		n := &at.Nodes[i]
		switch {
		case gitdir.IsDotGit(n.Name):
		case ignored != nil && ignored[i]:
			p := at.Join(n.Name)
			l.forceBelow(p, n.Kind == disk.KindDir)
			switch {
			case n.Kind != disk.KindDir:
				l.note(p)
			case !madeAnew(n.Name, true):
				n.Next, l.top[p], l.tops[p] = walk.ZoneKept, p, kept
			}
		case n.Kind == disk.KindDir:
			n.Next = walk.ZoneWork
		default:
			l.note(at.Join(n.Name))
		}
	}
	return nil
}

// ignoredFolder looks whether an ignored folder is kept.
func (l *learner) ignoredFolder(at *walk.Folder) {
	top := l.top[at.Dir]
	if l.names[top] += len(at.Nodes); l.names[top] > maxKeptNames {
		l.tops[top] = dropped
	}
	if installed(at.Nodes) {
		l.tops[at.Dir] = dropped
	}
	if l.tops[top] == dropped || l.tops[at.Dir] == dropped {
		return
	}
	for i := range at.Nodes {
		if n := &at.Nodes[i]; n.Kind == disk.KindDir && !madeAnew(n.Name, true) {
			n.Next, l.top[at.Join(n.Name)] = walk.ZoneKept, top
		}
	}
}

// copyRules takes note of a nested repository and of the folder's .gitignore.
func (l *learner) copyRules(ctx context.Context, at *walk.Folder) error {
	for _, n := range at.Nodes {
		if gitdir.IsDotGit(n.Name) && at.Dir != "" {
			if err := l.addScope(ctx, at.Dir); err != nil {
				return err
			}
		}
	}
	s := l.scopeOf(at.Dir)
	if s.Plain {
		return nil
	}
	for _, n := range at.Nodes {
		if n.Name != ".gitignore" || n.Kind != disk.KindFile {
			continue
		}
		data, err := at.Read(n.Name)
		if err != nil {
			continue // git could not read it either
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(at.Dir, string(s.Root)), "/")
		to := filepath.Join(l.dir, s.Dir, "tree", filepath.FromSlash(rel))
		if err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, n.Name), data, 0o600)); err != nil {
			return fmt.Errorf("copy ignore file: %w", err)
		}
		l.learn(s.Dir, data)
	}
	return nil
}

// learn takes the patterns of a copied file into the hints, if they have been read already.
func (l *learner) learn(dir string, file []byte) {
	l.Rules.mu.Lock()
	defer l.Rules.mu.Unlock()
	if h := l.hints[dir]; h != nil {
		h.Add(file)
	}
}

// forceBelow notes the tracked files among an ignored path and what is below it.
func (l *learner) forceBelow(p string, isDir bool) {
	i := sort.SearchStrings(l.tracked, p)
	if i < len(l.tracked) && l.tracked[i] == p {
		l.force(p)
	}
	if !isDir {
		return
	}
	for i = sort.SearchStrings(l.tracked, p+"/"); i < len(l.tracked) && strings.HasPrefix(l.tracked[i], p+"/"); i++ {
		l.force(l.tracked[i])
	}
}

// addScope makes the scratch repository of one scope. A nested repository that git cannot read is no error: it counts
// as one without rules of its own. The tree's own repository must be readable.
func (l *learner) addScope(ctx context.Context, rel string) error {
	root := filepath.Join(l.work, filepath.FromSlash(rel))
	s := scope{Root: manifest.PathText(rel), Dir: scopeDir(len(l.scopes))}
	exclude, global := []byte(plainIgnores), []byte(nil)
	if _, err := os.Lstat(filepath.Join(root, ".git")); errors.Is(err, fs.ErrNotExist) {
		s.Plain = true
	} else {
		tracked, err := gitdir.RepoGit(ctx, root, "ls-files", "-z")
		if err != nil && rel == "" {
			return fmt.Errorf("list tracked files of %s: %w", root, err)
		}
		for p := range strings.SplitSeq(strings.TrimSuffix(string(tracked), "\x00"), "\x00") {
			if p != "" {
				l.tracked = append(l.tracked, manifest.Join(rel, p))
			}
		}
		sort.Strings(l.tracked)
		l.compareHead(ctx, rel, root)
		exclude, global = repoIgnores(ctx, root)
		if out, err := gitdir.RepoGit(ctx, root, "config", "--type=bool", "--get", "core.ignoreCase"); err == nil {
			s.IgnoreCase = strings.TrimSpace(string(out))
		}
	}
	l.scopes = append(l.scopes, s)
	return writeScope(filepath.Join(l.dir, s.Dir), exclude, global)
}

// repoIgnores reads the ignore files of a repository that lie outside its tree: its own and the user's.
func repoIgnores(ctx context.Context, root string) (exclude, global []byte) {
	if out, err := gitdir.RepoGit(ctx, root, "rev-parse", "--git-path", "info/exclude"); err == nil {
		name := strings.TrimSuffix(string(out), "\n")
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		exclude, _ = projectfile.ReadAnywhere(name, projectfile.Git) // most repositories have none
	}
	if name := gitdir.UserIgnoreFile(ctx, root); name != "" {
		global, _ = projectfile.ReadAnywhere(name, projectfile.Git) // nor users
	}
	return exclude, global
}

// makeScope makes the folders of a scope's copy. A copy of the store, such as git's, may lack them where they are empty.
func makeScope(dir string) error {
	var errs []error
	for _, d := range []string{"tree", "git/objects", "git/refs", "git/info"} {
		errs = append(errs, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700))
	}
	return errors.Join(errs...)
}

func writeScope(dir string, exclude, global []byte) error {
	errs := []error{makeScope(dir)}
	for name, data := range map[string][]byte{"git/HEAD": []byte("ref: refs/heads/none\n"), "git/info/exclude": exclude, "global": global} {
		errs = append(errs, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), data, 0o600))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("copy ignore rules: %w", err)
	}
	return nil
}
