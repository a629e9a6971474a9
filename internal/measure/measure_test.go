package measure_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/internal/measure"
	"supervise/metric"
	"supervise/runner"
	"supervise/selector"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	lay(t, root, files)
	return root
}

// lay writes files below root.
func lay(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func shell(kind measure.Kind, line string, reports ...string) measure.Check {
	return measure.Check{Kind: kind, Name: string(kind), Command: []string{"/bin/sh", "-c", line}, Reports: reports}
}

func run(t *testing.T, root string, known *metric.Tests, checks ...measure.Check) measure.Result {
	t.Helper()
	m := measure.New(measure.Plan{Root: root, Checks: checks}, measure.Options{Scratch: t.TempDir()})
	res, err := m.Run(context.Background(), known)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// again measures with a meter that may have measured before.
func again(t *testing.T, m *measure.Meter) measure.Result {
	t.Helper()
	res, err := m.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// suite is a report of one suite with one test, which passed.
func suite(name string) string {
	return `<testsuite name="` + name + `"><testcase name="x"/></testsuite>`
}

const (
	profile   = "mode: set\nm/a.go:1.1,2.2 2 1\nm/a.go:3.1,4.2 1 0\n"
	junit     = `<testsuite name="s"><testcase classname="c" name="a"/><testcase classname="c" name="b"><failure message="no"/></testcase></testsuite>`
	truncated = `<testsuite name="s"><testcase classname="c" name="a"/><testcase classname="c" na`
)

// Whatever does not count leaves its section out, with a reason; nothing is
// ever zero for want of a report.
func TestOnlyValidReportsCount(t *testing.T) {
	files := map[string]string{"good.xml": junit, "truncated.xml": truncated, "none.xml": `<testsuites/>`, "old.xml": junit}
	for _, tt := range []struct {
		name  string
		check measure.Check
		state metric.Validity
		why   string
	}{
		{"no such program", measure.Check{Kind: measure.Test, Name: "t", Command: []string{"no-such-program"}}, metric.Absent, "command not found: no-such-program"},
		{"no such folder", measure.Check{Kind: measure.Test, Name: "t", Dir: "lib", Command: []string{"true"}}, metric.Absent, "the folder lib, which t runs in, is missing"},
		{"a file for a folder", measure.Check{Kind: measure.Test, Name: "t", Dir: "good.xml", Command: []string{"true"}}, metric.Absent, "the folder good.xml, which t runs in, is missing"},
		{"a program that is none", measure.Check{Kind: measure.Test, Name: "t", Command: []string{"./good.xml"}}, metric.Absent, "not executable"},
		{"no such program for the shell", shell(measure.Test, "no-such-program"), metric.Absent, "could not be started"},
		{"silence", shell(measure.Test, "true"), metric.Absent, "printed nothing"},
		{"other text", shell(measure.Test, "echo fine"), metric.Absent, "printed nothing that can be read"},
		{"failure without a report", shell(measure.Test, "echo no database >&2; exit 2"), metric.Absent, "ended with status 2 and wrote no report that can be read: no database"},
		{"advice after the error", shell(measure.Test, `printf '[ERROR] A.java:[5,22] expected ;\n[ERROR] \n[ERROR] -> [Help 1]\n[ERROR] Re-run Maven using the -X switch\n[ERROR] [Help 1] http://example.org\n'; exit 1`), metric.Absent, "ended with status 1 and wrote no report that can be read: [ERROR] A.java:[5,22] expected ;"},
		{"cut off", shell(measure.Test, "cp truncated.xml r.xml", "r.xml"), metric.Partial, "r.xml"},
		{"no tests", shell(measure.Test, "cp none.xml r.xml", "r.xml"), metric.Absent, "found no tests"},
		{"a stack after the error", shell(measure.Test, `printf 'TypeError: f is not a function\n    at g (file:///a.js:1:2)\n    at async Promise.all (index 0)\n    at a.B.c(B.java:7)\n\nNode.js v20.1.0\n'; exit 1`), metric.Absent, "ended with status 1 and wrote no report that can be read: TypeError: f is not a function"},
		{"no tests and a failure", shell(measure.Test, "cp none.xml r.xml; exit 5", "r.xml"), metric.Absent, "ended with status 5 and found no tests"},
		{"old report", shell(measure.Test, "touch -d '2 hours ago' old.xml || touch -A -020000 old.xml", "*.xml"), metric.Stale, "older than the command"},
		{"a link for a report", shell(measure.Test, "ln -sf good.xml r.xml", "r.xml"), metric.Absent, "not a regular file"},
		{"a report from before", shell(measure.Test, "true", "good.xml"), metric.Absent, "printed nothing"},
		{"killed", shell(measure.Test, "cp good.xml r.xml; kill -9 $$", "r.xml"), metric.Absent, "ended by SIGKILL"},
		{"linter that fails without a word", shell(measure.Lint, "exit 1"), metric.Absent, "reported nothing that can be read"},
		{"too slow", measure.Check{Kind: measure.Test, Name: "t", Command: []string{"/bin/sh", "-c", "while :; do :; done"}, Timeout: 50 * time.Millisecond}, metric.Absent, "took longer than 50ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, files)
			if tt.name == "old report" { // the pattern must match nothing beforehand
				os.Remove(filepath.Join(root, "truncated.xml"))
				tt.check.Command[2] = "cp .keep/old.xml old.xml; " + tt.check.Command[2]
				os.MkdirAll(filepath.Join(root, ".keep"), 0o755)
				os.WriteFile(filepath.Join(root, ".keep", "old.xml"), []byte(junit), 0o644)
			}
			res := run(t, root, nil, tt.check)
			section := metric.SectionTests
			if tt.check.Kind == measure.Lint {
				section = metric.SectionLint
			}
			gap, ok := res.Set.Gap(section)
			if !ok || gap.State != tt.state || !strings.Contains(gap.Why, tt.why) {
				t.Errorf("gap %+v, want %s with %q", gap, tt.state, tt.why)
			}
			if res.Set.Tests != nil || res.Set.Lint != nil {
				t.Errorf("something was measured all the same: %+v", res.Set)
			}
		})
	}
}

func TestReportsThatCount(t *testing.T) {
	files := map[string]string{"junit.xml": junit, "golint.txt": "a.go:3:1: something is odd\n"}
	for _, tt := range []struct {
		name  string
		check measure.Check
	}{
		{"a named file", shell(measure.Test, "cp junit.xml out.xml; exit 1", "out.xml")},
		{"a pattern", shell(measure.Test, "mkdir -p d; cp junit.xml d/1.xml", "d/*.xml")},
		{"the private folder", shell(measure.Test, "cp junit.xml "+measure.ReportDir+"/x.xml")},
		{"standard output", shell(measure.Test, "echo noise >&2; cat junit.xml")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, tree(t, files), nil, tt.check)
			if n := res.Set.Tests.Counts(); n.Count != 2 || n.Failed != 1 {
				t.Errorf("counts %+v, gaps %v, want 2 tests, 1 failed", n, res.Set.Gaps)
			}
		})
	}
	t.Run("a contradiction is named", func(t *testing.T) {
		res := run(t, tree(t, files), nil, shell(measure.Test, "cat junit.xml; exit 0"))
		if p := strings.Join(res.Runs[0].Problems, ";"); !strings.Contains(p, "status 0 although tests failed") {
			t.Errorf("problems %q do not name it", p)
		}
	})
	t.Run("silence of a linter that ends well is no finding", func(t *testing.T) {
		res := run(t, tree(t, files), nil, shell(measure.Lint, "true"))
		if v, ok := res.Set.Value(metric.ErrorCount); !ok || v != 0 {
			t.Errorf("error_count %v, %v, want 0", v, ok)
		}
	})
	t.Run("findings in any file:line:col text", func(t *testing.T) {
		res := run(t, tree(t, files), nil, shell(measure.Lint, "cat golint.txt >&2; exit 1"))
		if v, ok := res.Set.Value(metric.ErrorCount); !ok || v != 1 {
			t.Errorf("error_count %v, %v, want 1 (%v)", v, ok, res.Set.Gaps)
		}
	})
	t.Run("half of the linters is not measured", func(t *testing.T) {
		res := run(t, tree(t, files), nil, shell(measure.Lint, "true"), shell(measure.Lint, "exit 1"))
		if res.Set.Lint != nil || !res.Set.IsPartial() {
			t.Errorf("lint %+v, want a gap", res.Set.Lint)
		}
	})
}

