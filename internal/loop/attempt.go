package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/runner"
)

// attempt runs the agent once and notes how that ended.
func (s *session) attempt(ctx context.Context, w *work, text string) (agent.Report, error) {
	var none agent.Report
	dir, err := s.ledger.Folder(w.it.Number)
	if err != nil {
		return none, err
	}
	defer s.takePromptBack()
	cmd, err := s.command(ctx, text, dir, w.it.Number)
	if err == nil {
		err = s.giveTree()
	}
	if err != nil {
		return none, err
	}
	if err := keepTranscript(dir, w.it.Agent); err != nil {
		return none, err
	}
	rec, err := s.transcribe(&cmd, dir, w.it.Number)
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o := s.observe(w, cancel)
	cmd.Stdout = io.MultiWriter(cmd.Stdout, o.reader)
	if cmd.Terminal == nil {
		cmd.Stderr = cmd.Stdout
	}
	var noted error
	cmd.BeforeStart = s.starting(event.ChildAgent)
	cmd.OnStart = func(shim, leader runner.Process) {
		noted = s.event(event.AgentSpawned, w.it.Number, event.Spawned{Shim: shim, Leader: leader})
	}
	cmd.Control = runner.NewControl()
	unwatch := s.watchTree(ctx, w, cmd.Control, cancel)
	res, err := runner.Run(ctx, cmd)
	unwatch()
	if err := errors.Join(rec.close(), o.reader.Close(), s.maskPrompt(text, dir)); err != nil {
		s.opts.Log.WithError(err).Warn("keep the transcript")
	}
	if err != nil && (ctx.Err() == nil || res.Cause != runner.NotStarted) { // else the time was up before it could start
		return none, fmt.Errorf("run the agent: %w", err)
	}
	if res.NoTerminal != nil {
		s.opts.Log.WithError(res.NoTerminal).Warn("the agent had no terminal: --pty=never says that it needs none")
	}
	if noted != nil {
		return none, noted
	}
	report := o.reader.Report()
	run := s.ran(res, report, context.Cause(ctx))
	run.LastWords = cmp.Or(run.LastWords, lastLine(rec.words.String()))
	run.Claimed = s.opts.Until.saidIn(cmp.Or(report.Text, rec.words.String()))
	w.it.Agent = joined(w.it.Agent, run)
	return report, s.event(event.AgentFinished, w.it.Number, *w.it.Agent)
}

// ran puts together what is known of one run.
func (s *session) ran(res runner.Result, report agent.Report, cause error) *ledger.AgentRun {
	format, told := s.opts.format()
	p, _ := s.opts.program()
	run := &ledger.AgentRun{
		ExitCode: res.ExitCode, Signal: res.Signal, Cause: res.Cause.String(), Duration: res.Ended.Sub(res.Started),
		Containment: res.Containment.String(), Leftovers: res.Leftovers,
		Program: p.Name, Session: report.Session, Model: report.Model, Version: report.Version,
	}
	outcome := report.Outcome(format, ending(res), told)
	if errors.Is(cause, errHopeless) {
		outcome = agent.Auth
	}
	if alarm := (errAlarm{}); errors.As(cause, &alarm) {
		run.Alarm = alarm.String()
	}
	if limit := overLimit(""); errors.As(cause, &limit) {
		run.Limit = string(limit)
	}
	run.Outcome = string(outcome)
	if outcome != agent.OK {
		run.Message = s.masker.String(brief(report.Message))
	}
	if report.Lines > 0 {
		run.LastWords = s.masker.String(cmp.Or(run.Message, brief(lastLine(report.Text))))
	}
	s.chat.total, run.Usage = s.account(format, report)
	s.chat.id = report.Session
	if outcome == agent.Crashed || outcome == agent.NoFinal {
		s.chat.id = "" // it may be the session that cannot be continued
	}
	return run
}

// account returns what the session consumed, and what this run did of it; nil
// where nothing is known.
func (s *session) account(f agent.Format, r agent.Report) (total agent.Usage, run *agent.Usage) {
	if r.Usage.IsZero() {
		return s.chat.total, nil
	}
	u := r.Usage
	if f.Cumulative() && r.Session != "" && r.Session == s.chat.asked {
		u = u.Since(s.chat.total)
	}
	return r.Usage, &u
}

func ending(res runner.Result) agent.Ending {
	e := agent.Ending{ExitCode: res.ExitCode, Signal: res.Signal}
	switch res.Cause {
	case runner.TimedOut, runner.NoOutput, runner.WentIdle:
		e.TimedOut = true
	case runner.Stopped, runner.Interrupted, runner.NotStarted:
		e.Stopped = true
	case runner.Exited, runner.Attacked:
	}
	return e
}

// joined adds an earlier run of the same iteration to the last one.
func joined(before, run *ledger.AgentRun) *ledger.AgentRun {
	if before == nil {
		return run
	}
	run.Runs, run.Waited = max(before.Runs, 1)+1, before.Waited
	run.Duration += before.Duration
	run.Leftovers = append(before.Leftovers, run.Leftovers...)
	switch {
	case run.Usage == nil:
		run.Usage = before.Usage
	case before.Usage != nil:
		u := before.Usage.Plus(*run.Usage)
		run.Usage = &u
	}
	return run
}

// keepTranscript moves the transcript of an earlier run of the iteration aside.
func keepTranscript(dir string, before *ledger.AgentRun) error {
	if before == nil {
		return nil
	}
	path := filepath.Join(dir, "transcript.cast")
	err := os.Rename(path, filepath.Join(dir, fmt.Sprintf("transcript.run%d.cast", max(before.Runs, 1))))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep the transcript of the run before: %w", err)
	}
	return nil
}

// maxBrief bounds what is kept of an agent's message, in bytes.
const maxBrief = 500

func brief(text string) string {
	text = strings.Join(strings.Fields(StripEscapes(text)), " ")
	if len(text) > maxBrief {
		text = strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}

// observer reads what the agent prints while it runs.
type observer struct {
	reader *agent.Reader
	last   agent.Retry
}

// errHopeless is why a run is ended whose service will never accept it.
var errHopeless = errors.New("the service refuses the agent")

// overLimit is why a run is ended that has consumed what the loop may.
type overLimit string

func (o overLimit) Error() string { return "the limit of " + string(o) + " is reached" }

// observe returns an observer that ends the run where a limit is reached, or
// where it cannot come to anything, and tells of its retries.
func (s *session) observe(w *work, end context.CancelCauseFunc) *observer {
	format, _ := s.opts.format()
	o, before := &observer{}, s.consumed(w)
	o.reader = agent.NewReader(format, func(r agent.Report) { // one call after another
		_, now := s.account(format, r)
		if now != nil {
			if limit := s.opts.over(before.Plus(*now)); limit != "" {
				end(limit)
			}
		}
		if r.Hopeless() {
			end(errHopeless)
		}
		if r.Retry != nil && *r.Retry != o.last {
			o.last = *r.Retry
			s.note(event.AgentRetrying, w.it.Number, event.Retrying{
				Outcome: string(r.Retry.Why), Attempt: r.Retry.Attempt, DelayMS: r.Retry.Delay.Milliseconds(), Message: s.masker.String(brief(r.Retry.Message)),
			})
		}
	})
	return o
}
