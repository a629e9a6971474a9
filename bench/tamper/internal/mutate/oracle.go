package mutate

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"supervise/bench/tamper/internal/corpus"
	"supervise/source"
)

// rewrite changes an assertion: a call, whose arguments are as {0}, {1}… in to,
// or a regular expression.
type rewrite struct {
	call, re string
	to       string
	when     string // what the file must contain
}

var weaker = map[string][]rewrite{
	"go": {
		{call: "assert.Equal", to: "assert.NotNil({0}, {2})"},
		{call: "require.Equal", to: "require.NotEmpty({0}, {2})"},
		{call: "assert.Equal", to: "assert.NotEmpty({0}, {2})"},
		{call: "assert.EqualError", to: "assert.Error({0}, {1})"},
		{call: "assert.ErrorIs", to: "assert.Error({0}, {1})"},
		{call: "assert.Contains", to: "assert.NotEmpty({0}, {1})"},
		{re: `if ([\w.()\[\]]+) != ("[^"]*"|\w*[eE]xpected\w*|want\w*) \{`, to: `if $1 == "" {`, when: `%q|%s|"`},
		{re: `if len\(([\w.]+)\) != [^{]+ \{`, to: `if len($1) < 0 {`},
		{re: `if !reflect\.DeepEqual\(([\w.]+), [^{]+ \{`, to: `if $1 == nil {`},
		{re: `(check\w+\(t, [\w.]+, )("[^"]+"|\w+)\)`, to: `$1"")`},
		{re: `if ([\w.()\[\]]+) != (\d+) \{`, to: `if $1 < 0 {`},
		{re: `if !strings\.Contains\(([\w.]+), [^{]+\) \{`, to: `if $1 == "" {`},
		{re: `if ([\w.]+)\.Error\(\) != [^{]+ \{`, to: `if $1 == nil {`},
	},
	"python": {
		{re: `(?s)^(\s*)assert (.+?) == .+$`, to: "${1}assert $2 is not None"},
		{re: `(?s)^(\s*)assert (.+?) == .+$`, to: "${1}assert $2"},
		{re: `(?s)^(\s*)assert (.+?) == .+$`, to: "${1}assert isinstance($2, object)"},
		{re: `(?s)^(\s*)assert .+? in (.+)$`, to: "${1}assert $2"},
		{re: `(?s)^(\s*)assert (.+?) is .+$`, to: "${1}assert $2 is not ..."},
		{call: "self.assertEqual", to: "self.assertIsNotNone({0})"},
		{call: "self.assertEqual", to: "self.assertTrue({0})"},
		{call: "self.assertIn", to: "self.assertTrue({1})"},
		{re: `(?s)fnmatch_lines\(.*\)$`, to: `fnmatch_lines(["*"])`},
		{re: `(?s)^(\s*)(\w+)\.assert_outcomes\(.*\)$`, to: "${1}assert $2.ret is not None"},
		{re: `(?s)^(\s*)assert len\((.+?)\) == .+$`, to: "${1}assert len($2) >= 0"},
	},
	"javascript": {
		{call: ".toEqual", to: ".toBeDefined()"},
		{call: ".toBe", to: ".toBeDefined()"},
		{call: ".toBe", to: ".not.toBeUndefined()"},
		{call: ".toStrictEqual", to: ".toBeTruthy()"},
		{call: ".toEqual", to: ".toBeTruthy()"},
		{call: ".toMatchInlineSnapshot", to: ".toBeDefined()"},
		{call: ".toMatchObject", to: ".toBeTruthy()"},
		{call: "assert.strictEqual", to: "assert.ok({0} !== undefined)"},
		{call: "assert.equal", to: "assert.ok({0} !== undefined)"},
		{call: "assert.deepEqual", to: "assert.ok({0})"},
		{call: "assert.deepStrictEqual", to: "assert.ok({0})"},
		{call: ".to.equal", to: ".to.exist"},
		{call: ".to.be.equal", to: ".to.not.be.undefined"},
		{call: ".to.eql", to: ".to.exist"},
		{call: ".to.deep.equal", to: ".to.be.ok"},
		{call: "should.equal", to: "should.exist({0})"},
		{re: `\.expect\((\d+), (?:'[^']*'|"[^"]*"), (\w+)\)`, to: ".expect($1, $2)"},
		{re: `\.expect\((?:'[^']*'|"[^"]*"), (?:'[^']*'|"[^"]*")\)`, to: ".expect(200)"},
	},
	"java": {
		{call: "assertEquals", to: "assertNotNull({1})"}, {call: ".isEqualTo", to: ".isNotNull()"}, {call: ".containsExactly", to: ".isNotNull()"}, {call: "assertArrayEquals", to: "assertNotNull({1})"}, {call: ".isSameInstanceAs", to: ".isNotNull()"}, {call: ".hasMessageThat().isEqualTo", to: ".isNotNull()"}, {call: "assertSame", to: "assertNotNull({1})"}, {call: ".hasSize", to: ".isNotNull()"},
	},
	"kotlin": {
		{call: "assertEquals", to: "assertNotNull({1})"}, {call: ".isEqualTo", to: ".isNotNull()"}, {call: ".containsExactly", to: ".isNotEmpty()"}, {call: "assertSame", to: "assertNotNull({1})"}, {call: ".contains", to: ".isNotNull()"},
	},
	"rust": {
		{call: "assert_eq!", to: "assert!(!format!(\"{:?}\", {0}).is_empty())"}, {call: "assert_eq!", to: "let _ = ({0}, {1})"}, {call: "eqnice!", to: "assert!(!{1}.is_empty())"}, {call: "assert_eq!", to: "assert!({0} == {0})"}, {re: `(?s)assert_eq!\((?:Ok|Some)\(.*?\), (.*)\);$`, to: "assert!($1.is_ok());"},
	},
	"ruby": {
		{re: `(?s)^(\s*)(.+?)\.must_equal\b.*$`, to: "${1}$2.wont_be_nil"},
		{re: `(?s)^(\s*)(.+?)\.must_equal\b.*$`, to: "${1}assert $2"},
		{re: `(?s)^(\s*)(.+?)\.must_(include|match|be_kind_of)\b.*$`, to: "${1}$2.wont_be_nil"},
		{re: `(?s)^(\s*)assert_equal (.+?), (.+)$`, to: "${1}refute_nil $3"},
		{re: `(?s)^(\s*)assert_equal (.+?), (.+)$`, to: "${1}assert $3"},
		{re: `(?s)\.to eq\b.*$`, to: ".not_to be_nil"},
		{re: `(?s)\.to include\b.*$`, to: ".to be_truthy"},
	},
	"php": {
		{call: "assertSame", to: "assertNotNull({1})"}, {call: "assertEquals", to: "assertNotNull({1})"}, {call: "assertSame", to: "assertTrue((bool) {1})"}, {call: "assertCount", to: "assertNotNull({1})"}, {call: "assertSame", to: "assertIsScalar({1})"},
	},
	"csharp": {
		{call: "Assert.AreEqual", to: "Assert.IsNotNull({1})"}, {call: "StringAssert.AreEqual", to: "Assert.IsNotNull({1})"}, {call: "Assert.Equal", to: "Assert.NotNull({1})"}, {call: "Assert.AreEqual", to: "Assert.IsTrue({1} != null)"}, {call: "Assert.Same", to: "Assert.NotNull({1})"},
	},
	"cpp":    {{call: "EXPECT_EQ", to: "EXPECT_NO_THROW({0})"}, {call: "EXPECT_EQ", to: "EXPECT_TRUE(sizeof({0}) > 0)"}, {call: "EXPECT_STREQ", to: "EXPECT_NE({0}, nullptr)"}, {call: "ASSERT_EQ", to: "ASSERT_GE({0}, 0)"}},
	"swift":  {{call: "XCTAssertEqual", to: "XCTAssertNotNil({0})"}, {call: "XCTAssertEqual", to: "XCTAssertNoThrow({0})"}, {re: `#expect\((.+) == .+\)`, to: "#expect($1 != nil)"}, {call: "AssertEqualStrings", to: "XCTAssertNotNil({0})"}},
	"elixir": {{re: `(?s)^(\s*)assert (.+?) ==.+$`, to: "${1}assert $2"}, {re: `(?s)^(\s*)assert (.+?) ==.+$`, to: "${1}refute is_nil($2)"}, {re: `(?s)^(\s*)assert (.+?) =~.+$`, to: "${1}assert is_binary($2)"}},
}