// A run that succeeds and finds no tests although there were some found that they
// are deleted; that is a measurement.
func TestAllTestsGone(t *testing.T) {
	known := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "s", Name: "a"}, Status: metric.Passed}})
	res := run(t, tree(t, map[string]string{"none.xml": "<testsuites/>"}), known, shell(measure.Test, "cat none.xml"))
	if v, ok := res.Set.Value(metric.TestCount); !ok || v != 0 {
		t.Errorf("test_count %v, %v, want 0 (%v)", v, ok, res.Set.Gaps)
	}
}

// The tests of a project whose folder is missing did not run; those of the others are
// measured as ever.
func TestFolderOfACheckGone(t *testing.T) {
	root := tree(t, map[string]string{"a/r": suite("a"), "b/r": suite("b")})
	in := func(dir string) measure.Check {
		c := shell(measure.Test, "cat r")
		c.Name, c.Dir = dir, dir
		return c
	}
	m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{in("a"), in("b")}}, measure.Options{Scratch: t.TempDir()})
	before := again(t, m)
	if n := before.Set.Tests.Counts(); n.Passed != 2 {
		t.Fatalf("%+v, want 2 passed", n)
	}
	if err := os.RemoveAll(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(context.Background(), before.Set.Tests)
	if err != nil {
		t.Fatal(err)
	}
	if n := res.Set.Tests.Counts(); n.Count != 2 || n.Passed != 1 || n.Failed != 1 {
		t.Errorf("%+v, want the test of b not run", n)
	}
	if p := strings.Join(res.Runs[1].Problems, ";"); p != "the folder b, which b runs in, is missing" {
		t.Errorf("problems %q", p)
	}
}

