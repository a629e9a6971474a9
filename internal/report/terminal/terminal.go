// Package terminal prints the events of a loop for people, as they happen.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/internal/textstream"
)

// Options define how a loop is printed.
type Options struct {
	Out      io.Writer // what is worth keeping
	Progress io.Writer // progress
	Paint    document.Paint
	Live     bool   // progress is shown by the live region, not as lines
	Raw      bool   // the agent writes to the same terminal
	Watched  bool   // the session is the user's own
	Self     string // how supervise is called to find the loop
}

// Printer prints the events of one loop.
type Printer struct {
	Options
	headline         string // the last iteration, for the title of the terminal
	agentHasTerminal bool   // the agent has the terminal: supervise prints nothing
	heldEvents       []event.Event
	history          []ledger.Iteration
	selected         int
	choice           *event.SelectedOutput
	verified         *event.Verification
	reviewed         *ledger.SelectionReview
	compared         bool // candidates were
	dir, id          string
	untestedNote     string           // the last note about the agent's version
	calls            []event.HookCall // of the current run of the agent
}

// New returns a printer of one loop.
func New(o Options) *Printer { return &Printer{Options: o} }

func (p *Printer) printLine(format string, args ...any) {
	fmt.Fprint(p.Out, textstream.EscapeColored(fmt.Sprintf(format+"\n", args...)))
}

// followTerminal follows who has the terminal, and reports whether it is handed to the
// agent now.
func (p *Printer) followTerminal(t event.Type) bool {
	if t == event.AgentSpawned || t == event.AgentFinished {
		p.keepTitle(t == event.AgentSpawned)
		p.agentHasTerminal = p.Raw && t == event.AgentSpawned
	}
	return t == event.AgentSpawned
}

// PrintEvent prints one event, or keeps it until the agent has left the terminal.
func (p *Printer) PrintEvent(e event.Event) {
	if e.Candidate > 0 {
		p.printCandidate(e)
		return
	}
	if p.followTerminal(e.Type) || p.keepHookCall(e) {
		return
	}
	if p.agentHasTerminal { // supervise prints nothing on the agent's screen
		p.holdEvent(e)
		return
	}
	for held := p.heldEvents; !p.agentHasTerminal && len(held) > 0; held = held[1:] {
		p.heldEvents = nil
		p.PrintEvent(held[0])
	}
	p.printEvent(e)
}

// printEvent prints the usual events of a loop.
func (p *Printer) printEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.Started:
		p.printStart(e.LoopID, d)
	case event.Check:
		p.printCheck(d)
	case event.Baseline:
		p.printBaseline(d)
	case event.IterationStart:
		p.printAgentStart(e.Iteration, d)
	case event.IterationEnd:
		p.history = append(p.history, d.Iteration)
		p.printLine("%s", report.IterationLine(d.Iteration, p.Paint))
		p.printAgent(d.Iteration)
		p.printHookCalls()
		p.printGaps(d.Iteration)
		p.printSevere(d.Iteration)
	case event.Rejection:
		p.printRejected(d, e.Iteration)
	case event.Interruption:
		p.history = append(p.history, d.Iteration)
		p.printLine("%s", report.IterationLine(d.Iteration, p.Paint))
		p.printNote("interrupted; the work of the agent (%s) is kept: %s rollback %s %d",
			report.Pluralize(d.Changed, "changed file", "changed files"), p.Self, e.LoopID, e.Iteration)
	case event.SelectedOutput:
		p.selected, p.choice = d.Choice.Iteration, &d
	case event.Verification:
		p.verified = &d
	case event.LoopEnd:
		p.printEnd(d, e.Head)
	default:
		p.printProblem(e)
		p.printResumeEvent(e)
		p.printContest(e)
	}
}

func (p *Printer) printStart(id string, d event.Started) {
	p.printLine("%s %s", p.Paint(document.Strong, "supervise"), id)
	p.printHead(id, d.Dir, d.Agent, d.Plan)
	p.printLine("\n%s", report.IterationLineHeader(p.Paint))
}

