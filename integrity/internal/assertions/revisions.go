package assertions

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/source"
)

// breadth says how many kinds of failure an expected failure accepts: 0 is one kind.
func breadth(text string) int {
	for i, re := range broad {
		if re.MatchString(text) {
			return len(broad) - i
		}
	}
	return 0
}

var (
	// broad match expectations that accept many kinds of failure, the broadest first.
	broad = []*regexp.Regexp{
		regexp.MustCompile(`\b(?:Throwable|BaseException|ThrowsAny<Exception>|EXPECT_ANY_THROW|ASSERT_ANY_THROW|std::exception|REQUIRE_THROWS|CHECK_THROWS|BOOST_CHECK_THROW_ANY)\b(?:[^_]|$)|\braise_error\s*(?:$|[)};]|\{\s*\}|do\b)|\.to(?:\.|_)throw\(\s*\)|\bto_raise\b\s*$|\b(?:Object|any)\.(?:class|self)\b`),
		regexp.MustCompile(`(?:^|[^\w.:\\])(?:builtins\.|java\.lang\.|System\.|kotlin\.|\\)?(?:Exception|StandardError|Error)\b(?:[^\w\\]|$)|\bassert_raises?\s*(?:\{|do\b)|\bmust_raise\s*$`),
		regexp.MustCompile(`\b(?:RuntimeException|RuntimeError|LogicException|ApplicationException|SystemException|std::runtime_error|std::logic_error)\b`),
	}
	raising = regexp.MustCompile(`(?i)raises?\b|throws?(?:any|async|exactly|instance\w*|type\w*|exception\w*)*\b|raises?regexp?\b|raise_error|raises_(?:with|message)\w*|expectException|toThrow|_THROW|rejects|fails_?with|should_panic|throws_?error|\bexpected\s*=|ExpectedException|must_raise|panicswith|anyexception|throwexactly`)
	// ofMessage matches expected failures that name a message, noMessage those that
	// name one that is in all.
	ofMessage  = regexp.MustCompile(`\bmatch\s*=|toThrow\w*\(\s*(?:["'\x60/]|new\b|[A-Z]|expect\.|\w)|hasMessage|[wW]ithMessage|[eE]xpectExceptionMessage|raise_error\([^)]*,\s*["'/%]|raise_error\(?\s*["'/]|assert_?raises?\w*[ (]+[\w.:]+,\s*(?:["'/]|~r|\w+, fn\b)|[rR]aisesRegexp?\b|THROW_MSG|THROWS?_WITH|THROW_WITH|\bexpected\s*=\s*"|throws\(.*,\s*(?:/|\w*Error\b|\{)|\.to\.throw\(\s*[^)\s]|PanicsWith|ErrorContains|withMessage\w*\(|messageContains|with_message|\.throw\(\s*[^)\s]`)
	noMessage  = regexp.MustCompile(`(?:match\s*=\s*r?|[mM]essage\w*\(\s*|raise_error\([^)]*,\s*|assert_?raises?\w*[ (]+[\w.:]+,\s*(?:~r)?)(?:""|''|"\.\*"|'\.\*'|/\.\*/|//|"\\?\.\*\$?")`)
	oneOfTypes = regexp.MustCompile(`\b[A-Z]\w*(?:Error|Exception|Failure|Warning|Interrupt|Exit|Fault|Throwable|Violation|Invalid\w*|Missing\w*|NotFound)\b|\b\w+(?:_error|_exception|_failure)\b|\b(?:raises?|Throws\w*|assert_?raises?|[eE]xpectException|must_raise|raise_error|toThrow)\W+(?:\w+(?:\.|::|\\))*[A-Z]\w+`)
)

// messageIn matches the message that an object asks of an error.
var messageIn = regexp.MustCompile(`\bmessage:\s*(?:"[^"]+"|'[^']+')`)

// broadened reports whether an expected failure became any failure, or lost its
// message.
func broadened(was, now string) bool {
	if !raising.MatchString(was) || !raising.MatchString(now) {
		return false
	}
	if m := messageIn.FindString(was); m != "" && m == messageIn.FindString(now) {
		return false
	}
	return breadth(now) > breadth(was) && (oneOfTypes.MatchString(was) || breadth(was) > 0 || ofMessage.MatchString(was)) ||
		ofMessage.MatchString(was) && !noMessage.MatchString(was) && (!ofMessage.MatchString(now) || noMessage.MatchString(now))
}

// annotated matches the annotations that expect a failure of a test.
var annotated = regexp.MustCompile(`@Test\s*\([^)]*\bexpected\s*=|\[(?:\w+,\s*)*ExpectedException\b|#\[should_panic\b|@expectedException(?:Message)?\b|#\[ExpectedException`)

