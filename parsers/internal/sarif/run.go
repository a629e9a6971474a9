package sarif

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// sarifRun is one run. The description of its tool may follow its
// results, so what needs it is looked up at the end.
type sarifRun struct {
	*sarif
	tool        sarifTool
	invocations []sarifInvocation
	bases       map[string]sarifPlace
	artifacts   []sarifPlace
	first       int // number of its first finding
	pending     []sarifPending
	lookups     map[sarifKey]*sarifLookup
	places      map[sarifPlaceKey]*sarifPlace
	next        sarifResult // which is read now; its memory is used again
	looked      bool
}

// sarifLookup is a reference that many results share, with the rule that it
// leads to.
type sarifLookup struct {
	ref  sarifRuleRef
	rule *sarifRule
}

// sarifKey and sarifPlaceKey identify references; -1 is not a number.
type (
	sarifKey struct {
		id, guid, component string
		index, number       int
	}
	sarifPlaceKey struct {
		uri, base string
		index     int
	}
)

func orNone(i *int) int {
	if i == nil {
		return -1
	}
	return *i
}

// lookup returns the one copy of the reference.
func (r *sarifRun) lookup(ref sarifRuleRef) *sarifLookup {
	key := sarifKey{id: ref.ID, guid: ref.GUID, index: orNone(ref.Index), number: -1}
	if c := ref.ToolComponent; c != nil {
		key.component, key.number = c.GUID+"\x00"+c.Name, orNone(c.Index)
	}
	l := r.lookups[key]
	if l == nil {
		if ref.Index != nil { // its memory is used again
			ref.Index = new(*ref.Index)
		}
		l = &sarifLookup{ref: ref}
		r.lookups[key] = l
	}
	return l
}

// place returns the one copy of the place.
func (r *sarifRun) place(p sarifPlace) *sarifPlace {
	key := sarifPlaceKey{p.URI, p.Base, orNone(p.Index)}
	kept := r.places[key]
	if kept == nil {
		kept = &p
		r.places[key] = kept
	}
	return kept
}

// sarifPending is what is still missing from a finding.
type sarifPending struct {
	rule       *sarifLookup
	place      *sarifPlace   // nil unknown
	message    *sarifMessage // nil if the text is there
	level      metric.Level  // 0 if the rule has it
	invocation int32         // -1 unknown
}

func (r *sarifRun) artifact(j *jsonstream.Reader) error {
	var a struct {
		Location sarifPlace `json:"location"`
	}
	err := j.Value(&a)
	a.Location.URI = r.names.Of(a.Location.URI)
	r.artifacts = append(r.artifacts, a.Location)
	return err
}

func (r *sarifRun) result(j *jsonstream.Reader) error {
	res := &r.next
	*res = sarifResult{RuleIndex: -1, Locations: res.Locations[:0]}
	if err := j.Value(res); err != nil {
		return err
	}
	level, known := sarifKinds[res.Kind]
	if res.suppressed() || res.BaselineState == "absent" || known && level == 0 {
		return nil
	}
	if !known && res.Level != "" {
		level = sarifLevel(res.Level)
	}
	p := sarifPending{rule: r.lookup(res.ruleRef()), level: level, invocation: -1}
	if res.Provenance != nil {
		p.invocation = int32(min(math.MaxInt32, orNone(res.Provenance.InvocationIndex)))
	}
	r.add(p, &res.Message, res.Locations)
	return nil
}

func sarifLevel(name string) metric.Level {
	if l, ok := sarifLevels[name]; ok {
		return l
	}
	return metric.Error
}

// suppressed reports whether the result has suppressions and each of them counts: as
// long as one waits for approval or was rejected, it does not (SARIF 2.1.0, 3.27.23).
func (res *sarifResult) suppressed() bool {
	for _, s := range res.Suppressions {
		if s.Status == "underReview" || s.Status == "rejected" {
			return false
		}
	}
	return len(res.Suppressions) > 0
}

func (res *sarifResult) ruleRef() sarifRuleRef {
	ref := sarifRuleRef{}
	if res.Rule != nil {
		ref = *res.Rule
	}
	ref.ID = cmp.Or(ref.ID, res.RuleID)
	if ref.Index == nil && res.RuleIndex >= 0 {
		ref.Index = &res.RuleIndex
	}
	return ref
}

