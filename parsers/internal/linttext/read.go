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

// lintText reads what compilers and linters print for people, several of them
// one after the other if need be: the log of a build. Each line is tried with
// the forms of [lineForms]; a finding that is repeated, with the same message
// at the same place, counts once.
type lintText struct {
	*parsed.FindingSet
	pending map[string]parts // by block: what the lines before said
	seen    parsed.Seen
	packed  parsed.Packed // all findings but the latest
	latest  metric.Finding
	any     bool // there is a latest one
	open    bool // the following lines may continue it
	text    bool // there was some
	more    bool
	stray   bool
	line    textstream.Line
	before  string // the line before
	counted tally  // since the last summary
	broken  error
	voices  map[string]bool // tools that are recognised by their summary alone
	denied  string          // a summary that speaks of findings
	ahead   int             // findings that a summary announced
}

// parts is what a line says of a finding.
type parts struct {
	tool, file, level, rule, msg, outer string
	line, column                        int
	col                                 bool // a column was given
}

type tally struct{ errors, warnings, total int }

func detectLintText(h sniff.Head) bool {
	ofGo := func(s string) bool { return parsed.GoLoad.MatchString(s) && !strings.HasSuffix(s, ")") }
	if h.MatchesLine(parsed.GoHeader.MatchString) && h.MatchesLine(parsed.GoPlace.MatchString) || h.MatchesLine(ofGo) {
		return false
	}
	l := newLintText()
	return h.MatchesLine(func(s string) bool {
		l.take(s)
		return l.any || len(l.Tools) > 0
	})
}

func newLintText() *lintText {
	return &lintText{
		FindingSet: parsed.NewFindingSet(), pending: map[string]parts{},
		voices: map[string]bool{},
	}
}

// parseLintText reads the findings of any text. What looks like none is passed
// over. A tool that broke off is an error, and so is a summary of
// findings where none was read.
func parseLintText(r io.Reader) (parsed.Report, error) {
	l := newLintText()
	err := textstream.EachLine(r, func(line textstream.Line) {
		l.line = line
		if len(line.Text) <= parsed.MaxLine {
			l.take(textstream.StripANSI(string(line.Text)))
		}
	})
	l.end()
	err = cmp.Or(err, l.broken)
	if err == nil && l.text && len(l.Findings)+len(l.Tools) == 0 {
		err = parsed.NothingFound(nil, false, "finding")
	}
	if err == nil && l.denied != "" && len(l.Findings) == 0 {
		err = &textstream.SyntaxError{Problem: fmt.Sprintf("no finding could be read, and the summary says %q", l.denied)}
	}
	return l.Report(strings.Join(l.Tools, ", "), "", err)
}

// take reads one line, without colours.
func (l *lintText) take(s string) {
	s = strings.TrimRight(s, " \t\r\n")
	defer func() { l.before = s }()
	l.text = l.text || s != ""
	outer, inner := peel(s)
	if inner == "" {
		l.more = l.more && l.open && l.latest.Message == ""
		return
	}
	known := kindsOf(inner)
	switch {
	case l.crash(inner), l.summary(inner, known):
		l.finish()
		l.open = false
	case known.ruler:
		l.open = false
	case l.placed(inner):
	case outer != "" && s[0] == '[' && l.form(s, outer, kindsOf(s), true), l.form(inner, outer, known, false):
	case branch.MatchString(inner) && l.branchForm(branch.ReplaceAllString(inner, ""), outer):
	default:
		l.goOn(inner)
	}
}

func (l *lintText) branchForm(s, outer string) bool {
	return s != "" && l.form(s, outer, kindsOf(s), false)
}

// form takes the line in the first of the forms that makes sense.
func (l *lintText) form(s, outer string, known kinds, raw bool) bool {
	for _, i := range known.forms {
		f := &lineForms()[i-known.first]
		if f.raw != raw || !strings.Contains(s, f.has) {
			continue
		}
		p := f.read(s)
		p.outer = outer
		if l.fits(f, p) {
			return true
		}
	}
	return false
}

