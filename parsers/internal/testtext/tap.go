package testtext

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// detectTAP wants a line that nothing but TAP has: its version, or points
// together with a plan, or points that are numbered from 1. Text that happens
// to have a line "ok" is none.
func detectTAP(h sniff.Head) bool {
	if h.MatchesLine(tapVersion.MatchString) {
		return true
	}
	planned, points, numbered, empty := false, false, false, false
	h.MatchesLine(func(l string) bool {
		p, ok := parseTapPoint(l)
		points = points || ok
		numbered = numbered || ok && p.number == 1
		plan := parseTapPlan(l)
		planned = planned || plan.set
		empty = empty || plan.set && plan.count == 0
		return false
	})
	if planned {
		return points || empty || loneTapPlan(h)
	}
	return numbered && (tapAlone(h) || h.MatchesLine(proveHeading.MatchString))
}

// loneTapPlan reports whether the first line is a plan from 1: the run ended
// before its first test.
func loneTapPlan(h sniff.Head) bool {
	first := strings.TrimSpace(textstream.FirstLine(string(h.Text)))
	return parseTapPlan(first).set && strings.HasPrefix(first, "1..")
}

// tapAlone reports whether the first line that is not a comment is a test point.
func tapAlone(h sniff.Head) bool {
	for line := range strings.Lines(string(h.Text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		p, ok := parseTapPoint(line)
		return ok && p.number > 0
	}
	return false
}

// tapSuite is the suite of tests that no file is known of.
const tapSuite = "TAP"

// tap reads a TAP stream, or several. Its format: https://testanything.org.
// A test with subtests is one case of Report.Cases, as its plan counts it; the
// set of tests holds its subtests instead of it, to any depth.
type tap struct {
	doc   *tapDoc
	docs  []*tapDoc
	stack []*tapGroup // the open groups, from the document to the deepest subtest
	now   *tapItem    // what diagnostics belong to
	fresh bool        // the last line was a point: a block may follow
	yaml  int         // indent of the open block, -1 for none
	inner int         // indent of its members, -1 before the first

	total    parsed.Totals
	problems textstream.Problems
	noise    int
	sample   string
	denied   string // the last contradiction
	prove    tapProve
}

func parseTAP(r io.Reader) (parsed.Report, error) {
	t := &tap{yaml: -1}
	t.begin(tapSuite)
	err := textstream.EachLine(r, t.line)
	report := t.report()
	if err == nil {
		err = t.prove.complete()
	}
	if err == nil && t.seen() == 0 {
		err = fmt.Errorf("%w: there is no line of TAP in it", parsed.ErrUnknownFormat)
	}
	return report, err
}

// seen counts the streams that hold anything.
func (t *tap) seen() int {
	n := 0
	for _, d := range t.docs {
		if !d.empty() {
			n++
		}
	}
	return n
}

// begin begins another stream.
func (t *tap) begin(suite string) {
	if t.doc != nil {
		t.at(0)
	}
	t.doc = &tapDoc{suite: suite, root: &tapGroup{}}
	t.docs = append(t.docs, t.doc)
	t.stack = []*tapGroup{t.doc.root}
	t.now, t.fresh, t.yaml = nil, false, -1
}

// maxTapLine is how much of a line is looked at.
const maxTapLine = 64 << 10

// maxTapDepth is how deep subtests are followed.
const maxTapDepth = 32

func (t *tap) line(l textstream.Line) {
	text := strings.TrimRight(textstream.StripANSI(string(l.Text[:min(len(l.Text), maxTapLine)])), " \t")
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if t.yaml >= 0 && t.block(indent, body) {
		return
	}
	if body != "" {
		t.doc.led, t.doc.remark = t.doc.remark, body[0] == '#' && indent == 0 && !tapSubtest.MatchString(body)
		t.outside(indent, body)
	} else {
		t.fresh = false
	}
	t.doc.cut = !l.Complete && (t.fresh || t.doc.root.plan.line == body && !t.doc.complete())
}

// outside takes a line outside of blocks.
func (t *tap) outside(indent int, body string) {
	fresh := t.fresh
	t.fresh = false
	switch {
	case fresh && indent > 0 && !t.doc.bailed && (body == "---" || strings.HasPrefix(body, "--- ")):
		t.yaml, t.inner = indent, -1
	case indent == 0 && t.prove.line(t, body):
	case indent%4 == 0 && indent/4 <= maxTapDepth && t.known(indent/4, body):
	case body[0] == '#':
		t.comment(indent, body, fresh)
	default:
		t.other(body)
	}
}

// known takes a line that TAP knows at that depth.
func (t *tap) known(depth int, body string) bool {
	if tapVersion.MatchString(body) {
		if depth == 0 {
			t.version()
		}
		return true
	}
	if t.doc.bailed { // what comes now is no TAP
		return false
	}
	if p, ok := parseTapPoint(body); ok {
		t.point(depth, p)
		return true
	}
	if plan := parseTapPlan(body); plan.set {
		t.planned(depth, plan)
		return true
	}
	if m := tapBail.FindStringSubmatch(body); m != nil {
		t.doc.bail(m[1])
		return true
	}
	if m := tapSubtest.FindStringSubmatch(body); m != nil {
		t.subtest(depth, m[1])
		return true
	}
	if body == "}" || body == "{" {
		return t.brace(depth, body)
	}
	return strings.HasPrefix(body, "pragma +") || strings.HasPrefix(body, "pragma -")
}

// comment keeps what a failed test prints after its point.
func (t *tap) comment(indent int, body string, fresh bool) {
	t.fresh = fresh
	text := strings.TrimPrefix(strings.TrimPrefix(body, "#"), " ")
	if indent == 0 && text != "" {
		t.doc.section = text
		if m := tapFailed.FindStringSubmatch(body); m != nil {
			t.doc.stated = parsed.CountOf(m[1]).Int()
		}
		if m := tapCount.FindStringSubmatch(body); m != nil {
			t.doc.counted = parsed.CountOf(m[1] + m[2]).Int()
		}
	}
	if t.now != nil && !t.doc.version {
		t.now.say(text)
	}
}

func (t *tap) other(body string) {
	if t.noise++; t.noise == 1 {
		t.sample = textstream.CleanText(body)
	}
}

// block takes a line of the open block of YAML, and reports false for one that
// is none: the block ends where the indentation does.
func (t *tap) block(indent int, body string) bool {
	if body != "" && indent < t.yaml {
		t.yaml = -1
		return false
	}
	if body == "..." && indent == t.yaml {
		t.yaml = -1
		return true
	}
	if t.inner < 0 && body != "" {
		t.inner = indent
	}
	if t.now != nil && (indent != t.inner || !t.now.know(body)) {
		t.now.say(strings.Repeat(" ", max(0, indent-t.inner)) + body)
	}
	return true
}
