package inspect

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/assertion"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// conditionsOf returns the conditions under which the statement at token i runs, outermost first,
// within the test that starts at line from. It returns false if the statement is in a function
// within the test. Conditions are quoted as written; a branch that runs instead of another is the
// word that starts it, such as "else".
func (in *inspector) conditionsOf(i, from int) ([]string, bool) {
	if function.Shapes[in.Lang].Indented {
		return in.indentedConditions(i, from)
	}

	var conds []string
	if c, ok := in.inlineCondition(i); ok {
		conds = append(conds, c)
	}

	functions := 0
	for j := in.enclosing[i]; j >= 0 && in.List[j].Line >= from; j = in.enclosing[j] {
		if !in.Is(j, "{") {
			continue
		}
		word, at := in.blockHead(j)
		switch {
		case functionHeadWords[word]:
			functions++
			if in.Lang == language.Go && in.hasTestAt(in.List[at].Line) || in.List[at].Line == from {
				slices.Reverse(conds)
				return conds, true
			}
		case conditionalWords[word]:
			conds = append(conds, in.headCondition(at, j))
		case alternativeWords[word]:
			conds = append(conds, word)
		}
	}

	slices.Reverse(conds)
	return conds, functions <= 1
}

var (
	// conditionalWords start a block with a condition.
	conditionalWords = lex.WordSet(`if while match switch guard when for foreach`)
	// alternativeWords start a block that runs instead of another block.
	alternativeWords = lex.WordSet(`else catch case default`)
)

// functionHeadWords precede the body of a function or test.
var functionHeadWords = lex.WordSet(`func function fn fun => def TEST it test`)

// hasTestAt reports whether a test starts at the line.
func (in *inspector) hasTestAt(line int) bool {
	return slices.ContainsFunc(in.file.Tests, func(t tests.TestDef) bool { return t.Line == line })
}

// blockWords are the words that can start the head of a block.
var blockWords = lex.WordSet(`if while for foreach match switch guard when else catch case default try do loop finally func function fn fun class struct mod namespace describe context suite impl enum interface unsafe using lock synchronized`)

// blockHead returns the word that starts the head of the block opened by the brace at token j,
// and the index of that word: "if" for "if x {". For an arrow function the word is "=>", and the
// index is where its parameters start. The word is "" if there is none.
func (in *inspector) blockHead(j int) (string, int) {
	if in.Is(j-1, "=>") {
		at := j - 2
		if in.Is(at, ")") && in.List[at].Partner >= 0 {
			at = in.List[at].Partner
		}
		return "=>", at
	}
	// A head of more than 60 tokens is not expected.
	for i, n := j-1, 0; i >= 0 && n < 60; i, n = i-1, n+1 {
		if m := in.List[i].Partner; m >= 0 && m < i && !in.Is(i, "}") {
			i = m
			continue
		}
		switch text := in.Text(i); {
		case in.endsBlockHead(text):
			return "", i
		case blockWords[text]:
			return text, i
		}
	}
	return "", j
}

// endsBlockHead reports whether a token cannot be part of the head of the block after it.
func (in *inspector) endsBlockHead(text string) bool {
	switch text {
	case "{", "}", "(", "[":
		return true
	case ";", "=":
		return in.Lang != language.Go
	}
	return false
}

// headCondition returns the condition between the word of a block and its brace, without its
// parentheses. In Go, an initial statement is moved after the condition.
func (in *inspector) headCondition(word, brace int) string {
	cond := in.between(in.List[word].End, in.List[brace].Pos)
	if i := strings.LastIndex(cond, ";"); i >= 0 && in.Lang == language.Go {
		return strings.TrimSpace(cond[i+1:]) + " " + strings.TrimSpace(cond[:i])
	}
	for len(cond) > 1 && cond[0] == '(' && cond[len(cond)-1] == ')' && assertion.HasBalancedBrackets(cond[1:len(cond)-1]) {
		cond = strings.TrimSpace(cond[1 : len(cond)-1])
	}
	return cond
}

