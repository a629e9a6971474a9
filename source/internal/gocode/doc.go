// Package gocode reads Go files with Go's own parser: functions, tests, their assertions and what skips them.
package gocode
