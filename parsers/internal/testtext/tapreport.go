package testtext

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// report closes all groups and returns the report with the tests and problems of all streams.
func (t *tapReader) report() parsed.Report {
	var cases []metric.Test
	var broken []metric.Suite
	t.closeAll()
	for _, d := range t.streams {
		if d.isEmpty() {
			continue
		}
		broken = append(broken, t.finishStream(d)...)
		cases = append(cases, d.toTests()...)
	}
	t.totals.Skipped += len(t.prove.skipped)
	t.totals.Tests += len(t.prove.skipped)
	cases = append(cases, t.prove.skipped...)
	if t.noiseLines > 0 {
		t.problems.Add("%d lines are no TAP, the first: %s", t.noiseLines, t.noiseSample)
	}

	r := parsed.Report{Producer: t.prove.producer(), Tests: parsed.MergeCases(cases, true), Cases: t.totals}
	r.Tests.Broken = parsed.UniqueSuites(broken)
	for _, c := range r.Tests.Cases {
		r.Tests.Duration += c.Duration
	}

	t.prove.checkTotals(t)
	if len(broken) == 0 {
		r.Tests.Failure = t.contradiction
	}
	r.Problems = t.problems.All()
	return r
}

// finishStream returns the stream, or subtests in it, as broken suites if they did not run to
// their end. A stream without a plan, or with fewer points than planned, ended early, and its
// missing tests are unknown.
func (t *tapReader) finishStream(d *tapStream) []metric.Suite {
	broken := append(t.brokenSubtests(d), d.placeholders()...)

	plan, points := d.root.plan, d.root.points

	why := ""
	switch {
	case d.bailed:
		why = parsed.JoinReason("bailed out", textstream.CleanText(d.bailReason))
	case d.unclosed != nil:
		why = "the report ends in the subtests of " + d.unclosed.path() + ": the run broke off, or its output was cut off"
	case !plan.set:
		why = "there is no plan: the run broke off, or its output was cut off"
	case points < plan.count:
		why = fmt.Sprintf("%d of %d planned tests came: the run broke off, or its output was cut off", points, plan.count)
	case d.isCut:
		why = "the last line has no end: the output was cut off"
	case points > plan.count:
		t.problems.Add("%s: %d tests were planned, %d came", d.suite, plan.count, points)
	case d.nextPlan.set && d.nextPlan.count != plan.count:
		why = fmt.Sprintf("no test follows the plan of %d", d.nextPlan.count)
	case plan.count == 0 && plan.set:
		t.problems.Add("%s: there are no tests in it %s", d.suite, plan.why)
	}

	if why == "" && d.exit != "" && d.root.failures == 0 {
		why = "no test failed: " + d.exit
	}

	t.checkStatedFailures(d, why)
	t.checkStatedTests(d)

	if why != "" {
		broken = append(broken, metric.Suite{Name: d.suite, Why: cmp.Or(parsed.JoinReason(why, d.exit), why)})
	}
	return broken
}

// checkStatedFailures records a contradiction if a complete stream states failures and has
// none.
func (t *tapReader) checkStatedFailures(d *tapStream, why string) {
	if why == "" && d.statedFailures > 0 && d.failedPoints == 0 {
		t.contradiction = fmt.Sprintf("%s: the report says %d failed tests and holds 0", d.suite, d.statedFailures)
		t.problems.Add("%s", t.contradiction)
	}
}

// checkStatedTests adds a problem if a stream states more tests than it has. node:test and
// tap may count tests with subtests as well.
func (t *tapReader) checkStatedTests(d *tapStream) {
	tests, outer := 0, 0
	for _, i := range d.tests {
		if !i.isSuite {
			tests++
		}
	}
	for _, g := range d.groups {
		if !g.result.isSuite {
			outer++
		}
	}
	switch more := d.statedTests - tests; {
	case more > 0 && more <= outer:
		t.problems.Add("%s: the last lines count tests with others in them too, %d here; in this report only the innermost count", d.suite, more)
	case more > 0:
		t.problems.Add("%s: the report says %d tests and holds %d", d.suite, d.statedTests, tests)
	}
}

// brokenSubtests returns the subtests that failed although none of their points did.
func (t *tapReader) brokenSubtests(d *tapStream) []metric.Suite {
	var broken []metric.Suite
	for _, g := range d.groups {
		if g.plan.set && g.points < g.plan.count {
			t.problems.Add("%s: %d of %d planned tests came", g.path(), g.points, g.plan.count)
		}
		if g.result.status != metric.Failed || g.failures > 0 {
			continue
		}
		g.countFailure()
		why := "it failed although nothing in it did"
		if text := g.result.output.String(); text != "" {
			why += ": " + textstream.FirstLine(text)
		}
		broken = append(broken, metric.Suite{Name: g.path(), Why: why})
	}
	return broken
}

// placeholders returns the points that are about what could not run. The missing tests may be of any
// point, since TAP does not name their files.
func (d *tapStream) placeholders() []metric.Suite {
	var broken []metric.Suite
	for _, i := range d.tests {
		if i.isPlaceholder() {
			broken = append(broken, metric.Suite{Name: i.name(), Why: cmp.Or(i.output.String(), "it could not run"), StoppedRun: true})
		}
	}
	return broken
}

