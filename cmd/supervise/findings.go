package main

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
)

// findingsDoc counts the findings of a loop, each once however often it came.
type findingsDoc struct {
	Raised         int          `json:"raised"`          // above INFO
	Acknowledged   int          `json:"acknowledged"`    // that would have been raised
	FalsePositives int          `json:"false_positives"` // of the raised ones, marked by supervise ack
	Rate           *float64     `json:"false_positive_rate"`
	List           []findingRow `json:"list,omitempty"`
}

// findingRow is one finding, at its last appearance.
type findingRow struct {
	ID            string            `json:"id"`
	Iteration     int               `json:"iteration"`
	Rule          string            `json:"rule"`
	Severity      detector.Severity `json:"severity"`
	Message       string            `json:"message"`
	Tests         reasoning.Names   `json:"tests"`
	Acknowledged  string            `json:"acknowledged,omitempty"` // as what
	FalsePositive bool              `json:"false_positive,omitempty"`
}

// count counts the findings of one loop. marked are the IDs that somebody called
// false positives.
func count(list []ledger.Finding, marked map[string]bool) findingsDoc {
	var d findingsDoc
	at := map[string]int{}
	for _, f := range list {
		if f.Alert.Severity <= detector.Info && f.Alert.Acknowledged == nil {
			continue
		}
		row := rowOf(f, marked)
		i, seen := at[row.ID]
		if !seen {
			i = len(d.List)
			at[row.ID] = i
			d.List = append(d.List, row)
		}
		d.List[i] = row
	}
	for _, row := range d.List {
		switch {
		case row.Acknowledged != "":
			d.Acknowledged++
		case row.FalsePositive:
			d.FalsePositives++
			d.Raised++
		default:
			d.Raised++
		}
	}
	d.rate()
	return d
}

func (d *findingsDoc) rate() {
	if d.Raised > 0 {
		share := float64(d.FalsePositives) / float64(d.Raised)
		d.Rate = &share
	}
}

func rowOf(f ledger.Finding, marked map[string]bool) findingRow {
	names := make([]string, len(f.Alert.Tests))
	for i, id := range f.Alert.Tests {
		names[i] = id.String()
	}
	row := findingRow{
		ID: f.Alert.ID(), Iteration: f.Iteration, Rule: f.Alert.Rule, Severity: f.Alert.Severity,
		Message: f.Alert.Message(), Tests: reasoning.NamesOf(names),
	}
	row.FalsePositive = marked[row.ID]
	if k := f.Alert.Acknowledged; k != nil {
		row.Acknowledged = k.ID
	}
	return row
}

// statusFindings are the findings of a loop, and the counts of all loops of the
// tree.
type statusFindings struct {
	findingsDoc
	Project findingsDoc `json:"project"`
}

// findings counts the findings of the loop and of the whole project.
func (a *app) findings(at place, loopID string) (statusFindings, error) {
	var out statusFindings
	home, err := a.home(at.root)
	if err != nil {
		return out, err
	}
	entries, err := ack.Load(ack.Path(at.project))
	if err != nil {
		fmt.Fprintf(a.err, "note: false positives are not known: %v\n", err)
	}
	marked := map[string]bool{}
	for _, e := range entries {
		marked[e.ID()] = marked[e.ID()] || e.FalsePositive
	}
	loops, err := ledger.Loops(home, at.root)
	if err != nil {
		return out, err
	}
	for _, s := range loops {
		list, err := ledger.Findings(ledger.Dir(home, s.LoopID))
		if err != nil {
			a.log().Warn(err)
			continue
		}
		d := count(list, marked)
		if s.LoopID == loopID {
			out.findingsDoc = d
		}
		out.Project.Raised += d.Raised
		out.Project.Acknowledged += d.Acknowledged
		out.Project.FalsePositives += d.FalsePositives
	}
	out.Project.rate()
	return out, nil
}

// maxFindings is how many findings status names.
const maxFindings = 10

func (a *app) printFindings(f statusFindings, paint report.Paint) {
	if f.Project.Raised+f.Project.Acknowledged == 0 {
		return
	}
	for i, row := range f.List {
		if i == maxFindings {
			fmt.Fprintf(a.out, "         and %d more, see --json\n", len(f.List)-i)
			break
		}
		note := ""
		switch {
		case row.Acknowledged != "":
			note = " (acknowledged)"
		case row.FalsePositive:
			note = " (marked as a false positive)"
		}
		fmt.Fprintf(a.out, "%s %s iteration %d, %s %s: %s%s\n", paint(report.Faint, "finding  "), row.ID, row.Iteration, row.Severity, row.Rule, row.Message, note)
	}
	fmt.Fprintf(a.out, "%s %s; all loops of this tree: %s\n", paint(report.Faint, "findings "), f.text(), f.Project.text())
}

func (d findingsDoc) text() string {
	text := fmt.Sprintf("%d raised", d.Raised)
	if d.Rate != nil {
		text += fmt.Sprintf(", %s (%.1f%%)", report.Count(d.FalsePositives, "false positive", "false positives"), 100**d.Rate)
	}
	if d.Acknowledged > 0 {
		text += fmt.Sprintf(", %d acknowledged", d.Acknowledged)
	}
	return text
}

// maxChanged is of how many iterations status names the tests.
const maxChanged = 5

// printTests says what became of which test in the last iterations in which
// anything did.
func (a *app) printTests(its []ledger.Iteration, paint report.Paint) {
	var blocks [][]string
	for i := len(its) - 1; i >= 0 && len(blocks) < maxChanged; i-- {
		if lines := testLines(its[i].Assessment.Changes); len(lines) > 0 {
			for n := range lines {
				lines[n] = fmt.Sprintf("%s iteration %d, %s", paint(report.Faint, "tests    "), its[i].Number, lines[n])
			}
			blocks = append(blocks, lines)
		}
	}
	slices.Reverse(blocks)
	for _, line := range slices.Concat(blocks...) {
		fmt.Fprintln(a.out, line)
	}
}

func testLines(c detector.TestChanges) (out []string) {
	for _, g := range reasoning.Groups(c) {
		out = append(out, strings.ToLower(g.What)+": "+namesText(g.Tests))
	}
	for _, l := range reasoning.Losses(c) {
		out = append(out, fmt.Sprintf("gone, because %s: %s", l.Why, namesText(l.Tests)))
	}
	return out
}

func namesText(n reasoning.Names) string {
	list := report.Cut(n.List, 5)
	if n.More > 0 && len(n.List) > 5 {
		list[len(list)-1] = fmt.Sprintf("and %d more", n.Len()-5)
	}
	return strings.Join(list, ", ")
}