// inlineCondition returns the condition of the statement at token i if it is on the same line, as
// in "if (cond) statement" and "cond && statement". It returns false if there is none.
func (in *inspector) inlineCondition(i int) (string, bool) {
	j := i - 1
	for j >= 0 && in.List[j].Line == in.List[i].Line && (in.IsWord(j) && !blockWords[in.Text(j)] || in.Is(j, ".") || in.Is(j, "->")) {
		j--
	}

	switch {
	case in.Is(j, ")") && in.List[j].Partner > 0 && in.Is(in.List[j].Partner-1, "if"):
		return in.between(in.List[in.List[j].Partner].End, in.List[j].Pos), true
	case in.Is(j, "else"):
		return "else", true
	case in.Is(j, "&&"), in.Is(j, "||"), in.Is(j, "?"), in.Is(j, ":") && in.Lang != language.Swift:
		from := in.List[in.FirstOfLine[in.List[j].Line-1]].Pos
		return in.between(from, in.List[j].Pos), true
	}
	return "", false
}

// indentedHeadRE matches the head of an indented block, as in "if x == 1:". The groups are its
// word and the text up to the colon.
var indentedHeadRE = regexp.MustCompile(`^(if|elif|elsif|unless|while|until|for|else|except|case|when|cond|rescue|def|class|lambda)\b(.*?):?\s*$`)

// rubyModifierRE matches the modifier of a Ruby statement, as in "return if ci". The groups are
// its word and its condition.
var rubyModifierRE = regexp.MustCompile(`\b(if|unless)\b\s+(.*?)\s*$`)

// indentedConditions is conditionsOf for languages with indented blocks.
func (in *inspector) indentedConditions(i, from int) ([]string, bool) {
	var conds []string

	at := in.List[i].Line
	level := in.Indent(i)
	text := in.lineText(at)

	if in.Lang == language.Ruby || in.Lang == language.Elixir {
		masked, plain := in.maskedLine(at), in.plainLine(at)
		if m := rubyModifierRE.FindStringSubmatchIndex(masked); m != nil && m[5] <= len(plain) && !strings.HasPrefix(strings.TrimSpace(masked), masked[m[2]:m[3]]) {
			conds = append(conds, negateIf(masked[m[2]:m[3]] == "unless", plain[m[4]:m[5]]))
		}
	}

	if m := indentedHeadRE.FindStringSubmatch(text); m != nil && !in.StartsLine(i) { // "if cond: statement" on one line
		cond, _, _ := strings.Cut(m[2], ":")
		conds = append(conds, strings.TrimSpace(cond))
	}

	// Each earlier line with less indentation is the head of a block around the statement.
	for n := at - 1; n > from && level > 0; n-- {
		first, ok := in.firstTokenOf(n)
		if !ok || in.Indent(first) >= level {
			continue
		}
		level = in.Indent(first)
		m := indentedHeadRE.FindStringSubmatch(in.lineText(n))
		if m == nil {
			continue
		}
		if definitionWords[m[1]] {
			return conds, false
		}
		conds = append(conds, conditionOfHead(m))
	}

	slices.Reverse(conds)
	return conds, true
}

var (
	// definitionWords start a function or class within the test.
	definitionWords = lex.WordSet(`def class lambda`)
	// fallbackWords start a block that runs instead of another block. The complete head is its
	// condition.
	fallbackWords = lex.WordSet(`else except rescue case cond when`)
)

// conditionOfHead returns the condition of a block from a match of indentedHeadRE: "x == 1" for
// "if x == 1:", and "else:" for "else:".
func conditionOfHead(m []string) string {
	if fallbackWords[m[1]] {
		return strings.TrimSpace(m[0])
	}
	return negateIf(m[1] == "unless" || m[1] == "until", strings.TrimSpace(m[2]))
}

// firstTokenOf returns the first token of line n. It returns false if the line has no token or
// continues a multi-line string.
func (in *inspector) firstTokenOf(n int) (int, bool) {
	i := in.FirstOfLine[n-1]
	return i, i < len(in.List) && in.List[i].Line == n && !in.InText[n-1]
}

