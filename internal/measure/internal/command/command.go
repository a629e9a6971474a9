// Package command runs the commands of checks, each with a private folder for its reports.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/git"
	"supervise/internal/measure/internal/checks"
	"supervise/internal/measure/internal/printed"
	"supervise/internal/measure/internal/reportfile"
	"supervise/runner"
)

// DefaultMaxOutput limits how much of each output of a check is kept on disk, in bytes.
const DefaultMaxOutput = 512 << 20

// DefaultTimeout is the time limit of a check without one.
const DefaultTimeout = 30 * time.Minute

// Runner runs the commands of the checks of a tree. It may be used concurrently.
type Runner struct {
	Root        string                            // absolute path of the tree
	Scratch     string                            // folder for the private folders; "" is that of the system
	User        *runner.User                      // the user of the checks, who must have access to Scratch; nil: that of this process
	Env         []string                          // environment of the checks; nil: that of this process
	Watch       func(checks.Check) io.WriteCloser // returns a writer that gets the output of a check; may be nil
	Hold        []*os.File                        // see KeepOpen of [runner.Command]
	BeforeStart func(shim runner.Process) error   // see [runner.Command]
	MaxOutput   int64                             // bytes kept of each output of a check; 0 is [DefaultMaxOutput]
}

// Attempt is one execution of a check whose reports are not read yet.
type Attempt struct {
	Check            checks.Check // with its private folder filled in
	Dir              string       // the private folder
	Started          time.Time    // files older than this are not from this attempt
	Output           *printed.Output
	Follow           func(io.Reader) // receives the output while it is printed; may be nil
	Run              checks.Run
	HasUnreadReports bool // reports are left that may count
	Err              error
}

// Release closes the outputs of the attempt and removes its folder.
func (a *Attempt) Release() {
	if a.Output != nil {
		a.Output.Close()
	}
	if a.Dir != "" {
		_ = os.RemoveAll(a.Dir) // the next start cleans the scratch folder
	}
}

// Run prepares and runs the command of the attempt, and records how it ended. A command that
// cannot start or fails is recorded in a.Run; the error is that of ctx, or a fault of the machine.
func (r *Runner) Run(ctx context.Context, a *Attempt) (err error) {
	if a.Dir, err = r.newPrivateDir(); err != nil {
		return err
	}
	if err := errors.Join(a.Check.WriteFiles(a.Dir), r.GiveToUser(a.Dir)); err != nil {
		return err
	}

	c := a.Check.WithReportDir(a.Dir)
	a.Check = c
	if err := reportfile.DeleteOld(r.Root, r.dirOf(c), c.Reports); err != nil {
		a.Run.Why = err.Error()
		return nil //nolint:nilerr // the check does not count; the machine works
	}

	// A file system with coarse times may stamp a new file a little early.
	a.Started = time.Now().Add(-10 * time.Millisecond).Truncate(time.Second)
	if a.Output, err = r.openOutput(a.Dir); err != nil {
		return err
	}
	if a.Follow != nil {
		a.Follow(a.Output.Follow())
	}
	res, err := r.runWatched(ctx, a)
	a.Run.ExitCode, a.Run.Duration, a.Run.Output, a.Run.Leftovers = res.ExitCode, res.Ended.Sub(res.Started), a.Output.Tail(), res.Leftovers
	a.Run.Started = res.Started
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, runner.ErrNotFound):
		a.Run.Why = fmt.Sprintf("%s: command not found: %s; install it or put it on PATH, or give another command with --%s-cmd", c.Name, c.Command[0], c.Kind)
		return nil
	case errors.Is(err, runner.ErrUnstartable): // the agent may have caused it
		a.Run.Why, a.Run.DirMissing = r.whyNotStarted(c, err)
		return nil
	case err != nil:
		return err
	}
	if why := r.whyFailed(c, res, a.Output); why != "" {
		a.Run.Why, a.Run.Killed = why, true
		return nil
	}

	a.HasUnreadReports = true
	return nil
}

// whyNotStarted returns why a command could not be started, and whether its folder is missing.
func (r *Runner) whyNotStarted(c checks.Check, err error) (why string, missing bool) {
	if info, statErr := os.Stat(r.dirOf(c)); statErr != nil || !info.IsDir() {
		return fmt.Sprintf("the folder %s, which %s runs in, is missing", cmp.Or(c.Dir, r.Root), c.Name), true
	}
	return fmt.Sprintf("%s: %v", c.Name, err), false
}

// whyFailed returns why the reports do not count, from how the command ended; "" if they
// count.
func (r *Runner) whyFailed(c checks.Check, res runner.Result, out *printed.Output) string {
	switch {
	case res.Cause == runner.TimedOut:
		return fmt.Sprintf("%s took longer than %s and was stopped", c.Name, r.TimeoutOf(c))
	case res.Signal != "":
		return fmt.Sprintf("%s was ended by %s", c.Name, res.Signal)
	case res.ExitCode == 127 || res.ExitCode == 126:
		return fmt.Sprintf("%s could not be started: %s", c.Name, printed.LastLine(out.Tail()))
	case out.Err() != nil:
		return fmt.Sprintf("%s: %v", c.Name, out.Err())
	}
	return ""
}

