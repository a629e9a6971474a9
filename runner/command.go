// Package runner runs one child, on a pseudo-terminal or on pipes, and returns
// when nothing of it is left: not its process group, not what it put into
// sessions of its own, not what it made a daemon of.
//
// [Run] does not start the child itself. It starts its own program again as a
// shim, which starts the child, adopts every descendant whose parent ends, and
// kills them all when the child ends, on request, or when the
// supervising process dies, even by SIGKILL. Therefore every main function and
// every TestMain of a program that uses this package calls [ShimMain] first.
//
// On Linux the guarantee is exact: the shim is a subreaper (prctl(2)), so it
// has no child left if and only if no descendant is left. macOS has no such
// thing: there the tree is what the parent links, the process group and what
// was seen earlier show, so a daemon that was orphaned and left its group
// between two looks escapes. What already ran before the child started, and
// what the child asks such a daemon to do, is out of reach on both. On Windows
// Run returns an error.
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
	// Env is the whole environment of the child; nil means that of the caller,
	// with PWD set to Dir. On Linux SUPERVISE_TREE is added, which marks the tree.
	Env []string
	// Stdin feeds descriptor 0. An [os.File] is handed to the child as it is; of
	// any other reader the bytes arrive through a pipe that is closed at their
	// end, also when Terminal is set (a terminal takes no line over 4 KB). Nil
	// means the null device, or the terminal when there is one. A child on a
	// terminal that nobody types into waits for ever when it reads: give it an
	// empty reader. The reader must not block for ever.
	Stdin io.Reader
	// Stdout and Stderr receive the output. With a Terminal everything goes to
	// Stdout. One writer given twice receives both in the order of the writing
	// and is called from one goroutine; two different ones are called
	// concurrently. Nil discards. When one of them returns an error the child
	// goes on, the rest for that writer is discarded, and Run returns the error.
	Stdout, Stderr io.Writer
	// Terminal gives the child a pseudo-terminal. Nil means pipes and no
	// controlling terminal at all.
	Terminal *Terminal
	// NoCgroup keeps the child in the cgroup of the caller. Otherwise it gets one of
	// its own where the system allows that, which is the only way to find whatever
	// it leaves behind when it kills the shim.
	NoCgroup bool
	// Writable, unless nil, are the only files and folders, with what is beneath
	// them, that the child and its descendants can write, create, rename and remove;
	// of those that do not exist when it starts none can. It needs what
	// [CheckLandlock] asks for, and keeps the child from gaining rights by setuid.
	Writable []string
	// ReadOnly are folders in which the child and its descendants can change nothing,
	// though everything else is as the user has it. It needs what [CheckReadOnly] asks for.
	// As an ordinary user the child is in a user namespace then: setuid programs such
	// as sudo do not work, and files of others seem to belong to nobody.
	ReadOnly []string
	// Sandbox, unless nil, is all that the child and its descendants see; it needs what
	// [CheckSandbox] asks for, and for an ordinary user it means what ReadOnly does.
	Sandbox *Sandbox
	// User, unless nil, is whom the child runs as, with all of its groups; it needs
	// root (see [LookupUser]). Dir and the program must be in that user's reach. A
	// terminal of the child belongs to that user.
	User *User
	// Timeout is the longest time the child may run; 0 means no limit.
	Timeout time.Duration
	// FirstOutput is the longest time until the child prints its first byte; 0
	// means no limit.
	FirstOutput time.Duration
	// Idle is the longest time the child may print nothing; 0 means no limit. Of
	// these three no time counts in which the user has suspended the job.
	Idle time.Duration
	// Grace says how long a stop takes.
	Grace Grace
	// KeepOpen are files that stay open until nothing of the child is left, even when
	// this process dies before: with their locks (flock(2)) nobody else can begin
	// while the tree is being ended. The child does not get them.
	KeepOpen []*os.File
	// BeforeStart is called once, from the goroutine of Run, right before the child
	// is started, with the process that will watch its tree. Written down, that
	// lets [KillSurvivors] find what a supervisor leaves that dies at this very
	// moment. An error keeps the child from being started and is that of Run.
	BeforeStart func(shim Process) error
	// OnStart is called once, from the goroutine of Run, when the child has
	// started, with the process that watches the tree and the child itself:
	// written down, they let [KillSurvivors] clear up after the death of both this
	// process and the shim. Nothing is stopped or timed while it runs.
	OnStart func(shim, leader Process)
	// Control pauses the child's tree while it runs; nil for nobody.
	Control *Control
	// OnInterrupt is called when the user asked to stop, from the goroutine of
	// Run, and must not block; usually it cancels the context. The user asks with
	// one Ctrl-C, or with two within a second when the child has put its terminal
	// into raw mode and the key may mean something to it. Where OnInterrupt is
	// set, an interrupt signal sent to the calling process counts as a Ctrl-C.
	// A further Ctrl-C cuts the interrupt grace short; the third kills at once.
	OnInterrupt func()
	// ForwardCtrlC leaves every Ctrl-C that is typed to the child alone, however often.
	ForwardCtrlC bool
}

