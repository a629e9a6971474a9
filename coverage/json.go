package coverage

import (
	"errors"
	"fmt"
	"io"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

// jsonReport returns a Parse function for a JSON report that counts lines. It calls read for
// each JSON document. needs names a required member: read clears c.required when it finds it.
func jsonReport(needs string, read func(*collector, *jsonstream.Reader) error) func(io.Reader) (Report, error) {
	return func(r io.Reader) (Report, error) {
		c := newCollector(metric.Lines)
		c.required = needs
		return c.finish(c.documents(r, func(j *jsonstream.Reader) error { return read(c, j) }))
	}
}

// documents calls f for each JSON document in r.
func (c *collector) documents(r io.Reader, f func(*jsonstream.Reader) error) (err error) {
	c.noise, err = jsonstream.ReadDocuments(r, f)
	if _, syntax := errors.AsType[*SyntaxError](err); err != nil && !syntax {
		err = fmt.Errorf("read report: %w", err)
	}
	return err
}

// jsonRatio is a ratio in a JSON report.
type jsonRatio struct {
	Total   int64 `json:"total"`
	Covered int64 `json:"covered"`
}

// ratio returns the ratio, and whether it is valid.
func (c jsonRatio) ratio() (metric.Ratio, bool) {
	return metric.Ratio{Covered: c.Covered, Total: c.Total}, c.Covered >= 0 && c.Covered <= c.Total
}
