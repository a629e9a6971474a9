// Package disk provides what snapshots need from a file system: folders that are opened once and read without following
// links, the Stat by which changed files are recognized, durable writes, a lock, and the free space.
package disk