// A run that fails outside its tests is measured, and never green; another check that
// ends well does not hide it.
func TestFailureOutsideTests(t *testing.T) {
	files := map[string]string{"a": suite("a"), "b": suite("b"), "bad": junit}
	well, crashed := shell(measure.Test, "cat a"), shell(measure.Test, "cat b; exit 3")
	for _, tt := range []struct {
		name   string
		checks []measure.Check
		want   string
	}{
		{"on its own", []measure.Check{crashed}, "test ended with status 3 although no test failed"},
		{"before another", []measure.Check{crashed, well}, "test ended with status 3 although no test failed"},
		{"after another", []measure.Check{well, crashed}, "test ended with status 3 although no test failed"},
		{"a test failed", []measure.Check{shell(measure.Test, "cat bad; exit 1")}, ""},
		{"it ended well", []measure.Check{well}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, tree(t, files), nil, tt.checks...)
			if res.Set.Tests == nil || res.Set.Tests.Failure != tt.want {
				t.Fatalf("tests %+v, want them with the failure %q", res.Set.Tests, tt.want)
			}
			var problems []string
			for _, r := range res.Runs {
				problems = append(problems, r.Problems...)
			}
			if !strings.Contains(strings.Join(problems, ";"), tt.want) {
				t.Errorf("problems %q do not name %q", problems, tt.want)
			}
			green := tt.want == "" && res.Set.Tests.Counts().Failed == 0
			if got := selector.IsVerified(res.Set, false, nil); got != green {
				t.Errorf("verified %v, want %v", got, green)
			}
		})
	}
}

// A named report that is not written any more is not half of the tests deleted.
func TestMissingReportIsNoMeasurement(t *testing.T) {
	const first = "cp one a.xml; cp two b.xml; "
	private := measure.ReportDir + "/b.xml"
	for _, tt := range []struct {
		name, first, second string
		reports             []string
		why                 string // of the gap after the second run, "" for none
	}{
		{"not written", first, "cp one a.xml; echo no memory; exit 1", []string{"a.xml", "b.xml"}, "report b.xml, which the tests wrote before, was not written; test ended with status 1: no memory"},
		{"not written, and ended well", first, "cp one a.xml", []string{"a.xml", "b.xml"}, "report b.xml, which the tests wrote before, was not written"},
		{"the output does not replace it", first, "cat one", []string{"a.xml"}, "report a.xml, which the tests wrote before, was not written"},
		{"a pattern", "mkdir -p d; cp one d/1.xml; cp two b.xml", "cp two b.xml", []string{"d/*.xml", "b.xml"}, "report d/*.xml, which"},
		{"one of a pattern", "mkdir -p d; cp one d/1.xml; cp two d/2.xml", "cp two d/2.xml", []string{"d/*.xml"}, ""},
		{"in the private folder", "cp one a.xml; cp two " + private, "cp one a.xml", []string{"a.xml", private}, "report b.xml, which the tests wrote before, was not written"},
		{"written empty", first, "cp one a.xml; : >b.xml", []string{"a.xml", "b.xml"}, "report b.xml, which the tests wrote before, has no test results any more"},
		{"a report of no tests is an answer", first, "cp one a.xml; cp none b.xml", []string{"a.xml", "b.xml"}, ""},
		{"never written", "cp one a.xml", "cp one a.xml", []string{"a.xml", "b.xml"}, ""},
		{"coverage", "cp one a.xml; cp cover b.xml", "cp one a.xml", []string{"a.xml", "b.xml"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"one": suite("a"), "two": suite("b"), "none": "<testsuites/>", "cover": profile})
			line := "if test -e .again; then " + tt.second + "; else " + strings.TrimSuffix(tt.first, "; ") + "; : >.again; fi"
			m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Test, line, tt.reports...)}}, measure.Options{Scratch: t.TempDir()})
			if res := again(t, m); res.Set.Tests == nil {
				t.Fatalf("first run: gaps %v, want tests", res.Set.Gaps)
			}
			res := again(t, m)
			gap, _ := res.Set.Gap(metric.SectionTests)
			if (tt.why == "") != (gap.Why == "") || !strings.Contains(gap.Why, tt.why) || (gap.Why != "" && gap.State != metric.Absent) {
				t.Errorf("second run: gap %+v, want %q", gap, tt.why)
			}
		})
	}
}

// An empty report among several is a gap. It may be that of the coverage if that is missing.
func TestEmptyReportIsAGap(t *testing.T) {
	root := tree(t, map[string]string{"one": suite("a")})
	for coverage, want := range map[bool]string{false: "report b.xml is empty;", true: ""} {
		check := shell(measure.Test, "cp one a.xml; : >b.xml", "a.xml", "b.xml")
		check.Coverage = coverage
		res := run(t, root, nil, check)
		gap, _ := res.Set.Gap(metric.SectionTests)
		if res.Set.Tests == nil || !res.Set.IsPartial() || !strings.HasPrefix(gap.Why, want) || want == "" && gap.Why != "" {
			t.Errorf("coverage %v: gap %+v, want %q; tests %v", coverage, gap, want, res.Set.Tests)
		}
	}
}

