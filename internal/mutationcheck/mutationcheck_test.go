package mutationcheck

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/test/tools"
	"supervise/test/trees"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

type files map[string]string

// world is a real project in a tree with snapshots.
type world struct {
	t     *testing.T
	root  string
	store *snapshot.Store
	plan  measure.Plan
	meter *measure.Meter
}

func newWorld(t *testing.T, start files, check measure.Check) *world {
	t.Helper()
	w := &world{t: t, root: filepath.Join(t.TempDir(), "tree")}
	w.write(start)
	w.store, w.plan, w.meter = trees.Open(t, w.root, check)
	return w
}

func (w *world) write(list files) { w.t.Helper(); trees.Write(w.t, w.root, list) }

func (w *world) measured(known *metric.Tests) (snapshot.ID, *metric.Tests) {
	w.t.Helper()
	info, err := w.store.Take(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.meter.Run(w.t.Context(), known)
	if err != nil || res.Set.Tests == nil {
		w.t.Fatalf("%v, %+v", err, res)
	}
	return info.ID, res.Set.Tests
}

// trial makes a change and returns the trial of it.
func (w *world) trial(change files) Trial {
	w.t.Helper()
	ctx := context.Background()
	was, before := w.measured(nil)
	w.write(change)
	is, now := w.measured(before)
	changes, err := w.store.Changes(ctx, was, is)
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := evidence.CompareSnapshots(ctx, w.store, was, is, changes, integrity.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	scratch := w.t.TempDir()
	w.t.Cleanup(func() {
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			w.t.Errorf("copies are left: %v, %v", left, err)
		}
	})
	return Trial{
		Workspace: treecopy.Workspace{Store: w.store, Meter: w.meter, Plan: w.plan, Root: w.root, Scratch: scratch},
		Base:      was, Current: is, RestoredFiles: e.TestFiles, Evidence: e, BaseTests: before, CurrentTests: now,
	}
}

func (w *world) run(x Trial) *ledger.MutationCheck {
	w.t.Helper()
	out, err := x.Run(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range out.Results {
		w.t.Logf("%v: %s in %s, %d runs, %d invalid", p.Files, p, out.Took, out.Runs, out.Invalid)
	}
	for _, m := range out.Mutants {
		w.t.Logf("%t %t %s", m.KilledByOld, m.KilledByNew, m.Survivor)
	}
	return out
}

func pytest(t *testing.T) measure.Check {
	t.Helper()
	tools.Need(t, "python3 -m pytest")
	return measure.Check{Kind: measure.Test, Name: "pytest", Runner: "pytest", Command: []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml"}, Reports: []string{"report.xml"}}
}

func goTest(t *testing.T) measure.Check {
	t.Helper()
	tools.Need(t, "go")
	return measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "-vet=off", "-ldflags=-w", "-count=1", "./..."}}
}

const shopPy = `RATE = 2


def price(n, member=False):
    if n < 0:
        raise ValueError("negative")
    total = n * RATE
    if member and n >= 10:
        total = total - 1
    return total


def slug(text):
    return text.strip().lower().replace(" ", "-")
`

const testPy = `import pytest

from shop import price, slug


def test_price():
    assert price(3) == 6


def test_member():
    assert price(10, member=True) == 19
    assert price(9, member=True) == 18


def test_negative():
    with pytest.raises(ValueError):
        price(-1)


def test_slug():
    assert slug(" Hello World ") == "hello-world"
`

// pythonChanges are changes of the tests, with whether they keep their power.
var pythonChanges = []struct {
	name   string
	change files
	kept   bool
	gone   bool // no mutant dies any more
}{
	{"one parametrised test", files{"test_shop.py": `import pytest

from shop import price, slug


@pytest.mark.parametrize("n, member, want", [(3, False, 6), (10, True, 19), (9, True, 18)])
def test_price(n, member, want):
    assert price(n, member=member) == want


def test_negative():
    with pytest.raises(ValueError):
        price(-1)


def test_slug():
    assert slug(" Hello World ") == "hello-world"
`}, true, false},
	{"moved, renamed and merged", files{"test_shop.py": "", "test_all.py": `import pytest

from shop import price, slug


def test_prices_and_slugs():
    for n, member, want in [(3, False, 6), (10, True, 19), (9, True, 18)]:
        assert price(n, member=member) == want
    assert slug(" Hello World ") == "hello-world"


def test_refused():
    with pytest.raises(ValueError):
        price(-1)
`}, true, false},
	{"an unchanged test notices the same", files{"test_shop.py": strings.Replace(testPy, "== 6", "> 0", 1)}, true, false},
	{"weaker assertions", files{"test_shop.py": strings.NewReplacer("== 6", "> 0", "== 19", "> 0", "== 18", "> 0").Replace(testPy)}, false, false},
	{"nothing is asserted", files{"test_shop.py": `def test_price():
    assert True


def test_member():
    assert True


def test_negative():
    assert True


def test_slug():
    assert True
`}, false, true},
}

func TestE2EPowerOfPythonTests(t *testing.T) {
	tools.Long(t)
	check := pytest(t)
	for _, tt := range pythonChanges {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": testPy}, check)
			x := w.trial(tt.change)
			x.MaxMutants, x.Budget = 10, 5*time.Minute
			if !x.IsNeeded(t.Context()) {
				t.Fatal("nothing is to be run")
			}
			out := w.run(x)
			if len(out.Results) != 1 {
				t.Fatalf("%d groups", len(out.Results))
			}
			p := out.Results[0]
			if p.ScoreKept() != tt.kept || p.ScoreDropped() == tt.kept || (p.KilledAfter == 0) != tt.gone || p.KilledBefore < 8 || p.Mutants != 10 {
				t.Errorf("%s: %+v", p, p)
			}
			if p.ScoreDropped() && (len(p.Survivors) < p.KilledBefore-p.KilledAfter || p.Survivors[0].File != "shop.py" || p.Survivors[0].Line == 0) {
				t.Errorf("survivors %v", p.Survivors)
			}
		})
	}
}

