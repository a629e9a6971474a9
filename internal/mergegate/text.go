package mergegate

import (
	"fmt"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/metric"
)

// compareMetrics returns a table with the metrics of both sides, one row for each that at least one
// side has.
func (g *mergeGate) compareMetrics() document.Table {
	t := document.Table{Head: []string{"", "base", "now", ""}, Right: []bool{false, true, true, true}}
	for _, r := range []struct {
		name  string
		field metric.Field
		unit  string
	}{
		{"tests", metric.TestCount, ""},
		{"passed", metric.TestsPassed, ""},
		{"failed", metric.TestsFailed, ""},
		{"skipped", metric.TestsSkipped, ""},
		{"coverage", metric.CoveragePct, "%"},
		{"errors", metric.ErrorCount, ""},
	} {
		was, before := g.baseSet.Value(r.field)
		is, now := g.headSet.Value(r.field)
		if !before && !now {
			continue
		}
		delta := ""
		if before && now && is != was {
			delta = fmt.Sprintf("%+.4g", is-was)
		}
		t.Row(r.name, valueText(was, before, r.unit), valueText(is, now, r.unit), delta)
	}
	return t
}

// valueText returns a value with its unit. ok is false if the value was not measured.
func valueText(v float64, ok bool, unit string) string {
	if !ok {
		return "not measured"
	}
	return report.FormatNumber(v) + unit
}

// Marker is the hidden first line that identifies a comment of the gate, which the next run
// replaces.
const Marker = "<!-- supervise gate -->"

// The limits of the report in text and Markdown.
const (
	maxLocations = 5   // locations of a finding, and names in a list
	maxAccept    = 100 // findings in the command that accepts them
	maxFailing   = 50  // tests that fail now

	// maxFindings limits the Markdown of the findings, in bytes. GitHub accepts 65 535
	// characters in a comment, and drops a summary of more than 1 MiB.
	maxFindings = 52_000
)

// Text returns the report for a terminal, the verdict last.
func (r Report) Text() document.Document {
	var d document.Document
	for _, f := range r.Findings {
		d.AddItem(f.toItem())
	}
	for _, s := range r.Ratchet {
		d.Labelled(document.Span{Style: document.Bad, Text: "RATCHET"}, "%s", s)
	}
	d.Add(r.Table)
	r.addFacts(&d)
	verdict := document.Span{Style: document.Good, Text: "passed"}
	if !r.Passed {
		verdict = document.Span{Style: document.Bad, Text: "failed"}
	}
	d.Labelled(label("gate"), "%s: %s", verdict, r.Summary())
	r.addAcceptCommands(&d)
	return d
}

// Markdown returns the report for a comment or a step summary, the verdict first.
func (r Report) Markdown() string {
	var d document.Document
	verdict := "✅ passed"
	if !r.Passed {
		verdict = "❌ failed"
	}

	d.Heading(3, "supervise gate: %s", verdict)
	summary := r.Summary()
	d.Paragraph("%s.", strings.ToUpper(summary[:1])+summary[1:])
	d.Add(r.Table)
	size := 0
	for i, f := range r.Findings {
		item := f.toItem()
		if size += len(document.Document{document.List{item}}.Markdown()); size > maxFindings {
			d.Item("and %s more; `supervise gate --format json` has them all", report.Pluralize(len(r.Findings)-i, "finding", "findings"))
			break
		}
		d.AddItem(item)
	}

	for _, s := range r.Ratchet {
		d.Labelled(document.Span{Style: document.Bad, Text: "RATCHET"}, "%s", s)
	}
	r.addFacts(&d)
	r.addAcceptCommands(&d)
	return Marker + "\n" + d.Markdown()
}

// label returns a label in the plain style.
func label(text string) document.Span { return document.Span{Text: text} }

