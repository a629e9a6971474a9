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

// object is a JSON object of a format that this package only writes.
type object map[string]any

// SARIF writes the findings above INFO as SARIF 2.1.0, as far as GitHub reads it. Every result
// has one location, as GitHub requires; fallback is the file for findings without one. version is
// that of supervise.
func (r Report) SARIF(w io.Writer, version, fallback string) error {
	rules, results := []object{}, []object{}
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if f.Severity <= detector.Info {
			continue
		}
		if !seen[f.Rule] {
			seen[f.Rule] = true
			rules = append(rules, object{"id": f.Rule})
		}
		for _, p := range locationsOf(f) {
			if len(results) < maxResults {
				results = append(results, sarifResult(f, p, fallback))
			}
		}
	}
	driver := object{"name": "supervise", "rules": rules}
	if version != "" {
		driver["version"] = version
	}
	return writeJSON(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "results": results}},
	})
}

// sarifResult returns the result for a finding at one of its locations. Without a region, the
// location is the complete file.
func sarifResult(f Finding, p Location, fallback string) object {
	location := object{"artifactLocation": object{"uri": cmp.Or(p.File, fallback)}}
	if p.Line > 0 && !p.Removed {
		location["region"] = object{"startLine": p.Line}
	}
	out := object{
		"ruleId": f.Rule, "level": strings.Replace(annotationLevel(f), "notice", "note", 1),
		"message":             object{"text": findingMessage(f, p)},
		"locations":           []object{{"physicalLocation": location}},
		"partialFingerprints": object{"supervise/v1": fingerprint(f, p)},
		"properties":          object{"basis": f.Basis},
	}
	if f.Acknowledged != "" {
		out["suppressions"] = []object{{"kind": "external", "justification": "acknowledged as " + f.Acknowledged}}
	}
	return out
}

// fingerprint identifies a finding at a location. It does not depend on the line, so that it
// stays the same when the lines above change.
func fingerprint(f Finding, p Location) string {
	sum := sha256.Sum256([]byte(f.ID + "\x00" + p.File + "\x00" + p.Note))
	return hex.EncodeToString(sum[:16])
}

// gitlabSeverity maps severities to their names in GitLab.
var gitlabSeverity = map[detector.Severity]string{
	detector.Critical: "blocker", detector.High: "critical", detector.Medium: "major", detector.Low: "minor", detector.Info: "info",
}

// GitLab writes the open findings as a Code Quality report. fallback is the file for findings
// without one.
func (r Report) GitLab(w io.Writer, fallback string) error {
	out := []object{}
	for _, f := range r.OpenFindings() {
		for _, p := range locationsOf(f) {
			line := 1
			if p.Line > 0 && !p.Removed {
				line = p.Line
			}
			out = append(out, object{
				"description": findingMessage(f, p), "check_name": f.Rule, "fingerprint": fingerprint(f, p), "severity": gitlabSeverity[f.Severity],
				"location": object{"path": cmp.Or(p.File, fallback), "lines": object{"begin": line}},
			})
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
	if !r.Criterion.holds() {
		t.Cases = append(t.Cases, metric.Test{ID: metric.ID{Suite: "supervise", Class: "criterion", Name: textstream.EscapeLog(r.Criterion.Command)}, Status: metric.Failed, Message: textstream.EscapeLog(r.Criterion.String())})
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
