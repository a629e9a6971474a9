package agent

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Usage is the consumption of a run.
type Usage = metric.Usage

// Retry is the latest attempt of the program itself to reach its service again.
type Retry struct {
	Why     Outcome // RateLimit, ServerError or Auth
	Attempt int
	Delay   time.Duration // 0 if unknown
	Message string
}

// Report is what a program has reported so far.
type Report struct {
	Session     string
	Model       string
	Version     string
	Usage       Usage
	Final       bool     // the final event was read
	Verdict     Outcome  // of the final event
	Message     string   // of the last error, in the program's own words
	LastMessage string   // the last text of the agent
	LastOutput  string   // the last lines that are not events
	Reset       Reset    // when the service may be asked again
	Windows     []Window // the usage of each window, the latest one last
	Retry       *Retry   // set while the program waits for the service
	Denials     int      // tools that were not approved
	NeedsLogin  bool     // it waits for a login
	Lines       int      // events that were read
}

// CannotSucceed reports whether further waiting is useless: the program waits for a login, or
// the service has rejected its credentials three times.
func (r Report) CannotSucceed() bool {
	return r.NeedsLogin || r.Retry != nil && r.Retry.Why == Auth && r.Retry.Attempt >= 3
}

// eventReader reads the events of one program.
type eventReader interface {
	// event updates the report by one JSON object. It ignores unknown ones.
	event(line []byte, r *Report)
}

// textReader is an eventReader that also reads other lines.
type textReader interface {
	text(line string, r *Report)
}

// dialects are readers for programs whose usage cannot be described by rules.
var dialects = map[string]func() eventReader{
	"claude": func() eventReader { return &claudeReader{} },
	"gemini": func() eventReader { return &geminiReader{} },
	"pi":     func() eventReader { return &piReader{} },
	"qwen":   func() eventReader { return &claudeReader{qwen: true} },
}

// newReader returns a reader of the events, nil if there are none.
func (e Events) newReader() eventReader {
	if start, ok := dialects[e.Dialect]; ok {
		return start()
	}
	if len(e.Rules) == 0 {
		return nil
	}
	return ruleEvents(e.Rules)
}

// Reader reads the output of a running program, from a pipe or a terminal, with escape
// sequences and other text between events. It may be used from several goroutines.
type Reader struct {
	mu             sync.Mutex
	events         eventReader
	lines          lineRules
	onChange       func(Report)
	report         Report
	reportedEvents int      // report.Lines at the last call of onChange
	partial        []byte   // a line whose end is still to come
	skipping       bool     // the rest of a line that is too long is skipped
	outputLines    []string // the last lines that are not events
	object         []byte   // an output that is one object on many lines
	inObject       bool     // object is being read
}

// The limits of the kept output: maxOutputLines in lines, the others in bytes.
const (
	maxLine        = 32 << 20 // a line of a program with events
	maxText        = 64 << 10 // a line of another program
	maxObject      = 4 << 20  // an object on many lines
	maxOutputLines = 12       // the lines in Report.LastOutput
	maxOutputLine  = 500      // each of these lines
)

// NewReader returns a reader of the program's output. Write calls onChange after new events,
// unless onChange is nil.
func (p Preset) NewReader(onChange func(Report)) *Reader {
	return &Reader{onChange: onChange, events: p.Events.newReader(), lines: p.Lines}
}

// Write reads a part of the output, which may start and end within a line. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		if !r.skipping {
			r.partial = append(r.partial, line...)
		}
		if len(r.partial) > r.maxLineLength() {
			r.partial, r.skipping = nil, true
		}
		if !found {
			break
		}
		if !r.skipping {
			r.readLine(r.partial)
		}
		r.partial, r.skipping, p = r.partial[:0], false, rest
	}

	if r.report.Lines > r.reportedEvents {
		r.reportedEvents = r.report.Lines
		if r.onChange != nil {
			r.onChange(r.snapshot())
		}
	}
	return n, nil
}

// maxLineLength returns the length of the longest line that is read, in bytes; longer lines
// are skipped. Events may contain files, other lines do not.
func (r *Reader) maxLineLength() int {
	if r.events == nil {
		return maxText
	}
	return maxLine
}

// Close reads a last line without a line feed, and an output that is one object on many lines.
// It never fails.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readLine(r.partial)
	r.partial = nil
	if r.events != nil && r.report.Lines == 0 && len(r.object) > 0 {
		r.report.Lines++
		r.events.event(r.object, &r.report)
	}
	r.object = nil
	return nil
}

// Report returns the current report.
func (r *Reader) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot()
}

// snapshot returns a copy of the report with the last lines of the output. The caller holds
// the lock.
func (r *Reader) snapshot() Report {
	out := r.report
	out.LastOutput = strings.Join(r.outputLines, "\n")
	return out
}

// escapeRE matches escape sequences of a terminal, in this order: CSI sequences like ESC [31m,
// OSC sequences like ESC ]0;title BEL, sequences like ESC (B that select a character set, and
// short ones like ESC 7.
var escapeRE = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-~])`)

// StripEscapes removes the escape sequences of a terminal from a text.
func StripEscapes(s string) string { return escapeRE.ReplaceAllString(s, "") }

// readLine reads one complete line: an event, a line of an object that is spread over many
// lines, or a line of text.
func (r *Reader) readLine(line []byte) {
	line = escapeRE.ReplaceAll(line, nil)
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return
	}

	isEvent := len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}'
	if r.events != nil && isEvent {
		r.report.Lines++
		r.events.event(line, &r.report)
		return
	}

	startsObject := r.events != nil && r.report.Lines == 0 && string(line) == "{"
	r.inObject = r.inObject || startsObject
	if r.inObject && len(r.object) < maxObject {
		r.object = append(append(r.object, line...), '\n')
		return
	}

	if back := bytes.LastIndexAny(line, "\b\r") + 1; back < len(line) {
		line = line[back:] // a spinner overwrites what is before the last backspace
	}

	text := strings.ToValidUTF8(string(line[:min(len(line), maxOutputLine)]), "?")
	r.outputLines = append(r.outputLines, text)
	if len(r.outputLines) > maxOutputLines {
		r.outputLines = slices.Delete(r.outputLines, 0, len(r.outputLines)-maxOutputLines)
	}

	if t, ok := r.events.(textReader); ok {
		t.text(text, &r.report)
	}
	r.lines.text(text, &r.report)
}