// addFacts adds the explained losses, the results of additional test runs, the review, the notes,
// and the base.
func (r Report) addFacts(d *document.Document) {
	if len(r.ExplainedLosses) > 0 {
		var lost document.Document
		for _, l := range r.ExplainedLosses {
			lost.Labelled(label("explained"), "%s", lossText(l))
		}
		d.Add(document.Details{Summary: report.Pluralize(len(r.ExplainedLosses), "test is", "tests are") + " gone and explained", Body: lost})
	}

	r.addRuns(d)
	if p := r.MutationCheck; p != nil && p.NotRunReason != "" {
		d.Labelled(label("mutants"), "changed tests were not run on mutants: %s", p.NotRunReason)
	} else if p != nil {
		for _, res := range p.Results {
			d.Labelled(label("mutants"), "%s: %s", strings.Join(res.Files, ", "), res)
			for _, s := range res.Survivors {
				d.Below().Item("survives: %s", s)
			}
		}
	}

	if len(r.Failing) > 0 {
		d.Labelled(document.Span{Style: document.Warn, Text: "failing"}, "%s", r.failingText())
		for _, f := range r.Failing[:min(len(r.Failing), maxFailing)] {
			d.Below().Item("%s%s", f.Name, map[bool]string{true: " (as at the base)"}[f.AtBase])
		}
	}
	for _, n := range r.Notes {
		d.Labelled(document.Span{Style: document.Warn, Text: "note"}, "%s", n)
	}
	d.Labelled(label("base"), "%s", r.Base)
}

// changeText says how much of the change is tested, and what its tests notice; "" if neither is known.
func (r Report) changeText() string {
	var parts []string
	if r.ChangeCoverage != nil {
		parts = append(parts, r.ChangeCoverage.String())
	}
	if r.ChangeMutants != nil {
		parts = append(parts, r.ChangeMutants.String())
	}
	return strings.Join(parts, ", ")
}

// addRuns adds what tests execute of the change, and the results of additional runs and of the review.
func (r Report) addRuns(d *document.Document) {
	if text := r.changeText(); text != "" {
		d.Labelled(label("change"), "%s", text)
	}
	if r.Goals != nil {
		d.Labelled(label("goals"), "%s", goalsText(*r.Goals))
	}
	if r.Hidden != nil {
		d.Labelled(label("hidden"), "%s", r.Hidden)
	}
	if r.Criterion != nil {
		d.Labelled(label("criterion"), "%s", r.Criterion)
	}
	if r.Review != nil {
		d.Labelled(label("reviewer"), "%s", r.Review)
	}
}

// addAcceptCommands adds the commands with which a user accepts the blocking findings.
func (r Report) addAcceptCommands(d *document.Document) {
	ids := r.ids(func(f Finding) bool { return f.Blocking })
	if len(ids) == 0 {
		return
	}
	text := document.Textf("`supervise gate --accept %s`   (for this run)", strings.Join(ids[:min(len(ids), maxAccept)], ","))
	for i, id := range ids[:min(len(ids), maxLocations)] {
		text = document.Textf("%s\n`supervise ack %s --reason …`", text, id)
		if i == 0 {
			text = document.Textf("%s   (for good, once it is in the base)", text)
		}
	}
	if more := len(ids) - maxLocations; more > 0 {
		text = document.Textf("%s\nand so on for %d more", text, more)
	}
	d.Labelled(label("accept"), "%s", text)
}

// toItem returns the finding as an item of a list, with its locations below.
func (f Finding) toItem() document.Item {
	label := document.Span{Style: document.Warn, Text: f.Severity.String()}
	switch {
	case f.Acknowledged != "" || f.Severity <= detector.Low:
		label.Style = document.Faint
	case f.Blocking:
		label.Style = document.Bad
	}

	note := ""
	if f.Acknowledged != "" {
		note = " (acknowledged as " + f.Acknowledged + ")"
	}
	if f.Declared {
		note += "; read it before the merge"
	}

	item := document.Item{Label: label, Text: document.Textf("`%s` `%s` (%s)  %s%s", f.ID, f.Rule, f.Basis, f.Message, note)}
	for _, at := range f.Locations[:min(len(f.Locations), maxLocations)] {
		item.Below.Item("%s", locationLine(at))
	}

	if more := len(f.Locations) - maxLocations; more > 0 {
		item.Below.Item("and %d more", more)
	}
	if len(f.Versions) > 0 {
		item.Below.Add(document.Details{Summary: "before and now", Body: document.Document{document.Code(report.VersionLines(f.Versions))}})
	}
	return item
}

