package inspect

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source/internal/language"
	"supervise/source/internal/lex"
	"supervise/source/internal/tests"
)

// markRule is a regular expression for one way in which tests are skipped or focused, or a
// process exits.
type markRule struct {
	langs     []language.Language // languages that the rule applies to
	re        *regexp.Regexp      // matches within one line of the masked source
	kind      MarkKind            // kind of the marks that the rule adds
	locate    markTarget          // finds the lines that the mark affects
	condition conditionKind       // where the condition of the mark is
}

// markTarget sets the lines that a mark affects, going by what its rule matches at token i. It
// returns false if the match affects no test.
type markTarget func(in *inspector, m *Mark, i int) bool

var (
	targetStatement markTarget = (*inspector).locateStatement // a statement within a test, maybe under a condition
	targetAnnotated markTarget = (*inspector).locateAnnotated // an annotation before a test or a class
	targetCall      markTarget = (*inspector).locateCall      // the call that defines a test or a group
	targetFile      markTarget = (*inspector).locateFile      // a statement that applies to the enclosing class or to the file
	targetModified  markTarget = (*inspector).locateModified  // a modifier after the title or the body of a test
	targetExit      markTarget = (*inspector).locateExit      // a statement that ends the process, anywhere in a file of tests
	targetNamed     markTarget = (*inspector).locateNamed     // a statement that starts with the name of the test or class: TestX.__test__ = False
)

// conditionKind tells where the condition of a mark is found.
type conditionKind uint8

const (
	conditionNone             conditionKind = iota // the match itself has no condition
	conditionArgument                              // the first argument: skipif(cond)
	conditionNegatedArgument                       // the negated first argument: skipUnless(cond), assumeTrue(cond)
	conditionOptionalArgument                      // the first argument unless it is named: xfail(cond), xfail(reason=…)
	conditionUnknown                               // the condition is not an expression, as in @DisabledOnOs
)

// scriptLanguages are the languages of the runners for Node.js.
var scriptLanguages = []language.Language{language.JavaScript, language.TypeScript}

// newMarkRule compiles a rule. It panics if the expression is invalid.
func newMarkRule(kind MarkKind, on markTarget, cond conditionKind, re string, langs ...language.Language) markRule {
	return markRule{langs: langs, re: regexp.MustCompile(re), kind: kind, locate: on, condition: cond}
}

