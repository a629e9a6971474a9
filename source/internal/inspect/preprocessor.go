package inspect

import (
	"bytes"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/assertion"
	"supervise/source/internal/language"
)

// preprocessorLineRE matches a conditional directive, as in "#if DEBUG", and splits it into
// its keyword and condition.
var preprocessorLineRE = regexp.MustCompile(`^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]*)$`)

// preprocessorBranch is one branch of an #if whose end is not read yet.
type preprocessorBranch struct {
	line         int
	text         string
	cond         string // under which it is built
	earlierConds []string
}

// markPreprocessorBranches marks the tests, and the lines of tests, that are compiled only
// under a condition of the preprocessor or, in Swift, of the compiler.
func (in *inspector) markPreprocessorBranches() {
	switch in.Lang {
	case language.C, language.CPP, language.CSharp, language.Swift:
	default:
		return
	}
	var open []preprocessorBranch
	for n := 1; n <= in.lastLine(); n++ {
		from, to := in.lineSpan(n)
		if !bytes.Contains(in.plain[from:to], []byte("#")) {
			continue
		}
		m := preprocessorLineRE.FindStringSubmatch(in.plainLine(n))
		if m == nil {
			continue
		}
		text, cond := in.plainLine(n), strings.TrimSpace(m[2])
		switch m[1] {
		case "ifdef":
			open = append(open, preprocessorBranch{line: n, text: text, cond: cond})
			continue
		case "ifndef":
			cond = "!" + cond
			fallthrough
		case "if":
			open = append(open, preprocessorBranch{line: n, text: text, cond: cond})
			continue
		}
		if len(open) == 0 {
			continue
		}
		b := &open[len(open)-1]
		in.markPreprocessorBranch(*b, n-1)
		if m[1] == "endif" {
			open = open[:len(open)-1]
			continue
		}
		b.earlierConds = append(b.earlierConds, b.cond)
		b.line, b.text, b.cond = n, text, cond
	}
}

// markPreprocessorBranch adds the mark of a branch that ends at line to.
func (in *inspector) markPreprocessorBranch(b preprocessorBranch, to int) {
	value, known := assertion.ConstantValue(definedRE.ReplaceAllString(b.cond, "$1"))
	for _, o := range b.earlierConds { // an earlier branch that is always taken
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
	if t := in.enclosingTest(b.line); t != nil {
		if known {
			in.addUnreachable(t, b.line, b.line, to)
		}
		return
	}
	if in.containsTest(m.From, m.To) {
		in.marks = append(in.marks, m)
	}
}

var definedRE = regexp.MustCompile(`\bdefined\s*\(?\s*(\w+)\s*\)?`)

// plainLine returns line n without comments.
func (in *inspector) plainLine(n int) string {
	from, to := in.lineSpan(n)
	return strings.TrimRight(string(in.plain[from:to]), " \t\r")
}
