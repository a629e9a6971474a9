package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/config"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/test/tools"

	"github.com/rogpeppe/go-internal/txtar"
)

// rerunCases are projects, in testdata/rerun, whose tests pass when they run
// again. RERUN_STATE names the folder in which they count their runs.
var rerunCases = []struct {
	name, project string
	needs         []string
	check         string // written into .supervise.yaml; "" is what is recognised
	heavy         string // a folder of installed packages
	suiteOnly     bool   // tests cannot be run alone
	more          bool   // others may run with them: rustdoc knows no exact names
}{
	{name: "go", project: "go", needs: []string{"go"}, check: "{runner: go, command: 'go test -json -tags shaky ./... '}"},
	{name: "go by make", project: "go", needs: []string{"go", "make"}, check: "{runner: go, command: 'GOFLAGS=-tags=shaky make -s -f {{report_dir}}/m', files: {m: \"all:\\n\\tgo test -json -tags shaky ./...\\n\"}, env: [GOFLAGS=-tags=shaky]}"},
	{name: "no runner", project: "go", needs: []string{"go"}, check: "{command: 'go test -json -tags shaky ./...'}", suiteOnly: true},
	{name: "pytest", project: "pytest", needs: []string{"python3", "pytest"}},
	{name: "pytest in a shell", project: "pytest", needs: []string{"python3", "pytest"}, check: "{runner: pytest, command: 'set -e; cd tests; pytest . --junitxml={{report_dir}}/r.xml; true', reports: ['{{report_dir}}/r.xml']}"},
	{name: "pytest coverage", project: "pytest", needs: []string{"python3"}, heavy: "python/.venv"},
	{name: "jest", project: "jest", needs: []string{"npx"}, heavy: "jest/node_modules"},
	{name: "jest in a shell", project: "jest", needs: []string{"npx"}, heavy: "jest/node_modules", check: "{runner: jest, command: 'npx jest --json --outputFile={{report_dir}}/r.json', reports: ['{{report_dir}}/r.json']}"},
	{name: "jest behind a pipe", project: "jest", needs: []string{"npx"}, heavy: "jest/node_modules", check: "{runner: jest, command: 'npx jest --json | cat'}", suiteOnly: true},
	{name: "vitest", project: "vitest", needs: []string{"npx"}, heavy: "vitest/node_modules"},
	{name: "mocha", project: "mocha", needs: []string{"npx"}, heavy: "mocha/node_modules"},
	{name: "node", project: "node", needs: []string{"node"}},
	{name: "rspec", project: "rspec", needs: []string{"rspec"}},
	{name: "phpunit", project: "phpunit", needs: []string{"phpunit"}},
	{name: "cargo", project: "cargo", needs: []string{"cargo"}, more: true},
	{name: "nextest", project: "nextest", needs: []string{"cargo", "cargo-nextest"}},
	{name: "ctest", project: "ctest", needs: []string{"ctest", "cmake", "cc"}},
	{name: "gradle", project: "gradle", needs: []string{"gradle", "javac"}},
	{name: "maven", project: "maven", needs: []string{"mvn", "javac"}},
}