// markRules are the rules for skips, focused tests and exits. Samples of what they match, by
// target:
//
//	targetStatement  t.Skip(            self.skipTest(       throw new SkipException
//	targetAnnotated  @pytest.mark.skip  @Disabled            #[ignore
//	targetCall       it.skip(           xdescribe(           fit(
//	targetFile       pytestmark = pytest.mark.skip           @moduletag :skip
//	targetModified   { skip: true       ->skip(              DISABLED_Adds
//	targetExit       os.Exit(0)         sys.exit()           process.exit(0)
//	targetNamed      TestOld.__test__ = False
var markRules = []markRule{
	newMarkRule(Skip, targetStatement, conditionNone, `\b\w+(?:\.T\(\))?\.(?:Skip|Skipf|SkipNow)\(`, language.Go),
	newMarkRule(Exit, targetExit, conditionNone, `\bos\.Exit\(\s*0\s*\)|\bsyscall\.Exit\(\s*0\s*\)`, language.Go),
	newMarkRule(Exit, targetExit, conditionNone, `\bos\._exit\(|\bsys\.exit\(\s*0?\s*\)|\braise SystemExit\(?\s*0?\s*\)?\s*$|(?m)^[ \t]*(?:quit|exit)\(\s*0?\s*\)`, language.Python),
	newMarkRule(Exit, targetExit, conditionNone, `\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b|\bprocess\.reallyExit\(`, scriptLanguages...),
	newMarkRule(Exit, targetExit, conditionNone, `\bSystem\.exit\(\s*0\s*\)|\bRuntime\.getRuntime\(\)\.(?:halt|exit)\(|\bexitProcess\(\s*0\s*\)`, language.Java, language.Kotlin),
	newMarkRule(Exit, targetExit, conditionNone, `\bprocess::exit\(\s*0\s*\)`, language.Rust),
	newMarkRule(Exit, targetExit, conditionNone, `(?m)^[ \t]*(?:Kernel\.)?exit!|(?m)^[ \t]*(?:Kernel\.)?exit(?:\(?\s*(?:0|true)\s*\)?)?[ \t]*$|\bat_exit\s*(?:\{|do)[^}\n]*\bexit!?\(?\s*0`, language.Ruby),
	newMarkRule(Exit, targetExit, conditionNone, `(?m)^[ \t]*(?:exit|die)\s*\(\s*0?\s*\)`, language.PHP),
	newMarkRule(Exit, targetExit, conditionNone, `\bEnvironment\.Exit\(\s*0\s*\)`, language.CSharp),
	newMarkRule(Exit, targetExit, conditionNone, `(?m)^[ \t]*(?:std::)?(?:exit|_exit|quick_exit|_Exit)\(\s*(?:0|EXIT_SUCCESS)\s*\)`, language.C, language.CPP),
	newMarkRule(Exit, targetExit, conditionNone, `(?m)^[ \t]*(?:exit|_exit)\(\s*(?:0|EXIT_SUCCESS)\s*\)`, language.Swift),
	newMarkRule(Exit, targetExit, conditionNone, `\bSystem\.(?:halt|stop)\(\s*0?\s*\)`, language.Elixir),

	newMarkRule(Skip, targetAnnotated, conditionNone, `@(?:\w+\.)*mark\.skip\b|@(?:unittest\.)?skip\b|@(?:\w+\.)?expectedFailure\b`, language.Python),
	newMarkRule(Skip, targetAnnotated, conditionOptionalArgument, `@(?:\w+\.)*mark\.xfail\b`, language.Python),
	newMarkRule(Skip, targetAnnotated, conditionArgument, `@(?:\w+\.)*(?:mark\.skipif|skipIf)\b`, language.Python),
	newMarkRule(Skip, targetAnnotated, conditionNegatedArgument, `@(?:\w+\.)*skipUnless\b`, language.Python),
	newMarkRule(Skip, targetStatement, conditionNone, `\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\braise (?:\w+\.)?(?:SkipTest|skip\.Exception)\b`, language.Python),
	newMarkRule(Skip, targetFile, conditionNone, `(?m)^[ \t]*pytestmark\s*=\s*[\[(]?\s*(?:pytest\.)?mark\.(?:skip|xfail)\b|^[ \t]*__test__\s*=\s*False\b|^pytest\.skip\(|^raise (?:\w+\.)?(?:SkipTest|skip\.Exception)\b`, language.Python),
	newMarkRule(Skip, targetNamed, conditionNone, `(?m)^[ \t]*(\w+)\.__test__\s*=\s*False\b`, language.Python),
	newMarkRule(Skip, targetFile, conditionArgument, `(?m)^[ \t]*pytestmark\s*=\s*[\[(]?\s*(?:pytest\.)?mark\.skipif\b`, language.Python),

	newMarkRule(Skip, targetCall, conditionNone, `\b(?:it|test|specify|describe|context|suite)(?:\.\w+)*?\.(?:skip|todo|fails|failing|fixme)\b(?:\.\w+)*\s*[(\x60]|\bx(?:it|test|describe|context|specify)\s*\(`, scriptLanguages...),
	newMarkRule(Skip, targetCall, conditionNone, `\bvoid\s*\(\s*["'\x60]|\bfalse\s*&&\s*(?:describe|it|test|context|suite)\b`, scriptLanguages...),
	newMarkRule(Skip, targetCall, conditionArgument, `\b(?:it|test|describe|suite)\.skipIf\b`, scriptLanguages...),
	newMarkRule(Skip, targetCall, conditionNegatedArgument, `\b(?:it|test|describe|suite)\.runIf\b`, scriptLanguages...),
	newMarkRule(Skip, targetStatement, conditionNone, `\bthis\.skip\(\)|\b(?:t|ctx|context)\.(?:skip|todo)\(|(?:^|[\s;{])pending\(`, scriptLanguages...),
	newMarkRule(Skip, targetModified, conditionNone, `\{\s*(?:skip|todo)\s*:\s*(?:true|"|'|\x60)`, scriptLanguages...),
	newMarkRule(Focus, targetCall, conditionNone, `\b(?:it|test|specify|describe|context|suite)(?:\.\w+)*?\.only\b\s*[(.\x60]|\b(?:fit|fdescribe|fcontext)\s*\(`, scriptLanguages...),

	newMarkRule(Skip, targetAnnotated, conditionNone, `@(?:\w+\.)*(?:Ignore|Disabled)\b`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetAnnotated, conditionUnknown, `@(?:\w+\.)*(?:Disabled|Enabled)(?:On|If|For)\w*`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetStatement, conditionNegatedArgument, `\bassume(?:True|That)\s*\(`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetStatement, conditionArgument, `\bassumeFalse\s*\(`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetStatement, conditionNone, `\bthrow (?:new )?(?:\w+\.)*(?:SkipException|TestAbortedException|AssumptionViolatedException|TestSkippedException)\b|\b(?:Assumptions\.)?abort\(`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetAnnotated, conditionNone, `@Test\s*\([^)\n]*\benabled\s*=\s*false`, language.Java, language.Kotlin),
	newMarkRule(Skip, targetModified, conditionNone, `\.config\s*\(\s*enabled\s*=\s*false`, language.Kotlin),

	newMarkRule(Skip, targetAnnotated, conditionNone, `#\[ignore\b|#\[should_panic\b`, language.Rust),
	newMarkRule(Skip, targetAnnotated, conditionArgument, `#\[cfg_attr\(.*\bignore\b`, language.Rust),
	newMarkRule(Skip, targetAnnotated, conditionNegatedArgument, `#\[cfg\(`, language.Rust),
	newMarkRule(Skip, targetFile, conditionNegatedArgument, `(?m)^#!\[cfg\(`, language.Rust),

	newMarkRule(Skip, targetCall, conditionNone, `\bx(?:it|specify|describe|context|example|scenario)\b`, language.Ruby),
	newMarkRule(Skip, targetStatement, conditionNone, `(?m)(?:^|;|\{|\bthen\b|\bdo\b)[ \t]*(?:skip|pending|omit|pend|skip_until)\b(?:[ \t(]|$)|\braise (?:Minitest::Skip|RSpec::Core::Pending::\w+|Test::Unit::OmittedError)\b`, language.Ruby),
	newMarkRule(Skip, targetStatement, conditionArgument, `(?m)^[ \t]*omit_if\(`, language.Ruby),
	newMarkRule(Skip, targetStatement, conditionNegatedArgument, `(?m)^[ \t]*omit_unless\(`, language.Ruby),
	newMarkRule(Skip, targetCall, conditionNone, `(?m)^[ \t]*(?:skip|pending)[ \t(]+["'][^\n]*(?:\bdo\b|\{)`, language.Ruby),
	newMarkRule(Skip, targetModified, conditionNone, `(?m)^[ \t]*(?:RSpec\.)?(?:it|describe|context|specify|test|feature|scenario)\b[^\n]*,\s*(?::skip\b|skip:\s*(?:true|"|')|:pending\b|pending:\s*(?:true|"|'))`, language.Ruby),
	newMarkRule(Skip, targetFile, conditionNone, `(?m)^__END__$`, language.Ruby),
	newMarkRule(Focus, targetCall, conditionNone, `(?m)^[ \t]*(?:fit|fdescribe|fcontext|fspecify)\b|^[ \t]*(?:RSpec\.)?(?:it|describe|context|specify)\b[^\n]*,\s*(?::focus\b|focus:\s*true)`, language.Ruby),

	newMarkRule(Skip, targetStatement, conditionNone, `\bmarkTest(?:Skipped|Incomplete)\s*\(|\bthrow new [\\\w]*(?:Skipped|Incomplete)\w*\b`, language.PHP),
	newMarkRule(Skip, targetAnnotated, conditionUnknown, `#\[\\?(?:\w+\\)*Requires\w+\b`, language.PHP),
	newMarkRule(Skip, targetModified, conditionNone, `->(?:skip|todo)\s*\(`, language.PHP),
	newMarkRule(Focus, targetModified, conditionNone, `->only\s*\(\)`, language.PHP),

	newMarkRule(Skip, targetAnnotated, conditionNone, `[\[,]\s*(?:\w+\.)*(?:Ignore|Explicit)\b(?:Attribute\b)?\s*[\](,]|\[[^\[\]]*\b(?:Skip|Ignore)\s*=\s*(?:\$?@?"|\w)`, language.CSharp),
	newMarkRule(Skip, targetStatement, conditionNone, `\bAssert\.(?:Ignore|Inconclusive|Skip)\(|\bthrow new (?:\w+\.)*(?:Skip|Ignore|Inconclusive|AssertInconclusive)Exception\b|\$XunitDynamicSkip\$`, language.CSharp),
	newMarkRule(Skip, targetStatement, conditionArgument, `\b(?:Skip|Assert)\.(?:If|SkipWhen)\(`, language.CSharp),
	newMarkRule(Skip, targetStatement, conditionNegatedArgument, `\b(?:Skip|Assert)\.(?:IfNot|SkipUnless)\(|\bAssume\.That\(`, language.CSharp),

	newMarkRule(Skip, targetStatement, conditionNone, `\bGTEST_SKIP\(|\bSKIP\(`, language.C, language.CPP),
	newMarkRule(Skip, targetModified, conditionNone, `\bDISABLED_\w+|\*\s*(?:doctest|boost::unit_test)::(?:skip|disabled)\(|BOOST_TEST_DISABLED`, language.C, language.CPP),

	newMarkRule(Skip, targetStatement, conditionNone, `\bthrow XCTSkip\b|\bXCTExpectFailure\s*[({]|\bwithKnownIssue\b|\b(?:try )?Test\.cancel\(`, language.Swift),
	newMarkRule(Skip, targetStatement, conditionArgument, `\bXCTSkipIf\(`, language.Swift),
	newMarkRule(Skip, targetStatement, conditionNegatedArgument, `\bXCTSkipUnless\(`, language.Swift),
	newMarkRule(Skip, targetAnnotated, conditionNone, `@(?:Test|Suite)\([^\n]*\.disabled\(`, language.Swift),
	newMarkRule(Skip, targetAnnotated, conditionUnknown, `@(?:Test|Suite)\([^\n]*\.enabled\(`, language.Swift),

	newMarkRule(Skip, targetAnnotated, conditionNone, `@tag\s*\(?(?::skip\b|skip:|:pending\b|:only_if)`, language.Elixir),
	newMarkRule(Skip, targetFile, conditionNone, `@moduletag\s*\(?(?::skip\b|skip:)`, language.Elixir),
	newMarkRule(Skip, targetFile, conditionNone, `@describetag\s*\(?(?::skip\b|skip:)`, language.Elixir),
}

