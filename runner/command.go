// Package runner runs one child process, on a pseudo-terminal or on pipes, and returns
// when its entire process tree has ended, including daemons and new sessions.
//
// [Run] does not start the child directly. It starts its own program again as a shim.
// The shim starts the child, adopts orphaned descendants, and kills all of them when the
// child ends, on request, or when the supervising process dies, even by SIGKILL.
// Therefore every main function and every TestMain of a program that uses this package
// calls [ShimMain] first.
//
// On Linux the guarantee is exact: the shim is a subreaper (prctl(2)), so it has no
// child left if and only if no descendant is left. On macOS the tree is found by parent
// links, the process group and earlier process lists: an orphaned daemon that leaves its
// group between two lists escapes. Daemons that ran before the child are out of reach on
// both. On Windows Run returns an error.
//
// In the supervisor, run_unix.go has the main loop of Run, streams_unix.go and output_unix.go
// copy input and output, console_unix.go uses the terminal of the user, and link_unix.go talks
// to the shim. In the shim, shim_unix.go has the main loop, and sweep_unix.go ends the tree.
// protocol_unix.go has the messages between the two.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"supervise/internal/git"
	"supervise/internal/regexp"
	"supervise/runner/internal/proc"
)

// Command describes one child.
type Command struct {
	// Args is the argument vector. Args[0] without a slash is looked for in the
	// absolute directories of PATH in Env; with one it is relative to Dir.
	Args []string
	// Dir is the working directory of the child; empty means that of the caller.
	Dir string
	// Env is the complete environment of the child; nil means that of the caller,
	// with PWD set to Dir. On Linux SUPERVISE_TREE is added, which marks the tree.
	Env []string
	// Stdin feeds descriptor 0. The child inherits an [os.File] directly. Any other
	// reader is copied to a pipe, even if Terminal is set, since a terminal accepts no
	// line over 4 KB. Nil means the null device, or the terminal if there is one. A
	// child that reads from a terminal without a user waits forever: pass an empty
	// reader. The reader must not block forever.
	Stdin io.Reader
	// Stdout and Stderr receive the output. With a Terminal everything goes to
	// Stdout. If both are the same writer, it receives the output in order, from one
	// goroutine; different writers are called concurrently. Nil discards. If a writer
	// fails, the child continues, further output for that writer is discarded, and Run
	// returns the error.
	Stdout, Stderr io.Writer
	// Terminal gives the child a pseudo-terminal. Nil means pipes and no
	// controlling terminal at all.
	Terminal *Terminal
	// NoCgroup keeps the child in the cgroup of the caller. Otherwise it gets a separate
	// one if the system allows that. Only a cgroup finds every descendant of a child
	// that kills the shim.
	NoCgroup bool
	// Writable, unless nil, lists the only files and folders (with their contents) that
	// the child and its descendants can write, create, rename and remove. Paths that do
	// not exist at the start are ignored. It needs what [CheckLandlock] checks, and
	// disables setuid programs.
	Writable []string
	// ReadOnly are folders in which the child and its descendants can change nothing.
	// It needs what [CheckReadOnly] checks. The child of an ordinary user then runs in a
	// user namespace: setuid programs such as sudo do not work, and files of other users
	// seem to belong to the overflow user (65534).
	ReadOnly []string
	// Sandbox, unless nil, is all that the child and its descendants see. It needs what
	// [CheckSandbox] checks, and uses a user namespace in the same way as ReadOnly.
	Sandbox *Sandbox
	// User, unless nil, is the user that the child runs as, with all groups. It needs
	// root (see [LookupUser]). That user must have access to Dir and the program, and
	// owns the child's terminal.
	User *User
	// Timeout is the longest time the child may run; 0 means no limit.
	Timeout time.Duration
	// FirstOutput is the longest time until the child prints its first byte; 0
	// means no limit.
	FirstOutput time.Duration
	// Idle is the longest time the child may print nothing; 0 means no limit. Time in
	// which the user has suspended the job does not count for these three limits.
	Idle time.Duration
	// Grace says how long a stop takes.
	Grace Grace
	// KeepOpen are files that the shim keeps open until the entire tree has ended, even
	// if this process dies earlier, so that their locks (flock(2)) stay held. The child
	// does not inherit them.
	KeepOpen []*os.File
	// BeforeStart is called once, from the goroutine of Run, right before the child
	// starts. If the caller records the shim, [KillSurvivors] can find the tree even if
	// the supervisor dies at this moment. Run returns the error and starts no child.
	BeforeStart func(shim Process) error
	// OnStart is called once, from the goroutine of Run, when the child has started. If
	// the caller records both processes, [KillSurvivors] can find the tree after the
	// death of this process and the shim. No limit is checked while it runs.
	OnStart func(shim, leader Process)
	// Control pauses the child's tree while it runs; may be nil.
	Control *Control
	// OnInterrupt is called when the user asked to stop, from the goroutine of
	// Run, and must not block; usually it cancels the context. The user asks with
	// one Ctrl-C, or with two within a second if the child has put its terminal
	// into raw mode. If OnInterrupt is set, an interrupt signal sent to the calling
	// process counts as a Ctrl-C. A further Ctrl-C shortens the interrupt grace; the
	// third kills at once.
	OnInterrupt func()
	// ForwardCtrlC passes every typed Ctrl-C to the child only.
	ForwardCtrlC bool
}

