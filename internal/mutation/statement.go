package mutation

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// A line that ends with one of continuedEnds continues in the next line. A line that starts with
// one of continuingStarts continues the line before.
const (
	continuedEnds    = `,([+-*/%=&|?.<>\`
	continuingStarts = `.?&|+-*/%)],:={`
)

// isStatement reports whether a line is one complete statement: it neither continues the line
// before nor continues in the next line. open is the number of brackets that are open before it.
func (t *textFile) isStatement(code string, open int) bool {
	if !isBalanced(code) || t.indented && open > 0 || multilineTextRE.MatchString(code) {
		return false
	}
	before, after := t.nearestLine(-1), t.nearestLine(1)
	if t.semicolons {
		return strings.HasSuffix(code, ";") && (before == "" || endsWithAny(before, ";{}:)>"))
	}
	if endsWithAny(code, `\`) || endsWithAny(before, continuedEnds) && !strings.HasSuffix(before, "=>") && !strings.HasSuffix(before, "->") {
		return false
	}
	return t.indented || after == "" || strings.IndexByte(continuingStarts, after[0]) < 0 || after[0] == '{'
}

// endsWithAny reports whether a text ends with one of the characters.
func endsWithAny(text, chars string) bool {
	return text != "" && strings.IndexByte(chars, text[len(text)-1]) >= 0
}

// nearestLine returns the trimmed text of the nearest line with code: before the current line if
// step is -1, after it if step is 1. It returns "" if there is none.
func (t *textFile) nearestLine(step int) string {
	for i := t.lineNo + step; i >= 0 && i < len(t.lines); i += step {
		if code := strings.TrimSpace(t.lines[i]); code != "" {
			return code
		}
	}
	return ""
}

// These expressions classify one masked line without its indentation:
//
//   - callRE matches a call as a statement: items.add(x); or await save!()
//   - keywordRE matches the start of a line that looks like a call but is none: if (x), return(x).
//     Dropping a call of super, describe, it, or test would break the class or the suite.
//   - fieldAssignmentRE matches an assignment to a part of a value: this.total = 1, a[i] += 2.
//   - compoundAssignmentRE matches x += 1, and assignmentRE matches x = 1.
//   - returnRE matches a return statement with a result. Its second group is the result: a + b
//     of "return a + b;". It is the only one that matches the line with its indentation.
//   - multilineTextRE matches the quotes of a text that may continue in the next line.
//   - literalRE matches a result that is a constant: None, 0, "", or false.
var (
	callRE               = regexp.MustCompile(`^(await\s+)?[A-Za-z_$@][\w$.:>@\[\]-]*[?!]?\(.*\)[?!]?;?$`)
	keywordRE            = regexp.MustCompile(`^(if|elif|for|foreach|while|until|switch|match|case|return|function|fun|fn|def|with|catch|except|super|constructor|do|else|try|yield|new|delete|lock|using|when|unless|not|lambda|describe|it|test)\b`)
	fieldAssignmentRE    = regexp.MustCompile(`^(?:[@$]?[A-Za-z_]\w*(?:(?:\.|->)\w+|\[[^\]]*\])+|@\w+)\s*(?:[-+*/|&]|\|\||&&|\?\?)?=[^=>~]`)
	compoundAssignmentRE = regexp.MustCompile(`^\$?[A-Za-z_]\w*\s*(?:[-+*/|&]|\|\|)=[^=]`)
	assignmentRE         = regexp.MustCompile(`^\$?[A-Za-z_]\w*\s*=[^=>]`)
	returnRE             = regexp.MustCompile(`^(\s*return\s+)(\S.*?)\s*;?\s*$`)
	multilineTextRE      = regexp.MustCompile("'''|\"\"\"|^[^`]*`[^`]*$") // it may continue in the next line
	literalRE            = regexp.MustCompile(`^(None|null|nil|undefined|true|false|True|False|[\d.]+|"\s*"|'\s*')$`)
)

// mutateStatement adds the mutants of a line that is one statement: another result of a return
// statement, or no statement at all. A declaration is not dropped, since other lines need it:
// in Python, Ruby and PHP x = 1 may be one.
func (t *textFile) mutateStatement(code string) {
	if m := returnRE.FindStringSubmatchIndex(t.line); m != nil && t.line[m[1]-1] != '{' {
		t.mutateReturn(m[4], m[5])
		return
	}
	reassigns := !t.indented && t.lang != source.Ruby && t.lang != source.PHP && assignmentRE.MatchString(code)
	drops := callRE.MatchString(code) && !keywordRE.MatchString(code) || fieldAssignmentRE.MatchString(code) || compoundAssignmentRE.MatchString(code) || reassigns ||
		t.validWithoutThrow && throwRE.MatchString(code)
	if !drops || strings.HasSuffix(code, "{") || strings.HasSuffix(code, ":") {
		return
	}
	from := strings.Index(t.line, code)
	t.add(DropStatement, from, from+len(code), t.emptyStatement)
	m := &t.mutants[len(t.mutants)-1]
	m.Original, m.hasTexts = string(t.src[m.start:m.end]), true
}

// mutateReturn adds the mutant of a return statement whose result is the bytes from..to of the
// line. It replaces the result by the language's empty value or, in typed languages, by another
// value of the function's type. It adds none if the type is unknown.
func (t *textFile) mutateReturn(from, to int) {
	masked := t.line[from:to]
	if literalRE.MatchString(masked) || !isBalanced(masked) {
		return // mutateConstants changes a constant
	}
	expr := string(t.src[t.offsets[t.lineNo]+from : t.offsets[t.lineNo]+to])
	if t.emptyResult != "" {
		t.add(ChangeReturn, from, to, t.emptyResult)
		return
	}
	switch kind := t.types[t.lineNo]; kind {
	case "":
	case "boolean", "bool":
		t.add(ChangeReturn, from, to, "!("+expr+")")
	case "int", "long", "double", "float", "decimal":
		t.add(ChangeReturn, from, to, "("+expr+") + 1")
	case "String", "string":
		t.add(ChangeReturn, from, to, "("+expr+`) + "XX"`)
	default:
		t.add(ChangeReturn, from, to, "null")
	}
}

// methodHeadRE matches the head of a method in Java and C#, and captures the type of its result:
// List<String> of "public List<String> names(int limit) {".
var methodHeadRE = regexp.MustCompile(`\b(boolean|bool|int|long|double|float|decimal|[A-Z]\w*(?:<[^()]*>)?(?:\[\])?|string)\s+\w+\s*\([^;]*$`)

// findResultTypes sets t.types, which maps the index of a line to the result type of the method
// that contains it, "" if unknown. It knows only Java and C#, and heads on one line.
func (t *textFile) findResultTypes() {
	t.types = map[int]string{}
	if t.lang != source.Java && t.lang != source.CSharp {
		return
	}
	kind := ""
	for i, line := range t.lines {
		switch m := methodHeadRE.FindStringSubmatch(line); {
		case m != nil && !strings.Contains(line, "new ") && !strings.Contains(line, "return "):
			kind = m[1]
		case strings.Contains(line, "->") || strings.Contains(line, "=>"):
			kind = "" // the lambda has another result type
		}
		t.types[i] = kind
	}
}
