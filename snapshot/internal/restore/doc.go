// Package restore restores a working tree and git's state to a snapshot, and verifies the
// result. It also writes the files of a snapshot to other folders.
//
// [Restorer] (restorer.go) restores the parts of the tree one after another. For each part,
// plan.go compares the current entries with the wanted ones, and an applier (apply.go,
// hardlinks.go) executes the plan. interrupted.go recognizes changes after an interrupted
// restore, and exporter.go writes to other folders.
package restore
