package mergegate

import (
	"context"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/report"
)

// MutantsRecord is the part of a report that is about mutants of the change.
type MutantsRecord struct {
	Version        int                    `json:"version"`
	Base           Base                   `json:"base"`
	Head           Head                   `json:"head"`
	ChangeCoverage *ledger.ChangeCoverage `json:"change_coverage,omitempty"`
	ChangeMutants  *ledger.ChangeMutants  `json:"change_mutants,omitempty"` // nil if no changed line has a mutant
	Notes          []string               `json:"notes,omitempty"`
}

// MutantsRecord returns the part of the report that is about mutants of the change.
func (r Report) MutantsRecord() MutantsRecord {
	return MutantsRecord{Version, r.Base, r.Head, r.ChangeCoverage, r.ChangeMutants, r.Notes}
}

// Mutants returns the part of the report that is about mutants of the change, with the code around the
// survivors.
func (r Report) Mutants() document.Document {
	var d document.Document
	m := r.ChangeMutants
	if m == nil {
		m = &ledger.ChangeMutants{NotRunReason: "no changed line that tests execute has one"}
	}
	for _, s := range m.Survivors {
		where := ""
		if s.Function != "" {
			where = " in `" + s.Function + "`"
		}
		d.Labelled(document.Span{Style: document.Warn, Text: "survives"}, "`%s:%d`%s: %s; %s", s.File, s.Line, where, strings.ReplaceAll(s.Operator, "_", " "), report.Pluralize(s.Ran, "test ran on it", "tests ran on it"))
		d.Below().Add(document.Diff(diffOf(s)))
	}
	for _, x := range m.Findings {
		if len(x.Tests) > 0 {
			d.Labelled(document.Span{Style: document.Bad, Text: "HIGH"}, "%s", x.Why)
		}
	}
	if where := r.ChangeCoverage.Untested(); where != "" {
		d.Labelled(label("untested"), "%s", where)
	}
	for _, n := range r.Notes {
		d.Labelled(document.Span{Style: document.Warn, Text: "note"}, "%s", n)
	}
	r.ChangeMutants = m
	d.Labelled(label("change"), "%s", r.changeText())
	d.Labelled(label("base"), "%s", r.Base)
	return d
}

// diffOf returns a survivor with the lines around it, in the form of a diff.
func diffOf(s ledger.ChangeSurvivor) string {
	var b strings.Builder
	at := min(ledger.Around, s.Line-1)
	for i, line := range s.Code {
		if i != at {
			b.WriteString("  " + line + "\n")
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		b.WriteString("- " + line + "\n")
		if s.Mutated != "" {
			b.WriteString("+ " + indent + s.Mutated + "\n")
		}
	}
	return b.String()
}

// IsCheckedOut reports whether the working tree in a folder is that of a revision.
func IsCheckedOut(ctx context.Context, dir, rev string) bool {
	r := repo{dir: dir}
	dirty, err := r.isDirty(ctx)
	return err == nil && !dirty && rev != "" && r.commitID(ctx, rev) == r.commitID(ctx, "HEAD") && r.commitID(ctx, rev) != ""
}
