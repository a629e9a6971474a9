package worktree

import "os"

// Tree is the working tree that the snapshots of a store are of.
type Tree struct {
	Work     string   // absolute, without symbolic links
	Root     *os.Root // the folder, opened
	External External // its git folder, if that lies outside of it
	Excludes Excludes
}
