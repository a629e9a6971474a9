package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
	"supervise/test/docs"
)

func TestMain(m *testing.M) {
	runner.ShimMain()
	os.Exit(m.Run())
}

// docs/architecture.md lists the stages of the code in their order.
func TestStagesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| stage | reads | adds |\n|---|---|---|\n")
	for _, s := range stages {
		fmt.Fprintf(&b, "| [%s](../internal/judge/%s) | %s | %s |\n", s.name, fileOf(s), s.reads, s.adds)
	}
	docs.Block(t, "architecture.md", "stages", "./internal/judge", b.String())
}

// docs/integrity.md lists what the stages find out by running something.
func TestQuestionsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| | when | copy | runs | another result proves |\n|---|---|---|---|---|\n")
	for _, s := range stages {
		if q := s.asks; q != nil {
			fmt.Fprintf(&b, "| [%s](../internal/judge/%s) | %s | %s | %s | %s |\n", s.name, fileOf(s), q.when, q.copy, q.runs, q.proves)
		}
	}
	docs.Block(t, "integrity.md", "questions", "./internal/judge", b.String())
}

// fileOf is the file with the function of a stage.
func fileOf(s stage) string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(s.apply).Pointer()).FileLine(0)
	return filepath.Base(file)
}

// Every stage has a file that is separate, and a description.
func TestStagesHaveTheirOwnFiles(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range stages {
		if file := fileOf(s); seen[file] || file == "stage.go" {
			t.Errorf("the stage %s is in %s with another", s.name, file)
		}
		if s.name == "" || s.reads == "" || s.adds == "" || seen[s.name] {
			t.Errorf("a stage is described as %+v", s)
		}
		seen[s.name], seen[fileOf(s)] = true, true
	}
}

