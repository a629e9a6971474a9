package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
	"supervise/metric"
	"supervise/selector"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)

// set makes a measurement of passed and all tests, and coverage in per cent.
func set(passed, all, skipped int, coverage float64, errs int) metric.Set {
	var cases []metric.Test
	for i := range all {
		t := metric.Test{ID: metric.ID{Suite: "shop", Name: fmt.Sprintf("Test%02d", i)}, Status: metric.Passed}
		switch {
		case i >= all-skipped:
			t.Status = metric.Skipped
		case i >= passed:
			t.Status = metric.Failed
		}
		cases = append(cases, t)
	}
	lint := &metric.Lint{}
	for range errs {
		lint.Findings = append(lint.Findings, metric.Finding{Level: metric.Error, Message: "x"})
	}
	added, deleted := 3, 1
	tests := metric.NewTests(cases)
	tests.Duration = 2 * time.Second
	return metric.Set{
		Tests: tests, Lint: lint, Build: &metric.Build{Status: metric.BuildSuccess},
		Coverage: &metric.Coverage{Covered: int64(10 * coverage), Total: 1000, Unit: metric.Statements, Format: "go"},
		Code:     &metric.Code{Files: 3, LOC: 120, Functions: 10, Complexity: 2.5, Added: &added, Deleted: &deleted},
	}
}

// story is a loop with a peak at iteration 2, a rejected iteration 3 and a
// worse one at the end.
func story() report.Loop {
	sets := []metric.Set{set(5, 8, 0, 65, 2), set(7, 8, 0, 70, 1), set(9, 9, 0, 85, 0), set(8, 8, 0, 84, 0), set(9, 9, 0, 82.5, 1)}
	var its []ledger.Iteration
	var accepted []detector.Observation
	for n, s := range sets {
		it := ledger.Iteration{
			LoopID: "ralph-shop-00000001", Number: n, StartedAt: noon.Add(time.Duration(n) * time.Minute), EndedAt: noon.Add(time.Duration(n)*time.Minute + 12*time.Second),
			Set: s, Score: selector.Grade(s, sets[0], selector.DefaultWeights()), Snapshot: "7", OwnTime: 40 * time.Millisecond,
			Checks: []ledger.CheckRun{{Name: "go test", Duration: 3 * time.Second, Read: []string{"go-test-json from output"}}},
		}
		obs := detector.Observation{Iteration: n, Set: s, Tree: fmt.Sprint(n), Score: it.Score.Value, Scored: true}
		it.Assessment = detector.Assessment{Class: detector.Baseline}
		if n > 0 {
			it.Agent = &ledger.AgentRun{Cause: "exited", Duration: 8 * time.Second}
			it.Changed = []ledger.FileChange{{Path: "shop.go", Kind: "modified"}}
			changed := []detector.ChangedLines{{Path: "shop.go", Lines: "10-45", Executed: "10-43"}, {Path: "deploy.sh", Unknown: "not in the coverage report"}}
			it.ChangeCoverage = ledger.NewChangeCoverage(changed[:1+n%2], "", 0)
			it.Assessment = detector.Assess(detector.Input{
				Current: obs, Previous: accepted[len(accepted)-1], Baseline: accepted[0], History: accepted,
			}, detector.DefaultOptions())
		}
		it.Rejected = n == 3
		it.Verified = selector.IsVerified(s, it.Assessment.HasCritical(), nil)
		if obs.Class = it.Assessment.Class; !it.Rejected {
			accepted = append(accepted, obs)
		}
		its = append(its, it)
	}
	return loopOf(its)
}

