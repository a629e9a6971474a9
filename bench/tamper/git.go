package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"supervise/integrity"
	"supervise/source"
)

// maxBlob is the size in bytes from which a file is not looked at, as in
// `supervise audit`.
const maxBlob = 1 << 20

// repo is a git directory, with or without a work tree, that is only read.
type repo struct {
	Name string
	Dir  string
	Head string // commit, full
	in   io.WriteCloser
	out  *bufio.Reader
	cat  *exec.Cmd
}

// openRepo starts the process that reads objects. The name is the last part of
// the path that tells something.
func openRepo(dir string) (*repo, error) {
	r := &repo{Name: repoName(dir), Dir: dir}
	head, err := r.git("rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: give a git directory with commits", dir, err)
	}
	r.Head = strings.TrimSpace(string(head))
	r.cat = exec.Command("git", "-C", dir, "cat-file", "--batch")
	if r.in, err = r.cat.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cat.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewReaderSize(out, 1<<16)
	return r, r.cat.Start()
}

func repoName(dir string) string {
	dir = path.Clean(strings.ReplaceAll(dir, "\\", "/"))
	for path.Base(dir) == "repo" || path.Base(dir) == ".git" {
		dir = path.Dir(dir)
	}
	return strings.ReplaceAll(strings.TrimSuffix(path.Base(dir), ".git"), "+", "/")
}

func (r *repo) close() error {
	_ = r.in.Close()
	return r.cat.Wait()
}

func (r *repo) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", r.Dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// blob reads an object; nil for what is missing, binary or too long.
func (r *repo) blob(id string) ([]byte, error) {
	if strings.Trim(id, "0") == "" {
		return nil, nil
	}
	if _, err := io.WriteString(r.in, id+"\n"); err != nil {
		return nil, err
	}
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 {
		return nil, nil // missing, as in a partial clone
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %q", head)
	}
	data := make([]byte, n+1)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return nil, err
	}
	if data = data[:n]; f[1] != "blob" || n > maxBlob || source.Binary(data) {
		return nil, nil
	}
	return data, nil
}

// rawChange is one file of a commit as git prints it.
type rawChange struct {
	path, from  string
	before, aft string // object names
	status      byte
}

// commit is one commit of the first-parent history.
type commit struct {
	id      string
	subject string
	files   []rawChange
}

func (c commit) touchesTests() bool {
	for _, f := range c.files {
		if isTest(f.path) || f.from != "" && isTest(f.from) {
			return true
		}
	}
	return false
}

func (c commit) touchesCode() bool {
	for _, f := range c.files {
		if source.LanguageOf(f.path, nil) != source.Unknown && !isTest(f.path) && f.status == 'M' {
			return true
		}
	}
	return false
}

// isTest is what the house takes for a test file; files that are no source, such
// as fixtures, are none.
func isTest(file string) bool {
	lang := source.LanguageOf(file, nil)
	return lang != source.Unknown && source.TestFile(file, lang)
}

// testCommits returns the last n commits that touch tests, newest first, no merges,
// of at most maxFiles files: of the first-parent history, and where that has not
// enough because all comes by merges, of the whole.
func (r *repo) testCommits(n, maxFiles int) ([]commit, error) {
	list, err := r.testLog(n, maxFiles, "--first-parent")
	if err == nil && len(list) < n {
		list, err = r.testLog(n, maxFiles)
	}
	return list, err
}

func (r *repo) testLog(n, maxFiles int, more ...string) ([]commit, error) {
	args := append([]string{
		"-C", r.Dir, "log", "--no-merges", "--raw", "-z", "-M40%",
		"--no-abbrev", "--no-ext-diff", "--no-textconv", "--format=%x01%H%x02%s",
	}, more...)
	cmd := exec.Command("git", args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }() // the rest of the history is not wanted
	in := bufio.NewReaderSize(out, 1<<16)
	var list []commit
	var cur *commit
	keep := func() {
		if cur != nil && len(cur.files) > 0 && len(cur.files) <= maxFiles && cur.touchesTests() {
			list = append(list, *cur)
		}
	}
	for len(list) < n {
		field, err := in.ReadString(0)
		if err != nil {
			keep()
			break
		}
		field = strings.TrimSuffix(field, "\x00")
		if _, after, ok := strings.Cut(field, "\x01"); ok {
			keep()
			id, subject, _ := strings.Cut(after, "\x02")
			cur = &commit{id: id, subject: strings.TrimSpace(subject)}
			continue
		}
		if f, ok := readRaw(strings.TrimLeft(field, "\n"), in); ok && cur != nil {
			cur.files = append(cur.files, f)
		}
	}
	return list, nil
}

// readRaw reads ":mode mode before after status" and the one or two paths after it.
func readRaw(head string, in *bufio.Reader) (rawChange, bool) {
	f := strings.Fields(head)
	if len(f) != 5 || !strings.HasPrefix(head, ":") {
		return rawChange{}, false
	}
	next := func() string {
		s, _ := in.ReadString(0)
		return strings.TrimSuffix(s, "\x00")
	}
	c := rawChange{before: f[2], aft: f[3], status: f[4][0], path: next()}
	if c.status == 'R' || c.status == 'C' {
		c.from, c.path = c.path, next()
	}
	if f[0] == ":160000" || f[1] == "160000" {
		return rawChange{}, false // a submodule
	}
	return c, true
}

