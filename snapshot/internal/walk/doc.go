// Package walk goes through a working tree in parallel, never through symbolic links and never onto another file system.
package walk
