package results

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/metric"
)

// Diagnosis is what supervise doctor found.
type Diagnosis struct {
	Tree     string             `json:"tree"`
	Projects []DiagnosedProject `json:"projects"`
	Programs []DiagnosedProgram `json:"programs"`
	Checks   []measure.Check    `json:"checks"`
	Notes    []string           `json:"notes,omitempty"`
	Runs     []ledger.CheckRun  `json:"runs,omitempty"`
	Metrics  *metric.Record     `json:"metrics,omitempty"`
}

// DiagnosedProject is a project that was recognized, by its folder in the tree.
type DiagnosedProject struct {
	Dir      string   `json:"dir"`
	Language string   `json:"language"`
	Tools    []string `json:"tools"`
}

// DiagnosedProgram is a program of the machine that supervise needs.
type DiagnosedProgram struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"` // what does not work without it
}

// PrintDiagnosis prints what was recognized, before any check runs.
func (t Printer) PrintDiagnosis(d Diagnosis) {
	row := func(label, text string) { t.printRow(document.Faint, fmt.Sprintf("%-8s", label), "%s", text) }
	row("tree", d.Tree)
	for _, p := range d.Programs {
		row(p.Name, cmp.Or(t.Paint(document.Warn, p.Missing), p.Version))
	}
	for _, p := range d.Projects {
		row("project", strings.TrimPrefix(p.Dir+": "+p.Language+": "+strings.Join(p.Tools, ", "), ": "))
	}
	for _, c := range d.Checks {
		row(string(c.Kind), report.CheckCommand(c, t.Paint))
	}
	t.PrintNotes(d.Notes)
	t.printLine("")
}

// PrintNotes prints remarks about the project.
func (t Printer) PrintNotes(notes []string) {
	for _, n := range notes {
		t.printRow(document.Faint, "note    ", "%s", t.Paint(document.Warn, n))
	}
}

// PrintRuns prints how each check ended and what was read, and then the totals.
func (t Printer) PrintRuns(res measure.Result) {
	for _, r := range res.Runs {
		tone, mark := document.Good, "ok     "
		switch {
		case r.Why != "":
			tone, mark = document.Bad, "unread "
		case r.Check.Kind == measure.Build && r.ExitCode != 0:
			tone, mark = document.Bad, "failed "
		}
		t.printRow(tone, mark, "%s: status %d after %s%s%s", r.Check.Name, r.ExitCode, report.FormatDuration(r.Duration), readFrom(r), report.CachedText(r.Cached))
		t.printIndented(document.Bad, r.Why)
		for _, problem := range r.Problems {
			t.printIndented(document.Warn, problem)
		}
		if len(r.Leftovers) > 0 {
			t.printIndented(document.Warn, "processes left running, now killed: "+strings.Join(r.Leftovers, ", "))
		}
	}

	t.printLine("")
	for _, p := range res.Parts {
		t.printRow(document.Strong, cmp.Or(p.Dir, "."), "%s", describeSet(p.Set))
	}

	t.printRow(document.Strong, "measured", "%s", describeSet(res.Set))
	for _, g := range res.Set.Gaps {
		t.printRow(document.Warn, res.Set.DescribeGap(g)+":", "%s", g.Why)
	}
}

// printIndented prints a text under a row, unless it is empty.
func (t Printer) printIndented(tone document.Style, text string) {
	if text != "" {
		t.printLine("        %s", t.Paint(tone, text))
	}
}

// readFrom lists the reports that were read and the number of tests that were listed, as the
// continuation of a sentence. It returns "" for a build, or a linter that found nothing.
func readFrom(r measure.Run) string {
	var list []string
	for _, s := range r.Sources {
		list = append(list, s.Format+" from "+s.Path)
	}
	if r.Listed > 0 {
		list = append(list, fmt.Sprintf("%d listed", r.Listed))
	}
	return report.Either(len(list) > 0, "; "+strings.Join(list, ", "), "")
}

// describeSet summarizes the metrics in one line.
func describeSet(s metric.Set) string {
	var list []string
	if s.Tests != nil {
		n := s.Tests.Counts()
		list = append(list, fmt.Sprintf("%s: %d passed, %d failed, %d skipped", report.Pluralize(n.Count, "test", "tests"), n.Passed, n.Failed, n.Skipped))
	}
	if percent, ok := s.Coverage.Percent(); ok {
		list = append(list, fmt.Sprintf("coverage %s %% of %d %s%s", report.FormatNumber(percent), s.Coverage.Total, s.Coverage.Unit, report.MissingSuitesText(s.Coverage)))
	}
	if s.Lint != nil {
		n := s.Lint.Counts()
		list = append(list, fmt.Sprintf("%s, %s, %s", report.Pluralize(n.Errors, "lint error", "lint errors"), report.Pluralize(n.Warnings, "warning", "warnings"), report.Pluralize(n.TypeErrors, "type error", "type errors")))
	}
	if s.Build != nil {
		list = append(list, "build "+string(s.Build.Status))
	}
	return cmp.Or(strings.Join(list, "; "), "nothing")
}
