package inspect

import (
	"bytes"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/assertion"
	"supervise/source/internal/language"
)

// buildLine matches the lines that decide which lines are built.
var buildLine = regexp.MustCompile(`^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]*)$`)

// buildBranch is one way of an #if that is read.
type buildBranch struct {
	line   int
	text   string
	cond   string // under which it is built
	others []string
}

// builds notes the tests, and the parts of tests, that are built under a condition
// of the preprocessor, or of the compiler in Swift.
func (in *inspector) builds() {
	switch in.Lang {
	case language.C, language.CPP, language.CSharp, language.Swift:
	default:
		return
	}
	var open []buildBranch
	for n := 1; n <= in.lastLine(); n++ {
		from, to := in.lineSpan(n)
		if !bytes.Contains(in.plain[from:to], []byte("#")) {
			continue
		}
		m := buildLine.FindStringSubmatch(in.plainLine(n))
		if m == nil {
			continue
		}
		text, cond := in.plainLine(n), strings.TrimSpace(m[2])
		switch m[1] {
		case "ifdef":
			open = append(open, buildBranch{line: n, text: text, cond: cond})
			continue
		case "ifndef":
			cond = "!" + cond
			fallthrough
		case "if":
			open = append(open, buildBranch{line: n, text: text, cond: cond})
			continue
		}
		if len(open) == 0 {
			continue
		}
		b := &open[len(open)-1]
		in.buildMark(*b, n-1)
		if m[1] == "endif" {
			open = open[:len(open)-1]
			continue
		}
		b.others = append(b.others, b.cond)
		b.line, b.text, b.cond = n, text, cond
	}
}

// buildMark notes what a branch, which ends at a line, does to the tests in it.
func (in *inspector) buildMark(b buildBranch, to int) {
	value, known := assertion.ConstantValue(definedName.ReplaceAllString(b.cond, "$1"))
	for _, o := range b.others { // an earlier branch that is always taken
		if always, settled := assertion.ConstantValue(o); settled && always {
			value, known = false, true
		}
	}
	m := Mark{Kind: Skip, Line: b.line, From: b.line, To: to, Text: strings.TrimSpace(b.text), Scope: OnGroup}
	switch {
	case known && value, b.cond == "" && !known: // else
		return
	case !known:
		m.Condition = "not " + b.cond
	}
	if t := in.testAround(b.line); t != nil {
		if known {
			in.noteDead(t, b.line, b.line, to)
		}
		return
	}
	if in.holdsTest(m.From, m.To) {
		in.marks = append(in.marks, m)
	}
}

var definedName = regexp.MustCompile(`\bdefined\s*\(?\s*(\w+)\s*\)?`)

// plainLine returns a line without comments.
func (in *inspector) plainLine(n int) string {
	from, to := in.lineSpan(n)
	return strings.TrimRight(string(in.plain[from:to]), " \t\r")
}
