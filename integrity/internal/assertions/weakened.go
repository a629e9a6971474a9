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

// findWeakened finds assertions that check less than they did.
func findWeakened(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, d := range deltas.Of(c) {
		revised := d.revised
		if len(d.removed) <= len(d.added) { // what was removed was replaced
			for i, a := range d.removed {
				revised = append(slices.Clip(revised), revision{a, d.added[i]})
			}
		}
		for _, r := range revised {
			f, weaker := d.weaker(r)
			if !weaker || asStrong(c, d, r) {
				continue
			}
			if f.Severity == 0 && (r.movedLibrary() && migrates.Of(c) || d.strongerCame(r) || d.raisesItself(r)) {
				f.Severity = metric.Medium
			}
			if namesGone(c, r.was) {
				f.ExplainedBy = facts.BySubject
			}
			out = append(out, f)
		}
	}
	return out
}

// neverPasses matches what fails wherever it is reached.
var neverPasses = regexp.MustCompile(`^assert\s+(?:False|0)\b|^\w+\.fail\(`)

// notNone matches the denial that something is nothing, in Python.
var notNone = regexp.MustCompile(`^self\.assertFalse\((.+) is None\)$`)

// notNilOtherwise reports whether an assertion that something is not None now uses the
// method for that.
func (r revision) notNilOtherwise() bool {
	m := notNone.FindStringSubmatch(r.was.Text)
	return m != nil && strings.Contains(r.now.Text, "assertIsNotNone("+m[1])
}

// asStrong reports whether an assertion that looks weaker is not, as far as the text
// shows.
func asStrong(c *facts.Set, d delta, r revision) bool {
	return neverPasses.MatchString(r.now.Text) || r.notNilOtherwise() || strings.Contains(r.was.Text, ".is_err()") && strings.Contains(r.now.Text, ".unwrap_err()") || r.incomplete() || r.sameOtherwise() || d.moved(r) || byHelper(c, r)
}

// byHelper reports whether an assertion is the call of a function of the tests now,
// that contains all longer texts it looked for.
func byHelper(c *facts.Set, r revision) bool {
	m := helperCall.FindStringSubmatch(r.now.Text)
	var texts []string
	for _, l := range r.was.Literals {
		if l = strings.Trim(l, "\"'`"); len(l) >= leastPart {
			texts = append(texts, l)
		}
	}
	if m == nil || len(texts) == 0 {
		return false
	}
	body := helperBody(c, m[1])
	return asserting.MatchString(body) && !slices.ContainsFunc(texts, func(l string) bool { return !strings.Contains(body, l) })
}

// helperBody returns the text of a function of the tests in a changed file, "" for none.
func helperBody(c *facts.Set, name string) string {
	for _, f := range c.Files {
		s := f.After()
		if !s.MayTest() {
			continue
		}
		for _, fn := range s.Source().Functions {
			if facts.LastName(fn.Name) == name {
				return s.PlainRange(fn.Line, fn.End)
			}
		}
	}
	return ""
}

func (d delta) weaker(r revision) (facts.Finding, bool) {
	f := d.finding(r.now, r.was.Text+" → "+r.now.Text)
	switch {
	case r.now.Trivial || d.How == facts.ByBody:
		return f, false // another rule's
	case broadened(r.was.Text, r.now.Text):
		if kept.MatchString(r.now.Text) && !kept.MatchString(r.was.Text) { // what was raised may be looked at after it
			f.Severity = metric.Medium
		}
		return f, true
	case r.now.Repeats && !r.was.Repeats:
		return f, true
	case r.now.Strength >= r.was.Strength:
		return f, false
	case r.failsOtherwise():
		f.Severity = metric.Medium
		return f, true
	}
	return r.looser(f)
}

// looser returns the severity of an assertion that has become weaker.
func (r revision) looser(f facts.Finding) (facts.Finding, bool) {
	switch {
	case r.now.Strength == source.Truthy && !plainTruth.MatchString(r.now.Text):
		return f, false // a helper of the project: who knows
	case r.now.Strength >= source.Pattern, r.now.Strength == source.Shape && r.was.Strength < source.Exact:
		f.Severity = metric.Medium
	case r.was.Strength < source.Shape:
		f.Severity = metric.Low
	case r.otherSubject() || ofPart.MatchString(r.now.Text):
		f.Severity = metric.Medium
	}
	return f, true
}

// plainTruth matches assertions that are known to take anything that counts as
// true.
var plainTruth = regexp.MustCompile(`^(?:await |return )?(?:self\.|this\.|\$this->|t\.|self::|static::|chai\.|Assert\.|assert\.|require\.|XCT|BOOST_)*(?:assert|expect|is_expected|are_expected|require|verify|check|CHECK|REQUIRE|EXPECT_TRUE|ASSERT_TRUE|EXPECT_FALSE|ASSERT_FALSE|assertTrue|assertFalse|assert_true|assert_false|True|False|IsTrue|IsFalse|ok|truthy|true|isTrue|AssertTrue|Assert|refute|should|#expect|#require|assertThat)\b|=> t\.|^#(?:expect|require)|\.should\.(?:be\.)?(?:ok|true|exist|not\.be\.\w+)\b`)

