package testtext

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// detectTAP requires lines that only TAP has: a version, a plan with points, or points
// that are numbered from 1. Other text may have a line "ok".
func detectTAP(h sniff.Head) bool {
	if h.MatchesLine(tapVersionPattern.MatchString) {
		return true
	}
	hasPlan, hasPoint, hasFirstPoint, hasEmptyPlan := false, false, false, false
	h.MatchesLine(func(l string) bool {
		p, isPoint := parseTapPoint(l)
		plan := parseTapPlan(l)
		hasPoint = hasPoint || isPoint
		hasFirstPoint = hasFirstPoint || isPoint && p.number == 1
		hasPlan = hasPlan || plan.set
		hasEmptyPlan = hasEmptyPlan || plan.set && plan.count == 0
		return false
	})

	if hasPlan {
		return hasPoint || hasEmptyPlan || startsWithPlan(h)
	}
	return hasFirstPoint && (startsWithPoint(h) || h.MatchesLine(proveHeadingPattern.MatchString))
}

// startsWithPlan reports whether the first line is a plan from 1. Without points, the run
// ended before its first test.
func startsWithPlan(h sniff.Head) bool {
	first := strings.TrimSpace(textstream.FirstLine(string(h.Text)))
	return parseTapPlan(first).set && strings.HasPrefix(first, "1..")
}

