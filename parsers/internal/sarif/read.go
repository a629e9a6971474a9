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

// sarifResult is what is read of one result of SARIF 2.1.0:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/. Everything else of a result,
// its code flows above all, is passed over.
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
	path  string // see [sarifRun.file]
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

// sarifKinds are the kinds of results that are not failures: those of level 0
// are not counted, the others are notes.
var sarifKinds = map[string]metric.Level{
	"pass": 0, "notApplicable": 0,
	"open": metric.Note, "review": metric.Note, "informational": metric.Note,
}

func detectSARIF(h sniff.Head) bool {
	return h.HasMembers("runs.[].tool") || h.HasMembers("runs.[].results") || h.HasMembers("runs") && (h.HasMembers("version") || h.HasMembers("$schema")) ||
		h.HasMembers("version", "$schema") && strings.Contains(string(h.Text), "sarif")
}

// parseSARIF reads SARIF 2.1.0. The level of a result is its own, else that of
// its rule, else warning. Suppressed results, those that passed and those that
// are gone since the baseline are not counted. What a tool calls an error of
// its own run is an Error; a run that failed completely is an error.
func parseSARIF(r io.Reader) (parsed.Report, error) {
	s := sarif{lint: parsed.NewFindingSet(), names: parsed.Interner{}}
	noise, err := jsonstream.ReadDocuments(r, s.document)
	err = cmp.Or(err, s.failed)
	return s.lint.Report(s.producer, noise, err)
}

// sarif reads a report run by run.
type sarif struct {
	lint     *parsed.FindingSet
	names    parsed.Interner
	producer string
	failed   error // a run was not successful
}

func (s *sarif) document(j *jsonstream.Reader) error {
	found := false
	err := parsed.Members(j, map[string]any{
		"version": func() error {
			version, err := j.Text()
			if err == nil && !strings.HasPrefix(version, "2.1") {
				err = j.Error("SARIF version %q is not read, only 2.1.0 is", version)
			}
			return err
		},
		"runs": func() error {
			found = true
			return j.Array(func() error { return s.run(j) })
		},
		"inlineExternalProperties": func() error { return s.external(j, j.Array) },
	})
	if err == nil && !found {
		err = j.Error("there are no runs in the SARIF document")
	}
	return err
}

// external refuses results outside of their run.
func (s *sarif) external(j *jsonstream.Reader, each func(func() error) error) error {
	return each(func() error {
		return parsed.Members(j, map[string]any{"results": func() error {
			return j.Error("its results are outside of the run and are not read: write them into one file")
		}})
	})
}

func (s *sarif) run(j *jsonstream.Reader) error {
	run := sarifRun{sarif: s, first: len(s.lint.Findings), lookups: map[sarifKey]*sarifLookup{}, places: map[sarifPlaceKey]*sarifPlace{}}
	err := parsed.Members(j, map[string]any{
		"tool": &run.tool, "invocations": &run.invocations, "originalUriBaseIds": &run.bases,
		"results": func() error {
			run.looked = j.Kind() == '['
			return j.Array(func() error { return run.result(j) })
		},
		"artifacts": func() error { return j.Array(func() error { return run.artifact(j) }) },
		"externalPropertyFileReferences": func() error {
			return s.external(j, func(f func() error) error { return f() })
		},
	})
	run.end(j)
	return err
}
