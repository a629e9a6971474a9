package originaltests

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/source"
	"supervise/test/tools"
	"supervise/test/trees"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// files are those of a tree, by path.
type files map[string]string

// trialWorld is a project with its snapshots and its meter.
type trialWorld struct {
	t     *testing.T
	root  string
	store *snapshot.Store
	meter *measure.Meter
	plan  measure.Plan
}

func newTrialWorld(t *testing.T, start files, check measure.Check) *trialWorld {
	t.Helper()
	w := &trialWorld{t: t, root: filepath.Join(t.TempDir(), "tree")}
	w.write(start)
	w.store, w.plan, w.meter = trees.Open(t, w.root, check)
	return w
}

func (w *trialWorld) write(list files) { w.t.Helper(); trees.Write(w.t, w.root, list) }

func (w *trialWorld) take() snapshot.ID {
	w.t.Helper()
	info, err := w.store.Take(context.Background(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return info.ID
}

// halfEnded are the tests as they were measured: TestHalf ended so.
func halfEnded(s metric.Status) metric.Set {
	return metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "example.com/shop", Name: "TestHalf"}, Status: s}})}
}

// try makes a change, after which TestHalf passes, and runs it as it was. It returns what
// the run says, and the verdict on the change.
func (w *trialWorld) try(ended metric.Status, change files) (ledger.Goals, detector.Assessment) {
	w.t.Helper()
	return w.trySets(halfEnded(ended), halfEnded(metric.Passed), change)
}

// trySets is try with the tests as they were measured before and after the change.
func (w *trialWorld) trySets(before, now metric.Set, change files) (ledger.Goals, detector.Assessment) {
	w.t.Helper()
	trial := w.trial(before, now, change)
	out, err := trial.Run(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	if left, err := os.ReadDir(trial.Scratch); err != nil || len(left) > 0 {
		w.t.Errorf("the tree is still there: %v, %v", left, err)
	}
	e, first := trial.Evidence, detector.Observation{Set: before}
	return out, detector.Assess(detector.Input{
		Current: detector.Observation{Iteration: 1, Set: now, Changed: true}, Previous: first, Baseline: first, History: []detector.Observation{first},
		Evidence: detector.Evidence{Before: e.Before, After: e.After, Renamed: e.Renamed, Removed: e.Removed, GoneSymbols: e.GoneSymbols, Tampering: e.Tampering, TestFiles: e.TestFiles}, Goals: out.Results, ProductUnchanged: out.ProductSame,
	}, detector.Options{})
}

// trial is the trial of a change.
func (w *trialWorld) trial(before, now metric.Set, change files) Trial {
	w.t.Helper()
	ctx := context.Background()
	was := w.take()
	w.write(change)
	is := w.take()
	changes, err := w.store.Changes(ctx, was, is)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := evidence.Collect(changes, integrity.Options{}, evidence.NewSnapshotReader(ctx, w.store, was, is))
	if err != nil {
		w.t.Fatal(err)
	}
	return Trial{
		Workspace: w.workspace(w.t.TempDir()), Base: was, Current: is, Changes: changes, BaseTests: before.Tests, CurrentTests: now.Tests, Evidence: e,
	}
}

func (w *trialWorld) workspace(scratch string) treecopy.Workspace {
	return treecopy.Workspace{Store: w.store, Meter: w.meter, Plan: w.plan, Root: w.root, Scratch: scratch}
}

func outcomes(h ledger.Goals) map[string]detector.Outcome {
	out := map[string]detector.Outcome{}
	for _, r := range h.Results {
		out[r.ID.Name] = r.Outcome
	}
	return out
}

func goCheck(t *testing.T) measure.Check {
	t.Helper()
	tools.Need(t, "go")
	return measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "-vet=off", "-ldflags=-w", "-count=1", "./..."}}
}

const (
	shopBroken = "package shop\n\n// Half is wrong.\nfunc Half(n int) int { return n }\n"
	shopRight  = "package shop\n\nfunc Half(n int) int { return n / 2 }\n"
	shopOther  = "package shop\n\nfunc Half(n, of int) int { return n / of }\n"
	exact      = "package shop\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif got := Half(8); got != 4 {\n\t\tt.Errorf(\"got %d, want 4\", got)\n\t}\n}\n"
)

func goShop(code, test string) files {
	return files{"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop.go": code, "shop_test.go": test}
}

