// Package cast records the output of a terminal as an asciicast, in a file of bounded size,
// and keeps the end of a program's output in memory.
package cast
