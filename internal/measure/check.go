package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/git"
	"supervise/internal/measure/internal/printed"
	"supervise/metric"
	"supervise/runner"
)

// DefaultMaxOutput limits what is kept on disk of each of a check's two outputs, in
// bytes.
const DefaultMaxOutput = 512 << 20

// attempt is one execution of a check, whose reports are not read yet.
type attempt struct {
	check   Check  // with its private folder filled in
	dir     string // that folder
	started time.Time
	out     *printed.Output
	run     Run
	unread  bool                   // reports are left that may count
	of      string                 // digest of what it links, see [linked]
	ahead   func() (Report, error) // what it printed, read while it ran; nil where that is read later
	err     error
}

// output keeps what a command prints in dir.
func (m *Meter) output(dir string) (*printed.Output, error) {
	return printed.Open(dir, cmp.Or(m.opts.MaxOutput, DefaultMaxOutput)) //nolint:wrapcheck // it says all
}

// release removes what the attempt kept.
func (a *attempt) release() {
	if a.out != nil {
		a.out.Close()
	}
	if a.dir != "" {
		_ = os.RemoveAll(a.dir) // the next start cleans the scratch folder
	}
}

// check runs one command and reads what it wrote.
func (m *Meter) check(ctx context.Context, c Check) (Run, error) {
	return m.read(m.attempt(ctx, c))
}

// attempt runs one command. It may be called concurrently.
func (m *Meter) attempt(ctx context.Context, c Check) *attempt {
	a := &attempt{check: c, run: Run{Check: c, State: metric.Absent}}
	switch why := m.skipReason(c); {
	case ctx.Err() != nil:
		a.err = context.Cause(ctx)
	case why != "":
		a.run.Why, a.run.Skipped = why, true
	case m.coveredByBuild(c):
		a.run.State, a.run.Lint, a.run.Read = metric.Measured, &metric.Lint{}, []Source{{Path: m.builds[c.Dir], Format: "the same"}}
	case m.reuseLink(ctx, a):
	default:
		a.err = m.runCommand(ctx, a)
	}
	if c.Fallback == nil && a.err == nil && a.run.ExitCode != 0 {
		c.Fallback = m.withDefaultFeatures(a.run)
	}
	if c.Fallback != nil && a.err == nil && a.run.ExitCode != 0 {
		a.release()
		a = m.attempt(ctx, *c.Fallback)
		a.run.IsFallback = true
		if c.Fallback.FallbackReason != "" {
			a.run.Problems = append(a.run.Problems, c.Fallback.FallbackReason)
		}
	}
	return a
}

// try prepares and runs the command of the attempt, and records how it ended.
func (m *Meter) runCommand(ctx context.Context, a *attempt) (err error) {
	if a.dir, err = m.privateDir(); err != nil {
		return err
	}
	if err := errors.Join(a.check.WriteFiles(a.dir), m.giveToUser(a.dir)); err != nil {
		return err
	}
	c := a.check.WithDir(a.dir)
	a.check = c
	if err := m.deleteOld(c); err != nil {
		a.run.Why = err.Error()
		return nil //nolint:nilerr // it is the check that does not count, not the machine that is broken
	}
	// A file system with coarse times may stamp a new file a little early.
	a.started = time.Now().Add(-10 * time.Millisecond).Truncate(time.Second)
	if a.out, err = m.output(a.dir); err != nil {
		return err
	}
	if c.Kind == Test && c.Runner == "go" { // its report is what it prints, and may be long
		a.ahead = readWhileRunning(a.out.Follow())
	}
	res, err := m.runWatched(ctx, a)
	a.run.ExitCode, a.run.Duration, a.run.Output, a.run.Leftovers = res.ExitCode, res.Ended.Sub(res.Started), a.out.End(), res.Leftovers
	a.run.Started = res.Started
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, runner.ErrNotFound):
		a.run.Why = fmt.Sprintf("%s: command not found: %s; install it or put it on PATH, or give another command with --%s-cmd", c.Name, c.Command[0], c.Kind)
		return nil
	case errors.Is(err, runner.ErrUnstartable): // the agent may have caused it
		a.run.Why, a.run.DirMissing = m.unstartable(c, err)
		return nil
	case err != nil:
		return err
	}
	if why := m.failure(c, res, a.out); why != "" {
		a.run.Why, a.run.Killed = why, true
		return nil
	}
	a.unread = true
	return nil
}

// unstartable returns why a command could not be started, and whether its folder is
// missing.
func (m *Meter) unstartable(c Check, err error) (why string, gone bool) {
	if info, statErr := os.Stat(m.base(c)); statErr != nil || !info.IsDir() {
		return fmt.Sprintf("the folder %s, which %s runs in, is gone", cmp.Or(c.Dir, m.plan.Root), c.Name), true
	}
	return fmt.Sprintf("%s: %v", c.Name, err), false
}