func loopOf(its []ledger.Iteration) report.Loop {
	var cands []selector.Candidate
	for i, it := range its {
		cands = append(cands, selector.Candidate{
			Iteration: it.Number, Score: it.Score.Value, Scored: true, Set: &its[i].Set, Verified: it.Verified,
			Critical: it.Assessment.HasCritical(), Rejected: it.Rejected, Baseline: it.Number == 0,
		})
	}
	choice, err := selector.Best(cands, selector.DefaultOptions())
	if err != nil {
		panic(err)
	}
	return report.Loop{
		State: ledger.State{
			LoopID: "ralph-shop-00000001", Status: ledger.Completed, StopReason: "done", StopText: "all of 4 iterations done", StartedAt: noon,
			Criterion: "none: all iterations are run",
			Regressions: []ledger.Regression{{
				ID: "reg-001", Iteration: 3, Type: "test_deletion", Severity: "CRITICAL", Message: "Test count decreased from 9 to 8",
				Tests: []string{"shop: Test08"}, Recovery: true, Outcome: "rolled back to iteration 2, retry", RejectedSnapshot: "s7",
			}},
		},
		Iterations: its, Choice: choice, Summary: selector.Summarize(cands), Artifacts: []string{"shop.go"}, Mode: selector.HighestQualityVerified, Threshold: .7,
		Verification: &ledger.Verification{Confirmed: true}, Now: noon.Add(5 * time.Minute),
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); if it is right, run go test ./internal/report -update:\n%s", name, diff)
	}
}

func TestGoldens(t *testing.T) {
	v := story()
	golden(t, "selection.md", []byte(report.SelectionDocument(v).Markdown()))
	golden(t, "completion.md", []byte(report.CompletionDocument(v).Markdown()))
	for _, n := range []int{0, 2, 3} {
		r := report.Iteration{Iteration: v.Iterations[n], Baseline: v.Iterations[0], Best: &ledger.BestIteration{Iteration: 2, Snapshot: "4", QualityScore: v.Iterations[2].Score.Value}}
		if n > 0 {
			r.Previous = &v.Iterations[n-1]
		}
		golden(t, fmt.Sprintf("iteration-%03d.md", n), []byte(report.IterationDocument(r).Markdown()))
	}
	var table bytes.Buffer
	if err := report.WriteCSV(&table, v); err != nil {
		t.Fatal(err)
	}
	golden(t, "iterations.csv", table.Bytes())
	analytics, err := json.MarshalIndent(report.NewAnalytics(v), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "analytics.json", append(analytics, '\n'))
	screen := []string{report.IterationLineHeader(document.NoPaint)}
	for _, it := range v.Iterations {
		screen = append(screen, report.IterationLine(it, document.NoPaint))
	}
	screen = append(screen, "", report.IterationTable(v.Iterations, v.Choice.Iteration, document.NoPaint))
	golden(t, "screen.txt", []byte(strings.Join(screen, "\n")+"\n"))
}

// The completion report names the tests that became others since the baseline, a
// readable number of them.
func TestCompletionComparesTests(t *testing.T) {
	tests := func(status metric.Status, from, to int) (out []metric.Test) {
		for n := from; n < to; n++ {
			out = append(out, metric.Test{ID: metric.ID{Suite: "shop", Name: fmt.Sprintf("T%03d", n)}, Status: status})
		}
		return out
	}
	id := func(name string) metric.ID { return metric.ID{Suite: "shop", Name: name} }
	its := []ledger.Iteration{
		{Number: 0, Set: metric.Set{Tests: metric.NewTests(tests(metric.Failed, 0, 40))}},
		{Number: 1, Set: metric.Set{Tests: metric.NewTests(tests(metric.Passed, 1, 40))}, Rejected: true},
		{Number: 2, Set: metric.Set{Tests: metric.NewTests(append(tests(metric.Passed, 1, 40), metric.Test{ID: id("Renamed"), Status: metric.Skipped}))}},
		{Number: 3},
	}
	its[1].Assessment.Changes.Explained = []detector.Loss{{ID: id("T000"), Explanation: detector.SubjectGone}}
	its[2].Assessment.Changes.Explained = []detector.Loss{{ID: id("T000"), Explanation: "similar_body", Successor: id("Renamed")}}
	section := func(selected int) string {
		v := report.Loop{Iterations: its}
		v.Choice.Iteration = selected
		_, rest, _ := strings.Cut(report.CompletionDocument(v).Markdown(), "### Tests, Baseline to Selection\n\n")
		text, _, _ := strings.Cut(rest, "\n\n##")
		return text
	}
	got := section(2)
	for _, want := range []string{
		"- Newly passing: `shop: T001`, ", "`shop: T025`, and 14 more\n", "- Newly skipped: `shop: Renamed`\n",
		"- Gone, but explained: `shop: T000 → shop: Renamed` (a new test has mostly the same body)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "- New:") || strings.Contains(got, "T026") {
		t.Errorf("a renamed test counts as new, or too many are named:\n%s", got)
	}
	its[2].Set = its[0].Set
	if got := section(2); got != "The same tests, with the same outcomes." {
		t.Errorf("nothing changed: %q", got)
	}
	for _, n := range []int{0, 3} { // the baseline itself, and tests that were not measured
		if got := section(n); got != "" {
			t.Errorf("iteration %d: %q", n, got)
		}
	}
}

