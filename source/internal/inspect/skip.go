package inspect

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/function"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
)

// markRow is one way in which tests are skipped or focused on: a pattern of
// masked text, and what it is on.
type markRow struct {
	langs []language.Language
	re    *regexp.Regexp
	kind  MarkKind
	on    place
	cond  argument
}

// place says what a pattern is on.
type place uint8

const (
	asStatement  place = iota // of a test, maybe under a condition
	asAnnotation              // before a test or a class
	asCall                    // the call of a test or a group itself
	asFile                    // on all that the file, or the class, holds
	asModifier                // after the body or the title of a test
	asExit                    // a statement anywhere in a file of tests
	asNamed                   // the test whose name is first
)

// argument says where the condition of a mark is.
type argument uint8

const (
	noCondition argument = iota
	firstHolds           // the first argument: skipif(cond)
	firstDenies          // the first argument, turned round: skipUnless(cond), assumeTrue(cond)
	firstMaybe           // the first argument unless it is named: xfail(cond), xfail(reason=…)
	unknownOne           // one that is not an expression: @DisabledOnOs
)

var scripts = []language.Language{language.JavaScript, language.TypeScript}

func row(kind MarkKind, on place, cond argument, re string, langs ...language.Language) markRow {
	return markRow{langs: langs, re: regexp.MustCompile(re), kind: kind, on: on, cond: cond}
}

