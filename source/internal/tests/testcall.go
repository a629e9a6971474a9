package tests

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// readCall reads a test or group that is a call with a title, as in it("adds", …) and describe
// "calc" do. It does nothing if token i is no such call.
func (f *testFinder) readCall(i int) {
	name := f.Text(i)
	if f.Lang == language.Rust {
		f.readRustMacro(i)
		return
	}

	isTest, isGroup := f.testCalls[name], f.Groups[name]
	if !isTest && !isGroup || f.Is(i-1, ".") && !f.Is(i-2, framework.RubyReceiver) || nonCallTokens[f.Text(i-1)] {
		return
	}

	open := f.argumentsStart(i)
	title, after, ok := f.readTitle(open+1, isGroup)
	if !ok {
		f.readUntitledCall(i)
		return
	}

	body, ok := f.findBlock(i, open, after)
	switch {
	case !ok:
	case isGroup:
		body.name = title
		f.push(body)
	case title != "":
		f.addTitled(title, i, body)
	}
}

// readUntitledCall reads a test that is a call without a title. As in RSpec, its name is the text
// of its body.
func (f *testFinder) readUntitledCall(i int) {
	if !f.untitledCalls[f.Text(i)] || !f.StartsLine(i) {
		return
	}
	body, ok := f.findRubyBlock(i, i+1)
	if !ok || body.body >= body.end {
		return
	}
	text := strings.Join(strings.Fields(string(f.plain[f.List[body.body].Pos:f.List[min(body.end, len(f.List)-1)].Pos])), " ")
	if f.Is(i, "its") { // the attribute of the subject is a part of the name
		text = strings.Join(strings.Fields(string(f.plain[f.List[i].Pos:f.List[body.body-1].Pos])), " ") + " " + text
	}
	f.addTitled(text, i, body)
	f.found[len(f.found)-1].Untitled = true
}

// nonCallTokens precede a name that is no call of a test runner.
var nonCallTokens = lex.WordSet(`def : -> :: fun func function`)

// readRustMacro reads a test of a project's macro: rgtest!(name, …).
func (f *testFinder) readRustMacro(i int) {
	if !strings.HasSuffix(f.Text(i), "test") || !f.Is(i+1, "!") || !f.Is(i+2, "(") || !f.IsWord(i+3) || !f.Is(i+4, ",") {
		return
	}
	if end := f.List[i+2].Partner; end > i+5 {
		f.add(f.Text(i+3), i, scope{body: i + 5, end: end - 1})
		f.readUntil = end
	}
}

// readNativeMacro reads TEST(Suite, Name) {, TEST_CASE("title", "[tags]") { and similar
// macros.
func (f *testFinder) readNativeMacro(i int) {
	open := i + 1
	end := f.List[open].Partner
	if end < 0 || !f.Is(end+1, "{") || f.List[end+1].Partner < 0 {
		return
	}
	name := ""
	for j := open + 1; j < end && name == ""; j++ {
		if f.Is(j, `"`) && f.Is(j+1, `"`) {
			name = unescapeTitle(string(f.Src[f.List[j].End:f.List[j+1].Pos]))
		}
	}
	if name == "" && f.IsWord(open+1) {
		name = f.Text(open + 1)
		if f.Is(open+2, ",") && f.IsWord(open+3) && !strings.HasPrefix(f.Text(i), "BOOST") {
			name += "." + f.Text(open+3)
		}
	}
	if name != "" {
		body := scope{body: end + 2, end: f.List[end+1].Partner}
		f.add(name, i, body)
		f.readUntil = body.end
	}
}

// addTitled adds a test with a title and its body.
func (f *testFinder) addTitled(title string, head int, body scope) {
	def := TestDef{Name: title, Class: f.enclosingName(true), Line: f.Line(head), End: f.Line(body.end)}
	switch {
	case f.methodName != nil && f.Is(head, "test"):
		def.Name = f.methodName(title)
	case def.Class != "":
		def.Name = def.Class + " " + title
	}
	f.readBody(&def, body)
	f.found = append(f.found, def)
	f.readUntil = body.end
}

// railsMethodName returns the name of the method that ActiveSupport defines for a title.
func railsMethodName(title string) string { return "test_" + strings.Join(strings.Fields(title), "_") }

// argumentsStart returns the token before the first argument of the call at token i: its opening
// parenthesis, after modifiers such as .only and .each(table), or the last token of the callee if
// it has none.
func (f *testFinder) argumentsStart(i int) int {
	for {
		switch {
		case f.Is(i+1, ".") && f.IsWord(i+2) && f.Lang != language.Ruby:
			i += 2
		case f.Is(i+1, "(") && f.List[i+1].Partner > i && f.Is(f.List[i+1].Partner+1, "(") && f.Is(i-1, "."): // a modifier such as .each(…)
			return f.List[i+1].Partner + 1
		case f.Is(i+1, "`") && f.Is(i, "each"): // the rows are a table in a template
			j := i + 2
			for j < len(f.List) && !f.Is(j, "`") {
				j++
			}
			return j + 1
		case f.Is(i+1, "("):
			return i + 1
		default:
			return i
		}
	}
}