// markRulesByLanguage are the rules of each language.
var markRulesByLanguage = func() (out [language.Count][]markRule) {
	for _, r := range markRules {
		for _, l := range r.langs {
			out[l] = append(out[l], r)
		}
	}
	return out
}()

// markSkips marks the skipped and focused tests of the file, and the exits.
func (in *inspector) markSkips() {
	for _, n := range in.linesWithAny(markWords) {
		from, to := in.lineSpan(n)
		for _, r := range markRulesByLanguage[in.Lang] {
			for _, at := range r.re.FindAllIndex(in.Masked[from:to], -1) {
				in.addMatch(r, from+at[0], from+at[1])
			}
		}
	}
	in.markBuildTags()
	in.markHiddenCases()
	in.markEarlyReturns()
}

// environmentRE matches conditions on the environment or the host, as in os.Getenv("CI") != "".
var environmentRE = regexp.MustCompile(`(?i)getenv|lookupenv|environ|option_env|process\.env|\benv\b|env::|\bENV\[|hostname|uname|getproperty|nodename|whoami|getlogin`)

// markEarlyReturns marks the tests that return under a condition on the environment. Such a test
// passes there without running.
func (in *inspector) markEarlyReturns() {
	for i := range in.List {
		if !returnWords[in.Text(i)] || !in.List[i].Word {
			continue
		}
		m := Mark{Kind: Skip, Line: in.Line(i), Text: in.lineText(in.Line(i))}
		t := in.file.TestAround(m.Line)
		if t == nil {
			continue
		}
		if conds, ok := in.conditionsOf(i, t.Line); ok && len(conds) > 0 && environmentRE.MatchString(strings.Join(conds, " ")) {
			m.From, m.To = t.Line, t.End
			in.addConditions(&m, conds)
			in.marks = append(in.marks, m)
		}
	}
}

