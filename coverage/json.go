package coverage

import (
	"errors"
	"fmt"
	"io"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

// jsonReport returns a function that reads a report in JSON, in which the tool counts
// lines. It passes each document to read. What is needed is what a report cannot be
// without: read clears c.needs when it finds it.
func jsonReport(needs string, read func(*collector, *jsonstream.Reader) error) func(io.Reader) (Report, error) {
	return func(r io.Reader) (Report, error) {
		c := newCollector(metric.Lines)
		c.required = needs
		return c.finish(c.documents(r, func(j *jsonstream.Reader) error { return read(c, j) }))
	}
}

// documents reads a report in JSON: f takes each of its documents.
func (c *collector) documents(r io.Reader, f func(*jsonstream.Reader) error) (err error) {
	c.noise, err = jsonstream.ReadDocuments(r, f)
	if _, syntax := errors.AsType[*SyntaxError](err); err != nil && !syntax {
		err = fmt.Errorf("read report: %w", err)
	}
	return err
}

// jsonRatio is how JSON reports write a ratio. Numbers may be "Unknown".
type jsonRatio struct {
	Total   int64 `json:"total"`
	Covered int64 `json:"covered"`
}

// ratio returns the numbers, and whether they can be true.
func (c jsonRatio) ratio() (metric.Ratio, bool) {
	return metric.Ratio{Covered: c.Covered, Total: c.Total}, c.Covered >= 0 && c.Covered <= c.Total
}
