//go:build !race

package coverage_test

const raced = false
