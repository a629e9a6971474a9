package source

import "strings"

// call reads a test or a group that is a call with a title: it("title", …),
// describe "title" do.
func (f *testFinder) call(i int) {
	name := f.text(i)
	if f.lang == Rust {
		f.rustMacro(i)
		return
	}
	isTest, isGroup := f.calls[name], f.groups[name]
	if !isTest && !isGroup || f.is(i-1, ".") && !f.is(i-2, "RSpec") || notBeforeCall[f.text(i-1)] {
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
var notBeforeCall = words(`def : -> :: fun func function`)

// rustMacro reads the tests of a project's own macro: rgtest!(name, …).
func (f *testFinder) rustMacro(i int) {
	if !strings.HasSuffix(f.text(i), "test") || !f.is(i+1, "!") || !f.is(i+2, "(") || !f.isWord(i+3) || !f.is(i+4, ",") {
		return
	}
	if end := f.list[i+2].mate; end > i+5 {
		f.add(f.text(i+3), i, scope{body: i + 5, end: end - 1})
		f.past = end
	}
}

// nativeMacro reads TEST(Suite, Name) {, TEST_CASE("title", "[tags]") { and
// their like.
func (f *testFinder) nativeMacro(i int) {
	open := i + 1
	end := f.list[open].mate
	if end < 0 || !f.is(end+1, "{") || f.list[end+1].mate < 0 {
		return
	}
	name := ""
	for j := open + 1; j < end && name == ""; j++ {
		if f.is(j, `"`) && f.is(j+1, `"`) {
			name = unescape(string(f.src[f.list[j].end:f.list[j+1].pos]))
		}
	}
	if name == "" && f.isWord(open+1) {
		name = f.text(open + 1)
		if f.is(open+2, ",") && f.isWord(open+3) && !strings.HasPrefix(f.text(i), "BOOST") {
			name += "." + f.text(open+3)
		}
	}
	if name != "" {
		body := scope{body: end + 2, end: f.list[end+1].mate}
		f.add(name, i, body)
		f.past = body.end
	}
}

func (f *testFinder) addTitled(title string, head int, body scope) {
	def := TestDef{Name: title, Class: f.around(true), Line: f.line(head), End: f.line(body.end)}
	switch {
	case f.method != nil && f.is(head, "test"):
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
		case f.is(i+1, ".") && f.isWord(i+2) && f.lang != Ruby:
			i += 2
		case f.is(i+1, "(") && f.list[i+1].mate > i && f.is(f.list[i+1].mate+1, "(") && f.is(i-1, "."): // .each(…), .skipIf(…)
			return f.list[i+1].mate + 1
		case f.is(i+1, "`") && f.is(i, "each"): // the rows of a table in a template
			j := i + 2
			for j < len(f.list) && !f.is(j, "`") {
				j++
			}
			return j + 1
		case f.is(i+1, "("):
			return i + 1
		default:
			return i
		}
	}
}

// title reads the literal at token i, or for a group the name of a class, and
// returns the token after it.
func (f *testFinder) title(i int, group bool) (string, int, bool) {
	switch quote := f.text(i); quote {
	case `"`, `'`, "`":
		if !f.is(i+1, quote) || f.list[i+1].pos < f.list[i].end { // computed in part
			return f.template(i, group)
		}
		whole := f.is(i+2, ",") || f.is(i+2, ")") || f.is(i+2, "do") || f.is(i+2, "{")
		return unescape(string(f.src[f.list[i].end:f.list[i+1].pos])), i + 2, whole
	}
	j := i
	for f.isWord(j) && f.text(j) != "do" {
		j++
		if !f.is(j, "::") && !f.is(j, ".") {
			break
		}
		j++
	}
	if !group || j == i || j > len(f.list) {
		return "", 0, false
	}
	return string(f.masked[f.list[i].pos:f.list[j-1].end]), j, true
}

// template reads a title that is computed in part, as those of tests that a loop
// defines: its text is their name, as the %s of other titles is.
func (f *testFinder) template(i int, group bool) (string, int, bool) {
	for j := i + 1; !group && f.is(i, "`") && j < len(f.list) && f.line(j) == f.line(i); j++ {
		if f.is(j, "`") {
			return unescape(string(f.src[f.list[i].end:f.list[j].pos])), j + 1, f.is(j+1, ",")
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
	if f.lang == Ruby || f.lang == Elixir {
		return f.rubyBlock(i, behind)
	}
	if m := f.mateOf(open); (f.lang == Kotlin || f.lang == Swift) && m > 0 && f.is(m+1, "{") && f.list[m+1].mate > m {
		return scope{body: m + 2, end: f.list[m+1].mate}, true
	}
	if !f.is(open, "(") || f.list[open].mate <= behind {
		return scope{}, false // a test without a body is only planned
	}
	s := scope{body: behind, end: f.list[open].mate - 1}
	for j := behind; j <= s.end; j = f.skip(j) {
		if f.is(j, "=>") || f.is(j, "{") && f.is(j-1, ")") {
			s.body = j + 1
			break
		}
	}
	return s, s.body <= s.end
}

// mateOf returns the partner of the bracket at token i, -1 for none.
func (f *testFinder) mateOf(i int) int {
	if !f.is(i, "(") {
		return -1
	}
	return f.list[i].mate
}

// rubyBlock reads do … end or { … } behind the arguments of a call.
func (f *testFinder) rubyBlock(i, behind int) (scope, bool) {
	last := f.lineEnd(i)
	for j := behind; j <= last && j < len(f.list); j = f.skip(j) {
		switch f.text(j) {
		case "{":
			if m := f.list[j].mate; f.lang == Ruby {
				return scope{body: j + 1, end: m}, m > j
			}
		case "do":
			if s, ok := f.oneLiner(j, last); ok {
				return s, true
			}
			b, ok := shapes[f.lang].block(f.tokens, span{head: i}, last)
			return scope{body: b.body, end: b.end}, ok && b.end < len(f.list)
		}
	}
	return scope{}, false
}

// oneLiner reads do … end on one line.
func (f *testFinder) oneLiner(do, last int) (scope, bool) {
	return scope{body: do + 1, end: last - 1}, last > do && f.is(last, "end")
}
