//go:build !unix

package projectfile

const nonblock = 0 // files are never pipes