// world is a project with its snapshots, and a baseline.
type world struct {
	t     *testing.T
	root  string
	judge Judge
	past  *History
	was   snapshot.Info
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: root, past: NewHistory()}
	w.write("a.go", "package a\n\nfunc A() int { return 1 }\n")
	store, err := snapshot.Open(t.Context(), root, filepath.Join(t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	plan := measure.Plan{Root: root}
	w.judge = Judge{
		Settings: Settings{Rules: detector.DefaultOptions(), Weights: selector.DefaultWeights(), Select: selector.DefaultOptions()},
		Mask:     secrets.NewMask([]string{"API_TOKEN=hunter22hunter22"}), Now: func() time.Time { return time.Unix(1e9, 0) },
		Workspace: treecopy.Workspace{Store: store, Meter: measure.New(plan, measure.Options{Scratch: t.TempDir()}), Plan: plan, Root: root, Scratch: t.TempDir()},
	}
	w.was = w.take()
	w.past.Begin(ledger.Iteration{Set: suite(metric.Passed, ""), Snapshot: w.was.ID, Tree: w.was.Tree, Agent: &ledger.AgentRun{}})
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) take() snapshot.Info {
	w.t.Helper()
	info, err := w.judge.Store.Take(context.Background(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

// suite has two tests, of which the second ended with the status.
func suite(s metric.Status, message string) metric.Set {
	return metric.Set{
		Tests: metric.NewTests([]metric.Test{
			{ID: metric.ID{Suite: "s", Name: "a"}, Status: metric.Passed}, {ID: metric.ID{Suite: "s", Name: "b"}, Status: s, Message: message},
		}),
		Code: &metric.Code{Files: 1},
	}
}

// tree is the change from the baseline to the present tree.
func (w *world) tree() Tree {
	w.t.Helper()
	now := w.take()
	changes, err := w.judge.Store.Changes(context.Background(), w.was.ID, now.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	it := ledger.Iteration{Number: 1, Start: w.was.ID, Snapshot: now.ID, Tree: now.Tree, Agent: &ledger.AgentRun{Cause: runner.Exited.String()}}
	for _, c := range changes {
		it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	return Tree{Iteration: it, StartTree: w.was.Tree, Changes: changes}
}

// A stage returns a verdict that is separate: the one that it was given, and all that this
// refers to, stay as they are.
func TestStagesChangeNoEarlierVerdict(t *testing.T) {
	w := newWorld(t)
	w.write("a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip(\"hunter22hunter22\") }\n")
	w.judge.Settings.GoalTests.Never = true
	tree := w.tree()
	tree.Lines = &evidence.LineCounter{}
	fmt.Fprintln(tree.Lines, "+one\n-two\n+three")
	c := Case{w.judge, tree, w.past}
	set := suite(metric.Failed, "the token is hunter22hunter22")
	v := Verdict{Iteration: tree.Iteration, Measured: set}
	v.Set = set
	past := known(t, w.past)
	for _, s := range stages {
		before := encoded(t, v)
		next, err := s.apply(t.Context(), c, v)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if got := encoded(t, v); got != before {
			t.Errorf("%s changed the verdict that it was given:\n%s\n%s", s.name, before, got)
		}
		v = next
	}
	if got := known(t, w.past); got != past {
		t.Errorf("the history is another one:\n%s\n%s", past, got)
	}
	if v.Evidence == nil || v.Confirmation == nil || !v.Score.Measured || v.Assessment.Class == 0 {
		t.Errorf("incomplete verdict: %+v", v)
	}
}

// known is what a history knows.
func known(t *testing.T, h *History) string {
	t.Helper()
	return encoded(t, []any{h.Iterations, h.Accepted, h.Previous, h.Errors, h.UnreadIterations}) + fmt.Sprint(h.Flaky, h.learnedFlaky, h.hiddenPassed, len(h.measured), len(h.hiddenRuns))
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The verdict shows what was measured, what is judged, and which stages made the
// difference.
func TestVerdictShowsWhatWasMeasuredAndWhatCounts(t *testing.T) {
	w := newWorld(t)
	w.write("a.go", "package a\n\nfunc A() int { return 2 }\n")
	tree := w.tree()
	tree.Lines = &evidence.LineCounter{}
	fmt.Fprintln(tree.Lines, "+one\n-two\n+three")
	m := Measured{Set: suite(metric.Failed, "the token is hunter22hunter22"), Checks: []ledger.CheckRun{{Output: "hunter22hunter22"}}}
	v, err := w.judge.Judge(t.Context(), tree, m, w.past)
	if err != nil {
		t.Fatal(err)
	}
	if text := encoded(t, v); strings.Contains(text, "hunter22") {
		t.Errorf("the secret is in the verdict: %s", text)
	}
	if text := encoded(t, m); strings.Count(text, "hunter22hunter22") != 2 {
		t.Errorf("what was measured has been changed: %s", text)
	}
	if v.Measured.Code.Added != nil || v.Set.Code.Added == nil || *v.Set.Code.Added != 2 || *v.Set.Code.Deleted != 1 {
		t.Errorf("measured %+v, counts %+v", v.Measured.Code, v.Set.Code)
	}
	if len(v.Steps) != 1 || v.Steps[0].Stage != "count" || v.Steps[0].Why == "" {
		t.Errorf("steps %+v, want that the lines were counted", v.Steps)
	}
}

// A tree that was measured before is not measured again, once its verdict counts.
func TestHistoryKnowsTreesOfVerdictsThatCount(t *testing.T) {
	w := newWorld(t)
	w.write("a.go", "package a\n\nfunc A() int { return 2 }\n")
	tree := w.tree()
	tree.Lines = &evidence.LineCounter{}
	v, err := w.judge.Judge(t.Context(), tree, Measured{Set: suite(metric.Passed, "")}, w.past)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := w.past.Measured(tree.Tree); known {
		t.Error("the tree of a verdict that nobody kept is known")
	}
	w.past.Learn(v)
	m, known := w.past.Measured(tree.Tree)
	if !known || !m.Reused || m.Set.Code.Added != nil {
		t.Errorf("measured %+v, %v, want the set as it was measured", m, known)
	}
}

// In a loop nothing is run for an iteration that is undone in any case; the findings of
// a merge request are all tried.
func TestGoalsOfAnUndoneIterationAreRefused(t *testing.T) {
	w := newWorld(t)
	w.write("a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Error(A())\n\t}\n}\n")
	w.was = w.take()
	tests := func(b metric.Status) metric.Set {
		return metric.Set{Tests: metric.NewTests([]metric.Test{
			{ID: metric.ID{Suite: "a", Name: "TestA"}, Status: metric.Passed}, {ID: metric.ID{Suite: "a", Name: "TestB"}, Status: b},
		})}
	}
	w.past.Begin(ledger.Iteration{Set: tests(metric.Passed), Snapshot: w.was.ID, Tree: w.was.Tree, Agent: &ledger.AgentRun{}})
	w.write("a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A() == 0 {\n\t\tt.Error(A())\n\t}\n}\n")
	tree := w.tree()
	skipped := Measured{Set: tests(metric.Skipped)}
	for subject, want := range map[Subject]string{Iteration: "the iteration is undone in any case", Change: ""} {
		w.judge.Subject = subject
		v, err := w.judge.Judge(t.Context(), tree, skipped, w.past)
		if err != nil {
			t.Fatal(err)
		}
		if v.Goals == nil || v.Goals.NotRunReason != want {
			t.Errorf("subject %d: goals %+v, want %q", subject, v.Goals, want)
		}
		if !v.Assessment.HasCritical() {
			t.Errorf("subject %d: alerts %+v, want a critical one", subject, v.Assessment.Alerts)
		}
	}
}
