package tests

import (
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// call reads a test or a group that is a call with a title: it("title", …),
// describe "title" do.
func (f *testFinder) call(i int) {
	name := f.Text(i)
	if f.Lang == language.Rust {
		f.rustMacro(i)
		return
	}
	isTest, isGroup := f.calls[name], f.Groups[name]
	if !isTest && !isGroup || f.Is(i-1, ".") && !f.Is(i-2, framework.RubyReceiver) || notBeforeCall[f.Text(i-1)] {
		return
	}
	open := f.arguments(i)
	title, after, ok := f.title(open+1, isGroup)
	if !ok {
		f.untitledCall(i)
		return
	}
	body, ok := f.block(i, open, after)
	switch {
	case !ok:
	case isGroup:
		body.name = title
		f.enter(body)
	case title != "":
		f.addTitled(title, i, body)
	}
}

// untitledCall reads a test that is a call without a title. RSpec makes its name of what
// it expects, and so does this.
func (f *testFinder) untitledCall(i int) {
	if !f.untitled[f.Text(i)] || !f.StartsLine(i) {
		return
	}
	body, ok := f.rubyBlock(i, i+1)
	if !ok || body.body >= body.end {
		return
	}
	text := strings.Join(strings.Fields(string(f.plain[f.List[body.body].Pos:f.List[min(body.end, len(f.List)-1)].Pos])), " ")
	if f.Is(i, "its") { // the attribute is part of what is expected
		text = strings.Join(strings.Fields(string(f.plain[f.List[i].Pos:f.List[body.body-1].Pos])), " ") + " " + text
	}
	f.addTitled(text, i, body)
	f.found[len(f.found)-1].Untitled = true
}

// notBeforeCall are tokens that make of a name after them no call of a runner.
var notBeforeCall = lex.WordSet(`def : -> :: fun func function`)

// rustMacro reads the tests of a project's own macro: rgtest!(name, …).
func (f *testFinder) rustMacro(i int) {
	if !strings.HasSuffix(f.Text(i), "test") || !f.Is(i+1, "!") || !f.Is(i+2, "(") || !f.IsWord(i+3) || !f.Is(i+4, ",") {
		return
	}
	if end := f.List[i+2].Mate; end > i+5 {
		f.add(f.Text(i+3), i, scope{body: i + 5, end: end - 1})
		f.past = end
	}
}

// nativeMacro reads TEST(Suite, Name) {, TEST_CASE("title", "[tags]") { and
// their like.
func (f *testFinder) nativeMacro(i int) {
	open := i + 1
	end := f.List[open].Mate
	if end < 0 || !f.Is(end+1, "{") || f.List[end+1].Mate < 0 {
		return
	}
	name := ""
	for j := open + 1; j < end && name == ""; j++ {
		if f.Is(j, `"`) && f.Is(j+1, `"`) {
			name = unescape(string(f.Src[f.List[j].End:f.List[j+1].Pos]))
		}
	}
	if name == "" && f.IsWord(open+1) {
		name = f.Text(open + 1)
		if f.Is(open+2, ",") && f.IsWord(open+3) && !strings.HasPrefix(f.Text(i), "BOOST") {
			name += "." + f.Text(open+3)
		}
	}
	if name != "" {
		body := scope{body: end + 2, end: f.List[end+1].Mate}
		f.add(name, i, body)
		f.past = body.end
	}
}

func (f *testFinder) addTitled(title string, head int, body scope) {
	def := TestDef{Name: title, Class: f.around(true), Line: f.Line(head), End: f.Line(body.end)}
	switch {
	case f.method != nil && f.Is(head, "test"):
		def.Name = f.method(title)
	case def.Class != "":
		def.Name = def.Class + " " + title
	}
	f.read(&def, body)
	f.found = append(f.found, def)
	f.past = body.end
}

// railsName is the method that ActiveSupport defines for a title.
func railsName(title string) string { return "test_" + strings.Join(strings.Fields(title), "_") }

// arguments returns the token before the first argument of the call at token
// i: the parenthesis, past modifiers such as .only and .each(table), or in Ruby
// the last token of the callee.
func (f *testFinder) arguments(i int) int {
	for {
		switch {
		case f.Is(i+1, ".") && f.IsWord(i+2) && f.Lang != language.Ruby:
			i += 2
		case f.Is(i+1, "(") && f.List[i+1].Mate > i && f.Is(f.List[i+1].Mate+1, "(") && f.Is(i-1, "."): // .each(…), .skipIf(…)
			return f.List[i+1].Mate + 1
		case f.Is(i+1, "`") && f.Is(i, "each"): // the rows of a table in a template
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

// title reads the literal at token i, or for a group the name of a class, and
// returns the token after it.
func (f *testFinder) title(i int, group bool) (string, int, bool) {
	switch quote := f.Text(i); quote {
	case `"`, `'`, "`":
		if !f.Is(i+1, quote) || f.List[i+1].Pos < f.List[i].End { // computed in part
			return f.template(i, group)
		}
		whole := f.Is(i+2, ",") || f.Is(i+2, ")") || f.Is(i+2, "do") || f.Is(i+2, "{")
		return unescape(string(f.Src[f.List[i].End:f.List[i+1].Pos])), i + 2, whole
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

// template reads a title that is computed in part, as those of tests that a loop
// defines: its text is their name, as the %s of other titles is.
func (f *testFinder) template(i int, group bool) (string, int, bool) {
	for j := i + 1; !group && f.Is(i, "`") && j < len(f.List) && f.Line(j) == f.Line(i); j++ {
		if f.Is(j, "`") {
			return unescape(string(f.Src[f.List[i].End:f.List[j].Pos])), j + 1, f.Is(j+1, ",")
		}
	}
	return "", 0, false
}

// unescape drops the backslashes before quotes and blanks, which is what
// titles hold.
func unescape(s string) string {
	return strings.NewReplacer(`\'`, `'`, `\"`, `"`, "\\`", "`", `\\`, `\`).Replace(s)
}

// block returns the body of the call at token i whose title ends before after.
func (f *testFinder) block(i, open, after int) (scope, bool) {
	if f.Lang == language.Ruby || f.Lang == language.Elixir {
		return f.rubyBlock(i, after)
	}
	if m := f.mateOf(open); (f.Lang == language.Kotlin || f.Lang == language.Swift) && m > 0 && f.Is(m+1, "{") && f.List[m+1].Mate > m {
		return scope{body: m + 2, end: f.List[m+1].Mate}, true
	}
	if !f.Is(open, "(") || f.List[open].Mate <= after {
		return scope{}, false // a test without a body is only planned
	}
	s := scope{body: after, end: f.List[open].Mate - 1}
	for j := after; j <= s.end; j = f.Skip(j) {
		if f.Is(j, "=>") || f.Is(j, "{") && f.Is(j-1, ")") {
			s.body = j + 1
			break
		}
	}
	return s, s.body <= s.end
}

// mateOf returns the partner of the bracket at token i, -1 for none.
func (f *testFinder) mateOf(i int) int {
	if !f.Is(i, "(") {
		return -1
	}
	return f.List[i].Mate
}

// rubyBlock reads do … end or { … } after the arguments of a call.
func (f *testFinder) rubyBlock(i, after int) (scope, bool) {
	last := f.lineEnd(i)
	for j := after; j <= last && j < len(f.List); j = f.Skip(j) {
		switch f.Text(j) {
		case "{":
			if m := f.List[j].Mate; f.Lang == language.Ruby {
				return scope{body: j + 1, end: m}, m > j
			}
		case "do":
			if s, ok := f.oneLiner(j, last); ok {
				return s, true
			}
			b, ok := function.Shapes[f.Lang].Block(f.Tokens, lex.Span{Head: i}, last)
			return scope{body: b.Body, end: b.End}, ok && b.End < len(f.List)
		}
	}
	return scope{}, false
}

// oneLiner reads do … end on one line.
func (f *testFinder) oneLiner(do, last int) (scope, bool) {
	return scope{body: do + 1, end: last - 1}, last > do && f.Is(last, "end")
}

// assertingWords begin the names that assert in the languages other than Go.
var assertingWords = []string{
	"assert", "expect", "should", "verify", "refute", "must", "wont", "raises", "fail", "check", "require", "eqnice", "panic",
	"is_expected", "are_expected", // RSpec: of the subject
	"warns", "deprecated_call", "fnmatch", "no_fnmatch", "re_match", "no_re_match", // pytest and its pytester
	"xctassert", "xctfail", "xctunwrap", "boost_check", "boost_require", "boost_test", "succeed",
}

// noise are words that are called or selected in every test and say nothing
// of what is tested.
var noise = lex.WordSet(`self this cls super if for while switch catch function new not and or in is return await async lambda
	print len str int list dict set range type isinstance console log to be eq equal that get let have fn mock
	` + framework.TestReceivers + ` Assert Assertions Mockito String println format vec None True False`)

// compares are the operators that count as tokens.
var compares = lex.WordSet(`== != < > <= >= && || !`)

// read fills in what the body of a test says.
func (f *testFinder) read(def *TestDef, body scope) {
	body.end = min(body.end, len(f.List)-1)
	def.Tokens = map[string]int{}
	f.texts(def, body)
	symbols := map[string]bool{}
	numbers := map[string]bool{}
	for i := body.body; i <= body.end; i++ {
		text := f.Text(i)
		switch {
		case !f.List[i].Word:
			if compares[text] {
				def.Tokens[text]++
			}
			continue
		case lex.IsDigit(text[0]) && !numbers[text]:
			numbers[text] = true
			def.Literals = append(def.Literals, text)
		case f.refers(i):
			symbols[text] = true
		}
		def.Tokens[text]++
	}
	def.Symbols = SortedKeys(symbols)
	f.assertions(def, body)
}

// texts counts the strings of a body.
func (f *testFinder) texts(def *TestDef, body scope) {
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

// refers reports whether the word at token i names something that a test uses:
// it is called or selected, and not by the way of the runner.
func (f *testFinder) refers(i int) bool {
	name := f.Text(i)
	if lex.IsDigit(name[0]) || noise[name] || asserts(name) || len(name) > 2 && strings.HasPrefix(name, "to") && name[2] < 'a' {
		return false
	}
	if f.Is(i+1, "(") {
		return true
	}
	return f.Is(i-1, ".") || f.Is(i-1, "::") || f.Is(i-1, "->")
}

// asserts reports whether a name is that of an assertion.
func asserts(name string) bool { return StartsWithAny(strings.TrimLeft(name, "_"), assertingWords) }

// assertions lists the statements of a body that assert.
func (f *testFinder) assertions(def *TestDef, body scope) {
	least := body.body
	for i := body.body; i <= body.end; i++ {
		if !f.List[i].Word || !asserts(f.Text(i)) && !f.byHandle(i) || f.Is(i+1, "=") || f.Is(i+1, ":=") {
			continue
		}
		from, to := f.statement(i, least, body.end)
		words := strings.Fields(string(f.plain[f.List[from].Pos:f.List[to].End]))
		def.Assertions = append(def.Assertions, strings.Join(words, " "))
		least, i = to+1, to
	}
}

// handles are what ava, tap and tape give a test, handleAsserts what it asserts with
// by them.
var (
	handles       = lex.WordSet(`t tt st ct tap`)
	handleAsserts = lex.WordSet(`is isNot not deepEqual notDeepEqual like unlike true false truthy falsy throws throwsAsync notThrows notThrowsAsync
		regex notRegex snapshot same notSame strictSame strictNotSame equal notEqual equals deepEquals looseEqual strictEqual notStrictEqual
		deepStrictEqual ok notOk match doesNotMatch notMatch rejects resolves error ifError has hasStrict type pass`)
)

// byHandle reports whether token i is an assertion that is called on the handle of a
// test of JavaScript.
func (f *testFinder) byHandle(i int) bool {
	return (f.Lang == language.JavaScript || f.Lang == language.TypeScript) && f.Is(i+1, "(") && f.Is(i-1, ".") && handles[f.Text(i-2)] && handleAsserts[f.Text(i)]
}

// openers end a statement to the left of it.
var openers = lex.WordSet(`{ } ; ( [ => do then`)

// statement returns the first and last token of the statement around token i,
// as far as it is between two tokens.
func (f *testFinder) statement(i, least, most int) (from, to int) {
	from, to = i, i
	for from > least && !f.StartsLine(from) && !openers[f.Text(from-1)] {
		from--
		if m := f.List[from].Mate; m >= least && m < from {
			from = m
		}
	}
	for next := f.Skip(i); next <= most; next = f.Skip(next) {
		if slices.Contains([]string{";", "}", ")", "]"}, f.Text(next)) || f.StartsLine(next) && !f.goesOn(next) {
			break
		}
		to = min(f.Skip(next)-1, most)
	}
	return from, to
}

// goesOn reports whether the line that token i begins belongs to the statement
// of the line before.
func (f *testFinder) goesOn(i int) bool {
	return f.Is(i, ".") || f.Is(i, "?.") || f.Is(i, "->") || f.Is(i-1, `\`) || f.Is(i-1, ",")
}