// A test that fails on a mutant and passes on it in the next run is flaky, though it passed without
// a fault.
func TestFlakyOnAMutant(t *testing.T) {
	const flaky = `import pathlib

from shop import price

RUNS = pathlib.Path(%q)


def test_price():
    runs = int(RUNS.read_text()) + 1
    RUNS.write_text(str(runs))
    assert price(3) is not None and (runs < 3 or runs %% 2 == 0)
`
	runs := filepath.Join(t.TempDir(), "runs")
	if err := os.WriteFile(runs, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": fmt.Sprintf(flaky, runs)}, pytest(t))
	x := w.trial(files{"test_shop.py": "from shop import price\n\n\ndef test_price():\n    assert price(3) is not None\n"})
	x.MaxMutants, x.Budget = 3, 5*time.Minute
	out := w.run(x)
	if len(out.Results) != 1 || len(out.Results[0].Flaky) != 1 || out.Results[0].Flaky[0].Name != "test_price" {
		t.Errorf("%+v", out.Results)
	}
}

// Tests that did not change check less if a helper of theirs does. A helper of the same power costs
// them nothing, and one that only has a comment more is not run.
func TestHelpersThatCheckLess(t *testing.T) {
	const (
		tests  = "from check import equal\nfrom shop import price\n\n\ndef test_price():\n    equal(price(3), 6)\n\n\ndef test_member():\n    equal(price(10, True), 19)\n"
		helper = "def equal(got, want):\n    assert got == want\n"
	)
	for name, tt := range map[string]struct {
		helper          string
		needed, dropped bool
	}{
		"weaker":    {"def equal(got, want):\n    assert type(got) is type(want)\n", true, true},
		"as strong": {"def equal(got, want):\n    if got != want:\n        raise AssertionError(f\"{got}, not {want}\")\n", true, false},
		"a comment": {"# Compares.\n" + helper, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, files{"shop.py": shopPy, "tests/check.py": helper, "tests/test_shop.py": tests, "conftest.py": "\n"}, pytest(t))
			x := w.trial(files{"tests/check.py": tt.helper})
			x.MaxMutants, x.Budget = 4, 5*time.Minute
			if x.IsNeeded(t.Context()) != tt.needed {
				t.Fatalf("needed: %t", !tt.needed)
			}
			if !tt.needed {
				return
			}
			if out := w.run(x); len(out.Results) != 1 || !out.Results[0].IsKnown() || out.Results[0].ScoreDropped() != tt.dropped {
				t.Errorf("%+v", out.Results)
			}
		})
	}
}

