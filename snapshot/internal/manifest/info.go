package manifest

import (
	"strconv"
	"time"
)

// ID names one snapshot of a store. It is a decimal number, counted from 1 and never reused; it is not the number of an
// iteration, since the snapshots that restores take for safety are counted too.
type ID string

// Ref returns the full name of the ref of the working files in the git directory of the store.
func (id ID) Ref() string { return "refs/iter/" + string(id) }

// Name returns the name of the snapshot for users, like s12; "" for no snapshot.
func (id ID) Name() string {
	if id == "" {
		return ""
	}
	return "s" + string(id)
}

// Seq returns the number of a snapshot, or 0 if the ID is invalid.
func Seq(id ID) int {
	n, err := strconv.Atoi(string(id))
	if err != nil || n < 1 || strconv.Itoa(n) != string(id) {
		return 0
	}
	return n
}

// Info describes one snapshot.
type Info struct {
	ID    ID
	Label string
	// Tree is the identity of the working files: two snapshots have the same Tree if and only if they contain the same
	// paths with the same types, permission bits and bytes. Git's own state and empty folders do not matter.
	Tree string
	// Files and Bytes count the working files and symbolic links that were captured and the sum of their sizes.
	Files int
	Bytes int64
	// Skipped lists the paths that could not be captured, with the reason, sorted by path.
	Skipped []Skip
	TakenAt time.Time
}

// Skip is a path that was seen and not captured.
type Skip struct {
	Path   string // relative to the root of the tree, with slashes
	Reason Reason
	Size   int64 // bytes, 0 if it is not a regular file
	Mtime  int64 // modification time in nanoseconds since 1970; 0 if unknown
}

// Reason says why a path was skipped.
type Reason string

// The reasons for which a path is skipped.
const (
	TooBig     Reason = "too big"                   // over Options.MaxFile
	OverTotal  Reason = "over the total limit"      // among the largest of a tree that is over Options.MaxTotal
	OverKept   Reason = "ignored, over the limit"   // among the largest ignored files, which are over Options.MaxIgnored
	Special    Reason = "not a regular file"        // socket, pipe or device
	Unreadable Reason = "unreadable"                // permission or input/output error
	Unstable   Reason = "changed while it was read" // three times in a row
	MountPoint Reason = "on another file system"    // folders only; their content is not scanned
	OtherDisk  Reason = "large files on another disk than the state"
	External   Reason = "git state outside this tree" // a nested .git file that leads out of the tree
)
