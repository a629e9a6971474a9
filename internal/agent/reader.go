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

// events reads the events of one program.
type events interface {
	// event takes in one object; it is ignored when it is none of its own.
	event(line []byte, r *Report)
}

// textual is of those programs that say something outside of events.
type textual interface {
	text(line string, r *Report)
}

// dialects are those that rules cannot say: their numbers have to be put together.
var dialects = map[string]func() events{
	"claude": func() events { return &claude{} },
	"gemini": func() events { return &gemini{} },
	"pi":     func() events { return &pi{} },
	"qwen":   func() events { return &claude{qwen: true} },
}

// reader returns what reads the events, nil where nothing is read.
func (e Events) reader() events {
	if start, ok := dialects[e.Dialect]; ok {
		return start()
	}
	if len(e.Rules) == 0 {
		return nil
	}
	return ruled(e.Rules)
}

// Reader reads what a program prints, while it prints: from pipes as from a
// terminal, with carriage returns, escape sequences and other lines between.
// It may be used from several goroutines.
type Reader struct {
	mu       sync.Mutex
	events   events
	lines    linesRuled
	onChange func(Report)
	report   Report
	passed   int
	rest     []byte
	skipping bool     // the present line is too long
	words    []string // the last lines that are no events
	whole    []byte   // of an output that is one object on many lines
	open     bool     // such an object has begun
}

// Bounds of what is kept, in bytes; words in lines.
const (
	maxLine  = 32 << 20
	maxText  = 64 << 10
	maxWhole = 4 << 20
	maxWords = 12
	maxWord  = 500
)

// NewReader returns a reader of what the program prints. onChange is called when something
// new was reported, from Write, which waits for it; nil calls nobody.
func (p Preset) NewReader(onChange func(Report)) *Reader {
	return &Reader{onChange: onChange, events: p.Events.reader(), lines: p.Lines}
}

// Write takes a part of the output in; it never fails.
func (r *Reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		if !r.skipping {
			r.rest = append(r.rest, line...)
		}
		if len(r.rest) > r.longest() {
			r.rest, r.skipping = nil, true
		}
		if !found {
			break
		}
		if !r.skipping {
			r.line(r.rest)
		}
		r.rest, r.skipping, p = r.rest[:0], false, rest
	}
	if r.report.Lines > r.passed {
		r.passed = r.report.Lines
		if r.onChange != nil {
			r.onChange(r.snapshot())
		}
	}
	return n, nil
}

// longest is how long a line may be, in bytes, to be read: an event may hold a file,
// a text is only shown.
func (r *Reader) longest() int {
	if r.events == nil {
		return maxText
	}
	return maxLine
}

// Close takes in what came without an end of line. It never fails.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(r.rest)
	r.rest = nil
	if r.events != nil && r.report.Lines == 0 && len(r.whole) > 0 {
		r.report.Lines++
		r.events.event(r.whole, &r.report)
	}
	r.whole = nil
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
	out.LastOutput = strings.Join(r.words, "\n")
	return out
}

// escapes are the sequences of a terminal: CSI, OSC, character sets and the
// short ones.
var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]+[0-~]|[0-~])`)

// StripEscapes removes the escape sequences of a terminal from a text.
func StripEscapes(s string) string { return escapes.ReplaceAllString(s, "") }

func (r *Reader) line(line []byte) {
	line = escapes.ReplaceAll(line, nil)
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return
	}
	if r.events != nil && line[0] == '{' && len(line) > 1 && line[len(line)-1] == '}' {
		r.report.Lines++
		r.events.event(line, &r.report)
		return
	}
	if r.open = r.open || r.events != nil && len(line) == 1 && line[0] == '{' && r.report.Lines == 0; r.open && len(r.whole) < maxWhole {
		r.whole = append(append(r.whole, line...), '\n')
		return
	}
	if back := bytes.LastIndexAny(line, "\b\r") + 1; back < len(line) {
		line = line[back:] // a spinner takes back what is before it
	}
	text := strings.ToValidUTF8(string(line[:min(len(line), maxWord)]), "?")
	r.words = append(r.words, text)
	if len(r.words) > maxWords {
		r.words = slices.Delete(r.words, 0, len(r.words)-maxWords)
	}
	if t, ok := r.events.(textual); ok {
		t.text(text, &r.report)
	}
	r.lines.text(text, &r.report)
}
