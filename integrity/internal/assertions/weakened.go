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

// findWeakenedAssertions finds assertions that check less than before.
func findWeakenedAssertions(c *facts.Change, d assertionDiff, report facts.Report) {
	for _, r := range d.replacements() {
		f, isWeaker := d.weakenedFinding(r)
		if !isWeaker || isAsStrong(c, d, r) {
			continue
		}
		isMigrated := r.movedLibrary() && isMigration.Of(c)
		if f.Severity == 0 && (isMigrated || d.hasStrongReplacement(r) || d.raisesExpectedKind(r)) {
			f.Severity = metric.Medium
		}
		if namesRemovedCode(c, r.before) {
			f.ExplainedBy = facts.ExplainedBySubject
		}
		report(f)
	}
}

// replacements returns the revised assertions. If at least as many assertions were added as
// removed, each removed assertion counts as replaced by the added one in the same place.
func (d assertionDiff) replacements() []revision {
	out := slices.Clone(d.revised)
	if len(d.removed) <= len(d.added) {
		for i, a := range d.removed {
			out = append(out, revision{a, d.added[i]})
		}
	}
	return out
}

// unconditionalAssertRE matches what fails wherever it is reached, such as "assert False".
var unconditionalAssertRE = regexp.MustCompile(`^assert\s+(?:False|0)\b|^\w+\.fail\(`)

// notNoneRE matches the assertion that a value is not None, as in self.assertFalse(x is None).
var notNoneRE = regexp.MustCompile(`^self\.assertFalse\((.+) is None\)$`)

// usesIsNotNone reports whether an assertion that a value is not None now uses the method for that.
func (r revision) usesIsNotNone() bool {
	m := notNoneRE.FindStringSubmatch(r.before.Text)
	return m != nil && strings.Contains(r.after.Text, "assertIsNotNone("+m[1])
}

// isAsStrong reports whether an assertion that looks weaker is not, as far as the text shows.
func isAsStrong(c *facts.Change, d assertionDiff, r revision) bool {
	unwrapsError := strings.Contains(r.before.Text, ".is_err()") && strings.Contains(r.after.Text, ".unwrap_err()")
	if unwrapsError || unconditionalAssertRE.MatchString(r.after.Text) || r.usesIsNotNone() {
		return true
	}
	return r.isIncomplete() || r.isEquivalent() || d.isErrorCheckedLater(r) || isCheckedByHelper(c, r)
}

// isCheckedByHelper reports whether an assertion became the call of a helper of the tests that
// contains all longer texts of the assertion.
func isCheckedByHelper(c *facts.Change, r revision) bool {
	m := helperCallRE.FindStringSubmatch(r.after.Text)
	if m == nil {
		return false
	}
	bodies := helperBodies(c, m[1])
	if len(bodies) == 0 || !assertingLineRE.MatchString(bodies[0]) {
		return false
	}
	texts := facts.Map(r.before.Literals, func(l string) string { return strings.Trim(l, "\"'`") })
	texts = facts.Filter(texts, func(text string) bool { return len(text) >= minTextPart })
	return len(texts) > 0 && facts.All(texts, func(text string) bool { return strings.Contains(bodies[0], text) })
}

// weakenedFinding returns the finding about an assertion, and whether the assertion became weaker.
func (d assertionDiff) weakenedFinding(r revision) (facts.Finding, bool) {
	f := d.finding(r.after, r.before.Text+" → "+r.after.Text)
	switch {
	case r.after.Trivial || d.MatchedBy == facts.MatchedByBody:
		return f, false // another rule reports it
	case isBroadened(r.before.Text, r.after.Text):
		getsName := namedFailureRE.MatchString(r.after.Text) && !namedFailureRE.MatchString(r.before.Text)
		if getsName { // the test may check the failure later
			f.Severity = metric.Medium
		}
		return f, true
	case r.after.Repeats && !r.before.Repeats:
		return f, true
	case r.after.Strength >= r.before.Strength:
		return f, false
	case r.becameFailureCheck():
		return f.WithSeverity(metric.Medium), true
	case r.after.Strength == source.Truthy && !truthAssertionRE.MatchString(r.after.Text):
		return f, false // a helper of the project, whose strength is unknown
	}
	return f.WithSeverity(r.weakeningSeverity()), true
}

