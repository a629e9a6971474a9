package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"supervise/internal/config"
	"supervise/internal/event"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) watchCmd() *cobra.Command {
	f := &runFlags{set: config.Default(), show: "raw"}
	var rest time.Duration
	cmd := &cobra.Command{
		Use:   "watch [flags] -- AGENT [ARGS…]",
		Short: "Watch your own session with an agent, and measure whenever it rests",
		Long: `Watch measures the working tree, starts AGENT on your terminal, and leaves the
session to you. Whenever the agent comes to rest with something changed, the tree is
measured and judged as an iteration of run is: when the agent's own hooks tell that
it stopped, or when it has printed nothing and nothing was written for --rest.

Nothing is undone. What is found stands in the title of the terminal between turns,
in supervise status --watch in another terminal, and below the session when it is
over; the tree stays as it is. supervise rollback puts any iteration back.`,
		Example: `  supervise watch -- claude
  supervise watch --rest 1m -- aider
  supervise status --watch`,
		Args: f.args,
		RunE: func(cmd *cobra.Command, args []string) error { return a.watch(cmd, f, rest, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	s := &f.set
	flags.DurationVar(&rest, "rest", loop.DefaultRest, "how long the agent prints nothing, and nothing is written, until it counts as resting")
	flags.StringVar(&s.Mode, "mode", s.Mode, "which rules apply: standard, minimal (critical findings alone), aggressive (all), off")
	flags.BoolVar(&s.Strict, "strict", false, "a renamed or moved test counts as a deleted one")
	flags.BoolVar(&s.AllowUntested, "allow-untested", false, "watch although no test can be measured, judged by build and lint alone")
	flags.StringVar(&s.Selection.Mode, "select", s.Selection.Mode, "how the best is chosen: highest_quality_verified, highest_quality, most_recent_above_threshold")
	flags.StringVar(&s.Hooks.Use, "hooks", s.Hooks.Use, "whether the agent's own hooks tell that it stopped: on, off")
	f.planFlags.register(cmd)
	return cmd
}

func (a *app) watch(cmd *cobra.Command, f *runFlags, rest time.Duration, args []string) error {
	if rest <= 0 {
		return usageError{fmt.Errorf("--rest must be above 0, not %s", rest)}
	}
	if !term.IsTerminal(int(a.in.Fd())) || !isTerminal(a.out) {
		return usageError{errors.New("watch is for a session of your own and needs a terminal: supervise run works without one")}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	opts, err := a.asked(cmd, at, f)
	if err != nil {
		return err
	}
	opts.Rest, opts.Dir, opts.Args, opts.Program = rest, at.here, args, loop.Program{}
	if err := a.prepare(cmd, at, &opts, f); err != nil {
		return err
	}
	return a.supervise(cmd.Context(), opts, f, loop.Watch)
}

// hold keeps an event until the agent has left the terminal. How the checks get on is
// not worth it. In a session of the user's own what was found stands in the title.
func (p *printer) hold(e event.Event) {
	switch d := e.Data.(type) {
	case event.Check:
		return
	case event.IterationEnd:
		p.found = headline(d)
	}
	if e.Type == event.AgentRests {
		p.title(p.found)
		return
	}
	p.held = append(p.held, e)
}

// The title of a terminal: xterm's sequences to keep it, to put it back, and to set it.
const (
	keepTitle  = "\x1b[22;2t"
	putTitle   = "\x1b[23;2t"
	setTitle   = "\x1b]2;"
	titleEnd   = "\x07"
	titleWidth = 120 // characters
)

func (p *printer) title(text string) {
	if p.watched && p.raw {
		fmt.Fprint(p.out, setTitle+text+titleEnd)
	}
}

// titles keeps the title of the terminal before a session, and puts it back after it.
func (p *printer) titles(before bool) {
	sequence := putTitle
	if before {
		sequence = keepTitle
	}
	if p.watched && p.raw {
		fmt.Fprint(p.out, sequence)
	}
}

// headline is an iteration in one line.
func headline(d event.IterationEnd) string {
	text := fmt.Sprintf("supervise %d: %s", d.It.Number, d.It.Assessment.Class)
	if d.It.Set.Tests != nil {
		n := d.It.Set.Tests.Counts()
		text += fmt.Sprintf(", %d/%d pass", n.Passed, n.Count)
	}
	for i, alert := range d.It.Assessment.Alerts {
		if i == 2 {
			text += " …"
			break
		}
		text += ", " + alert.Severity.String() + " " + alert.Message()
	}
	line := []rune(strings.Map(printable, strings.ReplaceAll(text, "\n", " ")))
	if len(line) > titleWidth {
		line = append(line[:titleWidth-1], '…')
	}
	return string(line)
}