// Coverage that was seen once is missed when it vanishes, whatever the plan says
// of it, and checks without coverage take nothing from those with.
func TestCoverageIsKept(t *testing.T) {
	files := map[string]string{"one": suite("a"), "two": suite("b"), "cover": profile, "more": strings.ReplaceAll(profile, "a.go", "b.go")}
	private := measure.ReportDir + "/c.out"
	with := shell(measure.Test, "cat one; cp cover "+private)
	t.Run("vanished", func(t *testing.T) {
		root := tree(t, files)
		m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{
			shell(measure.Test, "cat one; test -e .again || cp cover "+private+"; : >.again"),
		}}, measure.Options{Scratch: t.TempDir()})
		if res := again(t, m); res.Set.Coverage == nil || res.Set.IsPartial() {
			t.Fatalf("first run: %+v, want coverage and no gap", res.Set)
		}
		if gap, ok := again(t, m).Set.Gap(metric.SectionCoverage); !ok || gap.State != metric.Absent {
			t.Errorf("second run: gap %+v, %v, want one for coverage", gap, ok)
		}
	})
	t.Run("never seen", func(t *testing.T) {
		if res := run(t, tree(t, files), nil, shell(measure.Test, "cat one")); res.Set.IsPartial() {
			t.Errorf("gaps %v, want none", res.Set.Gaps)
		}
	})
	for _, tt := range []struct {
		name           string
		second         measure.Check
		covered, total int64
		files          int
	}{
		{"the second check has none", shell(measure.Test, "cat two"), 2, 3, 1},
		{"both are summed", shell(measure.Test, "cat two; cp more "+private), 4, 6, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := run(t, tree(t, files), nil, with, tt.second).Set.Coverage
			if c == nil || c.Covered != tt.covered || c.Total != tt.total || len(c.Files) != tt.files {
				t.Errorf("coverage %+v, want %d of %d in %d files", c, tt.covered, tt.total, tt.files)
			}
		})
	}
}

// A folder in the place of a report, or a path out of the tree, makes the
// check not measured, and nothing outside is deleted.
func TestOldReportsAreDeletedInTheTreeOnly(t *testing.T) {
	outside := tree(t, map[string]string{"r.xml": "mine"})
	root := filepath.Join(outside, "tree")
	for _, dir := range []string{"full/r.xml/x", "empty/r.xml"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"full/r.xml":  "old report full/r.xml cannot be deleted: it is a folder",
		"empty/r.xml": "old report empty/r.xml cannot be deleted: it is a folder",
		"out/r.xml":   "old report out/r.xml cannot be deleted: ",
		"out/*.xml":   "old report out/r.xml cannot be deleted: ",
		"../r.xml":    "cannot be deleted: it is outside the working tree",
		"../new.xml":  "old report ../new.xml cannot be deleted: it is outside the working tree",
	} {
		m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Test, ": >ran", pattern)}}, measure.Options{Scratch: t.TempDir()})
		gap, ok := again(t, m).Set.Gap(metric.SectionTests)
		if !ok || gap.State != metric.Absent || !strings.Contains(gap.Why, want) {
			t.Errorf("%s: gap %+v, want that it cannot be deleted", pattern, gap)
		}
		if path := filepath.Join(root, filepath.FromSlash(pattern)); m.IsReport(path) && m.RemoveReport(path) == nil {
			t.Errorf("%s: removed, want an error", pattern)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "r.xml")); err != nil {
		t.Errorf("a file outside the tree was deleted: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("the check ran although its old report was in the way")
	}
}

