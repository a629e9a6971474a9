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
	"supervise/internal/report"
	"supervise/metric"
)

// Version is the version of the JSON format of the report.
const Version = 1

// FailOn says which findings fail the gate.
type FailOn string

// The values of FailOn.
const (
	FailOnCritical FailOn = "critical"
	FailOnProven   FailOn = "proven" // CRITICAL, and HIGH if not based on text alone
	FailOnHigh     FailOn = "high"
	FailOnMedium   FailOn = "medium"
)

// FailOnValues returns the values of FailOn.
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

// Report is the result of a gate.
type Report struct {
	Version  int            `json:"version"`
	Passed   bool           `json:"passed"`
	FailOn   FailOn         `json:"fail_on"`
	Base     Base           `json:"base"`
	Head     Head           `json:"head"`
	JudgedAt time.Time      `json:"judged_at"`
	Class    detector.Class `json:"classification"`

	Findings []Finding `json:"findings"` // the worst first, acknowledged ones last
	Metrics  Metrics   `json:"metrics"`

	ExplainedLosses []detector.Loss        `json:"tests_explained,omitempty"` // missing tests that were moved, or deleted together with what they tested
	Changes         detector.TestChanges   `json:"tests"`
	Goals           *ledger.Goals          `json:"goals,omitempty"`
	Hidden          *HiddenResults         `json:"hidden_tests,omitempty"`
	Review          *ledger.Review         `json:"review,omitempty"`
	MutationCheck   *ledger.MutationCheck  `json:"power,omitempty"`
	Silenced        *ledger.Silenced       `json:"lint_suppressed,omitempty"`   // findings that new comments hide; they count
	Excluded        *ledger.Excluded       `json:"coverage_excluded,omitempty"` // coverage with and without new exclusions
	Checks          []ledger.CheckRun      `json:"checks"`
	Ratchet         []Violation            `json:"ratchet,omitempty"`         // limits that are violated
	ChangeCoverage  *ledger.ChangeCoverage `json:"change_coverage,omitempty"` // the changed lines of product code, and what tests execute of them
	ChangeMutants   *ledger.ChangeMutants  `json:"change_mutants,omitempty"`
	Criterion       *CriterionResult       `json:"criterion,omitempty"`
	Failing         []FailingTest          `json:"failing,omitempty"` // what fails now, whether or not it did at the base
	Notes           []string               `json:"notes,omitempty"`
	Table           document.Table         `json:"-"` // the metrics of both sides

	Tightened Ratchet          `json:"-"` // the limits after this change
	Alerts    []detector.Alert `json:"-"` // the source of the findings
}

// Head is the tree that was judged.
type Head struct {
	Commit string `json:"commit"`
	Dirty  bool   `json:"dirty,omitempty"` // the tree has uncommitted changes
}

// Metrics are the metrics of both sides.
type Metrics struct {
	Base  metric.Record `json:"base"`
	Head  metric.Record `json:"head"`
	Delta metric.Delta  `json:"delta"`
}

// Finding is one finding of a rule, with its locations.
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
	Versions     []detector.Versions `json:"versions,omitempty"`     // texts of weakened tests, before and now
	Acknowledged string              `json:"acknowledged,omitempty"` // ID of the acknowledgement
	Declared     bool                `json:"declared,omitempty"`     // allowed by the user in advance: it must be read, but does not block
}

// Location is where a finding is, by the slash path of the file in the tree. Removed is true if the
// tree does not have the file or the line.
type Location struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // from 1; 0 means the complete file
	Removed bool   `json:"removed,omitempty"`
	Note    string `json:"note,omitempty"`
}

func (p Location) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// OpenFindings returns the findings above INFO that are not acknowledged, the most severe
// first.
func (r Report) OpenFindings() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return f.Acknowledged != "" || f.Severity <= detector.Info
	})
}

// ids returns the IDs of the findings that fit, each once.
func (r Report) ids(fit func(Finding) bool) []string {
	var out []string
	for _, f := range r.Findings {
		if fit(f) && !slices.Contains(out, f.ID) {
			out = append(out, f.ID)
		}
	}
	return out
}

// newReport returns the report about the verdict. Blocking findings make it fail.
func (g *mergeGate) newReport() Report {
	v := g.verdict
	out := Report{
		Version: Version, Passed: g.criterion.holds() && v.ChangeCoverage.Shortfall() == "", FailOn: g.FailOn, Base: g.base, Head: Head{g.commitID, g.dirty}, JudgedAt: g.Now,
		Class: v.Assessment.Class, Metrics: Metrics{g.baseSet.Record(), g.headSet.Record(), v.Assessment.FromPrevious},
		ExplainedLosses: slices.DeleteFunc(slices.Clone(v.Assessment.Changes.Explained), func(l detector.Loss) bool { return l.Explanation == detector.NotDecided }),
		Changes:         v.Assessment.Changes, Goals: v.Goals, MutationCheck: v.MutationCheck, ChangeMutants: v.ChangeMutants, Hidden: newHiddenResults(v.Hidden), Review: v.Review, Criterion: g.criterion, Silenced: v.Silenced, Excluded: v.Excluded, ChangeCoverage: v.ChangeCoverage, Checks: v.Checks, Failing: failingTests(g.baseSet.Tests, g.headSet.Tests), Notes: g.notes, Findings: []Finding{}, Table: g.compareMetrics(), Alerts: v.Assessment.Alerts,
	}
	for _, a := range v.Assessment.Alerts {
		f := g.newFinding(a)
		out.Findings = append(out.Findings, f)
		out.Passed = out.Passed && !f.Blocking
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(boolToInt(a.Acknowledged != ""), boolToInt(b.Acknowledged != "")), cmp.Compare(boolToInt(b.Blocking), boolToInt(a.Blocking)), cmp.Compare(b.Severity, a.Severity))
	})
	out.noteUnknown(g.Accept)
	return out
}

