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

// sarifRun reads one run. The description of its tool may follow its results, so the
// findings are completed at its end.
type sarifRun struct {
	*reader
	tool         sarifTool
	invocations  []sarifInvocation
	bases        map[string]sarifPlace         // the folders that paths are relative to, by name
	artifacts    []sarifPlace                  // the files, to which places refer by index
	firstFinding int                           // index of its first finding in the report
	pending      []sarifPending                // what completes each finding, in the order of the findings
	lookups      map[sarifKey]*sarifLookup     // references to rules
	places       map[sarifPlaceKey]*sarifPlace // references to files
	result       sarifResult                   // memory for the current result
	hasResults   bool                          // the run has a list of results, which may be empty
}

// sarifLookup is a reference to a rule, which many results share. The rule is set at the end of
// the run.
type sarifLookup struct {
	ref  sarifRuleRef
	rule *sarifRule
}

// sarifKey and sarifPlaceKey identify references. A missing number is -1.
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

// indexOrNone returns the index, -1 for nil.
func indexOrNone(i *int) int {
	if i == nil {
		return -1
	}
	return *i
}

// sharedLookup returns the lookup that all equal references share.
func (r *sarifRun) sharedLookup(ref sarifRuleRef) *sarifLookup {
	key := sarifKey{id: ref.ID, guid: ref.GUID, index: indexOrNone(ref.Index), number: -1}
	if c := ref.ToolComponent; c != nil {
		key.component, key.number = c.GUID+"\x00"+c.Name, indexOrNone(c.Index)
	}
	l := r.lookups[key]
	if l == nil {
		if ref.Index != nil { // the memory of the result is reused
			ref.Index = new(*ref.Index)
		}
		l = &sarifLookup{ref: ref}
		r.lookups[key] = l
	}
	return l
}

// sharedPlace returns the place that all equal places share.
func (r *sarifRun) sharedPlace(p sarifPlace) *sarifPlace {
	key := sarifPlaceKey{p.URI, p.Base, indexOrNone(p.Index)}
	shared := r.places[key]
	if shared == nil {
		shared = &p
		r.places[key] = shared
	}
	return shared
}

// sarifPending has what is needed to complete a finding at the end of the run.
type sarifPending struct {
	rule       *sarifLookup
	place      *sarifPlace   // nil if it is not known
	message    *sarifMessage // nil if the finding has its text
	level      metric.Level  // 0 for the level of the rule
	invocation int32         // index of its invocation, -1 if it is not known
}

// readArtifact adds a file of the run.
func (r *sarifRun) readArtifact(j *jsonstream.Reader) error {
	var a struct {
		Location sarifPlace `json:"location"`
	}
	err := j.Value(&a)
	a.Location.URI = r.names.Intern(a.Location.URI)
	r.artifacts = append(r.artifacts, a.Location)
	return err
}

// readResult adds a result as a finding, unless it passed, is suppressed, or is absent since
// the baseline.
func (r *sarifRun) readResult(j *jsonstream.Reader) error {
	res := &r.result
	*res = sarifResult{RuleIndex: -1, Locations: res.Locations[:0]}
	if err := j.Value(res); err != nil {
		return err
	}
	level, known := sarifKinds[res.Kind]
	if res.isSuppressed() || res.BaselineState == "absent" || known && level == 0 {
		return nil
	}
	if !known && res.Level != "" {
		level = parseLevel(res.Level)
	}
	p := sarifPending{rule: r.sharedLookup(res.ruleReference()), level: level, invocation: -1}
	if res.Provenance != nil {
		p.invocation = int32(min(math.MaxInt32, indexOrNone(res.Provenance.InvocationIndex)))
	}
	r.addFinding(p, &res.Message, res.Locations)
	return nil
}

// parseLevel returns the level with the name. An unknown name is an error.
func parseLevel(name string) metric.Level { return cmp.Or(sarifLevels[name], metric.Error) }

// isSuppressed reports whether the result has suppressions, all of which are accepted
// (SARIF 2.1.0, 3.27.23).
func (res *sarifResult) isSuppressed() bool {
	for _, s := range res.Suppressions {
		if s.Status == "underReview" || s.Status == "rejected" {
			return false
		}
	}
	return len(res.Suppressions) > 0
}

