package parsers

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
)

// sarifResult is what is read of one result of SARIF 2.1.0:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Everything else of a result,
// its code flows above all, is passed over.
type sarifResult struct {
	RuleID        string          `json:"ruleId"`
	RuleIndex     *int            `json:"ruleIndex"`
	Rule          *sarifRuleRef   `json:"rule"`
	Kind          string          `json:"kind"`
	Level         string          `json:"level"`
	BaselineState string          `json:"baselineState"`
	Message       sarifMessage    `json:"message"`
	Locations     []sarifLocation `json:"locations"`
	Suppressions  []struct {
		Status string `json:"status"`
	} `json:"suppressions"`
	Provenance *struct {
		InvocationIndex *int `json:"invocationIndex"`
	} `json:"provenance"`
}

// sarifRuleRef refers to a rule, or to a part of a tool.
type sarifRuleRef struct {
	ID            string        `json:"id"`
	Name          string        `json:"name"`
	GUID          string        `json:"guid"`
	Index         *int          `json:"index"`
	ToolComponent *sarifRuleRef `json:"toolComponent"`
}

type sarifMessage struct {
	Text      string   `json:"text"`
	Markdown  string   `json:"markdown"`
	ID        string   `json:"id"`
	Arguments []string `json:"arguments"`
}

type sarifLocation struct {
	PhysicalLocation struct {
		ArtifactLocation sarifPlace `json:"artifactLocation"`
		Region           struct {
			StartLine   int          `json:"startLine"`
			StartColumn int          `json:"startColumn"`
			Snippet     sarifMessage `json:"snippet"`
		} `json:"region"`
	} `json:"physicalLocation"`
}

// sarifPlace names a file: relative to a base, or by its number in the run's
// list of artifacts.
type sarifPlace struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId"`
	Index *int   `json:"index"`
}

// sarifNotification is what a tool says about its own run.
type sarifNotification struct {
	Descriptor sarifRuleRef    `json:"descriptor"`
	Associated sarifRuleRef    `json:"associatedRule"`
	Level      string          `json:"level"`
	Message    sarifMessage    `json:"message"`
	Locations  []sarifLocation `json:"locations"`
}

type sarifInvocation struct {
	Successful    *bool               `json:"executionSuccessful"`
	Execution     []sarifNotification `json:"toolExecutionNotifications"`
	Configuration []sarifNotification `json:"toolConfigurationNotifications"`
	Overrides     []struct {
		Descriptor    sarifRuleRef `json:"descriptor"`
		Configuration sarifConfig  `json:"configuration"`
	} `json:"ruleConfigurationOverrides"`
}

// sarifLevels are the levels of SARIF. A result that did not fail, or that has
// the level none, is a note.
var sarifLevels = map[string]metric.Level{
	"error": metric.Error, "warning": metric.Warning, "note": metric.Note, "none": metric.Note,
}

// sarifKinds are the kinds of results that are no failures: those of level 0
// are not counted, the others are notes.
var sarifKinds = map[string]metric.Level{
	"pass": 0, "notApplicable": 0,
	"open": metric.Note, "review": metric.Note, "informational": metric.Note,
}

func detectSARIF(h sniff.Head) bool {
	return h.JSON("runs.[].tool") || h.JSON("runs.[].results") || h.JSON("runs") && (h.JSON("version") || h.JSON("$schema")) ||
		h.JSON("version", "$schema") && strings.Contains(string(h.Text), "sarif")
}

// parseSARIF reads SARIF 2.1.0. The level of a result is its own, else that of
// its rule, else warning. Suppressed results, those that passed and those that
// are gone since the baseline are not counted. What a tool calls an error of
// its own run is an Error; a run that failed as a whole is an error.
func parseSARIF(r io.Reader) (Report, error) {
	s := sarif{lint: newLint(), names: interner{}}
	noise, err := jsonstream.Documents(r, s.document)
	if err == nil {
		err = s.failed
	}
	return s.lint.report(s.producer, noise, err)
}

// sarif reads a report run by run.
type sarif struct {
	lint     *lintReport
	names    interner
	producer string
	failed   error // a run was not successful
}

func (s *sarif) document(j *jsonstream.Reader) error {
	found := false
	err := j.Object(func(name string) error {
		switch name {
		case "version":
			version, err := j.Text()
			if err == nil && !strings.HasPrefix(version, "2.1") {
				err = j.Error("SARIF version %q is not read, only 2.1.0 is", version)
			}
			return err
		case "runs":
			found = true
			return j.Array(func() error { return s.run(j) })
		case "inlineExternalProperties":
			return s.external(j, j.Array)
		}
		return j.Skip()
	})
	if err == nil && !found {
		err = j.Error("there are no runs in the SARIF document")
	}
	return err
}

