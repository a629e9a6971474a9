// Package sarif reads SARIF 2.1.0, a format that many linters can write:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
//
// A report has runs, and a run has results, which are the findings. A result may refer to
// rules, files and invocations that follow it in the report. So each finding is added with what
// is known, and is completed at the end of its run (run.go). The rule and the path that a
// result refers to are found in rule.go.
package sarif

import (
	"cmp"
	"io"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// Formats lists the one format of this package.
var Formats = parsed.SetKind(parsed.LintReport, parsed.JSON, []parsed.Format{{
	Name: "sarif", Detect: detectSARIF, Parse: parseSARIF, Marks: "`runs` with `version` or `$schema`, `runs[].tool`, `runs[].results`", Tools: "every tool that writes SARIF 2.1.0",
	Note: "The level is that of the result, else of an override, else of the rule, else warning; none, open, review and informational are notes; pass and notApplicable do not count. Accepted suppressions and results absent since the baseline do not count. Notifications of level error are errors. Paths are relative to the outermost `uriBaseId`; only the first location counts. Refused: external files, versions before 2.1, an unsuccessful run with an error without a place or without results.",
}})

// sarifResult has the members of a result that are read. All others, such as code flows, are
// skipped.
type sarifResult struct {
	RuleID        string          `json:"ruleId"`
	RuleIndex     int             `json:"ruleIndex"` // -1 for none
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

// sarifRuleRef refers to a rule, or to a component of a tool.
type sarifRuleRef struct {
	ID            string        `json:"id"`
	Name          string        `json:"name"`
	GUID          string        `json:"guid"`
	Index         *int          `json:"index"`
	ToolComponent *sarifRuleRef `json:"toolComponent"`
}

// sarifMessage is a text, or refers to a text of the rule by its ID. Arguments replace the
// placeholders in the text.
type sarifMessage struct {
	Text      string   `json:"text"`
	Markdown  string   `json:"markdown"`
	ID        string   `json:"id"`
	Arguments []string `json:"arguments"`
}

// sarifLocation is a place in a file. A missing line or column is 0.
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

// sarifPlace names a file: by a URI, which may be relative to a base, or by its index in the
// artifacts of the run.
type sarifPlace struct {
	URI   string `json:"uri"`
	Base  string `json:"uriBaseId"`
	Index *int   `json:"index"`
	path  string // see [sarifRun.filePath]
}

// sarifNotification is a message of a tool about its own run.
type sarifNotification struct {
	Descriptor sarifRuleRef    `json:"descriptor"`
	Associated sarifRuleRef    `json:"associatedRule"`
	Level      string          `json:"level"`
	Message    sarifMessage    `json:"message"`
	Locations  []sarifLocation `json:"locations"`
}

// sarifInvocation describes how the tool ran, and the levels that this run gives to rules.
type sarifInvocation struct {
	Successful    *bool               `json:"executionSuccessful"`
	Execution     []sarifNotification `json:"toolExecutionNotifications"`
	Configuration []sarifNotification `json:"toolConfigurationNotifications"`
	Overrides     []struct {
		Descriptor    sarifRuleRef `json:"descriptor"`
		Configuration sarifConfig  `json:"configuration"`
	} `json:"ruleConfigurationOverrides"`
}

// sarifLevels maps the levels of SARIF.
var sarifLevels = map[string]metric.Level{
	"error": metric.Error, "warning": metric.Warning, "note": metric.Note, "none": metric.Note,
}

// sarifKinds maps the kinds of results that are not failures. Those with the level 0 are not
// counted.
var sarifKinds = map[string]metric.Level{
	"pass": 0, "notApplicable": 0,
	"open": metric.Note, "review": metric.Note, "informational": metric.Note,
}

// detectSARIF reports whether the head has the runs of SARIF. A report may have a version and
// no runs.
func detectSARIF(h sniff.Head) bool {
	isVersioned := h.HasMembers("version") || h.HasMembers("$schema")
	isEmpty := h.HasMembers("version", "$schema") && strings.Contains(string(h.Text), "sarif")
	return h.HasMembers("runs.[].tool") || h.HasMembers("runs.[].results") || h.HasMembers("runs") && isVersioned || isEmpty
}

// parseSARIF reads SARIF 2.1.0. The level of a result is its own, otherwise that of its rule,
// otherwise warning. Results that are suppressed, passed or absent since the baseline are not
// counted. A notification of level error is an Error. If the run itself failed, parseSARIF
// returns an error.
func parseSARIF(r io.Reader) (parsed.Report, error) {
	s := reader{lint: parsed.NewFindingSet(), names: parsed.Interner{}}
	noise, err := jsonstream.ReadDocuments(r, s.readDocument)
	err = cmp.Or(err, s.failed)
	return s.lint.Report(s.producer, noise, err)
}

// reader reads a report run by run, and collects the findings of all runs.
type reader struct {
	lint     *parsed.FindingSet
	names    parsed.Interner // stored copies of paths
	producer string          // the tool of the first run
	failed   error           // a run was not successful
}

// readDocument reads one document. It is an error if the version is not 2.1 or if it has no
// runs.
func (r *reader) readDocument(j *jsonstream.Reader) error {
	found := false
	err := parsed.ReadMembers(j, map[string]any{
		"version": func() error {
			version, err := j.Text()
			if err == nil && !strings.HasPrefix(version, "2.1") {
				err = j.Error("SARIF version %q is not read, only 2.1.0 is", version)
			}
			return err
		},
		"runs": func() error {
			found = true
			return j.Array(func() error { return r.readRun(j) })
		},
		"inlineExternalProperties": func() error { return r.refuseExternal(j, j.Array) },
	})
	if err == nil && !found {
		err = j.Error("there are no runs in the SARIF document")
	}
	return err
}

// refuseExternal returns an error for results outside of their run. Each calls a function
// for every value with such results.
func (r *reader) refuseExternal(j *jsonstream.Reader, each func(func() error) error) error {
	return each(func() error {
		return parsed.ReadMembers(j, map[string]any{"results": func() error {
			return j.Error("its results are outside of the run and are not read: write them into one file")
		}})
	})
}

// readRun reads a run and completes its findings.
func (r *reader) readRun(j *jsonstream.Reader) error {
	run := sarifRun{reader: r, firstFinding: len(r.lint.Findings), lookups: map[sarifKey]*sarifLookup{}, places: map[sarifPlaceKey]*sarifPlace{}}
	err := parsed.ReadMembers(j, map[string]any{
		"tool": &run.tool, "invocations": &run.invocations, "originalUriBaseIds": &run.bases,
		"results": func() error {
			run.hasResults = j.Kind() == '['
			return j.Array(func() error { return run.readResult(j) })
		},
		"artifacts": func() error { return j.Array(func() error { return run.readArtifact(j) }) },
		"externalPropertyFileReferences": func() error {
			return r.refuseExternal(j, func(f func() error) error { return f() })
		},
	})
	run.complete(j)
	return err
}