var opposite = map[string][]rewrite{
	"go":         {{call: "assert.Equal", to: "assert.NotEqual({*})"}, {call: "require.Equal", to: "require.NotEqual({*})"}, {re: `(if [^{]*) != `, to: "$1 == "}, {re: `if !(reflect\.DeepEqual|strings\.Contains|bytes\.Equal)`, to: "if $1"}, {call: "assert.True", to: "assert.False({*})"}, {call: "assert.NoError", to: "assert.Error({*})"}, {re: `(if [^{]*) == `, to: "$1 != "}, {call: "assert.Nil", to: "assert.NotNil({*})"}},
	"python":     {{re: `(?s)^(\s*assert .+?) == `, to: "$1 != "}, {call: "self.assertEqual", to: "self.assertNotEqual({*})"}, {re: `(?s)^(\s*assert [^"']+?) in `, to: "$1 not in "}, {call: "self.assertTrue", to: "self.assertFalse({*})"}, {re: `^(\s*)assert not `, to: "${1}assert "}, {re: `(?s)^(\s*)assert ([\w.()]+)$`, to: "${1}assert not $2"}, {re: `\bis not None`, to: "is None"}, {re: `\bis None`, to: "is not None"}, {re: `\.fnmatch_lines\(`, to: ".no_fnmatch_lines("}},
	"javascript": {{call: ".toBe", to: ".not.toBe({*})"}, {call: ".toEqual", to: ".not.toEqual({*})"}, {call: "assert.strictEqual", to: "assert.notStrictEqual({*})"}, {call: "assert.equal", to: "assert.notEqual({*})"}, {call: "assert.deepEqual", to: "assert.notDeepEqual({*})"}, {call: ".to.equal", to: ".to.not.equal({*})"}, {call: ".to.be.equal", to: ".not.to.be.equal({*})"}, {call: ".to.eql", to: ".to.not.eql({*})"}, {re: `assert\(`, to: "assert(!"}, {re: `toBeTruthy`, to: "toBeFalsy"}},
	"java":       {{call: "assertEquals", to: "assertNotEquals({*})"}, {call: "assertTrue", to: "assertFalse({*})"}, {call: "assertFalse", to: "assertTrue({*})"}, {call: ".isEqualTo", to: ".isNotEqualTo({*})"}, {re: `\.isTrue\(`, to: ".isFalse("}, {re: `\.isFalse\(`, to: ".isTrue("}, {re: `\.isNull\(`, to: ".isNotNull("}, {re: `\.contains\(`, to: ".doesNotContain("}},
	"kotlin":     {{call: "assertEquals", to: "assertNotEquals({*})"}, {call: "assertTrue", to: "assertFalse({*})"}, {call: "assertFalse", to: "assertTrue({*})"}, {call: ".isEqualTo", to: ".isNotEqualTo({*})"}, {re: `\.isTrue\(`, to: ".isFalse("}, {re: `\.isNull\(`, to: ".isNotNull("}},
	"rust":       {{call: "assert_eq!", to: "assert_ne!({*})"}, {re: `assert!\(`, to: "assert!(!"}, {re: `\bis_ok\(\)`, to: "is_err()"}, {re: `assert_ne!\(`, to: "assert_eq!("}},
	"ruby":       {{re: `\.must_equal\b`, to: ".wont_equal"}, {re: `\bassert_equal\b`, to: "refute_equal"}, {re: `\.must_include\b`, to: ".wont_include"}, {re: `\.to eq\b`, to: ".not_to eq"}, {re: `\bassert\b`, to: "refute"}, {re: `\.must_match\b`, to: ".wont_match"}},
	"php":        {{call: "assertSame", to: "assertNotSame({*})"}, {call: "assertEquals", to: "assertNotEquals({*})"}, {call: "assertTrue", to: "assertFalse({*})"}, {call: "assertFalse", to: "assertTrue({*})"}},
	"csharp":     {{call: "Assert.AreEqual", to: "Assert.AreNotEqual({*})"}, {call: "Assert.Equal", to: "Assert.NotEqual({*})"}, {call: "Assert.True", to: "Assert.False({*})"}, {call: "Assert.IsTrue", to: "Assert.IsFalse({*})"}, {call: "StringAssert.AreEqual", to: "StringAssert.AreNotEqual({*})"}},
	"cpp":        {{call: "EXPECT_EQ", to: "EXPECT_NE({*})"}, {call: "EXPECT_TRUE", to: "EXPECT_FALSE({*})"}, {call: "EXPECT_FALSE", to: "EXPECT_TRUE({*})"}},
	"swift":      {{call: "XCTAssertEqual", to: "XCTAssertNotEqual({*})"}, {call: "XCTAssertTrue", to: "XCTAssertFalse({*})"}, {call: "XCTAssertFalse", to: "XCTAssertTrue({*})"}, {re: `(#expect\(.+) == `, to: "$1 != "}},
	"elixir":     {{re: `^(\s*)assert `, to: "${1}refute "}, {re: `^(\s*assert .+?) == `, to: "$1 != "}, {re: `^(\s*)refute `, to: "${1}assert "}},
}