// ruleReference returns the reference to the rule, which a result may have in one object or in
// two members. The result owns the index in it.
func (res *sarifResult) ruleReference() sarifRuleRef {
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

// addFinding adds a finding and what is needed to complete it.
func (r *sarifRun) addFinding(p sarifPending, m *sarifMessage, locations []sarifLocation) {
	f := metric.Finding{}
	if len(locations) > 0 {
		at := &locations[0].PhysicalLocation
		p.place = r.sharedPlace(at.ArtifactLocation)
		f.Line, f.Column = max(0, at.Region.StartLine), max(0, at.Region.StartColumn)
		f.Text = textstream.ClipText(textstream.FirstLine(at.Region.Snippet.Text))
	}
	if f.Message = m.format(cmp.Or(m.Text, m.Markdown)); f.Message == "" {
		p.message = new(*m)
	}
	r.lint.Findings = parsed.AppendLimited(r.lint.Findings, f)
	r.pending = append(r.pending, p)
}

// complete completes the findings with the tool, invocations and artifacts of the run.
func (r *sarifRun) complete(j *jsonstream.Reader) {
	for _, inv := range r.invocations {
		r.addNotifications(inv.Execution, false)
		r.addNotifications(inv.Configuration, true)
	}

	tool := r.tool.Driver.Name
	r.producer = cmp.Or(r.producer, tool)
	r.lint.AddTool(tool)
	r.tool.index()

	for _, l := range r.lookups {
		l.rule = r.tool.findRule(l.ref)
	}
	for _, p := range r.places {
		p.path = r.filePath(*p)
	}

	for i, p := range r.pending {
		f := &r.lint.Findings[r.firstFinding+i]
		rule := p.rule.rule
		f.Tool, f.Rule = tool, cmp.Or(p.rule.ref.ID, rule.ID)
		if p.place != nil {
			f.File = p.place.path
		}
		f.Level = r.levelOf(p, rule)
		f.Type = f.Level == metric.Error && parsed.IsTypeError(tool, f.Rule)
		if p.message != nil {
			f.Message = p.message.format(cmp.Or(rule.Messages[p.message.ID].Text, r.tool.Driver.Messages[p.message.ID].Text,
				rule.Short.Text, rule.Full.Text, p.message.ID))
		}
	}

	r.splitCompilerFindings()
	r.checkSuccess(j)
}

// harmlessNotifications are notifications of level error about runs that did not fail:
// SpotBugs continues without the classes that a library needs. Its XML has a remark.
var harmlessNotifications = map[string]bool{"spotbugs-missing-classes": true}

// compilerRules are the rules with which linters report compiler output. It is an error,
// whatever its level is.
var compilerRules = map[string]bool{"compile": true, "typecheck": true}

// splitCompilerFindings replaces each finding of [compilerRules] with those in its message.
func (r *sarifRun) splitCompilerFindings() {
	found := r.lint.Findings[r.firstFinding:]
	if !slices.ContainsFunc(found, func(f metric.Finding) bool { return compilerRules[f.Rule] }) {
		return
	}
	list := r.lint.Findings[:r.firstFinding:r.firstFinding]
	for _, f := range found {
		if compilerRules[f.Rule] {
			f.Level, f.Type, f.Message = metric.Error, true, strings.TrimPrefix(f.Message, ": ")
			list = append(list, parsed.SplitCompilerOutput(f)...)
		} else {
			list = append(list, f)
		}
	}
	r.lint.Findings = list
}

// addNotifications adds notifications of level error as findings. It also adds warnings about
// comments in files that configure the tool, such as useless ones of eslint.
func (r *sarifRun) addNotifications(list []sarifNotification, configuration bool) {
	for _, n := range list {
		if harmlessNotifications[n.Descriptor.ID] {
			continue
		}
		isCommentWarning := configuration && n.Level == "warning" && len(n.Locations) > 0
		if n.Level == "error" || isCommentWarning {
			ref := n.Descriptor
			ref.ID = cmp.Or(ref.ID, n.Associated.ID)
			r.addFinding(sarifPending{rule: r.sharedLookup(ref), level: parseLevel(n.Level), invocation: -1}, &n.Message, n.Locations)
		}
	}
}

// levelOf returns the level of a finding: its own, else that of an override in its invocation,
// else that of its rule, else warning.
func (r *sarifRun) levelOf(p sarifPending, rule *sarifRule) metric.Level {
	if p.level != 0 {
		return p.level
	}
	level := ""
	if i := int(p.invocation); i >= 0 && i < len(r.invocations) {
		for _, o := range r.invocations[i].Overrides {
			if rule != noRule && r.tool.findRule(o.Descriptor) == rule {
				level = o.Configuration.Level
			}
		}
	}
	return parseLevel(cmp.Or(level, rule.Config.Level, "warning"))
}

// checkSuccess handles "executionSuccessful: false". Compilers write it if they found errors.
// Otherwise the tool could not do its work: there is an error without a place in a file,
// or no finding at all.
func (r *sarifRun) checkSuccess(j *jsonstream.Reader) {
	tool := cmp.Or(r.tool.Driver.Name, "the tool")
	for _, inv := range r.invocations {
		if inv.Successful == nil || *inv.Successful {
			continue
		}

		why := ""
		for _, n := range append(inv.Execution, inv.Configuration...) {
			if n.Level == "error" && len(n.Locations) == 0 && !harmlessNotifications[n.Descriptor.ID] {
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

	if !r.hasResults && len(r.pending) == 0 && len(r.invocations) == 0 {
		r.lint.Problems.Add("%s wrote a run without results: it may not have looked for any", tool)
	}
}
