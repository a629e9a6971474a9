package cargo

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cargoEvent is one line of cargo with --message-format=json, such as
//
//	{"reason":"build-finished","success":true}
//
// See https://doc.rust-lang.org/cargo/reference/external-tools.html. Message is a
// [rustcDiagnostic].
type cargoEvent struct {
	Reason  string         `json:"reason"`
	Message jsonstream.Raw `json:"message"`
	Success *bool          `json:"success"`
	Type    string         `json:"$message_type"`
}

// rustcDiagnostic is a message of the compiler or of clippy:
// https://doc.rust-lang.org/rustc/json.html
type rustcDiagnostic struct {
	Message string `json:"message"`
	Code    *struct {
		Code string `json:"code"`
	} `json:"code"`
	Level string      `json:"level"`
	Spans []rustcSpan `json:"spans"`
}

// rustcSpan is a place in a source file. Expansion has the place where the macro around it is
// used.
type rustcSpan struct {
	File      string `json:"file_name"`
	Line      int    `json:"line_start"`
	Column    int    `json:"column_start"`
	Primary   bool   `json:"is_primary"`
	Expansion *struct {
		Span rustcSpan `json:"span"`
	} `json:"expansion"`
	Text []struct {
		Text string `json:"text"`
	} `json:"text"`
}

// rustcLevels maps the levels of rustc that [parsed.LevelOf] does not know.
var rustcLevels = map[string]metric.Level{"help": metric.Note, "failure-note": metric.Note}

// rustcSummaryPattern matches the summaries of the compiler at its end: "aborting due to 2
// previous errors" or "3 warnings emitted".
var rustcSummaryPattern = regexp.MustCompile(`^(aborting due to |\d+ warnings? emitted|could not compile )`)

// detectCargo reports whether the head has an event of cargo.
func detectCargo(h sniff.Head) bool {
	return h.HasMembers("reason", "message.spans") || h.HasMembers("reason", "success") || h.HasMembers("reason", "package_id")
}

// detectRustc reports whether the head has a message of rustc.
func detectRustc(h sniff.Head) bool {
	return h.HasMembers("$message_type", "spans", "level") || h.HasMembers("spans", "level", "message", "rendered", "children")
}

// parseCargo reads the JSON of cargo check, build and clippy. The same finding in several
// targets counts once. Compiler errors are type errors, and denied lints are other errors.
func parseCargo(r io.Reader) (parsed.Report, error) {
	c := cargoReader{lint: parsed.NewFindingSet(), seen: map[rustcKey]bool{}, isCargo: true}
	return c.read(r, "cargo")
}

// parseRustc reads rustc with --error-format=json.
func parseRustc(r io.Reader) (parsed.Report, error) {
	c := cargoReader{lint: parsed.NewFindingSet(), seen: map[rustcKey]bool{}}
	return c.read(r, "rustc")
}

// rustcKey identifies a finding. For one in a macro, it includes the place where the macro is
// used.
type rustcKey struct {
	metric.Finding
	line, column int
}

// cargoReader reads the lines of cargo, or of rustc itself.
type cargoReader struct {
	lint          *parsed.FindingSet
	seen          map[rustcKey]bool // the findings that were added
	isCargo       bool              // the lines are events of cargo, which end with build-finished
	hasEvents     bool              // there is an event, or a message of rustc
	buildFinished bool
	buildFailed   bool
	lastLine      textstream.Line // the last line, without its text
}

// read reads all lines. Producer is the tool that wrote them.
func (c *cargoReader) read(r io.Reader, producer string) (parsed.Report, error) {
	noise, err := parsed.ReadEvents(r, c.handleEvent)
	if err == nil {
		err = c.checkEnd()
	}
	c.lint.AddTool(producer)
	return c.lint.Report(producer, noise, err)
}

// handleEvent handles one line. Only messages of the compiler have findings.
func (c *cargoReader) handleEvent(raw []byte, at textstream.Line) error {
	at.Text = nil
	c.lastLine = at
	var e cargoEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		return at.Error("%v", err)
	}

	var d rustcDiagnostic
	switch {
	case e.Reason == "compiler-message":
		raw = e.Message
	case e.Reason == "build-finished":
		c.buildFinished = true
		c.buildFailed = c.buildFailed || e.Success != nil && !*e.Success
		return nil
	case e.Reason != "":
		c.hasEvents = true
		return nil
	case c.isCargo || e.Type != "" && e.Type != "diagnostic":
		return nil
	}
	c.hasEvents = true
	if err := jsonstream.Unmarshal(raw, &d); err != nil {
		return at.Error("%v", err)
	}
	c.addDiagnostic(d)
	return nil
}

// addDiagnostic adds a message of the compiler as a finding, unless it is a summary or was
// added before.
func (c *cargoReader) addDiagnostic(d rustcDiagnostic) {
	if len(d.Spans) == 0 && rustcSummaryPattern.MatchString(d.Message) || d.Level == "failure-note" {
		return
	}
	f := metric.Finding{Tool: "rustc", Level: cmp.Or(rustcLevels[d.Level], parsed.LevelOf(d.Level)), Message: textstream.ClipText(d.Message)}
	if d.Code != nil {
		f.Rule = d.Code.Code
	}
	if strings.HasPrefix(f.Rule, "clippy::") {
		f.Tool = "clippy"
	}
	f.Type = f.Level == metric.Error && f.Tool == "rustc" && (f.Rule == "" || parsed.RustcErrorPattern.MatchString(f.Rule))

	seen := rustcKey{}
	if s := d.primarySpan(); s != nil {
		seen.line, seen.column = s.outermostUse()
		f.File, f.Line, f.Column = parsed.ToSlash(s.File), max(0, s.Line), max(0, s.Column)
		if len(s.Text) > 0 {
			f.Text = textstream.ClipText(s.Text[0].Text)
		}
	}
	if seen.Finding = f; !c.seen[seen] {
		c.seen[seen] = true
		c.lint.AddTool(f.Tool)
		c.lint.Findings = parsed.AppendLimited(c.lint.Findings, f)
	}
}

// primarySpan returns the place of the finding, nil for none. If that is in a macro of
// another crate, it is where the macro is used.
func (d *rustcDiagnostic) primarySpan() *rustcSpan {
	for i := range d.Spans {
		s := &d.Spans[i]
		if !s.Primary {
			continue
		}
		for isForeign(s.File) && s.Expansion != nil {
			s = &s.Expansion.Span
		}
		return s
	}
	return nil
}

// outermostUse returns where the outermost enclosing macro is used.
func (s *rustcSpan) outermostUse() (line, column int) {
	for s.Expansion != nil {
		s = &s.Expansion.Span
	}
	return s.Line, s.Column
}

// isForeign reports whether a file is not one of the project: its path is absolute, as that of
// the standard library, or it is a macro such as "<println macros>".
func isForeign(file string) bool { return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "<") }

// checkEnd returns an error if the build has no end, or failed without an error in the
// report.
func (c *cargoReader) checkEnd() error {
	hasError := slices.ContainsFunc(c.lint.Findings, func(f metric.Finding) bool { return f.Level == metric.Error })
	switch {
	case c.isCargo && c.hasEvents && !c.buildFinished:
		return c.lastLine.Error("the report has no build-finished event: cargo was stopped, or its output was cut off")
	case c.buildFailed && !hasError:
		return c.lastLine.Error("cargo says that the build failed, and no error is in the report: read its standard error")
	}
	return nil
}
