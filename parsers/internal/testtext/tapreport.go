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

func (t *tap) report() parsed.Report {
	var cases []metric.Test
	var broken []metric.Suite
	t.end()
	for _, d := range t.docs {
		if d.empty() {
			continue
		}
		broken = append(broken, t.finish(d)...)
		cases = append(cases, d.cases()...)
	}
	t.total.Skipped += len(t.prove.skipped)
	t.total.Tests += len(t.prove.skipped)
	cases = append(cases, t.prove.skipped...)
	if t.noise > 0 {
		t.problems.Add("%d lines are no TAP, the first: %s", t.noise, t.sample)
	}
	r := parsed.Report{Producer: t.prove.producer(), Tests: parsed.Distinct(cases, true), Cases: t.total}
	r.Tests.Broken = parsed.UniqueSuites(broken)
	for _, c := range r.Tests.Cases {
		r.Tests.Duration += c.Duration
	}
	t.prove.compare(t)
	if len(broken) == 0 {
		r.Tests.Failure = t.denied
	}
	r.Problems = t.problems.All()
	return r
}

// finish returns why a stream, or a subtest in it, did not run to its end. A
// stream without a plan, or with fewer points than planned, broke off; what it
// left out is unknown.
func (t *tap) finish(d *tapDoc) []metric.Suite {
	broken := t.subtests(d)
	plan, points := d.root.plan, d.root.points
	why := ""
	switch {
	case d.bailed:
		why = parsed.Because("bailed out", textstream.CleanText(d.why))
	case d.open != nil:
		why = "the report ends in the subtests of " + d.open.path() + ": the run broke off, or its output was cut off"
	case !plan.set:
		why = "there is no plan: the run broke off, or its output was cut off"
	case points < plan.count:
		why = fmt.Sprintf("%d of %d planned tests came: the run broke off, or its output was cut off", points, plan.count)
	case d.cut:
		why = "the last line has no end: the output was cut off"
	case points > plan.count:
		t.problems.Add("%s: %d tests were planned, %d came", d.suite, plan.count, points)
	case d.again.set && d.again.count != plan.count:
		why = fmt.Sprintf("no test follows the plan of %d", d.again.count)
	case plan.count == 0 && plan.set:
		t.problems.Add("%s: there are no tests in it %s", d.suite, plan.why)
	}
	if why == "" && d.exit != "" && d.root.fails == 0 {
		why = "no test failed: " + d.exit
	}
	t.deny(d, why)
	t.outnumbered(d)
	if why != "" {
		broken = append(broken, metric.Suite{Name: d.suite, Why: cmp.Or(parsed.Because(why, d.exit), why)})
	}
	return broken
}

// deny notes the failures that a stream states and does not hold, unless it broke off.
func (t *tap) deny(d *tapDoc, why string) {
	if why == "" && d.stated > 0 && d.bad == 0 {
		t.denied = fmt.Sprintf("%s: the report says %d failed tests and holds 0", d.suite, d.stated)
		t.problems.Add("%s", t.denied)
	}
}

// outnumbered notes that a stream counts more tests than it holds. Node and tap also count
// tests with others in them, tap some of them.
func (t *tap) outnumbered(d *tapDoc) {
	tests, outer := 0, 0
	for _, i := range d.tests {
		if !i.suite {
			tests++
		}
	}
	for _, g := range d.groups {
		if !g.result.suite {
			outer++
		}
	}
	switch more := d.counted - tests; {
	case more > 0 && more <= outer:
		t.problems.Add("%s: the last lines count tests with others in them too, %d here; in this report only the innermost count", d.suite, more)
	case more > 0:
		t.problems.Add("%s: the report says %d tests and holds %d", d.suite, d.counted, tests)
	}
}

// subtests returns the subtests that failed although nothing in them did.
func (t *tap) subtests(d *tapDoc) []metric.Suite {
	var broken []metric.Suite
	for _, g := range d.groups {
		if g.plan.set && g.points < g.plan.count {
			t.problems.Add("%s: %d of %d planned tests came", g.path(), g.points, g.plan.count)
		}
		if g.result.status != metric.Failed || g.fails > 0 {
			continue
		}
		g.failed()
		why := "it failed although nothing in it did"
		if text := g.result.out.String(); text != "" {
			why += ": " + textstream.FirstLine(text)
		}
		broken = append(broken, metric.Suite{Name: g.path(), Why: why})
	}
	return broken
}

