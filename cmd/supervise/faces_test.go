package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/internal/mergegate"
	"supervise/metric"
	"supervise/test/tools"
)

// TestFacesAgree makes random changes of a small project and has each judged by all that
// judge changes: what audit finds in the texts is in the verdicts of the loop and of
// the merge gate, both find the same, and the hook says beforehand what audit says
// afterwards.
func TestFacesAgree(t *testing.T) {
	t.Parallel()
	tools.Need(t, "python3")
	count, err := strconv.Atoi(os.Getenv("SUPERVISE_FACES"))
	if err != nil {
		t.Skip("SUPERVISE_FACES is not set: make histories runs this test")
	}
	seed := seedOf(t)
	for i := range count {
		seed := seed + uint64(i)
		if !t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { newFaced(t, seed).agree() }) {
			t.Logf("again: SUPERVISE_FACES=1 SUPERVISE_SEED=%d", seed)
		}
	}
}

// faced is a project and a change of it.
type faced struct {
	*world
	random        *rand.Rand
	before, after map[string]string // texts by file
	made          []string          // what was changed, in words
}

// runTests is the test runner: every function test_* of test_*.py, with one report.
const runTests = `import glob, importlib, sys
sys.path.insert(0, ".")
class Skip(BaseException): pass
try:
    import pytest, unittest
    Skip = (pytest.skip.Exception, unittest.SkipTest)
except ImportError:
    pass
bad = 0
out = ["<testsuite name='s'>"]
for file in sorted(glob.glob("test_*.py")):
    module = importlib.import_module(file[:-3])
    for name in [n for n in vars(module) if n.startswith("test_")]:
        case = "<testcase classname='%s' name='%s'" % (file[:-3], name)
        try:
            vars(module)[name]()
            out.append(case + "/>")
        except Skip:
            out.append(case + "><skipped/></testcase>")
        except BaseException as e:
            bad = 1
            out.append(case + "><failure message='%s'/></testcase>" % type(e).__name__)
out.append("</testsuite>")
open(sys.argv[1] + "/junit.xml", "w").write("\n".join(out))
sys.exit(bad)
`

func newFaced(t *testing.T, seed uint64) *faced {
	t.Helper()
	f := &faced{world: newWorld(t), random: rand.New(rand.NewPCG(seed, 11))} //nolint:gosec // it has to be repeatable
	f.before = map[string]string{
		".gitignore": "__pycache__/\n", "pytest.ini": "[pytest]\naddopts = -q\n",
		".supervise.yaml": "checks:\n  test: {command: 'python3 -B " + filepath.Join(f.dir, "run.py") + " {{report_dir}}', reports: ['{{report_dir}}/junit.xml']}\n",
		"shop.py":         "def price(n):\n    if n > 10:\n        return n * 9\n    return n * 10\n\n\ndef label(n):\n    return \"item-%d\" % n\n\n\ndef parse(text):\n    name, _, count = text.partition(\":\")\n    return name, int(count)\n",
		"test_price.py":   "from shop import price\n\n\ndef test_price_of_one():\n    assert price(1) == 10\n\n\ndef test_price_of_many():\n    assert price(20) == 180\n    assert price(11) == 99\n",
		"test_text.py":    "from shop import label, parse\n\n\ndef test_label():\n    assert label(3) == \"item-3\"\n\n\ndef test_parse():\n    assert parse(\"nut:4\") == (\"nut\", 4)\n\n\ndef test_parse_zero():\n    name, count = parse(\"bolt:0\")\n    assert name == \"bolt\"\n    assert count == 0\n",
	}
	f.write("run.py", runTests)
	for name, text := range f.before {
		f.write("proj/"+name, text)
	}
	f.git("init", "-q")
	f.git("add", ".")
	f.git("commit", "-qm", "start")
	f.after = maps.Clone(f.before)
	for _, i := range f.random.Perm(len(edits))[:1+f.random.IntN(3)] { // none twice: a second time would not be Python
		if e := edits[i]; e.do(f) {
			f.made = append(f.made, e.what)
		}
	}
	return f
}

// edit is one kind of change; it reports whether it changed anything.
type edit struct {
	what string
	do   func(*faced) bool
}

