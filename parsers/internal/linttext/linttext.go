// Package linttext reads the output of linters and compilers for people. It has two formats.
//
// The format lint-text knows the lines of many tools. A [lineForm] describes each kind of line.
// Every line is tried with all forms, so that one text may have the output of several tools, as
// in the log of a build. The format errorformat is for unknown tools, and reads all lines
// "file:line: message".
//
// A [lintReader] reads lint-text line by line. It removes what build tools print before a line
// (line.go), finds out what the line can be (kinds.go), and then takes it as a crash or a
// summary (summary.go), as a finding (line.go), or as more text of the latest finding
// (continue.go). The tables of forms are in forms.go and formscompiler.go. For a line that many
// tools print, tool.go finds the tool. The fast paths in cuts.go only save time.
package linttext

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// Formats lists the output formats of linters and compilers.
var Formats = parsed.SetKind(parsed.LintReport, parsed.Text, []parsed.Format{
	{Name: "lint-text", Silent: true, Detect: detectLintText, Parse: parseLintText, Marks: "a finding or summary line of a known tool", Tools: "the tools listed below", Note: "One text may contain several tools: a build log, `eslint . && tsc`."},
	{Name: "errorformat", Silent: true, Loose: true, Detect: detectErrorformat, Parse: parseErrorformat, Marks: "lines `file:line: message`", Tools: "unknown tools", Note: "Tried last."},
})

// lintReader reads the output of one or more compilers and linters. Each line is tried with
// [lineForms]. A finding with the same message at the same place counts once.
type lintReader struct {
	*parsed.FindingSet
	stored          map[string]parts      // values of earlier lines, by the block of their form
	seen            parsed.SeenFindings   // the findings so far, to skip equal ones
	packed          parsed.PackedFindings // all findings but the latest
	latest          metric.Finding
	hasLatest       bool
	isOpen          bool            // the next lines may continue the latest finding
	isMultiline     bool            // indented lines continue its message
	hasStrayLine    bool            // the previous line did not continue the latest finding
	hasText         bool            // the report is not empty
	line            textstream.Line // the current line
	previousLine    string          // may be the source line above a caret
	counts          tally           // findings since the last summary
	err             error           // why the report cannot be used: a tool crashed or left findings out
	summarizedTools map[string]bool // tools with a summary
	unconfirmed     string          // a summary that counts findings, "" without one
	announced       int             // warnings that clang-tidy counted, without those that it suppressed
}

// parts has the values of a finding that were read from one line. A value that the line does
// not have is "" or 0. LevelPrefix is the level that a build tool prints before the line, and
// hasColumn distinguishes column 0 from no column.
type parts struct {
	tool, file, level, rule, msg, levelPrefix string
	line, column                              int
	hasColumn                                 bool
}

// tally counts findings by level. Notes only count in total.
type tally struct{ errors, warnings, total int }

// detectLintText reports whether the head has a finding or summary line of a known tool. Output
// of go build and go vet has formats in package gotool.
func detectLintText(h sniff.Head) bool {
	ofGo := func(s string) bool { return parsed.GoLoadPattern.MatchString(s) && !strings.HasSuffix(s, ")") }
	if h.MatchesLine(parsed.GoHeaderPattern.MatchString) && h.MatchesLine(parsed.GoPlacePattern.MatchString) || h.MatchesLine(ofGo) {
		return false
	}
	l := newLintReader()
	return h.MatchesLine(func(s string) bool {
		l.readLine(s)
		return l.hasLatest || len(l.Tools) > 0
	})
}

// newLintReader returns a reader without findings.
func newLintReader() *lintReader {
	return &lintReader{
		FindingSet: parsed.NewFindingSet(), stored: map[string]parts{},
		summarizedTools: map[string]bool{},
	}
}

// parseLintText reads the findings in a text, and skips all other lines. It is an error if
// a tool crashed, or if a summary counts findings and none could be read.
func parseLintText(r io.Reader) (parsed.Report, error) {
	l := newLintReader()
	err := textstream.EachLine(r, func(line textstream.Line) {
		l.line = line
		if len(line.Text) <= parsed.MaxLine {
			l.readLine(textstream.StripANSI(string(line.Text)))
		}
	})

	l.unpackFindings()
	err = cmp.Or(err, l.err)
	if err == nil && l.hasText && len(l.Findings)+len(l.Tools) == 0 {
		err = parsed.RequireFound(nil, false, "finding")
	}
	if err == nil && l.unconfirmed != "" && len(l.Findings) == 0 {
		err = &textstream.SyntaxError{Problem: fmt.Sprintf("no finding could be read, and the summary says %q", l.unconfirmed)}
	}

	return l.Report(strings.Join(l.Tools, ", "), "", err)
}

// readLine handles one line, which has no color sequences.
func (l *lintReader) readLine(s string) {
	s = strings.TrimRight(s, " \t\r\n")
	defer func() { l.previousLine = s }()
	l.hasText = l.hasText || s != ""

	outer, inner := cutBuildPrefix(s)
	if inner == "" {
		l.isMultiline = l.isMultiline && l.isOpen && l.latest.Message == ""
		return
	}

	known := kindsOf(inner)
	switch {
	case l.handleCrash(inner), l.handleSummary(inner, known):
		l.finishMessage()
		l.isOpen = false
	case known.ruler:
		l.isOpen = false
	case l.handleLLDPlace(inner):
	case outer != "" && s[0] == '[' && l.matchForm(s, outer, kindsOf(s), true), l.matchForm(inner, outer, known, false):
	case branchPattern.MatchString(inner) && l.matchBranch(branchPattern.ReplaceAllString(inner, ""), outer):
	default:
		l.continueFinding(inner)
	}
}

