package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	room "supervise/internal/git"
	"supervise/snapshot/internal/restore"
)

// untimed leaves out when a skipped file was changed.
var untimed = cmpopts.IgnoreFields(Skip{}, "Mtime")

// git runs the real git in dir as a user would, but with a configuration of the test's own.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func gitTry(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(room.CleanEnv(os.Environ()), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func write(t *testing.T, dir, name, content string, mode ...fs.FileMode) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(p), 0o755))
	must(t, os.WriteFile(p, []byte(content), 0o644))
	for _, m := range mode {
		must(t, os.Chmod(p, m))
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	must(t, err)
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}

// workshop makes a repository in the middle of work: commits on two branches, a stash, staged, unstaged,
// untracked, ignored and precious files, odd names and modes, nested repositories, line-end conversion and filters.
func workshop(t *testing.T) string {
	t.Helper()
	template.Do(func() {
		var err error
		template.dir, err = os.MkdirTemp("", "workshop")
		must(t, err)
		makeWorkshop(t, template.dir)
		for _, repo := range []string{".", "nested", "unborn"} { // of a dozen samples one stays
			samples, err := filepath.Glob(filepath.Join(template.dir, repo, ".git/hooks/[^f]*.sample"))
			must(t, err)
			for _, name := range samples {
				must(t, os.Remove(name))
			}
		}
	})
	dir := filepath.Join(t.TempDir(), "work")
	copyAll(t, template.dir, dir)
	for _, repo := range []string{dir, filepath.Join(dir, "nested")} { // as git leaves it, which knows each file by its inode
		git(t, repo, "update-index", "-q", "--refresh")
	}
	return dir
}

// template is the workshop that the others are copies of: git takes thirty processes to make one.
var template struct {
	sync.Once
	dir string
}

// copyAll copies a tree with its modes and links.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		copied := to + strings.TrimPrefix(p, from)
		fi, err := d.Info()
		must(t, err)
		switch {
		case d.IsDir():
			must(t, os.MkdirAll(copied, 0o755))
		case fi.Mode().IsRegular():
			data, err := os.ReadFile(p)
			must(t, err)
			must(t, os.WriteFile(copied, data, 0o600))
		default:
			link, err := os.Readlink(p)
			must(t, err)
			return os.Symlink(link, copied)
		}
		return os.Chmod(copied, fi.Mode().Perm())
	}))
}

func makeWorkshop(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Chmod(dir, 0o755)) //nolint:gosec // as the folder of a project is
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, ".gitignore", "node_modules/\n*.log\n.env\nbin/\n!keep.log\n")
	write(t, dir, ".gitattributes", "*.txt text=auto\n*.dat filter=upper\n")
	for _, c := range [][2]string{{"core.autocrlf", "true"}, {"filter.upper.clean", "tr a-z A-Z"}, {"filter.upper.smudge", "tr A-Z a-z"}} {
		git(t, dir, "config", c[0], c[1])
	}
	write(t, dir, "main.go", "package main\n")
	write(t, dir, "lib/lib.go", "package lib\n")
	write(t, dir, "lib/lib_test.go", "package lib // test\n")
	write(t, dir, "crlf.txt", "one\r\ntwo\r\n")
	write(t, dir, "data.dat", "filtered\n")
	write(t, dir, "run.sh", "#!/bin/sh\n", 0o755)
	write(t, dir, "secret.conf", "private\n", 0o600)
	write(t, dir, "bin/tool", "tracked although ignored\n", 0o755)
	must(t, os.Symlink("lib/lib.go", filepath.Join(dir, "link")))
	git(t, dir, "add", ".")
	git(t, dir, "add", "-f", "bin/tool")
	git(t, dir, "commit", "-q", "-m", "one")
	git(t, dir, "branch", "other")
	write(t, dir, "main.go", "package main // two\n")
	git(t, dir, "commit", "-q", "-am", "two")
	write(t, dir, "main.go", "package main // stashed\n")
	git(t, dir, "stash", "-q")
	write(t, dir, "lib/lib.go", "package lib // staged\n")
	git(t, dir, "add", "lib/lib.go")
	write(t, dir, "lib/lib.go", "package lib // staged, then changed\n")
	write(t, dir, "untracked.go", "package main // untracked\n")
	write(t, dir, "node_modules/dep/index.js", "dep\n")
	write(t, dir, "build.log", "log\n")
	write(t, dir, "keep.log", "kept\n")
	write(t, dir, ".env", "TOKEN=1\n")
	write(t, dir, "bin/ignored", "ignored beside tracked\n")
	write(t, dir, "with space/new\nline", "odd\n")
	write(t, dir, ":colon", "magic\n")
	write(t, dir, "[work]", "bracket\n")
	write(t, dir, "git~1", "protected name\n")
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o750))
	if fsTakesBytes(dir) {
		write(t, dir, "latin-\xe9", "not UTF-8\n")
	}
	nested(t, dir)
}

