// Package walk walks a working tree in parallel. It never follows symbolic links, and never
// enters another file system.
//
// A [Walker] lists a folder, calls Visit with its nodes, and then enters the subfolders for
// which Visit has set a zone.
package walk
