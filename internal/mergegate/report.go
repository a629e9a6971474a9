package mergegate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/metric"
)

// Version is that of the form of the report.
const Version = 1

// FailOn says which findings fail the gate.
type FailOn string

// The values of FailOn.
const (
	FailOnCritical FailOn = "critical"
	FailOnProven   FailOn = "proven" // CRITICAL, and HIGH if more than text shows it
	FailOnHigh     FailOn = "high"
	FailOnMedium   FailOn = "medium"
)

// FailOnValues are the values of FailOn.
func FailOnValues() []FailOn { return []FailOn{FailOnProven, FailOnCritical, FailOnHigh, FailOnMedium} }

// blocks reports whether an alert fails the gate.
func (f FailOn) blocks(a detector.Alert) bool {
	switch f {
	case FailOnProven:
		return a.BlocksMerge()
	case FailOnHigh:
		return a.Severity >= detector.High
	case FailOnMedium:
		return a.Severity >= detector.Medium
	case FailOnCritical:
	}
	return a.Severity >= detector.Critical
}

// String describes the findings that fail.
func (f FailOn) String() string {
	if f == FailOnProven {
		return "CRITICAL, or HIGH and more than text"
	}
	return strings.ToUpper(string(f)) + " or above"
}

// Report is what the gate found.
type Report struct {
	Version  int            `json:"version"`
	Passed   bool           `json:"passed"`
	FailOn   FailOn         `json:"fail_on"`
	Base     Base           `json:"base"`
	Head     Head           `json:"head"`
	JudgedAt time.Time      `json:"judged_at"`
	Class    detector.Class `json:"classification"`

	Findings []Finding `json:"findings"` // the worst first, those that a person accepted last
	Metrics  Metrics   `json:"metrics"`

	ExplainedLosses []detector.Loss       `json:"tests_explained,omitempty"` // gone, and found again or gone with what they tested
	Changes         detector.TestChanges  `json:"tests"`
	Goals           *ledger.Goals         `json:"goals,omitempty"`
	Hidden          *HiddenResults        `json:"hidden_tests,omitempty"`
	Review          *ledger.Review        `json:"review,omitempty"`
	MutationCheck   *ledger.MutationCheck `json:"power,omitempty"`
	Silenced        *ledger.Silenced      `json:"lint_suppressed,omitempty"`   // what new comments hide from the linters; it counts
	Excluded        *ledger.Excluded      `json:"coverage_excluded,omitempty"` // the coverage with the new exclusions
	Checks          []ledger.CheckRun     `json:"checks"`
	Ratchet         []Violation           `json:"ratchet,omitempty"` // violated limits
	Notes           []string              `json:"notes,omitempty"`
	Table           document.Table        `json:"-"` // the metrics of both sides, for people

	Tightened Ratchet          `json:"-"` // what the limits may become
	Alerts    []detector.Alert `json:"-"` // what the findings are made of
}

// Head is the tree that was judged.
type Head struct {
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty,omitempty"` // with uncommitted changes
}

// Metrics are the metrics of both sides.
type Metrics struct {
	Base  metric.Record `json:"base"`
	Head  metric.Record `json:"head"`
	Delta metric.Delta  `json:"delta"`
}

// Finding is one finding of a rule, with its places.
type Finding struct {
	ID           string              `json:"id"`
	Rule         string              `json:"rule"`
	Type         string              `json:"type"`
	Severity     detector.Severity   `json:"severity"`
	Basis        detector.Basis      `json:"basis"`
	Message      string              `json:"message"`
	Blocking     bool                `json:"blocking"`
	Tests        []string            `json:"tests,omitempty"`
	Locations    []Location          `json:"locations,omitempty"`
	Versions     []detector.Versions `json:"versions,omitempty"`     // of tests that were weakened, before and now
	Acknowledged string              `json:"acknowledged,omitempty"` // as what
	Declared     bool                `json:"declared,omitempty"`     // the user allowed it: a person reads it, and the gate passes
}

// Location is where a finding is. Gone: the file or the line is missing in the tree.
type Location struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // from 1; 0 is the complete file
	Gone bool   `json:"removed,omitempty"`
	What string `json:"note,omitempty"`
}

func (p Location) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// OpenFindings are the findings above INFO that are not accepted, the most severe first.
func (r Report) OpenFindings() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return f.Acknowledged != "" || f.Severity <= detector.Info
	})
}

