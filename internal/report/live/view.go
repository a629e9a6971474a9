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

// span is a part of a line with a style.
type span struct {
	style document.Style
	text  string
}

// styledLine is one line without escape sequences.
type styledLine []span

// fitWidth returns the line with its styles, truncated to a width in columns. taken is how many
// columns it takes.
func (l styledLine) fitWidth(width int, paint document.Paint) (text string, taken int) {
	var full strings.Builder
	for _, p := range l {
		full.WriteString(p.text)
	}
	visible := runewidth.Truncate(full.String(), width, "…")
	rest, dots := visible, ""
	if visible != full.String() {
		rest, dots = strings.TrimSuffix(visible, "…"), "…"
	}
	var b strings.Builder
	for _, p := range l {
		piece := p.text[:min(len(p.text), len(rest))]
		if rest = rest[len(piece):]; rest == "" {
			piece, dots = piece+dots, ""
		}
		b.WriteString(paint(p.style, piece))
	}
	return b.String(), runewidth.StringWidth(visible)
}

// styledLines returns the state as lines, the most important first. It returns nil if the loop is
// over.
func (s State) styledLines(now time.Time) []styledLine {
	if s.IsOver() {
		return nil
	}
	var out []styledLine
	if s.LoopID != "" {
		out = append(out, s.headLine(now))
	}
	for _, c := range s.Candidates {
		out = append(out, c.statusLine(now))
	}
	if len(s.Candidates) > 0 {
		return out
	}
	out = append(out, s.workLines(now)...)
	if s.Activity == doesAgent && s.AgentMessage != "" {
		out = append(out, styledLine{{document.Faint, "     │ " + s.AgentMessage}})
	}
	if text := s.remainingText(now); text != "" {
		out = append(out, styledLine{{document.Faint, "     left: " + text}})
	}
	return out
}

// headLine names the iteration, the level of the prompt, and the total time.
func (s State) headLine(now time.Time) styledLine {
	hasLevel := s.Level != "" && s.Iteration > 0 && s.Part == ""
	details := report.Either(hasLevel, ", prompt level "+s.Level, "") + ", " + clockText(now.Sub(s.Started)) + " in all"
	return styledLine{{document.Strong, "     " + s.title()}, {document.Faint, details}}
}

// title names the iteration, or the part of the loop.
func (s State) title() string {
	switch {
	case len(s.Candidates) > 0:
		return report.Pluralize(len(s.Candidates), "candidate", "candidates")
	case s.Part == RepeatedBaseline:
		return "baseline, measured again to find flaky tests"
	case s.Part == FinalSelection:
		return "the end"
	case s.Iteration > 0 && s.MaxIterations > 0:
		return fmt.Sprintf("iteration %d of %d", s.Iteration, s.MaxIterations)
	case s.Iteration > 0:
		return fmt.Sprintf("iteration %d", s.Iteration)
	}
	return "baseline"
}

// workLines describes what runs: the checks that have not ended, or else the activity of the loop.
// There is always at least one line.
func (s State) workLines(now time.Time) []styledLine {
	var out []styledLine
	for _, c := range s.Checks {
		if !c.HasEnded() {
			out = append(out, s.checkLine(c, now))
			if c.Tally.LastFailed != "" {
				out = append(out, styledLine{{document.Bad, "       ✗ " + c.Tally.LastFailed}})
			}
		}
	}

	switch n := len(s.Checks); {
	case s.Activity != doesMeasure && s.Activity != doesJudge:
	case len(out) > 0:
		return out
	case n > 0 && s.Activity == doesMeasure:
		last, what := s.Checks[n-1], ": reading the report"
		what += report.Either(last.ListsTests, ", listing the tests", "")
		return []styledLine{{{document.Faint, "     " + s.checkPosition(last)}, {document.Plain, last.Name + what}, {document.Faint, "  " + clockText(now.Sub(last.Ended))}}}
	}

	l := styledLine{{document.Plain, "     " + s.Activity}, {document.Faint, "  " + clockText(now.Sub(s.ActivityStarted))}}
	if text := s.usageText(); s.Activity == doesAgent && text != "" {
		l = append(l, span{document.Faint, "  " + text})
	}
	return []styledLine{append(l, s.lastDuration(s.Activity))}
}

