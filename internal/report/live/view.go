package live

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/internal/document"
	"supervise/internal/report"

	"github.com/mattn/go-runewidth"
)

// part is a piece of a line.
type part struct {
	tone document.Style
	text string
}

// line is one line for people, without colours yet.
type line []part

// fit returns the line, cut to a width in columns, and how many it takes.
func (l line) fit(width int, paint document.Paint) (text string, taken int) {
	var whole strings.Builder
	for _, p := range l {
		whole.WriteString(p.text)
	}
	cut := runewidth.Truncate(whole.String(), width, "…")
	rest, dots := cut, ""
	if cut != whole.String() {
		rest, dots = strings.TrimSuffix(cut, "…"), "…"
	}
	var b strings.Builder
	for _, p := range l {
		piece := p.text[:min(len(p.text), len(rest))]
		if rest = rest[len(piece):]; rest == "" {
			piece, dots = piece+dots, ""
		}
		b.WriteString(paint(p.tone, piece))
	}
	return b.String(), runewidth.StringWidth(cut)
}

// lines are the state for people, the most important first.
func (s State) lines(now time.Time) []line {
	if s.IsOver() {
		return nil
	}
	var out []line
	if s.LoopID != "" {
		out = append(out, s.head(now))
	}
	for _, c := range s.Candidates {
		out = append(out, c.line(now))
	}
	if len(s.Candidates) > 0 {
		return out
	}
	out = append(out, s.work(now)...)
	if s.Activity == doesAgent && s.AgentMessage != "" {
		out = append(out, line{{document.Faint, "     │ " + s.AgentMessage}})
	}
	if text := s.left(now); text != "" {
		out = append(out, line{{document.Faint, "     left: " + text}})
	}
	return out
}

// head says which iteration it is.
func (s State) head(now time.Time) line {
	rest := ""
	if s.Level != "" && s.Iteration > 0 && s.Part == "" {
		rest = ", prompt level " + s.Level
	}
	return line{{document.Strong, "     " + s.title()}, {document.Faint, rest + ", " + clock(now.Sub(s.Started)) + " in all"}}
}

// title names the iteration, or the part of the loop.
func (s State) title() string {
	text := "baseline"
	switch {
	case len(s.Candidates) > 0:
		text = report.Pluralize(len(s.Candidates), "candidate", "candidates")
	case s.Part == RepeatedBaseline:
		text = "baseline, measured again to find flaky tests"
	case s.Part == FinalSelection:
		text = "the end"
	case s.Iteration > 0 && s.MaxIterations > 0:
		text = fmt.Sprintf("iteration %d of %d", s.Iteration, s.MaxIterations)
	case s.Iteration > 0:
		text = fmt.Sprintf("iteration %d", s.Iteration)
	}
	return text
}

// work says what is done: the checks that run, or else what the loop itself does.
func (s State) work(now time.Time) []line {
	var out []line
	for _, c := range s.Checks {
		if !c.HasEnded() {
			out = append(out, s.check(c, now))
			if c.Tally.LastFailed != "" {
				out = append(out, line{{document.Bad, "       ✗ " + c.Tally.LastFailed}})
			}
		}
	}
	switch n := len(s.Checks); {
	case s.Activity != doesMeasure && s.Activity != doesJudge:
	case len(out) > 0:
		return out
	case n > 0 && s.Activity == doesMeasure:
		last, what := s.Checks[n-1], ": reading the report"
		if last.ListsTests {
			what += ", listing the tests"
		}
		return []line{{{document.Faint, "     " + s.place(last)}, {document.Plain, last.Name + what}, {document.Faint, "  " + clock(now.Sub(last.Ended))}}}
	}
	l := line{{document.Plain, "     " + s.Activity}, {document.Faint, "  " + clock(now.Sub(s.ActivityStarted))}}
	if text := s.used(); s.Activity == doesAgent && text != "" {
		l = append(l, part{document.Faint, "  " + text})
	}
	return []line{append(l, s.last(s.Activity))}
}

// place says which check of how many it is.
func (s State) place(c Check) string {
	switch {
	case c.Extra:
		return doesJudge + "  "
	case s.PlannedChecks > 0:
		return fmt.Sprintf("check %d of %d  ", min(c.Number, s.PlannedChecks), s.PlannedChecks)
	}
	return ""
}