// batsTimePattern matches the time that bats --timing adds to names: "adds in 12ms".
var batsTimePattern = regexp.MustCompile(` in (\d+)ms$`)

// toTests returns the tests of the stream. Passed suites without tests are left out.
func (d *tapStream) toTests() []metric.Test {
	timed := d.takeBatsTimes()
	seen := map[metric.ID]int{}
	out := make([]metric.Test, 0, len(d.tests))
	for _, i := range d.tests {
		if i.isSuite && i.status == metric.Passed || i.isPlaceholder() { // a suite without tests
			continue
		}

		c := metric.Test{ID: metric.ID{Suite: d.suite, Class: i.group.path(), Name: i.name()}, Status: i.status, File: i.file, Line: i.line, Duration: parsed.Seconds(i.point.seconds)}
		if i.output != nil {
			c.Message = i.output.String()
		}
		if i.status == metric.Failed && i.group.isTodo() {
			c.Status = metric.Skipped
		}

		if timed {
			c.Name = batsTimePattern.ReplaceAllString(c.Name, "")
		}
		if d.isTape {
			c.Class = textstream.CleanName(i.section)
			if seen[c.ID]++; seen[c.ID] > 1 { // many assertions of tape have the same name
				c.Name += fmt.Sprintf(" (%d)", seen[c.ID])
			}
		}

		out = append(out, c)
	}
	return out
}

// takeBatsTimes sets the durations of the tests if all their names end with a time, and
// reports whether they do.
func (d *tapStream) takeBatsTimes() bool {
	for _, i := range d.tests {
		if i.status != metric.Skipped && !batsTimePattern.MatchString(i.point.name) {
			return false
		}
	}
	for _, i := range d.tests {
		if m := batsTimePattern.FindStringSubmatch(i.point.name); m != nil {
			ms, _ := strconv.ParseFloat(m[1], 64) // digits
			i.point.seconds = ms / 1000
		}
	}
	return len(d.tests) > 0
}

// proveOutput is the output of prove -v around the streams of the files.
type proveOutput struct {
	isProve, ended, summary bool          // a line of prove, its totals, or the start of its summary was read
	files, tests            int           // the totals, 0 without them
	skipped                 []metric.Test // the files that were skipped completely
}

var (
	// proveHeadingPattern matches the line before the stream of a file: "t/a.t .. ", or "t/a.t
	// .. skipped: no network".
	proveHeadingPattern = regexp.MustCompile(`^(\S*[./]\S*) \.{2,}(?:\s+(.*))?$`)
	// proveTotalsPattern matches the totals: "Files=2, Tests=5,  0 wallclock secs".
	proveTotalsPattern = regexp.MustCompile(`^Files=(\d+), Tests=(\d+),`)
	// proveResultPattern matches other lines of prove: "Failed 1/5 subtests" or "Result: FAIL".
	proveResultPattern = regexp.MustCompile(`^(Failed \d+/\d+ subtests|All \d+ subtests passed|No subtests run|All tests successful|Result: |\(less \d+|\(\d+ TODO|FAILED--|skipped: )`)
)

// readLine reads a line, and reports whether it is one of prove itself.
func (p *proveOutput) readLine(t *tapReader, body string) bool {
	if m := proveHeadingPattern.FindStringSubmatch(body); m != nil && !p.summary {
		p.readHeading(t, m[1], m[2])
		return true
	}
	if !p.isProve {
		return false
	}
	switch {
	case body == "ok" && t.stream.isComplete():
	case strings.HasPrefix(body, "Dubious, test returned "):
		t.stream.exit = strings.TrimPrefix(body, "Dubious, ")
	case proveTotalsPattern.MatchString(body):
		m := proveTotalsPattern.FindStringSubmatch(body)
		p.files, _ = strconv.Atoi(m[1]) // digits
		p.tests, _ = strconv.Atoi(m[2])
		p.ended, p.summary = true, true
	case body == "Test Summary Report":
		p.summary = true
	default:
		return p.summary || proveResultPattern.MatchString(strings.TrimSpace(body))
	}
	return true
}

// readHeading starts the stream of a file, or adds the file as one skipped test. Rest is the
// text after the dots.
func (p *proveOutput) readHeading(t *tapReader, file, rest string) {
	p.isProve = true
	if why, ok := strings.CutPrefix(rest, "skipped: "); ok {
		name := textstream.CleanName(file)
		p.skipped = append(p.skipped, metric.Test{ID: metric.ID{Suite: name, Name: name}, Status: metric.Skipped, Message: textstream.ClipText(why)})
		t.startStream(tapSuite)
		return
	}
	t.startStream(textstream.CleanName(file))
}

// producer returns "prove", or "" if the text is not its output.
func (p *proveOutput) producer() string {
	if p.isProve {
		return "prove"
	}
	return ""
}

// checkSummary returns an error if the summary is missing, since files may be missing then.
func (p *proveOutput) checkSummary() error {
	if p.isProve && !p.ended {
		return &parsed.SyntaxError{Problem: "the report ends before the summary of prove: it was stopped, or its output was cut off"}
	}
	return nil
}

// checkTotals adds a problem if the total differs from the number of tests.
func (p *proveOutput) checkTotals(t *tapReader) {
	if got := t.totals.Tests - len(p.skipped); p.ended && got != p.tests {
		t.problems.Add("prove counts %d tests, there are %d", p.tests, got)
	}
}
