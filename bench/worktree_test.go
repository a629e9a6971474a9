package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workTree is a generated repository, the same in every run.
type workTree struct {
	dir      string
	files    int
	revision int
	created  []string // by the last change
}

// newWorkTree makes a repository whose files are all committed, in one pack, as after a clone.
func newWorkTree(b *testing.B, dir string, files int) *workTree {
	b.Helper()
	w := &workTree{dir: dir, files: files}
	run(b, "", "git", "init", "-q", "-b", "main", dir)
	var stream bytes.Buffer
	stream.WriteString("commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 0\n")
	for i := range files {
		content := source(i, 0)
		put(b, filepath.Join(dir, w.file(i)), content)
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", w.file(i), len(content), content)
	}
	put(b, filepath.Join(dir, ".gitignore"), []byte("build/\n*.log\n*.tmp\n/local\n"))
	for i := range 24 {
		put(b, filepath.Join(dir, "build", fmt.Sprintf("out%d.o", i)), source(i, 1))
	}
	load := exec.Command("git", "fast-import", "--quiet")
	load.Dir, load.Stdin = dir, &stream
	if out, err := load.CombinedOutput(); err != nil {
		b.Fatalf("git fast-import: %v\n%s", err, out)
	}
	run(b, dir, "git", "reset", "-q")
	return w
}

// file is the name of a file: twelve a folder, twelve folders a folder.
func (w *workTree) file(i int) string {
	return fmt.Sprintf("src/part%d/unit%d/file%d.go", i/144, i/12%12, i)
}

// change modifies 80 % of n files, creates 10 % and deletes 10 %, which are those created by the change before.
func (w *workTree) change(b *testing.B, n int) {
	b.Helper()
	w.revision++
	for _, name := range w.created {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !os.IsNotExist(err) { // a restore has been here
			b.Fatal(err)
		}
	}
	w.created = w.created[:0]
	step := max(1, w.files*10/(8*max(n, 1)))
	for i := range n * 8 / 10 {
		at := i * step % w.files
		put(b, filepath.Join(w.dir, w.file(at)), source(at, w.revision))
	}
	for i := range n / 10 {
		at := i * 8 * step % w.files
		name := fmt.Sprintf("%s/new%d_%d.go", filepath.Dir(w.file(at)), w.revision, i)
		put(b, filepath.Join(w.dir, name), source(at, -w.revision))
		w.created = append(w.created, name)
	}
}

func put(b *testing.B, name string, content []byte) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		b.Fatal(err)
	}
}

// source is text that looks, and is as compressible, as a program; 0.4 to 6.8 KB.
func source(i, revision int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), uint64(revision)))
	size := 400 + r.IntN(6400)
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for w.Buffered()+b.Len() < size {
		fmt.Fprintf(w, "%s%s%d := %s.%s%d(%s, %d)\n", strings.Repeat("\t", 1+r.IntN(3)),
			words[r.IntN(len(words))], r.IntN(200), words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(100), words[r.IntN(len(words))], r.IntN(10000))
	}
	w.Flush()
	return b.Bytes()
}

var words = strings.Fields("order price client server request answer buffer index offset length parse encode decode reader writer " +
	"context error value number string table column record cache store branch commit object tree folder entry handler route session token")

// private is git with a separate index and object database.
type private struct{ work, dir string }

func newPrivate(b *testing.B, work, dir string) private {
	b.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o755); err != nil {
		b.Fatal(err)
	}
	return private{work, dir}
}

// add captures the tree and returns its id.
func (p private) add(b *testing.B) string {
	b.Helper()
	p.run(b, "add", "-A")
	return strings.TrimSpace(p.run(b, "write-tree"))
}

func (p private) run(b *testing.B, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.work
	cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(p.dir, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(p.dir, "objects"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func run(b *testing.B, dir, name string, args ...string) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