func nested(t *testing.T, dir string) {
	t.Helper()
	sub := filepath.Join(dir, "nested")
	must(t, os.Mkdir(sub, 0o755))
	git(t, sub, "init", "-q", "-b", "main")
	write(t, sub, ".gitignore", "*.tmp\n")
	write(t, sub, "a", "a\n")
	git(t, sub, "add", ".")
	git(t, sub, "commit", "-q", "-m", "nested")
	write(t, sub, "a", "dirty\n")
	write(t, sub, "x.log", "not ignored here\n")
	write(t, sub, "x.tmp", "ignored here\n")
	bare := filepath.Join(dir, "unborn")
	must(t, os.Mkdir(bare, 0o755))
	git(t, bare, "init", "-q", "-b", "main")
	write(t, bare, "b", "b\n")
}

func fsTakesBytes(dir string) bool {
	p := filepath.Join(dir, "probe-\xe9")
	defer func() { _ = os.Remove(p) }()
	return os.WriteFile(p, nil, 0o600) == nil
}

func open(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dir, filepath.Join(storeBase(t), "store"), o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// storesEnv names a folder on another disk than the trees, to run all tests with stores there.
const storesEnv = "SNAPSHOT_TEST_STORES"

func storeBase(t *testing.T) string {
	t.Helper()
	base := os.Getenv(storesEnv)
	if base == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(base, "stores")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// reopen opens the store again as a later process would.
func reopen(t *testing.T, s *Store) *Store {
	t.Helper()
	n, err := Open(context.Background(), s.work, s.dir, s.opts)
	must(t, err)
	t.Cleanup(func() { n.Close() })
	return n
}

func take(t *testing.T, s *Store) Info {
	t.Helper()
	i, err := s.Take(context.Background(), t.Name())
	must(t, err)
	return i
}

func mustRestore(t *testing.T, s *Store, id ID) Restored {
	t.Helper()
	r, err := s.Restore(context.Background(), id)
	must(t, err)
	if len(r.Mismatches) > 0 {
		t.Errorf("restore left mismatches: %v", r.Mismatches)
	}
	return r
}

// picture is everything that a user could miss: each path with type, permissions and bytes, ignored ones included and
// git's objects excluded, and what git says about every repository.
func picture(t *testing.T, dir string) map[string]string {
	t.Helper()
	pic := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.IsDir() && d.Name() == "objects" && strings.Contains(rel, ".git") {
			pic[rel] = "objects"
			return fs.SkipDir
		}
		if rel == restore.DisplacedDirInTree { // see Restored.Displaced
			return fs.SkipDir
		}
		if d.Name() == ".git" {
			describe(t, filepath.Dir(p), rel, pic)
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text := fi.Mode().String()
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text += " " + string(b)
		case fi.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			text += " -> " + to
		}
		pic[rel] = text
		return nil
	}))
	return pic
}

// status is what git says of HEAD, of the index and other files, and of stashes.
const status = "status --porcelain=v2 --branch --show-stash --ignored"

// describe adds what git says of a repository beyond the bytes of its files. Without commit graphs fsck starts two
// programs less.
func describe(t *testing.T, repo, key string, pic map[string]string) {
	t.Helper()
	for _, args := range []string{status, "for-each-ref", "-c core.commitGraph=false -c core.multiPackIndex=false fsck --full --no-dangling"} {
		out, err := gitTry(repo, strings.Fields(args)...)
		pic[key+" $ git "+args] = fmt.Sprint(out, err)
	}
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// noise writes a file that cannot be compressed.
func noise(t *testing.T, dir, name string, size int) {
	t.Helper()
	data := make([]byte, size)
	seed := [32]byte{}
	copy(seed[:], name)
	_, err := rand.NewChaCha8(seed).Read(data)
	must(t, err)
	write(t, dir, name, string(data))
}

// sizes lists all files below a folder.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err == nil {
			out[strings.TrimPrefix(p, dir)] = fi.Size()
		}
		return err
	}))
	return out
}

// small makes a repository with little in it, but something of every kind that a restore treats in a special way.
func small(t *testing.T) string {
	t.Helper()
	dir := repository(t)
	write(t, dir, "deep/er/c.txt", "c\n")
	write(t, dir, "run.sh", "#!/bin/sh\n", 0o755)
	must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	git(t, dir, "branch", "other")
	return dir
}

// havoc changes all of it.
func havoc(t *testing.T, dir string) {
	t.Helper()
	write(t, dir, "a.txt", "rejected\n")
	must(t, os.RemoveAll(filepath.Join(dir, "deep")))
	write(t, dir, "deep", "a file in place of a folder\n")
	must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o600))
	must(t, os.Remove(filepath.Join(dir, "link")))
	write(t, dir, "link/inside", "a folder in place of a link\n")
	must(t, os.Remove(filepath.Join(dir, "empty")))
	write(t, dir, "new/file", "new\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "agent")
	git(t, dir, "branch", "-q", "-D", "other")
}
