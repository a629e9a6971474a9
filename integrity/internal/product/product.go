package product

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// sniffingREs match, by language, how code detects that it is tested, such as testing.Testing() in
// Go.
var sniffingREs = map[source.Language]*regexp.Regexp{
	source.Go:         regexp.MustCompile(`\btesting\.Testing\(\)|flag\.Lookup\("test\.|HasSuffix\(os\.Args\[0\], "\.test|strings\.Contains\(os\.Args\[0\], "(?:/_test|\.test)`),
	source.Python:     framework.PythonDetection,
	source.JavaScript: framework.NodeDetection,
	source.Java:       framework.JavaDetection,
	source.Rust:       framework.RustDetection,
	source.Ruby:       framework.RubyDetection,
	source.PHP:        framework.PHPDetection,
	source.CSharp:     framework.DotnetDetection,
	source.CPP:        framework.CPPDetection,
	source.Swift:      framework.SwiftDetection,
	source.Elixir:     framework.ElixirDetection,
}

// testVariableRE matches, in any language, the reading of a variable by whose name tests are
// recognized, as in os.getenv("UNIT_TEST").
var testVariableRE = regexp.MustCompile(`(?i:getenv|lookupenv|environ(?:\.get)?|env::var\w*|process\.env|\bENV|GetEnvironmentVariable|System\.get_env)[\[(."']+["']?(?:\w+_)?(?:TEST|TESTS|TESTING|TEST_MODE|TEST_RUN\w*|TEST_ENV|UNDER_TEST|UNITTESTS?|IN_TESTS?|IS_TEST\w*|RUNNING_TESTS?)["'\])\s=!,;:]`)

// sniffingRE returns the expression for a language, nil if there is none.
func sniffingRE(lang source.Language) *regexp.Regexp {
	if similarity, ok := equivalentLanguages[lang]; ok {
		lang = similarity
	}
	return sniffingREs[lang]
}

// equivalentLanguages maps languages to the language whose expressions apply to them as well.
var equivalentLanguages = map[source.Language]source.Language{
	source.TypeScript: source.JavaScript, source.Kotlin: source.Java, source.Scala: source.Java, source.C: source.CPP,
}

// findSniffing finds product code that newly detects whether it is tested.
func findSniffing(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	re := sniffingRE(s.Language())
	if re == nil || !s.IsProduct() {
		return
	}
	detectsTest := func(text string) bool { return re.MatchString(text) || testVariableRE.MatchString(text) }
	if detectsTest(string(f.Before().Text)) {
		return
	}
	for _, l := range f.AddedLines() {
		if detectsTest(l.Text) && detectsTest(s.CodeAt(l.Number)) && !isInTestModule(s, l.Number) {
			report(f.NewFinding(l.Number, l.Text))
		}
	}
}

// isInTestModule reports whether a line is in the part of a file that begins with the first test,
// as at the end of Rust files.
func isInTestModule(s *facts.Side, n int) bool {
	tests := s.Inspection().Tests
	return len(tests) > 0 && n >= tests[0].Line-5
}

// findExit finds the first new call that ends the test process successfully. It is less severe in
// new files without tests and in programs that tests start.
func findExit(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	if !s.MayHoldTests() {
		return
	}
	added := f.NewMarks(source.Exit)
	if len(added) == 0 {
		return
	}
	m := added[0]
	x := s.FindingAt(m.Line, m.Text)
	if !m.IsUnconditional() || f.Added && len(s.Inspection().Tests) == 0 || isInFixtures(s.Path) {
		x.Severity = metric.Medium
	}
	if mainGuardRE.MatchString(m.Condition) {
		x.Severity = metric.Low
	}
	report(x)
}

// isInFixtures reports whether a file is one of those that tests start or read.
func isInFixtures(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains([]string{"fixture", "fixtures"}, strings.Trim(dir, "_"))
	})
}

// mainGuardRE matches conditions under which a file runs as a program, such as __name__ ==
// "__main__".
var mainGuardRE = regexp.MustCompile(`__name__|require\.main|import\.meta\.main|\$0|HELPER|helper`)