func TestRemoveReport(t *testing.T) {
	root := tree(t, map[string]string{"d/r.xml": "", "d/other.txt": "", "target": ""})
	outside := filepath.Join(tree(t, map[string]string{"r.xml": ""}), "r.xml")
	if err := os.Symlink(filepath.Join(root, "target"), filepath.Join(root, "d", "link.xml")); err != nil {
		t.Fatal(err)
	}
	m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Test, "true", "d/*.xml", outside)}}, measure.Options{})
	for _, path := range []string{filepath.Join(root, "d", "r.xml"), filepath.Join(root, "d", "link.xml"), outside} {
		if err := m.RemoveReport(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, name := range []string{"d/other.txt", "target"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := m.RemoveReport(path); err == nil || !strings.Contains(err.Error(), "no check names it") {
			t.Errorf("%s: error %v, want that no check names it", name, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was deleted: %v", name, err)
		}
	}
}

// The kept output of a check is closed however the check ends.
func TestOutputIsClosed(t *testing.T) {
	const fds = "/proc/self/fd"
	if _, err := os.Stat(fds); err != nil {
		t.Skip("open files cannot be listed here")
	}
	root := tree(t, map[string]string{"one": suite("a")})
	for _, c := range []measure.Check{
		shell(measure.Test, "cat one"), shell(measure.Test, "kill -9 $$"),
		{Kind: measure.Test, Name: "t", Command: []string{"no-such-program"}},
	} {
		run(t, root, nil, c)
		open, err := os.ReadDir(fds)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range open {
			if to, err := os.Readlink(filepath.Join(fds, fd.Name())); err == nil && strings.Contains(to, ".output") {
				t.Errorf("%v: %s is still open", c.Command, to)
			}
		}
	}
}

func TestChecksRunWithoutTerminal(t *testing.T) {
	t.Setenv("CI", "")
	if err := os.Unsetenv("CI"); err != nil {
		t.Fatal(err)
	}
	root := tree(t, map[string]string{"junit.xml": junit})
	line := `test "$CI" = true && test "$CMAKE_BUILD_PARALLEL_LEVEL" -gt 0 && ! test -t 0 && ! test -t 1 && ! (: </dev/tty) 2>/dev/null && test -z "$(cat)" && cat junit.xml`
	res := run(t, root, nil, shell(measure.Test, line))
	if res.Set.Tests == nil {
		t.Errorf("the check saw a terminal, an open standard input, no CI=true or no number of CPUs: %v", res.Set.Gaps)
	}
	t.Setenv("CI", "own")
	if res = run(t, root, nil, shell(measure.Test, `test "$CI" = own && cat junit.xml`)); res.Set.Tests == nil {
		t.Errorf("the check saw another CI than the user's: %v", res.Set.Gaps)
	}
	t.Setenv("TERM", "own")
	both := []measure.Check{shell(measure.Test, `test "$TERM" = own && cat junit.xml`), shell(measure.Lint, `test "$TERM" = dumb`)}
	if res = run(t, root, nil, both...); res.Set.Tests == nil || res.Set.Lint == nil {
		t.Errorf("the tests saw another terminal than the user's, or the linter saw that: %v", res.Set.Gaps)
	}
}

var goFiles = map[string]string{
	"go.mod":        "module m\n\ngo 1.21\n",
	"a/a.go":        "package a\n\nfunc F(x int) int {\n\tif x > 0 {\n\t\treturn 1\n\t}\n\treturn 0\n}\n",
	"a/a_test.go":   "package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F(1) != 1 {\n\t\tt.Fail()\n\t}\n}\n\nfunc TestSkip(t *testing.T) { t.Skip(\"later\") }\n",
	"b/b.go":        "package b\n\nfunc G() int { return 2 }\n",
	"b/b_test.go":   "package b\n\nimport \"testing\"\n\nfunc TestG(t *testing.T) {\n\tif G() != 3 {\n\t\tt.Fatal(\"not 3\")\n\t}\n}\n",
	"vendor/x/x.go": "package x\n",
	"gen.pb.go":     "// Code generated by hand. DO NOT EDIT.\n\npackage m\n",
}

func goPlan(root string) []measure.Check {
	return []measure.Check{
		{Kind: measure.Build, Name: "go build", Command: []string{"go", "build", "-mod=mod", "./..."}},
		{
			Kind: measure.Test, Name: "go test", Runner: "go", Coverage: true, Reports: []string{measure.ReportDir + "/c.out"},
			Command: []string{"go", "test", "-mod=mod", "-json", "-count=1", "-coverprofile=" + measure.ReportDir + "/c.out", "./..."},
		},
		{Kind: measure.Lint, Name: "go vet", Command: []string{"go", "vet", "-mod=mod", "./..."}},
	}
}

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
}

func TestGoProject(t *testing.T) {
	needGo(t)
	root := tree(t, goFiles)
	res := run(t, root, nil, goPlan(root)...)
	for f, want := range map[metric.Field]float64{
		metric.TestCount: 3, metric.TestsPassed: 1, metric.TestsFailed: 1, metric.TestsSkipped: 1,
		metric.CoverageHit: 3, metric.CoverageTotal: 4, metric.ErrorCount: 0,
		metric.FileCount: 4, metric.Complexity: 8.0 / 5,
	} {
		if got, ok := res.Set.Value(f); !ok || got != want {
			t.Errorf("%s = %v, %v, want %v", f, got, ok, want)
		}
	}
	if res.Set.Build == nil || res.Set.Build.Status != metric.BuildSuccess || res.Set.IsPartial() {
		t.Errorf("build %+v, gaps %v, want a success and none", res.Set.Build, res.Set.Gaps)
	}
}

// A package that does not compile any more did not lose its tests.
func TestBrokenSuiteIsCarriedOver(t *testing.T) {
	needGo(t)
	root := tree(t, goFiles)
	before := run(t, root, nil, goPlan(root)...)
	if err := os.WriteFile(filepath.Join(root, "a", "a.go"), []byte("package a\n\nfunc F(x int) int { return y }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	after := run(t, root, before.Set.Tests, goPlan(root)...)
	if n := after.Set.Tests.Counts(); n.Count != 3 || n.Failed != 3 {
		t.Errorf("counts %+v, want 3 tests, all failed", n)
	}
	if c, ok := after.Set.Tests.Lookup(metric.ID{Suite: "m/a", Name: "TestF"}); !ok || c.Status != metric.NotRun {
		t.Errorf("TestF is %v, %v, want not_run", c.Status, ok)
	}
	if after.Set.Build.Status != metric.BuildFailure || !strings.Contains(after.Set.Build.FirstError, "a/a.go:3: undefined: y") {
		t.Errorf("build %+v, want a failure that names a/a.go:3", after.Set.Build)
	}
	if gap, ok := after.Set.Gap(metric.SectionCoverage); !ok || !strings.Contains(gap.Why, "m/a did not run") {
		t.Errorf("coverage gap %+v, want one for m/a: its lines are missing from the total", gap)
	}
	if got, _ := after.Set.Value(metric.TypeErrors); got == 0 {
		t.Error("the compiler's error is no type error")
	}
}

// Only an explicit pass of the very test clears it.
func TestFailuresAreConfirmed(t *testing.T) {
	needGo(t)
	files := map[string]string{
		"go.mod": "module m\n\ngo 1.21\n",
		"m_test.go": `package m

import (
	"os"
	"testing"
)

// TestFlaky fails the first time and passes from then on.
func TestFlaky(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if _, err := os.Stat("ran"); err != nil {
			os.WriteFile("ran", nil, 0o600)
			t.Fatal("first time")
		}
	})
}

func TestBroken(t *testing.T) { t.Fatal("always") }
`,
	}
	root := tree(t, files)
	m := measure.New(measure.Plan{Root: root, Parallel: 1, Checks: goPlan(root)}, measure.Options{Scratch: t.TempDir()})
	res, err := m.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := metric.NewTests(nil)
	for _, c := range res.Set.Tests.Cases {
		c.Status = metric.Passed
		all = metric.NewTests(append(all.Cases, c))
	}
	if suspects := measure.NewFailures(all, res.Set.Tests); len(suspects) != 3 {
		t.Fatalf("suspects %v, want TestBroken, TestFlaky and TestFlaky/sub", suspects)
	}
	c, err := m.Confirm(context.Background(), metric.Set{Tests: all}, res.Set)
	flaky := c.Flaky
	if err != nil || len(flaky) != 2 || flaky[0].Name != "TestFlaky" || flaky[1].Name != "TestFlaky/sub" {
		t.Errorf("flaky %v, %v, want TestFlaky and TestFlaky/sub", flaky, err)
	}
}

func TestCancelledRunReturnsTheCause(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := measure.New(measure.Plan{Root: t.TempDir(), Checks: []measure.Check{shell(measure.Test, "cat")}}, measure.Options{
		Scratch: t.TempDir(), OnProgress: func(measure.Progress) { cancel() },
	})
	if _, err := m.Run(ctx, nil); err == nil {
		t.Error("a cancelled measurement ended without an error")
	}
}

// Checks of several folders run where they belong, and what they report is named
// as seen from the root.
func TestSeveralProjects(t *testing.T) {
	root := tree(t, map[string]string{"web/src/a.js": "", "api/b.py": ""})
	web := shell(measure.Test, `cp "$CONF" out/a.xml && cat "$CONF" >&2`, "out/**/*.xml")
	web.Dir, web.Env = "web", []string{"CONF=" + measure.ReportDir + "/conf/report.xml"}
	web.Files = map[string]string{"conf/report.xml": `<testsuite name="s"><testcase file="src/a.js" name="a"/></testsuite>`}
	web.Command[2] = "mkdir -p out/deep && mv out/deep out/deeper && " + web.Command[2]
	api := shell(measure.Test, `echo '`+junit+`' >&2`)
	api.Dir, api.Stderr, api.Name = "api", true, "api: tests"
	lint := shell(measure.Lint, "echo 'b.py:3:1: error: no'; exit 1")
	lint.Dir = "api"
	res := run(t, root, nil, web, api, lint)
	var got []string
	for _, c := range res.Set.Tests.Cases {
		got = append(got, c.ID.String()+" "+c.Status.String())
	}
	if want := "api/s: c.a passed,api/s: c.b failed,web/src/a.js: s.a passed"; strings.Join(got, ",") != want {
		t.Errorf("tests %q, want %s", got, want)
	}
	if f := res.Set.Lint.Findings; len(f) != 1 || f[0].File != "api/b.py" {
		t.Errorf("findings %+v", f)
	}
	if len(res.Parts) != 2 || len(res.Parts[0].Set.Tests.Cases) != 1 || len(res.Parts[1].Set.Tests.Cases) != 2 || res.Parts[1].Set.Lint == nil {
		t.Errorf("parts %+v", res.Parts)
	}
}

// A report of another reporter is not compared with that of the first one.
func TestReportsInAnotherFormatAreNotCompared(t *testing.T) {
	known := metric.NewTests([]metric.Test{{ID: metric.ID{Name: "a"}, Status: metric.Passed}})
	known.Format = "jest"
	res := run(t, tree(t, nil), known, shell(measure.Test, "echo '"+junit+"'; exit 1"))
	if g, missing := res.Set.Gap(metric.SectionTests); !missing || !strings.Contains(g.Why, "from jest to junit") {
		t.Errorf("gap %+v, set %+v", g, res.Set.Tests)
	}
	root := tree(t, map[string]string{"out": `<checkstyle version="1"><file name="a.js"><error line="1" severity="error" message="m" source="s"/></file></checkstyle>`})
	m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Lint, "cat out; exit 1")}}, measure.Options{Scratch: t.TempDir()})
	if res := again(t, m); res.Set.Lint == nil {
		t.Fatalf("gaps %+v", res.Set.Gaps)
	}
	if err := os.WriteFile(filepath.Join(root, "out"), []byte("conf.js:1:1: error: cannot load\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if g, missing := again(t, m).Set.Gap(metric.SectionLint); !missing || !strings.Contains(g.Why, "checkstyle before") {
		t.Errorf("gap %+v", g)
	}
}