// markRows is the table of skips and focus.
var markRows = []markRow{
	row(Skip, asStatement, noCondition, `\b\w+(?:\.T\(\))?\.(?:Skip|Skipf|SkipNow)\(`, language.Go),
	row(Exit, asExit, noCondition, `\bos\.Exit\(\s*0\s*\)|\bsyscall\.Exit\(\s*0\s*\)`, language.Go),
	row(Exit, asExit, noCondition, `\bos\._exit\(|\bsys\.exit\(\s*0?\s*\)|\braise SystemExit\(?\s*0?\s*\)?\s*$|(?m)^[ \t]*(?:quit|exit)\(\s*0?\s*\)`, language.Python),
	row(Exit, asExit, noCondition, `\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b|\bprocess\.reallyExit\(`, scripts...),
	row(Exit, asExit, noCondition, `\bSystem\.exit\(\s*0\s*\)|\bRuntime\.getRuntime\(\)\.(?:halt|exit)\(|\bexitProcess\(\s*0\s*\)`, language.Java, language.Kotlin),
	row(Exit, asExit, noCondition, `\bprocess::exit\(\s*0\s*\)`, language.Rust),
	row(Exit, asExit, noCondition, `(?m)^[ \t]*(?:Kernel\.)?exit!|(?m)^[ \t]*(?:Kernel\.)?exit(?:\(?\s*(?:0|true)\s*\)?)?[ \t]*$|\bat_exit\s*(?:\{|do)[^}\n]*\bexit!?\(?\s*0`, language.Ruby),
	row(Exit, asExit, noCondition, `(?m)^[ \t]*(?:exit|die)\s*\(\s*0?\s*\)`, language.PHP),
	row(Exit, asExit, noCondition, `\bEnvironment\.Exit\(\s*0\s*\)`, language.CSharp),
	row(Exit, asExit, noCondition, `(?m)^[ \t]*(?:std::)?(?:exit|_exit|quick_exit|_Exit)\(\s*(?:0|EXIT_SUCCESS)\s*\)`, language.C, language.CPP),
	row(Exit, asExit, noCondition, `(?m)^[ \t]*(?:exit|_exit)\(\s*(?:0|EXIT_SUCCESS)\s*\)`, language.Swift),
	row(Exit, asExit, noCondition, `\bSystem\.(?:halt|stop)\(\s*0?\s*\)`, language.Elixir),

	row(Skip, asAnnotation, noCondition, `@(?:\w+\.)*mark\.skip\b|@(?:unittest\.)?skip\b|@(?:\w+\.)?expectedFailure\b`, language.Python),
	row(Skip, asAnnotation, firstMaybe, `@(?:\w+\.)*mark\.xfail\b`, language.Python),
	row(Skip, asAnnotation, firstHolds, `@(?:\w+\.)*(?:mark\.skipif|skipIf)\b`, language.Python),
	row(Skip, asAnnotation, firstDenies, `@(?:\w+\.)*skipUnless\b`, language.Python),
	row(Skip, asStatement, noCondition, `\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\braise (?:\w+\.)?(?:SkipTest|skip\.Exception)\b`, language.Python),
	row(Skip, asFile, noCondition, `(?m)^[ \t]*pytestmark\s*=\s*[\[(]?\s*(?:pytest\.)?mark\.(?:skip|xfail)\b|^[ \t]*__test__\s*=\s*False\b|^pytest\.skip\(|^raise (?:\w+\.)?(?:SkipTest|skip\.Exception)\b`, language.Python),
	row(Skip, asNamed, noCondition, `(?m)^[ \t]*(\w+)\.__test__\s*=\s*False\b`, language.Python),
	row(Skip, asFile, firstHolds, `(?m)^[ \t]*pytestmark\s*=\s*[\[(]?\s*(?:pytest\.)?mark\.skipif\b`, language.Python),

	row(Skip, asCall, noCondition, `\b(?:it|test|specify|describe|context|suite)(?:\.\w+)*?\.(?:skip|todo|fails|failing|fixme)\b(?:\.\w+)*\s*[(\x60]|\bx(?:it|test|describe|context|specify)\s*\(`, scripts...),
	row(Skip, asCall, noCondition, `\bvoid\s*\(\s*["'\x60]|\bfalse\s*&&\s*(?:describe|it|test|context|suite)\b`, scripts...),
	row(Skip, asCall, firstHolds, `\b(?:it|test|describe|suite)\.skipIf\b`, scripts...),
	row(Skip, asCall, firstDenies, `\b(?:it|test|describe|suite)\.runIf\b`, scripts...),
	row(Skip, asStatement, noCondition, `\bthis\.skip\(\)|\b(?:t|ctx|context)\.(?:skip|todo)\(|(?:^|[\s;{])pending\(`, scripts...),
	row(Skip, asModifier, noCondition, `\{\s*(?:skip|todo)\s*:\s*(?:true|"|'|\x60)`, scripts...),
	row(Focus, asCall, noCondition, `\b(?:it|test|specify|describe|context|suite)(?:\.\w+)*?\.only\b\s*[(.\x60]|\b(?:fit|fdescribe|fcontext)\s*\(`, scripts...),

	row(Skip, asAnnotation, noCondition, `@(?:\w+\.)*(?:Ignore|Disabled)\b`, language.Java, language.Kotlin),
	row(Skip, asAnnotation, unknownOne, `@(?:\w+\.)*(?:Disabled|Enabled)(?:On|If|For)\w*`, language.Java, language.Kotlin),
	row(Skip, asStatement, firstDenies, `\bassume(?:True|That)\s*\(`, language.Java, language.Kotlin),
	row(Skip, asStatement, firstHolds, `\bassumeFalse\s*\(`, language.Java, language.Kotlin),
	row(Skip, asStatement, noCondition, `\bthrow (?:new )?(?:\w+\.)*(?:SkipException|TestAbortedException|AssumptionViolatedException|TestSkippedException)\b|\b(?:Assumptions\.)?abort\(`, language.Java, language.Kotlin),
	row(Skip, asAnnotation, noCondition, `@Test\s*\([^)\n]*\benabled\s*=\s*false`, language.Java, language.Kotlin),
	row(Skip, asModifier, noCondition, `\.config\s*\(\s*enabled\s*=\s*false`, language.Kotlin),

	row(Skip, asAnnotation, noCondition, `#\[ignore\b|#\[should_panic\b`, language.Rust),
	row(Skip, asAnnotation, firstHolds, `#\[cfg_attr\(.*\bignore\b`, language.Rust),
	row(Skip, asAnnotation, firstDenies, `#\[cfg\(`, language.Rust),
	row(Skip, asFile, firstDenies, `(?m)^#!\[cfg\(`, language.Rust),

	row(Skip, asCall, noCondition, `\bx(?:it|specify|describe|context|example|scenario)\b`, language.Ruby),
	row(Skip, asStatement, noCondition, `(?m)(?:^|;|\{|\bthen\b|\bdo\b)[ \t]*(?:skip|pending|omit|pend|skip_until)\b(?:[ \t(]|$)|\braise (?:Minitest::Skip|RSpec::Core::Pending::\w+|Test::Unit::OmittedError)\b`, language.Ruby),
	row(Skip, asStatement, firstHolds, `(?m)^[ \t]*omit_if\(`, language.Ruby),
	row(Skip, asStatement, firstDenies, `(?m)^[ \t]*omit_unless\(`, language.Ruby),
	row(Skip, asCall, noCondition, `(?m)^[ \t]*(?:skip|pending)[ \t(]+["'][^\n]*(?:\bdo\b|\{)`, language.Ruby),
	row(Skip, asModifier, noCondition, `(?m)^[ \t]*(?:RSpec\.)?(?:it|describe|context|specify|test|feature|scenario)\b[^\n]*,\s*(?::skip\b|skip:\s*(?:true|"|')|:pending\b|pending:\s*(?:true|"|'))`, language.Ruby),
	row(Skip, asFile, noCondition, `(?m)^__END__$`, language.Ruby),
	row(Focus, asCall, noCondition, `(?m)^[ \t]*(?:fit|fdescribe|fcontext|fspecify)\b|^[ \t]*(?:RSpec\.)?(?:it|describe|context|specify)\b[^\n]*,\s*(?::focus\b|focus:\s*true)`, language.Ruby),

	row(Skip, asStatement, noCondition, `\bmarkTest(?:Skipped|Incomplete)\s*\(|\bthrow new [\\\w]*(?:Skipped|Incomplete)\w*\b`, language.PHP),
	row(Skip, asAnnotation, unknownOne, `#\[\\?(?:\w+\\)*Requires\w+\b`, language.PHP),
	row(Skip, asModifier, noCondition, `->(?:skip|todo)\s*\(`, language.PHP),
	row(Focus, asModifier, noCondition, `->only\s*\(\)`, language.PHP),

	row(Skip, asAnnotation, noCondition, `[\[,]\s*(?:\w+\.)*(?:Ignore|Explicit)\b(?:Attribute\b)?\s*[\](,]|\[[^\[\]]*\b(?:Skip|Ignore)\s*=\s*(?:\$?@?"|\w)`, language.CSharp),
	row(Skip, asStatement, noCondition, `\bAssert\.(?:Ignore|Inconclusive|Skip)\(|\bthrow new (?:\w+\.)*(?:Skip|Ignore|Inconclusive|AssertInconclusive)Exception\b|\$XunitDynamicSkip\$`, language.CSharp),
	row(Skip, asStatement, firstHolds, `\b(?:Skip|Assert)\.(?:If|SkipWhen)\(`, language.CSharp),
	row(Skip, asStatement, firstDenies, `\b(?:Skip|Assert)\.(?:IfNot|SkipUnless)\(|\bAssume\.That\(`, language.CSharp),

	row(Skip, asStatement, noCondition, `\bGTEST_SKIP\(|\bSKIP\(`, language.C, language.CPP),
	row(Skip, asModifier, noCondition, `\bDISABLED_\w+|\*\s*(?:doctest|boost::unit_test)::(?:skip|disabled)\(|BOOST_TEST_DISABLED`, language.C, language.CPP),

	row(Skip, asStatement, noCondition, `\bthrow XCTSkip\b|\bXCTExpectFailure\s*[({]|\bwithKnownIssue\b|\b(?:try )?Test\.cancel\(`, language.Swift),
	row(Skip, asStatement, firstHolds, `\bXCTSkipIf\(`, language.Swift),
	row(Skip, asStatement, firstDenies, `\bXCTSkipUnless\(`, language.Swift),
	row(Skip, asAnnotation, noCondition, `@(?:Test|Suite)\([^\n]*\.disabled\(`, language.Swift),
	row(Skip, asAnnotation, unknownOne, `@(?:Test|Suite)\([^\n]*\.enabled\(`, language.Swift),

	row(Skip, asAnnotation, noCondition, `@tag\s*\(?(?::skip\b|skip:|:pending\b|:only_if)`, language.Elixir),
	row(Skip, asFile, noCondition, `@moduletag\s*\(?(?::skip\b|skip:)`, language.Elixir),
	row(Skip, asFile, noCondition, `@describetag\s*\(?(?::skip\b|skip:)`, language.Elixir),
}

