//go:build !race

package parsers_test

const raced = false
