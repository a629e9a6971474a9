package runner

import (
	"context"
	"io"
	"time"

	"supervise/runner/internal/cast"
	"supervise/runner/internal/mask"
	"supervise/runner/internal/proc"
)

// Process identifies one process permanently. The system may reuse a pid alone.
type Process = proc.Process

// Containment is what holds a child's tree together.
type Containment = proc.Containment

// The ways to hold a tree, after NoContainment from the strongest down.
const (
	NoContainment        = proc.NoContainment
	CgroupContainment    = proc.CgroupContainment
	SubreaperContainment = proc.SubreaperContainment
	GroupContainment     = proc.GroupContainment
)

// The errors about processes that still run.
var (
	// ErrSurvivors: they belong to the child's tree.
	ErrSurvivors = proc.ErrSurvivors
	// ErrDoubtful: they may belong to the child's tree, or to a later one with the same
	// number. They have not been killed.
	ErrDoubtful = proc.ErrDoubtful
)

// CurrentProcess identifies the calling process. The error means that this system cannot
// do that, or has no /proc mounted.
func CurrentProcess() (Process, error) { return proc.CurrentProcess() }

// KillSurvivors kills the remaining processes of a child whose supervisor is dead, given
// the two processes that [Command].OnStart received. It is safe at any later time, since
// it compares the start of a process as well as its pid. A shim that still runs first has
// two seconds to do this itself. Do not call it while the child's Run still runs.
//
// It returns the sorted names of the processes that it found, at most 64. The error wraps
// [ErrSurvivors] if some are left after five seconds, or when ctx ends, and [ErrDoubtful]
// if others may have belonged to the child. Any other error means that the system does
// not list its processes.
//
// On Linux it finds the descendants of the shim, the members of its cgroup and of the
// leader's session, and processes with the shim's mark in their environment. On macOS it
// finds processes by parent links and by the leader's process group.
func KillSurvivors(ctx context.Context, shim, leader Process) (names []string, err error) {
	return proc.KillSurvivors(ctx, shim, leader)
}

// IsSupervised reports whether the calling process belongs to the tree of a child of
// [Run]: on Linux by its ancestors, their environments, and its cgroup; on macOS by its
// ancestors.
func IsSupervised() bool { return proc.IsSupervised() }

// Getenv returns the last value of a variable in an environment, which is the one that a
// child gets.
func Getenv(env []string, name string) string { return proc.LastValue(env, name) }

// The default size of a terminal, in characters.
const (
	DefaultCols = cast.DefaultCols
	DefaultRows = cast.DefaultRows
)

// Cast records the output of a terminal as an asciicast of version 3.
type Cast = cast.Cast

// NewCast returns a recorder that writes to w. If cols or rows is 0, the default size is
// used. The clock defaults to [time.Now]. The header is written with the first event.
func NewCast(w io.Writer, cols, rows uint16, now ...func() time.Time) *Cast {
	return cast.NewCast(w, cols, rows, now...)
}

// Transcript is the file of a [Cast].
type Transcript = cast.Transcript

// DefaultTranscriptLimit is the default limit of a transcript, in bytes.
const DefaultTranscriptLimit = cast.DefaultTranscriptLimit

// CreateTranscript creates or empties the file at path for a recording of at most limit
// bytes. A limit below 1 means the default; the minimum is 1 MiB.
func CreateTranscript(path string, limit int64) (*Transcript, error) {
	return cast.CreateTranscript(path, limit)
}

// Tail is a writer that keeps the last bytes written to it. The zero value
// keeps 64 KiB. It may be used from several goroutines.
type Tail = cast.Tail

// NewTail returns a Tail that keeps the last limit bytes. A limit below 1 means the
// default.
func NewTail(limit int) *Tail { return cast.NewTail(limit) }

// Secret is a text that must not be stored, and the name that replaces it.
type Secret = mask.Secret

// Masker replaces given secrets, and texts that look like a key. It may be used from
// several goroutines; nil masks nothing.
type Masker = mask.Masker

// NewMasker returns a masker for the secrets and for known shapes of keys. It ignores
// values shorter than 8 bytes. If two start at the same place, the longer one is replaced.
func NewMasker(secrets []Secret) *Masker { return mask.NewMasker(secrets) }