// rowsOf are the rows of each language.
var rowsOf = func() (out [language.Count][]markRow) {
	for _, r := range markRows {
		for _, l := range r.langs {
			out[l] = append(out[l], r)
		}
	}
	return out
}()

// skips notes the skips and the focus of the file.
func (in *inspector) skips() {
	for _, n := range in.lines(markWords) {
		from, to := in.lineSpan(n)
		for _, r := range rowsOf[in.Lang] {
			for _, at := range r.re.FindAllIndex(in.Masked[from:to], -1) {
				in.found(r, from+at[0], from+at[1])
			}
		}
	}
	in.tags()
	in.hiddenCases()
	in.returnsEarly()
}

// environmental matches conditions on the environment and the host.
var environmental = regexp.MustCompile(`(?i)getenv|lookupenv|environ|option_env|process\.env|\benv\b|env::|\bENV\[|hostname|uname|getproperty|nodename|whoami|getlogin`)

// returnsEarly notes the returns of tests under conditions on the environment:
// the test does not run there, and passes.
func (in *inspector) returnsEarly() {
	for i := range in.List {
		if !leaves[in.Text(i)] || !in.List[i].Word {
			continue
		}
		m := Mark{Kind: Skip, Line: in.Line(i), Text: in.lineText(in.Line(i))}
		t := in.testAround(m.Line)
		if t == nil {
			continue
		}
		if conds, ok := in.conditions(i, t.Line); ok && len(conds) > 0 && environmental.MatchString(strings.Join(conds, " ")) {
			m.From, m.To = t.Line, t.End
			in.under(&m, conds)
			in.marks = append(in.marks, m)
		}
	}
}