// A changed test, and how it ends as it was over the new code.
func TestChangedTestAsItWas(t *testing.T) {
	check := goCheck(t)
	weak := strings.Replace(exact, "got != 4", "got == 0", 1)
	helper := "package shop\n\nfunc want() int { return 4 }\n"
	withHelper := strings.Replace(exact, "got != 4", "got != want()", 1)
	asserting := "package shop\n\nimport \"testing\"\n\nfunc equal(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Fatalf(\"got %d, want %d\", got, want)\n\t}\n}\n"
	asserted := "package shop\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) { equal(t, Half(8), 4) }\n"
	golden := "package shop\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHalf(t *testing.T) {\n\twant, _ := os.ReadFile(\"testdata/half.txt\")\n\tif got := fmt.Sprintln(Half(8)); got != string(want) {\n\t\tt.Errorf(\"got %s\", got)\n\t}\n}\n"
	with := func(list files, more files) files {
		maps.Copy(list, more)
		return list
	}
	for _, tt := range []struct {
		name    string
		start   files
		before  metric.Status
		change  files
		outcome detector.Outcome
		want    detector.Severity // of tests_weakened
	}{
		{"weakened over broken code", goShop(shopBroken, exact), metric.Failed, files{"shop_test.go": weak}, detector.Failed, detector.Critical},
		{"the code was fixed as well", goShop(shopBroken, exact), metric.Failed, files{"shop.go": shopRight, "shop_test.go": weak}, detector.Passed, 0},
		{
			"another expectation, with new code", goShop(shopRight, exact), metric.Passed,
			files{"shop.go": strings.Replace(shopRight, "n / 2", "(n + 4) / 2", 1), "shop_test.go": strings.ReplaceAll(exact, "4", "6")},
			detector.Failed, detector.High,
		},
		{
			"it does not compile any more", goShop(shopRight, exact), metric.Passed,
			files{"shop.go": shopOther, "shop_test.go": strings.Replace(weak, "Half(8)", "Half(8, 2)", 1)},
			detector.Unbuilt, 0,
		},
		{"in a file of a new name", goShop(shopBroken, exact), metric.Failed, files{"shop_test.go": "", "half_test.go": weak}, detector.Failed, detector.Critical},
		{
			"by what it shares with others", with(goShop(shopBroken, withHelper), files{"want_test.go": helper}), metric.Failed,
			files{"want_test.go": strings.Replace(helper, "4", "8", 1)},
			detector.Failed, detector.Critical,
		},
		{
			"by a helper that asserts nothing any more", with(goShop(shopBroken, asserted), files{"assert_test.go": asserting}), metric.Failed,
			files{"assert_test.go": strings.Replace(asserting, "got != want", "got == want-1000", 1)},
			detector.Failed, detector.Critical,
		},
		{
			"by its expected output", with(goShop(shopBroken, golden), files{"testdata/half.txt": "4\n"}), metric.Failed,
			files{"testdata/half.txt": "8\n"},
			detector.Failed, detector.Critical,
		},
		{
			"by a new file that changes the code in tests alone", goShop("package shop\n\nvar by = 1\n\nfunc Half(n int) int { return n / by }\n", exact), metric.Failed,
			files{"setup_test.go": "package shop\n\nfunc init() { by = 2 }\n"},
			detector.Failed, detector.Critical,
		},
		{
			"another test was moved to a new file", goShop(shopBroken, exact+"\nfunc TestTwo(t *testing.T) { t.Log(2) }\n"), metric.Failed,
			files{"shop_test.go": weak, "two_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { t.Log(2) }\n"},
			detector.Failed, detector.Critical,
		},
		{
			"one file of tests does not fit the code", with(goShop(shopRight, exact), files{"two_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { _ = Two() }\n", "two.go": "package shop\n\nfunc Two() int { return 2 }\n"}), metric.Passed,
			files{"shop_test.go": weak, "shop.go": shopBroken, "two.go": "package shop\n\nfunc Two(n int) int { return n }\n", "two_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { _ = Two(2) }\n"},
			detector.Failed, detector.High,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTrialWorld(t, tt.start, check)
			out, verdict := w.try(tt.before, tt.change)
			if got := outcomes(out)["TestHalf"]; got != tt.outcome {
				t.Errorf("outcome %q, want %q: %+v", got, tt.outcome, out)
			}
			var got detector.Severity
			for _, a := range verdict.Alerts {
				if a.Rule == detector.TestsWeakened {
					got = a.Severity
				}
			}
			if undone := verdict.Recommendation.Action == detector.Rollback; got != tt.want || undone != (tt.want == detector.Critical) {
				t.Errorf("severity %v, undone %t, want %v: %+v", got, undone, tt.want, verdict.Alerts)
			}
		})
	}
}