// readTitle reads the string literal at token i or, for a group, a class name. It returns the
// title and the token after it, and false if the title is computed or missing.
func (f *testFinder) readTitle(i int, group bool) (string, int, bool) {
	switch quote := f.Text(i); quote {
	case `"`, `'`, "`":
		if !f.Is(i+1, quote) || f.List[i+1].Pos < f.List[i].End { // the title is partly computed
			return f.readTemplateTitle(i, group)
		}
		isComplete := f.Is(i+2, ",") || f.Is(i+2, ")") || f.Is(i+2, "do") || f.Is(i+2, "{")
		return unescapeTitle(string(f.Src[f.List[i].End:f.List[i+1].Pos])), i + 2, isComplete
	}
	j := i
	for f.IsWord(j) && f.Text(j) != "do" {
		j++
		if !f.Is(j, "::") && !f.Is(j, ".") {
			break
		}
		j++
	}
	if !group || j == i || j > len(f.List) {
		return "", 0, false
	}
	return string(f.Masked[f.List[i].Pos:f.List[j-1].End]), j, true
}

// readTemplateTitle reads a title that is partly computed, as in it(`adds ${n}`, …). The text of
// the template is the title. It returns false for other literals, and for groups.
func (f *testFinder) readTemplateTitle(i int, group bool) (string, int, bool) {
	for j := i + 1; !group && f.Is(i, "`") && j < len(f.List) && f.Line(j) == f.Line(i); j++ {
		if f.Is(j, "`") {
			return unescapeTitle(string(f.Src[f.List[i].End:f.List[j].Pos])), j + 1, f.Is(j+1, ",")
		}
	}
	return "", 0, false
}

