// Package manifest is the list of everything that one snapshot holds, in memory and in its file, and the git trees made
// from it.
package manifest
