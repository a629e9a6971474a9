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

func cases(s metric.Set) []metric.Test {
	if s.Tests == nil {
		return nil
	}
	return s.Tests.Cases
}

// failed tells of tests that fail: their names and place, their message and the line of
// their source. Tests that fail alike, as all of a package that does not build, are one
// fact. known are texts that are told elsewhere, which no message repeats.
func (e Evidence) failed(list []metric.Test, known []string) (out []string) {
	type failure struct{ place, message, source string }
	names := map[failure][]string{}
	var order []failure
	for _, c := range list {
		file, line, message := e.where(c)
		x := failure{source: e.source(file, line), message: brief(message)}
		if file != "" {
			x.place = " (" + place(file, line) + ")"
		}
		if names[x] == nil || x == (failure{}) { // without a message they do not fail alike
			order = append(order, x)
		}
		names[x] = append(names[x], c.ID.String())
	}
	for _, x := range order {
		told := names[x]
		if x == (failure{}) {
			told, names[x] = told[:1], told[1:]
		}
		text := listed(told) + x.place
		if x.message != "" && !slices.ContainsFunc(known, func(k string) bool { return strings.Contains(x.message, k) }) {
			text += "\n" + x.message
		}
		out = append(out, text+x.source)
	}
	return out
}

// listed are names, the first of many.
func listed(names []string) string {
	if n := len(names); n > maxNames {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", n-maxNames)
	}
	return strings.Join(names, ", ")
}

// leads is the place at the head of a message, as Go's tests print it.
var leads = regexp.MustCompile(`^\s*([\w.-]+\.\w+):(\d+): `)

// where is the place of a failure, and the message without it. Go's tests name a file
// without its folder, which is the end of the name of their package.
func (e Evidence) where(c metric.Test) (file string, line int, message string) {
	m := leads.FindStringSubmatch(c.Message)
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

func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// source is a line of the project, on a line of its own.
func (e Evidence) source(file string, line int) string {
	if e.SourceLine == nil || file == "" || line == 0 {
		return ""
	}
	if text := strings.TrimSpace(e.SourceLine(file, line)); text != "" {
		return "\n> " + textstream.Truncate(text, maxLine)
	}
	return ""
}
