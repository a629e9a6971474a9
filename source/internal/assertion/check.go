package assertion

import (
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// Strength is how closely an assertion determines a value. Greater is stronger.
type Strength uint8

// The strengths, from weak to strong.
const (
	Truthy  Strength = iota + 1 // anything that counts as true
	NonNull                     // any value except nil, or no error
	Bound                       // any value on one side of a bound
	Shape                       // any value of a type, a length or a kind of error
	Pattern                     // any value that contains or matches a part
	Approx                      // any value close to the expected one
	Exact                       // one value
)

// Assertion is what the text of an assertion shows.
type Assertion struct {
	Strength Strength
	// Canonical is the text without its negations and spaces. Negated reports whether the number
	// of negations was odd. Two assertions that differ only in Negated are opposites.
	Canonical string
	Negated   bool
	// Skeleton is the text with a § instead of each literal. Literals are these literals, in
	// order.
	Skeleton string
	Literals []string
	// Trivial reports whether the assertion passes whatever the code does.
	Trivial bool
	// Repeats reports whether the assertion compares a call with the same call, as in f() == f().
	Repeats bool
}

// ParseAssertion reads an assertion as [TestDef.Assertions] contains it.
func ParseAssertion(text string) Assertion {
	a := Assertion{Strength: strengthOf(text), Trivial: IsTrivial(text)}
	a.Repeats = !a.Trivial && comparesItself(strings.TrimSpace(text), true)
	a.Canonical, a.Negated = canonicalForm(text)
	a.Skeleton = literalRE.ReplaceAllStringFunc(text, func(l string) string {
		a.Literals = append(a.Literals, l)
		return "§"
	})
	return a
}

// literalRE matches a literal: a string such as "a" or b"x", a number such as -1.5e3, or a
// constant such as true.
var literalRE = regexp.MustCompile(`[bBrRfFuU]{0,2}"(?:[^"\\]|\\.)*"#*|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|-?\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\w*|\b(?:[Tt]rue|False|false|None|nil|null|undefined)\b`)

// quotedRE matches a string in any of the three kinds of quotes.
var quotedRE = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`")

// strengthRule is a regular expression for assertions of one strength.
type strengthRule struct {
	strength Strength
	re       *regexp.Regexp
}

// goFailureRules apply to the condition under which a Go test fails, as in "got != want =>". The
// first match counts.
var goFailureRules = []strengthRule{
	{NonNull, regexp.MustCompile(`(?:^|[ ;(!])(?:\w*[eE]rr\w*|\w+) (?:!=|==) nil(?: =>|\)|$| \|\|)`)},
	{Exact, regexp.MustCompile(`DeepEqual|cmp\.Diff|cmp\.Equal|bytes\.Equal|slices\.Equal|maps\.Equal|EqualFold|\.Equal\(`)},
	{Pattern, regexp.MustCompile(`Contains|HasPrefix|HasSuffix|Match|errors\.(?:Is|As)|Index`)},
	{Bound, regexp.MustCompile(`[^-=<>]([<>]=?)[^<>-]`)},
	{Exact, regexp.MustCompile(`[!=]=`)},
}

// strengthRules apply to all other assertions, without the contents of strings. The first match
// counts. Samples:
//
//	Approx   assertAlmostEqual(a, b)     NonNull  assert.NotNil(t, x)
//	Shape    assertIsInstance(x, int)    Exact    expect(x).toBe(1)
//	Pattern  assert x in y               Bound    assert a > b
var strengthRules = []strengthRule{
	{Approx, regexp.MustCompile(`(?i)almost_?equal|\bapprox|InDelta|InEpsilon|toBeCloseTo|close_?to|isclose|be_within|in_delta|in_epsilon|WithinDuration|relative_eq|abs_diff|EXPECT_NEAR|ASSERT_NEAR|_FLOAT_EQ|_DOUBLE_EQ|WithDelta|accuracy:|allclose|BOOST_CHECK_CLOSE|closeTo|BeApproximately`)},
	{NonNull, regexp.MustCompile(`(?i)\bis not none\b|\bNotNil\b|NotNull|toBeDefined|not\.toBeNull|not\.toBeUndefined|\.exist\b|assertIsNotNone|is_some\(\)|is_ok\(\)|\bNoError|refute_nil|not_to be_nil|not_nil|assertNotNull|isNotNull|!= (?:nil|null|undefined|nullptr|None)\b|!== (?:null|undefined)|not\.to\.be\.(?:null|undefined)|NotEmpty|isPresent|\bwont_be_nil\b|assertNotEmpty|be_present|assertNotNil|doesNotThrow|not\.toThrow|DoesNotThrow|NotThrow|NoThrow|NO_THROW|nothing_raised|ANY_THROW|Not\.Null|is_not_none|assert_nothing_raised|isNot\(nullValue`)},
	{Shape, regexp.MustCompile(`(?i)isinstance|toHaveLength|hasLength\(|InstanceOf|IsType|assertLen|\.Len\(|toHaveProperty|expect\.any|be_an?\(|be_kind_of|kind_of|instance_of|IsAssignable|assert_?count|hasSize|toBeTypeOf|assertHas|matches!|is_err\(\)|assert_?raises|\braises\(|assert_?throws|\bThrows|toThrow\(\)?|raise_error|Panics|expectException|should_panic|_THROW|assertThrows|\w\.warns\b|isEmpty|be_empty|assert_empty|HaveCount|typeof|rejects|XCTAssertThrows|responds?_to|assertHasKey|ArrayHasKey|assertIs(?:Scalar|String|Int|Integer|Array|Numeric|Float|Bool|Object|Callable|Iterable|List|Dict|Resource)\b|assert!?\(?\s*is_(?:binary|integer|list|map|atom|tuple|float|boolean|number|bitstring|pid|struct)\b|be_a\b|\.to\.be\.an?\(|\bassert\.is(?:String|Number|Array|Object|Function|Boolean)\(`)},
	{Exact, regexp.MustCompile(`(?i)equal|[^!<>=]==|\btobe\(|assert_eq|eqnice|\beq\(|_EQ\(|_STREQ|assertSame|SameInstance|\bsame\(|isEqualTo|to eq\b|eql\b|EqualTo|Is\.EqualTo|deepStrict|strict|toEqual|deep\.eq|\bis\(|\bassertIs\(|\bis (?:True|False|None)\b|assertIsNone|\bIs\.True|toMatchSnapshot|toMatchInlineSnapshot|snapshot|assert_nil|toBeNull\(|assertNull|isNull\(|\.Nil\(|\.Null\(|_NE\(|assert_ne|!==?|must_be_nil|be_nil|toHaveBeenCalledWith|fnmatch_lines|calledWith|toHaveBeenCalledTimes|Equivalent|JSONEq|=== `)},
	{Pattern, regexp.MustCompile(`(?i)match|regex|contain|starts_?with|ends_?with|includes?|\bin\b|toThrow\(.|ErrorIs|ErrorAs|EqualError|assertIn\b|=~|HasPrefix|HasSuffix|Subset|hasItem|HaveKey|have_attributes|^assert all\(|\bt\.like\(`)},
	{Bound, regexp.MustCompile(`(?i)[^-=<>]\s[<>]=?\s|greater|less|_GT\(|_GE\(|_LT\(|_LE\(|isBetween|toBeGreater|toBeLess|at_least|at_most|be [<>]|InRange|Positive|Negative|\.above|\.below|\.least|\.most`)},
}

// strengthOf returns the strength of an assertion. It is Truthy if no rule matches.
func strengthOf(text string) Strength {
	code := quotedRE.ReplaceAllString(text, `""`)
	if cond, _, ok := strings.Cut(code, " => t."); ok {
		if emptyCheckRE.MatchString(text) {
			return NonNull
		}
		for _, r := range goFailureRules {
			if r.re.MatchString(cond + " =>") {
				return r.strength
			}
		}
		return Truthy
	}

	if strings.HasPrefix(code, "assert ") && strings.Contains(code, " is ") && !strings.Contains(code, " is not ") {
		return Exact
	}

	for _, r := range strengthRules {
		if r.re.MatchString(code) {
			return r.strength
		}
	}
	return Truthy
}

// emptyCheckRE matches a failure that is reported only for empty values, as in x == "" =>
// t.Error. Any other value passes.
var emptyCheckRE = regexp.MustCompile(`(?:[\w.)\]] == ""|len\(.+\) (?:== 0|< 1)) => t\.`)

// negations are regular expressions for negated assertions, with the replacement that turns each
// into its opposite: assertNotEqual becomes assertEqual. They apply in order, and each match
// counts as one negation.
var negations = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`\bassert_ne!`), "assert_eq!"},
	{regexp.MustCompile(`\bdebug_assert_ne!`), "debug_assert_eq!"},
	{regexp.MustCompile(`_NE\(`), "_EQ("},
	{regexp.MustCompile(`\b(CHECK|REQUIRE)_FALSE\(`), "${1}("},
	{regexp.MustCompile(`_FALSE\(`), "_TRUE("},
	{regexp.MustCompile(`\b(assert|Assert|XCTAssert)Not(\w+)`), "${1}${2}"},
	{regexp.MustCompile(`\bassertIsNot\b`), "assertIs"},
	{regexp.MustCompile(`\b(assert_|must_)not_(\w+)`), "${1}${2}"},
	{regexp.MustCompile(`\bwont_`), "must_"},
	{regexp.MustCompile(`\b(?:assert|Assert|ClassicAssert|StringAssert)\.(Are|Is)Not([A-Z])`), "Assert.${1}${2}"},
	{regexp.MustCompile(`\b(?:assert|Assert|ClassicAssert)\.IsFalse\b`), "Assert.IsTrue"},
	{regexp.MustCompile(`\.(Should\(\)\.)Not([A-Z])`), ".${1}${2}"},
	{regexp.MustCompile(`\bShouldNot([A-Z])`), "Should${1}"},
	{regexp.MustCompile(`\bBeFalse\(`), "BeTrue("},
	{regexp.MustCompile(`\.(?:toNot|notTo)\(`), ".to("},
	{regexp.MustCompile(`\bt\.not\(`), "t.Is("},
	{regexp.MustCompile(`\bt\.False\(`), "t.True("},
	{regexp.MustCompile(`\bt\.Falsy\(`), "t.Truthy("},
	{regexp.MustCompile(`\b[nN]ot\(`), "("},
	{regexp.MustCompile(`Greater`), "Less"},
	{regexp.MustCompile(`greater`), "less"},
	{regexp.MustCompile(`_G([TE])\(`), "_L${1}("},
	{regexp.MustCompile(`\bshouldNot([A-Z]\w*)`), "should${1}"},
	{regexp.MustCompile(`\brefute\b`), "assert"},
	{regexp.MustCompile(`\brefute_`), "assert_"},
	{regexp.MustCompile(`\bassertFalse\b`), "assertTrue"},
	{regexp.MustCompile(`\bAssertFalse\b`), "AssertTrue"},
	{regexp.MustCompile(`\bXCTAssertFalse\b`), "XCTAssertTrue"},
	{regexp.MustCompile(`\b(assert|require|Assert)\.Not(\w+)`), "${1}.${2}"},
	{regexp.MustCompile(`\b(assert|require|Assert)\.False\b`), "${1}.True"},
	{regexp.MustCompile(`\b(assert|require)\.NoError\b`), "${1}.Error"},
	{regexp.MustCompile(`\b(assert|t|is|test|should)\.not(Equal|StrictEqual|DeepEqual|DeepStrictEqual|LooseEqual|Deep|Same|Ok|Match|Include|InstanceOf|Throw|Null|Undefined|Exists|Property|Contain)\b`), "${1}.${2}"},
	{regexp.MustCompile(`\.(?:not|Not|never)\.`), "."},
	{regexp.MustCompile(`\.(?:not_to|to_not)\b`), ".to"},
	{regexp.MustCompile(`\.toBeFalsy\(`), ".toBeTruthy("},
	{regexp.MustCompile(`\.isFalse\(`), ".isTrue("},
	{regexp.MustCompile(`\.isNot(\w+)\(`), ".is${1}("},
	{regexp.MustCompile(`\.doesNotContain`), ".contains"},
	{regexp.MustCompile(`\bnot in\b`), "in"},
	{regexp.MustCompile(`\bis not\b`), "is"},
	{regexp.MustCompile(`!==`), "==="},
	{regexp.MustCompile(`!=`), "=="},
	{regexp.MustCompile(`\bnot\s+`), ""},
	{regexp.MustCompile(`!(\w|\()`), "${1}"},
	{regexp.MustCompile(` >= `), " < "},
	{regexp.MustCompile(` <= `), " > "},
	{regexp.MustCompile(`\.IfNot\(`), ".If("},
	{regexp.MustCompile(`\bis_err\(\)`), "is_ok()"},
	{regexp.MustCompile(`\bis_none\(\)`), "is_some()"},
	{regexp.MustCompile(`\bno_(fnmatch|re_match)_lines?\b`), "${1}_lines"},
	{regexp.MustCompile(`\bbe_falsey\b|\bbe_falsy\b`), "be_truthy"},
	{regexp.MustCompile(`\bshould_not\b`), "should"},
	{regexp.MustCompile(`_false\(|\bis_false\(`), "_true("},
}

// canonicalForm returns an assertion without its negations, parentheses and spaces, and whether
// the number of negations was odd.
func canonicalForm(text string) (string, bool) {
	n := 0
	// Strings are replaced by the byte 0 until the end, so that their contents are not changed.
	var quotedTexts []string
	code := quotedRE.ReplaceAllStringFunc(text, func(s string) string { quotedTexts = append(quotedTexts, s); return "\x00" })

	for _, s := range subjectForms {
		code = s.re.ReplaceAllString(code, s.to)
	}
	// The byte 1 replaces the "!" of a Rust macro, which is no negation.
	code = strings.ReplaceAll(code, "assert_eq!", "assert_eq\x01")
	code = strings.ReplaceAll(code, "assert_ne!", "assert_ne\x01")
	code = rustMacroRE.ReplaceAllString(code, "${1}\x01${2}")
	// assert.equal becomes assert.Equal, the opposite of assert.notEqual.
	code = lowercaseCallRE.ReplaceAllStringFunc(code, func(s string) string {
		return s[:len(s)-1] + strings.ToUpper(s[len(s)-1:])
	})

	for _, f := range negations {
		if found := f.re.FindAllStringIndex(code, -1); len(found) > 0 {
			n += len(found)
			code = f.re.ReplaceAllString(code, f.to)
		}
	}
	if strings.Contains(code, "assert_ne\x01") {
		n++
		code = strings.ReplaceAll(code, "assert_ne\x01", "assert_eq\x01")
	}

	var b strings.Builder
	for i := 0; i < len(code); i++ {
		switch {
		case code[i] == 0 && len(quotedTexts) > 0:
			b.WriteString(quotedTexts[0])
			quotedTexts = quotedTexts[1:]
		case code[i] == 1:
			b.WriteByte('!')
		case code[i] != ' ' && code[i] != '(' && code[i] != ')':
			b.WriteByte(code[i])
		}
	}
	return b.String(), n%2 == 1
}

// subjectForms are the short forms of RSpec for an expectation of the subject, with their long
// forms: "is_expected.to eq 1" is "expect(subject).to eq 1".
var subjectForms = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`^(?:is|are)_expected\b`), "expect(subject)"},
	{regexp.MustCompile(`^should_not (\w)`), "expect(subject).not_to ${1}"},
	{regexp.MustCompile(`^should (\w)`), "expect(subject).to ${1}"},
}

// lowercaseCallRE matches the start of a call whose name has a lower-case letter, as in assert.e
// of assert.equal. Names that start with "no", such as assert.notEqual, do not match.
var lowercaseCallRE = regexp.MustCompile(`\b(?:assert|t|test)\.[a-mo-z]|\b(?:assert|t|test)\.n[a-np-z]`)

// rustMacroRE matches the call of a Rust macro, as in vec![. Its "!" is no negation.
var rustMacroRE = regexp.MustCompile(`\b(\w+)!([(\[{])`)

// expectChainRE matches a chain such as expect(x).toBe(y). The groups are both values; the second
// is "" for expect(x).toBeTruthy().
var expectChainRE = regexp.MustCompile(`(?:^|[^.\w]|\bAssertions\.|\bTruth\.)(?:expect|assertThat|expect_that)\s*\((.*?)\)\s*\.?\s*(?:to\b\.?)?\s*(?:toBe|toEqual|toStrictEqual|isEqualTo|equal|eql|eq|be|isSameAs|equals|toBeTruthy|toBeDefined|isTrue|be_truthy|ok|true|toBeNull)\b\s*\(?(.*?)\)?;?$`)

// alwaysTrueREs match assertions that cannot fail, as in "assert True", assertTrue(true),
// EXPECT_FALSE(false), SUCCEED() and assert len(x) >= 0.
var alwaysTrueREs = []*regexp.Regexp{
	regexp.MustCompile(`^assert\s+(?:True|1|not False|not 0|true|"[^"]+"|\(True\))(?:\s*,.*)?$`),
	regexp.MustCompile(`(?i)^(?:self\.|this\.|t\.|\w+\.)?(?:assert_?true|istrue|ok|is_true|assert)!?\s*\(\s*(?:\w+,\s*)?(?:true|1|!0|!false|not false)\s*(?:,.*)?\)\s*;?$`),
	regexp.MustCompile(`(?i)^(?:self\.|\$this->|this\.|\w+\.|\w+::)?(?:assert_?false|isfalse|refute)\s*\(?\s*(?:\w+,\s*)?(?:false|0)\s*(?:,.*)?\)?\s*;?$`),
	regexp.MustCompile(`(?i)^(?:\$this->|self::|static::|assert::|Assert\.)(?:assert)?true\s*\(\s*true\s*(?:,.*)?\)\s*;?$`),
	regexp.MustCompile(`^(?:assert|require|is)\.(?:True|Truef|Condition)\(\w+, true(?:,.*)?\)$`),
	regexp.MustCompile(`^(?:assert|require|is)\.(?:False|Falsef)\(\w+, false(?:,.*)?\)$`),
	regexp.MustCompile(`^(?:EXPECT|ASSERT)_TRUE\(\s*true\s*\)|^(?:EXPECT|ASSERT)_FALSE\(\s*false\s*\)|^(?:CHECK|REQUIRE|BOOST_\w+|XCTAssert(?:True)?|#expect|#require)\(\s*(?:true|1)\s*\)`),
	regexp.MustCompile(`\bAssert\.Pass\(|\baddToAssertionCount\(|\bexpectNotToPerformAssertions\(|\bt\.pass\(\)|\bassert\.isOk\(true\)|^SUCCEED\(`),
	regexp.MustCompile(`^(?:false|!true|1 == 2|1 != 1|0 != 0|1 > 2) => t\.`),
	regexp.MustCompile(`^(?:await )?t\.(?:true|truthy)\(\s*(?:true|1)\s*(?:,.*)?\)\s*;?$`),
	regexp.MustCompile(`^assert\s+true;?$`),
	regexp.MustCompile(`\.(?:fnmatch|re_match)_lines(?:_random)?\(\s*\[?\s*r?["'](?:\.?\*)?["']\s*,?\s*\]?\s*\)$`),
	regexp.MustCompile(`\bis_?instance\((?:[^()]|\([^()]*\))*,\s*object\s*\)|\bInstanceOf(?:<object>|\(Object\.class\))|kind_of\s+(?:Object|BasicObject)\b|\bbe_an?\(Object\)|^assert!?\(?\s*\(?[\w.&]*(?:len|count|size|length)\(?[^=<>]*\)? >= 0\)?;?$`),
	regexp.MustCompile(`(?i)\b\w*contains?\w*\((?:[^()]|\([^()]*\))*,\s*(?:""|'')\s*\)|\.(?:toContain|toMatch|include|startsWith|endsWith)\(\s*(?:""|'')\s*\)|^assert\s+(?:""|'')\s+in\s|HasPrefix\([^()]*, ""\)`),
}

// tupleComparisonRE matches the comparison of a tuple in Python, as in "assert (a, b) == c".
// Unlike a tuple alone, it can fail.
var tupleComparisonRE = regexp.MustCompile(`^assert\s+\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:[=!<>]=?|is\b|in\b|not\b)`)

// tupleAssertionRE matches a Python assertion in parentheses, as in assert (a, b). The group is
// what is between them.
var tupleAssertionRE = regexp.MustCompile(`(?s)^assert\s*\((.*)\)$`)

// AssertsTuple reports whether a Python assertion checks a tuple, which is always true, as in
// assert (a == b, "message").
func AssertsTuple(text string) bool {
	m := tupleAssertionRE.FindStringSubmatch(strings.TrimSpace(text))
	return m != nil && HasBalancedBrackets(quotedRE.ReplaceAllString(m[1], "")) && len(splitArguments(m[1])) > 1
}

// IsTrivial reports whether an assertion passes whatever the code does.
func IsTrivial(text string) bool {
	text = strings.TrimSpace(text)
	passesAlways := slices.ContainsFunc(alwaysTrueREs, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	return passesAlways && !tupleComparisonRE.MatchString(text) || comparesItself(text, false)
}

// equalityREs match assertions of equality. The group is the arguments, or the groups are both
// values.
var equalityREs = []*regexp.Regexp{
	// assertEquals(a, b)
	regexp.MustCompile(`(?i)(?:assert\w*\.?equals?|assert_equal|assert_eq!|assertsame|areequal|\.equal|strictequal|deepequal|_eq|\bis_equal|assertEquals|requireEqual|\bsame|\bt\.is)\s*\((.*)\)\s*;?$`),
	// assert_equal a, b
	regexp.MustCompile(`^assert_(?:equal|same|eql)\s+([^(\s].*)$`),
	// _(x).must_equal y
	regexp.MustCompile(`^(?:_|value|expect)\((.+)\)\.must_(?:equal|be_same_as)[ (]\s*(.+?)\)?$`),
}

// comparesItself reports whether an assertion compares an expression with itself, or equal
// constants with each other. Expressions with calls count only if calls is set, since each call
// may return another value.
func comparesItself(text string, calls bool) bool {
	if cond, _, ok := strings.Cut(text, " => t."); ok {
		return neverFails(cond, calls)
	}
	for _, re := range equalityREs {
		switch m := re.FindStringSubmatch(text); len(m) {
		case 2:
			return areSame(splitArguments(m[1]), calls)
		case 3:
			return areSame(m[1:], calls)
		}
	}
	if m := expectChainRE.FindStringSubmatch(text); m != nil {
		if m[2] == "" {
			return m[1] == "true" || m[1] == "True" || m[1] == "1"
		}
		return areSame(m[1:], calls)
	}

	if rest, ok := strings.CutPrefix(text, "assert "); ok {
		return isAlwaysTrue(rest, calls)
	}
	m := wrappedConditionRE.FindStringSubmatch(text)
	return m != nil && isAlwaysTrue(m[1], calls)
}

// wrappedConditionRE matches an assertion of a condition in parentheses, as in assertTrue(a ==
// b). The group is the condition.
var wrappedConditionRE = regexp.MustCompile(`^(?:assert!|assert|self\.assertTrue|assertTrue|Assert\.True|Assert\.IsTrue|\$this->assertTrue|EXPECT_TRUE|ASSERT_TRUE|CHECK|REQUIRE|#expect|XCTAssert|XCTAssertTrue|assert\.ok|assert\.True|assert_true|assert_true!)\((?:t, )?(.*)\)\s*;?$`)

// comparisonRE matches a condition with a comparison, as in a == b. The groups are the left side,
// the operator and the right side.
var comparisonRE = regexp.MustCompile(`^(.*?[^=!<>])\s*(===?|!==?|<=?|>=?|\bis\b|\beq\b)\s*([^=].*)$`)

// isAlwaysTrue reports whether a condition is constant and true, or compares an expression
// with itself.
func isAlwaysTrue(cond string, calls bool) bool {
	if value, known := ConstantValue(cond); known {
		return value
	}
	m := comparisonRE.FindStringSubmatch(cond)
	return m != nil && m[2] != "<" && m[2] != ">" && m[2] != "!=" && m[2] != "!==" && areSame([]string{m[1], m[3]}, calls)
}

// neverFails reports whether the condition of a failure is never true.
func neverFails(cond string, calls bool) bool {
	if value, known := ConstantValue(cond); known {
		return !value
	}
	m := comparisonRE.FindStringSubmatch(cond)
	return m != nil && strings.HasPrefix(m[2], "!=") && areSame([]string{m[1], m[3]}, calls)
}

// areSame reports whether the first two arguments, after the handle of the test if there is one,
// are the same expression or equal constants. Expressions with calls count only if calls is set.
func areSame(args []string, calls bool) bool {
	if len(args) > 2 && (args[0] == "t" || args[0] == "tb" || args[0] == "s.T()") {
		args = args[1:]
	}
	if len(args) < 2 {
		return false
	}
	a, b := removeSpace(args[0]), removeSpace(args[1])
	if a == b {
		return a != "" && (calls || !strings.ContainsAny(quotedRE.ReplaceAllString(a, ""), "()")) // each call may return another value
	}
	x, okX := evaluateSum(a)
	y, okY := evaluateSum(b)
	return okX && okY && x == y
}

// removeSpace returns a text without white space.
func removeSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// sumRE matches a number or a term of two numbers, as in 1+1. The groups are the first number,
// the operator and the second number.
var sumRE = regexp.MustCompile(`^(\d{1,6})(?:([+*-])(\d{1,6}))?$`)

// evaluateSum returns the value of 1, 1+1, 2*3 and similar terms. It returns false for anything
// else.
func evaluateSum(s string) (int, bool) {
	m := sumRE.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	a, _ := strconv.Atoi(m[1]) // at most six digits
	b, _ := strconv.Atoi(m[3])
	switch m[2] {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	}
	return a, true
}

// splitArguments splits the text between the parentheses of a call at the commas outside strings
// and brackets.
func splitArguments(s string) []string {
	var out []string
	depth, start := 0, 0
	var quote rune
	for i, c := range s {
		switch {
		case quote != 0:
			if c == quote && s[i-1] != '\\' {
				quote = 0
			}
		case strings.ContainsRune("\"'`", c):
			quote = c
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}
