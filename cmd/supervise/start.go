package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/approval"
	"supervise/internal/config"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/prompt"
	"supervise/internal/report"
	"supervise/internal/report/live"
	"supervise/internal/report/terminal"
	"supervise/internal/review"
	"supervise/runner"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// loopOptions returns the settings of a loop and what follows from them: flags over
// the configuration over what is recognised. register adds the flags of settings.
func (a *app) loopOptions(at place, checks checkFlags, given *pflag.FlagSet, register func(*pflag.FlagSet, *config.Settings)) (config.Settings, loop.Options, error) {
	s, plan, err := a.plan(at.project, checks)
	if err != nil {
		return s, loop.Options{}, err
	}
	if err := overlay(&s, given, register); err != nil {
		return s, loop.Options{}, err
	}
	opts, err := s.LoopOptions(at.root)
	opts.Plan = plan
	return s, opts, err
}

// ready refuses an agent that cannot be started before anything is measured, and
// prints notes about it. yolo says that --yolo was given on the command line.
func (a *app) ready(at place, opts loop.Options, yolo bool) error {
	if err := reviewerReady(at, opts.Reviewer); err != nil {
		return err
	}
	if opts.Program.Name == "" {
		if len(opts.Args) == 0 {
			return usageError{errors.New("no agent: give its command behind --, or a known agent with --agent")}
		}
		return wrongUsage(agent.CheckInstalled(at.here, opts.Args))
	}
	switch {
	case opts.Task == "":
		return usageError{fmt.Errorf("%s needs a task: give it with -p or -P", opts.Program.Name)}
	case opts.Program.Yolo && !yolo && a.config == "":
		return usageError{errors.New("yolo: true needs --yolo, or a file named with --config: the agent can write .supervise.yaml")}
	case len(opts.Fallback) > 0 && len(opts.Args) > 0:
		return usageError{errors.New("arguments behind -- go with one agent: each of several has its own")}
	}
	for _, x := range opts.Programs() {
		if err := a.startable(at, x); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// startable refuses a known agent that cannot be started, and prints notes about it.
func (a *app) startable(at place, x agentrun.Program) error {
	p, err := agent.ByName(x.Name)
	if err == nil {
		err = agent.CheckInstalled(at.here, p.Programs)
	}
	if err == nil {
		err = p.CheckRoot(os.Environ(), x.Yolo)
	}
	if err == nil {
		a.notes(p.Notes(x.Yolo)...)
	}
	return err
}

// reviewerReady refuses a reviewer that cannot be started: a known program that is not
// there.
func reviewerReady(at place, o review.Options) error {
	p, known := o.Preset()
	if !known {
		return nil
	}
	if err := agent.CheckInstalled(at.here, p.Programs); err != nil {
		return usageError{fmt.Errorf("--reviewer: %w", err)}
	}
	return nil
}

// prepare checks that a loop can start in the tree, reads what the user accepted, and
// prints notes unless quiet. maxLoops is limits.max_loops.
func (a *app) prepare(ctx context.Context, at place, opts *loop.Options, maxLoops int, quiet bool) (err error) {
	if err := at.kept(ctx); err != nil {
		return err
	}
	if opts.Home, err = a.home(at.root); err != nil {
		return err
	}
	if err := a.room(opts.Home, maxLoops); err != nil {
		return err
	}
	if opts.Texts, err = promptTexts(at.project); err != nil {
		return err
	}
	list, note, err := accepted(ctx, at.project, time.Now())
	if err != nil {
		return err
	}
	opts.Rules.Acknowledged = list
	if !quiet {
		a.notes(append(at.notes(ctx), note)...)
	}
	return nil
}

// room refuses a loop while limit loops run on the machine; 0 is no limit.
func (a *app) room(home string, limit int) error {
	if limit == 0 {
		return nil
	}
	pattern := home
	if a.state == "" {
		pattern = filepath.Join(filepath.Dir(home), "*")
	}
	running, err := ledger.ActiveLoops(pattern)
	if err != nil || len(running) < limit {
		return err
	}
	var names []string
	for _, s := range running {
		names = append(names, s.LoopID+" in "+s.Workspace)
	}
	return usageError{fmt.Errorf("limits.max_loops is %d, and %s already: %s", limit, report.Pluralize(len(running), "loop runs", "loops run"), strings.Join(names, ", "))}
}

// promptTexts reads and checks the prompt texts of the project.
func promptTexts(project string) (map[string]string, error) {
	const folder = ".supervise/prompts"
	own, err := prompt.Read(project, folder)
	if err == nil {
		_, err = prompt.Parse(own, filepath.Join(project, filepath.FromSlash(folder)))
	}
	return own, wrongUsage(err)
}

// warnHidden notes where the agent can learn from a file of the tree where the hidden
// tests are.
func (a *app) warnHidden(at place, opts loop.Options) {
	path, err := filepath.Abs(cmp.Or(a.config, config.Path(at.project)))
	if err != nil || opts.Hidden.Dir == "" {
		return
	}
	if rel, err := filepath.Rel(at.root, path); err == nil && filepath.IsLocal(rel) {
		a.notes("the agent can read " + rel + ", which names the folder of the hidden tests: use --hidden-tests, or a --config outside the tree")
	}
}

// supervise runs the loop with this process's terminal and prints what happens.
func (a *app) supervise(ctx context.Context, opts loop.Options, p printFlags, start func(context.Context, loop.Options) (loop.Outcome, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts.OnInterrupt = func() { cancel(loop.ErrInterrupted) }
	opts.Log, opts.Self = a.log(), program()
	defer a.attach(&opts, p)()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), loop.ErrInterrupted) {
			fmt.Fprint(a.talk, "\r\ninterrupted: ending the agent and putting the tree in order …\r\n")
		}
	})()
	out, err := start(ctx, opts)
	if err != nil {
		return err
	}
	a.code = out.Stop.Reason.ExitCode()
	return nil
}

