// Package terminal prints the events of a loop for people, as they happen.
//
// [Printer.PrintEvent] prints each event. If the agent draws on the same terminal, it holds the
// events until the agent has left (title.go). The other files print one phase of a loop each: an
// iteration (iteration.go), problems and resumption (problems.go), and the end (end.go).
// [NewAgentWriter] prints the output of the agent.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/internal/textstream"
)

// Options say how a loop is printed.
type Options struct {
	Out      io.Writer // receives results, which are worth keeping
	Progress io.Writer // receives progress, which is not
	Paint    document.Paint
	Live     bool   // a live region shows the progress, so it is not printed as lines
	Raw      bool   // the agent writes to the same terminal
	Watched  bool   // the loop is a watched session of the user
	Self     string // command line of supervise, for the commands that are printed
}

// Printer prints the events of one loop. It keeps what later events refer to.
type Printer struct {
	Options
	headline         string                // describes the last iteration, for the title of the terminal
	agentHasTerminal bool                  // the agent has the terminal: supervise prints nothing
	heldEvents       []event.Event         // events that are printed when the agent has left the terminal
	history          []ledger.Iteration    // the iterations so far, the baseline first
	selected         int                   // number of the selected iteration
	choice           *event.SelectedOutput // nil until an iteration is selected
	verified         *ledger.Verification
	reviewed         *ledger.SelectionReview
	compared         bool // the loop has candidates, which were compared
	dir, id          string
	untestedNote     string           // the last note about the agent's version
	calls            []event.HookCall // calls of hooks in the current run of the agent
}

// New returns a printer of one loop.
func New(o Options) *Printer { return &Printer{Options: o} }

// printLine prints a line of results.
func (p *Printer) printLine(format string, args ...any) {
	fmt.Fprint(p.Out, textstream.EscapeColored(fmt.Sprintf(format+"\n", args...)))
}

// followTerminal records whether the agent has the terminal, and reports whether the event gives it
// to the agent.
func (p *Printer) followTerminal(t event.Type) bool {
	if t == event.AgentSpawned || t == event.AgentFinished {
		p.printOnSession(report.Either(t == event.AgentSpawned, report.SaveTitle, report.RestoreTitle))
		p.agentHasTerminal = p.Raw && t == event.AgentSpawned
	}
	return t == event.AgentSpawned
}

// PrintEvent prints one event. While the agent has the terminal, it keeps the event for later.
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

// printEvent prints an event at once, and remembers what later ones need.
func (p *Printer) printEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.Started:
		p.printStart(e.LoopID, d)
	case event.Check:
		if !d.Done {
			p.printStatus("%s …", d.Name)
		}
	case event.SealedTests:
		p.printSealed(d)
	case event.RestoredTests:
		p.printSealedRestored(d)
	case event.Baseline:
		p.printBaseline(d)
	case event.IterationStart:
		p.printAgentStart(e.Iteration, d)
	case event.IterationEnd:
		p.addIteration(d.Iteration)
		p.printAgent(d.Iteration)
		p.printHookCalls()
		p.printGaps(d.Iteration)
		p.printSevere(d.Iteration)
	case event.Rejection:
		p.printRejected(d, e.Iteration)
	case event.Interruption:
		p.addIteration(d.Iteration)
		p.printNote("interrupted; the work of the agent (%s) is kept: %s rollback %s %d",
			report.Pluralize(d.Changed, "changed file", "changed files"), p.Self, e.LoopID, e.Iteration)
	case event.SelectedOutput:
		p.selected, p.choice = d.Choice.Iteration, &d
	case ledger.Verification:
		p.verified = &d
	case event.LoopEnd:
		p.printEnd(d, e.Head)
	default:
		p.printProblem(e)
		p.printResumeEvent(e)
		p.printContest(e)
	}
}

// printStart prints the head of a new loop.
func (p *Printer) printStart(id string, d event.Started) {
	p.printLine("%s %s", p.Paint(document.Strong, "supervise"), id)
	p.printHead(id, d.Dir, d.Agent, d.Plan)
}