func (p *Printer) printResume(id string, d event.Resumed) {
	p.printLine("%s %s, iteration %d: %s", p.Paint(document.Strong, "supervise resumes"), id, d.Iteration, d.From)
	p.printHead(id, d.Dir, d.Agent, d.Plan)
	p.printLine("\n%s", report.IterationLineHeader(p.Paint))
	p.history = d.History
	for _, it := range d.History {
		p.printLine("%s", report.IterationLine(it, p.Paint))
	}
}

func (p *Printer) printHead(id, dir string, agent []string, plan measure.Plan) {
	p.dir, p.id = dir, id
	p.printLine("%s %s", p.Paint(document.Faint, "agent"), strings.Join(agent, " "))
	for _, c := range plan.Checks {
		p.printLine("%s %s", p.Paint(document.Faint, fmt.Sprintf("%-5s", c.Kind)), report.CheckCommand(c, p.Paint))
	}
	p.printLine("%s %s", p.Paint(document.Faint, "state"), dir)
}

// printStatus shows progress on a separate line.
func (p *Printer) printStatus(format string, args ...any) {
	if !p.Live {
		p.printProgress(format, args...)
	}
}

func (p *Printer) printProgress(format string, args ...any) {
	text := textstream.EscapeColored("     " + fmt.Sprintf(format, args...))
	if p.Live {
		text = p.Paint(document.Faint, text)
	}
	fmt.Fprintln(p.Progress, text)
}

// printAgentStart says that the agent starts. The live region cannot say it if the agent draws on
// the terminal.
func (p *Printer) printAgentStart(iteration int, d event.IterationStart) {
	if !p.Live || p.Raw {
		p.printProgress("iteration %d of %d: the agent works (prompt level %s, %s)", iteration, d.Max, strings.ToLower(d.Level), d.Why)
	}
}

func (p *Printer) printCheck(c event.Check) {
	if !c.Done {
		p.printStatus("%s …", c.Name)
	}
}

func (p *Printer) printBaseline(d event.Baseline) {
	p.history = append(p.history, d.Iteration)
	p.printLine("%s", report.IterationLine(d.Iteration, p.Paint))
	p.printGaps(d.Iteration)
	if len(d.Flaky) > 0 {
		p.printNote("flaky tests before any agent ran: %s", strings.Join(d.Flaky, ", "))
	}
	for _, text := range d.UnusedSettings {
		p.printNote("%s", p.Paint(document.Warn, text))
	}
	for _, s := range d.Skipped {
		p.printNote("not in the snapshots: %s", s)
	}
	if names := event.SummarizePaths(d.NotKept); names != "" {
		p.printNote("ignored, not in the snapshots, regenerated by tools: %s", names)
	}
	if len(d.CheckOutputs) > 0 {
		p.printNote("written by the checks themselves, ignored: %s", strings.Join(d.CheckOutputs, ", "))
	}
	if !p.Watched {
		p.printNote("Done when: %s", d.Criterion)
	}
}

func (p *Printer) printNote(format string, args ...any) {
	p.printLine("     %s", p.Paint(document.Faint, fmt.Sprintf(format, args...)))
}

// NewJSONPrinter returns a function that prints one JSON object per event.
func NewJSONPrinter(w io.Writer, complain func(...any)) func(event.Event) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e event.Event) {
		if err := enc.Encode(e); err != nil {
			complain(err)
		}
	}
}

// WithBell returns a function that passes events to next, and rings the terminal's bell on
// talk when an approval is needed, at critical findings, and at the end.
func WithBell(talk io.Writer, next func(event.Event)) func(event.Event) {
	return func(e event.Event) {
		next(e)
		ring := e.Type == event.LoopFinished || e.Type == event.ApprovalRequested
		if d, finished := e.Data.(event.IterationEnd); finished {
			ring = d.Iteration.Assessment.HasCritical()
		}
		if ring {
			fmt.Fprint(talk, "\a")
		}
	}
}