// addMatch adds the mark for the match of a rule between two byte offsets.
func (in *inspector) addMatch(r markRule, from, to int) {
	// The match may start with the separator before the statement.
	for from < to && (lex.IsSpace(in.Masked[from]) || in.Masked[from] == ';' || in.Masked[from] == '{') {
		from++
	}

	i := in.tokenAt(from)
	if i >= len(in.List) || r.kind == Focus && shortFocusWords[in.Text(i)] && (in.Is(i-1, ".") || in.definesName(in.Text(i))) {
		return
	}
	in.addMark(r, i, to)
}

// markWords contains at least one word of each pattern of markRules. Only lines with one of these
// words are searched.
var markWords = lex.WordSet(`Skip Skipf SkipNow os syscall mark skip expectedFailure skipif skipIf skipUnless pytest skipTest SkipTest pytestmark __test__ should_panic void false
	_exit exit SystemExit quit todo fails failing fixme xit xtest xdescribe xcontext xspecify xexample xscenario runIf pending only fit fdescribe
	fcontext fspecify process Ignore Disabled assumeTrue assumeThat assumeFalse SkipException TestAbortedException AssumptionViolatedException
	TestSkippedException abort config System Runtime exitProcess ignore cfg_attr cfg __END__ focus markTestSkipped markTestIncomplete throw Requires die
	Explicit Inconclusive SkipWhen SkipUnless If IfNot Assume Environment GTEST_SKIP SKIP BOOST_TEST_DISABLED doctest boost std quick_exit _Exit
	XCTSkip XCTSkipIf XCTSkipUnless XCTExpectFailure withKnownIssue cancel omit pend skip_until omit_if omit_unless raise disabled enabled tag moduletag describetag Kernel exit! at_exit test it describe context suite specify feature scenario`)

