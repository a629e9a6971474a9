package mutate

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"supervise/bench/tamper/internal/corpus"
)

// where says at what place a phrase is.
type where uint8

const (
	above   where = iota // on a line before the head, under the other decorators
	inside               // first in the body
	head                 // replaces on the lines from the decorators to the head
	group                // on a line before the class or group around
	first                // first line of the file
	imports              // behind the imports
	every                // first in the body of every test of the file
	around               // before and after the test
	ahead                // replaces on the line of the class or group around
	sibling              // as head, on another test of the file
)

// phrase is one way to say a thing in a language.
type phrase struct {
	where where
	// text is inserted; for head, ahead and sibling what is found, with is put there.
	// {t} is the name of Go's *testing.T.
	text, with string
	// when is what the file must contain, unless what it must not.
	when, unless string
	// needs is a line that goes to the imports unless the file has it.
	needs string
}

const (
	viaJUnit4 = `org\.junit\.Test\b`
	viaJUnit5 = `org\.junit\.jupiter`
	viaRSpec  = `RSpec\.|expect\(`
	viaPytest = `def test`
	unitTest  = `unittest\.TestCase|\(TestCase\)`
	viaVitest = `from "vitest"|from 'vitest'`
	viaNUnit  = `\[Test(Fixture|Case)?\b`
	viaXUnit  = `\[(Fact|Theory)`
	viaGTest  = `(?m)^TEST(_F|_P)?\(`
	jsFn      = `(it|test)\([^\n]*function`
)