// ofPart matches assertions about a part of what is there.
var ofPart = regexp.MustCompile(`(?i)\b(?:start|end|begin)s?_?with\b|\bcontain|\binclude|\bmatch`)

// inference matches words that turn a value into a truth: they do not name what is
// asserted.
var inference = regexp.MustCompile(`(?i)^(?:is_?\w*|len|length|size\w*|count|format|fmt|bool\w*|object|type\w*|str|string|int|any|all|dynamic|err|error|string_?value|has|got|result|value|defined|exists?|present|empty|nullptr|\w*NotNull|\w*NotEmpty|toHave\w*|(?:expect|assert|check|require|verify|must|wont|not)\w*|undefined|null|nil|none|as|sizeof|\w*value|be_\w+|not_to|to_not|have_\w+)$`)

// otherSubject reports whether an assertion checks something else, rather than the same
// less strictly: it contains names that the old one did not.
func (r revision) otherSubject() bool {
	if r.now.Repeats {
		return false
	}
	was := facts.SubjectWords(r.was.Text)
	for w := range facts.SubjectWords(r.now.Text) {
		if was[w] == 0 && !inference.MatchString(w) && !slices.ContainsFunc(slices.Collect(maps.Keys(was)), func(old string) bool { return facts.SimilarNames(old, w) }) {
			return true
		}
	}
	return false
}

var (
	ofTruth = regexp.MustCompile(`(?i)(?:[!=]==?|,|\bis)\s*(?:true|false)\b|[(,]\s*(?:true|false)\s*,|\b(?:toBe|toEqual|isEqualTo|equal|eq|must_equal)\W{1,2}(?:true|false)\b|^assert_equal (?:true|false),`)
	// ofNumber are ways to say how many there are without the number.
	ofNumber = regexp.MustCompile(`\b(?:Single|Empty|IsEmpty|assertEmpty|isEmpty|be_empty|toBeEmpty|hasSize|hasLength|HasCount|assertCount|Len|toHaveLength|assert_empty)\b`)
	counted  = regexp.MustCompile(`(?i)count|length|size|\blen\b|""|\[\]|\{\}|null|nil`)
	noError  = regexp.MustCompile(`\bNoError\b`)
	ofNil    = regexp.MustCompile(`\bNil\(|== nil|!= nil`)
	ofType   = regexp.MustCompile(`\bis [A-Z]\w*|^assert_(?:instance_of|kind_of) [A-Z]|\binstanceof\b|\binstance_of\b|isinstance`)
	asTypes  = regexp.MustCompile(`(?i)instance_?of|isinstance|typeof|istype|^assert_equal [A-Z][\w:]*, .*\.class$`)
)

// sameOtherwise reports whether two assertions are equivalent: a comparison with true
// and a truth, a count and an emptiness.
func (r revision) sameOtherwise() bool {
	was, now := r.was.Text, r.now.Text
	switch {
	case broadened(was, now):
		return false
	case ofTruth.MatchString(was):
		return r.sameTruth()
	case ofNil.MatchString(was) && ofNil.MatchString(now) && r.was.Negated == r.now.Negated, r.becamePredicate():
		return true
	case r.calledOtherwise(), anyOf.MatchString(now) && strings.Contains(was, "||"),
		isNotEmpty.MatchString(now) && strings.Contains(was, "isEmpty()"):
		return true
	case ofNumber.MatchString(now) && counted.MatchString(was),
		noError.MatchString(now) && ofNil.MatchString(was):
		return true
	}
	return ofType.MatchString(now) && asTypes.MatchString(was)
}

// plainDenial matches the assertion that a single call or name is not true.
var plainDenial = regexp.MustCompile(`^assert\w*[ (]+(?:!|not )\s*[\w.:]+(?:\([\w., ]*\))?\)*;?$`)

// predicateIsTrue matches the assertion that a call returns true.
var predicateIsTrue = regexp.MustCompile(`(?i)\w*true[\s(]+[\w\\.:>$-]*?\bi?s?_?(\w+)\s*\(`)

// becamePredicate reports whether an expected text became the name of a predicate: state ==
// "fulfilled" became isFulfilled(state).
func (r revision) becamePredicate() bool {
	m := predicateIsTrue.FindStringSubmatch(r.now.Text)
	return m != nil && len(r.was.Literals) == 1 && strings.EqualFold(strings.Trim(r.was.Literals[0], "\"'`"), m[1])
}

