package testtext

import (
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// tapPoint is a test point: "not ok 3 - name # SKIP reason".
type tapPoint struct {
	ok       bool
	number   int // 0 if there is none
	name     string
	skip     string  // "SKIP" or "TODO", "" for neither
	why      string  // the reason for the skip, "" for none
	seconds  float64 // its time, 0 if it has none
	buffered bool    // its subtest follows in braces
}

var (
	// tapVersionPattern matches the first line of a stream: "TAP version 13".
	tapVersionPattern = regexp.MustCompile(`(?i)^TAP version \d+\s*$`)
	// tapPlanPattern matches a plan: "1..5", "1..0 # SKIP no network", or Perl's "1..5 todo 2
	// 4;".
	tapPlanPattern = regexp.MustCompile(`^(\d+)\.\.(\d+)(?:\s+todo\s([\d\s]+);?)?\s*(?:#\s*(.*))?$`)
	// testemPattern matches a skipped point of Testem: "skip 3 name".
	testemPattern = regexp.MustCompile(`^(skip|todo) +(\d+ .*)$`)
	// tapPointPattern matches a point: "not ok 3 - name".
	tapPointPattern = regexp.MustCompile(`^(not )?ok(?:\s+(\d+))?(?:\s+-(?:\s+|$)|-\s*|\s+|$)(.*)$`)
	// tapBailPattern matches the end of a run that was stopped: "Bail out! no database".
	tapBailPattern = regexp.MustCompile(`(?i)^Bail out!\s*(.*)$`)
	// tapSubtestPattern matches the comment that names a subtest: "# Subtest: name".
	tapSubtestPattern = regexp.MustCompile(`^#\s*Subtest(?::\s*(.*))?$`)
	// tapFailedPattern matches the number of failures: "# fail 2" or "# Looks like you failed 2
	// tests of 5."
	tapFailedPattern = regexp.MustCompile(`^# *(?:fail|failed|Looks like you failed) +(\d+)(?: tests?\b.*| of \d+ tests?)?$`)
	// tapCountPattern matches the number of tests: "# tests 5" or "# { total: 5, pass: 3 }".
	tapCountPattern = regexp.MustCompile(`^# *(?:tests +(\d+)|\{ total: (\d+),.*\})$`)
	// tapDirectivePattern matches the text after the # of a point: "TODO reason", "SKIP
	// reason", or "time=1.5ms".
	tapDirectivePattern = regexp.MustCompile(`(?i)^(todo)\b:?\s*(.*)$|^(skip)\S*\s*(.*)$|^(?:time=|in )([0-9.]+) ?(m?s)(?:ec)?\b\s*(.*)$`)
	// tapUnescaper resolves the escapes in the description of a point.
	tapUnescaper = strings.NewReplacer(`\#`, `#`, `\\`, `\`)
)

// parseTapPoint parses a test point, and reports whether the line is one. Number, description
// and directive are optional. Testem writes "skip 3 name".
func parseTapPoint(line string) (p tapPoint, ok bool) {
	switch {
	case line == "":
		return p, false
	case line[0] == 's' || line[0] == 't':
		if m := testemPattern.FindStringSubmatch(line); m != nil {
			p, ok = parseTapPoint("ok " + m[2])
			p.skip = strings.ToUpper(m[1])
		}
		return p, ok
	case line[0] != 'o' && line[0] != 'n':
		return p, false
	}

	m := tapPointPattern.FindStringSubmatch(line)
	if m == nil {
		return p, false
	}

	p.ok = m[1] == ""
	p.number, _ = strconv.Atoi(m[2]) // digits; 0 if there are none or too many
	text := strings.TrimSpace(m[3])
	if text == "{" || strings.HasSuffix(text, " {") {
		p.buffered, text = true, strings.TrimSpace(text[:len(text)-1])
	}
	p.name = tapUnescaper.Replace(p.directives(text))
	return p, true
}

// directives parses the directive after the first # that is not escaped, and returns the
// description before it. If that # starts no directive, it returns the complete text. A time
// may have another directive after it.
func (p *tapPoint) directives(text string) string {
	at := unescapedHash(text)
	if at < 0 {
		return text
	}
	m := tapDirectivePattern.FindStringSubmatch(strings.TrimSpace(text[at+1:]))
	switch {
	case m == nil:
		return text
	case m[1] != "":
		p.skip, p.why = "TODO", m[2]
	case m[3] != "":
		p.skip, p.why = "SKIP", m[4]
	default:
		p.seconds, _ = strconv.ParseFloat(m[5], 64) // 0 if it is none
		if m[6] == "ms" {
			p.seconds /= 1000
		}
		p.directives(m[7])
	}
	p.why = strings.TrimLeft(p.why, "-: ")
	return strings.TrimSpace(text[:at])
}

// unescapedHash returns the index of the first # without a backslash before it, -1 if there is
// none.
func unescapedHash(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '#':
			return i
		}
	}
	return -1
}

// status returns the status of a point. A point with the directive SKIP or TODO is skipped,
// whatever its outcome is.
func (p *tapPoint) status() metric.Status {
	switch {
	case p.skip != "":
		return metric.Skipped
	case p.ok:
		return metric.Passed
	}
	return metric.Failed
}

// tapPlan is a plan, as in "1..5 # SKIP why". The plan 1..0 promises nothing. The zero value
// means that there is no plan.
type tapPlan struct {
	set   bool   // there is a plan
	count int    // number of planned points
	why   string // why everything is skipped, "" if it is not
	todo  string // numbers of points that are to do, as Perl's Test.pm writes them
	line  string // the plan as written
	first bool   // it is before the first point
}

// parseTapPlan parses a plan. The result is not set if the line is not one.
func parseTapPlan(line string) (p tapPlan) {
	if line == "" || line[0] < '0' || line[0] > '9' {
		return p
	}
	m := tapPlanPattern.FindStringSubmatch(line)
	if m == nil {
		return p
	}

	first, err1 := strconv.Atoi(m[1])
	last, err2 := strconv.Atoi(m[2])
	if err1 != nil || err2 != nil || last < first-1 {
		return p
	}

	p = tapPlan{set: true, count: last - first + 1, todo: m[3], line: line}
	if w := tapDirectivePattern.FindStringSubmatch(m[4]); w != nil && w[3] != "" {
		p.why = strings.TrimLeft(w[4], "-: ")
	}
	return p
}

// expects reports whether the plan marks the point as to do.
func (p tapPlan) expects(number int) bool {
	return p.todo != "" && slices.Contains(strings.Fields(p.todo), strconv.Itoa(number))
}