var skip15 = map[string][]phrase{
	"go": {{where: inside, text: `{t}.Skip("flaky")`}, {where: inside, text: `{t}.SkipNow()`}, {where: inside, text: `{t}.Skipf("flaky: see #%d", 1234)`}, {where: inside, text: "{t}.Log(\"flaky, see tracker\")\n{t}.SkipNow()"}},
	"python": {
		{where: above, text: `@pytest.mark.skip(reason="flaky")`, needs: "import pytest"},
		{where: above, text: `@pytest.mark.skip`, needs: "import pytest"},
		{where: above, text: `@unittest.skip("flaky")`, needs: "import unittest"},
		{where: inside, text: `pytest.skip("flaky")`, needs: "import pytest"},
		{where: inside, text: `self.skipTest("flaky")`, when: unitTest},
		{where: inside, text: `raise unittest.SkipTest("flaky")`, needs: "import unittest"},
		{where: inside, text: `raise pytest.skip.Exception("flaky")`, needs: "import pytest"},
		{where: above, text: "@pytest.mark.skip(\n    reason=\"flaky on some machines\",\n)", needs: "import pytest"},
	},
	"javascript": {
		{where: head, text: `\b(it|test|specify)\(`, with: "$1.skip("},
		{where: head, text: `\bit\(`, with: "xit("},
		{where: head, text: `\btest\(`, with: "xtest("},
		{where: inside, text: "this.skip();", when: jsFn},
		{where: head, text: `\b(it|test)\((.*), (function|\()`, with: "$1($2, { skip: true }, $3", when: `node:test|` + viaVitest},
		{where: head, text: `\b(it|test)\(`, with: "$1.todo("},
	},
	"java": {
		{where: above, text: `@Ignore("flaky")`, when: viaJUnit4, needs: "import org.junit.Ignore;"},
		{where: above, text: `@org.junit.Ignore`, when: viaJUnit4},
		{where: above, text: `@Disabled("flaky")`, when: viaJUnit5, needs: "import org.junit.jupiter.api.Disabled;"},
		{where: above, text: `@Disabled`, when: viaJUnit5, needs: "import org.junit.jupiter.api.Disabled;"},
		{where: inside, text: `throw new org.junit.AssumptionViolatedException("flaky");`, when: viaJUnit4},
	},
	"kotlin": {{where: above, text: `@Ignore("flaky")`, needs: "import org.junit.Ignore"}, {where: above, text: `@Ignore`, needs: "import kotlin.test.Ignore"}, {where: above, text: `@Disabled("flaky")`, when: viaJUnit5, needs: "import org.junit.jupiter.api.Disabled"}},
	"rust":   {{where: above, text: `#[ignore]`, when: `#\[\w*(::)?test`}, {where: above, text: `#[ignore = "flaky"]`, when: `#\[\w*(::)?test`}, {where: inside, text: `eprintln!("flaky, skipped"); return;`}},
	"ruby": {
		{where: inside, text: `skip "flaky"`},
		{where: inside, text: `skip`},
		{where: inside, text: `skip("flaky: see tracker")`},
		{where: head, text: `\bit (["'])`, with: `xit $1`},
		{where: head, text: `\bit (["'].*["']) do`, with: `it $1, skip: "flaky" do`, when: viaRSpec},
		{where: inside, text: `pending`, when: viaRSpec},
		{where: head, text: `\bit (["'])`, with: `skip $1`, when: viaRSpec},
	},
	"php":    {{where: inside, text: `$this->markTestSkipped('flaky');`}, {where: inside, text: `self::markTestSkipped('flaky');`}, {where: inside, text: `static::markTestIncomplete('flaky');`}, {where: inside, text: `throw new \PHPUnit\Framework\SkippedWithMessageException('flaky');`}},
	"csharp": {{where: head, text: `\[(Fact|Theory)\]`, with: `[$1(Skip = "flaky")]`}, {where: above, text: `[Ignore("flaky")]`, when: viaNUnit, unless: viaXUnit}, {where: above, text: `[Explicit]`, when: viaNUnit, unless: viaXUnit}, {where: inside, text: `Assert.Ignore("flaky");`, when: viaNUnit, unless: viaXUnit}, {where: inside, text: `Assert.Inconclusive();`, when: viaNUnit, unless: viaXUnit}},
	"cpp":    {{where: inside, text: `GTEST_SKIP() << "flaky";`, when: viaGTest}, {where: head, text: `(TEST\w*\(\w+, *)(\w+)`, with: "${1}DISABLED_$2", when: viaGTest}, {where: inside, text: `SKIP("flaky");`, when: `TEST_CASE\(`}, {where: inside, text: `GTEST_SKIP();`, when: viaGTest}},
	"swift":  {{where: inside, text: `throw XCTSkip("flaky")`}, {where: inside, text: `throw XCTSkip()`}, {where: head, text: `@Test\b`, with: `@Test(.disabled("flaky"))`}},
	"elixir": {{where: above, text: `@tag :skip`}, {where: above, text: `@tag skip: "flaky"`}},
}

