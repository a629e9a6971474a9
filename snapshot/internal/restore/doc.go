// Package restore brings a working tree and git's state to what a snapshot holds, checks the result, and writes the files
// of a snapshot into other folders.
package restore
