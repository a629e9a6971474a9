// Package manifest defines the list of everything in one snapshot, encodes it as a file, and writes the git trees made
// from it.
package manifest
