// Package disk is what snapshots need of a file system: folders that are opened once and read below without following
// links, the facts by which a changed file is recognised, durable writes, a lock, and the free space.
package disk