// matchBranch reads a line without the name of its branch, and reports whether it is a finding.
func (l *lintReader) matchBranch(s, outer string) bool {
	return s != "" && l.matchForm(s, outer, kindsOf(s), false)
}

// matchForm reads the line by the first form whose parts are plausible, and reports whether
// there is one. Outer is the level before the line, "" for none. If raw is set, only forms
// whose pattern includes that level are tried, otherwise only the others.
func (l *lintReader) matchForm(s, outer string, known kinds, raw bool) bool {
	for _, i := range known.forms {
		f := &lineForms()[i-known.first]
		if f.withLevelPrefix != raw || !strings.Contains(s, f.contains) {
			continue
		}
		p := f.read(s)
		p.levelPrefix = outer
		if l.acceptParts(f, p) {
			return true
		}
	}
	return false
}

// acceptParts adds the finding of a line, or stores its parts for a later line. It reports
// false if the parts are not plausible, so that another form is tried.
func (l *lintReader) acceptParts(f *lineForm, p parts) bool {
	switch {
	case f.needsLevelPrefix && p.levelPrefix == "", p.file != "" && !f.fileIsCertain && !looksLikeFile(p.file):
		return false
	case f.store:
		if f.mergeStored {
			p = p.orElse(l.stored[f.block])
		} else {
			p.tool = f.tool
		}
		l.stored[f.block] = p
		l.isOpen = false
		return true
	case f.block != "":
		p = p.orElse(l.stored[f.block])
		if p.file == "" || p.msg == "" {
			return false
		}
		if f.consume {
			delete(l.stored, f.block)
		}
	}

	if x := f.toFinding(p); !f.ignore && !l.isMypyNote(x) {
		l.addFinding(x, f, p.level)
	}
	return true
}

// isMypyNote reports whether f is a note of mypy about the latest error.
func (l *lintReader) isMypyNote(f metric.Finding) bool {
	if f.Tool != "mypy" || f.Level != metric.Note || !l.hasLatest {
		return false
	}
	latest := l.latest
	return latest.Tool == f.Tool && latest.File == f.File && latest.Line == f.Line && latest.Level == metric.Error
}

// orElse returns p with the values of q for those that p does not have.
func (p parts) orElse(q parts) parts {
	p.tool, p.file, p.level = cmp.Or(p.tool, q.tool), cmp.Or(p.file, q.file), cmp.Or(p.level, q.level)
	p.rule, p.msg = cmp.Or(p.rule, q.rule), cmp.Or(p.msg, q.msg)
	p.line = cmp.Or(p.line, q.line)
	if p.column == 0 {
		p.column, p.hasColumn = q.column, p.hasColumn || q.hasColumn
	}
	return p
}

// addFinding makes f the latest finding, unless an equal one was added before, and counts it
// for the next summary. Word is the level as the tool writes it: findings with different words
// are different.
func (l *lintReader) addFinding(f metric.Finding, form *lineForm, word string) {
	l.finishMessage()
	l.AddTool(f.Tool)
	l.counts.total++
	switch f.Level {
	case metric.Error:
		l.counts.errors++
	case metric.Warning:
		l.counts.warnings++
	case metric.Note:
	}

	l.isOpen, l.isMultiline, l.hasStrayLine = false, form.multiline, false
	if l.seen.Add(f, word) || f.Message == "" {
		l.packLatest()
		l.latest, l.hasLatest, l.isOpen = f, true, true
	}
}

// packLatest adds the latest finding, which no later line can change, to the packed ones.
func (l *lintReader) packLatest() {
	if l.hasLatest {
		l.packed.Add(l.latest)
	}
}

// unpackFindings sets the list of findings. Lines of ruff look like those of flake8, so a
// summary of ruff corrects the tool of these.
func (l *lintReader) unpackFindings() {
	l.finishMessage()
	l.packLatest()
	l.seen = parsed.SeenFindings{} // frees memory
	l.Findings = l.packed.Findings()
	if !l.summarizedTools["ruff"] {
		return
	}

	l.Tools = nil
	for i := range l.Findings {
		if l.Findings[i].Tool == "flake8" {
			l.Findings[i].Tool = "ruff"
		}
		l.AddTool(l.Findings[i].Tool)
	}
	l.AddTool("ruff")
}

// looksLikeFile rejects words, times and addresses as names of files. A name with spaces
// must have an extension.
func looksLikeFile(name string) bool {
	if !strings.ContainsFunc(name, unicode.IsLetter) || strings.Contains(strings.TrimPrefix(name, "file://"), "://") {
		return false
	}

	base := name[strings.LastIndexAny(name, `/\`)+1:]
	if strings.ContainsRune(name, ' ') {
		return hasExtension(base) && !strings.HasPrefix(name, "from ") && !strings.HasPrefix(name, "In file ")
	}
	return hasExtension(base) || len(base) < len(name) || plainFiles[base]
}

// hasExtension reports whether a file name ends with a dot and an extension of at most 11
// bytes.
func hasExtension(base string) bool {
	dot := strings.LastIndexByte(base, '.')
	return dot >= 0 && dot < len(base)-1 && len(base)-dot <= 12 && !strings.ContainsAny(base[dot:], " ()")
}

// plainFiles are names of files without an extension.
var plainFiles = map[string]bool{
	"Makefile": true, "makefile": true, "GNUmakefile": true, "Dockerfile": true, "Containerfile": true, "Gemfile": true, "Rakefile": true,
	"Jenkinsfile": true, "Vagrantfile": true, "<stdin>": true, "<command-line>": true, "<built-in>": true,
}