// found notes what a row found between two places.
func (in *inspector) found(r markRow, from, to int) {
	for from < to && (lex.IsSpace(in.Masked[from]) || in.Masked[from] == ';' || in.Masked[from] == '{' && r.on == asStatement) {
		from++
	}
	i := in.tokenAt(from)
	if i >= len(in.List) || r.kind == Focus && shortFocus[in.Text(i)] && (in.Is(i-1, ".") || in.ownName(in.Text(i))) {
		return
	}
	in.mark(r, i, to)
}

// markWords are words of which each pattern of markRows has one at least: only
// the lines with one are looked at.
var markWords = lex.WordSet(`Skip Skipf SkipNow os syscall mark skip expectedFailure skipif skipIf skipUnless pytest skipTest SkipTest pytestmark __test__ should_panic void false
	_exit exit SystemExit quit todo fails failing fixme xit xtest xdescribe xcontext xspecify xexample xscenario runIf pending only fit fdescribe
	fcontext fspecify process Ignore Disabled assumeTrue assumeThat assumeFalse SkipException TestAbortedException AssumptionViolatedException
	TestSkippedException abort config System Runtime exitProcess ignore cfg_attr cfg __END__ focus markTestSkipped markTestIncomplete throw Requires die
	Explicit Inconclusive SkipWhen SkipUnless If IfNot Assume Environment GTEST_SKIP SKIP BOOST_TEST_DISABLED doctest boost std quick_exit _Exit
	XCTSkip XCTSkipIf XCTSkipUnless XCTExpectFailure withKnownIssue cancel omit pend skip_until omit_if omit_unless raise disabled enabled tag moduletag describetag Kernel exit! at_exit test it describe context suite specify feature scenario`)

// lines returns the numbers of the lines that hold one of the words.
func (in *inspector) lines(any map[string]bool) []int {
	var out []int
	last := 0
	for i := range in.List {
		t := &in.List[i]
		if !t.Word || t.Line == last {
			continue
		}
		word := in.Masked[t.Pos:t.End]
		if any[string(word)] || len(word) > 9 && string(word[:9]) == "DISABLED_" || marksRun(word) {
			out, last = append(out, t.Line), t.Line
		}
	}
	return out
}

// marksRun matches @DisabledOnOs, @EnabledIf and their like.
func marksRun(word []byte) bool {
	return lex.HasPrefix(word, "DisabledOn") || lex.HasPrefix(word, "DisabledI") || lex.HasPrefix(word, "DisabledF") || lex.HasPrefix(word, "Enabled")
}

// hiddenTag matches the tags of Catch2 by which a test is not run, or may fail.
var hiddenTag = regexp.MustCompile(`(?m)^[ \t]*(?:TEMPLATE_)?TEST_CASE\w*\s*\([^{;]*"[^"{;]*\[(?:\.|!hide|!shouldfail|!mayfail)`)