// printResume prints the head of a resumed loop, and its earlier iterations.
func (p *Printer) printResume(id string, d event.Resumed) {
	p.printLine("%s %s, iteration %d: %s", p.Paint(document.Strong, "supervise resumes"), id, d.Iteration, d.From)
	p.printHead(id, d.Dir, d.Agent, d.Plan)
	p.history = nil
	for _, it := range d.History {
		p.addIteration(it)
	}
}

// addIteration prints the line of an iteration, and keeps the iteration for the end of the loop.
func (p *Printer) addIteration(it ledger.Iteration) {
	p.history = append(p.history, it)
	p.printLine("%s", report.IterationLine(it, p.Paint))
}

// printHead prints the agent, the checks and the folder of a loop, and the head of its table.
func (p *Printer) printHead(id, dir string, agent []string, plan measure.Plan) {
	p.dir, p.id = dir, id
	p.printLine("%s %s", p.Paint(document.Faint, "agent"), strings.Join(agent, " "))
	for _, c := range plan.Checks {
		p.printLine("%s %s", p.Paint(document.Faint, fmt.Sprintf("%-5s", c.Kind)), report.CheckCommand(c, p.Paint))
	}
	p.printLine("%s %s\n\n%s", p.Paint(document.Faint, "state"), dir, report.IterationLineHeader(p.Paint))
}

// printStatus prints progress, unless a live region shows it.
func (p *Printer) printStatus(format string, args ...any) {
	if !p.Live {
		p.printProgress(format, args...)
	}
}

// printProgress prints an indented line of progress.
func (p *Printer) printProgress(format string, args ...any) {
	text := textstream.EscapeColored("     " + fmt.Sprintf(format, args...))
	if p.Live {
		text = p.Paint(document.Faint, text)
	}
	fmt.Fprintln(p.Progress, text)
}

// printAgentStart says that the agent starts. A live region says that itself, unless the agent
// draws on the terminal.
func (p *Printer) printAgentStart(iteration int, d event.IterationStart) {
	if !p.Live || p.Raw {
		p.printProgress("iteration %d of %d: the agent works (prompt level %s, %s)", iteration, d.Max, strings.ToLower(d.Level), d.Why)
	}
}

// printBaseline prints the baseline, and what the checks and the snapshots leave out.
func (p *Printer) printBaseline(d event.Baseline) {
	p.addIteration(d.Iteration)
	p.printGaps(d.Iteration)
	p.printNoteUnlessEmpty("flaky tests before any agent ran: ", strings.Join(d.Flaky, ", "))
	for _, text := range slices.Concat(d.Uncommitted, d.UnusedSettings) {
		p.printNote("%s", p.Paint(document.Warn, text))
	}
	for _, s := range d.Skipped {
		p.printNote("not in the snapshots: %s", s)
	}
	p.printNoteUnlessEmpty("ignored, not in the snapshots, regenerated by tools: ", event.SummarizePaths(d.NotKept))
	p.printNoteUnlessEmpty("written by the checks themselves, ignored: ", strings.Join(d.CheckOutputs, ", "))
	if !p.Watched {
		p.printNote("Done when: %s", d.Criterion)
	}
}

// printNote prints an indented line in a faint style.
func (p *Printer) printNote(format string, args ...any) {
	p.printLine("     %s", p.Paint(document.Faint, fmt.Sprintf(format, args...)))
}

// printNoteUnlessEmpty prints a name and a text as a note. It prints nothing for an empty text.
func (p *Printer) printNoteUnlessEmpty(name, text string) {
	if text != "" {
		p.printNote("%s%s", name, text)
	}
}

// NewJSONPrinter returns a function that writes each event to w as a JSON object on one line. It
// passes errors to complain.
func NewJSONPrinter(w io.Writer, complain func(...any)) func(event.Event) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e event.Event) {
		if err := enc.Encode(e); err != nil {
			complain(err)
		}
	}
}

// WithBell returns a function that passes events to next and then rings the bell of the terminal
// talk if an approval is needed, if a finding is critical, and when the loop ends.
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
