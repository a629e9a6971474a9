package results

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
)

// Findings are the findings of a loop. One with the same ID in several iterations counts once.
type Findings struct {
	Raised         int          `json:"raised"`              // above INFO
	Acknowledged   int          `json:"acknowledged"`        // those that are not raised because a user acknowledged them
	FalsePositives int          `json:"false_positives"`     // raised ones that supervise ack marked as false positives
	Rate           *float64     `json:"false_positive_rate"` // share of false positives in the raised ones, in [0,1]; null if none is raised
	List           []FindingRow `json:"list,omitempty"`
}

// FindingRow is one finding, as of the last iteration that has it.
type FindingRow struct {
	ID            string            `json:"id"`
	Iteration     int               `json:"iteration"`
	Rule          string            `json:"rule"`
	Severity      detector.Severity `json:"severity"`
	Basis         detector.Basis    `json:"basis"`
	Message       string            `json:"message"`
	Tests         reasoning.Names   `json:"tests"`
	Acknowledged  string            `json:"acknowledged,omitempty"` // ID of the acknowledgement
	FalsePositive bool              `json:"false_positive,omitempty"`
}

// NewFindings counts the findings of one loop. marked has the IDs of those that a person marked as
// false positives.
func NewFindings(list []ledger.Finding, marked map[string]bool) Findings {
	var d Findings
	for _, f := range list {
		if f.Alert.Severity <= detector.Info && f.Alert.Acknowledged == nil {
			continue
		}
		row := newFindingRow(f, marked)
		i := slices.IndexFunc(d.List, func(earlier FindingRow) bool { return earlier.ID == row.ID })
		if i < 0 {
			d.List = append(d.List, row)
			continue
		}
		d.List[i] = row
	}

	for _, row := range d.List {
		if row.Acknowledged != "" {
			d.Acknowledged++
			continue
		}
		d.Raised++
		if row.FalsePositive {
			d.FalsePositives++
		}
	}

	d.updateRate()
	return d
}

// updateRate sets the rate from the counts.
func (d *Findings) updateRate() {
	if d.Raised > 0 {
		share := float64(d.FalsePositives) / float64(d.Raised)
		d.Rate = &share
	}
}

// newFindingRow returns the row of a finding.
func newFindingRow(f ledger.Finding, marked map[string]bool) FindingRow {
	row := FindingRow{
		ID: f.Alert.ID(), Iteration: f.Iteration, Rule: f.Alert.Rule, Severity: f.Alert.Severity, Basis: f.Alert.Basis,
		Message: f.Alert.Message(), Tests: reasoning.NamesOf(report.TestNames(f.Alert.Tests)),
	}
	row.FalsePositive = marked[row.ID]
	if k := f.Alert.Acknowledged; k != nil {
		row.Acknowledged = k.ID
	}
	return row
}

// LoopFindings has the findings of one loop, and the counts of all loops of the tree.
type LoopFindings struct {
	Findings
	Project Findings `json:"project"`
}

// Add adds the counts of a loop of the tree. thisLoop says that it is the one that f is about.
func (f *LoopFindings) Add(d Findings, thisLoop bool) {
	if thisLoop {
		f.Findings = d
	}
	f.Project.Raised += d.Raised
	f.Project.Acknowledged += d.Acknowledged
	f.Project.FalsePositives += d.FalsePositives
	f.Project.updateRate()
}

// maxFindings is the maximum number of findings that the status names.
const maxFindings = 10

// printFindings prints the findings of the loop, and how many all loops have.
func (t Printer) printFindings(f LoopFindings) {
	if f.Project.Raised+f.Project.Acknowledged == 0 {
		return
	}
	for i, row := range f.List {
		if i == maxFindings {
			fmt.Fprintf(t, "         and %d more, see --json\n", len(f.List)-i)
			break
		}
		note := report.Either(row.FalsePositive, " (marked as a false positive)", "")
		if row.Acknowledged != "" {
			note = " (acknowledged)"
		}
		t.printRow(document.Faint, "finding  ", "%s iteration %d, %s %s (%s): %s%s", row.ID, row.Iteration, row.Severity, row.Rule, row.Basis, row.Message, note)
	}
	t.printRow(document.Faint, "findings ", "%s; all loops of this tree: %s", f.summary(), f.Project.summary())
}

// summary returns the counts in words.
func (d Findings) summary() string {
	text := fmt.Sprintf("%d raised", d.Raised)
	if d.Rate != nil {
		text += fmt.Sprintf(", %s (%.1f%%)", report.Pluralize(d.FalsePositives, "false positive", "false positives"), 100**d.Rate)
	}
	if d.Acknowledged > 0 {
		text += fmt.Sprintf(", %d acknowledged", d.Acknowledged)
	}
	return text
}

// maxChanged is the number of iterations whose changed tests the status names.
const maxChanged = 5

// printTests lists the tests that changed, for the last iterations that changed any.
func (t Printer) printTests(its []ledger.Iteration) {
	linesOf := func(it ledger.Iteration) []string { return append(testLines(it.Assessment.Changes), runTimes(it)...) }
	changed := slices.DeleteFunc(slices.Clone(its), func(it ledger.Iteration) bool { return len(linesOf(it)) == 0 })
	for _, it := range changed[max(0, len(changed)-maxChanged):] {
		for _, line := range linesOf(it) {
			t.printRow(document.Faint, "tests    ", "iteration %d, %s", it.Number, line)
		}
	}
}

// runTimes says how long the original tests and the mutation check ran.
func runTimes(it ledger.Iteration) (out []string) {
	if g := it.Goals; g != nil && g.NotRunReason == "" && !g.Reused {
		out = append(out, "original tests run on the new code in "+report.FormatDuration(g.Took))
	}
	if p := it.MutationCheck; p != nil && p.NotRunReason == "" && !p.Reused {
		out = append(out, fmt.Sprintf("run on %s in %s of at most %s", report.Pluralize(len(p.Mutants), "mutant of the code", "mutants of the code"), report.FormatDuration(p.Took), report.FormatDuration(max(0, p.Budget))))
	}
	return out
}

// testLines lists the tests by what happened to them, one kind in a line.
func testLines(c detector.TestChanges) (out []string) {
	for _, g := range reasoning.ChangeGroups(c) {
		out = append(out, strings.ToLower(g.What)+": "+namesText(g.Tests))
	}
	for _, l := range reasoning.ExplainedLosses(c) {
		out = append(out, fmt.Sprintf("gone, because %s: %s", l.Why, namesText(l.Tests)))
	}
	return out
}

// namesText joins the first five names, and counts the others.
func namesText(n reasoning.Names) string {
	list := report.Truncate(n.List, 5)
	if n.More > 0 && len(n.List) > 5 {
		list[len(list)-1] = fmt.Sprintf("and %d more", n.Len()-5)
	}
	return strings.Join(list, ", ")
}
