package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// addedRounds is how often each iteration is run.
const addedRounds = 3

// real is a published project, and what is changed in it.
type real struct {
	name    string
	fetch   [][]string // commands in a temporary folder; {{}} is that folder
	root    string     // of the project below it
	files   map[string]string
	env     []string
	code    string    // a file of product code
	fault   [2]string // what in it is replaced by what, so that tests fail
	comment string
	tests   []string                             // files of tests
	test    *regexp.Regexp                       // the definition of a test, with its name
	alone   func(files, names []string) []string // runs the tests of those files
}

var realProjects = []real{
	{
		name:    "go-mux",
		fetch:   [][]string{{"go", "mod", "download", "github.com/gorilla/mux@v1.8.1"}, {"sh", "-c", `cp -R "$(go env GOMODCACHE)/github.com/gorilla/mux@v1.8.1" project && chmod -R u+w project`}},
		root:    "project",
		code:    "regexp.go",
		fault:   [2]string{"p1 != p2", "p1 == p2"},
		comment: "// ",
		tests:   []string{"old_test.go", "middleware_test.go", "mux_httpserver_test.go"},
		test:    regexp.MustCompile(`(?m)^func (Test\w+)\(`),
		alone: func(_, names []string) []string {
			return []string{"go", "test", "-count=1", "-run", "^(" + strings.Join(names, "|") + ")$", "."}
		},
	},
	{
		name: "python-click",
		fetch: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "pytest==8.4.2"},
			{"venv/bin/pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "click", "click==8.1.7"},
			{"tar", "--no-same-owner", "-xzf", "click-8.1.7.tar.gz"},
		},
		root:    "click-8.1.7",
		files:   map[string]string{".gitignore": "__pycache__/\n.pytest_cache/\n"},
		env:     []string{"PATH={{}}/venv/bin:" + os.Getenv("PATH"), "PYTHONPATH=src"},
		code:    "src/click/parser.py",
		fault:   [2]string{`self._opt_prefixes = {"-", "--"}`, `self._opt_prefixes = {"-"}`},
		comment: "# ",
		tests:   []string{"tests/test_formatting.py", "tests/test_parser.py", "tests/test_types.py"},
		test:    regexp.MustCompile(`(?m)^def (test_\w+)\(`),
		alone: func(files, _ []string) []string {
			return append([]string{"python3", "-m", "pytest", "-q"}, files...)
		},
	},
	{
		name: "rust-semver",
		fetch: [][]string{
			{"sh", "-c", `mkdir src && : >src/lib.rs && printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nsemver = "=1.0.23"\n' >Cargo.toml`},
			{"cargo", "vendor", "--quiet", "vendor"},
		},
		root:    "vendor/semver",
		files:   map[string]string{".gitignore": "/target\n", ".cargo-checksum.json": ""},
		code:    "src/eval.rs",
		fault:   [2]string{"ver.major < cmp.major", "ver.major > cmp.major"},
		comment: "// ",
		tests:   []string{"tests/test_version_req.rs", "tests/test_version.rs", "tests/test_identifier.rs"},
		test:    regexp.MustCompile(`(?m)^(?:pub )?fn (test_\w+)\(`),
		alone: func(files, _ []string) []string {
			argv := []string{"cargo", "test", "--quiet"}
			for _, f := range files {
				argv = append(argv, "--test", strings.TrimSuffix(filepath.Base(f), ".rs"))
			}
			return argv
		},
	},
}

// BenchmarkAdded runs loops of one iteration on published projects, with an agent that
// makes a known change, and reports medians in seconds:
//
//   - alone-s: one manual run of the tests of the touched files, after the same change.
//   - goals-s, mutation-s: what running the original tests, and tests on mutants, added to the loop.
//   - x-allowed: both, divided by what is allowed: one manual run of those tests, plus
//     the budget for mutants.
//
// An iteration that touches no test must add nothing.
func BenchmarkAdded(b *testing.B) {
	for _, p := range realProjects {
		b.Run(p.name, func(b *testing.B) {
			w := p.open(b)
			for _, k := range []struct {
				name    string
				failing bool // at the baseline, and fixed later
				touched int  // files of tests
			}{{"code", false, 0}, {"one-test-file", false, 1}, {"three-test-files", false, 3}, {"failing-code", true, 0}, {"failing-and-test-file", true, 1}} {
				b.Run(k.name, func(b *testing.B) { w.measure(b, k.failing, p.tests[:k.touched]) })
			}
		})
	}
}

// project is a published project in a separate repository.
type project struct {
	real
	dir, root, binary string
	env               []string
	round             int
}

func (p real) open(b *testing.B) *project {
	b.Helper()
	dir := b.TempDir()
	fill := func(s string) string { return strings.ReplaceAll(s, "{{}}", dir) }
	w := &project{real: p, dir: dir, root: filepath.Join(dir, p.root), binary: filepath.Join(dir, "supervise")}
	for _, argv := range p.fetch {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("%s could not be fetched, without network or tool: %v: %v\n%s", p.name, argv, err, out)
		}
	}
	run(b, "..", "go", "build", "-o", w.binary, "./cmd/supervise")
	put(b, filepath.Join(dir, "gitconfig"), []byte("[user]\n\tname = bench\n\temail = bench@localhost\n[init]\n\tdefaultBranch = main\n"))
	w.env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	for _, v := range p.env {
		w.env = append(w.env, fill(v))
	}
	for name, text := range p.files {
		put(b, filepath.Join(w.root, name), []byte(text))
	}
	w.must(b, "git", "init", "-q")
	w.commit(b)
	w.must(b, "git", "branch", "sound")
	w.edit(b, p.code, func(s string) string { return strings.Replace(s, p.fault[0], p.fault[1], 1) })
	w.commit(b)
	w.must(b, "git", "branch", "failing")
	return w
}

