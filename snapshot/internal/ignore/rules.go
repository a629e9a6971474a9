package ignore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"supervise/internal/git"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/walk"
)

// plainIgnores is what is ignored where there is no git repository. Names are patterns of gitignore(5).
const plainIgnores = "node_modules/\ntarget/\n.venv/\nvenv/\n__pycache__/\n.tox/\n.*_cache/\n.gradle/\n.DS_Store\n"

// MaxPrecious is the size in bytes above which an ignored file is not captured, however precious its name.
const MaxPrecious = 1 << 20

// scope is the part of the tree that one repository rules, with a copy of its ignore files in the store.
type scope struct {
	Root       manifest.PathText // from the root of the tree, "" for the root
	Dir        string            // below the folder of the rules
	IgnoreCase string            // core.ignoreCase, "" if unset
	Plain      bool              // not a repository: .gitignore files mean nothing
}

// Config is the part of the rules that is kept in the store.
type Config struct {
	Scopes []scope
	Forced []manifest.PathText // tracked when the rules were made, although ignored
	// Kept are the topmost ignored folders whose files are captured, Dropped the others, and folders below them that are not.
	Kept, Dropped []manifest.PathText `json:",omitempty"`
}

// Rules decide what is ignored, by the ignore files as they were when the store was made.
type Rules struct {
	dir        string
	scopes     []scope
	Forced     map[string]bool
	ForcedDirs map[string]bool // the folders above them
	precious   []string
	tops       map[string]fate // see Config.Kept

	mu    sync.Mutex
	known map[string]bool   // what git has answered: path, folders with a slash at the end → ignored
	hints map[string]*Hints // by scope.Dir
}

// New makes rules from what was kept of them. dir holds the copied ignore files.
func New(dir string, c Config, precious []string) *Rules {
	r := &Rules{
		dir: dir, scopes: c.Scopes, precious: precious,
		Forced: map[string]bool{}, ForcedDirs: map[string]bool{}, known: map[string]bool{}, hints: map[string]*Hints{},
		tops: map[string]fate{},
	}
	for _, p := range c.Kept {
		r.tops[string(p)] = kept
	}
	for _, p := range c.Dropped {
		r.tops[string(p)] = dropped
	}
	for _, f := range c.Forced {
		r.force(string(f))
	}
	return r
}

// Config is the part of the rules to keep.
func (r *Rules) Config() Config {
	c := Config{Scopes: r.scopes, Forced: make([]manifest.PathText, 0, len(r.Forced))}
	for p := range r.Forced {
		c.Forced = append(c.Forced, manifest.PathText(p))
	}
	for p, f := range r.tops {
		if f == kept {
			c.Kept = append(c.Kept, manifest.PathText(p))
		} else {
			c.Dropped = append(c.Dropped, manifest.PathText(p))
		}
	}
	slices.Sort(c.Forced)
	slices.Sort(c.Kept)
	slices.Sort(c.Dropped)
	return c
}

func (r *Rules) force(p string) {
	r.Forced[p] = true
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		r.ForcedDirs[d] = true
	}
}

// Judgement is a walk's talk with git about ignored paths. It starts git only for paths that the base of the walk does
// not show and that some pattern may match.
type Judgement struct {
	*Rules
	base  *manifest.Manifest
	mu    sync.Mutex
	asked map[string]*asker // by scope.Dir
}

// Judge begins a walk. base is the manifest that the walk compares with.
func (r *Rules) Judge(base *manifest.Manifest) *Judgement {
	return &Judgement{Rules: r, base: base, asked: map[string]*asker{}}
}

// Close ends the git commands that were started.
func (j *Judgement) Close() {
	for _, a := range j.asked {
		a.close()
	}
}

