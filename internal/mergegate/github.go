package mergegate

import (
	"fmt"
	"io"
	"strings"

	"supervise/detector"
	"supervise/internal/textstream"
)

// perLevel is how many annotations of one level GitHub shows for a step; it drops the
// others silently (actions/toolkit#734).
const perLevel = 10

// GitHub writes the findings as workflow commands, which GitHub shows next to the
// lines, the worst first and as many as it shows; the rest is in the summary.
func (r Report) GitHub(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	left := map[string]int{"error": perLevel, "warning": perLevel, "notice": perLevel - 1} // the last one counts those that are left out
	more := 0
	for _, f := range r.OpenFindings() {
		level := level(f)
		for _, at := range placesOf(f) {
			if left[level] == 0 {
				more++
				continue
			}
			left[level]--
			line("::%s %stitle=%s::%s", level, position(at), property("supervise: "+f.Rule+" ("+f.Severity.String()+")"), data(message(f, at)))
		}
	}
	for _, s := range r.Ratchet {
		line("::error title=%s::%s", property("supervise: ratchet"), data(s.String()))
	}
	if more > 0 {
		line("::notice title=supervise::%s", data(fmt.Sprintf("%d more annotations are left out; the summary has all findings", more)))
	}
	line("supervise gate: %s", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// level is that of an annotation.
func level(f Finding) string {
	switch {
	case f.Blocking:
		return "error"
	case f.Severity >= detector.Medium:
		return "warning"
	}
	return "notice"
}

// placesOf are the places of a finding; one without a file if it has none.
func placesOf(f Finding) []Location {
	if len(f.Locations) == 0 {
		return []Location{{}}
	}
	return f.Locations
}

// position is a place as a workflow command says it. What is gone is shown on the
// file, whose line is another now.
func position(p Location) string {
	if p.File == "" {
		return ""
	}
	out := "file=" + property(p.File) + ","
	if p.Line > 0 && !p.Gone {
		out += fmt.Sprintf("line=%d,", p.Line)
	}
	return out
}

func message(f Finding, p Location) string {
	text := f.Message
	if p.What != "" && !strings.Contains(text, p.What) {
		text += " — " + p.What
	}
	return textstream.EscapeLog(text) + "\naccept it with: supervise ack " + f.ID + " --reason …"
}

// data escapes the text of a workflow command, property one of its values.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
