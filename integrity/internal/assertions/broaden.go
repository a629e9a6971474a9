package assertions

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
)

// breadth says how many failures an expected failure takes: 0 is one kind.
func breadth(text string) int {
	for i, re := range broad {
		if re.MatchString(text) {
			return len(broad) - i
		}
	}
	return 0
}

var (
	// broad match what takes many kinds of failure, the broadest first.
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
func findBroadAnnotations(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range c.Files {
		if f.Added || !f.After().MayTest() {
			continue
		}
		was := facts.Matching(f.RemovedLines(), annotated)
		now := facts.Matching(f.AddedLines(), annotated)
		for _, l := range now {
			i := slices.IndexFunc(was, func(o facts.Line) bool { return broadened(o.Text, l.Text) })
			if i < 0 {
				continue
			}
			x := facts.Finding{File: f.Path, Line: l.Number, Evidence: facts.Evidence(was[i].Text + " → " + l.Text)}
			if t := f.After().TestAt(l.Number); t != nil {
				x.Test = t.Name
			}
			out = append(out, x)
			was = slices.Delete(was, i, i+1)
		}
	}
	return out
}
