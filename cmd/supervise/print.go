package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"supervise/internal/agent"
	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/runner"

	"golang.org/x/term"
)

// attach gives the loop the terminal of this process, if there is one, and the
// printers that were asked for.
func (a *app) attach(opts *loop.Options, f *runFlags) {
	tty := term.IsTerminal(int(a.in.Fd())) && isTerminal(a.out) && !f.json
	opts.Person = loop.Person{Name: userName(), Self: a.self()}
	if term.IsTerminal(int(a.in.Fd())) && !f.json {
		opts.Person.Terminal = approval.Terminal()
	}
	show := f.show
	if show == "auto" {
		show = shownOf(tty, opts.Program)
	}
	if tty && show == "raw" {
		opts.Terminal = &runner.Terminal{In: a.in, Out: a.out.(*os.File)} //nolint:forcetypeassert // a terminal is a file
	}
	if f.json {
		opts.OnEvent = f.rings(a.err, jsonPrinter(a.out, opts.Log.WithField("output", "json").Error))
		return
	}
	p := &printer{out: a.out, talk: a.err, paint: a.paint(a.out), live: isTerminal(a.err), raw: opts.Terminal != nil, watched: opts.Rest > 0, self: a.self()}
	switch f.ui {
	case "plain":
		p.paint, p.live = report.NoPaint, false
	case "rich":
		p.paint = report.ANSI
	}
	opts.OnEvent = f.rings(a.err, p.event)
	if show == "lines" {
		prefix := p.paint(report.Faint, "       │ ")
		opts.Mirror = func(int) io.WriteCloser {
			to := &lines{to: a.out, prefix: prefix}
			if known, err := agent.ByName(opts.Program.Name); err == nil && known.Format != "" {
				return newSpoken(known.Format, to)
			}
			return to
		}
	}
}

// rings rings the bell of a terminal at what somebody may want to know at once, if
// that was asked for.
func (f *runFlags) rings(talk io.Writer, next func(event.Event)) func(event.Event) {
	if !f.bell || !isTerminal(talk) {
		return next
	}
	return func(e event.Event) {
		next(e)
		ring := e.Type == event.LoopFinished || e.Type == event.GateOpened
		if d, finished := e.Data.(event.IterationEnd); finished {
			ring = d.It.Assessment.Critical()
		}
		if ring {
			fmt.Fprint(talk, "\a")
		}
	}
}

// jsonPrinter prints one JSON object per event.
func jsonPrinter(w io.Writer, complain func(...any)) func(event.Event) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e event.Event) {
		if err := enc.Encode(e); err != nil {
			complain(err)
		}
	}
}

