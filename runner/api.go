package runner

import (
	"context"
	"io"
	"time"

	"supervise/runner/internal/cast"
	"supervise/runner/internal/mask"
	"supervise/runner/internal/proc"
)

// Process names one process for good. A pid alone does so only as long as the
// process lives: then the system may give it to another one.
type Process = proc.Process

// Containment is what holds a child's tree together.
type Containment = proc.Containment

// The ways to hold a tree, after ByNothing from the strongest down.
const (
	NoContainment        = proc.NoContainment
	CgroupContainment    = proc.CgroupContainment
	SubreaperContainment = proc.SubreaperContainment
	GroupContainment     = proc.GroupContainment
)

// The errors that name processes which run on.
var (
	// ErrSurvivors: they are of the child's tree.
	ErrSurvivors = proc.ErrSurvivors
	// ErrDoubtful: they may be of the child's tree, or of a later one with the same
	// number. They have been left alone.
	ErrDoubtful = proc.ErrDoubtful
)

// CurrentProcess returns the name of the calling process. An error means that this system
// does not tell, or has no /proc mounted.
func CurrentProcess() (Process, error) { return proc.CurrentProcess() }

// KillSurvivors ends what is left of a child whose supervisor is dead, given the
// two processes that [Command].OnStart named. It is safe long after: a process
// counts as the shim or the leader only when its pid and start are the same.
// A shim that still lives is given two seconds to do its work itself. It must not
// be called while the child's Run is still going on.
//
// Names are those of the processes that were there, sorted, at most 64. The
// error wraps [ErrSurvivors] when something is left after five seconds, or when
// ctx ends, and [ErrDoubtful] when something is there that may have belonged to
// it: then everything that certainly did is gone. Any other means that the system
// does not list its processes.
//
// On Linux everything is found that the shim holds, that is in its cgroup, that
// belongs to the leader, or that has the shim's mark in its environment. A
// process without all of these, which takes that the shim is dead, that there
// were no cgroups, and that the environment was cleared, is out of reach. On macOS
// it is what the parent links and the leader's process group show.
func KillSurvivors(ctx context.Context, shim, leader Process) (names []string, err error) {
	return proc.KillSurvivors(ctx, shim, leader)
}

// IsSupervised reports whether the calling process belongs to the tree of a child of
// [Run], as far as it can be seen: on Linux by the shim above it, by the mark in
// the environments above it, and by its cgroup; on macOS by what runs above it.
func IsSupervised() bool { return proc.IsSupervised() }

// Size of a terminal that nothing else decides, in characters.
const (
	DefaultCols = cast.DefaultCols
	DefaultRows = cast.DefaultRows
)

// Cast records the output of a terminal as an asciicast of version 3.
type Cast = cast.Cast

// NewCast returns a recorder that writes to w. Where cols or rows is 0 the size
// is the default one. The clock is [time.Now] unless another is given. The
// header is written with the first event.
func NewCast(w io.Writer, cols, rows uint16, now ...func() time.Time) *Cast {
	return cast.NewCast(w, cols, rows, now...)
}

// Transcript is the file of a [Cast].
type Transcript = cast.Transcript

// DefaultTranscriptLimit is the size that a transcript may reach, in bytes.
const DefaultTranscriptLimit = cast.DefaultTranscriptLimit

// CreateTranscript creates the file at path, or empties it, for a recording of
// at most limit bytes. A limit below 1 means the default, and 1 MiB is the least.
func CreateTranscript(path string, limit int64) (*Transcript, error) {
	return cast.CreateTranscript(path, limit)
}

// Tail is a writer that keeps the last bytes written to it. The zero value
// keeps 64 KiB. It may be used from several goroutines.
type Tail = cast.Tail

// NewTail returns a Tail that keeps the last limit bytes; a limit below 1 means
// the default.
func NewTail(limit int) *Tail { return cast.NewTail(limit) }

// Secret is a text that must not be stored, and the name to write in its place.
type Secret = mask.Secret

// Masker replaces given secrets, and what looks like a key. It may be used from several
// goroutines; nil masks nothing.
type Masker = mask.Masker

// NewMasker returns a masker for the secrets and for known shapes of keys. Values shorter
// than 8 bytes are left out. Of two that begin at the same place the longer counts.
func NewMasker(secrets []Secret) *Masker { return mask.NewMasker(secrets) }
