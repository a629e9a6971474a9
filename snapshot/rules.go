package snapshot

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
)

// plainIgnores is what is ignored where there is no git repository. Names are patterns of gitignore(5).
const plainIgnores = "node_modules/\ntarget/\n.venv/\nvenv/\n__pycache__/\n.tox/\n.mypy_cache/\n.pytest_cache/\n.ruff_cache/\n.gradle/\n.DS_Store\n"

// maxPrecious is the size in bytes above which an ignored file is not captured, however precious its name.
const maxPrecious = 1 << 20

// scope is the part of the tree that one repository rules, with a copy of its ignore files in the store.
type scope struct {
	Root       pathText // from the root of the tree, "" for the root
	Dir        string   // below the folder of the rules
	IgnoreCase string   // core.ignoreCase, "" if unset
	Plain      bool     // not a repository: .gitignore files mean nothing
}

// ruleConfig is the part of the rules that is kept in the store.
type ruleConfig struct {
	Scopes []scope
	Forced []pathText // tracked when the rules were made, although ignored
}

// rules decide what is ignored, by the ignore files as they were when the store was made.
type rules struct {
	dir        string
	scopes     []scope
	forced     map[string]bool
	forcedDirs map[string]bool // the folders above them
	precious   []string

	mu    sync.Mutex
	known map[string]bool   // what git has answered: path, folders with a slash at the end → ignored
	hints map[string]*hints // by scope.Dir
}

func newRules(dir string, c ruleConfig, precious []string) *rules {
	r := &rules{
		dir: dir, scopes: c.Scopes, precious: precious,
		forced: map[string]bool{}, forcedDirs: map[string]bool{}, known: map[string]bool{}, hints: map[string]*hints{},
	}
	for _, f := range c.Forced {
		r.force(string(f))
	}
	return r
}

// config is the part of the rules to keep.
func (r *rules) config() ruleConfig {
	c := ruleConfig{Scopes: r.scopes, Forced: make([]pathText, 0, len(r.forced))}
	for p := range r.forced {
		c.Forced = append(c.Forced, pathText(p))
	}
	slices.Sort(c.Forced)
	return c
}

func (r *rules) force(p string) {
	r.forced[p] = true
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		r.forcedDirs[d] = true
	}
}

// judgement is a walk's talk with git about ignored paths. It starts git only for paths that the base of the walk does
// not show and that some pattern may match.
type judgement struct {
	*rules
	base  *manifest
	mu    sync.Mutex
	asked map[string]*asker // by scope.Dir
}

func (r *rules) judge(base *manifest) *judgement {
	return &judgement{rules: r, base: base, asked: map[string]*asker{}}
}

func (j *judgement) close() {
	for _, a := range j.asked {
		a.close()
	}
}

// ignored tells for every node of a folder of working files whether the rules ignore it; nil says that none is.
func (j *judgement) ignored(ctx context.Context, l *listing) ([]bool, error) {
	if l.zone != zoneWork {
		return nil, nil
	}
	var out []bool
	var ask []int
	for i := range l.nodes {
		ignored, known := j.recall(l.dir, &l.nodes[i])
		if !known {
			ask = append(ask, i)
		}
		if ignored {
			if out == nil {
				out = make([]bool, len(l.nodes))
			}
			out[i] = true
		}
	}
	if len(ask) == 0 {
		return out, nil
	}
	if out == nil {
		out = make([]bool, len(l.nodes))
	}
	paths := make([]string, len(ask))
	for k, i := range ask {
		paths[k] = nodeKey(l.dir, &l.nodes[i])
	}
	answers, err := j.ask(ctx, j.scopeOf(l.dir), paths)
	if err != nil {
		return nil, err
	}
	j.rules.mu.Lock()
	defer j.rules.mu.Unlock()
	for k, i := range ask {
		out[i] = answers[k]
		j.known[paths[k]] = answers[k]
	}
	return out, nil
}

// recall decides without git, if that is possible.
func (j *judgement) recall(dir string, n *node) (ignored, known bool) {
	if isDotGit(n.name) {
		return false, true
	}
	if n.at >= 0 && j.captured(n) {
		return false, true
	}
	if len(j.base.ignored) > 0 {
		key := nodeKey(dir, n)
		if i := sort.SearchStrings(j.base.ignored, key); i < len(j.base.ignored) && j.base.ignored[i] == key {
			return true, true
		}
	}
	if !j.mayIgnore(j.scopeOf(dir), n) {
		return false, true
	}
	j.rules.mu.Lock()
	defer j.rules.mu.Unlock()
	ignored, known = j.known[nodeKey(dir, n)]
	return ignored, known
}

// captured tells whether the base shows that a node is not ignored. It does not of what it captured although ignored: a
// folder with tracked files, and a precious file that may have become too big for that.
func (j *judgement) captured(n *node) bool {
	e := &j.base.work[n.at]
	if n.kind == kindDir || e.kind == kindDir {
		return n.kind == e.kind && (len(j.forcedDirs) == 0 || !j.forcedDirs[e.path])
	}
	return n.st.size <= maxPrecious || e.st.size > maxPrecious
}

// scopeOf finds the innermost scope that a folder lies in.
func (r *rules) scopeOf(dir string) scope {
	best := r.scopes[0]
	for _, s := range r.scopes {
		root := string(s.Root)
		if len(root) > len(best.Root) && (dir == root || strings.HasPrefix(dir, root+"/")) {
			best = s
		}
	}
	return best
}

func (j *judgement) ask(ctx context.Context, s scope, paths []string) ([]bool, error) {
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

// isPrecious tells whether an ignored file of that path and name is captured all the same, if it is small enough.
func (r *rules) isPrecious(p, base string) bool {
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
// the copied ignore files and the folders that were asked about, which must exist for patterns such as "build/".
type asker struct {
	tree string
	cmd  interface{ Wait() error }
	in   io.WriteCloser
	out  *bufio.Reader
	errs *strings.Builder
}

func startAsker(ctx context.Context, dir, ignoreCase string) (*asker, error) {
	tree := filepath.Join(dir, "tree")
	args := []string{"-c", "core.excludesFile=" + filepath.Join(dir, "global"), "-c", "core.attributesFile=" + os.DevNull}
	if ignoreCase != "" {
		args = append(args, "-c", "core.ignoreCase="+ignoreCase)
	}
	args = append(args, "--git-dir="+filepath.Join(dir, "git"), "--work-tree="+tree, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	cmd := gitCommand(ctx, tree, args...)
	a := &asker{tree: tree, cmd: cmd, errs: &strings.Builder{}}
	cmd.Stderr = a.errs
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil {
		return nil, fmt.Errorf("start git: %w", cmp.Or(errIn, errOut))
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, gitError(cmd, err, "")
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
