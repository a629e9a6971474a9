// Package trace runs a program of a test, and kills it before a given one of the steps by which it changes files. It
// needs Linux.
package trace