func (s State) check(c Check, now time.Time) line {
	l := line{{document.Faint, "     " + s.place(c)}, {document.Plain, c.Name}, {document.Faint, "  " + clock(now.Sub(c.Started))}}
	if n := c.Tally.Count(); n > 0 {
		l = append(l, part{document.Plain, "  " + strconv.Itoa(n)})
		if last := s.LastTestCounts[c.Name]; last > 0 && !c.Extra {
			l = append(l, part{document.Faint, fmt.Sprintf(" of %d", last)})
		}
		l = append(l, part{document.Plain, " tests"})
	}
	if c.Tally.Failed > 0 {
		l = append(l, part{document.Bad, fmt.Sprintf(", %d failed", c.Tally.Failed)})
	}
	if c.Tally.Skipped > 0 {
		l = append(l, part{document.Faint, fmt.Sprintf(", %d skipped", c.Tally.Skipped)})
	}
	return append(l, s.last(c.Name))
}

// last says how long something took the last time.
func (s State) last(what string) part {
	if took := s.LastDurations[what]; took >= time.Second {
		return part{document.Faint, "  (last time " + clock(took) + ")"}
	}
	return part{}
}

// used says what the loop has consumed.
func (s State) used() string {
	var out []string
	if n := s.Budget.UsedTokens; n != nil {
		out = append(out, tokens(*n)+" tokens")
	}
	if usd := s.Budget.UsedCost; usd != nil {
		out = append(out, fmt.Sprintf("$%.2f", *usd))
	}
	return strings.Join(out, ", ")
}

// left says what the loop may still use, "" before the first iteration.
func (s State) left(now time.Time) string {
	if s.Iteration == 0 || s.MaxIterations == 0 || s.Part != "" {
		return ""
	}
	out := []string{report.Pluralize(max(0, s.MaxIterations-s.Iteration), "iteration", "iterations") + " after this"}
	b := s.Budget
	if !b.Deadline.IsZero() {
		out = append(out, clock(max(0, b.Deadline.Sub(now))))
	}
	switch {
	case b.MaxCost > 0 && b.UsedCost != nil:
		out = append(out, fmt.Sprintf("$%.2f of $%g", max(0, b.MaxCost-*b.UsedCost), b.MaxCost))
	case b.MaxCost > 0:
		out = append(out, fmt.Sprintf("$%g (no cost reported)", b.MaxCost))
	}
	switch {
	case b.MaxTokens > 0 && b.UsedTokens != nil:
		out = append(out, fmt.Sprintf("%s of %s tokens", tokens(max(0, b.MaxTokens-*b.UsedTokens)), tokens(b.MaxTokens)))
	case b.MaxTokens > 0:
		out = append(out, tokens(b.MaxTokens)+" tokens (none reported)")
	}
	switch {
	case b.MaxWindow > 0 && b.UsedWindow != nil:
		out = append(out, fmt.Sprintf("window %.4g%% of %g%%", max(0, b.MaxWindow-*b.UsedWindow), b.MaxWindow))
	case b.MaxWindow > 0:
		out = append(out, fmt.Sprintf("window %g%% (none told)", b.MaxWindow))
	}
	return strings.Join(out, ", ")
}

// clock writes a time span in whole seconds: 4s, 3m05s, 2h10m.
func clock(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	if d < 10*time.Second {
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return report.FormatDuration(d)
}

// tokens writes a number of tokens in at most four digits.
func tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n/1_000_000, 10) + "M"
}

// PercentDone is how much of what is done now is done, in percent; false where nobody knows.
func (s State) PercentDone(now time.Time) (int, bool) {
	if s.Activity != doesMeasure || s.PlannedChecks == 0 {
		return 0, false
	}
	sum := 0.0
	for _, c := range s.Checks {
		last, tests := s.LastDurations[c.Name], s.LastTestCounts[c.Name]
		switch {
		case c.Extra:
		case c.HasEnded():
			sum++
		case tests > 0:
			sum += min(.99, float64(c.Tally.Count())/float64(tests))
		case last > 0:
			sum += min(.99, float64(now.Sub(c.Started))/float64(last))
		}
	}
	return min(100, int(100*sum/float64(s.PlannedChecks))), true
}