// external refuses results that stand outside of their run.
func (s *sarif) external(j *jsonstream.Reader, each func(func() error) error) error {
	return each(func() error {
		return j.Object(func(name string) error {
			if name == "results" {
				return j.Error("its results stand outside of the run, which is not read: write them into one file")
			}
			return j.Skip()
		})
	})
}

func (s *sarif) run(j *jsonstream.Reader) error {
	run := sarifRun{sarif: s, first: len(s.lint.Findings)}
	err := j.Object(func(name string) error {
		switch name {
		case "tool":
			return j.Value(&run.tool)
		case "results":
			run.looked = j.Kind() == '['
			return j.Array(func() error { return run.result(j) })
		case "invocations":
			return j.Value(&run.invocations)
		case "originalUriBaseIds":
			return j.Value(&run.bases)
		case "artifacts":
			return j.Array(func() error { return run.artifact(j) })
		case "externalPropertyFileReferences":
			return s.external(j, func(f func() error) error { return f() })
		}
		return j.Skip()
	})
	run.end(j)
	return err
}

// interner keeps one copy of every name that stands in a report again and again.
type interner map[string]string

func (n interner) of(s string) string {
	if kept, ok := n[s]; ok {
		return kept
	}
	n[s] = s
	return s
}

// sarifRun is one run. The description of its tool may stand behind its
// results, so what needs it is looked up at the end.
type sarifRun struct {
	*sarif
	tool        sarifTool
	invocations []sarifInvocation
	bases       map[string]sarifPlace
	artifacts   []sarifPlace
	first       int // number of its first finding
	pending     []sarifPending
	looked      bool
}

// sarifPending is what a finding still lacks.
type sarifPending struct {
	rule       sarifRuleRef
	level      string
	kind       metric.Level // that the kind of the result sets, 0 for failures
	invocation int          // -1 unknown
	place      sarifPlace
	message    *sarifMessage // nil where the text is there
}

func (r *sarifRun) artifact(j *jsonstream.Reader) error {
	var a struct {
		Location sarifPlace `json:"location"`
	}
	err := j.Value(&a)
	a.Location.URI = r.names.of(a.Location.URI)
	r.artifacts = append(r.artifacts, a.Location)
	return err
}

func (r *sarifRun) result(j *jsonstream.Reader) error {
	var res sarifResult
	if err := j.Value(&res); err != nil {
		return err
	}
	kind, known := sarifKinds[res.Kind]
	if res.suppressed() || res.BaselineState == "absent" || known && kind == 0 {
		return nil
	}
	p := sarifPending{rule: res.ruleRef(), level: res.Level, kind: kind, invocation: -1}
	if res.Provenance != nil && res.Provenance.InvocationIndex != nil {
		p.invocation = *res.Provenance.InvocationIndex
	}
	r.add(p, res.Message, res.Locations)
	return nil
}

// suppressed reports whether one of the suppressions of the result counts: one
// that waits for approval or was rejected does not.
func (res *sarifResult) suppressed() bool {
	for _, s := range res.Suppressions {
		if s.Status != "underReview" && s.Status != "rejected" {
			return true
		}
	}
	return false
}

func (res *sarifResult) ruleRef() sarifRuleRef {
	ref := sarifRuleRef{}
	if res.Rule != nil {
		ref = *res.Rule
	}
	ref.ID = cmp.Or(ref.ID, res.RuleID)
	if ref.Index == nil {
		ref.Index = res.RuleIndex
	}
	return ref
}

// add keeps a finding and what it lacks.
func (r *sarifRun) add(p sarifPending, m sarifMessage, locations []sarifLocation) {
	f := metric.Finding{}
	if len(locations) > 0 {
		at := &locations[0].PhysicalLocation
		p.place = at.ArtifactLocation
		f.Line, f.Column = max(0, at.Region.StartLine), max(0, at.Region.StartColumn)
		f.Text = textstream.Clipped(textstream.FirstLine(at.Region.Snippet.Text))
	}
	p.rule.ID = r.names.of(p.rule.ID)
	p.place.URI, p.place.Base = r.names.of(p.place.URI), r.names.of(p.place.Base)
	p.level = r.names.of(p.level)
	if f.Message = m.fill(cmp.Or(m.Text, m.Markdown)); f.Message == "" {
		p.message = &m
	}
	r.lint.Findings = append(r.lint.Findings, f)
	r.pending = append(r.pending, p)
}

