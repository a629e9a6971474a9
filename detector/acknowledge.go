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

// Acknowledgement states that a person knows and accepts a finding. It names the finding
// or a rule, and applies if all other conditions that it gives are met. An alert that it
// covers becomes INFO and has no effect.
type Acknowledgement struct {
	ID      string    `json:"id,omitempty"`      // names the acknowledgement
	Finding string    `json:"finding,omitempty"` // the [Alert.ID] of what is accepted
	Rule    string    `json:"rule,omitempty"`
	Tests   []string  `json:"tests,omitempty"` // patterns of test names, see [Acknowledgement.Validate]; none means every test
	Path    string    `json:"path,omitempty"`  // pattern of files, suites and folders; "" means all of them
	UpTo    *float64  `json:"up_to,omitempty"` // largest accepted change of the metric, in the unit of the rule; nil: any
	Reason  string    `json:"reason,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // when it stops applying; zero: never
}

// Acknowledged names the acknowledgement that covers an alert, with the severity and
// action that the alert would have without it.
type Acknowledged struct {
	ID       string   `json:"id,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Severity Severity `json:"severity"`
	Action   Action   `json:"action"`
}

// Validate returns an error unless the acknowledgement names a finding or an existing
// rule. In patterns of tests, * matches any text and ? one character; they are matched
// against the name and against "suite: class.name". In the pattern of a path, * ends at a
// slash and ** does not. A backslash quotes the character after it.
func (a Acknowledgement) Validate() error {
	switch {
	case a.Finding == "" && a.Rule == "":
		return fmt.Errorf("acknowledgement %s names neither a finding nor a rule; give one of them", a.ID)
	case a.Rule != "" && !IsRule(a.Rule):
		return fmt.Errorf("acknowledgement %s: there is no rule %s; the rules are %s", a.ID, a.Rule, strings.Join(RuleNames(), ", "))
	}
	return nil
}

// IsActive reports whether the acknowledgement has not expired.
func (a Acknowledgement) IsActive(now time.Time) bool {
	return a.Expires.IsZero() || now.Before(a.Expires)
}

// activeAcknowledgement is an acknowledgement that has not expired, with compiled patterns.
type activeAcknowledgement struct {
	Acknowledgement
	tests []*glob.Glob
	path  *glob.Glob // nil: every path
	grant *Grant     // nil: not made from a grant
	alert *Alert     // an acknowledged alert: other alerts about its tests and lines are covered too
}

// Grant lets the agent change the content of a test that a person found to be wrong
// during the loop. Deleting or skipping the test is still a finding.
type Grant struct {
	Test   metric.ID
	Reason string
}

// grantAcknowledgements returns the grants as acknowledgements.
func (in Input) grantAcknowledgements() []activeAcknowledgement {
	var out []activeAcknowledgement
	for _, g := range in.Granted {
		out = append(out, activeAcknowledgement{Acknowledgement: Acknowledgement{ID: "blocked", Reason: g.Reason}, grant: &g})
	}
	return out
}

// covers reports whether an acknowledgement covers a test of an alert.
func (j *judge) covers(ack activeAcknowledgement, a Alert, id metric.ID) bool {
	switch {
	case ack.alert != nil:
		same := j.casesOf(id)
		return ack.alert.Acknowledged.Severity >= a.Severity && slices.ContainsFunc(ack.alert.Tests, func(t metric.ID) bool {
			return slices.ContainsFunc(j.casesOf(t), func(c metric.ID) bool { return slices.Contains(same, c) })
		})
	case ack.grant == nil:
		return ack.coversTest(id, j.filesOf(id))
	}
	return (strings.HasPrefix(a.Rule, TamperPrefix) || slices.Contains(contentRules, a.Rule)) && slices.ContainsFunc(j.casesOf(id), ack.grant.includes)
}

// casesOf returns a test of an alert and, because findings about the text name the file instead of
// the suite, the tests that were reported for it.
func (j *judge) casesOf(id metric.ID) []metric.ID {
	out := []metric.ID{id}
	for _, c := range j.affectedTests(Tampering{File: id.Suite, Test: id.Name}) {
		out = append(out, c.ID)
	}
	return out
}

// line is a line of a file of the tree, from 1; 0 is the entire file.
type line struct {
	file   string
	number int
}

