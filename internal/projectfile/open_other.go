//go:build !unix

package projectfile

const nonblock = 0 // there are no pipes among files
