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

// conditions returns the conditions under which the statement at token i is
// reached, from the outside in, as far as the line from which a test begins. It
// returns false for a statement of a function within the test that is not its
// body.
func (in *inspector) conditions(i, from int) ([]string, bool) {
	if function.Shapes[in.Lang].Indented {
		return in.indentedConditions(i, from)
	}
	var conds []string
	if c, ok := in.inlineCondition(i); ok {
		conds = append(conds, c)
	}
	functions := 0
	for j := in.up[i]; j >= 0 && in.List[j].Line >= from; j = in.up[j] {
		if !in.Is(j, "{") {
			continue
		}
		word, at := in.blockHead(j)
		switch {
		case functionHeads[word]:
			functions++
			if in.Lang == language.Go && in.testAt(in.List[at].Line) || in.List[at].Line == from {
				slices.Reverse(conds)
				return conds, true
			}
		case conditional[word]:
			conds = append(conds, in.headCondition(at, j))
		case alternative[word]:
			conds = append(conds, word)
		}
	}
	slices.Reverse(conds)
	return conds, functions <= 1
}

// conditional are the words whose blocks have a condition, alternative those
// whose blocks run instead of others.
var (
	conditional = lex.WordSet(`if while match switch guard when for foreach`)
	alternative = lex.WordSet(`else catch case default`)
)

var functionHeads = lex.WordSet(`func function fn fun => def TEST it test`)

func (in *inspector) testAt(line int) bool {
	return slices.ContainsFunc(in.file.Tests, func(t tests.TestDef) bool { return t.Line == line })
}

// blockWords are the words that a block can belong to.
var blockWords = lex.WordSet(`if while for foreach match switch guard when else catch case default try do loop finally func function fn fun class struct mod namespace describe context suite impl enum interface unsafe using lock synchronized`)

// blockHead returns the word that the block opened at token j belongs to, "" for
// none, and where it is.
func (in *inspector) blockHead(j int) (string, int) {
	if in.Is(j-1, "=>") {
		at := j - 2
		if in.Is(at, ")") && in.List[at].Mate >= 0 {
			at = in.List[at].Mate
		}
		return "=>", at
	}
	for k, n := j-1, 0; k >= 0 && n < 60; k, n = k-1, n+1 {
		if m := in.List[k].Mate; m >= 0 && m < k && !in.Is(k, "}") {
			k = m
			continue
		}
		switch text := in.Text(k); {
		case in.endsHead(text):
			return "", k
		case blockWords[text]:
			return text, k
		}
	}
	return "", j
}

// endsHead reports whether a token to the left of a block belongs to what is
// before it.
func (in *inspector) endsHead(text string) bool {
	switch text {
	case "{", "}", "(", "[":
		return true
	case ";", "=":
		return in.Lang != language.Go
	}
	return false
}

// headCondition is what is between the word of a block and its brace.
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

// inlineCondition reads "if (cond) statement" and "cond && statement".
func (in *inspector) inlineCondition(i int) (string, bool) {
	j := i - 1
	for j >= 0 && in.List[j].Line == in.List[i].Line && (in.IsWord(j) && !blockWords[in.Text(j)] || in.Is(j, ".") || in.Is(j, "->")) {
		j--
	}
	switch {
	case in.Is(j, ")") && in.List[j].Mate > 0 && in.Is(in.List[j].Mate-1, "if"):
		return in.between(in.List[in.List[j].Mate].End, in.List[j].Pos), true
	case in.Is(j, "else"):
		return "else", true
	case in.Is(j, "&&"), in.Is(j, "||"), in.Is(j, "?"), in.Is(j, ":") && in.Lang != language.Swift:
		from := in.List[in.First[in.List[j].Line-1]].Pos
		return in.between(from, in.List[j].Pos), true
	}
	return "", false
}

// indentedHead matches the lines that a block without braces belongs to.
var indentedHead = regexp.MustCompile(`^(if|elif|elsif|unless|while|until|for|else|except|case|when|cond|rescue|def|class|lambda)\b(.*?):?\s*$`)

// modifiers follow a statement of Ruby.
var modifiers = regexp.MustCompile(`\b(if|unless)\b\s+(.*?)\s*$`)

