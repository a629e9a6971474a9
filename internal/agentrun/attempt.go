package agentrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/textstream"
	"supervise/runner"
)

// attempt runs the agent once, adds the result to r.record, and returns what the agent
// reported.
func (r *run) attempt(ctx context.Context) (agent.Report, error) {
	var none agent.Report
	dir, err := r.Ledger.MakeIterationDir(r.task.Iteration)
	if err != nil {
		return none, err
	}
	defer r.removePrompt()
	cmd, err := r.prepare(dir)
	if err != nil {
		return none, err
	}

	script, err := r.startTranscript(&cmd, dir, r.task.Iteration)
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	preset, _ := r.Preset()
	log := preset.NewLogReader(cmd.Env)
	reader := r.newReader(cancel, log)
	cmd.Stdout = io.MultiWriter(cmd.Stdout, reader)
	if questions := r.watchQuestions(cancel); questions != nil {
		defer questions.stop()
		cmd.Stdout = io.MultiWriter(cmd.Stdout, questions)
	}
	if cmd.Terminal == nil {
		cmd.Stderr = cmd.Stdout
	}

	var noted error
	cmd.BeforeStart = r.Journal.Starting(event.ChildAgent, func() int { return r.task.Iteration })
	cmd.OnStart = func(shim, leader runner.Process) {
		noted = r.Journal.Write(event.AgentSpawned, r.task.Iteration, event.Spawned{Shim: shim, Leader: leader})
	}
	cmd.Control = runner.NewControl()
	unwatch := r.watchTree(ctx, cmd.Control, cancel)

	res, err := runner.Run(ctx, cmd)
	unwatch()
	r.readBackNotes()
	if err := errors.Join(script.close(), reader.Close(), r.maskPrompt(dir)); err != nil {
		r.Warn("keep the transcript", err)
	}
	if err != nil && (ctx.Err() == nil || res.Cause != runner.NotStarted) { // otherwise the context ended before the start
		return none, fmt.Errorf("run the agent: %w", err)
	}
	if res.NoTerminal != nil {
		r.Warn("the agent had no terminal: --pty=never says that it needs none", res.NoTerminal)
	}
	if noted != nil {
		return none, noted
	}
	return r.recordRun(res, log.Add(reader.Report()), script.tail.String(), context.Cause(ctx))
}

// prepare returns the command of the agent for an attempt whose files belong into dir. The tree
// then belongs to the agent's user, and the transcript of an earlier attempt has another name.
func (r *run) prepare(dir string) (runner.Command, error) {
	cmd, err := r.command(dir)
	if err != nil {
		return cmd, err
	}
	if r.User != nil {
		if err := r.User.Chown(r.Root); err != nil { // restored files, and output of the checks, belong to root
			return cmd, err
		}
	}
	return cmd, moveTranscript(dir, r.record)
}

// recordRun adds an attempt to the record of the iteration. printed is the end of the agent's
// output, and cause is why supervise stopped the agent, nil if it did not.
func (r *run) recordRun(res runner.Result, report agent.Report, printed string, cause error) (agent.Report, error) {
	last := r.newRecord(res, report, cause)
	last.LastOutput = cmp.Or(last.LastOutput, lastLine(printed))
	last.CompletionClaimed = r.Promise != "" && strings.Contains(agent.StripEscapes(cmp.Or(report.LastMessage, printed)), r.Promise)
	last.Blocked, last.Notes = r.hooks.blockedStatements(), r.masked(r.task.Notes)
	r.record = mergeRuns(r.record, last)
	r.record.Waited = r.waited
	return report, r.Journal.Write(event.AgentFinished, r.task.Iteration, *r.record)
}

// newRecord returns the record of one attempt. cause is why supervise stopped the agent; it
// may decide the outcome. newRecord also remembers the session, so that the next run can
// continue it.
func (a *Agent) newRecord(res runner.Result, report agent.Report, cause error) *ledger.AgentRun {
	p, _ := a.Preset()
	run := &ledger.AgentRun{
		ExitCode: res.ExitCode, Signal: res.Signal, Cause: res.Cause.String(), Duration: res.Ended.Sub(res.Started),
		Containment: res.Containment.String(), Leftovers: res.Leftovers, RefusedHosts: res.RefusedHosts,
		Program: p.Name, Session: report.Session, Model: report.Model, Version: report.Version,
	}

	outcome := report.Outcome(p, processEnding(res), a.Program.Name != "" && p.HasReader())
	if errors.Is(cause, errHopeless) {
		outcome = agent.Auth
	}
	if q, ok := errors.AsType[questionError](cause); ok {
		outcome, report.Message = agent.AsksPerson, q.Error()
	}
	if full, ok := errors.AsType[windowError](cause); ok {
		outcome, report.Message = full.outcomeOf(p, report)
	}

	if alarm := (alarmError{}); errors.As(cause, &alarm) {
		run.Alarm = alarm.String()
	}
	if limit := limitError(""); errors.As(cause, &limit) {
		run.LimitReached = string(limit)
	}

	run.Outcome = string(outcome)
	if outcome != agent.OK {
		run.Message = a.masked(shortLine(report.Message))
	}
	if report.Lines > 0 {
		run.LastOutput = a.masked(cmp.Or(run.Message, shortLine(lastLine(report.LastMessage))))
	}
	if run.Window = report.Window(a.Now()); run.Window != nil {
		run.Window.Name = a.masked(run.Window.Name)
	}

	a.session.usage, run.Usage = a.sessionUsage(p, report)
	a.session.id = report.Session
	if outcome == agent.Crashed || outcome == agent.NoFinalEvent {
		a.session.id = "" // the session may be the reason of the failure
	}
	return run
}

