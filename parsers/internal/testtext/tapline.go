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
	skip     string // "SKIP" or "TODO"
	why      string // of the skip
	seconds  float64
	buffered bool // its subtest follows in braces
}

var (
	tapVersionPattern   = regexp.MustCompile(`(?i)^TAP version \d+\s*$`)
	tapPlanPattern      = regexp.MustCompile(`^(\d+)\.\.(\d+)(?:\s+todo\s([\d\s]+);?)?\s*(?:#\s*(.*))?$`)
	testemPattern       = regexp.MustCompile(`^(skip|todo) +(\d+ .*)$`)
	tapPointPattern     = regexp.MustCompile(`^(not )?ok(?:\s+(\d+))?(?:\s+-(?:\s+|$)|-\s*|\s+|$)(.*)$`)
	tapBailPattern      = regexp.MustCompile(`(?i)^Bail out!\s*(.*)$`)
	tapSubtestPattern   = regexp.MustCompile(`^#\s*Subtest(?::\s*(.*))?$`)
	tapFailedPattern    = regexp.MustCompile(`^# *(?:fail|failed|Looks like you failed) +(\d+)(?: tests?\b.*| of \d+ tests?)?$`)
	tapCountPattern     = regexp.MustCompile(`^# *(?:tests +(\d+)|\{ total: (\d+),.*\})$`)
	tapDirectivePattern = regexp.MustCompile(`(?i)^(todo)\b:?\s*(.*)$|^(skip)\S*\s*(.*)$|^(?:time=|in )([0-9.]+) ?(m?s)(?:ec)?\b\s*(.*)$`)
	tapUnescaper        = strings.NewReplacer(`\#`, `#`, `\\`, `\`)
)

// parseTapPoint parses a test point. Number, description and directive are optional.
// Testem writes "skip 3 name".
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
// description before it. A time may have another directive after it.
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

// status is the result of a point: what is to do or was skipped counts as
// skipped, whatever came out of it.
func (p *tapPoint) status() metric.Status {
	switch {
	case p.skip != "":
		return metric.Skipped
	case p.ok:
		return metric.Passed
	}
	return metric.Failed
}

// tapPlan is a plan: "1..5 # SKIP why". The plan 1..0 promises nothing.
type tapPlan struct {
	set   bool
	count int
	why   string // everything is skipped
	todo  string // numbers of points that are to do, as Perl's Test.pm writes them
	line  string
	first bool // it is before the first point
}

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