// weakeningSeverity returns the severity of an assertion that became weaker, 0 for that of the
// rule.
func (r revision) weakeningSeverity() metric.Severity {
	isPattern := r.after.Strength >= source.Pattern
	isSameShape := r.after.Strength == source.Shape && r.before.Strength < source.Exact
	switch {
	case isPattern || isSameShape:
		return metric.Medium
	case r.before.Strength < source.Shape:
		return metric.Low
	case r.checksOtherSubject() || partAssertionRE.MatchString(r.after.Text):
		return metric.Medium
	}
	return 0
}

// truthAssertionRE matches assertions that are known to accept anything that counts as true, such
// as self.assertTrue.
var truthAssertionRE = regexp.MustCompile(`^(?:await |return )?(?:self\.|this\.|\$this->|t\.|self::|static::|chai\.|Assert\.|assert\.|require\.|XCT|BOOST_)*(?:assert|expect|is_expected|are_expected|require|verify|check|CHECK|REQUIRE|EXPECT_TRUE|ASSERT_TRUE|EXPECT_FALSE|ASSERT_FALSE|assertTrue|assertFalse|assert_true|assert_false|True|False|IsTrue|IsFalse|ok|truthy|true|isTrue|AssertTrue|Assert|refute|should|#expect|#require|assertThat)\b|=> t\.|^#(?:expect|require)|\.should\.(?:be\.)?(?:ok|true|exist|not\.be\.\w+)\b`)

// partAssertionRE matches assertions about a part of a value, such as startsWith and includes.
var partAssertionRE = regexp.MustCompile(`(?i)\b(?:start|end|begin)s?_?with\b|\bcontain|\binclude|\bmatch`)

// truthWordRE matches words that turn a value into a truth and do not name what is asserted, such
// as isEmpty and len.
var truthWordRE = regexp.MustCompile(`(?i)^(?:is_?\w*|len|length|size\w*|count|format|fmt|bool\w*|object|type\w*|str|string|int|any|all|dynamic|err|error|string_?value|has|got|result|value|defined|exists?|present|empty|nullptr|\w*NotNull|\w*NotEmpty|toHave\w*|(?:expect|assert|check|require|verify|must|wont|not)\w*|undefined|null|nil|none|as|sizeof|\w*value|be_\w+|not_to|to_not|have_\w+)$`)

// checksOtherSubject reports whether an assertion checks something else, rather than the same less
// strictly. Then it contains names that the old one did not.
func (r revision) checksOtherSubject() bool {
	before := facts.SubjectWords(r.before.Text)
	isOld := func(w string) bool {
		return before[w] > 0 || slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(old string) bool { return facts.AreSimilarNames(old, w) })
	}
	return !r.after.Repeats && facts.NamesSubject(r.after.Text, func(w string) bool { return !truthWordRE.MatchString(w) && !isOld(w) })
}

var (
	// booleanComparisonRE matches a comparison with true or false, as in "x == true".
	booleanComparisonRE = regexp.MustCompile(`(?i)(?:[!=]==?|,|\bis)\s*(?:true|false)\b|[(,]\s*(?:true|false)\s*,|\b(?:toBe|toEqual|isEqualTo|equal|eq|must_equal)\W{1,2}(?:true|false)\b|^assert_equal (?:true|false),`)
	// sizeAssertionRE matches assertions about a size, such as assertEmpty. The expressions below
	// match values that such an assertion may replace, and assertions about errors, nil and types.
	sizeAssertionRE  = regexp.MustCompile(`\b(?:Single|Empty|IsEmpty|assertEmpty|isEmpty|be_empty|toBeEmpty|hasSize|hasLength|HasCount|assertCount|Len|toHaveLength|assert_empty)\b`)
	countedValueRE   = regexp.MustCompile(`(?i)count|length|size|\blen\b|""|\[\]|\{\}|null|nil`)
	noErrorRE        = regexp.MustCompile(`\bNoError\b`)
	nilAssertionRE   = regexp.MustCompile(`\bNil\(|== nil|!= nil`)
	typeAssertionRE  = regexp.MustCompile(`\bis [A-Z]\w*|^assert_(?:instance_of|kind_of) [A-Z]|\binstanceof\b|\binstance_of\b|isinstance`)
	typeComparisonRE = regexp.MustCompile(`(?i)instance_?of|isinstance|typeof|istype|^assert_equal [A-Z][\w:]*, .*\.class$`)
)