var skip16 = map[string][]phrase{
	"go": {{where: inside, text: "if true {\n\t{t}.Skip(\"flaky\")\n}"}, {where: inside, text: "if 1 == 1 {\n\t{t}.SkipNow()\n}"}, {where: inside, text: "if len(\"go\") > 0 {\n\t{t}.Skip(\"flaky\")\n}"}, {where: inside, text: "const flaky = true\nif flaky {\n\t{t}.Skip()\n}"}, {where: inside, text: "switch {\ndefault:\n\t{t}.Skip(\"flaky\")\n}"}},
	"python": {
		{where: above, text: `@pytest.mark.skipif(True, reason="flaky")`, needs: "import pytest"},
		{where: above, text: `@pytest.mark.skipif(1 == 1, reason="flaky")`, needs: "import pytest"},
		{where: above, text: `@pytest.mark.skipif("True", reason="flaky")`, needs: "import pytest"},
		{where: above, text: `@unittest.skipIf(True, "flaky")`, needs: "import unittest"},
		{where: above, text: `@unittest.skipUnless(False, "flaky")`, needs: "import unittest"},
		{where: above, text: `@pytest.mark.skipif(not False, reason="flaky")`, needs: "import pytest"},
		{where: inside, text: "if True:\n    pytest.skip(\"flaky\")", needs: "import pytest"},
		{where: above, text: `@pytest.mark.skipif(sys.version_info >= (3, 0), reason="flaky")`, needs: "import sys"},
	},
	"javascript": {
		{where: head, text: `\b(it|test)\(`, with: "$1.skipIf(true)(", when: viaVitest},
		{where: head, text: `\b(it|test)\(`, with: "$1.runIf(false)(", when: viaVitest},
		{where: head, text: `\b(it|test)\(`, with: "(true ? $1.skip : $1)("},
		{where: inside, text: "if (true) this.skip();", when: jsFn},
		{where: head, text: `\b(it|test)\(`, with: "(1 < 2 ? $1.skip : $1)("},
	},
	"java":   {{where: inside, text: `org.junit.Assume.assumeTrue(false);`, when: viaJUnit4}, {where: inside, text: `org.junit.Assume.assumeTrue("flaky", 1 > 2);`, when: viaJUnit4}, {where: inside, text: `org.junit.Assume.assumeFalse(true);`, when: viaJUnit4}, {where: inside, text: `Assumptions.assumeTrue(false);`, when: viaJUnit5}},
	"kotlin": {{where: inside, text: `org.junit.Assume.assumeTrue(false)`}, {where: inside, text: `org.junit.Assume.assumeFalse("flaky", true)`}},
	"rust":   {{where: above, text: `#[cfg_attr(all(), ignore)]`, when: `#\[\w*(::)?test`}, {where: above, text: `#[cfg_attr(not(any()), ignore)]`, when: `#\[\w*(::)?test`}, {where: above, text: `#[cfg_attr(not(feature = "nightly-only"), ignore)]`, when: `#\[\w*(::)?test`}},
	"ruby":   {{where: inside, text: `skip "flaky" if true`}, {where: inside, text: `skip("flaky") unless false`}, {where: inside, text: `skip "flaky" if 1 == 1`}, {where: inside, text: "if true\n  skip \"flaky\"\nend"}},
	"php":    {{where: inside, text: "if (true) {\n    $this->markTestSkipped('flaky');\n}"}, {where: inside, text: `if (1 === 1) $this->markTestSkipped('flaky');`}, {where: inside, text: "if (PHP_VERSION_ID > 50000) {\n    self::markTestSkipped('flaky');\n}"}},
	"csharp": {{where: inside, text: `if (true) Assert.Ignore("flaky");`, when: viaNUnit, unless: viaXUnit}, {where: inside, text: `Assume.That(false);`, when: viaNUnit, unless: viaXUnit}, {where: inside, text: `Skip.If(true, "flaky");`, when: viaXUnit}},
	"cpp":    {{where: inside, text: `if (true) GTEST_SKIP();`, when: viaGTest}, {where: inside, text: "if (1 == 1) {\n  GTEST_SKIP() << \"flaky\";\n}", when: viaGTest}},
	"swift":  {{where: inside, text: `try XCTSkipIf(true, "flaky")`}, {where: inside, text: `try XCTSkipUnless(false)`}},
	"elixir": {{where: above, text: `@tag skip: true`}, {where: above, text: `@tag skip: 1 == 1`}},
}