// Ignored reports for every node of a folder of working files whether the rules ignore it; nil means that none is.
func (j *Judgement) Ignored(ctx context.Context, l *walk.Folder) ([]bool, error) {
	if l.Zone != walk.ZoneWork {
		return nil, nil
	}
	var out []bool
	var ask []int
	for i := range l.Nodes {
		ignored, known := j.recall(l.Dir, &l.Nodes[i])
		if !known {
			ask = append(ask, i)
		}
		if ignored {
			if out == nil {
				out = make([]bool, len(l.Nodes))
			}
			out[i] = true
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	if out == nil {
		out = make([]bool, len(l.Nodes))
	}
	paths := make([]string, len(ask))
	for k, i := range ask {
		paths[k] = walk.NodeKey(l.Dir, &l.Nodes[i])
	}
	answers, err := j.ask(ctx, j.scopeOf(l.Dir), paths)
	if err != nil {
		return nil, err
	}
	j.Rules.mu.Lock()
	defer j.Rules.mu.Unlock()
	for k, i := range ask {
		out[i] = answers[k]
		j.known[paths[k]] = answers[k]
	}
	return out, nil
}

// recall decides without git, if that is possible.
func (j *Judgement) recall(dir string, n *walk.Node) (ignored, known bool) {
	if gitdir.IsDotGit(n.Name) {
		return false, true
	}
	if n.At >= 0 && j.captured(n) {
		return false, true
	}
	if len(j.base.Ignored) > 0 {
		key := walk.NodeKey(dir, n)
		if i := sort.SearchStrings(j.base.Ignored, key); i < len(j.base.Ignored) && j.base.Ignored[i] == key {
			return true, true
		}
	}
	if !j.mayIgnore(j.scopeOf(dir), n) {
		return false, true
	}
	j.Rules.mu.Lock()
	defer j.Rules.mu.Unlock()
	ignored, known = j.known[walk.NodeKey(dir, n)]
	return ignored, known
}

// captured reports whether the base shows that a node is not ignored. It does not of what it captured although ignored: a
// folder with tracked files, and a precious file that may have become too big for that.
func (j *Judgement) captured(n *walk.Node) bool {
	e := &j.base.Work[n.At]
	if n.Kind == disk.KindDir || e.Kind == disk.KindDir {
		return n.Kind == e.Kind && (len(j.ForcedDirs) == 0 || !j.ForcedDirs[e.Path])
	}
	return n.St.Size <= MaxPrecious || e.Stat.Size > MaxPrecious
}

// scopeOf finds the innermost scope that a folder lies in.
func (r *Rules) scopeOf(dir string) scope {
	best := r.scopes[0]
	for _, s := range r.scopes {
		root := string(s.Root)
		if len(root) > len(best.Root) && (dir == root || strings.HasPrefix(dir, root+"/")) {
			best = s
		}
	}
	return best
}

func (j *Judgement) ask(ctx context.Context, s scope, paths []string) ([]bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.asked[s.Dir]
	if a == nil {
		var err error
		if a, err = startAsker(ctx, filepath.Join(j.dir, s.Dir), s.IgnoreCase); err != nil {
			return nil, err
		}
		j.asked[s.Dir] = a
	}
	rel := make([]string, len(paths))
	for i, p := range paths {
		rel[i] = strings.TrimPrefix(strings.TrimPrefix(p, string(s.Root)), "/")
	}
	return a.ask(rel)
}

// IsPrecious reports whether an ignored file of that path and name is captured all the same, if it is small enough.
func (r *Rules) IsPrecious(p, base string) bool {
	for _, pattern := range r.precious {
		name := base
		if strings.Contains(pattern, "/") {
			name = p
		}
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// asker is one git check-ignore that answers as long as a walk lasts. It works in a scratch tree that holds nothing but
// the copied ignore files and the folders in question, which must exist for patterns such as "build/".
type asker struct {
	tree string
	cmd  interface{ Wait() error }
	in   io.WriteCloser
	out  *bufio.Reader
	errs *strings.Builder
}

func startAsker(ctx context.Context, dir, ignoreCase string) (*asker, error) {
	if err := makeScope(dir); err != nil {
		return nil, fmt.Errorf("make the copy of the ignore rules: %w", err)
	}
	tree := filepath.Join(dir, "tree")
	args := []string{"-c", "core.excludesFile=" + filepath.Join(dir, "global"), "-c", "core.attributesFile=" + os.DevNull}
	if ignoreCase != "" {
		args = append(args, "-c", "core.ignoreCase="+ignoreCase)
	}
	args = append(args, "--git-dir="+filepath.Join(dir, "git"), "--work-tree="+tree, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	cmd, err := gitdir.Alone(tree, args...).Prepare(ctx)
	if err != nil {
		return nil, err
	}
	a := &asker{tree: tree, cmd: cmd, errs: &strings.Builder{}}
	cmd.Stderr = a.errs
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		return nil, fmt.Errorf("start git: %w", cmp.Or(errIn, errOut))
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, git.CommandError(cmd.Dir, "check-ignore", err, "")
	}
	return a, nil
}

// ask judges paths below the scope's root; folders end in a slash.
func (a *asker) ask(paths []string) ([]bool, error) {
	var q strings.Builder
	for _, p := range paths {
		dir := strings.HasSuffix(p, "/")
		p = strings.TrimSuffix(p, "/")
		if dir {
			// It fails for a folder named .gitignore and for paths that are too long; git judges those as files.
			_ = os.MkdirAll(filepath.Join(a.tree, filepath.FromSlash(p)), 0o700)
		}
		q.WriteString("./" + p + "\x00") // a name may begin with a colon, which would be pathspec magic
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(a.in, q.String())
		sent <- err
	}()
	out := make([]bool, len(paths))
	var err error
	for i := 0; i < len(paths) && err == nil; i++ {
		out[i], err = a.answer()
	}
	if err != nil {
		a.in.Close()                                 // ends the write, should it still wait
		err = errors.Join(err, <-sent, a.cmd.Wait()) // after which all that git had to say is in errs
		return nil, fmt.Errorf("ask git what is ignored: %w: %s", err, strings.TrimSpace(a.errs.String()))
	}
	return out, <-sent
}

// answer reads source, line, pattern and path of one verdict. Without a pattern nothing matched.
func (a *asker) answer() (bool, error) {
	var field [4]string
	for i := range field {
		s, err := a.out.ReadString(0)
		if err != nil {
			return false, err
		}
		field[i] = strings.TrimSuffix(s, "\x00")
	}
	return field[2] != "" && !strings.HasPrefix(field[2], "!"), nil
}

func (a *asker) close() {
	a.in.Close()
	a.cmd.Wait() //nolint:errcheck // exit status 1 says that no path was ignored
}

// scopeDir names the copy of a scope's ignore files.
func scopeDir(n int) string { return "scope-" + strconv.Itoa(n) }
