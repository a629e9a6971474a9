package cargo

import (
	"io"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/regexp"
	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// cargoEvent is one line of cargo with --message-format=json:
// https://doc.rust-lang.org/cargo/reference/external-tools.html
type cargoEvent struct {
	Reason  string         `json:"reason"`
	Message jsonstream.Raw `json:"message"`
	Success *bool          `json:"success"`
	Type    string         `json:"$message_type"`
}

// rustcDiagnostic is what the compiler and clippy say:
// https://doc.rust-lang.org/rustc/json.html
type rustcDiagnostic struct {
	Message string `json:"message"`
	Code    *struct {
		Code string `json:"code"`
	} `json:"code"`
	Level string      `json:"level"`
	Spans []rustcSpan `json:"spans"`
}

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

// rustcLevels are the levels of rustc that severities does not have.
var rustcLevels = map[string]metric.Level{"help": metric.Note, "failure-note": metric.Note}

// rustcSums are what the compiler says at its end about what it said before.
var rustcSums = regexp.MustCompile(`^(aborting due to |\d+ warnings? emitted|could not compile )`)

func detectCargo(h sniff.Head) bool {
	return h.HasMembers("reason", "message.spans") || h.HasMembers("reason", "success") || h.HasMembers("reason", "package_id")
}

func detectRustc(h sniff.Head) bool {
	return h.HasMembers("$message_type", "spans", "level") || h.HasMembers("spans", "level", "message", "rendered", "children")
}

// parseCargo reads what cargo check, build and clippy write. The same finding
// of several targets is one. Errors of the compiler are marked as type errors,
// lints that are denied are plain errors.
func parseCargo(r io.Reader) (parsed.Report, error) {
	c := cargo{lint: parsed.NewFindingSet(), seen: map[rustcSeen]bool{}, stream: true}
	return c.read(r, "cargo")
}

// parseRustc reads rustc with --error-format=json.
func parseRustc(r io.Reader) (parsed.Report, error) {
	c := cargo{lint: parsed.NewFindingSet(), seen: map[rustcSeen]bool{}}
	return c.read(r, "rustc")
}

// rustcSeen identifies a finding: one in a macro also by the place where the
// macro is used.
type rustcSeen struct {
	metric.Finding
	line, column int
}

type cargo struct {
	lint   *parsed.FindingSet
	seen   map[rustcSeen]bool
	noise  string
	stream bool // events of cargo, with an end
	other  bool // there is an event of cargo
	ended  bool
	failed bool
	last   textstream.Line
}

func (c *cargo) read(r io.Reader, producer string) (parsed.Report, error) {
	err := jsonstream.ReadEvents(r, nil, jsonstream.Sink{Event: c.event, Noise: func(text []byte, _ textstream.Line) {
		if c.noise == "" {
			c.noise = textstream.CleanText(string(text[:min(len(text), parsed.MaxLine)]))
		}
	}})
	if err == nil {
		err = c.end()
	}
	c.lint.Heard(producer)
	return c.lint.Report(producer, c.noise, err)
}

func (c *cargo) event(raw []byte, at textstream.Line) error {
	at.Text = nil
	c.last = at
	var e cargoEvent
	if err := jsonstream.Unmarshal(raw, &e); err != nil {
		return at.Error("%v", err)
	}
	var d rustcDiagnostic
	switch {
	case e.Reason == "compiler-message":
		raw = e.Message
	case e.Reason == "build-finished":
		c.ended = true
		c.failed = c.failed || e.Success != nil && !*e.Success
		return nil
	case e.Reason != "":
		c.other = true
		return nil
	case c.stream || e.Type != "" && e.Type != "diagnostic":
		return nil
	}
	c.other = true
	if err := jsonstream.Unmarshal(raw, &d); err != nil {
		return at.Error("%v", err)
	}
	c.diagnostic(d)
	return nil
}

func (c *cargo) diagnostic(d rustcDiagnostic) {
	if len(d.Spans) == 0 && rustcSums.MatchString(d.Message) || d.Level == "failure-note" {
		return
	}
	f := metric.Finding{Tool: "rustc", Level: parsed.LevelOf(d.Level), Message: textstream.ClipText(d.Message)}
	if l, ok := rustcLevels[d.Level]; ok {
		f.Level = l
	}
	if d.Code != nil {
		f.Rule = d.Code.Code
	}
	if strings.HasPrefix(f.Rule, "clippy::") {
		f.Tool = "clippy"
	}
	f.Type = f.Level == metric.Error && f.Tool == "rustc" && (f.Rule == "" || parsed.RustcError.MatchString(f.Rule))
	seen := rustcSeen{}
	if s := d.primary(); s != nil {
		seen.line, seen.column = s.used()
		f.File, f.Line, f.Column = parsed.Slashed(s.File), max(0, s.Line), max(0, s.Column)
		if len(s.Text) > 0 {
			f.Text = textstream.ClipText(s.Text[0].Text)
		}
	}
	if seen.Finding = f; !c.seen[seen] {
		c.seen[seen] = true
		c.lint.Heard(f.Tool)
		c.lint.Findings = parsed.Keep(c.lint.Findings, f)
	}
}

// primary returns the place of the finding. Within a macro of another crate,
// that is where the macro is used.
func (d *rustcDiagnostic) primary() *rustcSpan {
	for i := range d.Spans {
		s := &d.Spans[i]
		if !s.Primary {
			continue
		}
		for foreign(s.File) && s.Expansion != nil {
			s = &s.Expansion.Span
		}
		return s
	}
	return nil
}

// used returns where the outermost macro is used that the place belongs to.
func (s *rustcSpan) used() (line, column int) {
	for s.Expansion != nil {
		s = &s.Expansion.Span
	}
	return s.Line, s.Column
}

func foreign(file string) bool { return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "<") }

// end looks whether the build came to its end, and whether a failure has a
// reason among the findings.
func (c *cargo) end() error {
	errors := 0
	for _, f := range c.lint.Findings {
		if f.Level == metric.Error {
			errors++
		}
	}
	switch {
	case c.stream && c.other && !c.ended:
		return c.last.Error("the report has no build-finished event: cargo was stopped, or its output was cut off")
	case c.failed && errors == 0:
		return c.last.Error("cargo says that the build failed, and no error is in the report: read its standard error")
	}
	return nil
}
