package mergegate

import (
	"fmt"
	"io"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/textstream"
	"supervise/metric"
)

// rows are the numbers that the reports compare.
var rows = []struct {
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
}

// Row is one number on both sides, "not measured" where it is absent.
type Row struct{ Name, Base, Head, Delta string }

func (g *gate) rows() []Row {
	var out []Row
	for _, r := range rows {
		was, before := g.before.Value(r.field)
		is, now := g.now.Value(r.field)
		if !before && !now {
			continue
		}
		line := Row{Name: r.name, Base: shown(was, before, r.unit), Head: shown(is, now, r.unit)}
		if before && now && is != was {
			line.Delta = fmt.Sprintf("%+.4g", is-was)
		}
		out = append(out, line)
	}
	return out
}

func shown(v float64, ok bool, unit string) string {
	if !ok {
		return "not measured"
	}
	return report.Number(v) + unit
}

// maxPlaces is how many places of a finding are named for people.
const maxPlaces = 5

// Text writes the report for people.
func (r Report) Text(w io.Writer, paint document.Paint) error {
	p := &printer{w: w, paint: paint}
	for _, f := range r.Findings {
		p.finding(f)
	}
	for _, s := range r.Ratchet {
		p.line("%s  %s", paint(document.Bad, "RATCHET "), s)
	}
	p.line("%s", "")
	for _, n := range r.Rows {
		p.line("  %-10s %14s  %14s  %s", n.Name, n.Base, n.Head, n.Delta)
	}
	for _, l := range r.Lost {
		p.line("%s", paint(document.Faint, "explained "+explained(l)))
	}
	if r.Goals != nil {
		p.line("%s", paint(document.Faint, "goals     "+goals(*r.Goals)))
	}
	if r.Hidden != nil {
		p.line("%s", paint(document.Faint, "hidden    "+r.Hidden.String()))
	}
	if r.Review != nil {
		p.line("%s", paint(document.Faint, "reviewer  "+r.Review.String()))
	}
	for _, line := range power(r.Power) {
		p.line("%s", paint(document.Faint, "power     "+line))
	}
	for _, n := range r.Notes {
		p.line("%s", paint(document.Warn, "note: "+n))
	}
	p.line("%s %s", paint(document.Faint, "base     "), r.Base)
	tone, verdict := document.Good, "passed"
	if !r.Passed {
		tone, verdict = document.Bad, "failed"
	}
	p.line("%s %s", paint(document.Faint, "gate     "), paint(tone, verdict)+": "+r.Summary())
	for i, line := range r.howToAccept() {
		head := "          "
		if i == 0 {
			head = paint(document.Faint, "accept    ")
		}
		p.line("%s%s", head, line)
	}
	return p.err
}

// howToAccept says by which commands a person accepts the findings by which the gate
// fails: each line a command, with what it does.
func (r Report) howToAccept() []string {
	ids := r.blocking()
	if len(ids) == 0 {
		return nil
	}
	out := []string{"supervise gate --accept " + strings.Join(ids, ",") + "   (for this run)"}
	for i, id := range ids {
		if i == maxPlaces {
			return append(out, fmt.Sprintf("and so on for %d more", len(ids)-i))
		}
		line := "supervise ack " + id + " --reason …"
		if i == 0 {
			line += "   (for good, once it is in the base)"
		}
		out = append(out, line)
	}
	return out
}

// declaredNote marks a finding by which the gate does not fail.
const declaredNote = "; read it before the merge"

type printer struct {
	w     io.Writer
	paint document.Paint
	err   error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		text := fmt.Sprintf(format+"\n", args...)
		if p.paint != nil { // for people
			text = textstream.Painted(text)
		}
		_, p.err = io.WriteString(p.w, text)
	}
}

func (p *printer) finding(f Finding) {
	tone := document.Warn
	switch {
	case f.Acknowledged != "" || f.Severity <= detector.Low:
		tone = document.Faint
	case f.Blocking:
		tone = document.Bad
	}
	note := ""
	if f.Acknowledged != "" {
		note = " (acknowledged as " + f.Acknowledged + ")"
	}
	if f.Declared {
		note += declaredNote
	}
	p.line("%s  %s %s (%s)  %s%s", p.paint(tone, fmt.Sprintf("%-8s", f.Severity)), f.ID, f.Rule, f.RestsOn, f.Message, note)
	for i, at := range f.Places {
		if i == maxPlaces {
			p.line("          and %d more", len(f.Places)-i)
			break
		}
		p.line("          %s", placeLine(at))
	}
	for _, line := range report.Sides(f.Versions) {
		p.line("          %s", p.paint(document.Faint, line))
	}
}

func placeLine(p Place) string {
	out := p.String()
	if p.Gone {
		out += " (gone)"
	}
	if p.What != "" {
		out += "  " + p.What
	}
	return out
}

// Summary is the verdict in one line.
func (r Report) Summary() string {
	open := r.Open()
	blocking, declared := 0, 0
	for _, f := range open {
		blocking += b2i(f.Blocking)
		declared += b2i(f.Declared)
	}
	switch {
	case len(r.Ratchet) > 0 && blocking == 0:
		return report.Count(len(r.Ratchet), "limit of the ratchet does not hold", "limits of the ratchet do not hold")
	case blocking > 0:
		return report.Count(blocking, "finding", "findings") + " of severity " + r.FailOn.String()
	case declared > 0:
		return report.Count(declared, "test finding was declared and is to be read", "test findings were declared and are to be read")
	case len(open) > 0:
		return report.Count(len(open), "finding", "findings") + ", none of severity " + r.FailOn.String()
	}
	return "nothing found"
}

// String describes what the change was compared with.
func (b Base) String() string {
	switch b.Source {
	case FromFile:
		return b.File + ", which holds " + b.name()
	case FromRecord:
		return b.name() + " (" + b.Why + "), by its record"
	case FromAncestor:
		return fmt.Sprintf("%s, by its record: the nearest, %s before what is wanted (%s)", b.name(), report.Count(b.Distance, "commit", "commits"), b.Why)
	case FromMeasured:
	}
	return b.name() + " (" + b.Why + "), measured now"
}

func (b Base) name() string {
	if b.Commit == "" {
		return "a tree that no commit holds"
	}
	return short(b.Commit)
}

// explained is the reason why a deleted test is no loss.
func explained(l detector.Loss) string {
	text := l.ID.String() + ": " + string(l.By)
	if l.Into.Name != "" {
		text += ", now " + l.Into.String()
	}
	return text
}

// power describes what changed tests notice, one line for each group of files, and what
// they do not notice any more.
func power(p *ledger.Power) []string {
	switch {
	case p == nil:
		return nil
	case p.Refused != "":
		return []string{"changed tests were not run over mutants: " + p.Refused}
	}
	var out []string
	for _, r := range p.Results {
		out = append(out, fmt.Sprintf("%s: %s", strings.Join(r.Files, ", "), r))
		for _, s := range r.Survivors {
			out = append(out, "  survives: "+s.String())
		}
	}
	return out
}

// goals describes how tests ended as they were, over the new code.
func goals(h ledger.Goals) string {
	if h.Refused != "" {
		return "not run: " + h.Refused
	}
	count := map[detector.Outcome]int{}
	for _, r := range h.Results {
		count[r.Outcome]++
	}
	count[detector.Held] = h.Passed
	var parts []string
	for _, o := range []detector.Outcome{detector.Held, detector.Broke, detector.Unbuilt, detector.NotHeld} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o.Short()))
		}
	}
	return "tests as they were, run over the new code: " + strings.Join(parts, ", ")
}
