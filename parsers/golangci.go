package parsers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"supervise/metric"
)

// golangciIssue is one finding of golangci-lint, the same in versions 1 and 2.
type golangciIssue struct {
	FromLinter  string
	Text        string
	Severity    string
	SourceLines []string
	Pos         struct {
		Filename     string
		Line, Column int
	}
}

// golangciReport is what golangci-lint says about itself.
type golangciReport struct {
	Warnings []struct{ Tag, Text string }
	Linters  []struct {
		Name    string
		Enabled bool
	}
	Error string
}

// severities are the words for how grave a finding is. golangci-lint leaves
// the word out unless it is configured.
var severities = map[string]metric.Level{
	"": metric.Error, "error": metric.Error,
	"warning": metric.Warning, "warn": metric.Warning, "medium": metric.Warning, "minor": metric.Warning,
	"info": metric.Note, "note": metric.Note, "notice": metric.Note, "low": metric.Note, "hint": metric.Note, "ignore": metric.Note,
}

func levelOf(severity string) metric.Level {
	if l, ok := severities[strings.ToLower(severity)]; ok {
		return l
	}
	return metric.Error
}

func detectGolangci(head []byte) bool {
	at := golangciStart(head)
	return at >= 0 && golangciKeys.Match(head[at:])
}

// golangciKeys tell the report from others that have a list of issues.
var golangciKeys = regexp.MustCompile(`"FromLinter"|"Report"|^\{\s*"Issues"\s*:\s*(null|\[\s*\])\s*\}`)

// golangciStart finds the report behind what the tool may log before it.
func golangciStart(head []byte) int {
	for _, first := range []string{`"Issues"`, `"Report"`} {
		key := bytes.Index(head, []byte(first))
		if key < 0 {
			continue
		}
		if i := bytes.LastIndexByte(head[:key], '{'); i >= 0 && len(bytes.TrimSpace(head[i+1:key])) == 0 {
			return i
		}
	}
	return -1
}

func parseGolangci(r io.Reader) (Report, error) {
	src := bufio.NewReaderSize(r, headSize)
	head, err := src.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return Report{}, err
	}
	report := Report{Producer: "golangci-lint"}
	start := golangciStart(head)
	if start < 0 {
		return report, &SyntaxError{Problem: "there is no list of issues"}
	}
	var p problems
	if noise := cleanText(string(head[:start])); noise != "" {
		p.add("text before the report: %s", firstLine(noise))
	}
	_, _ = src.Discard(start) // the bytes are there: they were peeked
	l, err := readGolangci(newJSONReader(src), &p)
	report.Lint, report.Problems = l, p.all()
	return report, err
}

func readGolangci(j *jsonReader, p *problems) (*metric.Lint, error) {
	l := &metric.Lint{Findings: []metric.Finding{}}
	var about golangciReport
	err := j.members(func(name string) error {
		switch name {
		case "Issues":
			return j.items(func() error {
				var i golangciIssue
				if err := j.value(&i); err != nil {
					return err
				}
				l.Findings = append(l.Findings, i.findings()...)
				return nil
			})
		case "Report":
			return j.value(&about)
		}
		return j.skip()
	})
	l.Tools = about.tools(l.Findings)
	for _, w := range about.Warnings {
		p.add("golangci-lint warns: %s", strings.TrimSpace(w.Tag+" "+w.Text))
	}
	if err == nil && about.Error != "" {
		err = &SyntaxError{Problem: "golangci-lint says that it did not run to its end: " + cleanText(about.Error)}
	}
	return l, err
}

// findings returns what the issue says: one finding, except where it holds all
// that a compiler printed about a package.
func (i golangciIssue) findings() []metric.Finding {
	f := i.finding()
	var g goText
	for line := range strings.Lines(strings.TrimPrefix(i.Text, ": ")) {
		g.line(line)
	}
	if !f.Type || len(g.findings) == 0 {
		return []metric.Finding{f}
	}
	list := g.lint().Findings
	for n := range list {
		list[n].Tool, list[n].Rule = f.Tool, f.Rule
	}
	return list
}

func (i golangciIssue) finding() metric.Finding {
	f := metric.Finding{
		Tool: "golangci-lint", Rule: i.FromLinter, Level: levelOf(i.Severity), Type: i.FromLinter == "typecheck",
		File: i.Pos.Filename, Line: max(0, i.Pos.Line), Column: max(0, i.Pos.Column), Message: cleanText(i.Text),
	}
	if f.File != "" {
		f.File = slashed(f.File)
	}
	if len(i.SourceLines) > 0 {
		f.Text = cleanText(i.SourceLines[0])
	}
	return f
}

