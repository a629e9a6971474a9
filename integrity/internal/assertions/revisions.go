package assertions

import (
	"cmp"
	"maps"
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// failureBreadth returns how many kinds of failure an expectation accepts: 0 for one kind, and the
// number of broadFailureREs for any failure.
func failureBreadth(text string) int {
	i := slices.IndexFunc(broadFailureREs, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	if i < 0 {
		return 0
	}
	return len(broadFailureREs) - i
}

var (
	// broadFailureREs match expectations that accept many kinds of failure, the broadest first:
	// BaseException, then Exception, then RuntimeError.
	broadFailureREs = []*regexp.Regexp{
		regexp.MustCompile(`\b(?:Throwable|BaseException|ThrowsAny<Exception>|EXPECT_ANY_THROW|ASSERT_ANY_THROW|std::exception|REQUIRE_THROWS|CHECK_THROWS|BOOST_CHECK_THROW_ANY)\b(?:[^_]|$)|\braise_error\s*(?:$|[)};]|\{\s*\}|do\b)|\.to(?:\.|_)throw\(\s*\)|\bto_raise\b\s*$|\b(?:Object|any)\.(?:class|self)\b`),
		regexp.MustCompile(`(?:^|[^\w.:\\])(?:builtins\.|java\.lang\.|System\.|kotlin\.|\\)?(?:Exception|StandardError|Error)\b(?:[^\w\\]|$)|\bassert_raises?\s*(?:\{|do\b)|\bmust_raise\s*$`),
		regexp.MustCompile(`\b(?:RuntimeException|RuntimeError|LogicException|ApplicationException|SystemException|std::runtime_error|std::logic_error)\b`),
	}
	// expectedFailureRE matches an expectation of a failure, as in pytest.raises(ValueError).
	expectedFailureRE = regexp.MustCompile(`(?i)raises?\b|throws?(?:any|async|exactly|instance\w*|type\w*|exception\w*)*\b|raises?regexp?\b|raise_error|raises_(?:with|message)\w*|expectException|toThrow|_THROW|rejects|fails_?with|should_panic|throws_?error|\bexpected\s*=|ExpectedException|must_raise|panicswith|anyexception|throwexactly`)
	// failureMessageRE matches an expected failure that names a message, as in match="empty".
	// anyMessageRE matches one whose message fits every failure, as in match=".*". failureTypeRE
	// matches the type of the failure, such as ValueError.
	failureMessageRE = regexp.MustCompile(`\bmatch\s*=|toThrow\w*\(\s*(?:["'\x60/]|new\b|[A-Z]|expect\.|\w)|hasMessage|[wW]ithMessage|[eE]xpectExceptionMessage|raise_error\([^)]*,\s*["'/%]|raise_error\(?\s*["'/]|assert_?raises?\w*[ (]+[\w.:]+,\s*(?:["'/]|~r|\w+, fn\b)|[rR]aisesRegexp?\b|THROW_MSG|THROWS?_WITH|THROW_WITH|\bexpected\s*=\s*"|throws\(.*,\s*(?:/|\w*Error\b|\{)|\.to\.throw\(\s*[^)\s]|PanicsWith|ErrorContains|withMessage\w*\(|messageContains|with_message|\.throw\(\s*[^)\s]`)
	anyMessageRE     = regexp.MustCompile(`(?:match\s*=\s*r?|[mM]essage\w*\(\s*|raise_error\([^)]*,\s*|assert_?raises?\w*[ (]+[\w.:]+,\s*(?:~r)?)(?:""|''|"\.\*"|'\.\*'|/\.\*/|//|"\\?\.\*\$?")`)
	failureTypeRE    = regexp.MustCompile(`\b[A-Z]\w*(?:Error|Exception|Failure|Warning|Interrupt|Exit|Fault|Throwable|Violation|Invalid\w*|Missing\w*|NotFound)\b|\b\w+(?:_error|_exception|_failure)\b|\b(?:raises?|Throws\w*|assert_?raises?|[eE]xpectException|must_raise|raise_error|toThrow)\W+(?:\w+(?:\.|::|\\))*[A-Z]\w+`)
)

// messageOptionRE matches the message that an object expects of an error, as in message: "empty".
var messageOptionRE = regexp.MustCompile(`\bmessage:\s*(?:"[^"]+"|'[^']+')`)

// isBroadened reports whether an expected failure accepts more kinds of failure than before, or
// lost its message.
func isBroadened(before, after string) bool {
	if !expectedFailureRE.MatchString(before) || !expectedFailureRE.MatchString(after) {
		return false
	}
	if m := messageOptionRE.FindString(before); m != "" && m == messageOptionRE.FindString(after) {
		return false
	}
	hadMessage := failureMessageRE.MatchString(before)
	wasSpecific := failureTypeRE.MatchString(before) || failureBreadth(before) > 0 || hadMessage
	losesMessage := hadMessage && !anyMessageRE.MatchString(before) && (!failureMessageRE.MatchString(after) || anyMessageRE.MatchString(after))
	return losesMessage || wasSpecific && failureBreadth(after) > failureBreadth(before)
}

// failureAnnotationRE matches an annotation that expects a failure of a test, such as
// #[should_panic].
var failureAnnotationRE = regexp.MustCompile(`@Test\s*\([^)]*\bexpected\s*=|\[(?:\w+,\s*)*ExpectedException\b|#\[should_panic\b|@expectedException(?:Message)?\b|#\[ExpectedException`)

// findBroadAnnotations finds annotations of tests that expect more kinds of failure than before.
func findBroadAnnotations(f *facts.ChangedFile, report facts.Report) {
	if f.Added || !f.After().MayHoldTests() {
		return
	}
	before := facts.MatchingLines(f.RemovedLines(), failureAnnotationRE)
	for _, l := range facts.MatchingLines(f.AddedLines(), failureAnnotationRE) {
		i := slices.IndexFunc(before, func(old facts.Line) bool { return isBroadened(old.Text, l.Text) })
		if i >= 0 {
			report(f.After().FindingAt(l.Number, before[i].Text+" → "+l.Text))
			before = slices.Delete(before, i, i+1)
		}
	}
}

// isOpposite reports whether an assertion asserts the opposite of what it did, about the same value
// or another literal: "got != 4" and "got == 0".
func (r revision) isOpposite() bool {
	before, after := r.before.Canonical, r.after.Canonical
	if r.before.Negated == r.after.Negated {
		return false
	}
	if before == after || differOnlyInNames(before, after) {
		return true
	}
	return r.comparesWithLiteral() && facts.RemoveSpace(source.ParseAssertion(before).Skeleton) == facts.RemoveSpace(source.ParseAssertion(after).Skeleton)
}

// comparesWithLiteral reports whether one of the two assertions compares for equality, and no
// literal is nil or a truth. Whether there is an error is another question.
func (r revision) comparesWithLiteral() bool {
	isExact := r.before.Strength == source.Exact || r.after.Strength == source.Exact
	hasConstant := slices.ContainsFunc(slices.Concat(r.before.Literals, r.after.Literals), constantValueRE.MatchString)
	return isExact && len(r.before.Literals) > 0 && !hasConstant
}

// constantValueRE matches a literal that is nil or a truth, as the languages write it.
var constantValueRE = regexp.MustCompile(`^(?:None|nil|null|undefined|[Tt]rue|false|False)$`)

// expectedAssertionErrorRE matches what turns the failure of an assertion into a success, as in
// assertRaises(AssertionError.
var expectedAssertionErrorRE = regexp.MustCompile(`raises\(\s*(?:AssertionError|builtins\.AssertionError)\s*\)|assertRaises\(\s*AssertionError|assertThrows\(\s*(?:AssertionError|AssertionFailedError)|raise_error\(\s*(?:` + framework.RubyFailure + `)`)

// caughtAssertionErrorRE matches a handler for the failure of an assertion, as in "except
// AssertionError". Some products throw such a failure, too.
var caughtAssertionErrorRE = regexp.MustCompile(`\bcatch\s*\(\s*(?:final )?(?:AssertionError|AssertionFailedError)\b|\bexcept AssertionError\b`)

// caughtFailureBefore reports whether a test handled the failure of an assertion before the change.
func (d assertionDiff) caughtFailureBefore() bool {
	return caughtAssertionErrorRE.MatchString(d.Before.Side.LinesWithoutComments(d.Before.Line, d.Before.End))
}

// differOnlyInNames reports whether two texts differ only in names of which one contains the
// other: got and gotValue.
func differOnlyInNames(a, b string) bool {
	if stringOrNameRE.ReplaceAllString(a, "§") != stringOrNameRE.ReplaceAllString(b, "§") {
		return false
	}
	return slices.EqualFunc(stringOrNameRE.FindAllString(a, -1), stringOrNameRE.FindAllString(b, -1), func(x, y string) bool {
		areNames := facts.IsName(x) && facts.IsName(y) && len(x) > 2 && len(y) > 2
		return x == y || areNames && facts.AreSimilarNames(x, y)
	})
}

// namedFailureRE matches an expected failure that is given a name, as in "as err:".
var namedFailureRE = regexp.MustCompile(`\bas \w+\s*:|^(?:\w+ )?\w+\s*:?= |=> *\w+$`)

// noFailureRE matches assertions that nothing is raised.
var noFailureRE = regexp.MustCompile(`(?i)no_?throw|not_?throw|nothing_raised|\.not\.`)

// becameFailureCheck reports whether an assertion about a value became one about a failure.
func (r revision) becameFailureCheck() bool {
	return expectedFailureRE.MatchString(r.after.Text) && !expectedFailureRE.MatchString(r.before.Text) && !noFailureRE.MatchString(r.after.Text)
}

// renamedNames returns the names of a test that were replaced by a similar one which occurs as
// often, as got is by gotValue. It maps the old names to the new ones.
func renamedNames(before, after map[string]int) map[string]string {
	out := map[string]string{}
	names := slices.Collect(maps.Keys(after))
	for old, n := range before {
		isType := 'A' <= old[0] && old[0] <= 'Z' // a kind of error, for example
		if after[old] > 0 || isType || len(old) < 3 || !facts.IsName(old) {
			continue
		}
		candidates := facts.Filter(names, func(name string) bool {
			isNew := before[name] == 0 && after[name] == n
			return isNew && len(name) > 2 && facts.IsName(name) && facts.AreSimilarNames(old, name)
		})
		if len(candidates) == 1 {
			out[old] = candidates[0]
		}
	}
	return out
}

// stringOrNameRE matches names, and strings, in which nothing is renamed.
var stringOrNameRE = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|[A-Za-z_]\w*`)

// replaceNames returns a text with the names that are keys of the map replaced by their values.
func replaceNames(text string, names map[string]string) string {
	return stringOrNameRE.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(names[s], s) })
}
