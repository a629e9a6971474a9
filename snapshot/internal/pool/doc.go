// Package pool keeps the object files of a repository as hard links or copies, so that commits
// that were pruned or deleted can be restored.
//
// Each object database has a [Pool]. Gather adds new object files when a snapshot is taken,
// Restore writes missing ones to the database, and Prune removes those that no snapshot needs.
package pool