// linesWithAny returns the numbers of the lines that contain one of the words, a test name that
// starts with DISABLED_, or an annotation with a condition.
func (in *inspector) linesWithAny(words map[string]bool) []int {
	var out []int
	last := 0
	for i := range in.List {
		t := &in.List[i]
		if !t.Word || t.Line == last {
			continue
		}
		word := in.Masked[t.Pos:t.End]
		if words[string(word)] || len(word) > 9 && string(word[:9]) == "DISABLED_" || isConditionAnnotation(word) {
			out, last = append(out, t.Line), t.Line
		}
	}
	return out
}

// isConditionAnnotation reports whether a word is an annotation such as @DisabledOnOs or
// @EnabledIf.
func isConditionAnnotation(word []byte) bool {
	return lex.HasPrefix(word, "DisabledOn") || lex.HasPrefix(word, "DisabledI") || lex.HasPrefix(word, "DisabledF") || lex.HasPrefix(word, "Enabled")
}

// hiddenTagRE matches the head of a Catch2 test that does not run by default or that may fail, as
// in TEST_CASE("adds", "[.]"). It needs the contents of strings.
var hiddenTagRE = regexp.MustCompile(`(?m)^[ \t]*(?:TEMPLATE_)?TEST_CASE\w*\s*\([^{;]*"[^"{;]*\[(?:\.|!hide|!shouldfail|!mayfail)`)