// batsTime is what bats adds to the names of its tests with --timing.
var batsTime = regexp.MustCompile(` in (\d+)ms$`)

// cases returns the outcomes of the stream.
func (d *tapDoc) cases() []metric.Test {
	timed := d.timed()
	seen := map[metric.ID]int{}
	out := make([]metric.Test, 0, len(d.tests))
	for _, i := range d.tests {
		if i.suite && i.status == metric.Passed { // a suite without tests
			continue
		}
		c := metric.Test{ID: metric.ID{Suite: d.suite, Class: i.group.path(), Name: i.name()}, Status: i.status, File: i.file, Line: i.line, Duration: parsed.Seconds(i.point.seconds)}
		if i.out != nil {
			c.Message = i.out.String()
		}
		if i.status == metric.Failed && i.group.excused() {
			c.Status = metric.Skipped
		}
		if timed {
			c.Name = batsTime.ReplaceAllString(c.Name, "")
		}
		if d.tape {
			c.Class = textstream.CleanName(i.section)
			if seen[c.ID]++; seen[c.ID] > 1 { // its assertions often have no name of their own
				c.Name += fmt.Sprintf(" (%d)", seen[c.ID])
			}
		}
		out = append(out, c)
	}
	return out
}

// timed reports whether all the names end with a time, and takes it.
func (d *tapDoc) timed() bool {
	for _, i := range d.tests {
		if i.status != metric.Skipped && !batsTime.MatchString(i.point.name) {
			return false
		}
	}
	for _, i := range d.tests {
		if m := batsTime.FindStringSubmatch(i.point.name); m != nil {
			ms, _ := strconv.ParseFloat(m[1], 64) // digits
			i.point.seconds = ms / 1000
		}
	}
	return len(d.tests) > 0
}

// tapProve is what prove -v writes around the streams of the files.
type tapProve struct {
	on, ended, summary bool
	files, tests       int
	skipped            []metric.Test // the files that were skipped completely
}

var (
	proveHeading = regexp.MustCompile(`^(\S*[./]\S*) \.{2,}(?:\s+(.*))?$`)
	proveTotals  = regexp.MustCompile(`^Files=(\d+), Tests=(\d+),`)
	proveResult  = regexp.MustCompile(`^(Failed \d+/\d+ subtests|All \d+ subtests passed|No subtests run|All tests successful|Result: |\(less \d+|\(\d+ TODO|FAILED--|skipped: )`)
)

// line takes a line of prove itself.
func (v *tapProve) line(t *tap, body string) bool {
	if m := proveHeading.FindStringSubmatch(body); m != nil && !v.summary {
		v.heading(t, m[1], m[2])
		return true
	}
	if !v.on {
		return false
	}
	switch {
	case body == "ok" && t.doc.complete():
	case strings.HasPrefix(body, "Dubious, test returned "):
		t.doc.exit = strings.TrimPrefix(body, "Dubious, ")
	case proveTotals.MatchString(body):
		m := proveTotals.FindStringSubmatch(body)
		v.files, _ = strconv.Atoi(m[1]) // digits
		v.tests, _ = strconv.Atoi(m[2])
		v.ended, v.summary = true, true
	case body == "Test Summary Report":
		v.summary = true
	default:
		return v.summary || proveResult.MatchString(strings.TrimSpace(body))
	}
	return true
}

func (v *tapProve) heading(t *tap, file, rest string) {
	v.on = true
	if why, ok := strings.CutPrefix(rest, "skipped: "); ok {
		name := textstream.CleanName(file)
		v.skipped = append(v.skipped, metric.Test{ID: metric.ID{Suite: name, Name: name}, Status: metric.Skipped, Message: textstream.ClipText(why)})
		t.begin(tapSuite)
		return
	}
	t.begin(textstream.CleanName(file))
}

func (v *tapProve) producer() string {
	if v.on {
		return "prove"
	}
	return ""
}

// complete returns an error where the summary is missing: files may be missing
// as well.
func (v *tapProve) complete() error {
	if v.on && !v.ended {
		return &parsed.SyntaxError{Problem: "the report ends before the summary of prove: it was stopped, or its output was cut off"}
	}
	return nil
}

// compare adds a problem where the totals differ from the recount.
func (v *tapProve) compare(t *tap) {
	if got := t.total.Tests - len(v.skipped); v.ended && got != v.tests {
		t.problems.Add("prove counts %d tests, there are %d", v.tests, got)
	}
}