func (in *inspector) indentedConditions(i, from int) ([]string, bool) {
	var conds []string
	at := in.List[i].Line
	level := in.Indent(i)
	text := in.lineText(at)
	if in.Lang == language.Ruby || in.Lang == language.Elixir {
		masked, plain := in.maskedLine(at), in.plainLine(at)
		if m := modifiers.FindStringSubmatchIndex(masked); m != nil && m[5] <= len(plain) && !strings.HasPrefix(strings.TrimSpace(masked), masked[m[2]:m[3]]) {
			conds = append(conds, negatedIf(masked[m[2]:m[3]] == "unless", plain[m[4]:m[5]]))
		}
	}
	if m := indentedHead.FindStringSubmatch(text); m != nil && !in.StartsLine(i) { // if cond: statement
		cond, _, _ := strings.Cut(m[2], ":")
		conds = append(conds, strings.TrimSpace(cond))
	}
	for n := at - 1; n > from && level > 0; n-- {
		first, ok := in.begins(n)
		if !ok || in.Indent(first) >= level {
			continue
		}
		level = in.Indent(first)
		m := indentedHead.FindStringSubmatch(in.lineText(n))
		if m == nil {
			continue
		}
		if definitions[m[1]] {
			return conds, false
		}
		conds = append(conds, headOf(m))
	}
	slices.Reverse(conds)
	return conds, true
}

var (
	definitions = lex.WordSet(`def class lambda`)
	otherwise   = lex.WordSet(`else except rescue case cond when`)
)

// headOf is the condition of a block, from what indentedHead matched.
func headOf(m []string) string {
	if otherwise[m[1]] {
		return strings.TrimSpace(m[0])
	}
	return negatedIf(m[1] == "unless" || m[1] == "until", strings.TrimSpace(m[2]))
}

// begins returns the first token of a line; false if the line has none, or
// continues a text.
func (in *inspector) begins(n int) (int, bool) {
	i := in.First[n-1]
	return i, i < len(in.List) && in.List[i].Line == n && !in.InText[n-1]
}