// checkPosition returns the position of a check in the plan, as in "check 1 of 2  ".
func (s State) checkPosition(c Check) string {
	switch {
	case c.Extra:
		return doesJudge + "  "
	case s.PlannedChecks > 0:
		return fmt.Sprintf("check %d of %d  ", min(c.Number, s.PlannedChecks), s.PlannedChecks)
	}
	return ""
}

// checkLine describes a check that runs, with the tests that have ended.
func (s State) checkLine(c Check, now time.Time) styledLine {
	l := styledLine{{document.Faint, "     " + s.checkPosition(c)}, {document.Plain, c.Name}, {document.Faint, "  " + clockText(now.Sub(c.Started))}}
	if n := c.Tally.Count(); n > 0 {
		l = append(l, span{document.Plain, "  " + strconv.Itoa(n)})
		if last := s.LastTestCounts[c.Name]; last > 0 && !c.Extra {
			l = append(l, span{document.Faint, fmt.Sprintf(" of %d", last)})
		}
		l = append(l, span{document.Plain, " tests"})
	}
	if c.Tally.Failed > 0 {
		l = append(l, span{document.Bad, fmt.Sprintf(", %d failed", c.Tally.Failed)})
	}
	if c.Tally.Skipped > 0 {
		l = append(l, span{document.Faint, fmt.Sprintf(", %d skipped", c.Tally.Skipped)})
	}
	return append(l, s.lastDuration(c.Name))
}

// lastDuration says how long an activity or a check took the last time. The span is empty if that
// is unknown or less than a second.
func (s State) lastDuration(what string) span {
	if took := s.LastDurations[what]; took >= time.Second {
		return span{document.Faint, "  (last time " + clockText(took) + ")"}
	}
	return span{}
}

// usageText says what the loop has consumed, "" if that is unknown.
func (s State) usageText() string {
	var out []string
	if n := s.Budget.UsedTokens; n != nil {
		out = append(out, tokensText(*n)+" tokens")
	}
	if usd := s.Budget.UsedCost; usd != nil {
		out = append(out, fmt.Sprintf("$%.2f", *usd))
	}
	return strings.Join(out, ", ")
}

// remainingText says what the loop may still consume. It returns "" before the first iteration and
// after the last one.
func (s State) remainingText(now time.Time) string {
	if s.Iteration == 0 || s.MaxIterations == 0 || s.Part != "" {
		return ""
	}
	out := []string{report.Pluralize(max(0, s.MaxIterations-s.Iteration), "iteration", "iterations") + " after this"}
	b := s.Budget
	if !b.Deadline.IsZero() {
		out = append(out, clockText(max(0, b.Deadline.Sub(now))))
	}

	switch {
	case b.MaxCost > 0 && b.UsedCost != nil:
		out = append(out, fmt.Sprintf("$%.2f of $%g", max(0, b.MaxCost-*b.UsedCost), b.MaxCost))
	case b.MaxCost > 0:
		out = append(out, fmt.Sprintf("$%g (no cost reported)", b.MaxCost))
	}

	switch {
	case b.MaxTokens > 0 && b.UsedTokens != nil:
		out = append(out, fmt.Sprintf("%s of %s tokens", tokensText(max(0, b.MaxTokens-*b.UsedTokens)), tokensText(b.MaxTokens)))
	case b.MaxTokens > 0:
		out = append(out, tokensText(b.MaxTokens)+" tokens (none reported)")
	}

	switch {
	case b.MaxWindow > 0 && b.UsedWindow != nil:
		out = append(out, fmt.Sprintf("window %.4g%% of %g%%", max(0, b.MaxWindow-*b.UsedWindow), b.MaxWindow))
	case b.MaxWindow > 0:
		out = append(out, fmt.Sprintf("window %g%% (none reported)", b.MaxWindow))
	}
	return strings.Join(out, ", ")
}

// clockText formats a duration in seconds, as in 4s, 3m05s and 2h10m.
func clockText(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	if d < 10*time.Second {
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return report.FormatDuration(d)
}

// tokensText formats a number of tokens with at most four digits, as in 1200, 45k and 12M.
func tokensText(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n/1_000_000, 10) + "M"
}

// PercentDone estimates how much of a measurement is done, in percent, from what the checks took
// the last time. It returns false if nothing is measured.
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
