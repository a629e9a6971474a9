// Package mask replaces secrets in text and in streams: those that are given, and what
// has the known shape of a key.
package mask