func TestNotMeasuredIsNeverZero(t *testing.T) {
	it := ledger.Iteration{Set: metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "the database is down"}}}}
	text := report.IterationDocument(report.Iteration{Iteration: it, Baseline: it}).Markdown()
	for _, want := range []string{"| Test Count | n/a | n/a | n/a | n/a | n/a |", "**Quality Score**: n/a", "**Not measured**: tests (absent): the database is down"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if line := report.IterationLine(it, document.NoPaint); strings.Contains(line, "0/0") || !strings.Contains(line, "n/a") {
		t.Errorf("line %q, want n/a", line)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 62.5: "62.5", 77.777: "77.78", 75: "75", -2.2: "-2.2", -.001: "0", 1e6: "1000000"} {
		if got := report.FormatNumber(v); got != want {
			t.Errorf("Number(%v) = %s, want %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0.0s", 420 * time.Millisecond: "0.4s", 12400 * time.Millisecond: "12s", 185 * time.Second: "3m05s", 130 * time.Minute: "2h10m",
	} {
		if got := report.FormatDuration(d); got != want {
			t.Errorf("Duration(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestTrajectoryMarksTheSelection(t *testing.T) {
	v := story()
	lines := strings.Split(strings.TrimSpace(document.Document{report.Trajectory(v.Iterations, 2)}.Terminal(document.NoPaint)), "\n")
	if len(lines) != 5 || !strings.HasSuffix(lines[2], "← SELECTED") || !strings.HasSuffix(lines[3], "← REJECTED") || !strings.HasPrefix(lines[0], "Baseline:") {
		t.Errorf("trajectory:\n%s", strings.Join(lines, "\n"))
	}
	if a, b := strings.Count(lines[0], "█"), strings.Count(lines[2], "█"); a >= b {
		t.Errorf("the bar of the baseline (%d) is not shorter than that of the best (%d)", a, b)
	}
}

func TestChainSteersNoTerminal(t *testing.T) {
	v := story()
	it := v.Iterations[3]
	it.Assessment.Alerts[0].Tests = []metric.ID{{Suite: "m", Name: "Test\x1b]0;owned\a\x1b[2J"}}
	it.Checks[0].Problems = []string{"\x1b[31mred"}
	text := report.ReasoningDocument(reasoning.NewChain(reasoning.Input{Iteration: it, Previous: &v.Iterations[2], Baseline: v.Iterations[0]})).Terminal(document.NoPaint)
	if strings.ContainsAny(text, "\x1b\a") || !strings.Contains(text, "m: Test<U+001B>]0;owned<U+0007><U+001B>[2J") || !strings.Contains(text, "[31mred") {
		t.Errorf("%q", text)
	}
}

// The report of a recorded iteration claims nothing that supervise did not do
// or does not know.
func TestChainOfARecordedIteration(t *testing.T) {
	base := ledger.Iteration{Set: metric.Set{Coverage: &metric.Coverage{Covered: 72, Total: 100, Unit: metric.Percentage}}}
	it := base
	it.Number, it.Rejected, it.Recorded, it.Decision = 3, true, &ledger.Reported{}, &ledger.Decision{Target: 2, Retry: 1}
	text := report.ReasoningDocument(reasoning.NewChain(reasoning.Input{Iteration: it, Previous: &base, Baseline: base})).Terminal(document.NoPaint)
	for _, want := range []string{"- Done: advised to restore the tree of iteration 2; next: retry 1\n", "- Coverage: 72 %, without details\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
