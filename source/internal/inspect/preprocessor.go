package inspect

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/assertion"
	"supervise/source/internal/language"
)

// preprocessorLineRE matches a conditional directive, as in "#if DEBUG". The groups are its
// keyword and its condition.
var preprocessorLineRE = regexp.MustCompile(`^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elseif|else|endif)\b[ \t]*([^\n]*)$`)

// preprocessorBranch is one branch of a conditional directive that is not closed yet.
type preprocessorBranch struct {
	line         int      // line of the directive that starts the branch
	text         string   // text of that line
	cond         string   // the condition of the branch, "" for #else
	earlierConds []string // the conditions of the branches before it
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
		text := in.plainLine(n)
		m := preprocessorLineRE.FindStringSubmatch(text)
		if m == nil {
			continue
		}

		started := preprocessorBranch{line: n, text: text, cond: strings.TrimSpace(m[2])}
		switch m[1] {
		case "if", "ifdef", "ifndef":
			if m[1] == "ifndef" {
				started.cond = "!" + started.cond
			}
			open = append(open, started)
			continue
		}

		// The directive ends the current branch, and starts another one unless it is #endif.
		if len(open) == 0 {
			continue
		}
		ended := open[len(open)-1]
		in.markPreprocessorBranch(ended, n-1)
		open = open[:len(open)-1]
		if m[1] != "endif" {
			started.earlierConds = append(ended.earlierConds, ended.cond)
			open = append(open, started)
		}
	}
}

// markPreprocessorBranch adds the mark of a branch that ends at line to. A branch within a test
// is marked as unreachable if it is never compiled. A branch with complete tests is marked as a
// skip unless it is always compiled. An #else gets no mark if the conditions before it are not
// constant.
func (in *inspector) markPreprocessorBranch(b preprocessorBranch, to int) {
	value, known := assertion.ConstantValue(definedRE.ReplaceAllString(b.cond, "$1"))
	for _, o := range b.earlierConds { // an earlier branch may always be compiled
		if always, settled := assertion.ConstantValue(o); settled && always {
			value, known = false, true
		}
	}

	m := Mark{Kind: Skip, Line: b.line, From: b.line, To: to, Text: strings.TrimSpace(b.text), Scope: OnGroup}
	switch {
	case known && value, b.cond == "" && !known: // always compiled, or an #else
		return
	case !known:
		m.Condition = "not " + b.cond
	}

	if t := in.file.TestAround(b.line); t != nil {
		if known {
			in.addUnreachable(t, b.line, b.line, to)
		}
		return
	}

	if in.containsTest(m.From, m.To) {
		in.marks = append(in.marks, m)
	}
}

// definedRE matches defined(NAME) and "defined NAME". The group is the name.
var definedRE = regexp.MustCompile(`\bdefined\s*\(?\s*(\w+)\s*\)?`)

// plainLine returns line n without comments.
func (in *inspector) plainLine(n int) string {
	from, to := in.lineSpan(n)
	return strings.TrimRight(string(in.plain[from:to]), " \t\r")
}
