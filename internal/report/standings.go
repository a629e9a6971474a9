package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
)

// Standings is the table of candidates, the best first: of each what it is compared by, and
// why it has its place. What is not known is a dash.
func Standings(list []ledger.Standing, paint document.Paint) string {
	rows := standingRows(list)
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	var out []string
	for n, row := range rows {
		for i := range row {
			row[i] += strings.Repeat(" ", width[i]-len(row[i]))
		}
		line := strings.TrimRight(strings.Join(row, "  "), " ")
		if n == 0 {
			out = append(out, paint(document.Strong, line))
			continue
		}
		s := list[n-1]
		if s.Chosen {
			line = paint(document.Good, line+"  ← chosen")
		}
		out = append(out, line)
		for _, text := range append([]string{s.Why}, Remarks(s)...) {
			out = append(out, "     "+paint(document.Faint, text))
		}
	}
	return strings.Join(out, "\n")
}

// standingRows are the cells of the table, with its head.
func standingRows(list []ledger.Standing) [][]string {
	rows := [][]string{{"candidate", "did it", "agree", "power", "score", "lines", "cost", "agent"}}
	for _, s := range list {
		did := "no"
		if s.Eligible {
			did = "yes"
		}
		cost := notMeasured
		switch {
		case s.CostUSD != nil:
			cost = fmt.Sprintf("$%.2f", *s.CostUSD)
		case s.Tokens != nil:
			cost = fmt.Sprintf("%d tokens", *s.Tokens)
		}
		rows = append(rows, []string{fmt.Sprint(s.Candidate), did, part(s.Agreement), part(s.Power), fmt.Sprintf("%.1f", 100*s.Score), fmt.Sprint(s.Lines), cost, agentName(s.Agent)})
	}
	return rows
}

// Remarks are what a person has to know of a candidate besides its place.
func Remarks(s ledger.Standing) (out []string) {
	if s.Before > 0 {
		out = append(out, fmt.Sprintf("%d of its %s pass over the baseline already", s.Before, Count(s.Own, "new test", "new tests")))
	}
	if s.Disputed > 0 {
		out = append(out, fmt.Sprintf("%d of its %s fail over most others", s.Disputed, Count(s.Own, "new test", "new tests")))
	}
	for _, author := range slices.Sorted(maps.Keys(s.Failed)) {
		out = append(out, fmt.Sprintf("fails tests of candidate %d: %s", author, strings.Join(Cut(s.Failed[author], 3), ", ")))
	}
	return out
}

func part(v *float64) string {
	if v == nil {
		return notMeasured
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}

func agentName(command []string) string {
	const most = 40
	text := strings.Join(command, " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
