package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/metric"
	"supervise/runner"
)

// maxOutput bounds what is kept on disk of a check's output.
const maxOutput = 512 << 20

// tailOutput bounds what is kept in memory to explain a failure.
const tailOutput = 16 << 10

// check runs one command and reads what it wrote.
func (m *Meter) check(ctx context.Context, c Check) (Run, error) {
	run := Run{Check: c, state: metric.Absent}
	dir, err := m.scratch()
	if err != nil {
		return run, err
	}
	defer os.RemoveAll(dir)
	c = c.in(dir)
	if err := m.deleteOld(c); err != nil {
		run.Why = err.Error()
		return run, nil // it is the check that does not count, not the machine that is broken
	}
	// A file system with coarse times may stamp a new file a little early.
	started := time.Now().Add(-10 * time.Millisecond).Truncate(time.Second)
	out, err := newOutput(dir)
	if err != nil {
		return run, err
	}
	defer out.file.Close()
	res, err := m.execute(ctx, c, out)
	run.ExitCode, run.Duration, run.Output = res.ExitCode, res.Ended.Sub(res.Started), out.end()
	if ctx.Err() != nil {
		return run, context.Cause(ctx)
	}
	if err != nil {
		if errors.Is(err, runner.ErrNotFound) {
			run.Why = fmt.Sprintf("%s: command not found: %s; install it or put it on PATH, or give another command with --%s-cmd", c.Name, c.Command[0], c.Kind)
			return run, nil
		}
		return run, err
	}
	if why := m.broken(c, res, out); why != "" {
		run.Why, run.killed = why, true
		return run, nil
	}
	read := reading{check: c, root: m.plan.Root, dir: dir, since: started, run: &run, tested: m.tested, holds: map[string]bool{}}
	read.all(out)
	return run, nil
}

// broken says why the command's end alone rules its reports out.
func (m *Meter) broken(c Check, res runner.Result, out *output) string {
	switch {
	case res.Cause == runner.TimedOut:
		return fmt.Sprintf("%s took longer than %s and was stopped", c.Name, m.timeout(c))
	case res.Signal != "":
		return fmt.Sprintf("%s was ended by %s", c.Name, res.Signal)
	case res.ExitCode == 127 || res.ExitCode == 126:
		return fmt.Sprintf("%s could not be started: %s", c.Name, lastLine(out.end()))
	case out.err != nil:
		return fmt.Sprintf("%s: %v", c.Name, out.err)
	}
	return ""
}

func (m *Meter) timeout(c Check) time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

func (m *Meter) execute(ctx context.Context, c Check, out *output) (runner.Result, error) {
	// Tests report on standard output, and their noise must not be torn into it;
	// linters and compilers speak on either.
	var errs io.Writer = out.tail
	if c.Kind != Test {
		errs = out
	}
	res, err := runner.Run(ctx, runner.Command{
		Args: c.Command, Dir: m.plan.Root, Env: m.environment(),
		Stdout: out, Stderr: errs, Timeout: m.timeout(c),
	})
	return res, errors.Join(err, out.rewind())
}

// environment is that of the checks: no terminal, no colour, no questions.
func (m *Meter) environment() []string {
	env := m.opts.Env
	if env == nil {
		env = os.Environ()
	}
	return append(withoutGit(env), "CI=true", "TERM=dumb", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0")
}

// in returns c with its private report folder filled in.
func (c Check) in(dir string) Check {
	fill := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = strings.ReplaceAll(s, ReportDir, dir)
		}
		return out
	}
	c.Command, c.Reports = fill(c.Command), fill(c.Reports)
	return c
}

// deleteOld removes the reports of an earlier run, so that none of them can be
// taken for one of this run. An error says which one is in the way, and why.
func (m *Meter) deleteOld(c Check) error {
	for _, pattern := range c.Reports {
		for _, path := range m.matches(pattern) {
			if err := m.remove(pattern, path); err != nil {
				return fmt.Errorf("old report %s cannot be deleted: %w", relative(m.plan.Root, path), err)
			}
		}
		if outside(pattern) { // none is there yet, but the next run would refuse it
			return fmt.Errorf("old report %s cannot be deleted: %w", pattern, errOutside)
		}
	}
	return nil
}

