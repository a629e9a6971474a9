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

// learner creates the rules of a new store in one walk of the tree. It copies all ignore files
// that apply, and records uncommitted files and ignored files that git tracks.
type learner struct {
	work string // path of the tree
	skip string // path of the store, if it is inside the tree
	*Rules

	mu          sync.Mutex
	judgement   *Judgement
	tracked     []string          // paths in all scopes, sorted
	topmost     map[string]string // ignored folder → the topmost ignored folder that contains it
	nameCounts  map[string]int    // topmost ignored folder → number of names in it
	uncommitted Uncommitted
	edited      map[string]string // tracked path that differs from HEAD → id of the content in HEAD
	staged      map[string]string // path whose staged and current content differ → id of the staged content
	unborn      []string          // scopes without commits
}

// Learn creates the ignore rules from the current tree, and lists the work that is in no
// commit. It copies the ignore files to dir. skip is the path of the store if that is inside
// the tree, and "" otherwise.
func Learn(ctx context.Context, root *os.Root, dir, skip string, precious []string) (*Rules, Uncommitted, error) {
	l := &learner{
		work: root.Name(), skip: skip, Rules: New(dir, Config{}, precious), topmost: map[string]string{}, nameCounts: map[string]int{},
		uncommitted: Uncommitted{Files: map[manifest.PathText]string{}, Staged: map[manifest.PathText]string{}, Tips: map[manifest.PathText][]string{}}, edited: map[string]string{}, staged: map[string]string{},
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, Uncommitted{}, fmt.Errorf("make ignore rules: %w", err)
	}
	if err := l.addScope(ctx, ""); err != nil {
		return nil, Uncommitted{}, err
	}
	l.judgement = l.NewJudgement(&manifest.Manifest{})
	defer l.judgement.Close()
	w := walk.Walker{Keep: l.keepFilter, Visit: l.visit, Fail: func(string, manifest.Reason) {}}
	if err := w.Walk(ctx, root, walk.ZoneWork); err != nil {
		return nil, Uncommitted{}, err
	}
	return l.Rules, l.uncommitted, nil
}

// keepFilter returns a function that excludes the store from the walk, nil if the store is
// outside the tree.
func (l *learner) keepFilter(dir string, _ walk.Zone) func(string) bool {
	if l.skip == "" {
		return nil
	}
	return func(name string) bool { return manifest.Join(dir, name) != l.skip }
}

// visit learns from one folder, and says in Next which of its subfolders are visited, and as
// what.
func (l *learner) visit(ctx context.Context, at *walk.Folder) error {
	l.mu.Lock() // visits of other folders read the scopes
	defer l.mu.Unlock()
	if at.Zone == walk.ZoneKept {
		l.visitIgnored(at)
		return nil
	}

	if err := l.copyRules(ctx, at); err != nil {
		return err
	}

	ignored, err := l.judgement.FindIgnored(ctx, at)
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
				l.recordUncommitted(p)
			case !isRegenerable(n.Name, true):
				n.Next, l.topmost[p], l.retentions[p] = walk.ZoneKept, p, retentionKept
			}
		case n.Kind == disk.KindDir:
			n.Next = walk.ZoneWork
		default:
			l.recordUncommitted(at.Join(n.Name))
		}
	}
	return nil
}

// visitIgnored decides whether an ignored folder is kept. A topmost ignored folder is dropped
// when it has too many names.
func (l *learner) visitIgnored(at *walk.Folder) {
	top := l.topmost[at.Dir]
	if l.nameCounts[top] += len(at.Nodes); l.nameCounts[top] > maxKeptNames {
		l.retentions[top] = retentionDropped
	}
	if isInstalled(at.Nodes) {
		l.retentions[at.Dir] = retentionDropped
	}
	if l.retentions[top] == retentionDropped || l.retentions[at.Dir] == retentionDropped {
		return
	}
	for i := range at.Nodes {
		if n := &at.Nodes[i]; n.Kind == disk.KindDir && !isRegenerable(n.Name, true) {
			n.Next, l.topmost[at.Join(n.Name)] = walk.ZoneKept, top
		}
	}
}

// copyRules adds a scope for a nested repository and copies the .gitignore of a folder.
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
			continue // git cannot read it either
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(at.Dir, string(s.Root)), "/")
		to := filepath.Join(l.dir, s.Dir, "tree", filepath.FromSlash(rel))
		if err := errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, n.Name), data, 0o600)); err != nil {
			return fmt.Errorf("copy ignore file: %w", err)
		}
		l.addToHints(s.Dir, data)
	}
	return nil
}

// addToHints adds the patterns of a copied file to the hints of a scope if these were already
// read.
func (l *learner) addToHints(dir string, file []byte) {
	l.Rules.mu.Lock()
	defer l.Rules.mu.Unlock()
	if h := l.hints[dir]; h != nil {
		h.Add(file)
	}
}

// forceBelow makes the tracked files at and below an ignored path be captured.
func (l *learner) forceBelow(p string, isDir bool) {
	for i := sort.SearchStrings(l.tracked, p); i < len(l.tracked) && strings.HasPrefix(l.tracked[i], p); i++ {
		if tracked := l.tracked[i]; tracked == p || isDir && tracked[len(p)] == '/' {
			l.forceTracked(tracked)
		}
	}
}

// addScope creates the scratch repository of a scope. A nested repository that git cannot read
// counts as one without rules; the repository of the tree itself must be readable.
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

// repoIgnores reads the ignore files outside the tree: info/exclude of the repository, and the
// global file of the user. A missing file is empty.
func repoIgnores(ctx context.Context, root string) (exclude, global []byte) {
	if out, err := gitdir.RepoGit(ctx, root, "rev-parse", "--git-path", "info/exclude"); err == nil {
		name := strings.TrimSuffix(string(out), "\n")
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, name)
		}
		exclude, _ = projectfile.ReadAnywhere(name, projectfile.Git) // optional
	}
	if name := gitdir.UserIgnoreFile(ctx, root); name != "" {
		global, _ = projectfile.ReadAnywhere(name, projectfile.Git) // optional
	}
	return exclude, global
}

// makeScope creates the folders of a scope. They may be missing in a copy of the store, since git omits empty folders.
func makeScope(dir string) error {
	var errs []error
	for _, d := range []string{"tree", "git/objects", "git/refs", "git/info"} {
		errs = append(errs, os.MkdirAll(filepath.Join(dir, filepath.FromSlash(d)), 0o700))
	}
	return errors.Join(errs...)
}

// writeScope creates a scope with the given texts of info/exclude and of the user's global
// ignore file.
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
