package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

// csvCell is the value of a column in one row.
type csvCell struct {
	column string
	value  any
}

// csvMetrics are the metrics that have a column.
var csvMetrics = []metric.Field{
	metric.TestCount, metric.TestsPassed, metric.TestsFailed, metric.TestsSkipped, metric.CoveragePct, metric.ErrorCount,
}

// csvCells returns the row of an iteration, and of the same iteration as the selector sees it.
func csvCells(v Loop, it ledger.Iteration, c selector.Candidate) []csvCell {
	out := []csvCell{
		{"iteration", it.Number}, {"timestamp", it.EndedAt.UTC().Format(time.RFC3339)}, {"quality_score", it.Quality()},
	}
	for _, name := range selector.DimensionNames() {
		out = append(out, csvCell{name, dimensionShare(it.Score, name)})
	}
	for _, f := range csvMetrics {
		out = append(out, csvCell{string(f), valueOf(&it.Set, f)})
	}
	return append(out, []csvCell{
		{"tokens_used", c.Tokens},
		{"token_cost_usd", c.CostUSD},
		{"execution_time_ms", c.Duration},
		{"classification", it.Assessment.Class},
		{"verified", it.Verified},
		{"eligible", it.Number > 0 && !slices.Contains(v.Choice.Ineligible, it.Number)},
		{"best", it.Number == v.Choice.Iteration},
	}...)
}

// dimensionShare returns a dimension of a score in [0,1], nil if it was not measured.
func dimensionShare(s selector.Score, name string) *float64 {
	for _, d := range s.Dimensions {
		if d.Name == name && d.Measured {
			return new(d.Score / 100)
		}
	}
	return nil
}

// text returns the value as text: a number has at most six decimals, and nil is "", never 0.
func (c csvCell) text() string {
	switch v := c.value.(type) {
	case *float64:
		if v != nil {
			return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(*v, 'f', 6, 64), "0"), ".")
		}
	case *int64:
		if v != nil {
			return strconv.FormatInt(*v, 10)
		}
	case *time.Duration:
		if v != nil {
			return strconv.FormatInt(v.Milliseconds(), 10)
		}
	default:
		return fmt.Sprint(v)
	}
	return ""
}

// WriteCSV writes one row for each iteration, the baseline first. Scores and dimensions are in
// [0,1].
func WriteCSV(w io.Writer, v Loop) error {
	var rows [][]string
	addRow := func(cells []csvCell, text func(csvCell) string) {
		var row []string
		for _, c := range cells {
			row = append(row, text(c))
		}
		rows = append(rows, row)
	}
	addRow(csvCells(v, ledger.Iteration{}, selector.Candidate{}), func(c csvCell) string { return c.column })
	for i, c := range ledger.Candidates(v.Iterations, nil) {
		addRow(csvCells(v, v.Iterations[i], c), csvCell.text)
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}
