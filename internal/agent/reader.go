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

// Usage is what a run consumed.
type Usage = metric.Usage

// Retry is an attempt of the program itself to reach the service once more.
type Retry struct {
	Why     Outcome // RateLimit, ServerError or Auth
	Attempt int
	Delay   time.Duration // 0 when unknown
	Message string
}

// Report is what a program has reported so far.
type Report struct {
	Session     string
	Model       string
	Version     string
	Usage       Usage
	Final       bool     // the event came that says how the run ended
	Verdict     Outcome  // of that event
	Message     string   // of the last error, in the program's own words
	LastMessage string   // the last text of the agent
	LastOutput  string   // the last lines that were no events
	Reset       Reset    // when the service may be asked again
	Windows     []Window // how much is used of each that was told, the latest last
	Retry       *Retry   // the program waits for the service; nil when it got on since
	Denials     int      // tools that were not approved
	NeedsLogin  bool     // it waits for somebody to sign in
	Lines       int      // events that were read
}

// CannotSucceed reports whether the program tries again and again what cannot succeed, or waits
// for somebody to sign in.
func (r Report) CannotSucceed() bool {
	return r.NeedsLogin || r.Retry != nil && r.Retry.Why == Auth && r.Retry.Attempt >= 3
}

// eventReader reads the events of one program.
type eventReader interface {
	// event takes in one object; it is ignored when it is none of its own.
	event(line []byte, r *Report)
}

// textReader is of those programs that say something outside of events.
type textReader interface {
	text(line string, r *Report)
}

// dialects are those that rules cannot say: their numbers have to be put together.
var dialects = map[string]func() eventReader{
	"claude": func() eventReader { return &claudeReader{} },
	"gemini": func() eventReader { return &geminiReader{} },
	"pi":     func() eventReader { return &piReader{} },
	"qwen":   func() eventReader { return &claudeReader{qwen: true} },
}

// newReader returns what reads the events, nil where nothing is read.
func (e Events) newReader() eventReader {
	if start, ok := dialects[e.Dialect]; ok {
		return start()
	}
	if len(e.Rules) == 0 {
		return nil
	}
	return ruleEvents(e.Rules)
}

// Reader reads what a program prints, while it prints: from pipes as from a
// terminal, with carriage returns, escape sequences and other lines between.
// It may be used from several goroutines.
type Reader struct {
	mu             sync.Mutex
	events         eventReader
	lines          lineRules
	onChange       func(Report)
	report         Report
	reportedEvents int
	partial        []byte
	skipping       bool     // the present line is too long
	outputLines    []string // the last lines that are no events
	object         []byte   // of an output that is one object on many lines
	inObject       bool     // such an object has begun
}

// Bounds of what is kept, in bytes; words in lines.
const (
	maxLine        = 32 << 20
	maxText        = 64 << 10
	maxObject      = 4 << 20
	maxOutputLines = 12
	maxOutputLine  = 500
)

// NewReader returns a reader of what the program prints. onChange is called when something
// new was reported, from Write, which waits for it; nil calls nobody.
func (p Preset) NewReader(onChange func(Report)) *Reader {
	return &Reader{onChange: onChange, events: p.Events.newReader(), lines: p.Lines}
}

// Write takes a part of the output in; it never fails.
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

// maxLineLength is how long a line may be, in bytes, to be read: an event may hold a file,
// a text is only shown.
func (r *Reader) maxLineLength() int {
	if r.events == nil {
		return maxText
	}
	return maxLine
}

// Close takes in what came without an end of line. It never fails.
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

// Report returns what was reported so far.
func (r *Reader) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot()
}

func (r *Reader) snapshot() Report {
	out := r.report
	out.LastOutput = strings.Join(r.outputLines, "\n")
	return out
}

// escapeRE are the sequences of a terminal: CSI, OSC, character sets and the
// short ones.
var escapeRE = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-~])`)

// StripEscapes removes the escape sequences of a terminal from a text.
func StripEscapes(s string) string { return escapeRE.ReplaceAllString(s, "") }

func (r *Reader) readLine(line []byte) {
	line = escapeRE.ReplaceAll(line, nil)
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return
	}
	if r.events != nil && line[0] == '{' && len(line) > 1 && line[len(line)-1] == '}' {
		r.report.Lines++
		r.events.event(line, &r.report)
		return
	}
	if r.inObject = r.inObject || r.events != nil && len(line) == 1 && line[0] == '{' && r.report.Lines == 0; r.inObject && len(r.object) < maxObject {
		r.object = append(append(r.object, line...), '\n')
		return
	}
	if back := bytes.LastIndexAny(line, "\b\r") + 1; back < len(line) {
		line = line[back:] // a spinner takes back what is before it
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
