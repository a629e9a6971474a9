package prompt

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// failingTests returns the failing tests of a set.
func failingTests(s metric.Set) (failing []metric.Test) {
	if s.Tests == nil {
		return nil
	}
	for _, c := range s.Tests.Cases {
		if c.Failed() {
			failing = append(failing, c)
		}
	}
	return failing
}

// failureFacts describes failing tests: names, position, message and source line. Tests with
// the same failure, such as all tests of a package that does not build, become one fact.
// Messages that contain one of the known texts are left out.
func (e Evidence) failureFacts(tests []metric.Test, known []string) (out []string) {
	type failure struct{ position, message, source string }
	type group struct {
		failure
		names []string
	}
	var groups []*group
	for _, t := range tests {
		file, line, message := e.locateFailure(t)
		f := failure{source: e.sourceText(file, line), message: firstLines(message)}
		if file != "" {
			f.position = " (" + filePosition(file, line) + ")"
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.failure == f })
		if i < 0 || f == (failure{}) { // failures without any details may differ
			i = len(groups)
			groups = append(groups, &group{failure: f})
		}
		groups[i].names = append(groups[i].names, t.ID.String())
	}
	for _, g := range groups {
		text := joinNames(g.names) + g.position
		isKnown := slices.ContainsFunc(known, func(k string) bool { return strings.Contains(g.message, k) })
		if g.message != "" && !isKnown {
			text += "\n" + g.message
		}
		out = append(out, text+g.source)
	}
	return out
}

// joinNames joins the first names and counts the others.
func joinNames(names []string) string {
	if n := len(names); n > maxNames {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", n-maxNames)
	}
	return strings.Join(names, ", ")
}

// positionPattern matches the position at the start of a message of a Go test, such as
// "calc_test.go:12: ".
var positionPattern = regexp.MustCompile(`^\s*([\w.-]+\.\w+):(\d+): `)

// locateFailure returns the position of a failure, and the message without it. Go's tests
// print a file name without its folder; the folder is a suffix of the package path.
func (e Evidence) locateFailure(c metric.Test) (file string, line int, message string) {
	m := positionPattern.FindStringSubmatch(c.Message)
	if c.File != "" || m == nil || e.SourceLine == nil {
		return c.File, c.Line, c.Message
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		return "", 0, c.Message
	}
	for dir := c.Suite; ; _, dir, _ = strings.Cut(dir, "/") {
		if file = path.Join(dir, m[1]); e.SourceLine(file, line) != "" {
			return file, line, c.Message[len(m[0]):]
		}
		if dir == "" {
			return "", 0, c.Message
		}
	}
}

// filePosition writes a position as file:line, without the line if it is 0.
func filePosition(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// sourceText quotes a source line of the project on a new line, "" if it is unknown.
func (e Evidence) sourceText(file string, line int) string {
	if e.SourceLine == nil || file == "" || line == 0 {
		return ""
	}
	if text := strings.TrimSpace(e.SourceLine(file, line)); text != "" {
		return "\n> " + textstream.Truncate(text, maxLine)
	}
	return ""
}