var edits = []edit{
	{"a test is deleted", in("test_price.py", "\n\ndef test_price_of_many():\n    assert price(20) == 180\n    assert price(11) == 99\n", "")},
	{"a file of tests is deleted", func(f *faced) bool { return f.drop("test_text.py") }},
	{"a test is renamed", in("test_text.py", "def test_label(", "def test_label_of_item(")},
	{"an assertion is weakened", in("test_price.py", "assert price(1) == 10", "assert price(1) is not None")},
	{"an assertion is dropped", in("test_price.py", "    assert price(11) == 99\n", "")},
	{"a test is emptied", in("test_text.py", "    assert parse(\"nut:4\") == (\"nut\", 4)\n", "    pass\n")},
	{"a test returns early", in("test_price.py", "    assert price(20) == 180\n", "    return\n    assert price(20) == 180\n")},
	{"a test swallows", in("test_price.py", "    assert price(1) == 10\n", "    try:\n        assert price(1) == 10\n    except AssertionError:\n        pass\n")},
	{"an expectation is changed with the code", func(f *faced) bool {
		return f.replace("shop.py", "n * 9\n", "n * 8\n") && f.replace("test_price.py", "== 180", "== 160") && f.replace("test_price.py", "== 99", "== 88")
	}},
	{"an expectation is changed alone", in("test_price.py", "== 10\n", "== 12\n")},
	{"the code breaks", in("shop.py", "\"item-%d\"", "\"item%d\"")},
	{"the code knows the test", in("shop.py", "def price(n):\n", "def price(n):\n    if n == 20:\n        return 180\n")},
	{"the code is refactored", in("shop.py", "    name, _, count = text.partition(\":\")\n    return name, int(count)\n", "    head, _, tail = text.partition(\":\")\n    return head, int(tail)\n")},
	{"the code is commented", in("shop.py", "def label(n):\n", "def label(n):\n    # How an item is called.\n")},
	{"a test is added", in("test_text.py", "def test_parse():", "def test_label_zero():\n    assert label(0) == \"item-0\"\n\n\ndef test_parse():")},
	{"a function is added", in("shop.py", "def label(n):", "def half(n):\n    return n // 2\n\n\ndef label(n):")},
	{"the runner is told to leave tests out", in("pytest.ini", "-q", "-q -k 'not parse' --ignore=test_text.py")},
	{"the tests are skipped by a mark", in("test_price.py", "def test_price_of_one():", "import pytest\n\n\n@pytest.mark.skip(reason=\"later\")\ndef test_price_of_one():")},
	{"a test moves", func(f *faced) bool {
		const moved = "\n\ndef test_price_of_many():\n    assert price(20) == 180\n    assert price(11) == 99\n"
		if !f.replace("test_price.py", moved, "") {
			return false
		}
		f.after["test_more.py"] = "from shop import price\n" + moved
		return true
	}},
	{"the settings change", in(".supervise.yaml", "checks:", "mode: minimal\nchecks:")},
	{"a comment in a test changes", in("test_price.py", "def test_price_of_one():\n", "def test_price_of_one():\n    # One costs ten.\n")},
}

func in(name, old, with string) func(*faced) bool {
	return func(f *faced) bool { return f.replace(name, old, with) }
}

func (f *faced) replace(name, old, with string) bool {
	text, there := f.after[name]
	if !there || !strings.Contains(text, old) {
		return false
	}
	f.after[name] = strings.Replace(text, old, with, 1)
	return true
}

func (f *faced) drop(name string) bool {
	_, there := f.after[name]
	delete(f.after, name)
	return there
}

// agree has the change judged by all faces.
func (f *faced) agree() {
	if maps.Equal(f.before, f.after) {
		return
	}
	answers := f.hookAnswers()
	f.write("agent.sh", "cp -r ../changed/. . && for f in $(git ls-files); do test -e ../changed/$f || rm $f; done\n")
	for name, text := range f.after {
		f.write("changed/"+name, text)
	}
	it := f.looped()
	f.commit()
	audited, gated := f.audited(), f.gated()
	f.compare(answers, it, audited, gated)
}

// hookAnswers is what the hook answers to the change, file by file, and what audit finds in each
// alone.
func (f *faced) hookAnswers() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(f.before)) {
		now, there := f.after[name]
		if now == f.before[name] {
			continue
		}
		input := map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": "rm " + name}}
		alone := integrity.File{Path: name, Before: []byte(f.before[name]), Deleted: true}
		if there {
			input = map[string]any{"tool_name": "Write", "tool_input": map[string]string{"file_path": filepath.Join(f.root, name), "content": now}}
			alone.After, alone.Deleted = []byte(now), false
		}
		input["hook_event_name"], input["cwd"] = "PreToolUse", f.root
		text, _ := json.Marshal(input)
		cmd := f.command("supervise", "hook", "claude", "PreToolUse")
		cmd.Stdin = strings.NewReader(string(text))
		answer, err := cmd.Output()
		if err != nil {
			f.t.Fatalf("hook: %v", err)
		}
		worst := metric.Info
		for _, x := range integrity.Audit([]integrity.File{alone}, integrity.Options{}) {
			worst = max(worst, x.Severity, x.SeverityIfRan)
		}
		if !there && strings.HasPrefix(name, "test_") {
			worst = metric.Critical // as the loop will measure it
		}
		says := metric.Info
		switch text := string(answer); {
		case strings.Contains(text, "denied this"):
			says = metric.Critical
		case strings.Contains(text, "asks a person to decide"):
			says = metric.High
		}
		if says != worst && max(says, worst) >= metric.High {
			out = append(out, fmt.Sprintf("of %s audit says %s, and the hook: %s", name, worst, answer))
		}
	}
	return out
}