func (w *project) commit(b *testing.B) {
	w.must(b, "git", "add", "-A")
	w.must(b, "git", "commit", "-q", "-m", "change")
}

// edit changes a file, or fails where nothing is changed.
func (w *project) edit(b *testing.B, name string, change func(string) string) {
	b.Helper()
	file := filepath.Join(w.root, name)
	was, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	is := change(string(was))
	if is == string(was) {
		b.Fatalf("%s is as it was", name)
	}
	put(b, file, []byte(is))
}

func (w *project) command(argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = w.root, w.env
	return cmd
}

func (w *project) must(b *testing.B, argv ...string) {
	b.Helper()
	if out, err := w.command(argv...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", argv, err, out)
	}
}

// change makes the change of the agent in the working tree, each time another text: it
// touches the code, and renames a test of each file.
func (w *project) change(b *testing.B, tests []string) {
	b.Helper()
	w.round++
	mark := fmt.Sprintf("\n%sround %d\n", w.comment, w.round)
	w.edit(b, w.code, func(s string) string { return s + mark })
	for _, f := range tests {
		w.edit(b, f, func(s string) string {
			at := w.test.FindStringSubmatchIndex(s)
			return s[:at[3]] + "_renamed" + s[at[3]:] + mark
		})
	}
}

// names are those of all tests in files.
func (w *project) names(b *testing.B, tests []string) (out []string) {
	b.Helper()
	for _, f := range tests {
		text, err := os.ReadFile(filepath.Join(w.root, f))
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range w.test.FindAllSubmatch(text, -1) {
			out = append(out, string(m[1]))
		}
	}
	return out
}

func (w *project) measure(b *testing.B, failing bool, tests []string) {
	var alone, goals, mutations, shares []float64
	for b.Loop() {
		for range addedRounds {
			by := 0.0
			if len(tests) > 0 {
				by = w.byHand(b, tests)
			}
			g, m := w.supervised(b, failing, tests)
			alone, goals, mutations = append(alone, by), append(goals, g), append(mutations, m)
			shares = append(shares, (g+m)/(by+budget(by)))
		}
	}
	b.ReportMetric(middle(alone), "alone-s")
	b.ReportMetric(middle(goals), "goals-s")
	b.ReportMetric(middle(mutations), "mutation-s")
	b.ReportMetric(middle(shares), "x-allowed")
	b.ReportMetric(0, "ns/op")
}

// budget is what the mutation check may take by default, in seconds, where the tests take that
// long.
func budget(tests float64) float64 { return max(20, 2*tests) }

// byHand is how long the tests of files take after the change, in seconds.
func (w *project) byHand(b *testing.B, tests []string) float64 {
	b.Helper()
	w.must(b, "git", "checkout", "-q", "--force", "sound")
	w.change(b, tests)
	argv := w.alone(tests, w.names(b, tests))
	began := time.Now()
	w.must(b, argv...)
	return time.Since(began).Seconds()
}

// supervised is what a loop of one iteration says about the runs that it added, in
// seconds.
func (w *project) supervised(b *testing.B, failing bool, tests []string) (goals, mutations float64) {
	b.Helper()
	w.must(b, "git", "checkout", "-q", "--force", "sound")
	w.change(b, tests)
	made := filepath.Join(w.dir, "made")
	remove(b, made)
	for _, f := range append([]string{w.code}, tests...) {
		text, err := os.ReadFile(filepath.Join(w.root, f))
		if err != nil {
			b.Fatal(err)
		}
		put(b, filepath.Join(made, f), text)
	}
	from := "sound"
	if failing {
		from = "failing"
	}
	w.must(b, "git", "checkout", "-q", "--force", from)
	loop := w.command(w.binary, "run", "--unattended", "--until", "never", "--max-iterations", "1", "--", "cp", "-R", made+"/.", ".")
	said, err := loop.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		b.Fatal(err)
	}
	text, err := w.command(w.binary, "status", "--json").Output()
	if err != nil {
		b.Fatalf("%v\n%s", err, said)
	}
	type executed struct {
		Iterations int           `json:"iterations"`
		Took       time.Duration `json:"took_ns"`
	}
	var s struct {
		History []struct{ Rejected bool } `json:"iteration_history"`
		Goals   executed                  `json:"goal_runs"`
		Mutated executed                  `json:"power_runs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		b.Fatal(err)
	}
	want := min(len(tests), 1)
	if len(s.History) != 2 || s.Goals.Iterations != want || s.Mutated.Iterations != want {
		b.Fatalf("the original tests ran in %d iterations, and mutants in %d, want %d\n%s", s.Goals.Iterations, s.Mutated.Iterations, want, bytes.TrimSpace(said))
	}
	return s.Goals.Took.Seconds(), s.Mutated.Took.Seconds()
}
