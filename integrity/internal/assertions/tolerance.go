package assertions

import (
	"fmt"
	"math"
	"strconv"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
)

// numberExpr matches a number without a sign, such as 0.1 and 1e-6.
const numberExpr = `(\d*\.?\d+(?:[eE][-+]?\d+)?)`

var (
	// toleranceRE matches the allowed difference of a value, as in "abs=0.1". placesRE matches the
	// number of decimal places that must be right, as in "places=3". Times do not count, because
	// slow machines need more.
	toleranceRE = regexp.MustCompile(`(?:\b(?:abs|rel|delta|atol|rtol|tolerance|epsilon|eps|accuracy|rel_tol|abs_tol|max_relative|within|msg_delta)\s*[=:(]\s*|\b(?:InDelta|InEpsilon)\w*\([^,]+,[^,]+,[^,]+,\s*|\b(?:closeTo|isCloseTo|EXPECT_NEAR|ASSERT_NEAR)\([^,]+,(?:[^,]+,)?\s*|_(?:delta|epsilon)\s*\(?[^,]+,[^,]+,\s*|_close_to\s*\(?[^,]+,\s*|\b(?:isWithin|be_within|within|WithDelta)\(|\bassertEquals\([^,]+,[^,]+,\s*)` + numberExpr + `\b`)
	placesRE    = regexp.MustCompile(`\b(?:toBeCloseTo\([^,]+,\s*|places\s*=\s*|decimal\s*=\s*)(\d{1,2})\b`)
)

// minWidening is the factor from which on a wider tolerance is reported.
const minWidening = 10

// minUnexplainedWidening is the factor from which on a change of the code does not explain it.
const minUnexplainedWidening = 50

// findWidenedTolerances finds tolerances in tests that became at least ten times as wide, in
// otherwise unchanged lines.
func findWidenedTolerances(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	s := f.After()
	if !s.MayHoldTests() || f.Added {
		return
	}

	widths := map[string]float64{}
	for _, l := range f.RemovedLines() {
		if remaining, wide, ok := cutTolerance(l.Text); ok {
			widths[remaining] = wide
		}
	}
	for _, l := range f.AddedLines() {
		remaining, wide, ok := cutTolerance(l.Text)
		before, isKnown := widths[remaining]
		isWidened := ok && isKnown && before > 0 && wide >= before*minWidening*(1-1e-9)
		if !isWidened {
			continue
		}

		x := s.FindingAt(l.Number, fmt.Sprintf("%g times as wide: %s", math.Round(wide/before), l.Text))
		if c.TouchesProduct() && wide < before*minUnexplainedWidening*(1-1e-9) {
			x.Severity = metric.Medium
		}
		report(x)
	}
}

// cutTolerance returns a line with a sign in place of its tolerance, and how wide the tolerance is.
// It is false if the line has none.
func cutTolerance(text string) (remaining string, wide float64, ok bool) {
	m := toleranceRE.FindStringSubmatchIndex(text)
	places := m == nil
	if places {
		m = placesRE.FindStringSubmatchIndex(text)
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
	return facts.RemoveSpace(text[:m[2]] + "§" + text[m[3]:]), wide, true
}