// A test that had no time proves nothing, and the setting is named.
func TestNoTimeForOriginalTests(t *testing.T) {
	w := newTrialWorld(t, goShop(shopRight, exact), goCheck(t))
	x := w.trial(halfEnded(metric.Passed), halfEnded(metric.Passed), files{"shop_test.go": exact + "\nfunc TestTwo(t *testing.T) {}\n"})
	x.Limit = 1
	out, err := x.Run(t.Context())
	if err != nil || len(out.Results) != 1 || out.Results[0].Outcome != detector.NotRun || !strings.HasSuffix(out.Results[0].Why, ": raise goal_tests.timeout") {
		t.Errorf("%+v, %v", out.Results, err)
	}
}

// The test as it was is shown in addition to the new one, and the files that it depends on where
// its own text is the same.
func TestBothVersionsAreShown(t *testing.T) {
	weak := strings.Replace(exact, "got != 4", "got == 0", 1)
	w := newTrialWorld(t, goShop(shopBroken, exact), goCheck(t))
	out, _ := w.try(metric.Failed, files{"shop_test.go": weak})
	g := out.Results[0]
	if g.Before == nil || g.After == nil || !strings.Contains(g.Before.Text, "got != 4") || !strings.Contains(g.After.Text, "got == 0") || g.Before.Line != 5 {
		t.Errorf("was %+v, is %+v", g.Before, g.After)
	}
}

// A suite that could not be built before has no tests yet. Where it cannot be built as it
// was, and can be as it is, it was weakened.
func TestSuiteThatCouldNotBeBuilt(t *testing.T) {
	missing := metric.Set{Tests: &metric.Tests{Broken: []metric.Suite{{Name: "example.com/shop", Why: "undefined: Half"}}}}
	for _, tt := range []struct {
		name, code string
		want       detector.Outcome
	}{
		{"it was not written", "package shop\n", detector.Failed},
		{"it was written wrongly", shopBroken, detector.Failed},
		{"it was written", shopRight, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTrialWorld(t, goShop("package shop\n", exact), goCheck(t))
			out, verdict := w.trySets(missing, halfEnded(metric.Passed), files{"shop.go": tt.code + "\n// new\n", "shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {}\n"})
			got := detector.Outcome("")
			for _, r := range out.Results {
				if r.Outcome == detector.Failed {
					got = r.Outcome
				}
			}
			if got != tt.want || verdict.HasCritical() != (tt.want == detector.Failed) {
				t.Errorf("got %q, want %q: %+v, %+v", got, tt.want, out, verdict.Alerts)
			}
		})
	}
}