// TestE2ERerun runs failing tests of real projects again, those alone, with the
// tools of their languages.
func TestE2ERerun(t *testing.T) {
	base := tools.Installed(t)
	t.Setenv("PATH", filepath.Join(base, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range rerunCases {
		t.Run(c.name, func(t *testing.T) {
			tools.Need(t, c.needs...)
			root := t.TempDir()
			shakyProject(t, root, c.project, c.check)
			if c.heavy != "" {
				installed := filepath.Join(base, c.heavy)
				if _, err := os.Stat(installed); err != nil {
					t.Skipf("not installed: %v", err)
				}
				if err := os.Symlink(installed, filepath.Join(root, "some api", filepath.Base(c.heavy))); err != nil {
					t.Fatal(err)
				}
			}
			confirmShaky(t, root, c.suiteOnly, c.more)
		})
	}
}

// shakyProject writes a project below root, in a folder with a space in its name.
func shakyProject(t *testing.T, root, project, check string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "rerun", project+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		path := filepath.Join(root, "some api", filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if check == "" {
		return
	}
	text := "checks:\n  build: 'true'\n  lint: 'true'\n  test:\n    - " + strings.Replace(check, "{", "{dir: some api, ", 1) + "\n"
	if err := os.WriteFile(filepath.Join(root, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// confirmShaky measures the project and confirms its failures as if all of its
// tests had passed before.
func confirmShaky(t *testing.T, root string, suiteOnly, more bool) {
	t.Helper()
	state := t.TempDir()
	t.Setenv("RERUN_STATE", state)
	settings, err := config.Load(filepath.Join(root, config.FileName), false)
	if err != nil {
		t.Fatal(err)
	}
	plan, _, err := settings.Plan(root, exec.LookPath)
	if err != nil {
		t.Fatal(err)
	}
	plan.Checks = slices.DeleteFunc(plan.Checks, func(c measure.Check) bool { return c.Kind == measure.Lint })
	m := measure.New(plan, measure.Options{Scratch: t.TempDir()})
	res, err := m.Run(t.Context(), nil)
	if err != nil || res.Set.Tests == nil || len(res.Set.Tests.Broken) > 0 {
		t.Fatalf("%v: %+v\n%+v", err, res.Set.Gaps, res.Runs)
	}
	steady := runsIn(t, filepath.Join(state, "steady"))
	got, err := m.Confirm(t.Context(), passing(res.Set), res.Set)
	if err != nil || got.Refused != "" {
		t.Fatal(err, got.Refused)
	}
	var want []metric.ID
	for _, id := range got.Suspects {
		late := strings.Contains(strings.ToLower(id.String()), "late")
		if !strings.Contains(strings.ToLower(id.String()), "broken") && (!suiteOnly || !late) {
			want = append(want, id)
		}
	}
	if len(want) < 3 || len(want) == len(got.Suspects) {
		t.Errorf("suspects %q", got.Suspects)
	}
	if !slices.Equal(got.Flaky, want) {
		t.Errorf("flaky:\n%q\nwant\n%q", got.Flaky, want)
	}
	if again := runsIn(t, filepath.Join(state, "steady")); !more && (again > steady) != suiteOnly {
		t.Errorf("tests that passed ran %d times, and %d times after", steady, again)
	}
	for _, r := range got.Runs {
		t.Logf("%s: status %d, %v %s %v", r.Check.CommandLine(), r.ExitCode, r.Check.Env, r.Why, r.Problems)
		if t.Failed() {
			t.Log(r.Output)
		}
	}
}

// passing is the set with all of its tests passed.
func passing(set metric.Set) metric.Set {
	cases := slices.Clone(set.Tests.Cases)
	for i := range cases {
		cases[i].Status = metric.Passed
	}
	set.Tests = metric.NewTests(cases)
	return set
}

func runsIn(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A loop on a real project in another language learns at its baseline which tests
// are flaky, and does not hold a failure against the agent that chance explains.
func TestE2ERerunInALoop(t *testing.T) {
	tools.Long(t)
	for _, c := range []struct{ project, program string }{{"pytest", "pytest"}, {"node", "node"}, {"rspec", "rspec"}} {
		t.Run(c.project, func(t *testing.T) {
			tools.Need(t, c.program)
			w := newWorld(t)
			shakyProject(t, w.root, c.project, "")
			state := t.TempDir()
			t.Setenv("RERUN_STATE", state)
			w.git("init", "-q")
			w.git("add", ".")
			w.git("commit", "-qm", "start")
			out, code := w.supervise("run", "--until", "never", "--max-iterations", "1", "--", "sh", "-c", "echo >>notes.txt; touch "+filepath.Join(state, "trip"))
			if code != 0 || !strings.Contains(out, "flaky tests before any agent ran") || !strings.Contains(out, "hostile") && !strings.Contains(out, "a|b.*(c)+?") {
				t.Errorf("status %d: %s", code, out)
			}
			if !strings.Contains(out, "MEDIUM flaky_test") || strings.Contains(out, "CRITICAL") {
				t.Errorf("a failure of chance: %s", out)
			}
			out, _ = w.supervise("explain", "latest", "1")
			if !strings.Contains(out, "1 test that passed before failed, run again: 1 passed then, and are flaky") {
				t.Errorf("explain: %s", out)
			}
		})
	}
}
