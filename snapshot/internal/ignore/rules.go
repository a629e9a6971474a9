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

// plainIgnores are the ignore patterns, see gitignore(5), for folders that are not a git
// repository.
const plainIgnores = "node_modules/\ntarget/\n.venv/\nvenv/\n__pycache__/\n.tox/\n.*_cache/\n.gradle/\n.DS_Store\n"

// MaxPrecious is the size in bytes up to which ignored files with precious names are captured.
const MaxPrecious = 1 << 20

// scope is the part of the tree that belongs to one repository. A copy of its ignore files is
// in the store.
type scope struct {
	Root       manifest.PathText // relative to the root of the tree
	Dir        string            // folder of the copy, relative to the folder of the rules
	IgnoreCase string            // value of core.ignoreCase, "" if it is not set
	Plain      bool              // not a repository: .gitignore files have no effect
}

// Config is the part of the rules that is stored.
type Config struct {
	Scopes []scope
	Forced []manifest.PathText // ignored files that were tracked when the rules were created
	// Kept are the topmost ignored folders whose files are captured. Dropped are the other
	// topmost ignored folders, and folders below kept ones that are excluded.
	Kept, Dropped []manifest.PathText `json:",omitempty"`
}

// Rules decide what is ignored, by the ignore files that existed when the store was created.
type Rules struct {
	dir        string  // has the copies of the ignore files
	scopes     []scope // the first is the scope of the root
	Forced     map[string]bool
	ForcedDirs map[string]bool      // the parent folders of forced files
	precious   []string             // patterns of [path.Match]
	retentions map[string]retention // see Config.Kept

	mu      sync.Mutex
	answers map[string]bool   // answers of git: path, with a slash for folders → ignored
	hints   map[string]*Hints // by scope.Dir
}

// New creates rules from the stored configuration. dir contains the copied ignore files.
func New(dir string, c Config, precious []string) *Rules {
	r := &Rules{
		dir: dir, scopes: c.Scopes, precious: precious,
		Forced: map[string]bool{}, ForcedDirs: map[string]bool{}, answers: map[string]bool{}, hints: map[string]*Hints{},
		retentions: map[string]retention{},
	}
	for _, p := range c.Kept {
		r.retentions[string(p)] = retentionKept
	}
	for _, p := range c.Dropped {
		r.retentions[string(p)] = retentionDropped
	}
	for _, f := range c.Forced {
		r.forceTracked(string(f))
	}
	return r
}