// sameTruth reports whether two assertions about a truth are equivalent.
func (r revision) sameTruth() bool {
	truth := r.now.Strength == source.Truthy || r.now.Negated && plainDenial.MatchString(r.now.Text)
	return truth && !r.otherSubject() && denied(r.was) == denied(r.now)
}

var (
	anyOf      = regexp.MustCompile(`\b(?:isAnyOf|isIn|isOneOf)\(`)
	isNotEmpty = regexp.MustCompile(`\bisNotEmpty\(\)`)
	truthOf    = regexp.MustCompile(`^(?:\w+\.)?assert(?:True|False)\(`)
	methodCall = regexp.MustCompile(`\.\w+\(`)
)

// calledOtherwise reports whether only the name of the asserted method changed: it was
// renamed. Equality does not count.
func (r revision) calledOtherwise() bool {
	was, now := methodCall.ReplaceAllString(r.was.Text, ".§("), methodCall.ReplaceAllString(r.now.Text, ".§(")
	return was == now && truthOf.MatchString(was) && r.was.Strength < source.Exact
}

// fluent matches the assertions of the libraries that begin with the value.
var fluent = regexp.MustCompile(`\b(?:assertThat|assertWithMessage|expect)\s*\(|\.(?:must|wont|should)\b|\.Should\(`)

// movedLibrary reports whether an assertion is written with another library.
func (r revision) movedLibrary() bool {
	return fluent.MatchString(r.was.Text) != fluent.MatchString(r.now.Text)
}

// migration is the number of tests with assertions in another library from which on the
// change is a migration.
const migration = 10

// migrates reports whether the change is a migration: weaker assertions are due to what
// the library offers.
var migrates = facts.Define(func(c *facts.Set) bool {
	n := 0
	for _, d := range deltas.Of(c) {
		if slices.ContainsFunc(d.revised, revision.movedLibrary) {
			n++
		}
	}
	return n >= migration
})

var ofFalse = regexp.MustCompile(`^assert_equal false,|(?:[!=]==?|,|\bis|[(])\s*(?:false|False)\b`)

// denied reports whether an assertion about a truth expects it to be false.
func denied(a facts.Assertion) bool { return a.Negated != ofFalse.MatchString(a.Text) }

// continued matches an assertion whose text continues in another place.
var continued = regexp.MustCompile(`(?:[=!<>]=|=~|[^=]=|<>|[|+,(])$`)

// incomplete reports whether one of the two could not be read to its end, so that
// they cannot be compared.
func (r revision) incomplete() bool {
	return continued.MatchString(r.was.Text) && strings.Contains(r.now.Text, "=") || continued.MatchString(r.now.Text)
}

// caughtAs matches the name under which an expected error is kept.
var caughtAs = regexp.MustCompile(`\bas (\w+):?$`)

// moved reports whether an expected error is kept, and checked by new assertions.
func (d delta) moved(r revision) bool {
	m := caughtAs.FindStringSubmatch(r.now.Text)
	return m != nil && slices.ContainsFunc(d.added, func(a facts.Assertion) bool { return facts.WordCounts(a.Text)[m[1]] > 0 })
}

// strongerCame reports whether the test has a new assertion as strong as one that became
// weaker, with a name in common: it may replace it.
func (d delta) strongerCame(r revision) bool {
	was := facts.SubjectWords(r.was.Text)
	return r.was.Strength == source.Exact && slices.ContainsFunc(d.added, func(a facts.Assertion) bool {
		if a.Strength != source.Exact || a.Trivial || a.Text == r.now.Text {
			return false
		}
		for w := range facts.SubjectWords(a.Text) {
			if was[w] > 0 {
				return true
			}
		}
		return false
	})
}

// ofTypeName matches names that begin as those of types do.
var ofTypeName = regexp.MustCompile(`\b[A-Z]\w+`)

// itsOwn matches a line by which a test raises an error itself.
var itsOwn = regexp.MustCompile(`^\s*(?:raise|throw)\b`)

// raisesItself reports whether a helper of the test now raises the kind of error that
// is now expected: both were changed together.
func (d delta) raisesItself(r revision) bool {
	if !broadened(r.was.Text, r.now.Text) {
		return false
	}
	kinds := ofTypeName.FindAllString(r.now.Text, -1)
	return slices.ContainsFunc(d.Now.File.AddedLines(), func(l facts.Line) bool {
		return itsOwn.MatchString(l.Text) && slices.ContainsFunc(kinds, func(kind string) bool { return facts.WordCounts(l.Text)[kind] > 0 })
	})
}

// namesGone reports whether an assertion names product code that is gone.
func namesGone(c *facts.Set, a facts.Assertion) bool {
	gone := facts.GoneNames.Of(c)
	for w := range facts.SubjectWords(a.Text) {
		if len(w) > 2 && gone[w] {
			return true
		}
	}
	return false
}
