// Package report turns what a loop measured and decided into reports for people. It decides
// nothing.
//
// The reports about one iteration, the selection and the end of a loop are documents
// (iteration.go, loop.go, chain.go, escalation.go), which package document renders. A page shows a
// loop in a browser (html.go). Lines for a terminal (line.go, persistence.go), a CSV table and
// JSON analytics have the numbers alone. All of them format numbers with the functions of this
// file.
//
// The subpackages print the events of a loop (terminal), its live state (live) and the results of
// commands (results).
package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/metric"
)

// FormatNumber formats a number with at most two decimals and no trailing zeroes.
func FormatNumber(v float64) string {
	s := strconv.FormatFloat(math.Round(v*100)/100, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// notMeasuredText is shown for a missing number, so that it does not look like a zero.
const notMeasuredText = "n/a"

// valueText formats a metric of a set, with its unit. The set may be nil.
func valueText(s *metric.Set, f metric.Field, unit string) string {
	if v := valueOf(s, f); v != nil {
		return FormatNumber(*v) + unit
	}
	return notMeasuredText
}

// valueOf returns a metric of a set, nil if it was not measured. The set may be nil.
func valueOf(s *metric.Set, f metric.Field) *float64 {
	if s == nil {
		return nil
	}
	if v, ok := s.Value(f); ok {
		return &v
	}
	return nil
}

// formatOptional formats a number, multiplied by a factor, as in ("%.1f%%", 100, &share). It says
// that a nil one was not measured.
func formatOptional[T int64 | float64](format string, factor T, v *T) string {
	if v == nil {
		return notMeasuredText
	}
	return fmt.Sprintf(format, factor**v)
}

// deltaText formats the change of a metric, with its sign and unit.
func deltaText(d metric.Delta, f metric.Field, unit string) string {
	v, ok := d[f]
	switch {
	case !ok:
		return notMeasuredText
	case math.Abs(v) < .005:
		return "0" + unit
	case v > 0:
		return "+" + FormatNumber(v) + unit
	}
	return FormatNumber(v) + unit
}

// percentText formats a score in [0,1] as a percentage.
func percentText(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// Either returns the first text if a condition is met, else the second one.
func Either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// IterationName names iteration n in a sentence.
func IterationName(n int) string {
	return Either(n == 0, "the baseline", fmt.Sprintf("iteration %d", n))
}

// findIteration returns the iteration with a number, nil if it is missing.
func findIteration(its []ledger.Iteration, number int) *ledger.Iteration {
	i := slices.IndexFunc(its, func(it ledger.Iteration) bool { return it.Number == number })
	if i < 0 {
		return nil
	}
	return &its[i]
}

// TestNames returns the names of tests.
func TestNames(ids []metric.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}
	return out
}

// Pluralize formats a number with the singular or plural: "1 process", "2 processes".
func Pluralize(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, Either(n == 1, one, many))
}

// FormatDuration formats a duration, as in 0.4s, 12s, 3m05s and 2h10m.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + "s"
	case d < time.Hour:
		seconds := int(d.Round(time.Second).Seconds())
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	minutes := int(d.Round(time.Minute).Minutes())
	return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
}

// FormatBytes formats a number of bytes in KB, MB or GB.
func FormatBytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}

// Truncate shortens a list to n items, followed by an item that counts the omitted ones.
func Truncate(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(slices.Clone(list[:n]), fmt.Sprintf("and %d more", len(list)-n))
}