// emptied turns a test check into one whose suites, if it has run any, could not run.
// Those of other projects are measured as usual.
func (m *Meter) breakSuites(r *Run) {
	suites := m.memory.Suites[r.Check.ID()]
	if len(suites) == 0 {
		return
	}
	r.State, r.Tests = metric.Measured, metric.NewTests(nil)
	for _, name := range suites {
		r.Tests.Broken = append(r.Tests.Broken, metric.Suite{Name: name, Why: r.Why})
	}
	r.Problems, r.Why = append(r.Problems, r.Why), ""
}

// read reads what the attempt wrote, and releases it.
func (m *Meter) read(a *attempt) (Run, error) {
	defer a.release()
	if a.err != nil || !a.unread {
		switch {
		case !a.run.DirMissing && !a.run.Skipped:
		case a.run.Check.Kind == Test:
			m.breakSuites(&a.run)
		case a.run.Skipped && a.run.Check.Kind == Build:
			a.run.State = metric.Measured // that it is broken is known
		}
		return a.run, a.err
	}
	read := reading{check: a.check, root: m.plan.Root, base: m.base(a.check), dir: a.dir, since: a.started, run: &a.run, memory: m.memory, ahead: a.ahead, holds: map[string]bool{}}
	read.all(a.out)
	if a.run.Tests != nil {
		a.run.Tests.Runner = a.check.Runner
	}
	return a.run, nil
}

// broken returns why the reports cannot count, from how the command ended.
func (m *Meter) failure(c Check, res runner.Result, out *printed.Output) string {
	switch {
	case res.Cause == runner.TimedOut:
		return fmt.Sprintf("%s took longer than %s and was stopped", c.Name, m.timeout(c))
	case res.Signal != "":
		return fmt.Sprintf("%s was ended by %s", c.Name, res.Signal)
	case res.ExitCode == 127 || res.ExitCode == 126:
		return fmt.Sprintf("%s could not be started: %s", c.Name, printed.LastLine(out.End()))
	case out.Err() != nil:
		return fmt.Sprintf("%s: %v", c.Name, out.Err())
	}
	return ""
}

// base is the folder that the check runs in.
func (m *Meter) base(c Check) string { return filepath.Join(m.plan.Root, filepath.FromSlash(c.Dir)) }

func (m *Meter) timeout(c Check) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

// watched runs the command of an attempt before the eyes of who watches.
func (m *Meter) runWatched(ctx context.Context, a *attempt) (runner.Result, error) {
	if m.opts.Watch != nil {
		watcher := m.opts.Watch(a.run.Check)
		a.out.Watch(watcher)
		defer func() { _ = watcher.Close() }() // it has no say
	}
	return m.execute(ctx, a.check, a.out)
}

func (m *Meter) execute(ctx context.Context, c Check, out *printed.Output) (runner.Result, error) {
	// Standard error must not be mixed into a report. It is kept separately, since
	// linters and compilers may report there.
	var errs io.Writer = out.Errors
	if c.Stderr {
		errs = out
	}
	dir := m.base(c) // make and ctest look at PWD, as shells set it
	res, err := runner.Run(ctx, runner.Command{
		Hold: m.opts.Hold, BeforeStart: m.opts.BeforeStart, User: m.opts.User,
		Args: c.Command, Dir: dir, Env: append(append(m.environmentOf(c.Kind), "PWD="+dir), c.Env...),
		Stdout: out, Stderr: errs, Timeout: m.timeout(c),
	})
	return res, errors.Join(err, out.Rewind())
}

// environmentOf is the environment of a kind of checks. Tests of a program's colours expect
// the environment of a person, and reports are read with colours as well.
func (m *Meter) environmentOf(k Kind) []string {
	if k == Test {
		return m.environment()
	}
	return append(m.environment(), "NO_COLOR=1", dumbTerminal)
}

// environment is that of all checks.
func (m *Meter) environment() []string {
	env := m.opts.Env
	if env == nil {
		env = os.Environ()
	}
	if m.opts.User != nil {
		env = m.opts.User.Environ(env)
	}
	return Environ(env)
}

// Lookup returns the value of a variable that the checks see.
func (m *Meter) Lookup(name string) string {
	for _, kv := range slices.Backward(m.environment()) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// dumb is the terminal that there is.
const dumbTerminal = "TERM=dumb"

// Environ is an environment as tests see it: no prompts. What the user has set for CI, the
// terminal or cmake stays: a project may know other values, and cmake --build starts one
// compiler with make, or with --parallel as many as there are files.
func Environ(env []string) []string {
	env = append(git.Without(env), "GIT_TERMINAL_PROMPT=0")
	for _, unset := range []string{dumbTerminal, "CI=true", "CMAKE_BUILD_PARALLEL_LEVEL=" + strconv.Itoa(runtime.GOMAXPROCS(0))} {
		name, _, _ := strings.Cut(unset, "=")
		if !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			env = append(env, unset)
		}
	}
	return env
}
