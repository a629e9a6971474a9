package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"supervise/internal/textstream"
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
	if err := c.lay(dir); err != nil {
		return run, err
	}
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
	defer out.close()
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
	read := reading{check: c, root: m.plan.Root, base: m.base(c), dir: dir, since: started, run: &run, tested: m.tested, read: m.read, holds: map[string]bool{}}
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
	case cmp.Or(out.err, out.errs.err) != nil:
		return fmt.Sprintf("%s: %v", c.Name, cmp.Or(out.err, out.errs.err))
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

func (m *Meter) execute(ctx context.Context, c Check, out *output) (runner.Result, error) {
	// The noise of standard error must not be torn into a report, and is kept by
	// itself: linters and compilers may speak there.
	var errs io.Writer = out.errs
	if c.Stderr {
		errs = out
	}
	res, err := runner.Run(ctx, runner.Command{
		Hold: m.opts.Hold,
		Args: c.Command, Dir: m.base(c), Env: append(m.environment(), c.Env...),
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
	fill := func(list []string, dir string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = strings.ReplaceAll(s, ReportDir, dir)
		}
		return out
	}
	c.Command, c.Env = fill(c.Command, dir), fill(c.Env, dir)
	c.Reports = fill(c.Reports, literally.Replace(dir))
	return c
}

// literally has a name stand for itself in a pattern.
var literally = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// lay writes the check's own files into its private folder.
func (c Check) lay(dir string) error {
	for name, text := range c.Files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("write %s for %s: it would lie outside the private folder", name, c.Name)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write %s for %s: %w", name, c.Name, err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, ReportDir, dir)), 0o600); err != nil {
			return fmt.Errorf("write %s for %s: %w", name, c.Name, err)
		}
	}
	return nil
}

// output keeps a command's standard output in a file and its end, together
// with that of standard error, in memory.
type output struct {
	mu   sync.Mutex
	file *os.File
	left int64
	tail *runner.Tail
	err  error
	errs *output // standard error; nil for itself
}

func newOutput(dir string) (*output, error) {
	o, err := openOutput(filepath.Join(dir, ".output"), runner.NewTail(tailOutput))
	if err != nil {
		return nil, err
	}
	o.errs, err = openOutput(filepath.Join(dir, ".errors"), o.tail)
	return o, err
}

func openOutput(path string, tail *runner.Tail) (*output, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep output: %w", err)
	}
	return &output{file: f, left: maxOutput, tail: tail}, nil
}

func (o *output) close() {
	_ = o.file.Close() // what was read of it is read
	if o.errs != nil {
		o.errs.close()
	}
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
	if o.errs != nil {
		err = errors.Join(err, o.errs.rewind())
	}
	return err
}

// end is the end of what was printed, as text.
func (o *output) end() string { return strings.ToValidUTF8(o.tail.String(), "\uFFFD") }

// noTestsFound are the words by which test runners say that there is nothing to
// run, as a rule before they list where they looked.
var noTestsFound = regexp.MustCompile(`(?i)\bno tests? (?:files? |cases? |suites? )?(?:(?:were |was )?(?:found|executed|ran|collected)|to run)\b|\bno test files\b`)

// lastLine is the line of a command's output that says most about how it ended:
// as a rule the last one.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(textstream.StripANSI(s)), "\n")
	for _, line := range lines {
		if noTestsFound.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