// Reports differ where the plan names another runner than that of the known tests.
func TestReportsOfAnotherRunnerAreCompared(t *testing.T) {
	for _, tt := range []struct {
		was, is  string
		compared bool
	}{{"jest", "node", true}, {"jest", "jest", false}, {"", "node", false}, {"jest", "", false}} {
		known := metric.NewTests([]metric.Test{{ID: metric.ID{Name: "a"}, Status: metric.Passed}})
		known.Format, known.Runner = "jest", tt.was
		check := shell(measure.Test, "echo '"+junit+"'; exit 1")
		check.Runner = tt.is
		res := run(t, tree(t, nil), known, check)
		if _, missing := res.Set.Gap(metric.SectionTests); missing == tt.compared || tt.compared && res.Set.Tests.Runner != tt.is {
			t.Errorf("from %q to %q: %+v", tt.was, tt.is, res.Set)
		}
	}
}

// What the framework lists and does not run is not passed over in silence.
func TestListedTestsThatDidNotRun(t *testing.T) {
	const report = `<testsuites><testsuite name="pytest"><testcase classname="tests.test_a" name="test_x" file="tests/test_a.py"/>` +
		`<testcase classname="tests.test_a.TestC" name="test_y[a-b]" file="tests/test_a.py"/></testsuite></testsuites>`
	check := shell(measure.Test, "echo '"+report+"'")
	check.Runner = "pytest"
	for _, tt := range []struct{ name, list, want string }{
		{"all ran", "tests/test_a.py::test_x\ntests/test_a.py::TestC::test_y[a-b]\n\n2 tests collected", ""},
		{"one did not", "tests/test_a.py::test_x\ntests/test_a.py::TestC::test_y[a-b]\ntests/test_b.py::test_z", "1 of the 3 tests or files that the framework lists did not run, the first: tests/test_b.py test_z"},
		{"not to be listed", "", "could not be listed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := check
			c.Inventory = []string{"/bin/sh", "-c", "printf '" + strings.ReplaceAll(tt.list, "\n", `\n`) + "'; test -n '" + tt.list + "'"}
			res := run(t, tree(t, nil), nil, c)
			problems := strings.Join(res.Runs[0].Problems, ";")
			if !strings.Contains(problems, tt.want) || (tt.want == "") != (problems == "") {
				t.Errorf("problems %q, want %q", problems, tt.want)
			}
			want := metric.Counts{Count: 2, Passed: 2}
			if strings.HasPrefix(tt.want, "1 of") {
				want = metric.Counts{Count: 3, Passed: 2, Failed: 1}
			}
			if got := res.Set.Tests.Counts(); got != want {
				t.Errorf("counts %+v, want %+v", got, want)
			}
		})
	}
}