// attach gives the loop the terminal of this process, if there is one, and the
// printers that the flags ask for. The function that it returns ends them.
func (a *app) attach(opts *loop.Options, f printFlags) (detach func()) {
	input := term.IsTerminal(int(a.in.Fd())) && !f.json
	tty := input && isTerminal(a.out)
	opts.Person = loop.Person{Name: userName(), Self: a.self()}
	if input {
		opts.Person.Terminal = approval.TerminalPath()
	}
	show := f.agentOutput
	if show == "auto" {
		show = shownOutput(tty, opts.Program)
	}
	if tty && show == "raw" {
		opts.Terminal = &runner.Terminal{In: a.in, Out: a.raw.out.(*os.File)} //nolint:forcetypeassert // a terminal is a file
	}
	board := live.NewBoard(time.Now, a.mask.String)
	a.board = board
	opts.WatchChecks, opts.OnReport = board.StartCheck, board.HandleReport
	if opts.Terminal == nil {
		opts.Mirror = func(int) io.WriteCloser { return a.masked(board.WatchAgent()) }
	}
	stop := board.PersistFile()
	if f.json {
		opts.OnEvent = f.ring(a.talk, shownOn(board, terminal.NewJSONPrinter(a.doc, opts.Log.WithField("output", "json").Error)))
		return stop
	}
	o := terminal.Options{Out: a.doc, Progress: a.talk, Paint: a.paint(a.out), Live: f.ui != "plain" && a.hasRegion(), Raw: opts.Terminal != nil, Watched: opts.IdleAfter > 0, Self: a.self()}
	switch f.ui {
	case "plain":
		o.Paint = document.NoPaint
	case "rich":
		o.Paint = document.ANSI
	}
	opts.OnEvent = f.ring(a.talk, shownOn(board, terminal.New(o).PrintEvent))
	if show == "lines" {
		opts.Mirror = a.agentLines(opts, o.Paint, board)
	}
	if !o.Live {
		return stop
	}
	next, end := opts.OnEvent, a.openRegion(board, show == "lines")
	opts.OnEvent = func(e event.Event) {
		next(e)
		a.screen.region.HandleEvent(e, o.Raw)
	}
	return func() {
		end()
		stop()
	}
}

// agentLines returns what shows the output of an agent: as the program prints it that is
// at work.
func (a *app) agentLines(opts *loop.Options, paint document.Paint, board *live.Board) func(int) io.WriteCloser {
	name, next := opts.Program.Name, opts.OnEvent
	opts.OnEvent = func(e event.Event) {
		if d, ok := e.Data.(event.Waiting); ok {
			name = cmp.Or(d.Next, name)
		}
		next(e)
	}
	return func(int) io.WriteCloser {
		return a.masked(both{terminal.NewAgentWriter(a.out, paint, name), board.WatchAgent()})
	}
}

// ring adds the terminal's bell to what prints events, if --bell asks for it.
func (p printFlags) ring(talk io.Writer, next func(event.Event)) func(event.Event) {
	if !p.bell || !isTerminal(talk) {
		return next
	}
	return terminal.WithBell(talk, next)
}

// shownOutput is what --agent-output auto shows: on a terminal the output as it is,
// but the messages of a known agent, which prints events.
func shownOutput(tty bool, p agentrun.Program) string {
	switch {
	case !tty:
		return "none"
	case p.Name != "":
		return "lines"
	}
	return "raw"
}