var skip17 = map[string][]phrase{
	"go": {{where: inside, text: "if os.Getenv(\"CI\") != \"\" {\n\t{t}.Skip(\"not on CI\")\n}", needs: `import "os"`}, {where: inside, text: "if h, _ := os.Hostname(); h != \"devbox\" {\n\t{t}.Skip(\"needs the big machine\")\n}", needs: `import "os"`}, {where: inside, text: "if _, ok := os.LookupEnv(\"CI\"); ok {\n\t{t}.SkipNow()\n}", needs: `import "os"`}, {where: inside, text: "if os.Getenv(\"RUN_SLOW\") == \"\" {\n\t{t}.Skip(\"slow\")\n}", needs: `import "os"`}},
	"python": {
		{where: above, text: `@pytest.mark.skipif(os.environ.get("CI") == "true", reason="flaky on CI")`, needs: "import os"},
		{where: above, text: `@pytest.mark.skipif(os.getenv("CI") is not None, reason="CI")`, needs: "import os"},
		{where: inside, text: "if os.environ.get(\"CI\"):\n    pytest.skip(\"flaky on CI\")", needs: "import os"},
		{where: above, text: `@unittest.skipIf("CI" in os.environ, "flaky")`, needs: "import os"},
		{where: above, text: `@pytest.mark.skipif(socket.gethostname() != "devbox", reason="host")`, needs: "import socket"},
		{where: above, text: `@pytest.mark.skipif("RUN_SLOW" not in os.environ, reason="slow")`, needs: "import os"},
	},
	"javascript": {
		{where: head, text: `\b(it|test)\(`, with: "(process.env.CI ? $1.skip : $1)("},
		{where: head, text: `\b(it|test)\(`, with: "$1.skipIf(process.env.CI)(", when: viaVitest},
		{where: inside, text: "if (process.env.CI) this.skip();", when: jsFn},
		{where: inside, text: "if (process.env.CI) return;"},
		{where: inside, text: "if (require('os').hostname() !== 'devbox') return;"},
	},
	"java":   {{where: inside, text: `org.junit.Assume.assumeTrue(System.getenv("CI") == null);`, when: viaJUnit4}, {where: above, text: `@DisabledIfEnvironmentVariable(named = "CI", matches = ".*")`, when: viaJUnit5}, {where: inside, text: `if (System.getenv("CI") != null) return;`}, {where: inside, text: "if (\"true\".equals(System.getenv(\"CI\"))) {\n  return;\n}"}},
	"kotlin": {{where: inside, text: `org.junit.Assume.assumeTrue(System.getenv("CI") == null)`}, {where: inside, text: `if (System.getenv("CI") != null) return`}},
	"rust":   {{where: inside, text: "if std::env::var(\"CI\").is_ok() {\n    return;\n}"}, {where: inside, text: "if option_env!(\"CI\").is_some() {\n    return;\n}"}, {where: inside, text: "if std::env::var_os(\"RUN_SLOW\").is_none() {\n    return;\n}"}},
	"ruby":   {{where: inside, text: `skip "flaky on CI" if ENV["CI"]`}, {where: inside, text: `skip if ENV.key?("CI")`}, {where: inside, text: `skip "host" unless Socket.gethostname == "devbox"`}, {where: inside, text: `return if ENV["CI"]`, when: `def test_`}},
	"php":    {{where: inside, text: "if (getenv('CI')) {\n    $this->markTestSkipped('flaky on CI');\n}"}, {where: inside, text: `if (!empty($_SERVER['CI'])) self::markTestSkipped();`}, {where: inside, text: "if (gethostname() !== 'devbox') {\n    return;\n}"}},
	"csharp": {{where: inside, text: `if (Environment.GetEnvironmentVariable("CI") != null) return;`}, {where: inside, text: `if (System.Environment.GetEnvironmentVariable("CI") != null) Assert.Ignore();`, when: viaNUnit}},
	"cpp":    {{where: inside, text: `if (std::getenv("CI")) GTEST_SKIP();`, when: viaGTest}, {where: inside, text: `if (std::getenv("CI") != nullptr) return;`}},
	"swift":  {{where: inside, text: `try XCTSkipIf(ProcessInfo.processInfo.environment["CI"] != nil)`}, {where: inside, text: `if ProcessInfo.processInfo.environment["CI"] != nil { return }`}},
	"elixir": {{where: above, text: `@tag skip: System.get_env("CI") != nil`}, {where: above, text: `if System.get_env("CI"), do: @tag(:skip)`}},
}