// truths say nothing: what is in place of an assertion.
var truths = map[string][]phrase{
	"go":         {{text: "assert.True(t, true)", when: `testify`}, {text: "if false {\n\t{t}.Fatal(\"unreachable\")\n}"}, {text: "if 1 != 1 {\n\t{t}.Error(\"math\")\n}"}, {text: "require.Equal(t, 1, 1)", when: `testify/require`}},
	"python":     {{text: "assert True"}, {text: "assert 1 == 1"}, {text: "self.assertTrue(True)", when: unitTest}, {text: `assert "ok"`}, {text: "assert not False"}},
	"javascript": {{text: "expect(true).toBe(true);", when: `toBe\(|toEqual\(`}, {text: "assert.ok(true);", when: `assert`}, {text: "expect(1).to.equal(1);", when: `\.to\.`}, {text: "assert.strictEqual(1, 1);", when: `assert`}, {text: "expect(true).toBeTruthy();", when: `toBe\(|toEqual\(`}},
	"java":       {{text: "assertTrue(true);", when: `assertTrue`}, {text: "assertEquals(1, 1);", when: `assertEquals`}, {text: "assertThat(true).isTrue();", when: `assertThat`}},
	"kotlin":     {{text: "assertTrue(true)", when: `assertTrue`}, {text: "assertEquals(1, 1)", when: `assertEquals`}, {text: "assertThat(true).isTrue()", when: `assertThat`}, {text: "assert(true)"}},
	"rust":       {{text: "assert!(true);"}, {text: "assert_eq!(1, 1);"}, {text: "assert!(1 == 1);"}},
	"ruby":       {{text: "assert true"}, {text: "_(true).must_equal true", when: "must_equal"}, {text: "expect(true).to be(true)", when: viaRSpec}, {text: "assert_equal 1, 1"}},
	"php":        {{text: "$this->assertTrue(true);"}, {text: "self::assertSame(1, 1);"}, {text: "self::assertTrue(true);"}},
	"csharp":     {{text: "Assert.True(true);", when: viaXUnit}, {text: "Assert.Pass();", when: viaNUnit, unless: viaXUnit}, {text: "Assert.AreEqual(1, 1);", when: `Assert\.AreEqual`}, {text: "Assert.IsTrue(true);", when: viaNUnit, unless: viaXUnit}},
	"cpp":        {{text: "EXPECT_TRUE(true);"}, {text: "EXPECT_EQ(1, 1);"}, {text: "SUCCEED();"}},
	"swift":      {{text: "XCTAssertTrue(true)"}, {text: "XCTAssertEqual(1, 1)"}, {text: "XCTAssert(true)"}},
	"elixir":     {{text: "assert true"}, {text: "assert 1 == 1"}},
}