// negateIf returns the condition, with "not " before it if negated is set. A negated constant
// becomes "true" or "false".
func negateIf(negated bool, cond string) string {
	if !negated {
		return cond
	}
	switch value, known := assertion.ConstantValue(cond); {
	case known && value:
		return "false"
	case known:
		return "true"
	}
	return "not " + cond
}

// maskedLine returns line n without comments and the contents of strings.
func (in *inspector) maskedLine(n int) string {
	from, to := in.lineSpan(n)
	return string(in.Masked[from:to])
}

// locateAnnotated sets the lines of m to those of the test or class after the annotation at token
// i. It returns false if neither follows.
func (in *inspector) locateAnnotated(m *Mark, i int) bool {
	if in.Lang == language.Rust && m.Condition == "not test" {
		return false
	}
	// Tests are compiled only with cfg(test).
	if in.Lang == language.Rust && m.Condition == "not not(test)" {
		m.Constant = true
	}

	to := in.annotationEnd(i)
	for n, j := 0, to; j < len(in.List) && n < tests.MaxAnnotationTokens; j, n = j+1, n+1 {
		for k := range in.file.Tests {
			if t := &in.file.Tests[k]; t.Line == in.List[j].Line && t.Kind != tests.Subtest {
				m.From, m.To = t.Line, t.End
				return true
			}
		}
		if tests.Shapes[in.Lang].Classes[in.Text(j)] && in.IsWord(j+1) {
			m.From, m.To, m.Scope = in.List[j].Line, in.blockEnd(j), OnGroup
			return in.containsTest(m.From, m.To)
		}
		if in.List[j].Partner > j {
			if in.Is(j, "{") {
				return false
			}
			j = in.List[j].Partner
		}
		if in.Is(j, ";") {
			return false
		}
	}
	return false
}

// annotationEnd returns the token after the annotation at token i, including its arguments.
func (in *inspector) annotationEnd(i int) int {
	if b := in.enclosing[i]; b >= 0 && in.Is(b, "[") { // an attribute of C#: [Ignore]
		return in.List[b].Partner + 1
	}
	j := i
	for j < len(in.List) && in.List[j].Line == in.List[i].Line {
		j = in.Skip(j)
		if in.Is(j-1, "]") || in.Is(j-1, ")") {
			break
		}
	}
	return j
}

// containsTest reports whether a test starts in the lines from from to to.
func (in *inspector) containsTest(from, to int) bool {
	return slices.ContainsFunc(in.file.Tests, func(t tests.TestDef) bool { return from <= t.Line && t.Line <= to })
}

// blockEnd returns the last line of the class or group that starts at token j. It is the line of
// the token if no block follows.
func (in *inspector) blockEnd(j int) int {
	if s := &function.Shapes[in.Lang]; s.Indented {
		last := in.FirstOfLine[in.List[j].Line] - 1
		if in.Lang == language.Python {
			last = s.HeadEnd(in.Tokens, j, j+1)
		}
		b, _ := s.Block(in.Tokens, lex.Span{Head: j}, last)
		return in.Line(min(b.End, len(in.List)-1))
	}
	for k := j; k < len(in.List) && k < j+tests.MaxAnnotationTokens; k = in.Skip(k) {
		if in.Is(k, "{") {
			return in.Line(max(in.List[k].Partner, k))
		}
	}
	return in.Line(j)
}

// locateCall sets the lines of m to those of the call at token i. It returns true.
func (in *inspector) locateCall(m *Mark, i int) bool {
	end := m.Line
	if in.Lang == language.Ruby {
		last := in.FirstOfLine[m.Line] - 1
		if b, ok := function.Shapes[language.Ruby].Block(in.Tokens, lex.Span{Head: i}, last); ok {
			end = in.Line(min(b.End, len(in.List)-1))
		}
	} else {
		for j := i; j < len(in.List) && j < i+40 && in.List[j].Line <= m.Line+1; j++ {
			if in.Is(j, "(") && in.List[j].Partner > j {
				end = max(end, in.Line(in.List[j].Partner))
				if !in.Is(in.List[j].Partner+1, "(") {
					break
				}
				j = in.List[j].Partner
			}
		}
	}

	m.From, m.To = m.Line, end
	if tests.ScriptShape.Groups[strings.TrimSpace(in.Text(i))] || tests.RubyGroups[in.Text(i)] || strings.Contains(in.Text(i), "describe") || strings.Contains(in.Text(i), "context") {
		m.Scope = OnGroup
	}
	return true
}