// acknowledgeSame acknowledges the alerts about tests and lines of which an alert of at least the
// same severity is acknowledged: a person who accepts that a test is skipped accepts it by any rule.
// An acknowledgement of a rule for any test is no opinion about one of them.
func (j *judge) acknowledgeSame(alerts []Alert) []Alert {
	var accepted []activeAcknowledgement
	for _, a := range alerts {
		for _, ack := range j.acknowledgements {
			if a.Acknowledged != nil && ack.ID == a.Acknowledged.ID && (ack.Finding != "" || len(ack.Tests) > 0) {
				accepted = append(accepted, activeAcknowledgement{Acknowledgement: Acknowledgement{ID: ack.ID, Reason: ack.Reason}, alert: &a})
			}
		}
	}
	if len(accepted) == 0 {
		return alerts
	}
	out := []Alert{}
	for _, a := range alerts {
		switch {
		case a.Acknowledged == nil && len(a.Tests) > 0:
			out = append(out, j.acknowledge(a, accepted)...)
		case a.Acknowledged == nil && j.isAboutAccepted(a, accepted):
			out = append(out, a.withAcknowledgement(accepted[0]))
		default:
			out = append(out, a)
		}
	}
	return out
}

// isAboutAccepted reports whether an alert that names no tests is about nothing but tests and lines
// of accepted alerts. A mutation score drops because of the tests of its files that changed.
func (j *judge) isAboutAccepted(a Alert, accepted []activeAcknowledgement) bool {
	covered := func(id metric.ID) bool {
		return slices.ContainsFunc(accepted, func(ack activeAcknowledgement) bool { return j.covers(ack, a, id) })
	}
	if a.Rule == MutationScoreDropped {
		changed := j.changedTestsOf(a.Files)
		return len(changed) > 0 && !slices.ContainsFunc(changed, func(id metric.ID) bool { return !covered(id) })
	}
	lines := j.lines[a.ID()]
	return len(lines) > 0 && !slices.ContainsFunc(lines, func(l line) bool {
		isSame := func(ack activeAcknowledgement) bool {
			return ack.alert.Acknowledged.Severity >= a.Severity && slices.Contains(j.lines[ack.alert.ID()], l)
		}
		return l.number == 0 || !slices.ContainsFunc(accepted, isSame) && !slices.ContainsFunc(j.in.After, func(d TestSource) bool {
			return d.File == l.file && d.Def.Line <= l.number && l.number <= d.Def.End && covered(metric.ID{Suite: d.File, Name: d.Def.Name})
		})
	})
}

// changedTestsOf returns the tests of some files that changed, or that no longer pass.
func (j *judge) changedTestsOf(files []string) []metric.ID {
	var out []metric.ID
	for _, d := range j.changedDefinitions() {
		if slices.Contains(files, d.File) {
			out = append(out, metric.ID{Suite: d.File, Name: d.Def.Name})
		}
	}
	for _, file := range files {
		for _, t := range j.affectedTests(Tampering{File: file}) {
			if now, exists := j.now.Tests.Lookup(t.ID); t.Status == metric.Passed && (!exists || now.Status != metric.Passed) {
				out = append(out, t.ID)
			}
		}
	}
	return out
}

// includes reports whether id is the test, or a case of it.
func (g Grant) includes(id metric.ID) bool {
	if id == g.Test {
		return true
	}
	parent, ok := id.Parent()
	return ok && g.includes(parent)
}

// contentRules are the rules about what tests check, in addition to the tamper rules.
var contentRules = []string{"tests_weakened", "mutation_score_dropped", RewriteNotDecided}

// activeAcknowledgements returns the valid acknowledgements that have not expired.
func (o Options) activeAcknowledgements(now time.Time) []activeAcknowledgement {
	var out []activeAcknowledgement
	for _, a := range o.Acknowledged {
		if a.Validate() != nil || !a.IsActive(now) {
			continue
		}
		out = append(out, a.compile())
	}
	return out
}

// compile returns the acknowledgement with compiled patterns.
func (a Acknowledgement) compile() activeAcknowledgement {
	ack := activeAcknowledgement{Acknowledgement: a}
	for _, t := range a.Tests {
		ack.tests = append(ack.tests, glob.CompileName(t))
	}
	if a.Path != "" {
		ack.path = glob.CompilePath(a.Path)
	}
	return ack
}

// CoversRecorded reports whether the acknowledgement covers a recorded alert as a whole.
func (a Acknowledgement) CoversRecorded(alert Alert, id string) bool {
	ack := a.compile()
	switch {
	case a.Finding != "" || a.Rule != alert.Rule:
		return a.Finding == id
	case len(alert.Tests) == 0:
		return ack.coversFiles(alert.Files)
	}
	return !slices.ContainsFunc(alert.Tests, func(t metric.ID) bool { return !ack.coversTest(t, alert.Files) })
}

