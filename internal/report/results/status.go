package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/snapshot"
)

// Status is the status of a loop, as supervise status prints it.
type Status struct {
	ledger.State
	Snapshots  Snapshots    `json:"snapshots"`
	Findings   LoopFindings `json:"findings"`
	GoalRuns   Executed     `json:"goal_runs"`  // runs of original tests
	MutantRuns Executed     `json:"power_runs"` // runs of changed tests on mutants
	// RunTimes is how long judging ran something, by the stage of the judge.
	RunTimes map[string]time.Duration `json:"run_times_ns,omitempty"`
	// Changes are the changes of the tests in the last iteration.
	Changes detector.TestChanges `json:"test_changes,omitzero"`

	// Killed are the loops of the working tree that were killed, or whose rollback was killed.
	// Their snapshots may have work that the tree does not have.
	Killed []event.KilledLoop `json:"killed,omitempty"`

	Iterations []ledger.Iteration `json:"-"`
	Dir        string             `json:"-"`
}

// Executed says how often additional tests ran for the verdicts of a loop, and for how long.
type Executed struct {
	Iterations     int           `json:"iterations"` // number of iterations in which any ran
	Took           time.Duration `json:"took_ns"`
	Added          time.Duration `json:"per_iteration_ns"`          // mean over all iterations
	Allowed        time.Duration `json:"allowed_ns,omitempty"`      // sum of the time limits; 0 means unknown
	BudgetExceeded int           `json:"budget_exceeded,omitempty"` // number of iterations without time for a mutant
}

// SumExecuted sets GoalRuns, MutantRuns and RunTimes from the iterations.
func (d *Status) SumExecuted() {
	for _, it := range d.Iterations {
		for name, took := range it.RunTimes {
			if d.RunTimes == nil {
				d.RunTimes = map[string]time.Duration{}
			}
			d.RunTimes[name] += took
		}
		if it.Goals != nil {
			d.GoalRuns.add(it.Goals.Took)
		}
		if it.MutationCheck != nil {
			d.MutantRuns.add(it.MutationCheck.Took)
			if !it.MutationCheck.Reused {
				d.MutantRuns.Allowed += max(0, it.MutationCheck.Budget)
				if it.MutationCheck.BudgetExceeded() {
					d.MutantRuns.BudgetExceeded++
				}
			}
		}
	}
	if n := time.Duration(len(d.Iterations) - 1); n > 0 {
		d.GoalRuns.Added, d.MutantRuns.Added = d.GoalRuns.Took/n, d.MutantRuns.Took/n
	}
}

// add adds one iteration.
func (e *Executed) add(took time.Duration) {
	if took > 0 {
		e.Iterations++
		e.Took += took
	}
}

// printExecuted prints a row about additional test runs, if there were any.
func (t Printer) printExecuted(name, what string, e Executed) {
	if e.Iterations == 0 {
		return
	}
	text := fmt.Sprintf("%s in %s, %s in all, %s per iteration", what, report.Pluralize(e.Iterations, "iteration", "iterations"), report.FormatDuration(e.Took), report.FormatDuration(e.Added))
	if e.BudgetExceeded > 0 {
		text += fmt.Sprintf("; no time for a mutant in %d (mutation_check.budget)", e.BudgetExceeded)
	}
	t.printRow(document.Faint, name, "%s", text)
}

// printRunTimes prints how long judging ran something, the longest first.
func (t Printer) printRunTimes(times map[string]time.Duration) {
	names := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = name + " " + report.FormatDuration(times[name])
	}
	if len(names) > 0 {
		t.printRow(document.Faint, "judging  ", "%s", strings.Join(names, ", "))
	}
}

// Snapshots describes the snapshots of a loop.
type Snapshots struct {
	Count   int      `json:"count"`
	Bytes   int64    `json:"bytes"`
	Dropped int      `json:"dropped"` // snapshots that were dropped to save space
	Skipped []string `json:"skipped"` // paths that are in no snapshot, and why
}

// NewSnapshots describes the snapshots of a loop.
func NewSnapshots(sum snapshot.Summary) Snapshots {
	d := Snapshots{Count: sum.Snapshots, Bytes: sum.Bytes, Dropped: sum.Dropped, Skipped: make([]string, 0, len(sum.Skipped))}
	for _, s := range sum.Skipped {
		d.Skipped = append(d.Skipped, s.Path+": "+string(s.Reason))
	}
	return d
}

// printSnapshots prints the number and size of the snapshots, and which paths they leave out.
func (t Printer) printSnapshots(d Snapshots) {
	text := fmt.Sprintf("%d, %s", d.Count, report.FormatBytes(d.Bytes))
	text += report.Either(d.Dropped > 0, fmt.Sprintf("; %d dropped to save space", d.Dropped), "")
	t.printRow(document.Faint, "snapshots", "%s", text)
	if len(d.Skipped) > 0 {
		t.printRow(document.Faint, "not kept ", "%s", strings.Join(report.Truncate(d.Skipped, 10), ", "))
	}
}