// locateFile sets the lines of m to those of the enclosing class, or of the file. It returns
// false for a Python statement within a test, and for an indented pytest.skip.
func (in *inspector) locateFile(m *Mark, i int) bool {
	if in.Lang == language.Python && in.file.TestAround(m.Line) != nil {
		return false
	}
	m.From, m.To, m.Scope = in.enclosingGroup(i)
	if in.Lang == language.Python && in.Indent(i) > 0 && in.Is(i, "pytest") {
		return false
	}
	if in.Lang == language.Ruby {
		m.To = in.lastLine() // what follows __END__ is data
	}
	return true
}

// enclosingGroup returns the lines of the class around token i, or of the file if there is
// none.
func (in *inspector) enclosingGroup(i int) (from, to int, s Scope) {
	classes := tests.Shapes[in.Lang].Classes
	from, to, s = 1, in.lastLine(), OnFile
	for j := 0; j < i; j++ {
		if classes[in.Text(j)] && in.IsWord(j+1) && !in.Is(j-1, ".") {
			if end := in.blockEnd(j); end >= in.List[i].Line && in.List[j].Line > from {
				from, to, s = in.List[j].Line, end, OnGroup
			}
		}
	}
	return from, to, s
}

// locateModified sets the lines of m to those of the test that contains the line of m, ends on
// it, or starts on the next line. Without such a test they are those of the group that starts on
// the line of m. It returns false if that group has no tests.
func (in *inspector) locateModified(m *Mark, _ int) bool {
	if t := in.file.TestAround(m.Line); t != nil {
		m.From, m.To = t.Line, t.End
		return true
	}
	for i := range in.file.Tests {
		if t := &in.file.Tests[i]; t.End == m.Line || t.Line == m.Line+1 {
			m.From, m.To = t.Line, t.End
			return true
		}
	}
	m.From, m.To, m.Scope = m.Line, in.blockEnd(in.FirstOfLine[m.Line-1]), OnGroup
	return in.containsTest(m.From, m.To)
}

// constantValue returns the value of a condition that is constant, or that is a name which the
// file assigns once, to true or false.
func (in *inspector) constantValue(cond string) (value, known bool) {
	if value, known = assertion.ConstantValue(cond); known {
		return value, known
	}

	m := nameRE.FindStringSubmatch(strings.TrimSpace(cond))
	if m == nil {
		return false, false
	}

	// The name is assigned exactly once, as in "const enabled = true" or "enabled: bool = True".
	set := regexp.MustCompile(`(?m)^(?:[^\n;({]*[ \t;{])?[$@]*`+regexp.QuoteMeta(m[2])+`[ \t]*(?::[ \t]*\w+[ \t]*)?(?::=|=)[ \t]*([^=~>\s][^\n;]*)`).FindAllSubmatch(in.plain, 3)
	if len(set) != 1 {
		return false, false
	}

	to := strings.TrimSpace(string(set[0][1]))
	if !booleanRE.MatchString(to) {
		return false, false
	}
	value, known = assertion.ConstantValue(to)
	return value != (m[1] != ""), known
}

var (
	// nameRE matches a condition that is only a name, as in "!self.enabled". The groups are its
	// negation and the name.
	nameRE = regexp.MustCompile(`^(!|not\s+)?\(?[$@]*(?:(?:self|this|cls|Self|[A-Z]\w*)(?:\.|::|->)[$]?)?([A-Za-z_]\w*)\)?$`)
	// booleanRE matches the start of a Boolean value or of its negation, as in "true" and
	// "!false".
	booleanRE = regexp.MustCompile(`^!?(?:[Tt]rue|TRUE|False|false|FALSE|1|0)\b`)
)
