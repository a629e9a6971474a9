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

// notMeasuredText is shown for a missing number, so that it does not look like a zero.
const notMeasuredText = "n/a"

// valueText formats a metric of a set, with its unit. The set may be nil.
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

// Pluralize formats a number with the singular or plural: "1 process", "2 processes".
func Pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// FormatDuration formats a duration, as in 0.4s, 12s, 3m05s and 2h10m.
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

// twoDigits formats a number from 0 to 99 with two digits.
func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
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
	return append(append([]string{}, list[:n]...), fmt.Sprintf("and %d more", len(list)-n))
}
