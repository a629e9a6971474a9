package gotool

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// splitPlace splits "file:line:column". A missing line or column is 0.
func splitPlace(s string) (file string, line, column int) {
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(s, ':')
		n, err := strconv.Atoi(s[i+1:])
		if i < 0 || err != nil || n < 0 {
			break
		}
		numbers, s = append(numbers, n), s[:i]
	}
	switch len(numbers) {
	case 2:
		return parsed.ToSlash(s), numbers[1], numbers[0]
	case 1:
		return parsed.ToSlash(s), numbers[0], 0
	}
	return parsed.ToSlash(s), 0, 0
}

// vetDiagnostic is one finding in the output of go vet -json.
type vetDiagnostic struct {
	Posn    string `json:"posn"`
	Message string `json:"message"`
}

// detectVetJSON requires the headers of packages for a report without findings, since {}
// could be anything.
func detectVetJSON(h sniff.Head) bool {
	return h.HasMembers("*.*.[].posn") || h.Value == "{" && !h.HasMembers("*") && h.MatchesLine(parsed.GoHeaderPattern.MatchString)
}

// parseVetJSON reads objects {package: {analyzer: [finding]}} with lines of the text of go
// vet between them.
func parseVetJSON(r io.Reader) (parsed.Report, error) {
	v := vetReader{text: parsed.GoDiagnostics{Tool: "go vet", AllowUnplaced: true}, lint: &metric.Lint{Tools: []string{"go vet"}, Findings: []metric.Finding{}}}
	err := textstream.EachLine(r, v.readLine)
	v.lint.Findings = append(v.lint.Findings, v.text.Lint().Findings...)
	if err == nil && v.err == nil && len(v.object) > 0 {
		v.err = &parsed.SyntaxError{Line: v.first, Offset: v.offset, Problem: "the report ends in the middle of an object: go vet was stopped, or its output was cut off"}
	}
	return parsed.Report{Producer: "go vet", Lint: v.lint, Problems: v.problems.All()}, errors.Join(err, v.err)
}

// errTooLong is the problem of an object above [jsonstream.MaxValue].
const errTooLong = "one object is longer than 32 MiB: no report is like that"

// vetReader collects the lines of one object, and decodes it at its end. go vet writes the
// braces of an object on separate lines.
type vetReader struct {
	lint     *metric.Lint         // the findings of all objects
	text     parsed.GoDiagnostics // reads the lines between the objects
	object   []byte               // the lines of the open object, empty between objects
	first    int                  // line number of the open object
	offset   int64                // where the open object starts, in bytes
	err      error                // ends the reading
	problems textstream.Problems
}

// readLine adds a line to the open object, or reads it as text of go vet.
func (v *vetReader) readLine(l textstream.Line) {
	switch {
	case v.err != nil:
	case len(v.object) == 0 && !bytes.HasPrefix(l.Text, []byte("{")):
		v.text.ReadLine(string(l.Text[:min(len(l.Text), parsed.MaxLine)]))
	default:
		if len(v.object) == 0 {
			v.first, v.offset = l.Number, l.Offset
		}
		v.object = append(append(v.object, l.Text...), '\n')
		if bytes.HasPrefix(l.Text, []byte("}")) || bytes.Equal(l.Text, []byte("{}")) {
			v.decodeObject()
		} else if len(v.object) > jsonstream.MaxValue {
			v.err = &parsed.SyntaxError{Line: v.first, Offset: v.offset, Problem: errTooLong}
		}
	}
}

// decodeObject adds the findings of the complete object, ordered by package and analyzer.
func (v *vetReader) decodeObject() {
	var packages map[string]map[string]jsonstream.Raw
	if err := jsonstream.Unmarshal(v.object, &packages); err != nil {
		v.err = &parsed.SyntaxError{Line: v.first, Offset: v.offset, Problem: err.Error()}
		return
	}
	v.object = v.object[:0]
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		for _, analyzer := range slices.Sorted(maps.Keys(packages[pkg])) {
			v.addDiagnostics(analyzer, packages[pkg][analyzer])
		}
	}
}

// addDiagnostics adds the findings of an analyzer. If it has an error in place of a list, the
// analyzer could not run, which is a problem.
func (v *vetReader) addDiagnostics(analyzer string, raw jsonstream.Raw) {
	var list []vetDiagnostic
	if err := jsonstream.Unmarshal(raw, &list); err != nil { // {"error": "…"}
		v.problems.Add("%s could not run: %s", analyzer, textstream.CleanText(string(raw)))
		return
	}
	for _, d := range list {
		file, line, column := splitPlace(d.Posn)
		v.lint.Findings = append(v.lint.Findings, metric.Finding{
			Tool: "go vet", Rule: analyzer, Level: metric.Error, File: file, Line: line, Column: column, Message: textstream.CleanText(d.Message),
		})
	}
}