// blocking are the IDs of the findings by which the gate fails, each once.
func (r Report) blocking() []string {
	var out []string
	for _, f := range r.Findings {
		if f.Blocking && !slices.Contains(out, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

// report puts the report together.
func (g *gate) report() Report {
	v := g.verdict
	out := Report{
		Version: Version, Passed: true, FailOn: g.FailOn, Base: g.base, Head: Head{g.commitID, g.dirty}, JudgedAt: g.Now,
		Class: v.Assessment.Class, Metrics: Metrics{g.before.Record(), g.now.Record(), v.Assessment.FromPrevious},
		ExplainedLosses: v.Assessment.SettledLosses(), Changes: v.Assessment.Changes, Goals: v.Goals, MutationCheck: v.MutationCheck, Hidden: hiddenOf(v.Hidden), Review: v.Review, Silenced: v.Silenced, Excluded: v.Excluded, Checks: v.Checks, Notes: g.notes, Findings: []Finding{}, Table: g.table(), Alerts: v.Assessment.Alerts,
	}
	for _, a := range v.Assessment.Alerts {
		f := g.finding(a)
		out.Findings = append(out.Findings, f)
		out.Passed = out.Passed && !f.Blocking
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b2i(a.Acknowledged != ""), b2i(b.Acknowledged != "")), cmp.Compare(b2i(b.Blocking), b2i(a.Blocking)), cmp.Compare(b.Severity, a.Severity))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// finding is an alert with its places.
func (g *gate) finding(a detector.Alert) Finding {
	f := Finding{ID: a.ID(), Rule: a.Rule, Type: a.Type, Severity: a.Severity, Basis: a.Basis, Message: a.Message(), Versions: a.Versions}
	if k := a.Acknowledged; k != nil {
		f.Acknowledged = k.ID
	}
	f.Declared = a.Declared
	f.Blocking = f.Acknowledged == "" && !a.Declared && g.FailOn.blocks(a)
	for _, id := range a.Tests {
		f.Tests = append(f.Tests, id.String())
		if p, ok := g.placeOf(id); ok && !slices.Contains(f.Locations, p) {
			f.Locations = append(f.Locations, p)
		}
	}
	for _, t := range g.verdict.Evidence.Tampering {
		if detector.TamperPrefix+t.Type == a.Rule && t.ExplainedBy == "" {
			f.Locations = append(f.Locations, Location{File: t.File, Line: t.Line, Gone: g.gone(t.File), What: t.Evidence})
		}
	}
	f.Locations = append(f.Locations, g.reviewPlaces(a)...)
	for _, file := range a.Files {
		file = g.inTree(file)
		if !slices.ContainsFunc(f.Locations, func(p Location) bool { return p.File == file }) {
			f.Locations = append(f.Locations, Location{File: file, Gone: g.gone(file)})
		}
	}
	return f
}

// placeOf finds the definition of a test: the current one, else the original.
func (g *gate) placeOf(id metric.ID) (Location, bool) {
	for _, d := range g.verdict.Evidence.After {
		if defines(d, id) {
			return Location{File: d.File, Line: d.Def.Line, What: id.Name}, true
		}
	}
	for _, d := range g.verdict.Evidence.Before {
		if defines(d, id) {
			return Location{File: g.nameNow(d.File), Line: d.Def.Line, Gone: true, What: id.Name}, true
		}
	}
	return Location{}, false
}

// defines reports whether a definition is that of a test, by its name: the rest of an
// identity differs from one runner to the next.
func defines(d detector.TestSource, id metric.ID) bool {
	name := id.Name
	if cut := strings.IndexAny(name, "[("); cut > 0 {
		name = name[:cut]
	}
	return d.Def.Name == id.Name || d.Def.Name == name || strings.HasSuffix(d.Def.Name, " "+name) || strings.HasSuffix(id.Name, " "+d.Def.Name)
}

func (g *gate) nameNow(file string) string { return cmp.Or(g.verdict.Evidence.Renamed[file], file) }

// gone reports whether a file of the base is not in the tree.
func (g *gate) gone(file string) bool {
	return slices.Contains(g.verdict.Evidence.Removed, file) && g.verdict.Evidence.Renamed[file] == ""
}

// inTree is the path of a file in the tree: some reports name files by
// their package or folder on the machine that built them.
func (g *gate) inTree(file string) string {
	for rest := file; ; {
		if g.files[rest] {
			return rest
		}
		_, after, found := strings.Cut(rest, "/")
		if !found {
			return file
		}
		rest = after
	}
}
