package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shellPlan measures a project of shell functions; see testdata/check.sh.
const shellPlan = "checks: {test: sh ../check.sh}\n"

// seedOf is the seed of what is random in a test: SUPERVISE_SEED, else the time.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("SUPERVISE_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("SUPERVISE_SEED=%d", seed)
	return seed
}

// world is a project under git with a fake agent and a separate state folder.
type world struct {
	t    *testing.T
	root string
	dir  string // holds root, steps and state
	bin  string // has supervise and agent
}

// newWorld makes the programs out of this test binary, as testscript does, and
// an empty project.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	w.dir, w.root, w.bin = dir, filepath.Join(dir, "proj"), os.Getenv("PATH")
	w.write("gitconfig", "[user]\n\tname = t\n\temail = t@localhost\n[init]\n\tdefaultBranch = main\n")
	w.write("check.sh", checkScript(t))
	if err := os.MkdirAll(w.root, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// checkScript is the test command of projects of shell functions.
func checkScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/check.sh")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// env is the environment of every program in the world.
func (w *world) env() []string {
	return append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") }),
		"XDG_STATE_HOME="+filepath.Join(w.dir, "state"), "AGENT_STEPS="+filepath.Join(w.dir, "steps"),
		"GIT_CONFIG_GLOBAL="+filepath.Join(w.dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" "+quickGo))
}

// write writes a file below the world's folder.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.root, w.env()
	return cmd
}

// git runs git in the project and returns what it prints.
func (w *world) git(args ...string) string {
	w.t.Helper()
	out, err := w.command("git", args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// supervise runs the program and returns what it printed and its exit status.
func (w *world) supervise(args ...string) (string, int) {
	w.t.Helper()
	cmd := w.command("supervise", args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if asExit(err, &exit); err != nil && exit == nil {
		w.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// picture is everything about a working tree that must not change: every file
// with its mode and bytes, git's own files, and what git says.
func (w *world) picture() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.root, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case rel == ".git/objects":
			return fs.SkipDir // objects of git may only grow
		case d.IsDir():
			out[rel] = info.Mode().String()
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[rel] = "link " + to
			return err
		default:
			data, err := os.ReadFile(path)
			out[rel] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(data))
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"status", "--porcelain=v2", "--ignored"},
		{"rev-parse", "HEAD"},
		{"symbolic-ref", "HEAD"},
		{"for-each-ref"},
		{"ls-files", "--stage"},
		{"stash", "list"},
		{"diff"},
		{"diff", "--cached"},
		{"fsck", "--no-dangling"},
	} {
		// Reading must not refresh the index, or the picture changes its object.
		out["git "+strings.Join(args, " ")] = w.git(append([]string{"--no-optional-locks"}, args...)...)
	}
	return out
}

// unchanged fails the test with what differs between two pictures.
func (w *world) unchanged(before map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(before, w.picture()); diff != "" {
		w.t.Errorf("the tree is not as it was (-before +after):\n%s", diff)
	}
}

// read returns a file below the world's folder.
func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}
