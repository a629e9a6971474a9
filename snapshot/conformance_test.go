package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/snapshot/internal/gitdir"
)

// backend is what every way to keep the trees of a folder can do.
type backend interface {
	take() (string, error)
	restore(id string) error
	changes(from, to string) (map[string]ChangeKind, error)
	read(id, path string) (string, error)
}

// ours is the store.
type ours struct{ s *Store }

func (o ours) take() (string, error) {
	i, err := o.s.Take(context.Background(), "")
	return string(i.ID), err
}

func (o ours) restore(id string) error {
	r, err := o.s.Restore(context.Background(), ID(id))
	if err == nil && len(r.Mismatches) > 0 {
		err = fmt.Errorf("mismatches: %v", r.Mismatches)
	}
	return err
}

func (o ours) changes(from, to string) (map[string]ChangeKind, error) {
	list, err := o.s.Changes(context.Background(), ID(from), ID(to))
	out := map[string]ChangeKind{}
	for _, c := range list {
		out[c.Path] = c.Kind
	}
	return out, err
}

func (o ours) read(id, path string) (string, error) {
	b, err := o.s.ReadFile(context.Background(), ID(id), path)
	return string(b), err
}

// plainGit is the reference: git with a private index and git directory, and attributes that keep it from converting
// anything. What it cannot do is listed at conformity.
type plainGit struct{ work, dir string }

func newPlainGit(t *testing.T, work string) plainGit {
	t.Helper()
	g := plainGit{work, filepath.Join(t.TempDir(), "reference.git")}
	git(t, work, "init", "-q", "--bare", g.dir)
	write(t, g.dir, "info/attributes", "* -text -filter -ident !working-tree-encoding -eol\n")
	for _, c := range [][2]string{{"core.bare", "false"}, {"core.autocrlf", "false"}, {"core.protectNTFS", "false"}, {"core.hooksPath", os.DevNull}} {
		git(t, work, "--git-dir="+g.dir, "config", c[0], c[1])
	}
	return g
}

func (g plainGit) git(args ...string) (string, error) {
	out, err := gitdir.IsolatedGit(g.work, append([]string{"--git-dir=" + g.dir, "--work-tree=" + g.work}, args...)...).Output(context.Background())
	return string(out), err
}

func (g plainGit) take() (string, error) {
	if _, err := g.git("add", "-A", "-f", "."); err != nil {
		return "", err
	}
	out, err := g.git("write-tree")
	return strings.TrimSpace(out), err
}

func (g plainGit) restore(id string) error {
	if _, err := g.take(); err != nil { // the index must know what is there
		return err
	}
	_, err := g.git("read-tree", "--reset", "-u", id)
	return err
}

func (g plainGit) changes(from, to string) (map[string]ChangeKind, error) {
	out, err := g.git("diff-tree", "-r", "-z", "--no-renames", from, to)
	kinds := map[string]ChangeKind{}
	f := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(f); i += 2 {
		h := strings.Fields(f[i])
		kind := map[string]ChangeKind{"A": Added, "D": Deleted, "M": Modified, "T": Modified}[h[4]]
		if kind == Modified && h[2] == h[3] && h[4] == "M" {
			kind = Mode
		}
		kinds[f[i+1]] = kind
	}
	return kinds, err
}

func (g plainGit) read(id, path string) (string, error) {
	return g.git("cat-file", "blob", id+":"+path)
}

// conformity says what of a tree both can keep. By design the store keeps more than git: all permission bits where git
// knows whether the owner may execute, empty folders where it knows files, and the contents of nested repositories where
// it knows commits (the sequences have none of those; see TestRestoreBringsBackEverything). And the store leaves out what
// is ignored, where the reference takes everything; the sequences make no such names.
func conformity(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			out[rel] = "-> " + to
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		out[rel] = strconv.FormatBool(fi.Mode()&0o100 != 0) + " " + string(text)
		return err
	}))
	return out
}

// agent does random things to a tree, the same ones to every tree for the same seed.
type agent struct {
	r   *rand.Rand
	dir string
}

// act does one thing.
func (a agent) act() error {
	switch a.r.IntN(8) {
	case 0, 1:
		return a.put(a.name(), a.text(), 0o644)
	case 2:
		return a.put(a.name(), a.text(), 0o755)
	case 3:
		return a.put(a.existing(), a.text(), 0o644)
	case 4:
		return os.RemoveAll(filepath.Join(a.dir, a.existing()))
	case 5:
		top, _, _ := strings.Cut(a.existing(), "/")
		return os.RemoveAll(filepath.Join(a.dir, top))
	case 6:
		target, name := a.existing(), a.name()
		return errors.Join(a.clear(name), os.Symlink(target, filepath.Join(a.dir, name)))
	default:
		return a.chmod(a.existing())
	}
}

