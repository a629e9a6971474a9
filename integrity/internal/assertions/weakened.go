package assertions

import (
	"maps"
	"slices"
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findWeakenedAssertions finds assertions that check less than they did.
func findWeakenedAssertions(c *facts.Change) []facts.Finding {
	var out []facts.Finding
	for _, d := range assertionDiffs.Of(c) {
		revised := d.revised
		if len(d.removed) <= len(d.added) { // what was removed was replaced
			for i, a := range d.removed {
				revised = append(slices.Clip(revised), revision{a, d.added[i]})
			}
		}
		for _, r := range revised {
			f, weaker := d.weakenedFinding(r)
			if !weaker || isAsStrong(c, d, r) {
				continue
			}
			if f.Severity == 0 && (r.movedLibrary() && isMigration.Of(c) || d.hasStrongReplacement(r) || d.raisesExpectedKind(r)) {
				f.Severity = metric.Medium
			}
			if namesRemovedCode(c, r.before) {
				f.ExplainedBy = facts.ExplainedBySubject
			}
			out = append(out, f)
		}
	}
	return out
}

// unconditionalAssertRE matches what fails wherever it is reached.
var unconditionalAssertRE = regexp.MustCompile(`^assert\s+(?:False|0)\b|^\w+\.fail\(`)

// notNoneRE matches the denial that something is nothing, in Python.
var notNoneRE = regexp.MustCompile(`^self\.assertFalse\((.+) is None\)$`)

// usesIsNotNone reports whether an assertion that something is not None now uses the
// method for that.
func (r revision) usesIsNotNone() bool {
	m := notNoneRE.FindStringSubmatch(r.before.Text)
	return m != nil && strings.Contains(r.after.Text, "assertIsNotNone("+m[1])
}

// isAsStrong reports whether an assertion that looks weaker is not, as far as the text
// shows.
func isAsStrong(c *facts.Change, d assertionDiff, r revision) bool {
	return unconditionalAssertRE.MatchString(r.after.Text) || r.usesIsNotNone() || strings.Contains(r.before.Text, ".is_err()") && strings.Contains(r.after.Text, ".unwrap_err()") || r.isIncomplete() || r.isEquivalent() || d.isErrorCheckedLater(r) || isCheckedByHelper(c, r)
}

// isCheckedByHelper reports whether an assertion is the call of a function of the tests now,
// that contains all longer texts it looked for.
func isCheckedByHelper(c *facts.Change, r revision) bool {
	m := helperCallRE.FindStringSubmatch(r.after.Text)
	var texts []string
	for _, l := range r.before.Literals {
		if l = strings.Trim(l, "\"'`"); len(l) >= minTextPart {
			texts = append(texts, l)
		}
	}
	if m == nil || len(texts) == 0 {
		return false
	}
	body := helperBody(c, m[1])
	return assertingLineRE.MatchString(body) && !slices.ContainsFunc(texts, func(l string) bool { return !strings.Contains(body, l) })
}

// helperBody returns the text of a function of the tests in a changed file, "" for none.
func helperBody(c *facts.Change, name string) string {
	for _, f := range c.Files {
		s := f.After()
		if !s.MayHoldTests() {
			continue
		}
		for _, fn := range s.Inspection().Functions {
			if facts.LastName(fn.Name) == name {
				return s.LinesWithoutComments(fn.Line, fn.End)
			}
		}
	}
	return ""
}

func (d assertionDiff) weakenedFinding(r revision) (facts.Finding, bool) {
	f := d.finding(r.after, r.before.Text+" → "+r.after.Text)
	switch {
	case r.after.Trivial || d.MatchedBy == facts.MatchedByBody:
		return f, false // another rule's
	case isBroadened(r.before.Text, r.after.Text):
		if namedFailureRE.MatchString(r.after.Text) && !namedFailureRE.MatchString(r.before.Text) { // what was raised may be looked at after it
			f.Severity = metric.Medium
		}
		return f, true
	case r.after.Repeats && !r.before.Repeats:
		return f, true
	case r.after.Strength >= r.before.Strength:
		return f, false
	case r.becameFailureCheck():
		f.Severity = metric.Medium
		return f, true
	}
	return r.gradeWeakening(f)
}

// gradeWeakening returns the severity of an assertion that has become weaker.
func (r revision) gradeWeakening(f facts.Finding) (facts.Finding, bool) {
	switch {
	case r.after.Strength == source.Truthy && !truthAssertionRE.MatchString(r.after.Text):
		return f, false // a helper of the project: who knows
	case r.after.Strength >= source.Pattern, r.after.Strength == source.Shape && r.before.Strength < source.Exact:
		f.Severity = metric.Medium
	case r.before.Strength < source.Shape:
		f.Severity = metric.Low
	case r.checksOtherSubject() || partAssertionRE.MatchString(r.after.Text):
		f.Severity = metric.Medium
	}
	return f, true
}

// truthAssertionRE matches assertions that are known to take anything that counts as
// true.
var truthAssertionRE = regexp.MustCompile(`^(?:await |return )?(?:self\.|this\.|\$this->|t\.|self::|static::|chai\.|Assert\.|assert\.|require\.|XCT|BOOST_)*(?:assert|expect|is_expected|are_expected|require|verify|check|CHECK|REQUIRE|EXPECT_TRUE|ASSERT_TRUE|EXPECT_FALSE|ASSERT_FALSE|assertTrue|assertFalse|assert_true|assert_false|True|False|IsTrue|IsFalse|ok|truthy|true|isTrue|AssertTrue|Assert|refute|should|#expect|#require|assertThat)\b|=> t\.|^#(?:expect|require)|\.should\.(?:be\.)?(?:ok|true|exist|not\.be\.\w+)\b`)

// partAssertionRE matches assertions about a part of what is there.
var partAssertionRE = regexp.MustCompile(`(?i)\b(?:start|end|begin)s?_?with\b|\bcontain|\binclude|\bmatch`)

// truthWordRE matches words that turn a value into a truth: they do not name what is
// asserted.
var truthWordRE = regexp.MustCompile(`(?i)^(?:is_?\w*|len|length|size\w*|count|format|fmt|bool\w*|object|type\w*|str|string|int|any|all|dynamic|err|error|string_?value|has|got|result|value|defined|exists?|present|empty|nullptr|\w*NotNull|\w*NotEmpty|toHave\w*|(?:expect|assert|check|require|verify|must|wont|not)\w*|undefined|null|nil|none|as|sizeof|\w*value|be_\w+|not_to|to_not|have_\w+)$`)

// checksOtherSubject reports whether an assertion checks something else, rather than the same
// less strictly: it contains names that the old one did not.
func (r revision) checksOtherSubject() bool {
	if r.after.Repeats {
		return false
	}
	before := facts.SubjectWords(r.before.Text)
	for w := range facts.SubjectWords(r.after.Text) {
		if before[w] == 0 && !truthWordRE.MatchString(w) && !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(old string) bool { return facts.AreSimilarNames(old, w) }) {
			return true
		}
	}
	return false
}