// markHiddenCases marks the Catch2 tests whose tags match hiddenTagRE.
func (in *inspector) markHiddenCases() {
	if in.Lang != language.CPP && in.Lang != language.C {
		return
	}
	for _, at := range hiddenTagRE.FindAllIndex(in.plain, -1) {
		i := in.tokenAt(at[0])
		m := Mark{Kind: Skip, Line: in.Line(i), Text: in.lineText(in.Line(i))}
		if in.locateModified(&m, i) {
			in.marks = append(in.marks, m)
		}
	}
}

// shortFocusWords focus a test, but may also be names of other functions.
var shortFocusWords = lex.WordSet(`fit fdescribe fcontext fspecify`)

// addMark adds the mark for the match of a rule at token i, up to byte offset end. It adds none
// if the condition never holds, or if the match does not apply to any test.
func (in *inspector) addMark(r markRule, i, end int) {
	m := Mark{Kind: r.kind, Line: in.Line(i), Text: in.lineText(in.Line(i))}
	if in.readCondition(&m, r, i, end) && r.locate(in, &m, i) {
		in.marks = append(in.marks, m)
	}
}

// readCondition sets the condition of m from the arguments at token i. It returns false if the
// condition never holds.
func (in *inspector) readCondition(m *Mark, r markRule, i, end int) bool {
	if r.condition == conditionNone {
		return true
	}
	if r.condition == conditionUnknown {
		m.Condition = m.Text
		return true
	}

	arg, given := in.firstArgument(i, end)
	if !given || r.condition == conditionOptionalArgument && (arg == "" || namedArgumentRE.MatchString(arg)) {
		return r.condition == conditionOptionalArgument
	}

	m.Condition = arg
	value, known := in.constantValue(arg)
	if r.condition == conditionNegatedArgument {
		m.Condition, value = "not "+arg, !value
	}
	m.Constant = known && value
	return !known || value
}

// namedArgumentRE matches a named argument, as in reason="slow".
var namedArgumentRE = regexp.MustCompile(`^\w+\s*=[^=]`)

// firstArgument returns the first argument of the call at token i, whose match ends at byte
// offset end. It returns false if the call has no parentheses. In Java and Kotlin, a quoted
// message before the condition is skipped.
func (in *inspector) firstArgument(i, end int) (string, bool) {
	open := in.argumentsAt(i, end)
	if open < 0 || in.List[open].Partner < 0 {
		return "", false
	}

	j := in.argumentEnd(open+1, in.List[open].Partner)
	arg := in.between(in.List[open].End, in.List[j].Pos)
	if in.Is(j, ",") && (in.Lang == language.Java || in.Lang == language.Kotlin) && quotedTextRE.MatchString(arg) { // the condition may follow a message
		last := in.argumentEnd(j+1, in.List[open].Partner)
		arg = in.between(in.List[j].End, in.List[last].Pos)
	}
	return arg, true
}

// argumentsAt returns the last parenthesis that opens within a match from token i up to byte offset
// end, or right after it; -1 if there is none. In Rust, where the match may extend into the
// parentheses, it is the first one.
func (in *inspector) argumentsAt(i, end int) int {
	open := -1
	for j := i; j < min(i+40, len(in.List)); j++ {
		switch {
		case in.Is(j, "("):
			open = j
			isLast := in.List[j].End >= end || j+1 < len(in.List) && in.List[j+1].Pos >= end
			if isLast || in.Lang == language.Rust {
				return open
			}
		case in.List[j].Pos > end+1:
			return open
		}
	}
	return open
}

// quotedTextRE matches a string literal, as in "not on Windows" with its quotes.
var quotedTextRE = regexp.MustCompile(`^"[^"]*"$`)

// argumentEnd returns the token after the argument that starts at token j: a comma, or token end,
// which closes the call.
func (in *inspector) argumentEnd(j, end int) int {
	for j < end && !in.Is(j, ",") {
		j = in.Skip(j)
	}
	return min(j, end)
}