func (in *inspector) hiddenCases() {
	if in.Lang != language.CPP && in.Lang != language.C {
		return
	}
	for _, at := range hiddenTag.FindAllIndex(in.plain, -1) {
		i := in.tokenAt(at[0])
		m := Mark{Kind: Skip, Line: in.Line(i), Text: in.lineText(in.Line(i))}
		if in.modifierMark(&m) {
			in.marks = append(in.marks, m)
		}
	}
}

// shortFocus are the words for a focus that may well be names of something else.
var shortFocus = lex.WordSet(`fit fdescribe fcontext fspecify`)

// mark notes what a row found at token i.
func (in *inspector) mark(r markRow, i, end int) {
	m := Mark{Kind: r.kind, Line: in.Line(i), Text: in.lineText(in.Line(i))}
	if !in.condition(&m, r, i, end) {
		return
	}
	ok := false
	switch r.on {
	case asStatement:
		ok = in.statementMark(&m, i)
	case asAnnotation:
		ok = in.annotationMark(&m, i)
	case asCall:
		ok = in.callMark(&m, i)
	case asFile:
		ok = in.fileMark(&m, i)
	case asModifier:
		ok = in.modifierMark(&m)
	case asExit:
		ok = in.exitMark(&m, i)
	case asNamed:
		ok = in.namedMark(&m, in.Text(i))
	}
	if ok {
		in.marks = append(in.marks, m)
	}
}

// condition reads the argument that is the condition. It returns false for a
// condition that never holds.
func (in *inspector) condition(m *Mark, r markRow, i, end int) bool {
	if r.cond == noCondition {
		return true
	}
	if r.cond == unknownOne {
		m.Condition = m.Text
		return true
	}
	arg, given := in.firstArgument(i, end)
	if !given || r.cond == firstMaybe && (arg == "" || named.MatchString(arg)) {
		return r.cond == firstMaybe
	}
	m.Condition = arg
	value, known := in.constant(arg)
	if r.cond == firstDenies {
		m.Condition, value = "not "+arg, !value
	}
	m.Constant = known && value
	return !known || value
}

var named = regexp.MustCompile(`^\w+\s*=[^=]`)

// firstArgument returns the first argument of the call that a pattern at token i
// found, which ended at end.
func (in *inspector) firstArgument(i, end int) (string, bool) {
	open := -1
	for j := i; j < len(in.List) && j < i+40; j++ {
		if in.Is(j, "(") {
			open = j
			if in.List[j].End >= end || j+1 < len(in.List) && in.List[j+1].Pos >= end {
				break
			}
			if in.Lang != language.Rust { // where the pattern may continue within the parentheses
				continue
			}
			break
		}
		if in.List[j].Pos > end+1 {
			break
		}
	}
	if open < 0 || in.List[open].Mate < 0 {
		return "", false
	}
	j := in.argumentEnd(open+1, in.List[open].Mate)
	arg := in.between(in.List[open].End, in.List[j].Pos)
	if in.Is(j, ",") && (in.Lang == language.Java || in.Lang == language.Kotlin) && quotedText.MatchString(arg) { // the message comes first
		last := in.argumentEnd(j+1, in.List[open].Mate)
		arg = in.between(in.List[j].End, in.List[last].Pos)
	}
	return arg, true
}

var quotedText = regexp.MustCompile(`^"[^"]*"$`)

// argumentEnd returns the token after the argument that begins at token j.
func (in *inspector) argumentEnd(j, end int) int {
	for j < end && !in.Is(j, ",") {
		j = in.Skip(j)
	}
	return min(j, end)
}

// statementMark notes a statement of a test, with the conditions it is under.
func (in *inspector) statementMark(m *Mark, i int) bool {
	t := in.testAround(m.Line)
	if t == nil {
		return in.setUpMark(m, i)
	}
	if in.Lang == language.Go && !t.Skipped && len(t.SkipConditions) == 0 {
		return false
	}
	m.From, m.To = t.Line, t.End
	conds, ok := in.conditions(i, t.Line)
	if !ok {
		return false
	}
	in.under(m, conds)
	return true
}