// TimeoutOf returns the time limit of a check.
func (r *Runner) TimeoutOf(c checks.Check) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

// runWatched runs the command of an attempt and passes its output to the watcher.
func (r *Runner) runWatched(ctx context.Context, a *Attempt) (runner.Result, error) {
	if r.Watch != nil {
		watcher := r.Watch(a.Run.Check)
		a.Output.CopyTo(watcher)
		defer func() { _ = watcher.Close() }() // a watcher cannot fail a check
	}
	return r.runCommand(ctx, a.Check, a.Output)
}

// runCommand runs the command of a check to its end, and rewinds its output for reading.
func (r *Runner) runCommand(ctx context.Context, c checks.Check, out *printed.Output) (runner.Result, error) {
	// Standard error must not be mixed into a report. It is kept separately, since
	// linters and compilers may report there.
	var errs io.Writer = out.Errors
	if c.Stderr {
		errs = out
	}
	dir := r.dirOf(c) // make and ctest look at PWD, as shells set it
	res, err := runner.Run(ctx, runner.Command{
		KeepOpen: r.Hold, BeforeStart: r.BeforeStart, User: r.User,
		Args: c.Command, Dir: dir, Env: append(append(r.environmentOf(c.Kind), "PWD="+dir), c.Env...),
		Stdout: out, Stderr: errs, Timeout: r.TimeoutOf(c),
	})
	return res, errors.Join(err, out.Rewind())
}

// environmentOf returns the environment for a kind of check. Tests get no NO_COLOR, since
// tests of a program's colors expect the user's environment; reports are read with colors as
// well.
func (r *Runner) environmentOf(k checks.Kind) []string {
	if k == checks.Test {
		return r.Environ()
	}
	return append(r.Environ(), "NO_COLOR=1", terminalVariable)
}

// Environ returns the environment of all checks.
func (r *Runner) Environ() []string {
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	if r.User != nil {
		env = r.User.Environ(env)
	}
	return Environ(env)
}

// newPrivateDir makes a private folder for the reports of one run. Its name cannot be guessed,
// so no other process can write a report there beforehand.
func (r *Runner) newPrivateDir() (string, error) {
	if r.Scratch != "" {
		if err := os.MkdirAll(r.Scratch, 0o700); err != nil {
			return "", fmt.Errorf("make report folder: %w", err)
		}
	}
	dir, err := os.MkdirTemp(r.Scratch, "supervise-reports-")
	if err != nil {
		return "", fmt.Errorf("make report folder: %w", err)
	}
	return dir, r.GiveToUser(dir)
}

// GiveToUser makes the user of the checks the owner of a folder and its contents.
func (r *Runner) GiveToUser(dir string) error {
	if r.User == nil {
		return nil
	}
	return r.User.Chown(dir)
}

// Query runs another command instead of that of a check, and passes its standard output to read.
// It returns an error if the command fails.
func (r *Runner) Query(ctx context.Context, c checks.Check, command []string, read func(*os.File) error) error {
	dir, err := r.newPrivateDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, err := r.openOutput(dir)
	if err != nil {
		return err
	}
	defer out.Close()
	c.Command, c.Stderr = command, false
	res, err := r.runCommand(ctx, c.WithReportDir(dir), out)
	switch {
	case err != nil:
		return err
	case r.whyFailed(c, res, out) != "":
		return errors.New(r.whyFailed(c, res, out))
	case res.ExitCode != 0:
		return fmt.Errorf("%s ended with status %d: %s", strings.Join(command, " "), res.ExitCode, printed.LineOrNothing(printed.LastLine(out.Tail())))
	}
	return read(out.File())
}

// openOutput opens the files for the output of a command in dir.
func (r *Runner) openOutput(dir string) (*printed.Output, error) {
	return printed.Open(dir, cmp.Or(r.MaxOutput, DefaultMaxOutput)) //nolint:wrapcheck // it says all
}

// terminalVariable is the terminal type of the checks.
const terminalVariable = "TERM=dumb"

// Environ returns an environment as tests see it, without prompts. It keeps the user's values
// for CI, the terminal and cmake. Without a value, cmake --build would start one compiler with
// make, or with --parallel as many as there are files.
func Environ(env []string) []string {
	env = append(git.CleanEnv(env), "GIT_TERMINAL_PROMPT=0")
	for _, unset := range []string{terminalVariable, "CI=true", "CMAKE_BUILD_PARALLEL_LEVEL=" + strconv.Itoa(runtime.GOMAXPROCS(0))} {
		name, _, _ := strings.Cut(unset, "=")
		if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			env = append(env, unset)
		}
	}
	return env
}

// dirOf returns the absolute path of the folder in which a check runs.
func (r *Runner) dirOf(c checks.Check) string { return checks.Plan{Root: r.Root}.Dir(c) }