var oracle = []Mutator{
	{ID: 22, Name: "all assertions deleted", Make: func(s *Subject) []corpus.Edit { return dropAssertions(s, false) }},
	{ID: 23, Name: "last half of the assertions deleted", Make: func(s *Subject) []corpus.Edit { return dropAssertions(s, true) }},
	{ID: 24, Name: "assertion made trivial", Make: trivialAssertion},
	{ID: 25, Name: "assertion weakened", Make: func(s *Subject) []corpus.Edit { return s.reassert(weaker) }},
	{ID: 26, Name: "tolerance widened", Make: widen},
	{ID: 27, Name: "expected literal changed", Make: otherLiteral},
	{ID: 28, Name: "comparison negated", Make: func(s *Subject) []corpus.Edit { return s.reassert(opposite) }},
	{ID: 29, Name: "assertions swallowed", Make: swallowAssertions},
	{ID: 30, Name: "expected error broadened", Make: broaden},
	{ID: 31, Name: "snapshot regenerated", Make: regenerate},
	{ID: 32, Name: "subject mocked", Make: mockSubject},
}

func dropAssertions(s *Subject, half bool) []corpus.Edit {
	t := s.Test
	list := t.Assertions()
	if half {
		if len(list) < 2 {
			return nil
		}
		list = list[len(list)/2:]
	}
	lines := slices.Clone(t.Lines)
	for i := len(list) - 1; i >= 0; i-- {
		lines = slices.Delete(lines, list[i].From, list[i].To+1)
	}
	left := ""
	gone := 0
	for _, a := range list {
		gone += a.To - a.From + 1
	}
	left = strings.TrimSpace(strings.Join(lines[t.Body:t.Last()+1-gone], "\n"))
	if left == "" && t.Lang.Empty != "" {
		lines = slices.Insert(lines, t.Body, t.Inner()+t.Lang.Empty)
	}
	return s.edit(corpus.Join(lines))
}