func (a agent) name() string {
	parts := []string{"a", "b", "a b", "\u00e9", "-c", "new\nline", "[x]", "Z.txt"}
	name := parts[a.r.IntN(len(parts))]
	for a.r.IntN(2) == 0 {
		name += "/" + parts[a.r.IntN(len(parts))]
	}
	return name
}

func (a agent) text() string {
	return strings.Repeat([]string{"", "x\n", "y\r\n", "\x00\xff", "$ID$\n"}[a.r.IntN(5)], a.r.IntN(4))
}

// existing is a file or link of the tree, if it has any.
func (a agent) existing() string {
	var all []string
	_ = filepath.WalkDir(a.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, strings.TrimPrefix(p, a.dir+"/"))
		}
		return err
	})
	if len(all) == 0 {
		return a.name()
	}
	return all[a.r.IntN(len(all))]
}

// clear makes a place for a name: nothing is there, and all above it are folders.
func (a agent) clear(name string) error {
	for i, c := range name {
		if p := filepath.Join(a.dir, name[:i]); c == '/' {
			if fi, err := os.Lstat(p); err == nil && !fi.IsDir() {
				if err := os.Remove(p); err != nil {
					return err
				}
			}
		}
	}
	p := filepath.Join(a.dir, name)
	return errors.Join(os.RemoveAll(p), os.MkdirAll(filepath.Dir(p), 0o755))
}

func (a agent) put(name, text string, mode fs.FileMode) error {
	return errors.Join(a.clear(name), os.WriteFile(filepath.Join(a.dir, name), []byte(text), mode))
}

func (a agent) chmod(name string) error {
	p := filepath.Join(a.dir, name)
	mode := []fs.FileMode{0o644, 0o755}[a.r.IntN(2)]
	if fi, err := os.Lstat(p); err != nil || !fi.Mode().IsRegular() {
		return nil //nolint:nilerr // a link has no mode
	}
	return os.Chmod(p, mode)
}

// arena is one back end at work in a separate tree.
type arena struct {
	backend
	dir string
	ids []string
}

func arenas(t *testing.T) []*arena {
	t.Helper()
	dirs := []string{filepath.Join(t.TempDir(), "work"), filepath.Join(t.TempDir(), "work")}
	for _, d := range dirs {
		must(t, os.MkdirAll(d, 0o755))
	}
	return []*arena{
		{backend: ours{open(t, dirs[0], Options{})}, dir: dirs[0]},
		{backend: newPlainGit(t, dirs[1]), dir: dirs[1]},
	}
}

// Whatever is done to a tree, and whichever of the snapshots is restored, every back end gives the same.
func TestConformance(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SNAPSHOT_TEST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		must(t, err)
		seed = n
	}
	t.Logf("SNAPSHOT_TEST_SEED=%d", seed)
	for i := range uint64(6) {
		t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) { conform(t, seed+i) })
	}
}

func conform(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	all := arenas(t)
	var taken []map[string]string // what the trees held
	for range 8 {
		actions, step := 1+r.IntN(6), r.Uint64()
		for _, a := range all {
			does := agent{rand.New(rand.NewPCG(step, 0)), a.dir}
			for range actions {
				must(t, does.act())
			}
			id, err := a.take()
			must(t, err)
			a.ids = append(a.ids, id)
		}
		taken = append(taken, agree(t, "taken", all))
		for range 2 {
			n := r.IntN(len(taken))
			for _, a := range all {
				must(t, a.restore(a.ids[n]))
			}
			same(t, fmt.Sprint("restored ", n), taken[n], agree(t, "restored", all))
		}
		compareTrees(t, all, r.IntN(len(taken)), r.IntN(len(taken)), taken)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// agree returns what the trees hold.
func agree(t *testing.T, what string, all []*arena) map[string]string {
	t.Helper()
	first := conformity(t, all[0].dir)
	for _, a := range all[1:] {
		same(t, fmt.Sprintf("%s: %T and %T", what, all[0].backend, a.backend), first, conformity(t, a.dir))
	}
	return first
}

// compareTrees asks all back ends what differs between two trees, and for the contents of one.
func compareTrees(t *testing.T, all []*arena, from, to int, taken []map[string]string) {
	t.Helper()
	want, err := all[0].changes(all[0].ids[from], all[0].ids[to])
	must(t, err)
	for _, a := range all {
		got, err := a.changes(a.ids[from], a.ids[to])
		must(t, err)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("changes by %T and %T:\n%s", all[0].backend, a.backend, d)
		}
		for path, held := range taken[to] {
			text, err := a.read(a.ids[to], path)
			must(t, err)
			if _, content, _ := strings.Cut(held, " "); content != text {
				t.Errorf("%T reads %q as %q, want %q", a.backend, path, text, content)
			}
		}
	}
}