// printer prints events for people: what is worth keeping on out, progress on
// talk.
type printer struct {
	out, talk io.Writer
	paint     report.Paint
	live      bool   // talk is a terminal: progress lines are replaced
	raw       bool   // the agent writes to the same terminal
	watched   bool   // the session is the user's own
	found     string // there, for the title of the terminal
	theirs    bool   // it does so at present: nothing of ours may come in between
	held      []event.Event
	history   []ledger.Iteration
	selected  int
	choice    *event.Selected
	verified  *event.Verification
	dir, id   string
	self      string           // how supervise is called to find the loop
	untried   string           // what was said last of the agent's version
	calls     []event.HookCall // of the present run of the agent
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// yields follows who has the terminal, and reports whether it is handed to the
// agent now.
func (p *printer) yields(t event.Type) bool {
	if t == event.AgentSpawned || t == event.AgentFinished {
		p.titles(t == event.AgentSpawned)
		p.theirs = p.raw && t == event.AgentSpawned
	}
	return t == event.AgentSpawned
}

func (p *printer) event(e event.Event) {
	if p.yields(e.Type) || p.hooked(e) {
		return
	}
	if p.theirs { // nothing of ours may come on the agent's screen
		p.hold(e)
		return
	}
	for held := p.held; !p.theirs && len(held) > 0; held = held[1:] {
		p.held = nil
		p.event(held[0])
	}
	p.clear()
	p.course(e)
}

// course prints what a loop goes through as it should.
func (p *printer) course(e event.Event) {
	switch d := e.Data.(type) {
	case event.Started:
		p.started(e.LoopID, d)
	case event.Check:
		p.progress(d)
	case event.Baseline:
		p.baseline(d)
	case event.AgentStart:
		p.status("iteration %d of %d: the agent works (prompt level %s, %s)", e.Iteration, d.Max, strings.ToLower(d.Level), d.Why)
		if p.live && p.raw {
			fmt.Fprintln(p.talk) // the agent's own screen begins on a line of its own
		}
	case event.IterationEnd:
		p.history = append(p.history, d.It)
		p.line("%s", report.Line(d.It, p.paint))
		p.agent(d.It)
		p.hookCalls()
		p.gaps(d.It)
		p.grave(d.It)
	case event.Rejected:
		p.rejected(d, e.Iteration)
	case event.Interruption:
		p.history = append(p.history, d.It)
		p.line("%s", report.Line(d.It, p.paint))
		p.note("interrupted; what the agent had done (%s) is kept: %s rollback %s %d",
			report.Count(d.Changed, "changed file", "changed files"), p.self, e.LoopID, e.Iteration)
	case event.Selected:
		p.selected, p.choice = d.Choice.Iteration, &d
	case event.Verification:
		p.verified = &d
	case event.LoopEnd:
		p.finished(d)
	default:
		p.trouble(e)
		p.aftermath(e)
	}
}

// trouble prints what happens beside the course of a loop.
func (p *printer) trouble(e event.Event) {
	switch d := e.Data.(type) {
	case event.Waiting:
		p.line("     %s", p.paint(report.Warn, waiting(d)))
	case event.Retrying:
		p.note("agent: %s; it tries again by itself, %d", outcomeOf(d.Outcome, d.Message), d.Attempt)
	case event.Silence:
		p.warn(silent(e.Type, d))
	case event.TreeAlarm:
		p.warn("while the agent worked: " + d.String())
	case event.ApprovalOpened:
		p.asked(d)
	case approval.Answer:
		p.note("%s", d)
	}
}

// aftermath prints what came of the death of a supervisor.
func (p *printer) aftermath(e event.Event) {
	switch d := e.Data.(type) {
	case event.Resumed:
		p.resumed(e.LoopID, d)
	case event.Crash:
		p.crash(d)
	case event.SnapshotsGone:
		p.note("%s dropped to keep the store small (%s freed, %s left): %s", report.Count(len(d.Snapshots), "old snapshot", "old snapshots"),
			size(d.Freed), size(d.Bytes), strings.Join(cut(d.Snapshots, 10), ", "))
	case event.OverLimit:
		p.line("     %s", p.paint(report.Warn, fmt.Sprintf("the snapshots take %s, over snapshot.max_store_mb (%s): %s", size(d.Bytes), size(d.Limit), d.Why)))
	case event.Shortfall:
		p.shortfall(d)
	case event.SharedRefs:
		p.shared(e, d)
	case event.Survivors:
		p.warn("ended what the killed supervise had left running: " + strings.Join(cut(d.Names, 5), ", "))
	case event.Damage:
		for _, problem := range d.Problems {
			p.warn(problem)
		}
	case event.TreeChange:
		p.note("%s differed from what the loop knew and %s put back; what was there is kept: %s rollback %s %s",
			report.Count(d.Files, "file", "files"), isAre(d.Files), p.self, e.LoopID, d.Kept)
	}
}

// waiting says why nothing happens, and until when.
func waiting(d event.Waiting) string {
	until := "waiting until " + d.Until.Local().Format(time.TimeOnly)
	if d.DelayMS >= (12 * time.Hour).Milliseconds() {
		until = "waiting until " + d.Until.Local().Format(time.DateTime)
	}
	if d.Told {
		until += ", as the service says"
	}
	return "agent: " + outcomeOf(d.Outcome, d.Message) + "; " + until + "; the iteration is not counted"
}

func outcomeOf(outcome, message string) string {
	outcome = strings.ReplaceAll(outcome, "_", " ")
	if message == "" {
		return outcome
	}
	return outcome + " (" + message + ")"
}

// asked says that the loop waits, where that is not shown by asking.
func (p *printer) asked(d event.ApprovalOpened) {
	if d.Terminal {
		return
	}
	p.line("%s", p.paint(report.Warn, strings.TrimRight(d.Question.Text(), "\n")))
	p.line("     waits for: %s approve|reject|abort %s (approve needs --reason)", p.self, d.Question.LoopID)
}

func (p *printer) warn(text string) { p.line("     %s", p.paint(report.Warn, text)) }

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func (p *printer) started(id string, d event.Started) {
	p.line("%s %s", p.paint(report.Strong, "supervise"), id)
	p.head(id, d.Dir, d.Agent, d.Plan)
	p.line("\n%s", report.LineHead(p.paint))
}

func (p *printer) resumed(id string, d event.Resumed) {
	p.line("%s %s, iteration %d: %s", p.paint(report.Strong, "supervise resumes"), id, d.Iteration, d.From)
	p.head(id, d.Dir, d.Agent, d.Plan)
	p.line("\n%s", report.LineHead(p.paint))
	p.history = d.History
	for _, it := range d.History {
		p.line("%s", report.Line(it, p.paint))
	}
}

func (p *printer) head(id, dir string, agent []string, plan measure.Plan) {
	p.dir, p.id = dir, id
	p.line("%s %s", p.paint(report.Faint, "agent"), strings.Join(agent, " "))
	for _, c := range plan.Checks {
		p.line("%s %s", p.paint(report.Faint, fmt.Sprintf("%-5s", c.Kind)), checkLine(c, p.paint))
	}
	p.line("%s %s", p.paint(report.Faint, "state"), dir)
}

// clear removes the progress line.
func (p *printer) clear() {
	if p.live && !p.theirs {
		fmt.Fprint(p.talk, "\r\x1b[K")
	}
}

// status shows what is going on. Without a terminal it is a line of its own.
func (p *printer) status(format string, args ...any) {
	text := "     " + fmt.Sprintf(format, args...)
	if p.live {
		fmt.Fprint(p.talk, p.paint(report.Faint, text))
		return
	}
	fmt.Fprintln(p.talk, text)
}

func (p *printer) progress(c event.Check) {
	if !c.Done {
		p.status("%s …", c.Name)
	}
}

func (p *printer) baseline(d event.Baseline) {
	p.history = append(p.history, d.It)
	p.line("%s", report.Line(d.It, p.paint))
	p.gaps(d.It)
	if len(d.Flaky) > 0 {
		p.note("flaky before any agent ran: %s", strings.Join(d.Flaky, ", "))
	}
	for _, text := range d.Idle {
		p.note("%s", p.paint(report.Warn, text))
	}
	for _, s := range d.Skipped {
		p.note("not in the snapshots: %s", s)
	}
	if len(d.Artefacts) > 0 {
		p.note("made by the checks themselves, left alone: %s", strings.Join(d.Artefacts, ", "))
	}
	if !p.watched {
		p.note("done when: %s", d.Criterion)
	}
}

// agent says how the agent ended, unless it ended well and left nothing.
func (p *printer) agent(it ledger.Iteration) {
	if text := report.Ending(it.Agent); text != "" {
		p.note("agent: %s", text)
	}
	if text := report.Used(it.Agent); text != "" {
		p.note("agent: %s", text)
	}
	if text := untried(it.Agent); text != p.untried && text != "" {
		p.untried = text
		p.note("%s", text)
	}
}

// crash warns that the tree may hold what an agent left unjudged.
func (p *printer) crash(d event.Crash) {
	what := fmt.Sprintf("the tree may hold unjudged work of its iteration %d", d.Iteration)
	if d.Restored {
		what = "it was putting the tree back, which is done now"
	}
	p.line("%s", p.paint(report.Warn, fmt.Sprintf("loop %s was killed: %s; interrupt this one and %s resume %s --force goes on with it, or %s rollback %s %d puts back what came before it",
		d.LoopID, what, p.self, d.LoopID, p.self, d.LoopID, max(0, d.Iteration-1))))
}

// shortfall tells what a restore could not do.
func (p *printer) shortfall(d event.Shortfall) {
	if len(d.Gone) > 0 {
		p.line("     %s", p.paint(report.Warn, "gone, and never kept, so that it cannot be put back: "+strings.Join(cut(d.Gone, 10), ", ")))
	}
	if len(d.Left) > 0 {
		p.line("     %s", p.paint(report.Warn, "new, and left there, too big or unreadable to be kept: "+strings.Join(cut(d.Left, 10), ", ")))
	}
	if len(d.Displaced) > 0 {
		p.line("     %s", p.paint(report.Warn, "in the way, and too big or unreadable to be kept: "+strings.Join(cut(d.Displaced, 10), ", ")+"; moved to "+d.DisplacedTo))
	}
}

// shared tells what became of that which linked worktrees share.
func (p *printer) shared(e event.Event, d event.SharedRefs) {
	text := "put back in the repository that the worktrees share: " + strings.Join(cut(d.Names, 10), ", ")
	if e.Type == event.SharedLost {
		text = fmt.Sprintf("gone from the repository that the worktrees share: %s; %s rollback %s 0 brings it back", strings.Join(cut(d.Names, 10), ", "), p.self, e.LoopID)
	}
	p.line("     %s", p.paint(report.Warn, text))
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}

func (p *printer) note(format string, args ...any) {
	p.line("     %s", p.paint(report.Faint, fmt.Sprintf(format, args...)))
}

func (p *printer) rejected(d event.Rejected, iteration int) {
	for _, r := range d.Reasons {
		if n := len(p.history); n > 0 && said(p.history[n-1], r) {
			continue
		}
		p.line("     %s", p.paint(report.Bad, r))
	}
	if len(d.Tests) > 0 {
		p.line("     about: %s", strings.Join(cut(d.Tests, 5), ", "))
	}
	what := fmt.Sprintf("tree put back to iteration %d", d.Restored)
	if d.Restored == 0 {
		what = "tree put back to the baseline"
	}
	retry := "no retry left"
	if d.Retry > 0 {
		retry = fmt.Sprintf("retry %d of %d", d.Retry, d.Max)
	}
	p.note("%s; the rejected one is kept as %s; %s", what, d.Kept, retry)
	p.note("why, and how to override it: %s explain %s %d", p.self, p.id, iteration)
}

func cut(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(append([]string{}, list[:n]...), fmt.Sprintf("and %d more", len(list)-n))
}

func (p *printer) finished(d event.LoopEnd) {
	if p.choice == nil {
		p.line("\n%s %s", p.paint(report.Strong, "stopped "), d.Text)
		return
	}
	p.line("")
	for _, line := range report.Table(p.history, p.selected, p.paint) {
		p.line("%s", line)
	}
	p.line("\n%s %s", p.paint(report.Strong, "stopped "), d.Text)
	name := fmt.Sprintf("iteration %d", p.selected)
	if p.selected == 0 {
		name = "the baseline"
	}
	p.line("%s %s: %s", p.paint(report.Strong, "selected"), p.paint(report.Good, name), p.choice.Choice.Reason)
	p.verification()
	if text := report.Spent(d.Spending); text != "" {
		p.line("%s %s", p.paint(report.Strong, "spent   "), text)
	}
	p.open()
	p.line("%s %s rollback %s 0", p.paint(report.Strong, "undo all"), p.self, p.id)
	if !p.choice.Applied && p.selected < len(p.history)-1 {
		p.line("%s %s rollback %s %d", p.paint(report.Strong, "have it "), p.self, p.id, p.selected)
	}
	if d.Reason == event.Interrupted && !p.watched {
		p.line("%s %s resume %s", p.paint(report.Strong, "go on   "), p.self, p.id)
	}
	p.line("%s %s", p.paint(report.Strong, "report  "), d.Report)
}

// open names the findings that a person has to look at.
func (p *printer) open() {
	for _, o := range loop.OpenAt(p.history, p.selected) {
		p.line("%s %s", p.paint(report.Strong, "open    "), p.paint(report.Bad, o.String()))
		p.line("         look: %s explain %s %d; accept: supervise ack %s --reason …", p.self, p.id, o.Iteration, o.ID)
	}
	if list := p.choice.Choice.PassedOver; len(list) > 0 {
		p.line("         passed over for it: iterations %s; to have one: %s select %s --use N --reason … --apply", strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", "), p.self, p.id)
	}
}