// unescapeTitle removes the backslashes before quotes and backslashes.
func unescapeTitle(s string) string {
	return strings.NewReplacer(`\'`, `'`, `\"`, `"`, "\\`", "`", `\\`, `\`).Replace(s)
}

// findBlock returns the body of the call at token i. open is its opening parenthesis, and after
// the token after its title. It returns false if the call has no body.
func (f *testFinder) findBlock(i, open, after int) (scope, bool) {
	if f.Lang == language.Ruby || f.Lang == language.Elixir {
		return f.findRubyBlock(i, after)
	}
	if m := f.partnerOf(open); (f.Lang == language.Kotlin || f.Lang == language.Swift) && m > 0 && f.Is(m+1, "{") && f.List[m+1].Partner > m {
		return scope{body: m + 2, end: f.List[m+1].Partner}, true
	}
	if !f.Is(open, "(") || f.List[open].Partner <= after {
		return scope{}, false // a planned test has no body
	}
	s := scope{body: after, end: f.List[open].Partner - 1}
	for j := after; j <= s.end; j = f.Skip(j) {
		if f.Is(j, "=>") || f.Is(j, "{") && f.Is(j-1, ")") {
			s.body = j + 1
			break
		}
	}
	return s, s.body <= s.end
}

// partnerOf returns the partner of the parenthesis at token i, -1 if it is none.
func (f *testFinder) partnerOf(i int) int {
	if !f.Is(i, "(") {
		return -1
	}
	return f.List[i].Partner
}

// findRubyBlock returns the block of the call at token i: do … end or { … }. It returns false if
// no block starts on the same line.
func (f *testFinder) findRubyBlock(i, after int) (scope, bool) {
	last := f.lastTokenOfLine(i)
	for j := after; j <= last && j < len(f.List); j = f.Skip(j) {
		switch f.Text(j) {
		case "{":
			if m := f.List[j].Partner; f.Lang == language.Ruby {
				return scope{body: j + 1, end: m}, m > j
			}
		case "do":
			if s, ok := f.findOneLiner(j, last); ok {
				return s, true
			}
			b, ok := function.Shapes[f.Lang].Block(f.Tokens, lex.Span{Head: i}, last)
			return scope{body: b.Body, end: b.End}, ok && b.End < len(f.List)
		}
	}
	return scope{}, false
}

// findOneLiner returns the block from the do at token do to the end at token last. It returns
// false if the line ends with another token.
func (f *testFinder) findOneLiner(do, last int) (scope, bool) {
	return scope{body: do + 1, end: last - 1}, last > do && f.Is(last, "end")
}

// assertingWords start the names of assertions in languages other than Go.
var assertingWords = []string{
	"assert", "expect", "should", "verify", "refute", "must", "wont", "raises", "fail", "check", "require", "eqnice", "panic",
	"is_expected", "are_expected", // RSpec: of the subject
	"warns", "deprecated_call", "fnmatch", "no_fnmatch", "re_match", "no_re_match", // pytest and its pytester
	"xctassert", "xctfail", "xctunwrap", "boost_check", "boost_require", "boost_test", "succeed",
}

// noiseWords are called or selected in every test, so they do not show what is tested.
var noiseWords = lex.WordSet(`self this cls super if for while switch catch function new not and or in is return await async lambda
	print len str int list dict set range type isinstance console log to be eq equal that get let have fn mock
	` + framework.TestReceivers + ` Assert Assertions Mockito String println format vec None True False`)

// comparisonOperators are the operators that count as tokens.
var comparisonOperators = lex.WordSet(`== != < > <= >= && || !`)

// readBody sets the tokens, literals, symbols and assertions of a test.
func (f *testFinder) readBody(def *TestDef, body scope) {
	body.end = min(body.end, len(f.List)-1)
	def.Tokens = map[string]int{}
	f.countStrings(def, body)

	symbols := map[string]bool{}
	numbers := map[string]bool{}
	for i := body.body; i <= body.end; i++ {
		text := f.Text(i)
		switch {
		case !f.List[i].Word:
			if comparisonOperators[text] {
				def.Tokens[text]++
			}
			continue
		case lex.IsDigit(text[0]) && !numbers[text]:
			numbers[text] = true
			def.Literals = append(def.Literals, text)
		case f.isReference(i):
			symbols[text] = true
		}
		def.Tokens[text]++
	}

	def.Symbols = SortedKeys(symbols)
	f.collectAssertions(def, body)
}

// countStrings adds the strings of a body to the tokens and literals of a test.
func (f *testFinder) countStrings(def *TestDef, body scope) {
	if body.end < body.body {
		return
	}
	from, to := f.List[body.body].Pos, f.List[body.end].End
	for i := from; i < to; i++ {
		if f.kinds[i] != lex.Text {
			continue
		}
		start := i
		for i < to && f.kinds[i] == lex.Text {
			i++
		}

		literal := `"` + string(f.Src[start:i]) + `"`
		if def.Tokens[literal] == 0 {
			def.Literals = append(def.Literals, literal)
		}
		def.Tokens[literal]++
	}
}

// isReference reports whether the word at token i names something under test: it is called or
// selected, and belongs neither to the runner nor to an assertion.
func (f *testFinder) isReference(i int) bool {
	name := f.Text(i)
	if lex.IsDigit(name[0]) || noiseWords[name] || isAssertion(name) || len(name) > 2 && strings.HasPrefix(name, "to") && name[2] < 'a' {
		return false
	}
	if f.Is(i+1, "(") {
		return true
	}
	return f.Is(i-1, ".") || f.Is(i-1, "::") || f.Is(i-1, "->")
}

// isAssertion reports whether a name starts with one of assertingWords.
func isAssertion(name string) bool { return StartsWithAny(strings.TrimLeft(name, "_"), assertingWords) }

// collectAssertions adds the statements of a body that assert.
func (f *testFinder) collectAssertions(def *TestDef, body scope) {
	least := body.body
	for i := body.body; i <= body.end; i++ {
		if !f.List[i].Word || !isAssertion(f.Text(i)) && !f.isHandleAssertion(i) || f.Is(i+1, "=") || f.Is(i+1, ":=") {
			continue
		}

		from, to := f.statementAround(i, least, body.end)
		words := strings.Fields(string(f.plain[f.List[from].Pos:f.List[to].End]))
		def.Assertions = append(def.Assertions, strings.Join(words, " "))
		least, i = to+1, to
	}
}

var (
	// handleNames are the usual names of the handle that ava, tap and tape pass to a test.
	handleNames = lex.WordSet(`t tt st ct tap`)
	// handleAssertions are the methods of such a handle that assert.
	handleAssertions = lex.WordSet(`is isNot not deepEqual notDeepEqual like unlike true false truthy falsy throws throwsAsync notThrows notThrowsAsync
		regex notRegex snapshot same notSame strictSame strictNotSame equal notEqual equals deepEquals looseEqual strictEqual notStrictEqual
		deepStrictEqual ok notOk match doesNotMatch notMatch rejects resolves error ifError has hasStrict type pass`)
)

// isHandleAssertion reports whether token i is an assertion that is called on the handle of a
// JavaScript test, as in t.is(1, 1).
func (f *testFinder) isHandleAssertion(i int) bool {
	return (f.Lang == language.JavaScript || f.Lang == language.TypeScript) && f.Is(i+1, "(") && f.Is(i-1, ".") && handleNames[f.Text(i-2)] && handleAssertions[f.Text(i)]
}

// statementOpeners precede the first token of a statement.
var statementOpeners = lex.WordSet(`{ } ; ( [ => do then`)

// statementAround returns the first and the last token of the statement around token i. Both are
// between tokens least and most.
func (f *testFinder) statementAround(i, least, most int) (from, to int) {
	from, to = i, i
	for from > least && !f.StartsLine(from) && !statementOpeners[f.Text(from-1)] {
		from--
		if m := f.List[from].Partner; m >= least && m < from {
			from = m
		}
	}
	for next := f.Skip(i); next <= most; next = f.Skip(next) {
		if slices.Contains([]string{";", "}", ")", "]"}, f.Text(next)) || f.StartsLine(next) && !f.continuesStatement(next) {
			break
		}
		to = min(f.Skip(next)-1, most)
	}
	return from, to
}

// continuesStatement reports whether the line that starts at token i continues the statement
// of the line before.
func (f *testFinder) continuesStatement(i int) bool {
	return f.Is(i, ".") || f.Is(i, "?.") || f.Is(i, "->") || f.Is(i-1, `\`) || f.Is(i-1, ",")
}