// isEquivalent reports whether two assertions mean the same in other words: a comparison with true
// and a truth, a count and an emptiness, a type and its name.
func (r revision) isEquivalent() bool {
	before, after := r.before.Text, r.after.Text
	switch {
	case isBroadened(before, after):
		return false
	case booleanComparisonRE.MatchString(before):
		return r.isSameTruth()
	case nilAssertionRE.MatchString(before) && nilAssertionRE.MatchString(after) && r.before.Negated == r.after.Negated,
		r.becamePredicate(), r.renamesOnlyMethod(),
		anyOfRE.MatchString(after) && strings.Contains(before, "||"),
		isNotEmptyRE.MatchString(after) && strings.Contains(before, "isEmpty()"),
		sizeAssertionRE.MatchString(after) && countedValueRE.MatchString(before),
		noErrorRE.MatchString(after) && nilAssertionRE.MatchString(before):
		return true
	}
	return typeAssertionRE.MatchString(after) && typeComparisonRE.MatchString(before)
}

// plainDenialRE matches the assertion that a single call or name is not true: "assert not
// is_empty(cart)".
var plainDenialRE = regexp.MustCompile(`^assert\w*[ (]+(?:!|not )\s*[\w.:]+(?:\([\w., ]*\))?\)*;?$`)

// predicateRE matches the assertion that a call returns true: "assertTrue(isFulfilled(state))". The
// group is the name without "is".
var predicateRE = regexp.MustCompile(`(?i)\w*true[\s(]+[\w\\.:>$-]*?\bi?s?_?(\w+)\s*\(`)

// becamePredicate reports whether an expected text became the name of a predicate, as when state ==
// "fulfilled" becomes isFulfilled(state).
func (r revision) becamePredicate() bool {
	m := predicateRE.FindStringSubmatch(r.after.Text)
	isOneText := m != nil && len(r.before.Literals) == 1
	return isOneText && strings.EqualFold(strings.Trim(r.before.Literals[0], "\"'`"), m[1])
}

// isSameTruth reports whether two assertions about a truth are equivalent.
func (r revision) isSameTruth() bool {
	truth := r.after.Strength == source.Truthy || r.after.Negated && plainDenialRE.MatchString(r.after.Text)
	return truth && !r.checksOtherSubject() && expectsFalse(r.before) == expectsFalse(r.after)
}

// Expressions for assertions that mean the same as others: anyOfRE matches isIn(, isNotEmptyRE
// isNotEmpty(), truthCallRE assertTrue(, and methodCallRE the call of any method.
var (
	anyOfRE      = regexp.MustCompile(`\b(?:isAnyOf|isIn|isOneOf)\(`)
	isNotEmptyRE = regexp.MustCompile(`\bisNotEmpty\(\)`)
	truthCallRE  = regexp.MustCompile(`^(?:\w+\.)?assert(?:True|False)\(`)
	methodCallRE = regexp.MustCompile(`\.\w+\(`)
)

// renamesOnlyMethod reports whether only the name of an asserted method changed, because the method
// was renamed. Comparisons for equality do not count.
func (r revision) renamesOnlyMethod() bool {
	before, after := methodCallRE.ReplaceAllString(r.before.Text, ".§("), methodCallRE.ReplaceAllString(r.after.Text, ".§(")
	return before == after && truthCallRE.MatchString(before) && r.before.Strength < source.Exact
}

// fluentRE matches the assertions of libraries that begin with the value, as in expect(total).
var fluentRE = regexp.MustCompile(`\b(?:assertThat|assertWithMessage|expect)\s*\(|\.(?:must|wont|should)\b|\.Should\(`)