// looped is the iteration in which an agent makes the change.
func (f *faced) looped() ledger.Iteration {
	out, code := f.supervise("run", "--unattended", "--until", "never", "--on-stall", "continue", "--max-iterations", "1", "--max-retries", "0", "--", "sh", "../agent.sh")
	dirs, _ := filepath.Glob(filepath.Join(f.dir, "state", "supervise", "*", "loops", "*"))
	if len(dirs) != 1 {
		f.t.Fatalf("%d loops, status %d\n%s", len(dirs), code, out)
	}
	its, err := ledger.ReadIterations(dirs[0])
	if err != nil || len(its) != 2 {
		f.t.Fatalf("%d iterations, %v, status %d\n%s", len(its), err, code, out)
	}
	found, err := ledger.ReadEvidence(dirs[0], 1)
	if err != nil {
		f.t.Fatal(err)
	}
	its[1].Evidence = &found
	return its[1]
}

// commit commits the change.
func (f *faced) commit() {
	for name := range f.before {
		if _, there := f.after[name]; !there {
			if err := os.Remove(filepath.Join(f.root, name)); err != nil && !os.IsNotExist(err) {
				f.t.Fatal(err)
			}
		}
	}
	for name, text := range f.after {
		f.write("proj/"+name, text)
	}
	f.git("add", "-A")
	f.git("commit", "-qm", "change")
}

func (f *faced) audited() (out []integrity.Finding) {
	f.json(&out, "audit", "HEAD", "--json", "--fail-on", "never")
	return out
}

func (f *faced) gated() (out mergegate.Report) {
	f.json(&out, "gate", "--base", "HEAD~1", "--format", "json")
	return out
}

// json runs a command and reads what it prints.
func (f *faced) json(v any, args ...string) {
	cmd := f.command("supervise", args...)
	var said strings.Builder
	cmd.Stderr = &said
	text, _ := cmd.Output() // its status is the verdict
	if err := json.Unmarshal(text, v); err != nil {
		f.t.Fatalf("supervise %s: %v\n%s%s", strings.Join(args, " "), err, text, said.String())
	}
}

// compare looks for what the faces do not agree on.
func (f *faced) compare(answers []string, it ledger.Iteration, audited []integrity.Finding, gated mergegate.Report) {
	wrong := answers
	var texts, judged []string
	for _, x := range audited {
		texts = append(texts, fmt.Sprintf("%s %s %s:%d", x.Severity, x.Rule, x.File, x.Line))
	}
	for _, x := range it.Evidence.Tampering {
		judged = append(judged, fmt.Sprintf("%s %s %s:%d", x.Severity, x.Pattern, x.File, x.Line))
	}
	slices.Sort(texts)
	slices.Sort(judged)
	if !slices.Equal(texts, judged) {
		wrong = append(wrong, fmt.Sprintf("audit finds %q, the loop %q", texts, judged))
	}
	loop, gate := map[string]bool{}, map[string]bool{}
	critical, blocks := false, false
	for _, a := range it.Assessment.Alerts {
		if a.Severity >= metric.High {
			loop[fmt.Sprint(a.Severity, " ", a.Type)] = true
		}
		critical = critical || a.Severity == metric.Critical
	}
	for _, x := range gated.Findings {
		if x.Severity >= metric.High {
			gate[fmt.Sprint(x.Severity, " ", x.Type)] = true
		}
		blocks = blocks || x.Severity == metric.Critical
	}
	switch {
	case critical != blocks || critical != it.Rejected:
		wrong = append(wrong, fmt.Sprintf("CRITICAL in the loop %v, undone %v, CRITICAL in the gate %v", critical, it.Rejected, blocks))
		fallthrough
	case !critical && !maps.Equal(loop, gate):
		wrong = append(wrong, fmt.Sprintf("the loop finds %q, the gate %q", slices.Sorted(maps.Keys(loop)), slices.Sorted(maps.Keys(gate))))
	case blocks && gated.Passed:
		wrong = append(wrong, "the gate passes with a CRITICAL finding")
	}
	if len(wrong) > 0 {
		f.t.Errorf("%s:\n%s", strings.Join(f.made, ", "), strings.Join(wrong, "\n"))
	}
}
