// Package pool keeps the object files of a repository as hard links or copies, so that pruned or deleted commits can be
// restored.
package pool
