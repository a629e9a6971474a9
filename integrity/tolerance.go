package integrity

import (
	"fmt"
	"math"
	"strconv"

	"supervise/internal/regexp"
	"supervise/metric"
)

// toleranceRules are about how near is near enough.
var toleranceRules = []rule{
	{"TP-11", "tolerance_widened", metric.High, findWidened},
}

const numberText = `(\d*\.?\d+(?:[eE][-+]?\d+)?)`

var (
	// tolerances match how far off a value may be, digits to how many places it
	// must be right. Times are none: slow machines need more.
	tolerances = regexp.MustCompile(`(?:\b(?:abs|rel|delta|atol|rtol|tolerance|epsilon|eps|accuracy|rel_tol|abs_tol|max_relative|within|msg_delta)\s*[=:(]\s*|\b(?:InDelta|InEpsilon)\w*\([^,]+,[^,]+,[^,]+,\s*|\b(?:closeTo|isCloseTo|EXPECT_NEAR|ASSERT_NEAR)\([^,]+,(?:[^,]+,)?\s*|_(?:delta|epsilon)\s*\(?[^,]+,[^,]+,\s*|_close_to\s*\(?[^,]+,\s*|\b(?:isWithin|be_within|within|WithDelta)\(|\bassertEquals\([^,]+,[^,]+,\s*)` + numberText + `\b`)
	digits     = regexp.MustCompile(`\b(?:toBeCloseTo\([^,]+,\s*|places\s*=\s*|decimal\s*=\s*)(\d{1,2})\b`)
)

// widened is from which factor on a tolerance says something else.
const widened = 10

// farWider is from which factor on no change of the code explains it.
const farWider = 50

// findWidened finds tolerances in tests that were made ten times as wide, or
// wider, in lines that are else as they were.
func findWidened(c *change) []Finding {
	var out []Finding
	for _, f := range c.files {
		s := f.after()
		if !s.mayTest() || f.Added {
			continue
		}
		was := map[string]float64{}
		for _, l := range f.removedLines() {
			if rest, wide, ok := tolerance(l.text); ok {
				was[rest] = wide
			}
		}
		for _, l := range f.addedLines() {
			rest, wide, ok := tolerance(l.text)
			before, had := was[rest]
			if !ok || !had || before <= 0 || wide < before*widened*(1-1e-9) {
				continue
			}
			x := Finding{File: s.path, Line: l.n, Evidence: evidence(fmt.Sprintf("%g times as wide: %s", math.Round(wide/before), l.text))}
			if t := s.testAt(l.n); t != nil {
				x.Test = t.Name
			}
			if c.touchesProduct() && wide < before*farWider*(1-1e-9) {
				x.Severity = metric.Medium
			}
			out = append(out, x)
		}
	}
	return out
}

// tolerance returns a line without its tolerance, and how wide that is.
func tolerance(text string) (rest string, wide float64, ok bool) {
	m := tolerances.FindStringSubmatchIndex(text)
	places := m == nil
	if places {
		m = digits.FindStringSubmatchIndex(text)
	}
	if m == nil {
		return "", 0, false
	}
	wide, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
	if err != nil {
		return "", 0, false
	}
	if places {
		wide = math.Pow(10, -wide)
	}
	return squash(text[:m[2]] + "§" + text[m[3]:]), wide, true
}