var (
	booleanComparisonRE = regexp.MustCompile(`(?i)(?:[!=]==?|,|\bis)\s*(?:true|false)\b|[(,]\s*(?:true|false)\s*,|\b(?:toBe|toEqual|isEqualTo|equal|eq|must_equal)\W{1,2}(?:true|false)\b|^assert_equal (?:true|false),`)
	// sizeAssertionRE are ways to say how many there are without the number.
	sizeAssertionRE  = regexp.MustCompile(`\b(?:Single|Empty|IsEmpty|assertEmpty|isEmpty|be_empty|toBeEmpty|hasSize|hasLength|HasCount|assertCount|Len|toHaveLength|assert_empty)\b`)
	countedValueRE   = regexp.MustCompile(`(?i)count|length|size|\blen\b|""|\[\]|\{\}|null|nil`)
	noErrorRE        = regexp.MustCompile(`\bNoError\b`)
	nilAssertionRE   = regexp.MustCompile(`\bNil\(|== nil|!= nil`)
	typeAssertionRE  = regexp.MustCompile(`\bis [A-Z]\w*|^assert_(?:instance_of|kind_of) [A-Z]|\binstanceof\b|\binstance_of\b|isinstance`)
	typeComparisonRE = regexp.MustCompile(`(?i)instance_?of|isinstance|typeof|istype|^assert_equal [A-Z][\w:]*, .*\.class$`)
)

