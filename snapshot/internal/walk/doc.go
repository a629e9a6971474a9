// Package walk walks a working tree in parallel. It never follows symbolic links and never enters another file system.
package walk