// Terminal is the user's terminal, and the size of the child's.
type Terminal struct {
	// In and Out are the user's terminal, both nil if there is none. While the child
	// runs, In is in raw mode, keys go to the child, and its output is mirrored to Out.
	// An In that is not a terminal is not used; one that belongs to another foreground
	// process is used once this process is in the foreground. Without both, the child's
	// terminal starts without ONLCR on Linux, and Run adds the carriage returns.
	//
	// If the user suspends the child (Ctrl-Z, or a command of the program), Run restores
	// the terminal and stops this process with its group until its shell continues it.
	// That requires that os/signal was never asked for SIGTSTP.
	In, Out *os.File
	// Cols and Rows are the size of the child's terminal in characters. If either is 0,
	// both follow the user's terminal, or are 120×40 without one.
	Cols, Rows uint16
	// Optional runs the child on pipes, with its standard error in Stdout and without
	// mirroring, if the system has no free pseudo-terminal. See Result.NoTerminal.
	Optional bool
	// OnResize is called when the child's terminal changes its size, from a goroutine of
	// Run; the calls do not overlap.
	OnResize func(cols, rows uint16)
}

// Grace is how long a stop waits between its signals. Zero means the default, and a
// negative duration skips the step.
type Grace struct {
	Interrupt time.Duration // after SIGINT, before SIGTERM; default 2 s
	Terminate time.Duration // after SIGTERM, before SIGKILL; default 5 s
}

// withDefaults returns the grace with defaults for the durations that are 0.
func (g Grace) withDefaults() Grace {
	if g.Interrupt == 0 {
		g.Interrupt = 2 * time.Second
	}
	if g.Terminate == 0 {
		g.Terminate = 5 * time.Second
	}
	return g
}

// Result is how a child ended.
type Result struct {
	// ExitCode is the child's own; -1 when a signal ended it or it never ran.
	ExitCode int
	// Signal is the name of the signal that ended it, like "SIGKILL", else "".
	Signal string
	// Cause is why it ended.
	Cause Cause
	// NoTerminal is why the [Terminal.Optional] terminal was missing; nil if it was not.
	NoTerminal error
	// Started and Ended are the times of the child itself, without the cleanup.
	Started, Ended time.Time
	// Containment is how its tree was held together.
	Containment Containment
	// Leftovers are the sorted names of the descendants that still ran when the child
	// ended. They have been killed.
	Leftovers []string
	// RefusedHosts are the first hosts that the sandbox refused, in order.
	RefusedHosts []string
}

// Cause is why a child ended.
type Cause uint8

// The causes. If Run itself stopped the child, the first reason counts.
const (
	NotStarted  Cause = iota // it never ran
	Exited                   // it ended by itself
	Stopped                  // the context ended
	TimedOut                 // Timeout passed
	NoOutput                 // FirstOutput passed without any output
	WentIdle                 // Idle passed without output
	Interrupted              // the user pressed Ctrl-C again, and the context had not ended
	Attacked                 // a process of its tree killed the shim, or stopped it repeatedly
)

var causeNames = [...]string{
	NotStarted: "not_started", Exited: "exited", Stopped: "stopped",
	TimedOut: "timed_out", NoOutput: "no_output", WentIdle: "went_idle", Interrupted: "interrupted", Attacked: "attacked",
}

// String returns the name of the cause, like "timed_out".
func (c Cause) String() string {
	if int(c) >= len(causeNames) {
		return fmt.Sprintf("cause(%d)", uint8(c))
	}
	return causeNames[c]
}

// MarshalText returns the name of the cause; it never fails.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name of a cause.
func (c *Cause) UnmarshalText(text []byte) error {
	i := slices.Index(causeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("read cause of an end: %q is none", text)
	}
	*c = Cause(i)
	return nil
}

// ErrNotFound is wrapped by errors about a missing program. It wraps [exec.ErrNotFound].
var ErrNotFound = fmt.Errorf("no such program: %w", exec.ErrNotFound)

// ErrUnstartable is wrapped by errors that are the fault of the command: its program or
// working directory is missing, of the wrong type, or not accessible.
var ErrUnstartable = errors.New("the command cannot be started")

// unstartableError marks an error as [ErrUnstartable] without changing its text.
type unstartableError struct{ error }

// Unwrap returns the error without the mark.
func (u unstartableError) Unwrap() error { return u.error }

// Is reports whether the target is [ErrUnstartable].
func (unstartableError) Is(target error) bool { return target == ErrUnstartable }

var errNoArgs = errors.New("start child: no command given")

// Run starts the child and returns when it and all its descendants have ended and
// its output has been written. When ctx ends, or a limit of c is passed, Run sends
// SIGINT, then SIGTERM, and then kills the tree; [Grace] says when.
//
// An error means that the child could not be started (it may wrap [ErrNotFound] or the
// cause of ctx), that a writer failed, or that the supervision itself failed. How a
// child ended is never an error.
func Run(ctx context.Context, c Command) (Result, error) {
	none := Result{ExitCode: -1}
	if len(c.Args) == 0 || c.Args[0] == "" {
		return none, errNoArgs
	}
	if ctx.Err() != nil {
		return none, fmt.Errorf("start %s: %w", c.Args[0], context.Cause(ctx))
	}
	c.Grace = c.Grace.withDefaults()
	defer git.TrackProgram()()
	return run(ctx, c)
}

// isShim reports whether this process was started as a shim.
func isShim() bool { return len(os.Args) > 0 && os.Args[0] == proc.ShimName }

// ShimMain acts as the shim and exits if this process was started as one; otherwise it
// returns at once. Call it first in main and in every TestMain of a program that calls
// Run.
func ShimMain() {
	if isShim() {
		os.Exit(serveShim())
	}
}

// bareWordRE matches words that need no quotes in a shell, like ./a-b_c.sh.
var bareWordRE = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellQuote joins words with spaces, and quotes those that need it for a POSIX shell.
func ShellQuote(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if !bareWordRE.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