// isEquivalent reports whether two assertions are equivalent: a comparison with true
// and a truth, a count and an emptiness.
func (r revision) isEquivalent() bool {
	before, after := r.before.Text, r.after.Text
	switch {
	case isBroadened(before, after):
		return false
	case booleanComparisonRE.MatchString(before):
		return r.isSameTruth()
	case nilAssertionRE.MatchString(before) && nilAssertionRE.MatchString(after) && r.before.Negated == r.after.Negated, r.becamePredicate():
		return true
	case r.renamesOnlyMethod(), anyOfRE.MatchString(after) && strings.Contains(before, "||"),
		isNotEmptyRE.MatchString(after) && strings.Contains(before, "isEmpty()"):
		return true
	case sizeAssertionRE.MatchString(after) && countedValueRE.MatchString(before),
		noErrorRE.MatchString(after) && nilAssertionRE.MatchString(before):
		return true
	}
	return typeAssertionRE.MatchString(after) && typeComparisonRE.MatchString(before)
}

// plainDenialRE matches the assertion that a single call or name is not true.
var plainDenialRE = regexp.MustCompile(`^assert\w*[ (]+(?:!|not )\s*[\w.:]+(?:\([\w., ]*\))?\)*;?$`)

// predicateRE matches the assertion that a call returns true.
var predicateRE = regexp.MustCompile(`(?i)\w*true[\s(]+[\w\\.:>$-]*?\bi?s?_?(\w+)\s*\(`)

// becamePredicate reports whether an expected text became the name of a predicate: state ==
// "fulfilled" became isFulfilled(state).
func (r revision) becamePredicate() bool {
	m := predicateRE.FindStringSubmatch(r.after.Text)
	return m != nil && len(r.before.Literals) == 1 && strings.EqualFold(strings.Trim(r.before.Literals[0], "\"'`"), m[1])
}

// isSameTruth reports whether two assertions about a truth are equivalent.
func (r revision) isSameTruth() bool {
	truth := r.after.Strength == source.Truthy || r.after.Negated && plainDenialRE.MatchString(r.after.Text)
	return truth && !r.checksOtherSubject() && expectsFalse(r.before) == expectsFalse(r.after)
}

var (
	anyOfRE      = regexp.MustCompile(`\b(?:isAnyOf|isIn|isOneOf)\(`)
	isNotEmptyRE = regexp.MustCompile(`\bisNotEmpty\(\)`)
	truthCallRE  = regexp.MustCompile(`^(?:\w+\.)?assert(?:True|False)\(`)
	methodCallRE = regexp.MustCompile(`\.\w+\(`)
)

// renamesOnlyMethod reports whether only the name of the asserted method changed: it was
// renamed. Equality does not count.
func (r revision) renamesOnlyMethod() bool {
	before, after := methodCallRE.ReplaceAllString(r.before.Text, ".§("), methodCallRE.ReplaceAllString(r.after.Text, ".§(")
	return before == after && truthCallRE.MatchString(before) && r.before.Strength < source.Exact
}

// fluentRE matches the assertions of the libraries that begin with the value.
var fluentRE = regexp.MustCompile(`\b(?:assertThat|assertWithMessage|expect)\s*\(|\.(?:must|wont|should)\b|\.Should\(`)