// end gives the findings what stood elsewhere in the run.
func (r *sarifRun) end(j *jsonstream.Reader) {
	for _, inv := range r.invocations {
		r.notifications(inv.Execution, false)
		r.notifications(inv.Configuration, true)
	}
	tool := r.tool.Driver.Name
	r.producer = cmp.Or(r.producer, tool)
	r.lint.heard(tool)
	r.tool.index()
	for i, p := range r.pending {
		f := &r.lint.Findings[r.first+i]
		rule := r.tool.rule(p.rule)
		f.Tool, f.Rule, f.File = tool, cmp.Or(p.rule.ID, rule.ID), r.file(p.place)
		f.Level = r.level(p, rule)
		f.Type = f.Level == metric.Error && checksTypes(tool)
		if p.message != nil {
			f.Message = p.message.fill(cmp.Or(rule.Messages[p.message.ID].Text, r.tool.Driver.Messages[p.message.ID].Text,
				rule.Short.Text, rule.Full.Text, p.message.ID))
		}
	}
	r.compilers()
	r.success(j)
}

// sarifCompilers are the rules under which linters pass on what a compiler
// printed: it is an error, whatever they call it.
var sarifCompilers = map[string]bool{"compile": true, "typecheck": true}

func (r *sarifRun) compilers() {
	found := r.lint.Findings[r.first:]
	if !slices.ContainsFunc(found, func(f metric.Finding) bool { return sarifCompilers[f.Rule] }) {
		return
	}
	list := r.lint.Findings[:r.first:r.first]
	for _, f := range found {
		if sarifCompilers[f.Rule] {
			f.Level, f.Type, f.Message = metric.Error, true, strings.TrimPrefix(f.Message, ": ")
			list = append(list, compiled(f)...)
		} else {
			list = append(list, f)
		}
	}
	r.lint.Findings = list
}

// notifications takes what a tool calls an error of its own run, and warnings
// about the comments in a file that configure it: eslint reports useless ones
// in this way.
func (r *sarifRun) notifications(list []sarifNotification, configuration bool) {
	for _, n := range list {
		if n.Level == "error" || configuration && n.Level == "warning" && len(n.Locations) > 0 {
			p := sarifPending{rule: n.Descriptor, level: n.Level, invocation: -1}
			p.rule.ID = cmp.Or(n.Descriptor.ID, n.Associated.ID)
			r.add(p, n.Message, n.Locations)
		}
	}
}

func (r *sarifRun) level(p sarifPending, rule *sarifRule) metric.Level {
	if p.kind != 0 {
		return p.kind
	}
	level := p.level
	if level == "" && p.invocation >= 0 && p.invocation < len(r.invocations) {
		for _, o := range r.invocations[p.invocation].Overrides {
			if rule != noRule && r.tool.rule(o.Descriptor) == rule {
				level = o.Configuration.Level
			}
		}
	}
	level = cmp.Or(level, rule.Config.Level, "warning")
	if l, ok := sarifLevels[level]; ok {
		return l
	}
	return metric.Error
}

// success tells apart what "executionSuccessful: false" means: a tool that met
// errors, as compilers say it, or a tool that could not do its work. The latter
// is told by an error that has no place in a file, or by no finding at all.
func (r *sarifRun) success(j *jsonstream.Reader) {
	tool := cmp.Or(r.tool.Driver.Name, "the tool")
	for _, inv := range r.invocations {
		if inv.Successful == nil || *inv.Successful {
			continue
		}
		why := ""
		for _, n := range append(inv.Execution, inv.Configuration...) {
			if n.Level == "error" && len(n.Locations) == 0 {
				why = cmp.Or(n.Message.Text, n.Descriptor.ID, "it does not say why")
			}
		}
		if why == "" && len(r.pending) == 0 {
			why = "it does not say why"
		}
		if why != "" {
			r.failed = j.Error("%s says that it did not run to its end: %s", tool, textstream.Clipped(why))
			return
		}
		r.lint.problems.Add("%s says that its run was not successful", tool)
	}
	if !r.looked && len(r.pending) == 0 && len(r.invocations) == 0 {
		r.lint.problems.Add("%s wrote a run without results: it may not have looked for any", tool)
	}
}