// The key of a trial is that of the tree with the tests as they were: what changes in
// them does not change it.
func TestKeyOfATrial(t *testing.T) {
	w := newTrialWorld(t, goShop(shopBroken, exact), measure.Check{Kind: measure.Test, Name: "test", Command: []string{"true"}})
	was := w.take()
	key := func(change files) string {
		x := w.trial(halfEnded(metric.Failed), halfEnded(metric.Passed), change)
		x.Base = was
		out, err := x.Key()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := key(files{"shop_test.go": strings.Replace(exact, "4", "5", 1)})
	if again := key(files{"shop_test.go": strings.Replace(exact, "4", "6", 1)}); again != first {
		t.Error("other tests give another key")
	}
	if other := key(files{"shop.go": shopRight, "shop_test.go": strings.Replace(exact, "4", "7", 1)}); other == first {
		t.Error("other code has the same key")
	}
}

// A test that passes in the working tree alone, because of
// a file that git ignores, proves nothing by failing in a copy.
func TestATestThatFailsInACopyProvesNothing(t *testing.T) {
	check := goCheck(t)
	start := goShop(shopRight, "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHalf(t *testing.T) {\n\tif _, err := os.Stat(\"local.cfg\"); err != nil || Half(8) != 4 {\n\t\tt.Fatal(err)\n\t}\n}\n")
	start[".gitignore"], start["local.cfg"] = "local.cfg\n", "here\n"
	for ended, want := range map[metric.Status]string{metric.Passed: "over the old code either", metric.Failed: "its new version does not pass either"} {
		w := newTrialWorldInGit(t, start, check)
		out, verdict := w.try(ended, files{"shop_test.go": strings.Replace(start["shop_test.go"], "|| Half(8) != 4", "|| Half(8) == 0", 1)})
		if len(out.Results) != 1 || out.Results[0].Outcome != detector.NotRun || !strings.Contains(out.Results[0].Why, want) {
			t.Errorf("%+v", out.Results)
		}
		if verdict.HasCritical() {
			t.Errorf("alerts %+v", verdict.Alerts)
		}
	}
}

func newTrialWorldInGit(t *testing.T, start files, check measure.Check) *trialWorld {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w := &trialWorld{t: t, root: root}
	w.write(start)
	var err error
	w.store, err = snapshot.Open(context.Background(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.plan = measure.Plan{Root: root, Checks: []measure.Check{check}}
	w.meter = measure.New(w.plan, measure.Options{Scratch: t.TempDir()})
	return w
}

// shTest is a test framework in shell: each file t/NAME.sh is a test, and says why
// it fails. Its library lies in node_modules.
const shTest = `echo "TAP version 13"; echo "1..$(ls t/*.sh | wc -l)"; n=0; status=0
. node_modules/lib/lib.sh || exit 9
mkdir -p node_modules/.cache && date >node_modules/.cache/at
for f in t/*.sh; do n=$((n+1)); name=$(basename $f .sh)
if why=$(. ./$f 2>&1); then echo "ok $n - $name"; else echo "not ok $n - $name"; printf '  ---\n  message: "%s"\n  ...\n' "$why"; status=1; fi; done; exit $status`

// The folders that package managers fill are there,
// and nothing is written to those of the working tree.
func TestTrialReusesDependencies(t *testing.T) {
	start := files{
		".gitignore": "node_modules/\n", "package.json": "{}\n", "code.txt": "4\n", "run.sh": shTest,
		"node_modules/lib/lib.sh": "same() { [ \"$1\" = \"$2\" ] || { echo got $1 want $2; return 1; }; }\n", "node_modules/@scope/pkg/x": "x\n",
		"t/half.sh": "same \"$(cat code.txt)\" 8\n", "t/other.sh": "true\n",
	}
	check := measure.Check{Kind: measure.Test, Name: "test", Command: []string{"sh", "run.sh"}, Timeout: time.Minute}
	w := newTrialWorldInGit(t, start, check)
	was := w.take()
	w.write(files{"t/half.sh": "same \"$(cat code.txt)\" 4\n"})
	is, cache := w.take(), filepath.Join(w.root, "node_modules", ".cache", "at")
	tests := func(s metric.Status) *metric.Tests {
		return metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "TAP", Name: "half"}, Status: s}})
	}
	trial := Trial{
		Workspace: w.workspace(t.TempDir()), Base: was, Current: is, Changes: []snapshot.Change{{Path: "t/half.sh", Kind: snapshot.Modified}},
		BaseTests: tests(metric.Failed), CurrentTests: tests(metric.Passed),
		Evidence: ledger.Evidence{
			Evidence: detector.Evidence{TestFiles: []string{"t/half.sh"}, Before: []detector.TestSource{{File: "t/half.sh", Def: testDef("half")}}}, OnlyTestsChanged: true,
		},
	}
	out, err := trial.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes(out); got["half"] != detector.Failed || len(got) != 1 {
		t.Errorf("outcomes %v: %+v", got, out)
	}
	if _, err := os.Stat(cache); err == nil {
		t.Error("a cache of the working tree was written to")
	}
	if !slices.Equal(out.RestoredFiles, []string{"t/half.sh"}) {
		t.Errorf("put back: %v", out.RestoredFiles)
	}
}

// Where another runner runs the tests now, that of the base runs them as they were, with
// the packages that it had there.
func TestRunnerOfTheBase(t *testing.T) {
	base := newTrialWorldInGit(t, files{
		".gitignore": "node_modules/\n", "package.json": "{}\n", "node_modules/old/run.sh": shTest, "node_modules/lib/lib.sh": "true\n",
	}, measure.Check{})
	was := measure.Check{Kind: measure.Test, Name: "old", Runner: "old", Command: []string{"sh", "node_modules/old/run.sh"}, Timeout: time.Minute}
	is := measure.Check{Kind: measure.Test, Name: "new", Runner: "new", Command: []string{"sh", "new.sh"}, Timeout: time.Minute}
	w := newTrialWorldInGit(t, files{
		".gitignore": "node_modules/\n", "package.json": "{}\n", "code.txt": "4\n", "t/half.sh": ". node_modules/fresh/lib.sh; same $(cat code.txt) 4\n",
		"node_modules/lib/lib.sh": "exit 9\n", "node_modules/fresh/lib.sh": "same() { [ $1 = $2 ]; }\n",
	}, is)
	before := w.take()
	w.write(files{"t/half.sh": "", "new.sh": "echo 1..1; echo ok 1 - half\n"})
	tests := func(runner string, s metric.Status) *metric.Tests {
		out := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "TAP", Name: "half"}, Status: s}})
		out.Runner = runner
		return out
	}
	trial := Trial{
		Workspace: w.workspace(t.TempDir()), Base: before, Current: w.take(), Changes: []snapshot.Change{{Path: "t/half.sh", Kind: snapshot.Deleted}},
		BaseTests: tests("old", metric.Passed), CurrentTests: tests("new", metric.Passed),
		Evidence: ledger.Evidence{Evidence: detector.Evidence{TestFiles: []string{"t/half.sh"}}, OnlyTestsChanged: true},
	}
	trial.Original = &treecopy.Original{Meter: measure.New(measure.Plan{Root: base.root, Checks: []measure.Check{was}}, measure.Options{Scratch: t.TempDir()}), Root: base.root}
	out, err := trial.Run(context.Background())
	if err != nil || !out.FullSuite || len(out.Runs) == 0 || out.Passed != 1 {
		t.Errorf("%v: %+v", err, out)
	}
	for _, r := range out.Runs {
		if r.Name != "old (in another tree)" {
			t.Errorf("%s ran tests as they were", r.Name)
		}
	}
}