// movedLibrary reports whether an assertion is written with another library.
func (r revision) movedLibrary() bool {
	return fluentRE.MatchString(r.before.Text) != fluentRE.MatchString(r.after.Text)
}

// minMigratedTests is the number of tests with assertions in another library from which on the
// change is a migration.
const minMigratedTests = 10

// isMigration reports whether the change is a migration: weaker assertions are due to what
// the library offers.
var isMigration = facts.Define(func(c *facts.Change) bool {
	n := 0
	for _, d := range assertionDiffs.Of(c) {
		if slices.ContainsFunc(d.revised, revision.movedLibrary) {
			n++
		}
	}
	return n >= minMigratedTests
})

var falseComparisonRE = regexp.MustCompile(`^assert_equal false,|(?:[!=]==?|,|\bis|[(])\s*(?:false|False)\b`)

// expectsFalse reports whether an assertion about a truth expects it to be false.
func expectsFalse(a facts.Assertion) bool { return a.Negated != falseComparisonRE.MatchString(a.Text) }

// continuedTextRE matches an assertion whose text continues in another place.
var continuedTextRE = regexp.MustCompile(`(?:[=!<>]=|=~|[^=]=|<>|[|+,(])$`)

// isIncomplete reports whether one of the two could not be read to its end, so that
// they cannot be compared.
func (r revision) isIncomplete() bool {
	return continuedTextRE.MatchString(r.before.Text) && strings.Contains(r.after.Text, "=") || continuedTextRE.MatchString(r.after.Text)
}

// caughtNameRE matches the name under which an expected error is kept.
var caughtNameRE = regexp.MustCompile(`\bas (\w+):?$`)

// isErrorCheckedLater reports whether an expected error is kept, and checked by new assertions.
func (d assertionDiff) isErrorCheckedLater(r revision) bool {
	m := caughtNameRE.FindStringSubmatch(r.after.Text)
	return m != nil && slices.ContainsFunc(d.added, func(a facts.Assertion) bool { return facts.CountWords(a.Text)[m[1]] > 0 })
}

// hasStrongReplacement reports whether the test has a new assertion as strong as one that became
// weaker, with a name in common: it may replace it.
func (d assertionDiff) hasStrongReplacement(r revision) bool {
	before := facts.SubjectWords(r.before.Text)
	return r.before.Strength == source.Exact && slices.ContainsFunc(d.added, func(a facts.Assertion) bool {
		if a.Strength != source.Exact || a.Trivial || a.Text == r.after.Text {
			return false
		}
		for w := range facts.SubjectWords(a.Text) {
			if before[w] > 0 {
				return true
			}
		}
		return false
	})
}

// typeNameRE matches names that begin as those of types do.
var typeNameRE = regexp.MustCompile(`\b[A-Z]\w+`)

// raiseLineRE matches a line by which a test raises an error itself.
var raiseLineRE = regexp.MustCompile(`^\s*(?:raise|throw)\b`)

// raisesExpectedKind reports whether a helper of the test now raises the kind of error that
// is now expected: both were changed together.
func (d assertionDiff) raisesExpectedKind(r revision) bool {
	if !isBroadened(r.before.Text, r.after.Text) {
		return false
	}
	kinds := typeNameRE.FindAllString(r.after.Text, -1)
	return slices.ContainsFunc(d.After.File.AddedLines(), func(l facts.Line) bool {
		return raiseLineRE.MatchString(l.Text) && slices.ContainsFunc(kinds, func(kind string) bool { return facts.CountWords(l.Text)[kind] > 0 })
	})
}

// namesRemovedCode reports whether an assertion names product code that is gone.
func namesRemovedCode(c *facts.Change, a facts.Assertion) bool {
	removed := facts.RemovedNames.Of(c)
	for w := range facts.SubjectWords(a.Text) {
		if len(w) > 2 && removed[w] {
			return true
		}
	}
	return false
}
