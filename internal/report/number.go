// Package report turns what a loop measured and decided into reports for people: as documents,
// as lines for a terminal, as CSV and as JSON. It decides nothing. Its subpackages print the
// events of a loop (terminal), its live state (live) and the results of commands (results).
package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

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

// notMeasuredText is shown for a missing number, never a zero.
const notMeasuredText = "n/a"

// valueText formats the field f of a set, with its unit.
func valueText(s *metric.Set, f metric.Field, unit string) string {
	if s == nil {
		return notMeasuredText
	}
	v, ok := s.Value(f)
	if !ok {
		return notMeasuredText
	}
	return FormatNumber(v) + unit
}

// deltaText formats the change of f, with its sign.
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

// Pluralize formats a number with the singular or plural: "1 process", "2 processes".
func Pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// FormatDuration formats a duration: 0.4s, 12s, 3m05s, 2h10m.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + "s"
	case d < time.Hour:
		d = d.Round(time.Second)
		return strconv.Itoa(int(d.Minutes())) + "m" + twoDigits(int(d.Seconds())%60) + "s"
	}
	d = d.Round(time.Minute)
	return strconv.Itoa(int(d.Hours())) + "h" + twoDigits(int(d.Minutes())%60) + "m"
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// FormatBytes formats a number of bytes in a suitable unit.
func FormatBytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}

// Truncate shortens a list to n items, followed by the number of omitted ones.
func Truncate(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(append([]string{}, list[:n]...), fmt.Sprintf("and %d more", len(list)-n))
}