// Config returns the part of the rules to store.
func (r *Rules) Config() Config {
	c := Config{Scopes: r.scopes, Forced: make([]manifest.PathText, 0, len(r.Forced))}
	for p := range r.Forced {
		c.Forced = append(c.Forced, manifest.PathText(p))
	}
	for p, f := range r.retentions {
		if f == retentionKept {
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

// forceTracked makes an ignored file be captured, because git tracks it.
func (r *Rules) forceTracked(p string) {
	r.Forced[p] = true
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		r.ForcedDirs[d] = true
	}
}

// Judgement decides which paths of one walk are ignored. It asks git only about paths that are
// not in the base manifest and that some pattern may match.
type Judgement struct {
	*Rules
	base   *manifest.Manifest
	mu     sync.Mutex
	askers map[string]*checkIgnore // by scope.Dir
}

// NewJudgement creates the judgement for a walk that compares with the manifest base.
func (r *Rules) NewJudgement(base *manifest.Manifest) *Judgement {
	return &Judgement{Rules: r, base: base, askers: map[string]*checkIgnore{}}
}

// Close ends the git processes that were started.
func (j *Judgement) Close() {
	for _, a := range j.askers {
		a.close()
	}
}

// FindIgnored reports for each node of a folder whether it is ignored, in the order of the
// nodes. A nil slice means that none is.
func (j *Judgement) FindIgnored(ctx context.Context, folder *walk.Folder) ([]bool, error) {
	if folder.Zone != walk.ZoneWork {
		return nil, nil
	}
	var out []bool
	var undecided []int
	for i := range folder.Nodes {
		ignored, known := j.decideWithoutGit(folder.Dir, &folder.Nodes[i])
		if !known {
			undecided = append(undecided, i)
		}
		if ignored {
			if out == nil {
				out = make([]bool, len(folder.Nodes))
			}
			out[i] = true
		}
	}

	if len(undecided) == 0 {
		return out, nil
	}
	if out == nil {
		out = make([]bool, len(folder.Nodes))
	}

	paths := make([]string, len(undecided))
	for k, i := range undecided {
		paths[k] = walk.NodeKey(folder.Dir, &folder.Nodes[i])
	}
	answers, err := j.ask(ctx, j.scopeOf(folder.Dir), paths)
	if err != nil {
		return nil, err
	}

	j.Rules.mu.Lock()
	defer j.Rules.mu.Unlock()
	for k, i := range undecided {
		out[i] = answers[k]
		j.answers[paths[k]] = answers[k]
	}
	return out, nil
}

// decideWithoutGit decides about a node by the base, the hints and earlier answers. known is
// false if only git can decide.
func (j *Judgement) decideWithoutGit(dir string, n *walk.Node) (ignored, known bool) {
	if gitdir.IsDotGit(n.Name) {
		return false, true
	}
	if n.BaseIndex >= 0 && j.isCapturedInBase(n) {
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
	ignored, known = j.answers[walk.NodeKey(dir, n)]
	return ignored, known
}

// isCapturedInBase reports whether the base shows that a node is not ignored. Ignored nodes
// that are captured prove nothing: a folder with tracked files, or a precious file that may
// have become too large.
func (j *Judgement) isCapturedInBase(n *walk.Node) bool {
	e := &j.base.Work[n.BaseIndex]
	if n.Kind == disk.KindDir || e.Kind == disk.KindDir {
		return n.Kind == e.Kind && (len(j.ForcedDirs) == 0 || !j.ForcedDirs[e.Path])
	}
	return n.Stat.Size <= MaxPrecious || e.Stat.Size > MaxPrecious
}

// scopeOf returns the innermost scope that contains a folder.
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

// ask asks git which of the paths in a scope are ignored. It starts the process of the scope
// on first use.
func (j *Judgement) ask(ctx context.Context, s scope, paths []string) ([]bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	process := j.askers[s.Dir]
	if process == nil {
		var err error
		if process, err = startCheckIgnore(ctx, filepath.Join(j.dir, s.Dir), s.IgnoreCase); err != nil {
			return nil, err
		}
		j.askers[s.Dir] = process
	}
	relative := make([]string, len(paths))
	for i, p := range paths {
		relative[i] = strings.TrimPrefix(strings.TrimPrefix(p, string(s.Root)), "/")
	}
	return process.ask(relative)
}

// IsPrecious reports whether an ignored file matches a precious pattern, and is captured if it is small enough.
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

// checkIgnore is a git check-ignore process that answers during a walk. It runs in a scratch
// tree that has the copied ignore files, and the folders in question: patterns such as
// "build/" match only folders that exist.
type checkIgnore struct {
	tree string // the scratch tree
	cmd  interface{ Wait() error }
	in   io.WriteCloser   // paths, each with a zero byte at its end
	out  *bufio.Reader    // answers, see readAnswer
	errs *strings.Builder // standard error; complete after Wait
}

// startCheckIgnore starts the process for a scope whose copy is in dir.
func startCheckIgnore(ctx context.Context, dir, ignoreCase string) (*checkIgnore, error) {
	if err := makeScope(dir); err != nil {
		return nil, fmt.Errorf("make the copy of the ignore rules: %w", err)
	}

	tree := filepath.Join(dir, "tree")
	args := []string{"-c", "core.excludesFile=" + filepath.Join(dir, "global"), "-c", "core.attributesFile=" + os.DevNull}
	if ignoreCase != "" {
		args = append(args, "-c", "core.ignoreCase="+ignoreCase)
	}
	args = append(args, "--git-dir="+filepath.Join(dir, "git"), "--work-tree="+tree, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")

	cmd, err := gitdir.IsolatedGit(tree, args...).Prepare(ctx)
	if err != nil {
		return nil, err
	}

	a := &checkIgnore{tree: tree, cmd: cmd, errs: &strings.Builder{}}
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

// ask reports for each path whether it is ignored. Paths are relative to the root of the
// scope; a slash at the end marks a folder.
func (a *checkIgnore) ask(paths []string) ([]bool, error) {
	var input strings.Builder
	for _, p := range paths {
		dir := strings.HasSuffix(p, "/")
		p = strings.TrimSuffix(p, "/")
		if dir {
			// This fails for a folder named .gitignore and for paths that are too long, which git then treats as files.
			_ = os.MkdirAll(filepath.Join(a.tree, filepath.FromSlash(p)), 0o700)
		}
		input.WriteString("./" + p + "\x00") // a leading colon would be pathspec magic
	}

	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(a.in, input.String())
		sent <- err
	}()

	out := make([]bool, len(paths))
	var err error
	for i := 0; i < len(paths) && err == nil; i++ {
		out[i], err = a.readAnswer()
	}

	if err != nil {
		a.in.Close()                                 // unblocks the write
		err = errors.Join(err, <-sent, a.cmd.Wait()) // now errs is complete
		return nil, fmt.Errorf("ask git what is ignored: %w: %s", err, strings.TrimSpace(a.errs.String()))
	}
	return out, <-sent
}

// readAnswer reads the answer about one path. It has four fields: the source, line and text of
// the pattern, and the path. The text is empty if no pattern matches, and starts with ! if the
// pattern includes the path again.
func (a *checkIgnore) readAnswer() (bool, error) {
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

// close ends the process.
func (a *checkIgnore) close() {
	a.in.Close()
	a.cmd.Wait() //nolint:errcheck // exit status 1 says that no path was ignored
}

// scopeDir returns the name of the folder of scope n.
func scopeDir(n int) string { return "scope-" + strconv.Itoa(n) }