// locateStatement sets the lines of m to those of the enclosing test, and adds the conditions of
// the statement at token i. It returns false if the statement does not skip a test, for example
// in a function literal within the test.
func (in *inspector) locateStatement(m *Mark, i int) bool {
	t := in.file.TestAround(m.Line)
	if t == nil {
		return in.locateSetUp(m, i)
	}
	if in.Lang == language.Go && !t.Skipped && len(t.SkipConditions) == 0 {
		return false
	}
	m.From, m.To = t.Line, t.End
	conds, ok := in.conditionsOf(i, t.Line)
	if !ok {
		return false
	}
	in.addConditions(m, conds)
	return true
}

// addConditions adds the conditions around a mark to the condition of the mark itself. Conditions
// that are always true are dropped. One that is always false replaces all others, as in "never:
// false".
func (in *inspector) addConditions(m *Mark, conds []string) {
	constant := m.Condition == "" || m.Constant
	var open []string
	for _, c := range conds {
		value, known := in.constantValue(c)
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

// locateExit sets the lines of m to those of the enclosing test, or else to the line of the exit,
// and adds the conditions of the exit at token i within its function. It returns true.
func (in *inspector) locateExit(m *Mark, i int) bool {
	m.From, m.To = m.Line, m.Line
	from := 1
	if f := in.file.FunctionAround(m.Line); f != nil {
		from = f.Line
	}
	if t := in.file.TestAround(m.Line); t != nil {
		from, m.From, m.To = max(from, t.Line), t.Line, t.End
	}

	conds, ok := in.conditionsOf(i, from)
	if !ok {
		conds = append(conds, "in a function")
	}
	in.addConditions(m, conds)
	return true
}

// locateNamed sets the lines of m to those of the test or class whose name is token i. It returns
// false if the file has none.
func (in *inspector) locateNamed(m *Mark, i int) bool {
	for _, t := range in.file.Tests {
		switch in.Text(i) {
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

// setUpNameRE matches the name of a function that runs before each test or before all tests, as
// in setUp and before_each.
var setUpNameRE = regexp.MustCompile(`(?i)^(?:set_?up|before|before_?each|before_?all|setup_?method|setup_?class)$`)

// locateSetUp sets the lines of m to those of the class or file around a skip in a set-up
// function. It returns false if the skip is in no such function.
func (in *inspector) locateSetUp(m *Mark, i int) bool {
	for _, f := range in.file.Functions {
		if f.Line <= m.Line && m.Line <= f.End && setUpNameRE.MatchString(lastNamePart(f.Name)) {
			conds, ok := in.conditionsOf(i, f.Line)
			m.From, m.To, m.Scope = in.enclosingGroup(i)
			in.addConditions(m, conds)
			return ok
		}
	}
	if (in.Lang == language.JavaScript || in.Lang == language.TypeScript || in.Lang == language.Ruby) && beforeCallRE.MatchString(in.lineText(m.Line-1)+" "+m.Text) {
		m.From, m.To, m.Scope = in.enclosingGroup(i)
		return true
	}
	return false
}

// beforeCallRE matches the call of a set-up function, as in "beforeEach(() => {" or "before do".
var beforeCallRE = regexp.MustCompile(`\bbefore(?:Each|All|_each|_all)?\b`)

// lastNamePart returns the last part of a qualified name: "setUp" of "CalcTest.setUp".
func lastNamePart(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

// markBuildTags marks a Go file with a build constraint. The mark has no condition if the file is
// never built, and otherwise the negated constraint.
func (in *inspector) markBuildTags() {
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
		if tag == "ignore" || len(in.file.Tests) > 0 && !slices.ContainsFunc(in.file.Tests, func(t tests.TestDef) bool { return !t.Skipped }) {
			m.Condition = ""
		}
		in.marks = append(in.marks, m)
	}
}

// lineSpan returns the byte offsets of the start and the end of line n, from 1. The line break is
// not included.
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
