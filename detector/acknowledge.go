package detector

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"supervise/detector/internal/glob"
	"supervise/metric"
)

// Acknowledgement is a person's word that a finding is known and accepted. It
// names the finding or a rule; of the other conditions all that are given must
// hold. An alert that it covers is kept, as INFO and without an action.
type Acknowledgement struct {
	ID      string    `json:"id,omitempty"`      // its own name
	Finding string    `json:"finding,omitempty"` // the [Alert.ID] of what is accepted
	Rule    string    `json:"rule,omitempty"`
	Tests   []string  `json:"tests,omitempty"` // patterns of test names, see [Acknowledgement.Validate]; none means every test
	Path    string    `json:"path,omitempty"`  // pattern of files, suites and folders; "" means all of them
	UpTo    *float64  `json:"up_to,omitempty"` // how much the number may change at most, in the unit of the rule; nil: any
	Reason  string    `json:"reason,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // it does not count from then on; zero: never
}

// Acknowledged says which acknowledgement covers an alert, and what the alert
// would be without.
type Acknowledged struct {
	ID       string   `json:"id,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Severity Severity `json:"severity"`
	Action   Action   `json:"action"`
}

// Validate reports what is wrong with the acknowledgement: it names neither a finding
// nor an existing rule, or a pattern that cannot be read. In patterns of tests, *
// matches any text and ? one character; they are matched against the name and against
// "suite: class.name". In the pattern of a path, * ends at a slash and ** does not. A
// backslash quotes the character after it.
func (a Acknowledgement) Validate() error {
	switch {
	case a.Finding == "" && a.Rule == "":
		return fmt.Errorf("acknowledgement %s names neither a finding nor a rule; give one of them", a.ID)
	case a.Rule != "" && !IsRule(a.Rule):
		return fmt.Errorf("acknowledgement %s: there is no rule %s; the rules are %s", a.ID, a.Rule, strings.Join(RuleNames(), ", "))
	}
	return nil
}

// IsActive reports whether the acknowledgement still counts at that time.
func (a Acknowledgement) IsActive(at time.Time) bool {
	return a.Expires.IsZero() || at.Before(a.Expires)
}

// acknowledged is an acknowledgement that counts now, with its patterns ready.
type acknowledged struct {
	Acknowledgement
	tests []*glob.Glob
	path  *glob.Glob // nil for every one
	grant *Grant
}

// Grant is a test that a person found to be wrong in the course of a loop: its content
// may change. What it loses by being deleted or skipped stays a finding.
type Grant struct {
	Test   metric.ID
	Reason string
}

// grants are the tests that may change, as acknowledgements.
func (in Input) grants() []acknowledged {
	var out []acknowledged
	for _, g := range in.Granted {
		out = append(out, acknowledged{Acknowledgement: Acknowledgement{ID: "blocked", Reason: g.Reason}, grant: &g})
	}
	return out
}

// covers reports whether an acknowledgement covers a test of an alert of that rule.
func (j *judge) covers(k acknowledged, rule string, id metric.ID) bool {
	if k.grant == nil {
		return k.coversTest(id, j.filesOf(id))
	}
	if !strings.HasPrefix(rule, TamperPrefix) && !slices.Contains(ofContent, rule) {
		return false
	}
	if k.grant.includes(id) {
		return true
	}
	// Findings of the text name the file in place of the suite.
	inFile := Tampering{File: id.Suite, Test: id.Name}.AffectedTests(j.in.Previous.Set.Tests, j.in.Before, j.in.Renamed)
	return slices.ContainsFunc(inFile, func(c metric.Test) bool { return k.grant.includes(c.ID) })
}

// includes reports whether id is the test, or a case of it.
func (g Grant) includes(id metric.ID) bool {
	for is := true; is; id, is = id.Parent() {
		if id == g.Test {
			return true
		}
	}
	return false
}

// ofContent are the rules about what tests check, in addition to those of the text.
var ofContent = []string{"tests_weakened", "mutation_score_dropped"}

func (o Options) acknowledgements(at time.Time) []acknowledged {
	var out []acknowledged
	for _, a := range o.Acknowledged {
		if a.Validate() != nil || !a.IsActive(at) {
			continue
		}
		k := acknowledged{Acknowledgement: a}
		for _, t := range a.Tests {
			k.tests = append(k.tests, glob.Name(t))
		}
		if a.Path != "" {
			k.path = glob.Path(a.Path)
		}
		out = append(out, k)
	}
	return out
}

