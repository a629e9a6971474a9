// Package gocode reads Go files with Go's own parser: their functions, and the tests with
// their assertions and skips.
package gocode
