// Package pool keeps the object files of a repository as hard links (or copies), so that commits that were pruned or
// deleted can come back.
package pool