// acknowledge splits an alert into parts with and without acknowledgement. It returns the alert
// alone if no acknowledgement covers any of it.
func (j *judge) acknowledge(alert Alert, list []activeAcknowledgement) []Alert {
	id, remaining := alert.ID(), alert
	var out []Alert
	for _, ack := range list {
		if ack.Rule != "" && ack.Rule != alert.Rule || ack.Finding != "" && ack.Finding != id {
			continue
		}
		if len(remaining.Tests) == 0 {
			if ack.grant == nil && ack.coversFiles(remaining.Files) && ack.coversSize(remaining.Values.Delta) {
				return append(out, remaining.withAcknowledgement(ack))
			}
			continue
		}
		var covered, uncovered []metric.ID
		for _, t := range remaining.Tests {
			if j.covers(ack, alert, t) {
				covered = append(covered, t)
			} else {
				uncovered = append(uncovered, t)
			}
		}
		switch {
		case len(uncovered) == 0:
			return append(out, remaining.withAcknowledgement(ack))
		case len(covered) > 0:
			out = append(out, remaining.withTests(covered).withAcknowledgement(ack))
			remaining = remaining.withTests(uncovered)
		}
	}

	return append(out, remaining)
}

// withTests returns the alert for some of its tests only.
func (a Alert) withTests(tests []metric.ID) Alert {
	a.Tests = tests
	a.Values.Name, a.Values.N = tests[0].String(), len(tests)
	a.Values.Gone = min(a.Values.Gone, a.Values.N)
	return a
}

// withAcknowledgement returns the alert as an acknowledged one: INFO, without effect.
func (a Alert) withAcknowledgement(ack activeAcknowledgement) Alert {
	a.Acknowledged = &Acknowledged{ID: ack.ID, Reason: ack.Reason, Severity: a.Severity, Action: a.Action}
	a.Severity, a.Action = Info, Note
	return a
}

// ApprovedInLoop is the ID of the acknowledgement of what a person approved in the loop.
const ApprovedInLoop = "gate"

// WithApproval returns the assessment after a person approved the iteration: alerts that
// are HIGH or CRITICAL count as acknowledged.
func (a Assessment) WithApproval(reason string) Assessment {
	if a.Balance != nil {
		balance := *a.Balance
		balance.Approved, a.Balance = true, &balance
	}
	a.Alerts = slices.Clone(a.Alerts)
	for i, alert := range a.Alerts {
		if alert.Severity >= High && alert.Acknowledged == nil {
			a.Alerts[i] = alert.withAcknowledgement(activeAcknowledgement{Acknowledgement: Acknowledgement{ID: ApprovedInLoop, Reason: reason}})
		}
	}
	sortAlerts(a.Alerts)
	return a
}

// coversFiles reports whether the acknowledgement covers an alert without tests about these files.
func (a activeAcknowledgement) coversFiles(files []string) bool {
	if len(a.tests) > 0 || a.path != nil && len(files) == 0 {
		return false
	}
	return a.path == nil || !slices.ContainsFunc(files, func(f string) bool { return !a.path.Match(f) })
}

// coversSize reports whether a metric changed by no more than was accepted, apart from
// rounding.
func (a activeAcknowledgement) coversSize(delta *float64) bool {
	return a.UpTo == nil || delta == nil || math.Abs(*delta) <= *a.UpTo+.005
}

// coversTest reports whether the patterns of the acknowledgement match a test with these files.
func (a activeAcknowledgement) coversTest(id metric.ID, files []string) bool {
	if len(a.tests) > 0 && !slices.ContainsFunc(a.tests, func(g *glob.Glob) bool { return g.Match(id.Name) || g.Match(id.String()) }) {
		return false
	}
	return a.path == nil || slices.ContainsFunc(files, a.path.Match)
}

// filesOf returns the known files of a test: its file, and its suite, which may be a file
// or a folder.
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
	test := metric.Test{ID: id}
	for _, set := range []*metric.Tests{j.previous.before.Tests, j.now.Tests} {
		if t, ok := set.Lookup(id); ok {
			add(t.File)
			test = t
		}
	}
	if j.losses != nil {
		after, before := j.losses.FilesOf(test)
		add(after)
		add(before)
	}
	return out
}

// filesOfTests returns the files of all tests, sorted.
func (j *judge) filesOfTests(ids []metric.ID) []string {
	var out []string
	for _, id := range ids {
		out = append(out, j.sourceFiles(id)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
