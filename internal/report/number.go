// Package report lays out what a loop measured and decided, for people: as
// Markdown, as lines for a terminal, and as JSON. It decides nothing.
package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"supervise/metric"
)

// FormatNumber writes a number with at most two decimals and no trailing zeroes.
func FormatNumber(v float64) string {
	s := strconv.FormatFloat(math.Round(v*100)/100, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// notMeasured is printed for a missing number, never a zero.
const notMeasured = "n/a"

// value writes the number f of a set, with its unit.
func value(s *metric.Set, f metric.Field, unit string) string {
	if s == nil {
		return notMeasured
	}
	v, ok := s.Value(f)
	if !ok {
		return notMeasured
	}
	return FormatNumber(v) + unit
}

// delta writes the change of f from before to now, with its sign.
func delta(d metric.Delta, f metric.Field, unit string) string {
	v, ok := d[f]
	switch {
	case !ok:
		return notMeasured
	case math.Abs(v) < .005:
		return "0" + unit
	case v > 0:
		return "+" + FormatNumber(v) + unit
	}
	return FormatNumber(v) + unit
}

// percent writes a score in [0,1] as a percentage.
func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// Pluralize writes how many there are: "1 process", "2 processes".
func Pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// FormatDuration writes a time span as a person says it: 0.4s, 12s, 3m05s, 2h10m.
func FormatDuration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + "s"
	case d < time.Hour:
		d = d.Round(time.Second)
		return strconv.Itoa(int(d.Minutes())) + "m" + two(int(d.Seconds())%60) + "s"
	}
	d = d.Round(time.Minute)
	return strconv.Itoa(int(d.Hours())) + "h" + two(int(d.Minutes())%60) + "m"
}

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// FormatBytes writes a number of bytes in the unit that suits it.
func FormatBytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}

// Truncate shortens a list to n items and the number of those left out.
func Truncate(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(append([]string{}, list[:n]...), fmt.Sprintf("and %d more", len(list)-n))
}