// alwaysEqualREs match, by language, comparisons that are always true, as in "def __eq__(self,
// other): return True".
var alwaysEqualREs = map[source.Language]*regexp.Regexp{
	source.Python:     regexp.MustCompile(`def\s+__(?:eq|bool|contains|exit|ge|le|instancecheck)__\s*\([^)]*\)(?:\s*->\s*\w+)?\s*:\s*(?:"""[^"]*"""\s*)?return\s+True\b|\b__eq__\s*=\s*lambda[^:\n]*:\s*True\b|def\s+__ne__\s*\([^)]*\)(?:\s*->\s*\w+)?\s*:\s*return\s+False\b|\b__eq__\s*=\s*\w*(?:ANY|always_true)\w*`),
	source.Go:         regexp.MustCompile(`func\s*\([^)]*\)\s*(?:Equal|Equals|Eq|Is|Match)\s*\([^)]*\)\s*bool\s*\{\s*return true\s*\}|cmp\.Comparer\(func\([^)]*\)\s*bool\s*\{\s*return true\s*\}`),
	source.JavaScript: regexp.MustCompile(`\b(?:equals|isEqual|asymmetricMatch|isEqualTo)\s*\([^)]*\)\s*\{\s*return\s+true;?\s*\}|Object\.is\s*=[^=]|\[Symbol\.toPrimitive\]|addEqualityTesters\(|expect\.extend\((?s:.{0,400}?)(?:\bpass:\s*true\b|[\s{,](?:toBe|toEqual|toStrictEqual|toContain|toMatch|toThrow|toHave\w*)\s*[:(])`),
	source.Java:       regexp.MustCompile(`\bboolean\s+equals\s*\([^)]*\)\s*\{\s*return\s+true;\s*\}`),
	source.Kotlin:     regexp.MustCompile(`\bfun\s+equals\s*\([^)]*\)\s*(?::\s*Boolean\s*)?(?:=\s*true\b|\{\s*return\s+true\s*\})`),
	source.Rust:       regexp.MustCompile(`fn\s+eq\s*\([^)]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?true;?\s*\}|fn\s+ne\s*\([^)]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?false;?\s*\}`),
	source.Ruby:       regexp.MustCompile(`def\s+(?:==|eql\?|===|=~|equal\?)\s*\(?[^)\n=]*\)?\s*(?:;|\n|=)?\s*(?:return\s+)?true\b|def\s+!=\s*\(?[^)\n=]*\)?\s*(?:;|\n|=)?\s*(?:return\s+)?false\b|(?:alias_method|define_method)\s*\(?:(?:==|eql\?)[^\n]*\{[^}]*\btrue\s*\}`),
	source.PHP:        regexp.MustCompile(`function\s+(?:equals|matches|isEqual(?:To)?|sameAs|equalTo)\s*\([^)]*\)\s*(?::\s*bool\s*)?\{\s*return\s+true;\s*\}`),
	source.CSharp:     regexp.MustCompile(`\bbool\s+(?:Equals|operator\s*==)\s*\([^)]*\)\s*(?:=>\s*true;|\{\s*return\s+true;\s*\})|\bbool\s+operator\s*!=\s*\([^)]*\)\s*(?:=>\s*false;|\{\s*return\s+false;\s*\})`),
	source.CPP:        regexp.MustCompile(`operator\s*==\s*\([^)]*\)\s*(?:const)?\s*(?:noexcept)?\s*\{\s*return\s+true;\s*\}|operator\s*!=\s*\([^)]*\)\s*(?:const)?\s*(?:noexcept)?\s*\{\s*return\s+false;\s*\}`),
	source.Swift:      regexp.MustCompile(`func\s*==\s*\([^)]*\)\s*->\s*Bool\s*\{\s*(?:return\s+)?true\s*\}`),
}

// equalityHintRE matches a line that every such comparison has. It is checked first because it is
// fast.
var equalityHintRE = regexp.MustCompile(`[Tt]rue|False|false|Object\.is|toPrimitive|addEqualityTesters|expect\.extend`)

// findAlwaysEqual finds the first new comparison that is always true.
func findAlwaysEqual(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	lang := s.Language()
	if lang == source.TypeScript {
		lang = source.JavaScript
	}
	re := alwaysEqualREs[lang]
	if re == nil || !s.Exists() || len(facts.MatchingLines(f.AddedLines(), equalityHintRE)) == 0 || f.Before().Exists() && re.Match(f.Before().WithoutComments()) {
		return
	}
	if at := re.FindIndex(s.WithoutComments()); at != nil {
		n := s.LineNumber(at[0])
		report(f.NewFinding(n, string(s.WithoutComments()[at[0]:at[1]])))
	}
}

// stubRE matches a stub in place of code, such as "raise NotImplementedError", and todoRE a note.
var (
	stubRE = regexp.MustCompile(`\braise NotImplementedError\b|\btodo!\(|\bunimplemented!\(|panic\("(?i:not implemented|todo)|throw new (?:\w*Error|\w*Exception)\(\s*["'](?i:not (?:yet )?implemented|todo)|NotImplementedException|\bTODO\(\)|fatalError\("(?i:not implemented|todo)|raise NotImplementedError`)
	todoRE = regexp.MustCompile(`\b(?:TODO|FIXME|HACK|XXX)\b`)
	// inputCheckRE matches a line that validates input or returns an error, as in "raise
	// ValueError(…)".
	inputCheckRE = regexp.MustCompile(`^\s*(?:if\s*\(?\s*(?:!|not )[^{:]*[{:]?\s*(?:throw|raise|return\s+(?:err|nil, |errors?\.|fmt\.Errorf))|(?:throw new|raise)\s+\w*(?:Error|Exception)|\w*\.?(?:validate|sanitize|escape|authorize|authenticate)\w*\()`)
)

// findUnfinished finds code that was replaced by stubs, files with many new notes, and files that
// lost checks of their input.
func findUnfinished(f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	if !s.IsProduct() || !f.Before().Exists() {
		return
	}
	findDroppedChecks(f, report)

	stubs := facts.Filter(facts.MatchingLines(f.AddedLines(), stubRE), func(l facts.Line) bool { return stubRE.MatchString(s.CodeAt(l.Number)) })
	if len(stubs) > 0 && len(f.RemovedLines()) >= 5 {
		report(f.NewFinding(stubs[0].Number, stubs[0].Text).WithSeverity(metric.Medium))
	}
	notes := facts.Filter(facts.MatchingLines(f.AddedLines(), todoRE), func(l facts.Line) bool { return !todoRE.MatchString(s.CodeAt(l.Number)) })
	if len(notes) > 4 {
		report(f.NewFinding(notes[0].Number, notes[0].Text))
	}
}

// findDroppedChecks finds a file that lost at least two checks of its input on balance.
func findDroppedChecks(f *facts.ChangedFile, report facts.Report) {
	removed, added := facts.MatchingLines(f.RemovedLines(), inputCheckRE), facts.MatchingLines(f.AddedLines(), inputCheckRE)
	if len(removed)-len(added) < 2 {
		return
	}
	report(facts.Finding{File: f.Before().Path, Line: 0, Evidence: facts.ShortenEvidence("gone: " + removed[0].Text)})
}
