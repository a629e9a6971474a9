//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"supervise/runner/internal/proc"
	"supervise/runner/internal/terminal"
)

// run opens the resources of the child and closes them in reverse order, so that every return
// restores the terminal.
//
// A run has these parts: streams are the child's descriptors, link is the connection to the
// shim, console is the user's terminal, and session reacts to everything that happens until
// the tree has ended.
func run(ctx context.Context, c Command) (Result, error) {
	none := Result{ExitCode: -1}
	defer c.Control.close()
	found, err := resolveCommand(c)
	if err != nil {
		return none, err
	}

	s, err := openStreams(c)
	var noTerminal error
	if errors.Is(err, errNoTerminal) && c.Terminal.Optional {
		noTerminal = err
		c.Terminal, c.Stderr = nil, c.Stdout
		s, err = openStreams(c)
	}
	if err != nil {
		return none, fmt.Errorf("start %s: %w", c.Args[0], err)
	}

	termIn, termOut, err := terminalForShim(c.Terminal)
	if err != nil {
		s.release()
		s.close()
		return none, fmt.Errorf("start %s: %w", c.Args[0], err)
	}

	l, err := startShim(s.child, termIn, termOut, c)
	s.release()
	if err != nil {
		s.close()
		return none, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	defer l.close()

	res, err := superviseChild(ctx, c, &session{command: c, resolved: found, streams: s, link: l})
	res.NoTerminal = noTerminal
	return res, err
}

// terminalForShim returns the user's terminal for the shim, or the null device.
func terminalForShim(t *Terminal) (in, out *os.File, err error) {
	if in = t.inputTerminal(); in != nil && inForeground(in) {
		if out = t.Out; out == nil {
			out = in
		}
		return in, out, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	return null, null, err
}

// session is the state of one run.
type session struct {
	command  Command
	resolved resolvedCommand
	streams  *streams            // the child's descriptors
	link     *link               // the connection to the shim
	console  *console            // the user's terminal, nil without one
	presses  chan terminal.Press // every Ctrl-C
	result   Result

	limits    limits
	freezing  freezeState
	continued chan os.Signal // SIGCONT to this process

	stage              stage       // how far a stop has got
	timer              *time.Timer // fires when the next stage begins
	interruptRequested bool        // OnInterrupt has been called
	ctrlCCount         int         // how often Ctrl-C was pressed
	lastPress          time.Time   // the time of the last Ctrl-C
	lastSignaled       time.Time   // when the child's terminal last sent SIGINT for a Ctrl-C
}

// stage is the progress of a stop. Each stage sends a stronger signal than the one before.
type stage uint8

const (
	running      stage = iota // the child is not being stopped
	interrupting              // SIGINT was sent
	terminating               // SIGTERM was sent
	killing                   // the shim kills the tree
)

// superviseChild runs the child after its resources have been opened, and returns when the
// tree has ended and its output was written.
func superviseChild(ctx context.Context, c Command, s *session) (res Result, err error) {
	s.presses, s.continued = make(chan terminal.Press, 16), make(chan os.Signal, 1)
	s.result = Result{ExitCode: -1}
	defer s.followSignals()()

	s.console, err = openConsole(c.Terminal, s.streams, s.presses)
	if err != nil {
		s.streams.close()
		return s.result, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	defer s.console.close()

	s.limits = newLimits(c)
	var mirror io.Writer
	if s.console.hasMirror() {
		mirror = s.console
	}
	s.streams.start(c.Stdin, mirror)

	if c.BeforeStart != nil {
		err = c.BeforeStart(s.link.shim)
	}
	if err == nil {
		err = s.link.start(c, s.resolved)
	}
	if err == nil {
		s.setContainment("")
		err = s.wait(ctx)
	}
	return s.result, errors.Join(err, s.streams.drain())
}

// followSignals handles the signals to this process until the returned function is
// called. An interrupt counts as Ctrl-C if OnInterrupt is set. SIGCHLD may mean that a
// process of the tree has stopped the shim, so it continues the shim.
func (s *session) followSignals() (stop func()) {
	interrupts, children := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	signal.Notify(s.continued, unix.SIGCONT)
	if s.command.OnInterrupt != nil {
		signal.Notify(interrupts, os.Interrupt)
	}

	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		stops := 0
		for {
			select {
			case <-interrupts:
				terminal.SendPress(s.presses, terminal.Press{At: time.Now(), Signal: true})
			case <-children:
				if s.link.wasStopped() {
					if stops++; stops >= maxStops {
						terminal.SendPress(s.presses, terminal.Press{Attack: true})
					}
				}
				s.link.continueShim()
			case <-done:
				return
			}
		}
	}()

	return func() {
		signal.Stop(s.continued)
		signal.Stop(interrupts)
		signal.Stop(children)
		close(done)
		<-ended
	}
}

// maxStops is how often the shim may be stopped before that counts as an attack: a stopped
// shim could not kill the tree if supervise dies.
const maxStops = 5

// answerLimit is how long the shim may take to kill everything. It is longer than the
// shim's own limit.
const answerLimit = proc.SweepLimit + 10*time.Second

// wait returns when the tree has ended. An error means that the child could not be
// started, that processes survived, or that the shim ended.
func (s *session) wait(ctx context.Context) error {
	s.timer = time.NewTimer(0)
	s.timer.Stop()
	defer s.timer.Stop()
	alarm := time.NewTimer(0) // of the limits
	defer alarm.Stop()
	done := ctx.Done()
	for {
		select {
		case r, ok := <-s.link.reports:
			if !ok {
				return s.finishWithoutShim()
			}
			if last, err := s.handleReport(r); last {
				return err
			}
		case <-done:
			done = nil
			s.stop(Stopped, interrupting)
		case <-alarm.C:
			cause, next := s.limits.check(time.Now(), s.streams.lastOutputTime())
			if cause != NotStarted {
				s.stop(cause, interrupting)
			} else if next > 0 {
				alarm.Reset(next)
			}
		case <-s.continued:
			s.resumeTerminal()
		case <-s.console.lookTimer():
			s.takeTerminal()
		case r := <-s.requests():
			s.handleRequest(r)
		case p := <-s.presses:
			s.handlePress(p)
		case <-s.timer.C:
			if err := s.advanceStage(); err != nil {
				return err
			}
		}
	}
}

// advanceStage enters the next stage of the stop. After the last one, the shim does not
// answer.
func (s *session) advanceStage() error {
	if s.stage == killing || s.hasEnded() {
		return s.link.killStuck()
	}
	s.enterStage(s.stage + 1)
	return nil
}

// finishWithoutShim ends the run after the shim was killed. That is an error unless the
// entire tree is known to have ended.
func (s *session) finishWithoutShim() error {
	err := s.link.lostError()
	if s.result.Started.IsZero() || !errors.Is(err, errTreeGone) {
		return err
	}
	if s.result.Cause == NotStarted {
		s.result.Cause = Attacked
	}
	if !s.hasEnded() {
		s.result.Ended = time.Now()
	}
	return nil
}

// handleReport processes a report of the shim. last is true for the final report.
func (s *session) handleReport(r report) (last bool, err error) {
	switch r.Step {
	case stepReady: // already received
	case stepContained:
		s.setContainment(r.Cgroup)
	case stepStarted:
		s.link.leader, s.result.Started = r.Leader, time.Now()
		s.setContainment(r.Cgroup)
		if s.command.OnStart != nil {
			s.command.OnStart(s.link.shim, s.link.leader)
		}
	case stepFailed:
		s.result.Containment = NoContainment
		return true, startError(s.resolved.path, r.Errno, r.Why)
	case stepRefused:
		s.result.RefusedHosts = append(s.result.RefusedHosts, r.Host)
	case stepFrozen:
		s.answerFrozen()
	case stepPaused:
		s.handlePause(r.Signal)
	case stepEnded:
		s.result.Ended = time.Now()
		s.result.ExitCode, s.result.Signal = r.Exit, r.Signal
		if s.result.Cause == NotStarted {
			s.result.Cause = Exited
		}
		s.console.stopReading()
		s.timer.Reset(answerLimit)
	case stepSwept:
		s.result.Leftovers = r.Leftovers
		if !s.hasEnded() {
			s.result.Ended, s.result.Cause = time.Now(), max(s.result.Cause, Exited)
		}
		if !r.Gone {
			err = fmt.Errorf("kill what %s left running: still there: %s", s.command.Args[0], strings.Join(r.Survivors, ", "))
		}
		return true, err
	}
	return false, nil
}

// setContainment records how the tree is held together: in the cgroup of the folder group, or
// without one if group is "".
func (s *session) setContainment(group string) {
	s.link.group = proc.Cgroup{Dir: group}
	if s.result.Containment = proc.FallbackContainment; group != "" {
		s.result.Containment = CgroupContainment
	}
}

// hasEnded reports whether the child itself has ended. Its tree may still run.
func (s *session) hasEnded() bool { return !s.result.Ended.IsZero() }

// stop starts to stop the child at the given stage, unless it has ended. The first cause
// counts.
func (s *session) stop(why Cause, with stage) {
	if s.hasEnded() || s.stage >= with {
		return
	}
	s.thaw()
	if s.result.Cause == NotStarted {
		s.result.Cause = why
	}
	s.enterStage(with)
}

// enterStage enters a stage of the stop, or the next one if the grace skips it.
func (s *session) enterStage(next stage) {
	s.stage = next
	switch next {
	case running:
	case interrupting:
		if s.command.Grace.Interrupt < 0 {
			s.enterStage(terminating)
			return
		}
		s.interrupt()
		s.timer.Reset(s.command.Grace.Interrupt)
	case terminating:
		if s.command.Grace.Terminate < 0 {
			s.enterStage(killing)
			return
		}
		s.link.send(orderTerminate)
		s.timer.Reset(s.command.Grace.Terminate)
	case killing:
		s.link.send(orderKill)
		s.timer.Reset(answerLimit)
	}
}

// interrupt sends SIGINT once to the child's group and to the foreground group of its
// terminal, which may differ. Many agents exit without cleanup on a second SIGINT, so a
// group that the terminal has just signaled is skipped.
func (s *session) interrupt() {
	spared := time.Since(s.lastSignaled) < pressWindow
	group := s.link.leader.PID
	if s.streams.master != nil && group > 0 {
		if g := s.streams.foregroundGroup(); g > 0 {
			group = g
		}
	}
	if group != s.link.leader.PID && !spared {
		s.streams.interruptForeground()
	}
	if group != s.link.leader.PID || !spared {
		s.link.send(orderInterrupt)
	}
}

// pressWindow is the longest time between two Ctrl-C that belong together.
const pressWindow = time.Second

// handlePress handles one Ctrl-C, or the report that the shim was stopped too often.
func (s *session) handlePress(p terminal.Press) {
	if p.Attack {
		s.stop(Attacked, killing)
		return
	}
	if s.command.ForwardCtrlC && !p.Signal {
		return
	}
	if !s.interruptRequested && p.At.Sub(s.lastPress) > pressWindow {
		s.ctrlCCount = 0
	}
	s.ctrlCCount, s.lastPress = s.ctrlCCount+1, p.At
	if !p.Raw && !p.Signal {
		s.lastSignaled = p.At
	}
	switch {
	case s.ctrlCCount >= 3:
		s.stop(Interrupted, killing)
	case !s.interruptRequested && (!p.Raw || s.ctrlCCount == 2):
		s.interruptRequested = true
		if s.command.OnInterrupt != nil {
			s.command.OnInterrupt()
		}
	case s.ctrlCCount == 2:
		s.stop(Interrupted, terminating)
	}
}