// Code that shows the product is not the product, though the tests have a word of its name.
func TestExamplesHaveNoFaults(t *testing.T) {
	w := newWorld(t, files{"shop.py": shopPy, "examples/price.py": shopPy, "test_shop.py": testPy}, pytest(t))
	x := w.trial(files{"test_shop.py": strings.Replace(testPy, "== 6", "> 0", 1)})
	r := &trialRun{Trial: x, groups: x.groups(t.Context())}
	pairs, err := r.mutantPairs(t.Context(), r.groups, x.Current)
	if err != nil || len(pairs) == 0 {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	for _, p := range pairs {
		if p.new.File != "shop.py" {
			t.Errorf("a fault in %s", p.new.File)
		}
	}
}

// Tests that were only added have nothing to be compared with, and a comment is no change.
// Tests that did not change are run where a mutant survives without them, or where they may
// depend on what changed.
func TestChangedTestsAreRunAlone(t *testing.T) {
	list := func(names ...string) (out []metric.Test) {
		for _, n := range names {
			out = append(out, metric.Test{ID: metric.ID{Name: n}})
		}
		return out
	}
	all := list("TestA", "TestB")
	for _, test := range []struct {
		name        string
		shared      bool
		before, now []metric.Test
		wanted      int
		narrowed    bool
	}{
		{"one of two", false, list("TestA"), list("TestA"), 1, true},
		{"both", false, all, all, 2, false},
		{"one is gone", false, list("TestA"), nil, 2, false},
		{"what they share", true, list("TestA"), list("TestA"), 2, false},
	} {
		g := &group{oldTests: all, newTests: all, shared: test.shared}
		g.narrow(test.before, test.now)
		if len(g.oldTests) != test.wanted || g.isNarrowed() != test.narrowed {
			t.Errorf("%s: %d tests, narrowed %t", test.name, len(g.oldTests), g.isNarrowed())
		}
		if g.widen(); len(g.oldTests) != len(all) || g.isNarrowed() {
			t.Errorf("%s: %d tests after all", test.name, len(g.oldTests))
		}
	}
}

// Tests that failed before the change, and fail on the new code, are not run on the old code again.
func TestNothingPassedBefore(t *testing.T) {
	const test = "from shop import price\n\n\ndef test_three():\n    assert price(3) == 7\n"
	w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": test}, pytest(t))
	out := w.run(w.trial(files{"test_shop.py": strings.Replace(test, "7", "6", 1)}))
	if len(out.Results) != 1 || !strings.HasPrefix(out.Results[0].Why, "none of the original tests passed before the change") {
		t.Errorf("%+v", out.Results)
	}
}

func TestNoPowerOfAddedTests(t *testing.T) {
	check := pytest(t)
	for name, change := range map[string]files{
		"added to the file": {"test_shop.py": testPy + "\n\ndef test_more():\n    assert price(1) == 2\n"},
		"a new file":        {"test_more.py": "from shop import price\n\n\ndef test_more():\n    assert price(1) == 2\n"},
		"a comment":         {"test_shop.py": strings.Replace(testPy, "def test_slug", "# of texts\ndef test_slug", 1)},
		"an import":         {"test_shop.py": strings.Replace(testPy, "import pytest\n", "import os\nimport pytest\n", 1)},
		"product code":      {"shop.py": strings.Replace(shopPy, "n * RATE", "RATE * n", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": testPy}, check)
			if x := w.trial(change); x.IsNeeded(t.Context()) {
				t.Errorf("groups %+v", x.groups(t.Context())[0])
			}
		})
	}
}

const shopGo = `package shop

import "errors"

func Price(n int, member bool) (int, error) {
	if n < 0 {
		return 0, errors.New("negative")
	}
	total := n * 2
	if member && n >= 10 {
		total--
	}
	return total, nil
}
`

func goTests(body string) string {
	return "package shop\n\nimport \"testing\"\n\n" + body
}

const tableGo = `func TestPrice(t *testing.T) {
	for name, tt := range map[string]struct {
		n      int
		member bool
		want   int
		fails  bool
	}{
		"three":  {3, false, 6, false},
		"member": {10, true, 19, false},
		"few":    {9, true, 18, false},
		"none":   {-1, false, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Price(tt.n, tt.member)
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}
`

// A goChange is a change of Go tests. The first one is enough for most runs: each takes some
// ten runs of real tests.
type goChange struct {
	name string
	is   string
	code string
	kept bool
}

var goChanges = []goChange{
	{
		"another interface",
		strings.Replace(tableGo, "Price(tt.n, tt.member)", "Price(tt.member, tt.n)", 1),
		strings.Replace(shopGo, "n int, member bool", "member bool, n int", 1), true,
	},
	{"a table becomes tests", `func check(t *testing.T, n int, member bool, want int) {
	t.Helper()
	if got, err := Price(n, member); got != want || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestThree(t *testing.T)  { check(t, 3, false, 6) }
func TestMember(t *testing.T) { check(t, 10, true, 19) }
func TestFew(t *testing.T)    { check(t, 9, true, 18) }
func TestNone(t *testing.T) {
	if got, err := Price(-1, false); got != 0 || err == nil {
		t.Errorf("got %d, %v", got, err)
	}
}
`, shopGo, true},
	{"a row less", strings.Replace(tableGo, "\t\t\"member\": {10, true, 19, false},\n", "", 1), shopGo, false},
}

func TestPowerOfGoTests(t *testing.T) { powerOfGoTests(t, goChanges[:1]) }

func TestE2EPowerOfGoTests(t *testing.T) {
	tools.Long(t)
	powerOfGoTests(t, goChanges[1:])
}

func powerOfGoTests(t *testing.T, changes []goChange) {
	t.Helper()
	check := goTest(t)
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, files{"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop.go": shopGo, "shop_test.go": goTests(tableGo)}, check)
			x := w.trial(files{"shop.go": tt.code, "shop_test.go": goTests(tt.is)})
			x.MaxMutants, x.Budget = 10, 5*time.Minute
			out := w.run(x)
			if len(out.Results) != 1 {
				t.Fatalf("%d groups", len(out.Results))
			}
			if p := out.Results[0]; p.ScoreKept() != tt.kept || p.OnOldCode != (tt.name == "another interface") {
				t.Errorf("%s: %+v", p, p)
			}
		})
	}
}