// Terminal is the user's terminal, and the size of the child's.
type Terminal struct {
	// In and Out are the user's terminal, both nil when there is none; on Linux the
	// child's begins without ONLCR then, and Run adds the carriage returns. While the
	// child runs, In is in raw mode and what is typed goes to the child; what the
	// child prints is mirrored to Out. An In that is no terminal is left alone, as
	// is one of which this process is not in the foreground, until it is. When the
	// user stops the child by Ctrl-Z, or by what the program has for that, the
	// terminal is given back and this process stops with its group until its shell
	// continues it. For that to work nothing may ever have asked os/signal for
	// SIGTSTP.
	In, Out *os.File
	// Cols and Rows are the size of the child's terminal in characters. Where
	// either is 0 both follow the user's terminal, or are 120×40 without one.
	Cols, Rows uint16
	// Optional has the child run on pipes, with its standard error in Stdout,
	// where the system has no pseudo-terminal to give: /dev/ptmx is missing, or all
	// are taken. What it prints is not mirrored then. See Result.NoTerminal.
	Optional bool
	// OnResize is called when the child's terminal gets another size, from a
	// goroutine of Run; the calls do not overlap.
	OnResize func(cols, rows uint16)
}

// Grace is how long a stop waits after asking before it insists. Zero means the
// default, a negative duration that the step is left out.
type Grace struct {
	Interrupt time.Duration // after SIGINT, before SIGTERM; default 2 s
	Terminate time.Duration // after SIGTERM, before SIGKILL; default 5 s
}

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
	// NoTerminal is why the child had none although it should; nil when it had, or
	// was to have none.
	NoTerminal error
	// Started and Ended frame the life of the child itself, without the clearing
	// up after it.
	Started, Ended time.Time
	// Containment is what held its tree.
	Containment Containment
	// Leftovers are the names of the descendants that still ran when the child
	// ended, sorted. They are gone now.
	Leftovers []string
	// RefusedHosts are hosts that the sandbox kept the child from, in the order of asking; not
	// all where there are many.
	RefusedHosts []string
}

// Cause is why a child ended.
type Cause uint8

// The causes. When Run itself stopped the child, the first reason it had counts.
const (
	NotStarted  Cause = iota // it never ran
	Exited                   // by itself
	Stopped                  // the context ended
	TimedOut                 // Timeout passed
	NoOutput                 // FirstOutput passed without any output
	WentIdle                 // Idle passed without output
	Interrupted              // the user insisted on it, and the context had not ended
	Attacked                 // something of its tree killed the shim, or stopped it again and again
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

// ErrNotFound is in the chain of Run's error when there is no such program as
// Args[0]. It wraps [exec.ErrNotFound].
var ErrNotFound = fmt.Errorf("no such program: %w", exec.ErrNotFound)

// ErrUnstartable is in the chain of Run's error when the fault is the command's: its
// program or folder is not there, is none, or may not be used. Other errors of a
// start are the machine's.
var ErrUnstartable = errors.New("the command cannot be started")

// unstartableError marks an error as [ErrUnstartable] and leaves its text alone.
type unstartableError struct{ error }

func (u unstartableError) Unwrap() error { return u.error }

// Is reports whether the target is [ErrUnstartable].
func (unstartableError) Is(target error) bool { return target == ErrUnstartable }

var errNoArgs = errors.New("start child: no command given")

// Run starts the child and returns when it and all its descendants are gone and
// its output has been written. When ctx ends, or a limit of c is passed, the
// child is asked to end by SIGINT, then by SIGTERM, and then everything is
// killed; [Grace] says when.
//
// An error means that the child could not be started (with [ErrNotFound] or the
// cause of ctx in its chain where that is why), that a writer failed, or that
// the supervision itself broke; how a child ended is never an error.
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

func isShim() bool { return len(os.Args) > 0 && os.Args[0] == proc.ShimName }

// ShimMain acts as the shim and exits if this process was started as one;
// otherwise it returns at once. It has to be called first in main and in every
// TestMain of a program that calls Run.
func ShimMain() {
	if isShim() {
		os.Exit(serveShim())
	}
}

// bareWordRE is what every shell takes as it is.
var bareWordRE = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// ShellQuote joins words so that a POSIX shell reads them as they are.
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
