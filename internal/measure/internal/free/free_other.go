//go:build !linux

// Package free tells what of the machine may still be used.
package free

// Memory is not known here.
func Memory() (bytes int64, known bool) { return 0, false }