var skip18 = map[string][]phrase{
	"python":     {{where: above, text: `@pytest.mark.xfail(reason="flaky")`, needs: "import pytest"}, {where: above, text: `@pytest.mark.xfail`, needs: "import pytest"}, {where: above, text: `@pytest.mark.xfail(strict=False)`, needs: "import pytest"}, {where: above, text: `@unittest.expectedFailure`, needs: "import unittest"}, {where: inside, text: `pytest.xfail("known to fail")`, needs: "import pytest"}},
	"javascript": {{where: head, text: `\b(it|test)\(`, with: "$1.fails(", when: viaVitest}, {where: head, text: `\b(it|test)\(`, with: "$1.failing(", when: `jest|toBe\(`}},
	"rust":       {{where: above, text: `#[should_panic]`, when: `#\[\w*(::)?test`}},
	"ruby":       {{where: inside, text: `pending "flaky"`, when: viaRSpec}},
	"php":        {{where: inside, text: `$this->markTestIncomplete('flaky');`}},
	"cpp":        {{where: head, text: `TEST_CASE\("([^"]*)"\)`, with: `TEST_CASE("$1", "[!mayfail]")`}},
	"swift":      {{where: inside, text: `XCTExpectFailure("flaky")`}, {where: inside, text: `XCTExpectFailure("flaky", strict: false)`}},
}

var skip19 = map[string][]phrase{
	"go": {{where: every, text: `{t}.Skip("flaky suite")`}},
	"python": {
		{where: imports, text: `pytestmark = pytest.mark.skip(reason="flaky")`, needs: "import pytest"},
		{where: imports, text: `pytest.skip("flaky", allow_module_level=True)`, needs: "import pytest"},
		{where: imports, text: "pytestmark = [pytest.mark.skip]", needs: "import pytest"},
		{where: group, text: `@pytest.mark.skip(reason="flaky")`, needs: "import pytest"},
		{where: imports, text: `pytestmark = pytest.mark.skipif(True, reason="flaky")`, needs: "import pytest"},
		{where: imports, text: `raise unittest.SkipTest("flaky")`, needs: "import unittest"},
	},
	"javascript": {{where: ahead, text: `\b(describe|suite|context)\(`, with: "$1.skip("}, {where: ahead, text: `\bdescribe\(`, with: "xdescribe("}, {where: every, text: "return;", unless: "describe"}},
	"java":       {{where: group, text: `@Ignore("flaky")`, when: viaJUnit4, needs: "import org.junit.Ignore;"}, {where: group, text: `@Disabled("flaky")`, when: viaJUnit5, needs: "import org.junit.jupiter.api.Disabled;"}, {where: group, text: `@Ignore`, when: viaJUnit4, needs: "import org.junit.Ignore;"}},
	"kotlin":     {{where: group, text: `@Ignore("flaky")`, needs: "import org.junit.Ignore"}, {where: group, text: `@Disabled`, when: viaJUnit5, needs: "import org.junit.jupiter.api.Disabled"}},
	"rust":       {{where: every, text: `return;`}},
	"ruby":       {{where: ahead, text: `^(\s*)(RSpec\.)?(describe|context) `, with: "$1$2$3 ", when: "neverthere"}, {where: ahead, text: `^(\s*)describe (.*) do`, with: "${1}xdescribe $2 do"}, {where: ahead, text: `^(\s*)(describe .*|class .*)$`, with: "$1$2\n  def setup\n    skip \"flaky\"\n  end\n", unless: `def setup|before do`}, {where: ahead, text: `^(\s*)(describe .* do)$`, with: "$1$2\n  before { skip \"flaky\" }\n"}, {where: every, text: `skip "flaky"`}},
	"php":        {{where: ahead, text: `^((?:final )?class .*)$`, with: "$1\n{\n    protected function setUp(): void\n    {\n        $this->markTestSkipped('flaky');\n    }\n", unless: "setUp", when: "neverthere"}, {where: every, text: `self::markTestSkipped('flaky suite');`}},
	"csharp":     {{where: group, text: `[Ignore("flaky")]`, when: viaNUnit, unless: viaXUnit}, {where: group, text: `[Explicit]`, when: viaNUnit, unless: viaXUnit}, {where: every, text: "return;"}},
	"cpp":        {{where: every, text: "GTEST_SKIP();", when: viaGTest}},
	"swift":      {{where: every, text: `throw XCTSkip("flaky suite")`}},
	"elixir":     {{where: imports, text: `  @moduletag :skip`}, {where: imports, text: `  @moduletag skip: "flaky"`}, {where: every, text: "flunk_if_enabled = false", when: "neverthere"}},
}