// PrintStatus prints the state of a loop.
func (t Printer) PrintStatus(d Status) {
	t.printStatusHead(d)
	t.printLine("%s", report.IterationTable(d.Iterations, d.selected(), t.Paint))
	for _, r := range d.Regressions {
		t.printLine("%s", t.Paint(document.Bad, fmt.Sprintf("[%s] Iteration %d - %s (%s): %s; %s", r.ID, r.Iteration, r.Type, r.Severity, r.Message, r.Outcome)))
	}
	for _, b := range d.Blocked {
		for _, line := range b.Lines() {
			t.printRow(document.Faint, "blocked  ", "%s", line)
		}
	}
	for _, a := range ledger.FindDeclarations(d.Iterations, d.selected()) {
		t.printRow(document.Faint, "to read  ", "%s %s of iteration %d: %s", a.Severity, a.Rule, a.TriggeredAt, a.Message())
	}
	t.printTests(d.Iterations)
	t.printFindings(d.Findings)
	t.printExecuted("goals    ", "original tests run", d.GoalRuns)
	t.printExecuted("mutants  ", "changed tests run on mutants of the code", d.MutantRuns)
	t.printRunTimes(d.RunTimes)
	t.printSnapshots(d.Snapshots)
	t.printRow(document.Faint, "state    ", "%s", d.Dir)
}

// selected returns the number of the selected iteration, or else of the best one, -1 for none.
func (d Status) selected() int {
	if best := d.SelectedOrBest(); best != nil {
		return best.Iteration
	}
	return -1
}

// Views says which parts of the status to print.
type Views struct{ Persistence, Regressions, Quality bool }

// PrintParts prints the parts of a status that views asks for.
func (t Printer) PrintParts(d Status, views Views) {
	var parts []string
	if views.Persistence {
		parts = append(parts, report.PersistenceText(d.State, d.Iterations, d.Findings.Rate, t.Paint))
	}
	if views.Regressions {
		parts = append(parts, report.RegressionText(d.State, t.Paint))
	}
	if views.Quality {
		parts = append(parts, report.QualityChart(d.Iterations, d.selected(), t.Paint))
	}
	t.printLine("%s", strings.Join(parts, "\n\n"))
}

// PrintLoop prints a loop as one line of a list.
func (t Printer) PrintLoop(s ledger.State) {
	t.printLine("%s  %-10s %13s  %s  %s", s.StartedAt.Local().Format(time.DateTime), s.Status, report.Pluralize(s.Iteration, "iteration", "iterations"), s.LoopID, s.StopReason)
}

// printStatusHead prints the rows about the state of the loop.
func (t Printer) printStatusHead(d Status) {
	s := d.State
	t.printRow(document.Strong, s.LoopID, "%s", s.Status)
	rows := [][2]string{
		{"task", s.Task},
		{"stopped", strings.TrimSuffix(s.StopText, ": "+s.Criterion)}, // the criterion has a separate row
		{"waiting", s.Waiting},
		{"continue", ContinueCommand(s)},
		{"criterion", s.Criterion},
		{"iteration", iterationOf(s)},
		{"started", s.StartedAt.Local().Format(time.DateTime) + ", " + report.FormatDuration(s.UpdatedAt.Sub(s.StartedAt)) + " to the last change"},
		{"spent", report.SpendingText(s.Spending)},
		{"reminders", strings.ToLower(s.Level)},
		{"recovery", report.Pluralize(s.RecoveryAttempts, "attempt", "attempts")},
	}

	for _, k := range d.Killed {
		name := report.Either(k.LoopID != s.LoopID, "killed earlier: ", "")
		for _, line := range k.Trees.Commands(t.Self, k.LoopID) {
			rows = append(rows, [2]string{"kept", name + line})
		}
	}

	for _, row := range rows {
		if row[1] != "" {
			t.printRow(document.Faint, fmt.Sprintf("%-9s", row[0]), "%s", row[1])
		}
	}
	t.printLine("")
}

// iterationOf says how far the loop is. The limit of a recorded loop is unknown.
func iterationOf(s ledger.State) string {
	return fmt.Sprint(s.Iteration) + report.Either(s.Config.MaxIterations == 0, "", fmt.Sprintf(" of at most %d", s.Config.MaxIterations))
}

// ContinueCommand returns the command that continues a loop which is not over, "" if there is none.
func ContinueCommand(s ledger.State) string {
	switch {
	case s.Status == ledger.Paused && (s.StopReason == "" || s.StopReason == string(event.Awaiting)):
		return "supervise approve|reject|abort " + s.LoopID
	case s.Kind == ledger.KindWatched && s.Status == ledger.Aborted:
		return ""
	case s.Status == ledger.Crashed, s.Status == ledger.Aborted, s.Status == ledger.Paused:
		return "supervise resume " + s.LoopID
	}
	return ""
}
