package snapshot

import "os"

// tree is the working tree that the snapshots of a store are of.
type tree struct {
	work     string   // absolute, without symbolic links
	root     *os.Root // the folder, opened
	external external // its git folder, if that lies outside of it
	excludes excludes
}