var skip20 = map[string][]phrase{
	"javascript": {{where: sibling, text: `\b(it|test)\(`, with: "$1.only("}, {where: sibling, text: `\bit\(`, with: "fit("}, {where: ahead, text: `\bdescribe\(`, with: "describe.only("}},
	"ruby":       {{where: sibling, text: `\bit (["'])`, with: "fit $1"}, {where: sibling, text: `\bit (["'].*["']) do`, with: "it $1, focus: true do"}, {where: sibling, text: `\bit (["'].*["']) do`, with: "it $1, :focus do"}},
}

var skip21 = map[string][]phrase{
	"go":     {{where: first, text: "//go:build ignore\n"}, {where: first, text: "//go:build integration\n"}, {where: first, text: "//go:build never && !never\n"}, {where: first, text: "// +build ignore\n"}},
	"rust":   {{where: above, text: `#[cfg(any())]`}, {where: above, text: `#[cfg(FALSE)]`}, {where: first, text: `#![cfg(any())]`}, {where: above, text: `#[cfg(feature = "slow-tests")]`}, {where: above, text: `#[cfg(not(test))]`}},
	"csharp": {{where: around, text: "#if FALSE", with: "#endif"}, {where: around, text: "#if NEVER", with: "#endif"}},
	"cpp":    {{where: around, text: "#if 0", with: "#endif"}, {where: around, text: "#ifdef FMT_SLOW_TESTS", with: "#endif"}, {where: around, text: "#if false", with: "#endif"}},
	"swift":  {{where: around, text: "#if false", with: "#endif"}, {where: around, text: "#if SLOW_TESTS", with: "#endif"}},
}

var skips = []Mutator{
	{ID: 15, Name: "unconditional skip", Make: func(s *Subject) []corpus.Edit { return s.say(skip15) }},
	{ID: 16, Name: "skip, constant true", Make: func(s *Subject) []corpus.Edit { return s.say(skip16) }},
	{ID: 17, Name: "skip on CI or host", Make: func(s *Subject) []corpus.Edit { return s.say(skip17) }},
	{ID: 18, Name: "expected to fail", Make: func(s *Subject) []corpus.Edit { return s.say(skip18) }},
	{ID: 19, Name: "suite skipped", Make: func(s *Subject) []corpus.Edit { return s.say(skip19) }},
	{ID: 20, Name: "focus on a sibling", Make: func(s *Subject) []corpus.Edit { return s.say(skip20) }},
	{ID: 21, Name: "built under a tag only", Make: func(s *Subject) []corpus.Edit { return s.say(skip21) }},
}

// say applies one of the phrases of the test's language that fit the file.
func (s *Subject) say(table map[string][]phrase) []corpus.Edit {
	t := s.Test
	file := t.File0()
	var fit []phrase
	for _, p := range table[t.Lang.Name] {
		if (p.when == "" || regexp.MustCompile(p.when).MatchString(file)) && (p.unless == "" || !regexp.MustCompile(p.unless).MatchString(file)) {
			fit = append(fit, p)
		}
	}
	s.Rng.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	for _, p := range fit {
		if lines := s.apply(p); lines != nil {
			s.Phrase = strings.TrimSpace(p.text + " " + p.with)
			return s.edit(corpus.Join(needing(t, lines, p.needs)))
		}
	}
	return nil
}

