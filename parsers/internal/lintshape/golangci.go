package lintshape

import (
	"io"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
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

// golangciReport is the part of a report about golangci-lint itself.
type golangciReport struct {
	Warnings []struct{ Tag, Text string }
	Linters  []struct {
		Name    string
		Enabled bool
	}
	Error string
}

// detectGolangci reports whether the head is a report of golangci-lint, with or without
// findings.
func detectGolangci(h sniff.Head) bool {
	return h.HasMembers("Issues", "Report") || h.HasMembers("Issues.[].FromLinter") || h.HasMembers("Issues") && golangciCleanPattern.Match(h.Text)
}

// golangciCleanPattern matches the report of version 1 without findings: {"Issues":[]}.
var golangciCleanPattern = regexp.MustCompile(`^\s*\{\s*"Issues"\s*:\s*(null|\[\s*\])\s*\}`)

// parseGolangci reads a report of golangci-lint. It is an error if the report says that the run
// failed.
func parseGolangci(r io.Reader) (parsed.Report, error) {
	var p textstream.Problems
	l := &metric.Lint{Findings: []metric.Finding{}}
	noise, err := jsonstream.ReadDocuments(r, func(j *jsonstream.Reader) error { return readGolangci(j, l, &p) })
	if noise != "" && !golangciSummaryPattern.MatchString(noise) {
		p.Add("text outside of the report: %s", noise)
	}
	return parsed.Report{Producer: "golangci-lint", Lint: l, Problems: p.All()}, err
}

// golangciSummaryPattern matches the line of version 2 after its report: "3 issues:".
var golangciSummaryPattern = regexp.MustCompile(`^\d+ issues[:.]`)

// readGolangci reads one document, and adds its findings to l and the warnings of golangci-lint
// to p.
func readGolangci(j *jsonstream.Reader, l *metric.Lint, p *textstream.Problems) error {
	var about golangciReport
	err := parsed.ReadMembers(j, map[string]any{
		"Issues": parsed.ItemReader(j, func(i golangciIssue) { l.Findings = parsed.AppendLimited(l.Findings, i.findings()...) }),
		"Report": &about,
	})
	l.Tools = about.tools(l.Findings)
	for _, w := range about.Warnings {
		p.Add("golangci-lint warns: %s", strings.TrimSpace(w.Tag+" "+w.Text))
	}
	if err == nil && about.Error != "" {
		err = j.Error("golangci-lint says that it did not run to its end: %s", textstream.CleanText(about.Error))
	}
	return err
}

// findings returns the finding of the issue. An issue with the output of the compiler about
// a package may have several.
func (i golangciIssue) findings() []metric.Finding {
	f := i.finding()
	if !f.Type {
		return []metric.Finding{f}
	}
	f.Message = strings.TrimPrefix(f.Message, ": ")
	return parsed.SplitCompilerOutput(f)
}

// finding returns the issue as one finding.
func (i golangciIssue) finding() metric.Finding {
	f := metric.Finding{
		Tool: "golangci-lint", Rule: i.FromLinter, Level: parsed.LevelOf(i.Severity), Type: i.FromLinter == "typecheck",
		File: i.Pos.Filename, Line: max(0, i.Pos.Line), Column: max(0, i.Pos.Column), Message: textstream.CleanText(i.Text),
	}
	if f.File != "" {
		f.File = parsed.ToSlash(f.File)
	}
	if len(i.SourceLines) > 0 {
		f.Text = textstream.CleanText(i.SourceLines[0])
	}
	return f
}

// tools returns the sorted names of golangci-lint and of its linters that were enabled or have
// findings.
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
