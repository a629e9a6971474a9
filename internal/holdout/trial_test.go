package holdout

import (
	"context"
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
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/source"
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
	var err error
	w.store, err = snapshot.Open(context.Background(), w.root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.plan = measure.Plan{Root: w.root, Checks: []measure.Check{check}}
	w.meter = measure.New(w.plan, measure.Options{Scratch: t.TempDir()})
	return w
}

// write writes files; those without a text are deleted.
func (w *trialWorld) write(list files) {
	w.t.Helper()
	for name, text := range list {
		full := filepath.Join(w.root, filepath.FromSlash(name))
		if text == "" {
			if err := os.Remove(full); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

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

// try makes a change, after which TestHalf passes, and runs the hold-out of the
// findings about it. It returns what the run says, and the verdict on the change.
func (w *trialWorld) try(ended metric.Status, change files, findings ...detector.Tampering) (ledger.HoldOut, detector.Assessment) {
	w.t.Helper()
	return w.trySets(halfEnded(ended), halfEnded(metric.Passed), change, findings...)
}

// trySets is try with the tests as they were measured before and after the change.
// Without findings those of the rules are taken.
func (w *trialWorld) trySets(before, now metric.Set, change files, findings ...detector.Tampering) (ledger.HoldOut, detector.Assessment) {
	w.t.Helper()
	ctx := context.Background()
	was := w.take()
	w.write(change)
	is := w.take()
	changes, err := w.store.Changes(ctx, was, is)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := evidence.Of(changes, integrity.Options{}, evidence.ReaderOf(ctx, w.store, was, is))
	if err != nil {
		w.t.Fatal(err)
	}
	if len(findings) == 0 {
		findings = e.Tampering
	}
	e.Tampering = findings
	dir := w.t.TempDir()
	first := detector.Observation{Set: before}
	in := detector.Input{
		Current: detector.Observation{Iteration: 1, Set: now, Changed: true}, Previous: first, Baseline: first, History: []detector.Observation{first},
		Before: e.Before, After: e.After, Renamed: e.Renamed, Removed: e.Removed, GoneSymbols: e.GoneSymbols,
		Tampering: findings, TestFiles: e.TestFiles, TestsAlone: e.TestsAlone,
	}
	out, err := Trial{
		Workspace: w.workspace(dir), Was: was, Is: is,
		Findings: detector.ToHoldOut(in, detector.Options{}, detector.High), Before: before.Tests, Evidence: e,
	}.Run(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		w.t.Errorf("the tree is still there: %v, %v", left, err)
	}
	in.HeldOut = out.Results
	return out, detector.Assess(in, detector.Options{})
}

func (w *trialWorld) workspace(scratch string) Workspace {
	return Workspace{Store: w.store, Meter: w.meter, Plan: w.plan, Root: w.root, Scratch: scratch}
}

func outcomes(h ledger.HoldOut) map[string]detector.Outcome {
	out := map[string]detector.Outcome{}
	for _, r := range h.Results {
		out[r.ID.Name] = r.Outcome
	}
	return out
}

func goCheck(t *testing.T) measure.Check {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	return measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "-vet=off", "-count=1", "./..."}}
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

// A changed test, and the result of the original test over the new code.
func TestHoldOutOfAChangedTest(t *testing.T) {
	check := goCheck(t)
	weak := strings.Replace(exact, "got != 4", "got == 0", 1)
	found := func(pattern, kind, file string) detector.Tampering {
		return detector.Tampering{Pattern: pattern, Type: kind, Severity: detector.High, File: file, Test: "TestHalf"}
	}
	weakened := found("TP-11", "assertion_weakened", "shop_test.go")
	helper := "package shop\n\nfunc want() int { return 4 }\n"
	withHelper := strings.Replace(exact, "got != 4", "got != want()", 1)
	for _, tt := range []struct {
		name    string
		start   files
		before  metric.Status
		change  files
		finding detector.Tampering
		outcome detector.Outcome
		want    detector.Severity // of the alert, in the standard mode
		undone  bool
	}{
		{"weakened over broken code", goShop(shopBroken, exact), metric.Failed, files{"shop_test.go": weak}, weakened, detector.Broke, detector.Critical, true},
		{"the code was mended as well", goShop(shopBroken, exact), metric.Failed, files{"shop.go": shopRight, "shop_test.go": weak}, weakened, detector.Held, 0, false},
		{
			"a wrong expectation, with new code", goShop(shopRight, exact), metric.Passed,
			files{"shop.go": strings.Replace(shopRight, "n / 2", "(n + 4) / 2", 1), "shop_test.go": strings.ReplaceAll(exact, "4", "6")},
			found("TP-13", "expected_value_rewritten", "shop_test.go"), detector.Broke, detector.High, false,
		},
		{
			"it does not compile any more", goShop(shopRight, exact), metric.Passed,
			files{"shop.go": shopOther, "shop_test.go": strings.Replace(weak, "Half(8)", "Half(8, 2)", 1)},
			weakened, detector.Unbuilt, detector.High, false,
		},
		{
			"in a file of a new name", goShop(shopBroken, exact), metric.Failed,
			files{"shop_test.go": "", "half_test.go": weak},
			found("TP-11", "assertion_weakened", "half_test.go"), detector.Broke, detector.Critical, true,
		},
		{
			"by what it shares with others",
			files{
				"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop.go": shopBroken, "shop_test.go": withHelper, "want_test.go": helper,
			},
			metric.Failed,
			files{"shop_test.go": withHelper + "\n// as before\n", "want_test.go": strings.Replace(helper, "4", "8", 1)},
			weakened, detector.Broke, detector.Critical, true,
		},
		{
			"another test was moved to a new file",
			files{
				"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop.go": shopBroken, "shop_test.go": exact + "\nfunc TestTwo(t *testing.T) { t.Log(2) }\n",
			},
			metric.Failed,
			files{"shop_test.go": weak, "two_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { t.Log(2) }\n"},
			weakened, detector.Broke, detector.Critical, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTrialWorld(t, tt.start, check)
			out, verdict := w.try(tt.before, tt.change, tt.finding)
			if got := outcomes(out)["TestHalf"]; got != tt.outcome {
				t.Errorf("outcome %q, want %q: %+v", got, tt.outcome, out)
			}
			var got detector.Severity
			for _, a := range verdict.Alerts {
				if strings.HasPrefix(a.Rule, detector.TamperPrefix) {
					got = a.Severity
				}
			}
			if undone := verdict.Recommendation.Action == detector.Rollback; got != tt.want || undone != tt.undone {
				t.Errorf("severity %v, undone %t, want %v, %t: %+v", got, undone, tt.want, tt.undone, verdict.Alerts)
			}
		})
	}
}

// A test that passes in the working tree alone, because of
// a file that git ignores, proves nothing by failing elsewhere.
func TestHoldOutOfATestThatFailsElsewhere(t *testing.T) {
	check := goCheck(t)
	start := goShop(shopRight, "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestHalf(t *testing.T) {\n\tif _, err := os.Stat(\"local.cfg\"); err != nil || Half(8) != 4 {\n\t\tt.Fatal(err)\n\t}\n}\n")
	start[".gitignore"], start["local.cfg"] = "local.cfg\n", "here\n"
	w := newTrialWorldInGit(t, start, check)
	out, verdict := w.try(metric.Passed, files{"shop_test.go": strings.Replace(start["shop_test.go"], "|| Half(8) != 4", "|| Half(8) == 0", 1)},
		detector.Tampering{Pattern: "TP-11", Type: "assertion_weakened", Severity: detector.High, File: "shop_test.go", Test: "TestHalf"})
	if len(out.Results) != 1 || out.Results[0].Outcome != detector.NotHeld || !strings.Contains(out.Results[0].Why, "over the old code either") {
		t.Errorf("%+v", out.Results)
	}
	if verdict.Critical() {
		t.Errorf("alerts %+v", verdict.Alerts)
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
func TestHoldOutReusesDependencies(t *testing.T) {
	start := files{
		".gitignore": "node_modules/\n", "package.json": "{}\n", "code.txt": "4\n", "run.sh": shTest,
		"node_modules/lib/lib.sh": "same() { [ \"$1\" = \"$2\" ] || { echo got $1 want $2; return 1; }; }\n", "node_modules/@scope/pkg/x": "x\n",
		"t/half.sh": "same \"$(cat code.txt)\" 8\n", "t/other.sh": "true\n",
	}
	check := measure.Check{Kind: measure.Test, Name: "test", Command: []string{"sh", "run.sh"}, Timeout: time.Minute}
	w := newTrialWorldInGit(t, start, check)
	finding := detector.Tampering{Pattern: "TP-13", Type: "expected_value_rewritten", Severity: detector.High, File: "t/half.sh"}
	was := w.take()
	w.write(files{"t/half.sh": "same \"$(cat code.txt)\" 4\n"})
	is, cache := w.take(), filepath.Join(w.root, "node_modules", ".cache", "at")
	before := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "TAP", Name: "half"}, Status: metric.Failed}})
	trial := Trial{
		Workspace: w.workspace(t.TempDir()), Was: was, Is: is, Findings: []detector.Tampering{finding}, Before: before,
		Evidence: ledger.Evidence{
			TestFiles: []string{"t/half.sh"}, TestsAlone: true, Before: []detector.TestSource{{File: "t/half.sh", Def: testDef("half")}},
		},
	}
	out, err := trial.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes(out); got["half"] != detector.Broke || len(got) != 1 {
		t.Errorf("outcomes %v: %+v", got, out)
	}
	if _, err := os.Stat(cache); err == nil {
		t.Error("a cache of the working tree was written to")
	}
	if !slices.Equal(out.PutBack, []string{"t/half.sh"}) {
		t.Errorf("put back: %v", out.PutBack)
	}
}

