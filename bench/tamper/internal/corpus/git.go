package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/integrity"
	"supervise/source"
)

// maxBlob is the size in bytes from which a file is not looked at, as in
// `supervise audit`.
const maxBlob = 1 << 20

// Repo is a git directory, with or without a work tree, that is only read.
type Repo struct {
	Name string
	Dir  string
	Head string // Commit, full
	in   io.WriteCloser
	out  *bufio.Reader
	cat  *exec.Cmd
}

// OpenRepo starts the process that reads objects. The name is the last part of
// the path that says something.
func OpenRepo(dir string) (*Repo, error) {
	r := &Repo{Name: repoName(dir), Dir: dir}
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

// Close ends the git processes.
func (r *Repo) Close() error {
	_ = r.in.Close()
	return r.cat.Wait()
}

func (r *Repo) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", r.Dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// Blob reads an object; nil for what is missing, binary or too long.
func (r *Repo) Blob(id string) ([]byte, error) {
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
	if data = data[:n]; f[1] != "blob" || n > maxBlob || source.IsBinary(data) {
		return nil, nil
	}
	return data, nil
}

// rawChange is one file of a commit as git prints it.
type rawChange struct {
	Path, From  string
	before, Aft string // object names
	Status      byte
}

// Commit is one commit of the first-parent history.
type Commit struct {
	ID      string
	Subject string
	Files   []rawChange
}

func (c Commit) touchesTests() bool {
	for _, f := range c.Files {
		if IsTest(f.Path) || f.From != "" && IsTest(f.From) {
			return true
		}
	}
	return false
}

// TouchesCode reports whether a commit changes product code.
func (c Commit) TouchesCode() bool {
	for _, f := range c.Files {
		if source.DetectLanguage(f.Path, nil) != source.Unknown && !IsTest(f.Path) && f.Status == 'M' {
			return true
		}
	}
	return false
}

// IsTest reports whether supervise takes a file for a test file; files that are no source, such
// as fixtures, are none.
func IsTest(file string) bool {
	lang := source.DetectLanguage(file, nil)
	return lang != source.Unknown && source.IsTestFile(file, lang)
}

// TestCommits returns the last n commits that touch tests, newest first, no merges,
// of at most maxFiles files: of the first-parent history, and where that has not
// enough because all comes by merges, of the whole.
func (r *Repo) TestCommits(n, maxFiles int) ([]Commit, error) {
	return r.anyLog(n, maxFiles, Commit.touchesTests)
}

// CodeCommits are the same of commits that touch code, tests or not.
func (r *Repo) CodeCommits(n, maxFiles int) ([]Commit, error) {
	return r.anyLog(n, maxFiles, func(c Commit) bool {
		return slices.ContainsFunc(c.Files, func(f rawChange) bool { return source.DetectLanguage(f.Path, nil) != source.Unknown })
	})
}

func (r *Repo) anyLog(n, maxFiles int, want func(Commit) bool) ([]Commit, error) {
	list, err := r.log(n, maxFiles, want, "--first-parent")
	if err == nil && len(list) < n {
		list, err = r.log(n, maxFiles, want)
	}
	return list, err
}

func (r *Repo) log(n, maxFiles int, want func(Commit) bool, more ...string) ([]Commit, error) {
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
	var list []Commit
	var cur *Commit
	keep := func() {
		if cur != nil && len(cur.Files) > 0 && len(cur.Files) <= maxFiles && want(*cur) {
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
			cur = &Commit{ID: id, Subject: strings.TrimSpace(subject)}
			continue
		}
		if f, ok := readRaw(strings.TrimLeft(field, "\n"), in); ok && cur != nil {
			cur.Files = append(cur.Files, f)
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
	c := rawChange{before: f[2], Aft: f[3], Status: f[4][0], Path: next()}
	if c.Status == 'R' || c.Status == 'C' {
		c.From, c.Path = c.Path, next()
	}
	if f[0] == ":160000" || f[1] == "160000" {
		return rawChange{}, false // a submodule
	}
	return c, true
}

// Load reads the files of a commit as the audit wants them.
func (r *Repo) Load(c Commit) ([]integrity.File, error) {
	var out []integrity.File
	for _, f := range c.Files {
		before, err := r.Blob(f.before)
		if err != nil {
			return nil, err
		}
		after, err := r.Blob(f.Aft)
		if err != nil {
			return nil, err
		}
		file := integrity.File{Path: f.Path, Before: before, After: after, Added: f.Status == 'A', Deleted: f.Status == 'D'}
		switch f.Status {
		case 'R':
			file.OldPath = f.From
		case 'C':
			file.Added, file.Before = true, nil
		}
		out = append(out, file)
	}
	return out, nil
}

// Tree is a state of a project: a commit of a repository, files in memory, or one
// of those with changes laid over it.
type Tree struct {
	Paths []string
	ids   map[string]string
	Mem   map[string][]byte
	repo  *Repo
}

// TreeAt lists a commit.
func (r *Repo) TreeAt(id string) (*Tree, error) {
	out, err := r.git("ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil {
		return nil, err
	}
	t := &Tree{ids: map[string]string{}, Mem: map[string][]byte{}, repo: r}
	for _, line := range strings.Split(string(out), "\x00") {
		meta, file, ok := strings.Cut(line, "\t")
		if f := strings.Fields(meta); ok && len(f) == 3 && f[1] == "blob" && f[0] != "120000" {
			t.Paths, t.ids[file] = append(t.Paths, file), f[2]
		}
	}
	return t, nil
}

// Read returns a file's text, nil when it is not there or not text.
func (t *Tree) Read(file string) []byte {
	if data, ok := t.Mem[file]; ok {
		return data
	}
	id, ok := t.ids[file]
	if !ok || t.repo == nil {
		return nil
	}
	data, err := t.repo.Blob(id)
	if err != nil {
		return nil
	}
	t.Mem[file] = data
	return data
}

// Before is the tree as the audit asks for tests that did not change.
func (t *Tree) Before() integrity.Tree {
	return integrity.Tree{
		Paths: func() []string { return t.Paths },
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				if text := t.Read(p); text != nil {
					out[p] = text
				}
			}
			return out
		},
	}
}

// Before is the tree before a commit. The first commit has none.
func (r *Repo) Before(commit string) integrity.Tree {
	var t *Tree
	list := func() *Tree {
		if t == nil {
			var err error
			if t, err = r.TreeAt(commit + "^"); err != nil {
				t = &Tree{}
			}
		}
		return t
	}
	return integrity.Tree{
		Paths: func() []string { return list().Paths },
		Texts: func(paths []string) map[string][]byte { return list().Before().Texts(paths) },
	}
}

// Has reports whether the tree has a file.
func (t *Tree) Has(file string) bool {
	_, mem := t.Mem[file]
	_, git := t.ids[file]
	return mem || git
}

// Over returns the tree with changes laid over it.
func (t *Tree) Over(changes []Edit) *Tree {
	if len(changes) == 0 {
		return t
	}
	n := &Tree{ids: t.ids, repo: t.repo, Mem: map[string][]byte{}}
	gone := map[string]bool{}
	for k, v := range t.Mem {
		n.Mem[k] = v
	}
	for _, e := range changes {
		if e.Gone {
			gone[e.Path] = true
			n.Mem[e.Path] = nil
			continue
		}
		if !t.Has(e.Path) {
			n.Paths = append(n.Paths, e.Path)
		}
		if e.From != "" {
			gone[e.From] = true
			n.Mem[e.From] = nil
		}
		n.Mem[e.Path] = e.After
	}
	for _, p := range t.Paths {
		if !gone[p] {
			n.Paths = append(n.Paths, p)
		}
	}
	return n
}

// Edit is a change of one file: its new text, or that it is gone.
type Edit struct {
	Path, From string
	After      []byte
	Gone       bool
}

// Changed turns edits into what the audit looks at, with the text before from the
// base. Later edits of a path replace earlier ones.
func Changed(base *Tree, edits []Edit) []integrity.File {
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
		f := integrity.File{Path: e.Path, After: e.After, Deleted: e.Gone}
		if e.Gone {
			f.After = nil
		}
		f.Before = base.Read(e.Path)
		if f.Before == nil {
			f.Added = !e.Gone
		}
		if e.From != "" {
			f.OldPath, f.Before, f.Added = e.From, base.Read(e.From), false
		}
		put(e.Path, f)
	}
	return prune(out, base)
}

// prune drops what did not change and splits renames of text that is no longer
// alike, as git does at 40 %.
func prune(files []integrity.File, base *Tree) []integrity.File {
	out := files[:0]
	for _, f := range files {
		if f.OldPath == "" && (bytes.Equal(f.Before, f.After) && !f.Deleted && !f.Added || f.Deleted && !base.Has(f.Path)) {
			continue
		}
		out = append(out, f)
	}
	return out
}