// A name may contain what reports and lists write in other ways.
func TestListedNamesThatAreNotPrinted(t *testing.T) {
	root := tree(t, map[string]string{
		"r.json":    `{"numTotalTests":2,"testResults":[{"name":"a.test.js","status":"passed","message":"","assertionResults":[{"ancestorTitles":["urls"],"title":"\u0000http:\u200d//a","status":"passed"},{"ancestorTitles":["urls"],"title":"","status":"passed"}]}]}`,
		"list.json": `[{"name":"urls > \u0000http:\u200d//a","file":"a.test.js"},{"name":"urls > ","file":"a.test.js"}]`,
	})
	c := shell(measure.Test, "cat r.json")
	c.Runner, c.Inventory = "vitest", []string{"cat", "list.json"}
	res := run(t, root, nil, c)
	if got, want := res.Set.Tests.Counts(), (metric.Counts{Count: 2, Passed: 2}); got != want || len(res.Runs[0].Problems) > 0 {
		t.Errorf("counts %+v, want %+v; problems %q", got, want, res.Runs[0].Problems)
	}
}

// The inventory of Go is that of go test itself.
func TestListedGoTestsThatDidNotRun(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	root := tree(t, map[string]string{
		"go.mod": "module m\n\ngo 1.21\n", "a.go": "package m\n",
		"a_test.go": "package m\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc BenchmarkC(b *testing.B) {}\nfunc TestMain(m *testing.M) {\n\tfmt.Println(\"Testing...\")\n\tm.Run()\n}\nfunc Example_d() {\n\tfmt.Println(1)\n\t// Output: 1\n}\nfunc Example() {}\n",
	})
	check := measure.Check{
		Kind: measure.Test, Name: "go test", Runner: "go",
		Command:   []string{"go", "test", "-json", "./..."},
		Inventory: []string{"go", "test", "-json", "-list", ".", "./..."},
	}
	if res := run(t, root, nil, check); len(res.Runs[0].Problems) > 0 || res.Runs[0].Listed != 3 || res.Set.Tests.Counts().Passed != 3 {
		t.Errorf("%d are listed, problems %q, counts %+v", res.Runs[0].Listed, res.Runs[0].Problems, res.Set.Tests.Counts())
	}
	check.Command = []string{"go", "test", "-json", "-run", "A", "./..."}
	if res := run(t, root, nil, check); res.Set.Tests.Counts() != (metric.Counts{Count: 3, Passed: 1, Failed: 2}) {
		t.Errorf("counts %+v, problems %q", res.Set.Tests.Counts(), res.Runs[0].Problems)
	}
}

