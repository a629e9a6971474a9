// Carried replays commits of Go repositories in a loop, each iteration the next commit, and
// compares the verdict of every test, cached from Go's cache or not, with that of a full
// run of go test on the same tree.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	binary := flag.String("binary", "", "the supervise program to measure")
	commits := flag.Int("commits", 100, "how many commits of each repository")
	flag.Parse()
	if err := run(*binary, *commits, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "carried:", err)
		os.Exit(1)
	}
}

func run(binary string, n int, repos []string, w io.Writer) error {
	binary, err := filepath.Abs(binary)
	if err != nil || len(repos) == 0 {
		return errors.Join(err, errors.New("name the program with -binary, and git directories"))
	}
	fmt.Fprintln(w, "| repository | commits | verdicts | carried | differ |\n|---|---|---|---|---|")
	for _, repo := range repos {
		r := replay{binary: binary, n: n}
		if r.repo, err = filepath.Abs(repo); err != nil {
			return err
		}
		if err := r.all(w); err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
	}
	return nil
}

// replay is that of one repository.
type replay struct {
	binary, repo string
	n            int
	dir          string // holds the tree, the index and the state
	commits      []string
}

// verdicts are the statuses of tests, by package and name.
type verdicts map[string]string

func (r *replay) all(w io.Writer) (err error) {
	if r.dir, err = os.MkdirTemp("", "carried-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	out, err := exec.Command("git", "--git-dir", r.repo, "rev-list", "--first-parent", "--reverse", "-n", strconv.Itoa(r.n+1), "HEAD").Output()
	if err != nil {
		return fmt.Errorf("list commits: %w", err)
	}
	r.commits = slices.DeleteFunc(strings.Fields(string(out)), func(commit string) bool { // before there were modules
		return exec.Command("git", "--git-dir", r.repo, "cat-file", "-e", commit+":go.mod").Run() != nil
	})
	if err := r.loop(); err != nil {
		return err
	}
	all, carried, differ := 0, 0, 0
	for i := range r.commits {
		got, kept, err := r.iteration(i)
		if err != nil {
			return err
		}
		if got == nil { // the tests could not be read: nothing is carried either
			continue
		}
		want, err := r.full(i)
		if err != nil {
			return err
		}
		carried += kept
		for _, id := range slices.Sorted(maps.Keys(want)) {
			all++
			if got[id] != want[id] {
				differ++
				fmt.Fprintf(os.Stderr, "%s, commit %d (%s): %s is %q, and in a full run %q\n", r.name(), i, r.commits[i], id, got[id], want[id])
			}
		}
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d |\n", r.name(), len(r.commits)-1, all, carried, differ)
	return nil
}

// name is that of a folder OWNER+NAME/repo, or of a clone.
func (r *replay) name() string {
	dir := strings.TrimSuffix(r.repo, "/repo")
	return strings.ReplaceAll(filepath.Base(strings.TrimSuffix(dir, ".git")), "+", "/")
}

// checkout is the command that makes a tree that of a commit.
func (r *replay) checkout(index, commit string) []string {
	return []string{"env", "GIT_INDEX_FILE=" + filepath.Join(r.dir, index), "git", "--git-dir", r.repo, "--work-tree", ".", "read-tree", "--reset", "-u", commit}
}

// loop has an agent make the tree that of the next commit in each iteration.
func (r *replay) loop() error {
	tree := filepath.Join(r.dir, "tree")
	step := "set -- " + strings.Join(r.commits[1:], " ") + "\nshift $((SUPERVISE_ITERATION-1))\n" + strings.Join(r.checkout("index", `"$1"`), " ") + "\n"
	config := "checks: {lint: 'true'}\nmode: off\nuntil: never\non_stall: continue\nstuck: {errors: 100000}\ngoal_tests: {run: never}\nmutation_check: {off: true}\nlimits: {max_retries: 100000}\n"
	err := errors.Join(os.Mkdir(tree, 0o755), os.WriteFile(filepath.Join(r.dir, "step"), []byte(step), 0o644), os.WriteFile(filepath.Join(r.dir, "config.yaml"), []byte(config), 0o644))
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		r.checkout("index", r.commits[0]), {"git", "init", "-q"}, {"git", "add", "."},
		{"git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start"},
		{r.binary, "run", "--config", "../config.yaml", "--unattended", "--allow-untested", "--max-iterations", strconv.Itoa(len(r.commits) - 1), "--", "sh", "../step"},
	} {
		out, err := r.in(tree, args...).CombinedOutput()
		if args[0] == r.binary { // whose status is about the selection
			return os.WriteFile(filepath.Join(r.dir, "output"), out, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", args, err, out)
		}
	}
	return nil
}

func (r *replay) in(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(r.dir, "state"), "GOWORK=off")
	return cmd
}

// iteration returns what the loop found in an iteration, and how many verdicts of it were
// carried; nil where it could read no tests.
func (r *replay) iteration(i int) (verdicts, int, error) {
	files, err := filepath.Glob(filepath.Join(r.dir, fmt.Sprintf("state/supervise/*/loops/*/iterations/iteration-%03d/metrics.json", i)))
	if err != nil || len(files) != 1 {
		out, _ := os.ReadFile(filepath.Join(r.dir, "output"))
		return nil, 0, fmt.Errorf("iteration %d has %d records: %v\n%s", i, len(files), err, out[max(0, len(out)-2000):])
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, 0, err
	}
	var it struct {
		Measurements struct {
			Tests *struct {
				Cases []struct {
					Suite, Name, Status string
					Carried             bool
				}
			}
		}
	}
	if err := json.Unmarshal(text, &it); err != nil || it.Measurements.Tests == nil {
		return nil, 0, err
	}
	got, carried := verdicts{}, 0
	for _, c := range it.Measurements.Tests.Cases {
		got[c.Suite+" "+c.Name] = c.Status
		if c.Carried {
			carried++
		}
	}
	return got, carried, nil
}

// full runs the tests of a commit without the cache.
func (r *replay) full(i int) (verdicts, error) {
	dir := filepath.Join(r.dir, "full")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if out, err := r.in(dir, r.checkout("full.index", r.commits[i])...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("check out %s: %w\n%s", r.commits[i], err, out)
	}
	var exit *exec.ExitError
	out, err := r.in(dir, "go", "test", "-json", "-count=1", "./...").Output()
	if err != nil && !errors.As(err, &exit) { // failing tests are verdicts
		return nil, err
	}
	status := map[string]string{"pass": "passed", "fail": "failed", "skip": "skipped"}
	want := verdicts{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var e struct{ Action, Package, Test string }
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return want, nil
		} else if err != nil {
			return nil, err
		}
		if e.Test != "" && status[e.Action] != "" {
			want[e.Package+" "+e.Test] = status[e.Action]
		}
	}
}
