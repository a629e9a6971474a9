// Package gocode reads Go files with Go's own parser: their functions, and the tests with their
// assertions and skips.
//
// [Read] returns both. gotest.go finds the tests and subtests of a test file. For each of them,
// goskip.go finds the conditions under which it skips itself, and goassert.go finds the failures
// it can report.
package gocode