// The time is bounded: what has been run by then counts.
func TestPowerWithinItsBudget(t *testing.T) {
	w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": testPy}, pytest(t))
	x := w.trial(files{"test_shop.py": strings.Replace(testPy, "== 6", "> 0", 1)})
	x.Budget = 1
	out := w.run(x)
	if len(out.Results) != 1 || !out.Results[0].OutOfTime || !out.BudgetExceeded() || !strings.HasPrefix(out.Results[0].Why, "there was no time for a mutant") {
		t.Errorf("%+v", out.Results)
	}
}

// What runs when the time is over is stopped, and the record names the setting.
func TestRunsAreStoppedInTime(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow") // exists once the trial does: a run would take a minute
	wait := fmt.Sprintf("\n\ndef test_slow():\n    import os, time\n    time.sleep(60 * os.path.exists(%q))\n", slow)
	w := newWorld(t, files{"shop.py": shopPy, "test_shop.py": testPy + wait}, pytest(t))
	x := w.trial(files{"test_shop.py": strings.Replace(testPy, "== 6", "> 0", 1)})
	trees.Write(t, filepath.Dir(slow), files{"slow": "now"})
	x.Budget = 100 * time.Millisecond
	out := w.run(x)
	if len(out.Results) != 1 || !out.Results[0].OutOfTime || !out.BudgetExceeded() || out.Runs > 0 || !strings.HasSuffix(out.Results[0].Why, "in 100ms: raise mutation_check.budget") {
		t.Errorf("%+v", out)
	}
	if out.Took > 30*time.Second {
		t.Errorf("took %s", out.Took)
	}
}

// Nor does it take longer where each run would: what is cut off counts for neither side.
func TestE2EBudgetCutsARunOff(t *testing.T) {
	tools.Long(t)
	code := "def count(n):\n    i = 0\n    while i != n:\n        i += 1\n    return i\n"
	test := "from loops import count\n\n\ndef test_count():\n    assert count(%d) == %[1]d\n"
	w := newWorld(t, files{"loops.py": code, "test_loops.py": fmt.Sprintf(test, 3)}, pytest(t))
	x := w.trial(files{"test_loops.py": fmt.Sprintf(test, 4)})
	x.Budget = 6 * time.Second
	out := w.run(x)
	if len(out.Results) != 1 || !out.Results[0].OutOfTime || out.Results[0].ScoreDropped() {
		t.Errorf("%+v", out.Results)
	}
	if out.Took > x.Budget+5*time.Second {
		t.Errorf("took %s", out.Took)
	}
}

// An endless loop is stopped, and noticed by both.
func TestE2EPowerOverEndlessLoops(t *testing.T) {
	tools.Long(t)
	code := "def count(n):\n    i = 0\n    while i < n:\n        i += 1\n    return i\n"
	test := "from loops import count\n\n\ndef test_count():\n    assert count(3) == %d\n"
	w := newWorld(t, files{"loops.py": code, "test_loops.py": fmt.Sprintf(test, 3)}, pytest(t))
	x := w.trial(files{"test_loops.py": fmt.Sprintf(test, 3) + "    assert count(0) == 0\n"})
	x.Budget = 5 * time.Minute
	out := w.run(x)
	if len(out.Results) != 1 || !out.Results[0].ScoreKept() {
		t.Errorf("%+v", out.Results)
	}
	for _, m := range out.Mutants {
		if m.Mutated == "i -= 1" && !(m.KilledByOld && m.KilledByNew) {
			t.Errorf("%+v", m)
		}
	}
}