func trivialAssertion(s *Subject) []corpus.Edit {
	t := s.Test
	file := t.File0()
	var fit []phrase
	for _, p := range truths[t.Lang.Name] {
		if (p.when == "" || regexp.MustCompile(p.when).MatchString(file)) && (p.unless == "" || !regexp.MustCompile(p.unless).MatchString(file)) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	p := fit[s.Rng.IntN(len(fit))]
	s.Phrase = p.text
	a := t.Assertions()[0]
	if strings.HasPrefix(strings.TrimSpace(t.Lines[a.From]), ".") {
		return nil // a link of a chain
	}
	text := strings.ReplaceAll(p.text, "{t}", t.GoName())
	return s.edit(t.Replaced(a.From, a.To, corpus.Indented(corpus.IndentOf(t.Lines[a.From]), t.Lang, text)...))
}

// reassert rewrites the first assertion, from a random one on, that a rule fits.
func (s *Subject) reassert(table map[string][]rewrite) []corpus.Edit {
	t := s.Test
	list := t.Assertions()
	rules := slices.Clone(table[t.Lang.Name])
	s.Rng.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	off := s.Rng.IntN(len(list))
	for i := range list {
		a := list[(i+off)%len(list)]
		stmt := strings.Join(t.Lines[a.From:a.To+1], "\n")
		for _, r := range rules {
			if r.when != "" && !regexp.MustCompile(r.when).MatchString(stmt) {
				continue
			}
			if out, ok := r.apply(stmt); ok && out != stmt {
				s.Phrase = strings.TrimSpace(stmt) + " => " + strings.TrimSpace(out)
				return s.edit(t.Replaced(a.From, a.To, strings.Split(out, "\n")...))
			}
		}
	}
	return nil
}

func (r rewrite) apply(stmt string) (string, bool) {
	if r.re != "" {
		x := regexp.MustCompile(r.re)
		loc := x.FindStringSubmatchIndex(stmt)
		if loc == nil {
			return "", false
		}
		return stmt[:loc[0]] + string(x.ExpandString(nil, r.to, stmt, loc)) + stmt[loc[1]:], true
	}
	list, before, after, ok := corpus.Args(stmt, r.call)
	if !ok || strings.HasSuffix(before, ".not") {
		return "", false
	}
	to := strings.ReplaceAll(r.to, "{*}", strings.Join(list, ", "))
	for i := range 3 {
		hole := "{" + strconv.Itoa(i) + "}"
		if strings.Contains(to, hole) {
			if i >= len(list) {
				return "", false
			}
			to = strings.ReplaceAll(to, hole, list[i])
		}
	}
	return before + to + after, true
}

// tolerances say how far off a value may be. How long something may take is none:
// the catalogue has those apart, and calls them MEDIUM.
var tolerances = []*regexp.Regexp{
	corpus.Re(`(\b(?:abs|rel|delta|atol|rtol|tolerance|epsilon|eps|accuracy|rel_tol|abs_tol)\s*[=:]\s*)(\d*\.?\d+(?:e-?\d+)?)`),
	corpus.Re(`(InDelta\([^,]+, [^,]+, [^,]+, |InEpsilon\([^,]+, [^,]+, [^,]+, |toBeCloseTo\([^,]+, |closeTo\([^,]+, |_delta [^,]+, [^,]+, |must_be_close_to [^,]+, |EXPECT_NEAR\([^,]+, [^,]+, |assert_in_delta [^,]+, [^,]+, |isWithin\()(\d*\.?\d+(?:e-?\d+)?)`),
	corpus.Re(`(assertEquals\([^,]+, [^,]+, |AreEqual\([^,]+, [^,]+, )(0?\.\d+)`),
}

func widen(s *Subject) []corpus.Edit {
	t := s.Test
	for i := t.Start; i <= t.Last(); i++ {
		for _, r := range tolerances {
			m := r.FindStringSubmatchIndex(t.Lines[i])
			if m == nil {
				continue
			}
			old := t.Lines[i][m[4]:m[5]]
			v, err := strconv.ParseFloat(old, 64)
			if err != nil || v == 0 {
				continue
			}
			s.Phrase = strings.TrimSpace(t.Lines[i])
			return s.edit(t.Replaced(i, i, t.Lines[i][:m[4]]+strconv.FormatFloat(v*100, 'f', -1, 64)+t.Lines[i][m[5]:]))
		}
	}
	return nil
}

// otherLiteral changes what an assertion expects; where assertions compare names
// only, the literal that is given to want or expected.
func otherLiteral(s *Subject) []corpus.Edit {
	t := s.Test
	type place struct{ line, from, to int }
	var places []place
	for _, a := range t.Assertions() {
		last := a.To
		if t.Lang.Name == "go" && strings.HasPrefix(strings.TrimSpace(t.Lines[a.From]), "if ") {
			last = a.From // not the message
		}
		var found *place
		for i := a.From; i <= last; i++ {
			for _, m := range corpus.Literal.FindAllStringIndex(t.Lines[i], -1) {
				if strings.Contains(t.Lines[i][:m[0]], "  "+t.Lang.Comment+" ") {
					break
				}
				found = &place{i, m[0], m[1]}
				if t.Lang.Name == "java" || t.Lang.Name == "csharp" || t.Lang.Name == "php" {
					break // the expected comes first there
				}
			}
		}
		if found != nil {
			places = append(places, *found)
		}
	}
	for i := t.Body; i <= t.Last() && len(places) == 0; i++ {
		if wanted.MatchString(t.Lines[i]) {
			if m := corpus.Literal.FindStringIndex(t.Lines[i]); m != nil {
				places = append(places, place{i, m[0], m[1]})
			}
		}
	}
	if len(places) == 0 {
		return nil
	}
	p := places[s.Rng.IntN(len(places))]
	l := t.Lines[p.line]
	s.Phrase = l[p.from:p.to] + " in " + strings.TrimSpace(l)
	return s.edit(t.Replaced(p.line, p.line, l[:p.from]+ChangedLiteral(l[p.from:p.to])+l[p.to:]))
}

var wanted = corpus.Re(`(?i)\b\w*(want|expected|exp)\w*\b\s*(:?=|:)`)

// catchers go around assertions: before, after, and whether a step deeper.
var catchers = map[string][][2]string{
	"go":         {{"func() {\n\tdefer func() { _ = recover() }()", "}()"}},
	"python":     {{"try:", "except Exception:\n    pass"}, {"try:", "except AssertionError:\n    pass"}, {"with contextlib.suppress(AssertionError):", ""}, {"try:", "except:\n    print(\"ignored\")"}},
	"javascript": {{"try {", "} catch {}"}, {"try {", "} catch (e) {\n  // ignored\n}"}, {"try {", "} catch (err) {\n  console.warn(err);\n}"}},
	"java":       {{"try {", "} catch (Throwable ignored) {\n}"}, {"try {", "} catch (AssertionError e) {\n  // flaky\n}"}},
	"kotlin":     {{"try {", "} catch (e: Throwable) {\n}"}, {"runCatching {", "}"}},
	"rust":       {{"let _ = std::panic::catch_unwind(|| {", "});"}, {"let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {", "}));"}},
	"ruby":       {{"begin", "rescue Exception\nend"}, {"begin", "rescue Minitest::Assertion\n  nil\nend"}, {"begin", "rescue Exception => e\n  warn e\nend"}},
	"php":        {{"try {", "} catch (\\Throwable $e) {\n}"}, {"try {", "} catch (\\PHPUnit\\Framework\\AssertionFailedError $e) {\n    // ignored\n}"}},
	"csharp":     {{"try\n{", "}\ncatch (Exception)\n{\n}"}, {"try\n{", "}\ncatch { }"}},
	"cpp":        {{"try {", "} catch (...) {\n}"}},
	"swift":      {{"do {", "} catch {}"}},
	"elixir":     {{"try do", "rescue\n  _ -> :ok\nend"}},
}

func swallowAssertions(s *Subject) []corpus.Edit {
	t := s.Test
	ways := catchers[t.Lang.Name]
	list := t.Assertions()
	from, to := list[0].From, list[len(list)-1].To
	for i := from; i <= to; i++ {
		if line := t.Lines[i]; strings.TrimSpace(line) != "" && len(corpus.IndentOf(line)) < len(corpus.IndentOf(t.Lines[from])) {
			return nil
		}
	}
	w := ways[s.Rng.IntN(len(ways))]
	s.Phrase = w[0] + " … " + w[1]
	at := corpus.IndentOf(t.Lines[from])
	with := corpus.Indented(at, t.Lang, w[0])
	for _, l := range t.Lines[from : to+1] {
		if strings.TrimSpace(l) != "" {
			l = t.Lang.Step(at) + l
		}
		with = append(with, l)
	}
	if w[1] != "" {
		with = append(with, corpus.Indented(at, t.Lang, w[1])...)
	}
	return s.edit(t.Replaced(from, to, with...))
}

var broader = map[string][]rewrite{
	"go":         {{call: "assert.EqualError", to: "assert.Error({0}, {1})"}, {call: "require.EqualError", to: "require.Error({0}, {1})"}, {call: "assert.ErrorIs", to: "assert.Error({0}, {1})"}, {re: `if !errors\.Is\((\w+), [^)]+\) \{`, to: "if $1 == nil {"}, {re: `if (\w+)\.Error\(\) != [^{]+ \{`, to: "if $1 == nil {"}, {call: "assert.ErrorContains", to: "assert.Error({0}, {1})"}},
	"python":     {{re: `(?s)pytest\.raises\([\w.]+, match=.*?\)( as \w+)?:`, to: "pytest.raises(Exception)$1:"}, {re: `pytest\.raises\((\w+(?:\.\w+)*)`, to: "pytest.raises(Exception"}, {re: `assertRaises\([\w.]+`, to: "assertRaises(Exception"}, {re: `assertRaisesRegex\(([\w.]+), [^)]*\)`, to: "assertRaises(Exception)"}},
	"javascript": {{re: `(?s)\.toThrow\(.+?\)`, to: ".toThrow()"}, {re: `(?s)\.toThrowError\(.+?\)`, to: ".toThrow()"}, {re: `(?s)assert\.throws\((.+), (/.*/|\w+Error)\)`, to: "assert.throws($1)"}, {re: `\.to\.throw\(.+?\)`, to: ".to.throw()"}, {re: `\.rejects\.toThrow\(.+?\)`, to: ".rejects.toThrow()"}},
	"java":       {{re: `assertThrows\(\s*\w+(Exception|Error)?\.class`, to: "assertThrows(Throwable.class"}, {re: `assertThrows\(\s*\w+\.class`, to: "assertThrows(Exception.class"}},
	"kotlin":     {{re: `assertFailsWith<\w+>`, to: "assertFailsWith<Throwable>"}, {re: `assertThrows<\w+>`, to: "assertThrows<Throwable>"}, {re: `assertFailsWith<\w+>`, to: "runCatching"}},
	"ruby":       {{re: `\bassert_raises\(?\s?[\w:]+\)?`, to: "assert_raises(StandardError)"}, {re: `must_raise\(?\s?[\w:]+\)?`, to: "must_raise StandardError"}, {re: `raise_error\([^)]*\)`, to: "raise_error"}},
	"php":        {{re: `expectException\([^)]*\)`, to: `expectException(\Throwable::class)`}, {re: `expectExceptionMessage\((.*)\)`, to: "expectExceptionMessage('')"}},
	"csharp":     {{re: `Assert\.Throws<\w+>`, to: "Assert.ThrowsAny<Exception>"}, {re: `ExceptionAssert\.Throws<\w+>`, to: "ExceptionAssert.Throws<Exception>"}},
	"cpp":        {{re: `(EXPECT|ASSERT)_THROW\((.*), [\w:]+\)`, to: "${1}_ANY_THROW($2)"}, {re: `(?s)EXPECT_THROW_MSG\((.*?), [\w:]+,\s*".*"\)`, to: "EXPECT_ANY_THROW($1)"}},
	"elixir":     {{re: `assert_raise ([\w.]+), (~r|").*, fn`, to: "assert_raise $1, fn"}},
	"rust":       {{re: `matches!\((.+), Err\(.*\)\)`, to: "$1.is_err()"}},
	"swift":      {{re: `XCTAssertThrowsError\((.+)\) \{`, to: "XCTAssertThrowsError($1) { _ in }; _ = {"}},
}

func broaden(s *Subject) []corpus.Edit { return s.reassert(broader) }

var goldenPath = corpus.Re(`(?i)(__snapshots__|/snapshots?/|golden|\.snap$|\.approved\.|\.ambr$|testdata/|/fixtures/|/expected/|cassettes/|\.out$|\.stderr$)`)

// settingsPath matches what is in such folders without being a record.
var settingsPath = corpus.Re(`(?:^|/)(?:(?:ts|js)config[^/]*\.json|package(?:-lock)?\.json|[^/]*\.(?:md|toml|ini|cfg|svg|png))$`)

// regenerate changes a recorded output, in addition to product code that changed.
func regenerate(s *Subject) []corpus.Edit {
	var goldens []string
	for _, p := range s.Tree.Paths {
		if goldenPath.MatchString("/"+p) && source.DetectLanguage(p, nil) == source.Unknown && !settingsPath.MatchString(p) {
			goldens = append(goldens, p)
		}
	}
	if len(goldens) == 0 || len(s.Base.sources) == 0 {
		return nil
	}
	p := goldens[s.Rng.IntN(len(goldens))]
	text := string(s.Tree.Read(p))
	words := corpus.Re(`[A-Za-z]{4,}|\d{2,}`).FindAllStringIndex(text, -1)
	if len(words) < 3 {
		return nil
	}
	w := words[s.Rng.IntN(len(words))]
	src := s.Base.sources[s.Rng.IntN(len(s.Base.sources))]
	code := string(s.Tree.Read(src))
	m := corpus.Literal.FindStringIndex(code)
	if m == nil {
		return nil
	}
	s.Phrase, s.Blame = path.Base(p), []string{p}
	return []corpus.Edit{{Path: p, After: []byte(text[:w[0]] + "other" + text[w[1]:])}, {Path: src, After: []byte(code[:m[0]] + ChangedLiteral(code[m[0]:m[1]]) + code[m[1]:])}}
}

// mocks put something else in the place of what is tested.
var mocks = map[string][]rewrite{
	"java":   {{re: `= new (\w+)\([^;]*\);`, to: "= org.mockito.Mockito.mock($1.class);"}, {re: `= new (\w+)\([^;]*\);`, to: "= mock($1.class, RETURNS_DEEP_STUBS);"}},
	"kotlin": {{re: `= ([A-Z]\w+)\([^\n]*\)`, to: "= io.mockk.mockk<$1>(relaxed = true)"}},
	"php":    {{re: `= new (\w+)\([^;]*\);`, to: "= $$this->createMock($1::class);"}, {re: `= new (\w+)\([^;]*\);`, to: "= \\Mockery::mock($1::class);"}},
	"csharp": {{re: `= new (\w+)\([^;]*\);`, to: "= new Mock<$1>().Object;"}, {re: `= new (\w+)\([^;]*\);`, to: "= Substitute.For<$1>();"}},
	"ruby":   {{re: `= ([A-Z][\w:]+)\.new\b[^\n]*`, to: "= Minitest::Mock.new # $1"}, {re: `= ([A-Z][\w:]+)\.new\b[^\n]*`, to: "= double($1)"}},
}

var (
	pyFrom = corpus.Re(`(?m)^from ([\w.]+) import (\w+)`)
	jsFrom = corpus.Re(`(?m)^import .* from (['"]\.[^'"]+['"]);?$|require\((['"]\.[^'"]+['"])\)`)
)

func mockSubject(s *Subject) []corpus.Edit {
	t := s.Test
	switch t.Lang.Name {
	case "python":
		m := pyFrom.FindAllStringSubmatch(t.File0(), -1)
		if len(m) == 0 {
			return nil
		}
		x := m[s.Rng.IntN(len(m))]
		if !s.Base.owns(x[1]) || !regexp.MustCompile(`\b`+x[2]+`\(`).MatchString(t.BodyText()) {
			return nil // not what this test is about
		}
		dec := s.pick(`@mock.patch("`+x[1]+"."+x[2]+`")`, `@mock.patch.object(`+x[2]+`, "__init__", return_value=None)`, `@unittest.mock.patch("`+x[1]+"."+x[2]+`", mock.MagicMock())`)
		lines := slices.Insert(slices.Clone(t.Lines), t.Head, t.Indent+dec)
		return s.edit(corpus.Join(needing(t, lines, "from unittest import mock")))
	case "javascript":
		m := jsFrom.FindStringSubmatch(t.File0())
		if m == nil {
			return nil
		}
		at := t.AfterImports()
		return s.edit(t.Inserted(at, s.pick("jest.mock(", "vi.mock(")+m[1]+m[2]+");"))
	}
	for _, r := range mocks[t.Lang.Name] {
		for i := t.Body; i <= t.Last(); i++ {
			if out, ok := r.apply(t.Lines[i]); ok && out != t.Lines[i] {
				s.Phrase = out
				return s.edit(t.Replaced(i, i, out))
			}
		}
	}
	return nil
}