// locationLine returns a location in one line, as in "a_test.go:3 (gone)  TestA".
func locationLine(p Location) string {
	out := p.String()
	if p.Removed {
		out += " (gone)"
	}
	if p.Note != "" {
		out += "  " + p.Note
	}
	return out
}

// Summary returns the reason of the verdict in one line, as in "2 findings of severity HIGH or
// above" or "2 findings accepted".
func (r Report) Summary() string {
	accepted := 0
	for _, a := range r.Alerts {
		accepted += boolToInt(a.Acknowledged != nil && a.Acknowledged.Severity > detector.Info)
	}
	text := r.openText()
	switch {
	case accepted == 0 || !r.Passed:
		return text
	case len(r.OpenFindings()) == 0:
		text = ""
	default:
		text += "; "
	}
	return text + report.Pluralize(accepted, "finding", "findings") + " accepted"
}

// openText describes the findings that no user accepted.
func (r Report) openText() string {
	open := r.OpenFindings()
	blocking, declared, survivors := 0, 0, 0
	for _, f := range open {
		blocking += boolToInt(f.Blocking)
		survivors += boolToInt(f.Blocking && f.Rule == detector.ChangeUnguarded)
		declared += boolToInt(f.Declared)
	}
	short := r.ChangeCoverage.Shortfall()
	switch {
	case !r.Criterion.holds() && blocking == 0:
		return "the criterion is not met"
	case short != "" && blocking+len(r.Ratchet) == 0:
		return "change: " + short + " (--min-change-coverage)"
	case len(r.Ratchet) > 0 && blocking == 0:
		return report.Pluralize(len(r.Ratchet), "limit of the ratchet is violated", "limits of the ratchet are violated")
	case blocking > 0 && blocking == survivors:
		return "change: " + r.ChangeMutants.String() + " (--fail-on-unguarded)"
	case blocking > 0:
		return report.Pluralize(blocking, "finding", "findings") + " of severity " + r.FailOn.String()
	case declared > 0:
		return report.Pluralize(declared, "test finding was declared and is to be read", "test findings were declared and are to be read")
	case len(open) > 0:
		return report.Pluralize(len(open), "finding", "findings") + ", none of severity " + r.FailOn.String()
	}
	if len(r.Failing) > 0 {
		return "nothing found; " + r.failingText()
	}
	return "nothing found"
}

// failingText counts what fails now, as in "2 tests fail now".
func (r Report) failingText() string {
	return report.Pluralize(len(r.Failing), "test fails", "tests fail") + " now"
}

// String describes what the change was compared with, and how that was measured.
func (b Base) String() string {
	switch b.Source {
	case FromFile:
		return b.File + ", the record of " + b.name()
	case FromRecord:
		return b.name() + " (" + b.Why + "), by its record"
	case FromAncestor:
		return fmt.Sprintf("%s, by its record: the nearest, %s before what is wanted (%s)", b.name(), report.Pluralize(b.Distance, "commit", "commits"), b.Why)
	case FromMeasured:
	}
	return b.name() + " (" + b.Why + "), measured now"
}

// name returns the short ID of the commit.
func (b Base) name() string {
	if b.Commit == "" {
		return "an uncommitted tree"
	}
	return shortID(b.Commit)
}

// lossText says why a missing test is not a loss, and what replaces it.
func lossText(l detector.Loss) string {
	text := l.ID.String() + ": " + string(l.Explanation)
	if l.Successor.Name != "" {
		text += ", now " + l.Successor.String()
	}
	return text
}

// goalsText counts the outcomes of the original tests on the new code.
func goalsText(h ledger.Goals) string {
	if h.NotRunReason != "" {
		return "not run: " + h.NotRunReason
	}
	count := map[detector.Outcome]int{}
	for _, r := range h.Results {
		count[r.Outcome]++
	}
	count[detector.Passed] = h.Passed
	var parts []string
	for _, o := range []detector.Outcome{detector.Passed, detector.Failed, detector.Unbuilt, detector.NotRun} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o.Short()))
		}
	}
	return "original tests, run on the new code: " + strings.Join(parts, ", ")
}