// tools lists golangci-lint and its linters that were enabled or heard.
func (r golangciReport) tools(findings []metric.Finding) []string {
	out := []string{"golangci-lint"}
	for _, l := range r.Linters {
		if l.Enabled {
			out = append(out, l.Name)
		}
	}
	for _, f := range findings {
		out = append(out, f.Rule)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// vetDiagnostic is one finding in the output of go vet -json.
type vetDiagnostic struct {
	Category string
	Posn     string
	Message  string
}

func detectVetJSON(head []byte) bool {
	at := vetStart(head)
	if at < 0 {
		return false
	}
	rest := bytes.TrimSpace(head[at:])
	return bytes.Contains(rest, []byte(`"posn"`)) || bytes.Equal(rest, []byte("{}")) || bytes.HasPrefix(rest, []byte("{}\n{"))
}

// vetStart finds the first line that is an object; before it may stand
// headers "# package" and errors of the compiler.
func vetStart(head []byte) int {
	if bytes.HasPrefix(head, []byte("{")) {
		return 0
	}
	if i := bytes.Index(head, []byte("\n{")); i >= 0 && bytes.HasPrefix(head, []byte("#")) {
		return i + 1
	}
	return -1
}

// parseVetJSON reads objects {package: {analyzer: [finding]}}, one after
// another, with the lines of go vet's text between them.
func parseVetJSON(r io.Reader) (Report, error) {
	v := vetJSON{text: goText{only: "go vet", loose: true}, lint: &metric.Lint{Tools: []string{"go vet"}, Findings: []metric.Finding{}}}
	err := eachLine(r, v.line)
	v.lint.Findings = append(v.lint.Findings, v.text.lint().Findings...)
	if err == nil && v.err == nil && len(v.object) > 0 {
		v.err = &SyntaxError{Line: v.first, Offset: v.offset, Problem: "the report ends in the middle of an object: go vet was stopped, or its output was cut off"}
	}
	return Report{Producer: "go vet", Lint: v.lint, Problems: v.problems.all()}, errors.Join(err, v.err)
}

// vetJSON gathers the lines of one object: go vet writes its braces at the
// beginning of lines of their own.
type vetJSON struct {
	lint     *metric.Lint
	text     goText
	object   []byte
	first    int
	offset   int64
	err      error
	problems problems
}

func (v *vetJSON) line(l textLine) {
	switch {
	case v.err != nil:
	case len(v.object) == 0 && !bytes.HasPrefix(l.text, []byte("{")):
		v.text.line(string(l.text[:min(len(l.text), maxLineDetect)]))
	default:
		if len(v.object) == 0 {
			v.first, v.offset = l.number, l.offset
		}
		v.object = append(append(v.object, l.text...), '\n')
		if bytes.HasPrefix(l.text, []byte("}")) || bytes.Equal(l.text, []byte("{}")) {
			v.decode()
		} else if len(v.object) > maxJSONValue {
			v.err = &SyntaxError{Line: v.first, Offset: v.offset, Problem: errValueTooLong.Error()}
		}
	}
}

func (v *vetJSON) decode() {
	var packages map[string]map[string]json.RawMessage
	if err := json.Unmarshal(v.object, &packages); err != nil {
		v.err = &SyntaxError{Line: v.first, Offset: v.offset, Problem: err.Error()}
		return
	}
	v.object = v.object[:0]
	for _, pkg := range sortedKeys(packages) {
		for _, analyzer := range sortedKeys(packages[pkg]) {
			v.diagnostics(analyzer, packages[pkg][analyzer])
		}
	}
}

func (v *vetJSON) diagnostics(analyzer string, raw json.RawMessage) {
	var list []vetDiagnostic
	if err := json.Unmarshal(raw, &list); err != nil { // {"error": "…"}
		v.problems.add("%s could not run: %s", analyzer, cleanText(string(raw)))
		return
	}
	for _, d := range list {
		file, line, column := splitPlace(d.Posn)
		v.lint.Findings = append(v.lint.Findings, metric.Finding{
			Tool: "go vet", Rule: analyzer, Level: metric.Error, File: file, Line: line, Column: column, Message: cleanText(d.Message),
		})
	}
}
