// Package restore restores a working tree and git's state to a snapshot and verifies the result. It also writes the files of
// a snapshot to other folders.
package restore