// load reads the files of a commit as the audit wants them.
func (r *repo) load(c commit) ([]integrity.File, error) {
	var out []integrity.File
	for _, f := range c.files {
		before, err := r.blob(f.before)
		if err != nil {
			return nil, err
		}
		after, err := r.blob(f.aft)
		if err != nil {
			return nil, err
		}
		file := integrity.File{Path: f.path, Before: before, After: after, Added: f.status == 'A', Deleted: f.status == 'D'}
		switch f.status {
		case 'R':
			file.OldPath = f.from
		case 'C':
			file.Added, file.Before = true, nil
		}
		out = append(out, file)
	}
	return out, nil
}

// tree is a state of a project: a commit of a repository, files in memory, or one
// of those with changes laid over it.
type tree struct {
	paths []string
	ids   map[string]string
	mem   map[string][]byte
	repo  *repo
}

// treeAt lists a commit.
func (r *repo) treeAt(id string) (*tree, error) {
	out, err := r.git("ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	t := &tree{ids: map[string]string{}, mem: map[string][]byte{}, repo: r}
	for _, line := range strings.Split(string(out), "\x00") {
		meta, file, ok := strings.Cut(line, "\t")
		if f := strings.Fields(meta); ok && len(f) == 3 && f[1] == "blob" && f[0] != "120000" {
			t.paths, t.ids[file] = append(t.paths, file), f[2]
		}
	}
	return t, nil
}

// read returns a file's text, nil when it is not there or not text.
func (t *tree) read(file string) []byte {
	if data, ok := t.mem[file]; ok {
		return data
	}
	id, ok := t.ids[file]
	if !ok || t.repo == nil {
		return nil
	}
	data, err := t.repo.blob(id)
	if err != nil {
		return nil
	}
	t.mem[file] = data
	return data
}

// before is the tree as the audit asks for tests that did not change.
func (t *tree) before() integrity.Tree {
	return integrity.Tree{
		Paths: func() []string { return t.paths },
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				if text := t.read(p); text != nil {
					out[p] = text
				}
			}
			return out
		},
	}
}

// before is the tree before a commit. The first commit has none.
func (r *repo) before(commit string) integrity.Tree {
	var t *tree
	list := func() *tree {
		if t == nil {
			var err error
			if t, err = r.treeAt(commit + "^"); err != nil {
				t = &tree{}
			}
		}
		return t
	}
	return integrity.Tree{
		Paths: func() []string { return list().paths },
		Texts: func(paths []string) map[string][]byte { return list().before().Texts(paths) },
	}
}

func (t *tree) has(file string) bool {
	_, mem := t.mem[file]
	_, git := t.ids[file]
	return mem || git
}

// over returns the tree with changes laid over it.
func (t *tree) over(changes []edit) *tree {
	if len(changes) == 0 {
		return t
	}
	n := &tree{ids: t.ids, repo: t.repo, mem: map[string][]byte{}}
	gone := map[string]bool{}
	for k, v := range t.mem {
		n.mem[k] = v
	}
	for _, e := range changes {
		if e.gone {
			gone[e.path] = true
			n.mem[e.path] = nil
			continue
		}
		if !t.has(e.path) {
			n.paths = append(n.paths, e.path)
		}
		if e.from != "" {
			gone[e.from] = true
			n.mem[e.from] = nil
		}
		n.mem[e.path] = e.after
	}
	for _, p := range t.paths {
		if !gone[p] {
			n.paths = append(n.paths, p)
		}
	}
	return n
}

// edit is a change of one file: its new text, or that it is gone.
type edit struct {
	path, from string
	after      []byte
	gone       bool
}

// changed turns edits into what the audit looks at, with the text before from the
// base. Later edits of a path replace earlier ones.
func changed(base *tree, edits []edit) []integrity.File {
	last := map[string]int{}
	var out []integrity.File
	put := func(path string, f integrity.File) {
		if i, ok := last[path]; ok {
			f.Before, f.OldPath, f.Added = out[i].Before, out[i].OldPath, out[i].Added
			out[i] = f
			return
		}
		last[path] = len(out)
		out = append(out, f)
	}
	for _, e := range edits {
		f := integrity.File{Path: e.path, After: e.after, Deleted: e.gone}
		if e.gone {
			f.After = nil
		}
		f.Before = base.read(e.path)
		if f.Before == nil {
			f.Added = !e.gone
		}
		if e.from != "" {
			f.OldPath, f.Before, f.Added = e.from, base.read(e.from), false
		}
		put(e.path, f)
	}
	return prune(out, base)
}

// prune drops what did not change and splits renames of text that is no longer
// alike, as git does at 40 %.
func prune(files []integrity.File, base *tree) []integrity.File {
	out := files[:0]
	for _, f := range files {
		if f.OldPath == "" && (bytes.Equal(f.Before, f.After) && !f.Deleted && !f.Added || f.Deleted && !base.has(f.Path)) {
			continue
		}
		out = append(out, f)
	}
	return out
}