// A test that fails as it was and passes when it is run again is flaky.
func TestFlakyAsItWas(t *testing.T) {
	once := "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHalf(t *testing.T) {\n\tif _, err := os.Stat(\"seen\"); err != nil {\n\t\tos.WriteFile(\"seen\", nil, 0o600)\n\t\tt.Fatal(\"the first time\")\n\t}\n}\n"
	w := newTrialWorld(t, goShop(shopBroken, once), goCheck(t))
	out, verdict := w.try(metric.Failed, files{"shop_test.go": strings.Replace(exact, "got != 4", "got == 0", 1)})
	if len(out.Results) != 1 || out.Results[0].Outcome != detector.NotRun || !strings.HasSuffix(out.Results[0].Why, "it is flaky") {
		t.Errorf("%+v, %+v", out.Results, verdict.Alerts)
	}
}

// The reason is recorded where a test would prove nothing, and nothing is run for it.
func TestTestsThatAreNotRunAsTheyWere(t *testing.T) {
	half := metric.ID{Suite: "t", Name: "half"}
	defs := []detector.TestSource{{File: "t/half.py", Def: testDef("half")}}
	for _, tt := range []struct {
		name   string
		status metric.Status
		change func(*Trial)
		want   string
	}{
		{"flaky", metric.Passed, func(x *Trial) { x.BaseTests.Cases[0].Flaky = true }, "it is flaky"},
		{"skipped before", metric.Skipped, func(*Trial) {}, "it did not run before either"},
		{"among the code", metric.Passed, func(x *Trial) { x.Evidence.TestFiles = nil }, "it is in a file with the code that it tests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := Trial{
				BaseTests: metric.NewTests([]metric.Test{{ID: half, File: "t/half.py", Status: tt.status}}),
				Evidence:  ledger.Evidence{Evidence: detector.Evidence{Before: defs, TestFiles: []string{"t/half.py"}}},
			}
			tt.change(&trial)
			out, err := trial.Run(context.Background())
			if err != nil || len(out.Results) != 1 || out.Results[0].Outcome != detector.NotRun || out.Results[0].Why != tt.want {
				t.Errorf("%+v, %v, want %q", out, err, tt.want)
			}
		})
	}
}

// In a language that is not compiled a test that does not fit the code
// any more says so when it runs.
func TestMisfitCountsAsUnbuilt(t *testing.T) {
	for message, want := range map[string]detector.Outcome{
		"AttributeError: module 'shop' has no attribute 'half'":      detector.Unbuilt,
		"ImportError: cannot import name 'half' from 'shop'":         detector.Unbuilt,
		"TypeError: half() got an unexpected keyword argument 'of'":  detector.Unbuilt,
		"TypeError: (0 , _shop.half) is not a function":              detector.Unbuilt,
		"NoMethodError: undefined method `half' for main:Object":     detector.Unbuilt,
		"Error: Call to undefined function half()":                   detector.Unbuilt,
		"AssertionError: assert 3 == 4":                              detector.Failed,
		"TypeError: unsupported operand type(s) for +: 'int', 'str'": detector.Failed,
		"expected function to throw":                                 detector.Failed,
	} {
		r := &trialRun{}
		end := measure.TestResult{Test: metric.Test{Status: metric.Failed, Message: message}}
		if got := r.verdict(end).outcome; got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
		r.Evidence.OnlyTestsChanged = true // then the change is not the reason
		if got := r.verdict(end).outcome; got != detector.Failed {
			t.Errorf("%s, tests alone: %s", message, got)
		}
	}
}

func testDef(name string) source.TestDef { return source.TestDef{Name: name} }