// A project whose tests were all stopped does not look as if they were deleted,
// although another project ran; nor does a module that a build tool did not come
// to.
func TestTestsAfterAStopAreNotRun(t *testing.T) {
	const both = `<testsuites><testsuite name="s1"><testcase name="x"/></testsuite><testsuite name="s2"><testcase name="y"/></testsuite></testsuites>`
	for _, tt := range []struct{ name, runner, then string }{
		{"nothing ran", "pytest", `<testsuites><testsuite name="s1"><error message="cannot be loaded"/></testsuite></testsuites>`},
		{"a later module", "maven", suite("s1")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"a/out": both, "b/out": suite("s")})
			a, b := shell(measure.Test, "cat out; test ! -e fail"), shell(measure.Test, "cat out")
			a.Dir, b.Dir, a.Runner = "a", "b", tt.runner
			m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{a, b}}, measure.Options{Scratch: t.TempDir()})
			known := again(t, m).Set.Tests
			for name, text := range map[string]string{"a/out": tt.then, "a/fail": ""} {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			res, err := m.Run(context.Background(), known)
			if err != nil {
				t.Fatal(err)
			}
			y, there := res.Set.Tests.Lookup(metric.ID{Suite: "a/s2", Name: "y"})
			if !there || y.Status != metric.NotRun || res.Set.Tests.Counts().Count != 3 {
				t.Errorf("tests %+v, gaps %+v", res.Set.Tests, res.Set.Gaps)
			}
		})
	}
}

// The coverage of some projects is not that of all of them.
func TestCoverageOfSomeChecksIsMissing(t *testing.T) {
	root := tree(t, map[string]string{"a/cover.out": profile, "b/cover.out": strings.ReplaceAll(profile, "m/", "n/")})
	var checks []measure.Check
	for _, dir := range []string{"a", "b"} {
		c := shell(measure.Test, "if test -e cover.out; then cp cover.out $D; fi; echo '"+suite(dir)+"'")
		c.Dir, c.Env = dir, []string{"D=" + measure.ReportDir}
		checks = append(checks, c)
	}
	m := measure.New(measure.Plan{Root: root, Checks: checks}, measure.Options{Scratch: t.TempDir()})
	for i := range checks {
		checks[i].Coverage = true
	}
	if c := again(t, m).Set.Coverage; c == nil || c.Total != 6 {
		t.Fatalf("coverage %+v, want that of both", c)
	}
	if err := os.Remove(filepath.Join(root, "b", "cover.out")); err != nil {
		t.Fatal(err)
	}
	set := again(t, m).Set
	if g, missing := set.Gap(metric.SectionCoverage); set.Coverage != nil || !missing || !strings.Contains(g.Why, "which it did before") {
		t.Errorf("coverage %+v, gap %+v", set.Coverage, g)
	}
}

// A private folder whose name has a meaning in patterns is one all the same.
func TestScratchFoldersWithOddNames(t *testing.T) {
	c := shell(measure.Test, "echo '"+suite("s")+"' > $D/a.xml")
	c.Env, c.Reports = []string{"D=" + measure.ReportDir}, []string{measure.ReportDir + "/*.xml"}
	m := measure.New(measure.Plan{Root: t.TempDir(), Checks: []measure.Check{c}}, measure.Options{Scratch: filepath.Join(t.TempDir(), "a[b]{c,d}*")})
	if res := again(t, m); res.Set.Tests == nil || res.Set.Tests.Counts().Count != 1 {
		t.Errorf("tests %+v, gaps %+v", res.Set.Tests, res.Set.Gaps)
	}
}