// findBroadAnnotations finds annotations of tests that expect more failures than
// they did, or none any more.
func findBroadAnnotations(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	if f.Added || !f.After().MayTest() {
		return nil
	}
	was := facts.Matching(f.RemovedLines(), annotated)
	now := facts.Matching(f.AddedLines(), annotated)
	for _, l := range now {
		i := slices.IndexFunc(was, func(o facts.Line) bool { return broadened(o.Text, l.Text) })
		if i < 0 {
			continue
		}
		out = append(out, f.After().FindingAt(l.Number, was[i].Text+" → "+l.Text))
		was = slices.Delete(was, i, i+1)
	}
	return out
}

// opposite reports whether an assertion asserts the opposite, of the same value or
// of another literal: got != 4 and got == 0.
func (r revision) opposite() bool {
	return r.was.Negated != r.now.Negated &&
		(r.was.Canonical == r.now.Canonical || sameButNames(r.was.Canonical, r.now.Canonical) || r.literalEqual() && facts.Squash(source.ParseAssertion(r.was.Canonical).Skeleton) == facts.Squash(source.ParseAssertion(r.now.Canonical).Skeleton))
}

// literalEqual reports whether both compare for equality with a literal, which is
// not nil or its like: whether there is an error is another question.
func (r revision) literalEqual() bool {
	return slices.ContainsFunc([]facts.Assertion{r.was, r.now}, func(a facts.Assertion) bool { return a.Strength == source.Exact }) &&
		!slices.ContainsFunc(slices.Concat(r.was.Literals, r.now.Literals), nothing.MatchString) && len(r.was.Literals) > 0
}

var nothing = regexp.MustCompile(`^(?:None|nil|null|undefined|[Tt]rue|false|False)$`)

// expectsFailure matches what turns the failure of an assertion into a success.
var expectsFailure = regexp.MustCompile(`raises\(\s*(?:AssertionError|builtins\.AssertionError)\s*\)|assertRaises\(\s*AssertionError|assertThrows\(\s*(?:AssertionError|AssertionFailedError)|raise_error\(\s*(?:` + framework.RubyFailure + `)`)

// catchesFailure matches a handler of the failure of an assertion, which is also
// what some products throw.
var catchesFailure = regexp.MustCompile(`\bcatch\s*\(\s*(?:final )?(?:AssertionError|AssertionFailedError)\b|\bexcept AssertionError\b`)

// caughtBefore reports whether a test expected such a failure already, in other
// words.
func (d delta) caughtBefore() bool {
	return catchesFailure.MatchString(d.Was.Side.PlainRange(d.Was.Line, d.Was.End))
}

// sameButNames reports whether two texts differ in names alone that are within
// each other: got and gotValue.
func sameButNames(a, b string) bool {
	x, y := quotedOrName.FindAllString(a, -1), quotedOrName.FindAllString(b, -1)
	if len(x) != len(y) || quotedOrName.ReplaceAllString(a, "§") != quotedOrName.ReplaceAllString(b, "§") {
		return false
	}
	for i := range x {
		if x[i] != y[i] && (!facts.IsName(x[i]) || !facts.IsName(y[i]) || len(x[i]) < 3 || len(y[i]) < 3 || !facts.SimilarNames(x[i], y[i])) {
			return false
		}
	}
	return true
}

// kept matches an expected failure that is given a name.
var kept = regexp.MustCompile(`\bas \w+\s*:|^(?:\w+ )?\w+\s*:?= |=> *\w+$`)

// noFailure matches assertions that nothing is raised.
var noFailure = regexp.MustCompile(`(?i)no_?throw|not_?throw|nothing_raised|\.not\.`)

// failsOtherwise reports whether an assertion about a value became one about a failure.
func (r revision) failsOtherwise() bool {
	return raising.MatchString(r.now.Text) && !raising.MatchString(r.was.Text) && !noFailure.MatchString(r.now.Text)
}

// renamedNames finds the names within a test that were given another: got that is
// gotValue now, as often as before. It maps the old ones to the new ones.
func renamedNames(was, now map[string]int) map[string]string {
	out := map[string]string{}
	for old, n := range was {
		if now[old] > 0 || !facts.IsName(old) || len(old) < 3 || 'A' <= old[0] && old[0] <= 'Z' { // not types: kinds of errors
			continue
		}
		name := ""
		for to, k := range now {
			if k == n && was[to] == 0 && len(to) > 2 && facts.IsName(to) && facts.SimilarNames(old, to) {
				if name != "" { // which one?
					name = ""
					break
				}
				name = to
			}
		}
		if name != "" {
			out[old] = name
		}
	}
	return out
}

// quotedOrName matches strings, in which nothing is renamed, and names.
var quotedOrName = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|[A-Za-z_]\w*`)

// inNames returns a text with other names.
func inNames(text string, names map[string]string) string {
	return quotedOrName.ReplaceAllStringFunc(text, func(s string) string {
		if to := names[s]; to != "" {
			return to
		}
		return s
	})
}