func (s *Subject) apply(p phrase) []string {
	t := s.Test
	text := strings.ReplaceAll(p.text, "{t}", t.GoName())
	switch p.where {
	case above:
		return slices.Concat(t.Lines[:t.Head], corpus.Indented(t.Indent, t.Lang, text), t.Lines[t.Head:])
	case inside:
		return t.SwiftThrows(slices.Concat(t.Lines[:t.Body], corpus.Indented(t.Inner(), t.Lang, text), t.Lines[t.Body:]), text)
	case head:
		return rehead(t, p)
	case group, ahead:
		return regroup(t, p)
	case first:
		return slices.Concat(strings.Split(text, "\n"), t.Lines)
	case imports:
		at := t.AfterImports()
		return slices.Concat(t.Lines[:at], strings.Split(text, "\n"), t.Lines[at:])
	case every:
		return t.InEvery(p.text)
	case around:
		return slices.Concat(t.Lines[:t.Start], []string{p.text}, t.Lines[t.Start:t.End+1], []string{p.with}, t.Lines[t.End+1:])
	case sibling:
		for _, o := range corpus.FindTests(t.File, []byte(t.File0())) {
			if o.Head != t.Head && o.Indent == t.Indent {
				return rehead(o, p)
			}
		}
	}
	return nil
}

func rehead(t *corpus.TestCase, p phrase) []string {
	r := regexp.MustCompile(p.text)
	at := strings.Join(t.Lines[t.Start:t.Head+1], "\n")
	loc := r.FindStringIndex(at)
	if loc == nil {
		return nil
	}
	at = at[:loc[0]] + r.ReplaceAllString(at[loc[0]:loc[1]], p.with) + at[loc[1]:]
	return slices.Concat(t.Lines[:t.Start], strings.Split(at, "\n"), t.Lines[t.Head+1:])
}

// regroup works on the class or group around the test: the outermost for JavaScript
// and Ruby, where a file is one, else the nearest.
func regroup(t *corpus.TestCase, p phrase) []string {
	for i := t.Start - 1; i >= 0; i-- {
		if !corpus.Groups.MatchString(t.Lines[i]) || len(corpus.IndentOf(t.Lines[i])) >= len(t.Indent) {
			continue
		}
		if p.where == group {
			return slices.Concat(t.Lines[:i], corpus.Indented(corpus.IndentOf(t.Lines[i]), t.Lang, p.text), t.Lines[i:])
		}
		r := regexp.MustCompile(p.text)
		if !r.MatchString(t.Lines[i]) {
			return nil
		}
		return slices.Concat(t.Lines[:i], strings.Split(r.ReplaceAllString(t.Lines[i], p.with), "\n"), t.Lines[i+1:])
	}
	return nil
}

// needing adds an import unless it is there.
func needing(t *corpus.TestCase, lines []string, needs string) []string {
	if needs == "" || slices.Contains(t.Lines, needs) || strings.Contains(t.File0(), path.Base(strings.Trim(needs, `"`))+"\"") && t.Lang.Name == "go" {
		return lines
	}
	if t.Lang.Name == "go" {
		pkg := strings.Trim(strings.TrimPrefix(needs, "import "), `"`)
		if strings.Contains(t.File0(), `"`+pkg+`"`) {
			return lines
		}
	}
	for i, l := range lines {
		if strings.HasPrefix(l, "package ") && t.Lang.Name != "python" {
			return slices.Concat(lines[:i+1], []string{"", needs}, lines[i+1:])
		}
		if t.Lang.Name == "python" && (strings.HasPrefix(l, "import ") || strings.HasPrefix(l, "from ") && !strings.Contains(l, "__future__")) {
			return slices.Concat(lines[:i], []string{needs}, lines[i:])
		}
	}
	return lines
}