func negatedIf(negated bool, cond string) string {
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

// maskedLine returns a line without comments and the bodies of strings.
func (in *inspector) maskedLine(n int) string {
	from, to := in.lineSpan(n)
	return string(in.Masked[from:to])
}

// annotationMark finds the test or class that the annotation at token i is
// before.
func (in *inspector) annotationMark(m *Mark, i int) bool {
	if in.Lang == language.Rust && m.Condition == "not test" {
		return false
	}
	if in.Lang == language.Rust && m.Condition == "not not(test)" { // tests are built for tests alone
		m.Constant = true
	}
	to := in.afterAnnotation(i)
	for n, j := 0, to; j < len(in.List) && n < tests.MaxMarks; j, n = j+1, n+1 {
		for k := range in.file.Tests {
			if t := &in.file.Tests[k]; t.Line == in.List[j].Line && t.Kind != tests.Subtest {
				m.From, m.To = t.Line, t.End
				return true
			}
		}
		if tests.Shapes[in.Lang].Classes[in.Text(j)] && in.IsWord(j+1) {
			m.From, m.To, m.Scope = in.List[j].Line, in.blockEnd(j), OnGroup
			return in.holdsTest(m.From, m.To)
		}
		if in.List[j].Mate > j {
			if in.Is(j, "{") {
				return false
			}
			j = in.List[j].Mate
		}
		if in.Is(j, ";") {
			return false
		}
	}
	return false
}

// afterAnnotation returns the token after the annotation at token i.
func (in *inspector) afterAnnotation(i int) int {
	if b := in.up[i]; b >= 0 && in.Is(b, "[") { // within [ … ] of C#
		return in.List[b].Mate + 1
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

func (in *inspector) holdsTest(from, to int) bool {
	return slices.ContainsFunc(in.file.Tests, func(t tests.TestDef) bool { return from <= t.Line && t.Line <= to })
}

// blockEnd returns the last line of the class or group that token j begins.
func (in *inspector) blockEnd(j int) int {
	if s := &function.Shapes[in.Lang]; s.Indented {
		last := in.First[in.List[j].Line] - 1
		if in.Lang == language.Python {
			last = s.HeadEnd(in.Tokens, j, j+1)
		}
		b, _ := s.Block(in.Tokens, lex.Span{Head: j}, last)
		return in.Line(min(b.End, len(in.List)-1))
	}
	for k := j; k < len(in.List) && k < j+tests.MaxMarks; k = in.Skip(k) {
		if in.Is(k, "{") {
			return in.Line(max(in.List[k].Mate, k))
		}
	}
	return in.Line(j)
}

// callMark finds the lines of the call at token i.
func (in *inspector) callMark(m *Mark, i int) bool {
	end := m.Line
	if in.Lang == language.Ruby {
		last := in.First[m.Line] - 1
		if b, ok := function.Shapes[language.Ruby].Block(in.Tokens, lex.Span{Head: i}, last); ok {
			end = in.Line(min(b.End, len(in.List)-1))
		}
	} else {
		for j := i; j < len(in.List) && j < i+40 && in.List[j].Line <= m.Line+1; j++ {
			if in.Is(j, "(") && in.List[j].Mate > j {
				end = max(end, in.Line(in.List[j].Mate))
				if !in.Is(in.List[j].Mate+1, "(") {
					break
				}
				j = in.List[j].Mate
			}
		}
	}
	m.From, m.To = m.Line, end
	if tests.ScriptShape.Groups[strings.TrimSpace(in.Text(i))] || tests.RubyGroups[in.Text(i)] || strings.Contains(in.Text(i), "describe") || strings.Contains(in.Text(i), "context") {
		m.Scope = OnGroup
	}
	return true
}

// fileMark finds what holds a mark that is not a statement of a test: the class
// around it, or the file.
func (in *inspector) fileMark(m *Mark, i int) bool {
	if in.Lang == language.Python && in.testAround(m.Line) != nil {
		return false
	}
	m.From, m.To, m.Scope = in.groupAround(i)
	if in.Lang == language.Python && in.Indent(i) > 0 && in.Is(i, "pytest") {
		return false
	}
	if in.Lang == language.Ruby {
		m.To = in.lastLine() // what follows is data
	}
	return true
}

// groupAround returns the lines of the class around token i, or of the file.
func (in *inspector) groupAround(i int) (from, to int, s Scope) {
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

// modifierMark finds the test whose call holds the line, or ends with it.
func (in *inspector) modifierMark(m *Mark) bool {
	if t := in.testAround(m.Line); t != nil {
		m.From, m.To = t.Line, t.End
		return true
	}
	for i := range in.file.Tests {
		if t := &in.file.Tests[i]; t.End == m.Line || t.Line == m.Line+1 {
			m.From, m.To = t.Line, t.End
			return true
		}
	}
	m.From, m.To, m.Scope = m.Line, in.blockEnd(in.First[m.Line-1]), OnGroup
	return in.holdsTest(m.From, m.To)
}

// constant is Constant, for conditions that may also be a name that the file
// sets once, to true or false.
func (in *inspector) constant(cond string) (value, known bool) {
	if value, known = assertion.ConstantValue(cond); known {
		return value, known
	}
	m := bareName.FindStringSubmatch(strings.TrimSpace(cond))
	if m == nil {
		return false, false
	}
	set := regexp.MustCompile(`(?m)^(?:[^\n;({]*[ \t;{])?[$@]*`+regexp.QuoteMeta(m[2])+`[ \t]*(?::[ \t]*\w+[ \t]*)?(?::=|=)[ \t]*([^=~>\s][^\n;]*)`).FindAllSubmatch(in.plain, 3)
	if len(set) != 1 {
		return false, false
	}
	to := strings.TrimSpace(string(set[0][1]))
	if !onOff.MatchString(to) {
		return false, false
	}
	value, known = assertion.ConstantValue(to)
	return value != (m[1] != ""), known
}

var (
	bareName = regexp.MustCompile(`^(!|not\s+)?\(?[$@]*(?:(?:self|this|cls|Self|[A-Z]\w*)(?:\.|::|->)[$]?)?([A-Za-z_]\w*)\)?$`)
	onOff    = regexp.MustCompile(`^!?(?:[Tt]rue|TRUE|False|false|FALSE|1|0)\b`)
)
