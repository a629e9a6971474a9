package integrity

import (
	"slices"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// findWeakened finds assertions that pin down less than they did.
func findWeakened(c *change) []Finding {
	var out []Finding
	for _, d := range c.deltas() {
		revised := d.revised
		if len(d.removed) <= len(d.added) { // what was removed was replaced
			for i, a := range d.removed {
				revised = append(slices.Clip(revised), revision{a, d.added[i]})
			}
		}
		for _, r := range revised {
			if f, weaker := d.weaker(r); weaker {
				out = append(out, f)
			}
		}
	}
	return out
}

func (d delta) weaker(r revision) (Finding, bool) {
	f := d.finding(r.now, r.was.text+" → "+r.now.text)
	switch {
	case r.now.Trivial || d.how == byBody:
		return f, false // another rule's
	case broadened(r.was.text, r.now.text), r.now.Repeats && !r.was.Repeats:
	case r.now.Strength >= r.was.Strength:
		return f, false
	case r.now.Strength == source.Truthy && !plainTruth.MatchString(r.now.text):
		return f, false // a helper of the project: who knows
	case r.now.Strength >= source.Shape:
		f.Severity = metric.Medium
	case r.was.Strength < source.Shape:
		f.Severity = metric.Low
	}
	return f, true
}

// plainTruth matches assertions that are known to take anything that counts as
// true.
var plainTruth = regexp.MustCompile(`^(?:await |return )?(?:self\.|this\.|\$this->|t\.|self::|static::|chai\.|Assert\.|assert\.|require\.|XCT|BOOST_)*(?:assert|expect|require|verify|check|CHECK|REQUIRE|EXPECT_TRUE|ASSERT_TRUE|EXPECT_FALSE|ASSERT_FALSE|assertTrue|assertFalse|assert_true|assert_false|True|False|IsTrue|IsFalse|ok|isTrue|AssertTrue|Assert|refute|should|#expect|#require|assertThat)\b|=> t\.|^#(?:expect|require)|\.should\b`)

var (
	anyError   = regexp.MustCompile(`\b(?:Exception|BaseException|Throwable|StandardError|Error|RuntimeException|std::exception)\b`)
	raising    = regexp.MustCompile(`(?i)raises?\b|throws?\b|raise_error|expectException|toThrow|_THROW|rejects`)
	ofMessage  = regexp.MustCompile(`\bmatch\s*=|toThrow\w*\(\s*\S|hasMessage|expectExceptionMessage|raise_error\([^)]*,`)
	oneOfTypes = regexp.MustCompile(`\b[A-Z]\w*(?:Error|Exception|Failure|Warning|Interrupt|Exit)\b`)
)

// broadened reports whether an expected failure became any failure, or lost its
// message.
func broadened(was, now string) bool {
	if !raising.MatchString(was) || !raising.MatchString(now) {
		return false
	}
	return anyError.MatchString(now) && !anyError.MatchString(was) && oneOfTypes.MatchString(was) ||
		ofMessage.MatchString(was) && !ofMessage.MatchString(now)
}