// acknowledge splits an alert into what was accepted and the rest.
func (j *judge) acknowledge(alert Alert) []Alert {
	id, rest := alert.ID(), alert
	var out []Alert
	for _, k := range j.acknowledgements {
		if k.Rule != "" && k.Rule != alert.Rule || k.Finding != "" && k.Finding != id {
			continue
		}
		if len(rest.Tests) == 0 {
			if k.grant == nil && k.coversFiles(rest.Files) && k.coversSize(rest.Values.Delta) {
				return append(out, rest.accepted(k))
			}
			continue
		}
		covered := func(t metric.ID) bool { return j.covers(k, alert.Rule, t) }
		some := rest
		some.Tests = slices.DeleteFunc(slices.Clone(rest.Tests), func(t metric.ID) bool { return !covered(t) })
		if len(some.Tests) == len(rest.Tests) {
			return append(out, rest.accepted(k))
		}
		if len(some.Tests) > 0 {
			rest.Tests = slices.DeleteFunc(slices.Clone(rest.Tests), covered)
			out, rest = append(out, some.renamed().accepted(k)), rest.renamed()
		}
	}
	return append(out, rest)
}

// renamed makes the name and the number of the values those of the tests that are
// left.
func (a Alert) renamed() Alert {
	a.Values.Name, a.Values.N = a.Tests[0].String(), len(a.Tests)
	a.Values.Gone = min(a.Values.Gone, a.Values.N)
	return a
}

func (a Alert) accepted(k acknowledged) Alert {
	a.Acknowledged = &Acknowledged{ID: k.ID, Reason: k.Reason, Severity: a.Severity, Action: a.Action}
	a.Severity, a.Action = Info, Note
	return a
}

// ApprovedInLoop is the acknowledgement of what a person approved in the loop itself.
const ApprovedInLoop = "gate"

// WithApproval returns the assessment after a person has looked at the iteration and kept
// it: its serious alerts count as acknowledged.
func (a Assessment) WithApproval(reason string) Assessment {
	if a.Balance != nil {
		kept := *a.Balance
		kept.Approved, a.Balance = true, &kept
	}
	a.Alerts = slices.Clone(a.Alerts)
	for i, alert := range a.Alerts {
		if alert.Severity >= High && alert.Acknowledged == nil {
			a.Alerts[i] = alert.accepted(acknowledged{Acknowledgement: Acknowledgement{ID: ApprovedInLoop, Reason: reason}})
		}
	}
	sortAlerts(a.Alerts)
	return a
}

func (k acknowledged) coversFiles(files []string) bool {
	if len(k.tests) > 0 || k.path != nil && len(files) == 0 {
		return false
	}
	return k.path == nil || !slices.ContainsFunc(files, func(f string) bool { return !k.path.Match(f) })
}

// coversSize reports whether a number changed by no more than what was accepted,
// apart from rounding.
func (k acknowledged) coversSize(delta *float64) bool {
	return k.UpTo == nil || delta == nil || math.Abs(*delta) <= *k.UpTo+.005
}

func (k acknowledged) coversTest(id metric.ID, files []string) bool {
	if len(k.tests) > 0 && !slices.ContainsFunc(k.tests, func(g *glob.Glob) bool { return g.Match(id.Name) || g.Match(id.String()) }) {
		return false
	}
	return k.path == nil || slices.ContainsFunc(files, k.path.Match)
}

// filesOf returns the files of a test, as far as they are known: its file, and its
// suite, which may be a file or a folder.
func (j *judge) filesOf(id metric.ID) []string {
	out := j.sourceFiles(id)
	if id.Suite != "" {
		out = append(out, id.Suite)
	}
	return out
}

// sourceFiles returns the files that are known to define a test.
func (j *judge) sourceFiles(id metric.ID) []string {
	var out []string
	add := func(file string) {
		if file != "" && !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	known := metric.Test{ID: id}
	for _, set := range []*metric.Tests{j.previous.before.Tests, j.now.Tests} {
		if t, ok := set.Lookup(id); ok {
			add(t.File)
			known = t
		}
	}
	if j.sources != nil {
		add(j.sources.after.file(known))
		add(j.sources.before.file(known))
	}
	return out
}

// filesOfAll returns the files of all tests, sorted.
func (j *judge) filesOfAll(ids []metric.ID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, j.sourceFiles(id)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