// fits takes what a line of the form says, if that makes sense.
func (l *lintText) fits(f *lineForm, p parts) bool {
	switch {
	case f.outer && p.outer == "", p.file != "" && !f.sure && !namesFile(p.file):
		return false
	case f.keep && !f.join:
		p.tool = f.tool
		l.pending[f.block] = p
		l.open = false
		return true
	case f.keep:
		p = p.with(l.pending[f.block])
		l.pending[f.block] = p
		l.open = false
		return true
	case f.block != "":
		p = p.with(l.pending[f.block])
		if p.file == "" || p.msg == "" {
			return false
		}
		if f.once {
			delete(l.pending, f.block)
		}
	}
	if x := f.finding(p); !f.skip && !l.explains(x) {
		l.add(x, f, p.level)
	}
	return true
}

// explains reports whether mypy says more of the finding before.
func (l *lintText) explains(f metric.Finding) bool {
	if f.Tool != "mypy" || f.Level != metric.Note || !l.any {
		return false
	}
	before := l.latest
	return before.Tool == f.Tool && before.File == f.File && before.Line == f.Line && before.Level == metric.Error
}

// with fills what p leaves open.
func (p parts) with(q parts) parts {
	for _, s := range []struct{ to, from *string }{{&p.tool, &q.tool}, {&p.file, &q.file}, {&p.level, &q.level}, {&p.rule, &q.rule}, {&p.msg, &q.msg}} {
		if *s.to == "" {
			*s.to = *s.from
		}
	}
	p.line = cmp.Or(p.line, q.line)
	if p.column == 0 {
		p.column, p.col = q.column, p.col || q.col
	}
	return p
}

func (l *lintText) add(f metric.Finding, form *lineForm, word string) {
	l.finish()
	l.Heard(f.Tool)
	l.counted.total++
	switch f.Level {
	case metric.Error:
		l.counted.errors++
	case metric.Warning:
		l.counted.warnings++
	case metric.Note:
	}
	l.open, l.more, l.stray = false, form.more, false
	if l.seen.Add(f, word) || f.Message == "" {
		l.pack()
		l.latest, l.any, l.open = f, true, true
	}
}

func (l *lintText) pack() {
	if l.any {
		l.packed.Add(l.latest)
	}
}

// end unpacks the findings, and corrects their tool where only a summary names it.
func (l *lintText) end() {
	l.finish()
	l.pack()
	l.seen = parsed.Seen{} // makes room
	l.Findings = l.packed.Findings()
	if !l.voices["ruff"] {
		return
	}
	l.Tools = nil
	for i := range l.Findings {
		if l.Findings[i].Tool == "flake8" {
			l.Findings[i].Tool = "ruff"
		}
		l.Heard(l.Findings[i].Tool)
	}
	l.Heard("ruff")
}

// namesFile keeps words, times and addresses from being read as files. A name
// with spaces ends in an extension.
func namesFile(name string) bool {
	if !strings.ContainsFunc(name, unicode.IsLetter) || strings.Contains(strings.TrimPrefix(name, "file://"), "://") {
		return false
	}
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	dot := strings.LastIndexByte(base, '.')
	extension := dot >= 0 && len(base)-dot <= 12 && !strings.ContainsAny(base[dot:], " ()") && dot < len(base)-1
	if strings.ContainsRune(name, ' ') {
		return extension && !strings.HasPrefix(name, "from ") && !strings.HasPrefix(name, "In file ")
	}
	return extension || len(base) < len(name) || plainFiles[base]
}

var plainFiles = map[string]bool{
	"Makefile": true, "makefile": true, "GNUmakefile": true, "Dockerfile": true, "Containerfile": true, "Gemfile": true, "Rakefile": true,
	"Jenkinsfile": true, "Vagrantfile": true, "<stdin>": true, "<command-line>": true, "<built-in>": true,
}
