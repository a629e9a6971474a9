package tests

import (
	"slices"
	"strings"

	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// assertingWords begin the names that assert in the languages other than Go.
var assertingWords = []string{
	"assert", "expect", "should", "verify", "refute", "must", "wont", "raises", "fail", "check", "require", "eqnice", "panic",
	"warns", "deprecated_call", "fnmatch", "no_fnmatch", "re_match", "no_re_match", // pytest and its pytester
	"xctassert", "xctfail", "xctunwrap", "boost_check", "boost_require", "boost_test", "succeed",
}

// noise are words that are called or selected in every test and say nothing
// of what is tested.
var noise = lex.Words(`self this cls super if for while switch catch function new not and or in is return await async lambda
	print len str int list dict set range type isinstance console log to be eq equal that get let have fn mock
	pytest unittest jest vi sinon chai Assert Assertions Mockito String println format vec None True False`)

// compares are the operators that count as tokens.
var compares = lex.Words(`== != < > <= >= && || !`)

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
	def.Symbols = Sorted(symbols)
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
func asserts(name string) bool { return BeginsWith(strings.TrimLeft(name, "_"), assertingWords) }

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
	handles       = lex.Words(`t tt st ct tap`)
	handleAsserts = lex.Words(`is isNot not deepEqual notDeepEqual like unlike true false truthy falsy throws throwsAsync notThrows notThrowsAsync
		regex notRegex snapshot same notSame strictSame strictNotSame equal notEqual equals deepEquals looseEqual strictEqual notStrictEqual
		deepStrictEqual ok notOk match doesNotMatch notMatch rejects resolves error ifError has hasStrict type pass`)
)

// byHandle reports whether token i is an assertion that is called on the handle of a
// test of JavaScript.
func (f *testFinder) byHandle(i int) bool {
	return (f.Lang == language.JavaScript || f.Lang == language.TypeScript) && f.Is(i+1, "(") && f.Is(i-1, ".") && handles[f.Text(i-2)] && handleAsserts[f.Text(i)]
}

// openers end a statement to the left of it.
var openers = lex.Words(`{ } ; ( [ => do then`)

// statement returns the first and last token of the statement around token i,
// as far as it lies between two tokens.
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
