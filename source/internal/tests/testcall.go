package tests

import (
	"strings"

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
	if !isTest && !isGroup || f.Is(i-1, ".") && !f.Is(i-2, "RSpec") || notBeforeCall[f.Text(i-1)] {
		return
	}
	open := f.arguments(i)
	title, behind, ok := f.title(open+1, isGroup)
	if !ok {
		return
	}
	body, ok := f.block(i, open, behind)
	switch {
	case !ok:
	case isGroup:
		body.name = title
		f.enter(body)
	case title != "":
		f.addTitled(title, i, body)
	}
}

// notBeforeCall are tokens that make of a name behind them no call of a runner.
var notBeforeCall = lex.Words(`def : -> :: fun func function`)

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

// block returns the body of the call at token i whose title ends before behind.
func (f *testFinder) block(i, open, behind int) (scope, bool) {
	if f.Lang == language.Ruby || f.Lang == language.Elixir {
		return f.rubyBlock(i, behind)
	}
	if m := f.mateOf(open); (f.Lang == language.Kotlin || f.Lang == language.Swift) && m > 0 && f.Is(m+1, "{") && f.List[m+1].Mate > m {
		return scope{body: m + 2, end: f.List[m+1].Mate}, true
	}
	if !f.Is(open, "(") || f.List[open].Mate <= behind {
		return scope{}, false // a test without a body is only planned
	}
	s := scope{body: behind, end: f.List[open].Mate - 1}
	for j := behind; j <= s.end; j = f.Skip(j) {
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

// rubyBlock reads do … end or { … } behind the arguments of a call.
func (f *testFinder) rubyBlock(i, behind int) (scope, bool) {
	last := f.lineEnd(i)
	for j := behind; j <= last && j < len(f.List); j = f.Skip(j) {
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
