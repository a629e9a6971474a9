package mergegate

import (
	"fmt"
	"io"
	"strings"

	"supervise/detector"
	"supervise/internal/textstream"
)

// maxPerLevel limits the annotations of each level. GitHub silently drops all others of a step
// (actions/toolkit#734).
const maxPerLevel = 10

// GitHub writes the open findings as workflow commands, the most severe first. GitHub shows them
// as annotations next to the lines. The format is, in one line:
//
//	::error file=a_test.go,line=3,title=supervise%3A rule (HIGH)::message
//
// It writes only as many as GitHub shows. All findings are in the summary.
func (r Report) GitHub(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	left := map[string]int{"error": maxPerLevel, "warning": maxPerLevel, "notice": maxPerLevel - 1} // the last notice counts the dropped annotations
	more := 0
	for _, f := range r.OpenFindings() {
		level := annotationLevel(f)
		for _, at := range locationsOf(f) {
			if left[level] == 0 {
				more++
				continue
			}
			left[level]--
			line("::%s %stitle=%s::%s", level, locationProperties(at), escapeProperty("supervise: "+f.Rule+" ("+f.Severity.String()+")"), escapeData(findingMessage(f, at)))
		}
	}

	for _, s := range r.Ratchet {
		line("::error title=%s::%s", escapeProperty("supervise: ratchet"), escapeData(s.String()))
	}
	if !r.Criterion.holds() {
		line("::error title=%s::%s", escapeProperty("supervise: criterion"), escapeData(r.Criterion.String()))
	}
	if short := r.ChangeCoverage.Shortfall(); short != "" {
		line("::error title=%s::%s", escapeProperty("supervise: change coverage"), escapeData(short))
	}
	if more > 0 {
		line("::notice title=supervise::%s", escapeData(fmt.Sprintf("%d more annotations are left out; the summary has all findings", more)))
	}

	line("supervise gate: %s", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// annotationLevel returns the level of the annotation for a finding: error, warning or notice.
func annotationLevel(f Finding) string {
	switch {
	case f.Blocking:
		return "error"
	case f.Severity > detector.Medium || f.Severity == detector.Medium && !detector.Alert{Rule: f.Rule}.IsAboutNew():
		return "warning"
	}
	return "notice"
}

// locationsOf returns the locations of a finding, or one without a file if it has none.
func locationsOf(f Finding) []Location {
	if len(f.Locations) == 0 {
		return []Location{{}}
	}
	return f.Locations
}

// locationProperties returns a location as properties of a workflow command, as in
// "file=a.go,line=3,", and "" if it has no file. A removed location has no line, because that
// line of the new file has other content.
func locationProperties(p Location) string {
	if p.File == "" {
		return ""
	}
	out := "file=" + escapeProperty(p.File) + ","
	if p.Line > 0 && !p.Removed {
		out += fmt.Sprintf("line=%d,", p.Line)
	}
	return out
}

// findingMessage returns the message of a finding at a location, with the command that accepts
// it. It cannot steer a terminal or a CI service.
func findingMessage(f Finding, p Location) string {
	text := f.Message
	if p.Note != "" && !strings.Contains(text, p.Note) {
		text += " — " + p.Note
	}
	return textstream.EscapeLog(text) + "\naccept it with: supervise ack " + f.ID + " --reason …"
}

// escapeData escapes the text of a workflow command.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeProperty escapes the value of a property of a workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
