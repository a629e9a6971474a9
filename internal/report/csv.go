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

// csvColumn is a column of the table of all iterations. value returns the text of a cell.
type csvColumn struct {
	name  string
	value func(Loop, csvRow) string
}

// csvRow is an iteration, and the same iteration as the selector sees it.
type csvRow struct {
	it        ledger.Iteration
	candidate selector.Candidate
}

// csvColumns are the columns of [WriteCSV]. A missing value is empty, never 0.
var csvColumns = slices.Concat(
	[]csvColumn{
		{"iteration", func(_ Loop, r csvRow) string { return strconv.Itoa(r.it.Number) }},
		{"timestamp", func(_ Loop, r csvRow) string { return r.it.EndedAt.UTC().Format(time.RFC3339) }},
		{"quality_score", func(_ Loop, r csvRow) string { return csvNumberText(r.it.Quality()) }},
	},
	dimensionColumns(),
	metricColumns(metric.TestCount, metric.TestsPassed, metric.TestsFailed, metric.TestsSkipped, metric.CoveragePct, metric.ErrorCount),
	[]csvColumn{
		{"tokens_used", func(_ Loop, r csvRow) string {
			if r.candidate.Tokens == nil {
				return ""
			}
			return strconv.FormatInt(*r.candidate.Tokens, 10)
		}},
		{"token_cost_usd", func(_ Loop, r csvRow) string { return csvNumberText(r.candidate.CostUSD) }},
		{"execution_time_ms", func(_ Loop, r csvRow) string {
			if r.candidate.Duration == nil {
				return ""
			}
			return strconv.FormatInt(r.candidate.Duration.Milliseconds(), 10)
		}},
		{"classification", func(_ Loop, r csvRow) string { return r.it.Assessment.Class.String() }},
		{"verified", func(_ Loop, r csvRow) string { return strconv.FormatBool(r.it.Verified) }},
		{"eligible", func(v Loop, r csvRow) string {
			return strconv.FormatBool(r.it.Number > 0 && !slices.Contains(v.Choice.Ineligible, r.it.Number))
		}},
		{"best", func(v Loop, r csvRow) string { return strconv.FormatBool(r.it.Number == v.Choice.Iteration) }},
	},
)

// dimensionColumns returns a column for each dimension of the score.
func dimensionColumns() []csvColumn {
	var out []csvColumn
	for _, name := range selector.DimensionNames() {
		out = append(out, csvColumn{name, func(_ Loop, r csvRow) string {
			for _, d := range r.it.Score.Dimensions {
				if d.Name == name && d.Measured {
					share := d.Score / 100
					return csvNumberText(&share)
				}
			}
			return ""
		}})
	}
	return out
}

// metricColumns returns a column for each of the metrics.
func metricColumns(fields ...metric.Field) []csvColumn {
	var out []csvColumn
	for _, f := range fields {
		out = append(out, csvColumn{string(f), func(_ Loop, r csvRow) string {
			v, ok := r.it.Set.Value(f)
			if !ok {
				return ""
			}
			return csvNumberText(&v)
		}})
	}
	return out
}

// csvNumberText formats a number with at most six decimals, and nil as "".
func csvNumberText(v *float64) string {
	if v == nil {
		return ""
	}
	text := strconv.FormatFloat(*v, 'f', 6, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// WriteCSV writes one row for each iteration, the baseline first. Scores and dimensions are in
// [0,1].
func WriteCSV(w io.Writer, v Loop) error {
	table := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		row[i] = c.name
	}
	err := table.Write(row)
	for n, c := range ledger.Candidates(v.Iterations, nil) {
		for i, column := range csvColumns {
			row[i] = column.value(v, csvRow{v.Iterations[n], c})
		}
		if err == nil {
			err = table.Write(row)
		}
	}
	if table.Flush(); err == nil {
		err = table.Error()
	}
	if err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}
