//go:build race

package coverage_test

// The race detector makes everything some ten times slower, and there is nothing
// concurrent in reading a report.
const raced = true