// startsWithPoint reports whether the first line that is not a comment is a test point.
func startsWithPoint(h sniff.Head) bool {
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

// tapSuite is the suite of tests whose file is unknown.
const tapSuite = "TAP"

// tapReader reads one or more TAP streams: https://testanything.org. For example, this stream
// has the tests "a" and "b > c":
//
//	TAP version 14
//	1..2
//	ok 1 - a
//	    1..1
//	    not ok 1 - c
//	not ok 2 - b
//
// In Report.Cases a test with subtests is one case, as in its plan. In the set of tests its
// innermost subtests replace it. A line of TAP at a depth is indented by four spaces for each
// level.
type tapReader struct {
	stream       *tapStream   // the current stream
	streams      []*tapStream // all streams, the current one last
	openGroups   []*tapGroup  // the open groups, from the document to the deepest subtest
	latest       *tapItem     // the last point, which diagnostics belong to; nil if there is none
	afterPoint   bool         // the last line was a point: a block may follow
	blockIndent  int          // indent of the open YAML block, -1 for none
	memberIndent int          // indent of its members, -1 before the first

	totals        parsed.Totals
	problems      textstream.Problems
	noiseLines    int         // lines that are not TAP
	noiseSample   string      // the first of these lines
	contradiction string      // the last contradiction, "" for none
	prove         proveOutput // what prove prints around the streams
}

// parseTAP reads TAP, as one or more streams. It is an error if the text has no line of TAP.
func parseTAP(r io.Reader) (parsed.Report, error) {
	t := &tapReader{blockIndent: -1}
	t.startStream(tapSuite)
	err := textstream.EachLine(r, t.readLine)

	report := t.report()
	if err == nil {
		err = t.prove.checkSummary()
	}
	if err == nil && t.countStreams() == 0 {
		err = fmt.Errorf("%w: there is no line of TAP in it", parsed.ErrUnknownFormat)
	}
	return report, err
}

// countStreams returns how many streams are not empty.
func (t *tapReader) countStreams() int {
	n := 0
	for _, d := range t.streams {
		if !d.isEmpty() {
			n++
		}
	}
	return n
}

// startStream ends the current stream, if any, and starts another one.
func (t *tapReader) startStream(suite string) {
	if t.stream != nil {
		t.groupAt(0)
	}
	t.stream = &tapStream{suite: suite, root: &tapGroup{}}
	t.streams = append(t.streams, t.stream)
	t.openGroups = []*tapGroup{t.stream.root}
	t.latest, t.afterPoint, t.blockIndent = nil, false, -1
}

const (
	maxTapLine  = 64 << 10 // bytes of a line that are read
	maxTapDepth = 32       // of nested subtests
)

// readLine handles one line: of an open YAML block, or of the stream.
func (t *tapReader) readLine(l textstream.Line) {
	text := strings.TrimRight(textstream.StripANSI(string(l.Text[:min(len(l.Text), maxTapLine)])), " \t")
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if t.blockIndent >= 0 && t.readBlockLine(indent, body) {
		return
	}
	if body != "" {
		t.stream.followsComment, t.stream.lastIsComment = t.stream.lastIsComment, body[0] == '#' && indent == 0 && !tapSubtestPattern.MatchString(body)
		t.readPlainLine(indent, body)
	} else {
		t.afterPoint = false
	}

	t.stream.isCut = !l.Complete && (t.afterPoint || t.stream.root.plan.line == body && !t.stream.isComplete())
}

// readPlainLine reads a line outside of YAML blocks.
func (t *tapReader) readPlainLine(indent int, body string) {
	afterPoint := t.afterPoint
	t.afterPoint = false
	isBlockStart := body == "---" || strings.HasPrefix(body, "--- ")
	switch {
	case afterPoint && indent > 0 && !t.stream.bailed && isBlockStart:
		t.blockIndent, t.memberIndent = indent, -1
	case indent == 0 && t.prove.readLine(t, body):
	case indent%4 == 0 && indent/4 <= maxTapDepth && t.readTAPLine(indent/4, body):
	case body[0] == '#':
		t.readComment(indent, body, afterPoint)
	default:
		t.addNoise(body)
	}
}

// readTAPLine reads a line at a depth of subtests, and reports whether it is one of TAP.
func (t *tapReader) readTAPLine(depth int, body string) bool {
	if tapVersionPattern.MatchString(body) {
		if depth == 0 {
			t.startVersion()
		}
		return true
	}

	if t.stream.bailed { // later lines are not TAP
		return false
	}

	if p, ok := parseTapPoint(body); ok {
		t.addPoint(depth, p)
		return true
	}

	if plan := parseTapPlan(body); plan.set {
		t.addPlan(depth, plan)
		return true
	}

	if m := tapBailPattern.FindStringSubmatch(body); m != nil {
		t.stream.bailOut(m[1])
		return true
	}
	if m := tapSubtestPattern.FindStringSubmatch(body); m != nil {
		t.announceSubtest(depth, m[1])
		return true
	}

	if body == "}" || body == "{" {
		return t.readBrace(depth, body)
	}
	return strings.HasPrefix(body, "pragma +") || strings.HasPrefix(body, "pragma -")
}

// readComment reads a comment, which may belong to the message of a failed test or state
// totals.
func (t *tapReader) readComment(indent int, body string, afterPoint bool) {
	t.afterPoint = afterPoint
	text := strings.TrimPrefix(strings.TrimPrefix(body, "#"), " ")
	if indent == 0 && text != "" {
		t.stream.section = text
		if m := tapFailedPattern.FindStringSubmatch(body); m != nil {
			t.stream.statedFailures = parsed.ParseNumber(m[1]).Int()
		}
		if m := tapCountPattern.FindStringSubmatch(body); m != nil {
			t.stream.statedTests = parsed.ParseNumber(m[1] + m[2]).Int()
		}
	}
	if t.latest != nil && !t.stream.version {
		t.latest.addOutput(text)
	}
}

// addNoise counts a line that is not TAP.
func (t *tapReader) addNoise(body string) {
	if t.noiseLines++; t.noiseLines == 1 {
		t.noiseSample = textstream.CleanText(body)
	}
}

// readBlockLine reads a line of the open YAML block, which has details of the latest point. It
// reports false for a line with less indentation, which ends the block.
func (t *tapReader) readBlockLine(indent int, body string) bool {
	if body != "" && indent < t.blockIndent {
		t.blockIndent = -1
		return false
	}
	if body == "..." && indent == t.blockIndent {
		t.blockIndent = -1
		return true
	}
	if t.memberIndent < 0 && body != "" {
		t.memberIndent = indent
	}
	if t.latest != nil && (indent != t.memberIndent || !t.latest.readMember(body)) {
		t.latest.addOutput(strings.Repeat(" ", max(0, indent-t.memberIndent)) + body)
	}
	return true
}
