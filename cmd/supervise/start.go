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

	"golang.org/x/term"
)

// requireAgent returns an error if the agent cannot be started, and prints notes about it. yolo
// says that --yolo is on the command line. It runs before the first measurement, which may take
// long.
func (a *app) requireAgent(at workspace, opts loop.Options, yolo bool) error {
	if err := requireReviewer(at, opts.Reviewer); err != nil {
		return err
	}
	if opts.Program.Name == "" {
		if len(opts.Args) == 0 {
			return usageError{errors.New("no agent: give its command after --, or a known agent with --agent")}
		}
		return asUsageError(agent.CheckInstalled(at.here, opts.Args))
	}

	switch {
	case opts.Task == "":
		return usageError{fmt.Errorf("%s needs a task: give it with -p or -P", opts.Program.Name)}
	case opts.Program.Yolo && !yolo && a.config == "":
		return usageError{errors.New("yolo: true needs --yolo, or a file named with --config: the agent can write .supervise.yaml")}
	case len(opts.Fallback) > 0 && len(opts.Args) > 0:
		return usageError{errors.New("arguments after -- require a single agent")}
	}

	for _, x := range opts.Programs() {
		if err := a.requireProgram(at, x); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// requireProgram returns an error if a known agent cannot be started, and prints notes about it.
func (a *app) requireProgram(at workspace, x agentrun.Program) error {
	p, err := agent.ByName(x.Name)
	if err == nil {
		err = agent.CheckInstalled(at.here, p.Programs)
	}
	if err == nil {
		err = p.CheckRoot(os.Environ(), x.Yolo)
	}
	if err == nil {
		a.printNotes(p.Notes(x.Yolo)...)
	}
	return err
}

// requireReviewer returns an error if the reviewer is a known program that is not installed.
func requireReviewer(at workspace, o review.Options) error {
	p, known := o.Preset()
	if !known {
		return nil
	}
	if err := agent.CheckInstalled(at.here, p.Programs); err != nil {
		return usageError{fmt.Errorf("--reviewer: %w", err)}
	}
	return nil
}

// prepareLoop checks that a loop can start in the tree, reads prompt texts and acknowledgements,
// and prints notes unless quiet is set. maxLoops is limits.max_loops.
func (a *app) prepareLoop(ctx context.Context, at workspace, opts *loop.Options, maxLoops int, quiet bool) (err error) {
	if err := at.requireSnapshots(ctx); err != nil {
		return err
	}
	opts.Home = at.home
	if err := a.requireLoopSlot(opts.Home, maxLoops); err != nil {
		return err
	}
	if opts.Texts, err = promptTexts(at.project); err != nil {
		return err
	}
	list, note, err := acceptedFindings(ctx, at.project, time.Now())
	if err != nil {
		return err
	}
	opts.Rules.Acknowledged = list
	if !quiet {
		a.printNotes(append(at.versionControlNotes(ctx), note)...)
	}
	return nil
}

// requireLoopSlot returns an error if limit loops already run on the machine. A limit of 0 means
// no limit.
func (a *app) requireLoopSlot(home string, limit int) error {
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

// promptTexts reads the texts with which the project replaces parts of prompts, and checks them.
func promptTexts(project string) (map[string]string, error) {
	const folder = ".supervise/prompts"
	texts, err := prompt.Read(project, folder)
	if err == nil {
		_, err = prompt.Parse(texts, filepath.Join(project, filepath.FromSlash(folder)))
	}
	return texts, asUsageError(err)
}

// warnHiddenTests prints a note if the agent can read a configuration that names the folder of the
// hidden tests.
func (a *app) warnHiddenTests(at workspace, opts loop.Options) {
	path, err := filepath.Abs(cmp.Or(a.config, config.Path(at.project)))
	if err != nil || opts.Hidden.Dir == "" {
		return
	}
	if rel, err := filepath.Rel(at.root, path); err == nil && filepath.IsLocal(rel) {
		a.printNotes("the agent can read " + rel + ", which names the folder of the hidden tests: use --hidden-tests, or a --config outside the tree")
	}
}

// supervise runs a loop by calling start, which gets opts connected to the terminal of this
// process. It prints the events of the loop, and sets the exit status.
func (a *app) supervise(ctx context.Context, opts loop.Options, p printFlags, start func(context.Context, loop.Options) (loop.Outcome, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opts.OnInterrupt = func() { cancel(loop.ErrInterrupted) }
	opts.Log, opts.Self = a.log(), executablePath()
	defer a.connectTerminal(&opts, p)()
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), loop.ErrInterrupted) {
			fmt.Fprint(a.talk, "\r\ninterrupted: ending the agent and restoring the tree …\r\n")
		}
	})()
	out, err := start(ctx, opts)
	if err != nil {
		return err
	}
	a.code = out.Stop.Reason.ExitCode()
	return nil
}