// The reason is recorded where a test would prove nothing, and nothing is run for it.
func TestTestsThatAreNotHeldOut(t *testing.T) {
	half := metric.ID{Suite: "t", Name: "half"}
	finding := detector.Tampering{File: "t/half.py", Test: "half"}
	defs := []detector.TestSource{{File: "t/half.py", Def: testDef("half")}}
	for _, tt := range []struct {
		name   string
		status metric.Status
		change func(*Trial)
		want   string
	}{
		{"flaky", metric.Passed, func(x *Trial) { x.Flaky = map[metric.ID]bool{half: true} }, "it is flaky"},
		{"skipped before", metric.Skipped, func(*Trial) {}, "it did not run before either"},
		{"among the code", metric.Passed, func(x *Trial) { x.Evidence.TestFiles = nil }, "it stands in a file with the code that it tests"},
		{"not measured", metric.Passed, func(x *Trial) { x.Findings[0].Test = "other" }, "no such test was measured before"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trial := Trial{
				Findings: []detector.Tampering{finding}, Before: metric.NewTests([]metric.Test{{ID: half, File: "t/half.py", Status: tt.status}}),
				Evidence: ledger.Evidence{Before: defs, TestFiles: []string{"t/half.py"}},
			}
			tt.change(&trial)
			out, err := trial.Run(context.Background())
			if err != nil || len(out.Results) != 1 || out.Results[0].Outcome != detector.NotHeld || out.Results[0].Why != tt.want {
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
		"AssertionError: assert 3 == 4":                              detector.Broke,
		"TypeError: unsupported operand type(s) for +: 'int', 'str'": detector.Broke,
		"expected function to throw":                                 detector.Broke,
	} {
		r := &trialRun{}
		end := measure.Ending{Test: metric.Test{Status: metric.Failed, Message: message}}
		if got := r.verdict(end).outcome; got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
		r.Evidence.TestsAlone = true // then the change is not the reason
		if got := r.verdict(end).outcome; got != detector.Broke {
			t.Errorf("%s, tests alone: %s", message, got)
		}
	}
}

func testDef(name string) source.TestDef { return source.TestDef{Name: name} }
