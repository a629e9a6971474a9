package mergegate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"supervise/detector"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers"
)

// maxResults limits the results in a SARIF file. GitHub shows 5 000 of them, and accepts 25 000.
const maxResults = 5_000

// sarif is a file in the format SARIF 2.1.0, as far as GitHub reads it. The types below are its
// parts, with the names of the standard.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

// sarifRun has the tool, with the rules of all results, and the results.
type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			Version string      `json:"version,omitempty"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

// sarifRule is a rule that has a result.
type sarifRule struct {
	ID string `json:"id"`
}

// sarifResult is a finding at one location.
type sarifResult struct {
	RuleID  string `json:"ruleId"`
	Level   string `json:"level"`
	Message struct {
		Text string `json:"text"`
	} `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   struct {
		Basis detector.Basis `json:"basis"`
	} `json:"properties"`
}

// sarifSuppression says why a result does not count.
type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification,omitempty"`
}

// sarifLocation is a line of a file, or the complete file if it has no region.
type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

// sarifRegion is the line of a location.
type sarifRegion struct {
	StartLine int `json:"startLine"`
}

// SARIF writes the findings above INFO as SARIF 2.1.0. Every result has one location, as GitHub
// requires; fallback is the file for findings without one. version is that of supervise.
func (r Report) SARIF(w io.Writer, version, fallback string) error {
	doc := sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: make([]sarifRun, 1)}
	run := &doc.Runs[0]
	run.Results = []sarifResult{}
	driver := &run.Tool.Driver
	driver.Name, driver.Version, driver.Rules = "supervise", version, []sarifRule{}
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity <= detector.Info {
			continue
		}
		if !seen[f.Rule] {
			seen[f.Rule] = true
			driver.Rules = append(driver.Rules, sarifRule{f.Rule})
		}
		for _, p := range locationsOf(f) {
			if len(run.Results) < maxResults {
				run.Results = append(run.Results, toSARIFResult(f, p, fallback))
			}
		}
	}
	return writeJSON(w, doc)
}

// toSARIFResult returns the result for a finding at one of its locations.
func toSARIFResult(f Finding, p Location, fallback string) sarifResult {
	out := sarifResult{RuleID: f.Rule, Level: strings.Replace(annotationLevel(f), "notice", "note", 1)}
	out.Message.Text, out.Properties.Basis = findingMessage(f, p), f.Basis
	var location sarifLocation
	location.Physical.Artifact.URI = cmp.Or(p.File, fallback)
	if p.Line > 0 && !p.Removed {
		location.Physical.Region = &sarifRegion{p.Line}
	}
	out.Locations = []sarifLocation{location}
	out.Fingerprints = map[string]string{"supervise/v1": fingerprint(f, p)}
	if f.Acknowledged != "" {
		out.Suppressions = []sarifSuppression{{Kind: "external", Justification: "acknowledged as " + f.Acknowledged}}
	}
	return out
}

// fingerprint identifies a finding at a location. It does not depend on the line, so that it
// stays the same when the lines above change.
func fingerprint(f Finding, p Location) string {
	sum := sha256.Sum256([]byte(f.ID + "\x00" + p.File + "\x00" + p.Note))
	return hex.EncodeToString(sum[:16])
}

// codeQuality is a finding in a Code Quality report of GitLab.
type codeQuality struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// gitlabSeverity maps severities to their names in GitLab.
var gitlabSeverity = map[detector.Severity]string{
	detector.Critical: "blocker", detector.High: "critical", detector.Medium: "major", detector.Low: "minor", detector.Info: "info",
}

// GitLab writes the open findings as a Code Quality report. fallback is the file for findings
// without one.
func (r Report) GitLab(w io.Writer, fallback string) error {
	out := []codeQuality{}
	for _, f := range r.OpenFindings() {
		for _, p := range locationsOf(f) {
			c := codeQuality{Description: findingMessage(f, p), CheckName: f.Rule, Fingerprint: fingerprint(f, p), Severity: gitlabSeverity[f.Severity]}
			c.Location.Path, c.Location.Lines.Begin = cmp.Or(p.File, fallback), 1
			if p.Line > 0 && !p.Removed {
				c.Location.Lines.Begin = p.Line
			}
			out = append(out, c)
		}
	}
	return writeJSON(w, out)
}

// JUnit writes JUnit XML with a test for each finding, which fails if the finding blocks, and
// a test for the gate itself.
func (r Report) JUnit(w io.Writer) error {
	t := &metric.Tests{}
	gate := metric.Test{ID: metric.ID{Suite: "supervise", Name: "gate"}, Status: metric.Passed, Message: r.Summary()}
	if !r.Passed {
		gate.Status = metric.Failed
	}
	t.Cases = append(t.Cases, gate)
	for _, f := range r.Findings {
		text := textstream.EscapeLog(f.Message)
		c := metric.Test{ID: metric.ID{Suite: "supervise", Class: f.Rule, Name: text}, Status: metric.Skipped, Message: text}
		if f.Blocking {
			c.Status = metric.Failed
		}
		for _, p := range f.Locations {
			c.Message += textstream.EscapeLog("\n" + locationLine(p))
		}
		t.Cases = append(t.Cases, c)
	}
	for _, s := range r.Ratchet {
		t.Cases = append(t.Cases, metric.Test{ID: metric.ID{Suite: "supervise", Class: "ratchet", Name: string(s.Field)}, Status: metric.Failed, Message: s.String()})
	}
	return parsers.WriteJUnit(w, t)
}

// JSON writes the complete report.
func (r Report) JSON(w io.Writer) error { return writeJSON(w, r) }

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