// sessionUsage returns the usage of the agent's session, and the part of it that belongs to
// this run. run is nil if the agent reported no usage.
func (a *Agent) sessionUsage(p agent.Preset, r agent.Report) (total agent.Usage, run *agent.Usage) {
	if r.Usage.IsZero() {
		return a.session.usage, nil
	}
	u := r.Usage
	if p.UsageGrows && r.Session != "" && r.Session == a.session.requestedID {
		u = u.Since(a.session.usage)
	}
	return r.Usage, &u
}

// processEnding converts the result of the process for [agent.Report.Outcome].
func processEnding(res runner.Result) agent.Ending {
	return agent.Ending{
		ExitCode: res.ExitCode, Signal: res.Signal,
		TimedOut: slices.Contains([]runner.Cause{runner.TimedOut, runner.NoOutput, runner.WentIdle}, res.Cause),
		Stopped:  slices.Contains([]runner.Cause{runner.Stopped, runner.Interrupted, runner.NotStarted}, res.Cause),
	}
}

// mergeRuns adds the numbers of earlier attempts of the iteration to the record of the last
// one, and returns that. before is nil for the first attempt.
func mergeRuns(before, run *ledger.AgentRun) *ledger.AgentRun {
	if before == nil {
		return run
	}
	run.Runs = max(before.Runs, 1) + 1
	run.Duration += before.Duration
	run.Leftovers = append(before.Leftovers, run.Leftovers...)
	run.RefusedHosts = append(before.RefusedHosts, run.RefusedHosts...)
	if before.Usage != nil {
		run.Usage = new(before.Usage.Plus(*cmp.Or(run.Usage, &agent.Usage{})))
	}
	return run
}

// moveTranscript renames the transcript of an earlier attempt to transcript.runN.cast, so that
// the next attempt does not overwrite it.
func moveTranscript(dir string, before *ledger.AgentRun) error {
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

// maxShortLine is the length at which shortLine cuts a message of the agent, in bytes.
const maxShortLine = 500

// shortLine returns a text as one line of limited length, without escape sequences.
func shortLine(text string) string {
	return textstream.Truncate(strings.Join(strings.Fields(agent.StripEscapes(text)), " "), maxShortLine)
}

// lastLine returns the last line of an output that is not blank, "" if there is none.
func lastLine(s string) string {
	text := strings.TrimSpace(agent.StripEscapes(s))
	return strings.TrimSpace(text[strings.LastIndexAny(text, "\n\r")+1:])
}

// errHopeless is the reason for stopping an agent that its service never accepts.
var errHopeless = errors.New("the service refuses the agent")

// newReader returns a reader of the agent's output and of its log. After each event the reader
// reports progress and retries, and calls end with the reason if the agent must stop: a limit
// is reached, a window is used up, or the agent cannot succeed.
func (r *run) newReader(end context.CancelCauseFunc, log *agent.LogReader) *agent.Reader {
	preset, _ := r.Preset()
	before, last := r.usedSoFar(), agent.Retry{}
	return preset.NewReader(func(p agent.Report) { // one call after another
		p = log.Add(p)
		used := before
		if _, now := r.sessionUsage(preset, p); now != nil {
			used = before.Plus(*now)
			if limit := r.reachedLimit(used); limit != "" {
				end(limit)
			}
		}
		if r.OnReport != nil {
			r.OnReport(Progress{Text: r.masked(shortLine(lastLine(p.LastMessage))), Usage: used, Window: p.Window(r.Now())})
		}
		if full, ok := r.fullWindow(p); ok && !p.Final {
			end(full)
		}
		if p.CannotSucceed() {
			end(errHopeless)
		}
		if p.Retry != nil && *p.Retry != last {
			last = *p.Retry
			r.Journal.Note(event.AgentRetrying, r.task.Iteration, event.Retrying{
				Outcome: string(p.Retry.Why), Attempt: p.Retry.Attempt, DelayMS: p.Retry.Delay.Milliseconds(), Message: r.masked(shortLine(p.Retry.Message)),
			})
		}
	})
}