func (p *printer) verification() {
	switch {
	case !p.choice.Applied:
		p.line("         not applied: the tree is as the last iteration left it")
	case p.verified == nil:
		p.line("         restored; not measured again")
	case p.verified.Holds:
		p.line("         restored and measured again: the numbers hold")
	default:
		p.line("         %s", p.paint(report.Bad, "restored and measured again: the numbers do NOT hold: "+strings.Join(p.verified.Differences, "; ")))
	}
	if v := p.verified; v != nil && len(v.Broken) > 0 {
		p.line("         %s", p.paint(report.Warn, "as they were before the loop, tests fail that passed then, and that it changed: "+strings.Join(cut(v.Broken, 5), ", ")))
	}
}

// lines prints what an agent prints, a line at a time behind a prefix, without
// its escape sequences.
type lines struct {
	to     io.Writer
	prefix string
	rest   []byte
}

// Write prints the whole lines and keeps what is left.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.print(line)
		l.rest = append(l.rest[:0], rest...)
	}
}

func (l *lines) print(line []byte) {
	text := strings.Map(printable, loop.StripEscapes(string(line)))
	if text = strings.TrimRight(text, " "); text != "" {
		fmt.Fprintln(l.to, l.prefix+text)
	}
}

func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return -1
	}
	return r
}

// Close prints what came without an end of line.
func (l *lines) Close() error {
	l.print(l.rest)
	l.rest = nil
	return nil
}