// connectTerminal sets in opts the terminal, the printers of events and the writers for the output
// of the agent, as the flags say. The caller must call detach when the loop has ended.
func (a *app) connectTerminal(opts *loop.Options, f printFlags) (detach func()) {
	input := term.IsTerminal(int(a.in.Fd())) && !f.json
	tty := input && isTerminal(a.out)
	opts.Person = loop.Person{Name: userName(), Self: a.self()}
	if input {
		opts.Person.Terminal = approval.TerminalPath()
	}

	show := f.agentOutput
	if show == "auto" {
		show = agentOutputMode(tty, opts.Program)
	}
	if tty && show == "raw" {
		opts.Terminal = &runner.Terminal{In: a.in, Out: a.raw.out.(*os.File)} //nolint:forcetypeassert // a terminal is a file
	}

	board := live.NewBoard(time.Now, a.mask.String)
	a.board = board
	opts.WatchChecks, opts.OnReport = board.StartCheck, board.HandleReport
	if opts.Terminal == nil {
		opts.Mirror = func(int) io.WriteCloser { return a.maskAgentOutput(board.WatchAgent()) }
	}

	stop := board.PersistFile()
	if f.json {
		opts.OnEvent = f.withBell(a.talk, updateBoard(board, terminal.NewJSONPrinter(a.doc, opts.Log.WithField("output", "json").Error)))
		return stop
	}

	o := terminal.Options{Out: a.doc, Progress: a.talk, Paint: a.paint(a.out), Live: f.ui != "plain" && a.hasRegion(), Raw: opts.Terminal != nil, Watched: opts.IdleAfter > 0, Self: a.self()}
	switch f.ui {
	case "plain":
		o.Paint = document.NoPaint
	case "rich":
		o.Paint = document.ANSI
	}

	opts.OnEvent = f.withBell(a.talk, updateBoard(board, terminal.New(o).PrintEvent))
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

// agentLines returns a function that creates the writer for the output of an agent, by the program
// that currently runs. It follows in the events which agent takes over.
func (a *app) agentLines(opts *loop.Options, paint document.Paint, board *live.Board) func(int) io.WriteCloser {
	name, next := opts.Program.Name, opts.OnEvent
	opts.OnEvent = func(e event.Event) {
		if d, ok := e.Data.(event.Waiting); ok {
			name = cmp.Or(d.Next, name)
		}
		next(e)
	}
	return func(int) io.WriteCloser {
		return a.maskAgentOutput(newTee(terminal.NewAgentWriter(a.out, paint, name), board.WatchAgent()))
	}
}

// withBell returns next, a printer of events, with the bell of the terminal if --bell is given.
func (p printFlags) withBell(talk io.Writer, next func(event.Event)) func(event.Event) {
	if !p.bell || !isTerminal(talk) {
		return next
	}
	return terminal.WithBell(talk, next)
}

// agentOutputMode returns the mode that --agent-output auto means. On a terminal that is raw, or
// lines for known agents, whose raw output is JSON. Without a terminal it is none.
func agentOutputMode(tty bool, p agentrun.Program) string {
	switch {
	case !tty:
		return "none"
	case p.Name != "":
		return "lines"
	}
	return "raw"
}
