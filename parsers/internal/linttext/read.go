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
	forms   []lineForm
	pending map[string]parts // by block: what the lines before said
	seen    map[string]bool
	text    bool // there was some
	last    int  // the finding that the following lines may go on with, -1 for none
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
	if h.Line(parsed.GoHeader.MatchString) && h.Line(parsed.GoPlace.MatchString) || h.Line(ofGo) {
		return false
	}
	l := newLintText()
	return h.Line(func(s string) bool {
		l.take(s)
		return len(l.Findings) > 0 || len(l.Tools) > 0
	})
}

func newLintText() *lintText {
	return &lintText{
		FindingSet: parsed.NewFindingSet(), forms: lineForms(), pending: map[string]parts{}, seen: map[string]bool{},
		last: -1, voices: map[string]bool{},
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
	switch {
	case inner == "":
		l.more = l.more && l.last >= 0 && l.Findings[l.last].Message == ""
	case l.crash(inner), l.summary(inner):
		l.finish()
		l.last = -1
	case ruler.MatchString(inner):
		l.last = -1
	case l.form(s, inner, outer), branch.MatchString(inner) && l.form(s, branch.ReplaceAllString(inner, ""), outer):
	default:
		l.goOn(inner)
	}
}

// form tries the forms of lines in turn.
func (l *lintText) form(raw, s, outer string) bool {
	whole, has := s, seen(s)
	for i := range l.forms {
		f := &l.forms[i]
		if s = whole; f.raw {
			s = raw
		} else if has&f.needs != f.needs {
			continue
		}
		if f.has != "" && !strings.Contains(s, f.has) {
			continue
		}
		m := f.re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		p := f.parts(m)
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
		l.last = -1
		return true
	case f.keep:
		p = p.with(l.pending[f.block])
		l.pending[f.block] = p
		l.last = -1
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
	if f.Tool != "mypy" || f.Level != metric.Note || len(l.Findings) == 0 {
		return false
	}
	before := l.Findings[len(l.Findings)-1]
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
	l.last, l.more, l.stray = -1, form.more, false
	if key := fmt.Sprint(f, word); !l.seen[key] || f.Message == "" {
		l.seen[key] = true
		l.last = len(l.Findings)
		l.Findings = parsed.Keep(l.Findings, f)
	}
}

// end corrects the tool of findings where only a summary names it.
func (l *lintText) end() {
	l.finish()
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