// The reasons why a report is left alone.
var (
	errOutside = errors.New("it lies outside the working tree; name it by its absolute path")
	errFolder  = errors.New("it is a folder")
	errUnnamed = errors.New("no check names it as its report")
)

// outside reports whether a relative pattern leaves the working tree by its
// name.
func outside(pattern string) bool {
	return !filepath.IsAbs(pattern) && !filepath.IsLocal(pattern)
}

// RemoveReport deletes the file at the absolute path, which a check names as its
// report (see [Meter.IsReport]). In the tree no link is followed out of it. It is
// an error if the path is no such report, is a folder or lies outside the tree
// although its check names it relative to the tree; a file that vanished
// meanwhile is none.
func (m *Meter) RemoveReport(path string) error {
	pattern, ok := m.naming(path)
	if !ok {
		return fmt.Errorf("remove report %s: %w", path, errUnnamed)
	}
	if err := m.remove(pattern, path); err != nil {
		return fmt.Errorf("remove report %s: %w", path, err)
	}
	return nil
}

// remove deletes one file that the pattern matches.
func (m *Meter) remove(pattern, path string) error {
	if outside(pattern) {
		return errOutside
	}
	rel, err := filepath.Rel(m.plan.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return gone(os.Remove(path)) // by its absolute path: a person wants it so
	}
	root, err := os.OpenRoot(m.plan.Root)
	if err != nil {
		return gone(err)
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err != nil:
		return gone(err)
	case info.IsDir():
		return errFolder
	}
	return gone(root.Remove(rel))
}

// gone is err without the path, which the caller names, and nil when the file is
// not there any more.
func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// IsReport reports whether a check names the file at the absolute path as its
// report.
func (m *Meter) IsReport(path string) bool {
	_, ok := m.naming(path)
	return ok
}

// naming returns the pattern by which a check names the file as its report.
func (m *Meter) naming(path string) (string, bool) {
	for _, c := range m.plan.Checks {
		for _, pattern := range c.Reports {
			if slices.Contains(m.matches(pattern), path) {
				return pattern, true
			}
		}
	}
	return "", false
}

func (m *Meter) matches(pattern string) []string { return matches(m.plan.Root, pattern) }

func matches(root, pattern string) []string {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(root, pattern)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return nil
	}
	return paths
}

// output keeps a command's standard output in a file and its end, together
// with that of standard error, in memory.
type output struct {
	mu   sync.Mutex
	file *os.File
	left int64
	tail *runner.Tail
	err  error
}

func newOutput(dir string) (*output, error) {
	f, err := os.OpenFile(filepath.Join(dir, ".output"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep output: %w", err)
	}
	return &output{file: f, left: maxOutput, tail: runner.NewTail(tailOutput)}, nil
}

// Write keeps p. Past the cap the rest is dropped and the output is marked as
// incomplete, but the command is not disturbed.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.tail.Write(p) // keeps in memory, cannot go wrong
	if o.err != nil {
		return len(p), nil
	}
	if o.left -= int64(len(p)); o.left < 0 {
		o.err = fmt.Errorf("printed more than %d MB; have it write a report file instead", maxOutput>>20)
		return len(p), nil
	}
	if _, err := o.file.Write(p); err != nil {
		o.err = fmt.Errorf("keep output: %w", err)
	}
	return len(p), nil
}

// rewind makes what was kept ready to be read.
func (o *output) rewind() error {
	_, err := o.file.Seek(0, io.SeekStart)
	return err
}

// end is the end of what was printed, as text.
func (o *output) end() string { return strings.ToValidUTF8(o.tail.String(), "\uFFFD") }

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