// add keeps a finding and what is missing from it.
func (r *sarifRun) add(p sarifPending, m *sarifMessage, locations []sarifLocation) {
	f := metric.Finding{}
	if len(locations) > 0 {
		at := &locations[0].PhysicalLocation
		p.place = r.place(at.ArtifactLocation)
		f.Line, f.Column = max(0, at.Region.StartLine), max(0, at.Region.StartColumn)
		f.Text = textstream.ClipText(textstream.FirstLine(at.Region.Snippet.Text))
	}
	if f.Message = m.fill(cmp.Or(m.Text, m.Markdown)); f.Message == "" {
		p.message = new(*m)
	}
	r.lint.Findings = parsed.Keep(r.lint.Findings, f)
	r.pending = append(r.pending, p)
}

// end completes the findings with what other parts of the run say.
func (r *sarifRun) end(j *jsonstream.Reader) {
	for _, inv := range r.invocations {
		r.notifications(inv.Execution, false)
		r.notifications(inv.Configuration, true)
	}
	tool := r.tool.Driver.Name
	r.producer = cmp.Or(r.producer, tool)
	r.lint.Heard(tool)
	r.tool.index()
	for _, l := range r.lookups {
		l.rule = r.tool.rule(l.ref)
	}
	for _, p := range r.places {
		p.path = r.file(*p)
	}
	for i, p := range r.pending {
		f := &r.lint.Findings[r.first+i]
		rule := p.rule.rule
		f.Tool, f.Rule = tool, cmp.Or(p.rule.ref.ID, rule.ID)
		if p.place != nil {
			f.File = p.place.path
		}
		f.Level = r.level(p, rule)
		f.Type = f.Level == metric.Error && parsed.TypeError(tool, f.Rule)
		if p.message != nil {
			f.Message = p.message.fill(cmp.Or(rule.Messages[p.message.ID].Text, r.tool.Driver.Messages[p.message.ID].Text,
				rule.Short.Text, rule.Full.Text, p.message.ID))
		}
	}
	r.compilers()
	r.success(j)
}

// sarifHarmless are errors of a run that are not failures of it: SpotBugs misses
// classes that a library needs, and continues. Its XML has them as a remark.
var sarifHarmless = map[string]bool{"spotbugs-missing-classes": true}

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
			list = append(list, parsed.Compiled(f)...)
		} else {
			list = append(list, f)
		}
	}
	r.lint.Findings = list
}

// notifications takes what a tool calls an error of its run, and warnings
// about the comments in a file that configure it: eslint reports useless ones
// in this way.
func (r *sarifRun) notifications(list []sarifNotification, configuration bool) {
	for _, n := range list {
		if sarifHarmless[n.Descriptor.ID] {
			continue
		}
		if n.Level == "error" || configuration && n.Level == "warning" && len(n.Locations) > 0 {
			ref := n.Descriptor
			ref.ID = cmp.Or(ref.ID, n.Associated.ID)
			r.add(sarifPending{rule: r.lookup(ref), level: sarifLevel(n.Level), invocation: -1}, &n.Message, n.Locations)
		}
	}
}

func (r *sarifRun) level(p sarifPending, rule *sarifRule) metric.Level {
	if p.level != 0 {
		return p.level
	}
	level := ""
	if i := int(p.invocation); i >= 0 && i < len(r.invocations) {
		for _, o := range r.invocations[i].Overrides {
			if rule != noRule && r.tool.rule(o.Descriptor) == rule {
				level = o.Configuration.Level
			}
		}
	}
	return sarifLevel(cmp.Or(level, rule.Config.Level, "warning"))
}

// success distinguishes what "executionSuccessful: false" means: a tool that met
// errors, as compilers say it, or a tool that could not do its work. The latter
// has an error without a place in a file, or no finding at all.
func (r *sarifRun) success(j *jsonstream.Reader) {
	tool := cmp.Or(r.tool.Driver.Name, "the tool")
	for _, inv := range r.invocations {
		if inv.Successful == nil || *inv.Successful {
			continue
		}
		why := ""
		for _, n := range append(inv.Execution, inv.Configuration...) {
			if n.Level == "error" && len(n.Locations) == 0 && !sarifHarmless[n.Descriptor.ID] {
				why = cmp.Or(n.Message.Text, n.Descriptor.ID, "it does not say why")
			}
		}
		if why == "" && len(r.pending) == 0 {
			why = "it does not say why"
		}
		if why != "" {
			r.failed = j.Error("%s says that it did not run to its end: %s", tool, textstream.ClipText(why))
			return
		}
		r.lint.Problems.Add("%s says that its run was not successful", tool)
	}
	if !r.looked && len(r.pending) == 0 && len(r.invocations) == 0 {
		r.lint.Problems.Add("%s wrote a run without results: it may not have looked for any", tool)
	}
}