// noteUnknown adds a note for each accepted ID that no finding has.
func (r *Report) noteUnknown(accepted []string) {
	known := "there are none"
	if ids := r.ids(func(f Finding) bool { return f.Severity > detector.Info || f.Acknowledged != "" }); len(ids) > 0 {
		known = "they are " + listFiles(ids)
	}
	for _, id := range accepted {
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.ID == id }) {
			r.Notes = append(r.Notes, fmt.Sprintf("--accept %s accepted nothing: no finding has this ID; %s", id, known))
		}
	}
}

// boolToInt returns 1 for true and 0 for false.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// newFinding returns the finding for an alert. Its locations are those of its tests, of the
// suspicious lines that the alert is about, and of its files.
func (g *mergeGate) newFinding(a detector.Alert) Finding {
	f := Finding{ID: a.ID(), Rule: a.Rule, Type: a.Type, Severity: a.Severity, Basis: a.Basis, Message: a.Message(), Versions: a.Versions}
	if ack := a.Acknowledged; ack != nil {
		f.Acknowledged = ack.ID
	}

	f.Declared = a.Declared
	f.Blocking = f.Acknowledged == "" && !a.Declared && (g.FailOn.blocks(a) || g.FailOnUnguarded && a.Rule == detector.ChangeUnguarded)
	for _, id := range a.Tests {
		f.Tests = append(f.Tests, id.String())
		if p, ok := g.locationOf(id); ok && !slices.Contains(f.Locations, p) {
			f.Locations = append(f.Locations, p)
		}
	}

	for _, t := range g.verdict.Evidence.Tampering {
		if detector.TamperPrefix+t.Type == a.Rule && t.ExplainedBy == "" {
			f.Locations = append(f.Locations, Location{File: t.File, Line: t.Line, Removed: g.isRemoved(t.File), Note: t.Evidence})
		}
	}

	f.Locations = slices.Concat(f.Locations, g.reviewLocations(a), g.changeLocations(a))
	for _, file := range a.Files {
		file = g.pathInTree(file)
		if !slices.ContainsFunc(f.Locations, func(p Location) bool { return p.File == file }) {
			f.Locations = append(f.Locations, Location{File: file, Removed: g.isRemoved(file)})
		}
	}
	return f
}

// changeLocations returns the lines of a finding about new code.
func (g *mergeGate) changeLocations(a detector.Alert) []Location {
	switch a.Rule {
	case detector.ChangeUntested:
		return untestedLocations(g.verdict.ChangeCoverage)
	case detector.ChangeUnguarded:
		return survivorLocations(g.verdict.ChangeMutants)
	}
	return nil
}

// untestedLocations returns the first line of each run of changed lines that no test executes.
func untestedLocations(c *ledger.ChangeCoverage) (out []Location) {
	for _, f := range c.Changed() {
		for _, s := range f.Untested().Spans() {
			out = append(out, Location{File: f.Path, Line: s.First, Note: "no test executes " + report.Either(s.First == s.Last, "line ", "lines ") + string(metric.NewLineSet([]metric.Span{s}))})
		}
	}
	return out
}

// survivorLocations returns the lines of the mutants that no test notices.
func survivorLocations(m *ledger.ChangeMutants) (out []Location) {
	for _, s := range m.Survivors {
		out = append(out, Location{File: s.File, Line: s.Line, Note: "no test fails when this changes: " + s.Change()})
	}
	return out
}

// locationOf returns the location of a test: its definition in the tree, or else in the base. It
// returns false if neither is known.
func (g *mergeGate) locationOf(id metric.ID) (Location, bool) {
	for _, d := range g.verdict.Evidence.After {
		if definesTest(d, id) {
			return Location{File: d.File, Line: d.Def.Line, Note: id.Name}, true
		}
	}
	for _, d := range g.verdict.Evidence.Before {
		if definesTest(d, id) {
			return Location{File: g.verdict.Evidence.NewPath(d.File), Line: d.Def.Line, Removed: true, Note: id.Name}, true
		}
	}
	return Location{}, false
}

// definesTest reports whether a definition is that of a test, by its name. It ignores parameters,
// as in test_sum[1-2], and enclosing suites. Other parts of the identity depend on the runner.
func definesTest(d detector.TestSource, id metric.ID) bool {
	name := id.Name
	if cut := strings.IndexAny(name, "[("); cut > 0 {
		name = name[:cut]
	}
	return d.Def.Name == id.Name || d.Def.Name == name || strings.HasSuffix(d.Def.Name, " "+name) || strings.HasSuffix(id.Name, " "+d.Def.Name)
}

// isRemoved reports whether the tree does not have a file of the base, not even renamed.
func (g *mergeGate) isRemoved(file string) bool {
	return slices.Contains(g.verdict.Evidence.Removed, file) && g.verdict.Evidence.Renamed[file] == ""
}

// pathInTree returns the path of a file in the tree. In some reports, file is relative to the
// package, or a path on the machine that built it. So leading folders are removed until the tree
// has the file. If it never does, the path is returned unchanged.
func (g *mergeGate) pathInTree(file string) string {
	path := file
	for !g.files[path] {
		_, suffix, found := strings.Cut(path, "/")
		if !found {
			return file
		}
		path = suffix
	}
	return path
}
