package coverage

import (
	"errors"
	"fmt"
	"io"

	"supervise/internal/jsonstream"
	"supervise/metric"
)

// documents reads a report in JSON: f takes each of its documents.
func (c *collector) documents(r io.Reader, f func(*jsonstream.Reader) error) (err error) {
	c.noise, err = jsonstream.Documents(r, f)
	if _, syntax := errors.AsType[*SyntaxError](err); err != nil && !syntax {
		err = fmt.Errorf("read report: %w", err)
	}
	return err
}

// counted is how JSON reports write a ratio. Numbers may be "Unknown".
type counted struct {
	Total   int64 `json:"total"`
	Covered int64 `json:"covered"`
}

// ratio returns the numbers, and whether they can be true.
func (c counted) ratio() (metric.Ratio, bool) {
	return metric.Ratio{Covered: c.Covered, Total: c.Total}, c.Covered >= 0 && c.Covered <= c.Total
}
