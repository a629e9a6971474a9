package snapshot

import (
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/restore"
)

// ID names one snapshot of a store. It is a decimal number, counted from 1 and never reused; it is not the number of an
// iteration, since the snapshots that restores take for safety are counted too.
type ID = manifest.ID

// DisplacedName is the folder of a store with files that were in the way of a restore and are in no snapshot.
const DisplacedName = restore.DisplacedName

// Info describes one snapshot.
type Info = manifest.Info

// Skip is a path that was seen and not captured.
type Skip = manifest.Skip

// Reason says why a path was skipped.
type Reason = manifest.Reason

// The reasons for which a path is skipped.
const (
	TooBig     = manifest.TooBig
	OverTotal  = manifest.OverTotal
	OverKept   = manifest.OverKept
	Special    = manifest.Special
	Unreadable = manifest.Unreadable
	Unstable   = manifest.Unstable
	MountPoint = manifest.MountPoint
	OtherDisk  = manifest.OtherDisk
	External   = manifest.External
)

// Restored is the result of a restore.
type Restored = restore.Restored

// Mismatch is a path that differs from the target of a restore.
type Mismatch = restore.Mismatch

// The minimum free disk space if Options.MinFree is zero: the larger of the two.
const (
	DefaultMinFree = disk.DefaultMinFree
	MinFreePercent = disk.MinFreePercent
)

var (
	// ErrNoSpace is returned when a snapshot would leave less than Options.MinFree of the disk, or when the disk is full.
	// No snapshot was made then, and no partial data remains.
	ErrNoSpace = disk.ErrNoSpace
	// ErrBusy is returned when another process is changing the same store.
	ErrBusy = disk.ErrBusy
)