// under adds the conditions that a mark is under.
func (in *inspector) under(m *Mark, conds []string) {
	constant := m.Condition == "" || m.Constant
	var open []string
	for _, c := range conds {
		value, known := in.constant(c)
		if known && value {
			continue
		}
		if known {
			m.Condition, m.Constant = "never: "+c, false
			return
		}
		open = append(open, c)
	}
	switch {
	case len(open) == 0 && len(conds) > 0 && constant:
		m.Condition, m.Constant = conds[0], true
	case len(open) > 0:
		if m.Condition != "" && !m.Constant {
			open = append(open, m.Condition)
		}
		m.Condition, m.Constant = strings.Join(open, " && "), false
	}
}

// exitMark notes an end of the process, with the conditions within its function.
func (in *inspector) exitMark(m *Mark, i int) bool {
	m.From, m.To = m.Line, m.Line
	from := 0
	for _, f := range in.file.Functions {
		if f.Line <= m.Line && m.Line <= f.End && f.Line > from && f.Name != function.FileScope {
			from = f.Line
		}
	}
	if t := in.testAround(m.Line); t != nil {
		from, m.From, m.To = max(from, t.Line), t.Line, t.End
	}
	conds, ok := in.conditions(i, max(from, 1))
	if !ok {
		conds = append(conds, "in a function")
	}
	in.under(m, conds)
	return true
}

// namedMark finds the test or class with a name.
func (in *inspector) namedMark(m *Mark, name string) bool {
	for _, t := range in.file.Tests {
		switch name {
		case t.Name:
			m.From, m.To = t.Line, t.End
			return true
		case t.Class:
			if m.From == 0 {
				m.From = t.Line
			}
			m.To, m.Scope = t.End, OnGroup
		}
	}
	return m.From > 0
}

// setUpWords are functions that run before each test.
var setUpWords = regexp.MustCompile(`(?i)^(?:set_?up|before|before_?each|before_?all|setup_?method|setup_?class)$`)

// setUpMark notes a skip in what runs before all tests of a file or class.
func (in *inspector) setUpMark(m *Mark, i int) bool {
	for _, f := range in.file.Functions {
		if f.Line <= m.Line && m.Line <= f.End && setUpWords.MatchString(lastWordOf(f.Name)) {
			conds, ok := in.conditions(i, f.Line)
			m.From, m.To, m.Scope = in.groupAround(i)
			in.under(m, conds)
			return ok
		}
	}
	if (in.Lang == language.JavaScript || in.Lang == language.TypeScript || in.Lang == language.Ruby) && beforeCall.MatchString(in.lineText(m.Line-1)+" "+m.Text) {
		m.From, m.To, m.Scope = in.groupAround(i)
		return true
	}
	return false
}

var beforeCall = regexp.MustCompile(`\bbefore(?:Each|All|_each|_all)?\b`)

func lastWordOf(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

// tags notes what keeps a Go file from being built.
func (in *inspector) tags() {
	if in.Lang != language.Go {
		return
	}
	for n := 1; n <= in.lastLine(); n++ {
		from, to := in.lineSpan(n)
		line := strings.TrimSpace(string(in.Src[from:to]))
		if strings.HasPrefix(line, "package ") {
			return
		}
		tag, ok := strings.CutPrefix(line, "//go:build ")
		if !ok {
			tag, ok = strings.CutPrefix(line, "// +build ")
		}
		if !ok {
			continue
		}
		m := Mark{Kind: Skip, Line: n, From: 1, To: in.lastLine(), Text: line, Scope: OnFile, Condition: "not " + tag}
		if tag == "ignore" || len(in.file.Tests) > 0 && in.allSkipped() {
			m.Condition = ""
		}
		in.marks = append(in.marks, m)
	}
}

func (in *inspector) allSkipped() bool {
	for _, t := range in.file.Tests {
		if !t.Skipped {
			return false
		}
	}
	return true
}

// lineSpan returns where a line begins and ends.
func (in *inspector) lineSpan(n int) (from, to int) {
	if in.lineStarts == nil {
		in.lineStarts = []int{0}
		for i, b := range in.Src {
			if b == '\n' {
				in.lineStarts = append(in.lineStarts, i+1)
			}
		}
	}
	from = in.lineStarts[n-1]
	to = len(in.Src)
	if n < len(in.lineStarts) {
		to = in.lineStarts[n] - 1
	}
	return from, to
}