// movedLibrary reports whether an assertion is written with another kind of library.
func (r revision) movedLibrary() bool {
	return fluentRE.MatchString(r.before.Text) != fluentRE.MatchString(r.after.Text)
}

// minMigratedTests is the number of tests with assertions that moved to another library from which
// on the change is a migration.
const minMigratedTests = 10

// isMigration reports whether the change is a migration. Then the library may be the reason why
// assertions are weaker.
var isMigration = facts.Define(func(c *facts.Change) bool {
	migrated := facts.Count(assertionDiffs.Of(c), func(d assertionDiff) bool { return slices.ContainsFunc(d.revised, revision.movedLibrary) })
	return migrated >= minMigratedTests
})

// falseComparisonRE matches a comparison with false, as in "x == false".
var falseComparisonRE = regexp.MustCompile(`^assert_equal false,|(?:[!=]==?|,|\bis|[(])\s*(?:false|False)\b`)

// expectsFalse reports whether an assertion about a truth expects it to be false.
func expectsFalse(a facts.Assertion) bool { return a.Negated != falseComparisonRE.MatchString(a.Text) }

// continuedTextRE matches the text of an assertion that continues in another place, because it ends
// in an operator or an open bracket.
var continuedTextRE = regexp.MustCompile(`(?:[=!<>]=|=~|[^=]=|<>|[|+,(])$`)

// isIncomplete reports whether one of the two assertions could not be read to its end, so that they
// cannot be compared.
func (r revision) isIncomplete() bool {
	wasIncomplete := continuedTextRE.MatchString(r.before.Text) && strings.Contains(r.after.Text, "=")
	return wasIncomplete || continuedTextRE.MatchString(r.after.Text)
}

// caughtNameRE matches the name under which an expected error is kept, as in "as err:".
var caughtNameRE = regexp.MustCompile(`\bas (\w+):?$`)

// isErrorCheckedLater reports whether an expected error is kept under a name, and new assertions
// check it.
func (d assertionDiff) isErrorCheckedLater(r revision) bool {
	m := caughtNameRE.FindStringSubmatch(r.after.Text)
	return m != nil && slices.ContainsFunc(d.added, func(a facts.Assertion) bool { return facts.CountWords(a.Text)[m[1]] > 0 })
}

// hasStrongReplacement reports whether the test got an assertion of an exact value that has a name
// in common with an exact one that became weaker. It may replace that one.
func (d assertionDiff) hasStrongReplacement(r revision) bool {
	before := facts.SubjectWords(r.before.Text)
	return r.before.Strength == source.Exact && slices.ContainsFunc(d.added, func(a facts.Assertion) bool {
		isStrong := a.Strength == source.Exact && !a.Trivial && a.Text != r.after.Text
		return isStrong && facts.NamesSubject(a.Text, func(w string) bool { return before[w] > 0 })
	})
}

// typeNameRE matches names that begin with a capital letter, as those of types do.
var typeNameRE = regexp.MustCompile(`\b[A-Z]\w+`)

// raiseLineRE matches a line by which a test raises an error itself.
var raiseLineRE = regexp.MustCompile(`^\s*(?:raise|throw)\b`)

// raisesExpectedKind reports whether a line that was added to the test file raises the kind of
// error that is expected now. Then both were changed together.
func (d assertionDiff) raisesExpectedKind(r revision) bool {
	if !isBroadened(r.before.Text, r.after.Text) {
		return false
	}
	kinds := typeNameRE.FindAllString(r.after.Text, -1)
	return slices.ContainsFunc(d.After.File.AddedLines(), func(l facts.Line) bool {
		return raiseLineRE.MatchString(l.Text) && slices.ContainsFunc(kinds, func(kind string) bool { return facts.CountWords(l.Text)[kind] > 0 })
	})
}

// namesRemovedCode reports whether an assertion names product code that was removed.
func namesRemovedCode(c *facts.Change, a facts.Assertion) bool {
	removed := facts.RemovedNames.Of(c)
	return facts.NamesSubject(a.Text, func(w string) bool { return len(w) > 2 && removed[w] })
}
