package testtext

import (
	"fmt"
	"strconv"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// tapStream is the output of one test program: a tree of groups with points.
type tapStream struct {
	suite            string      // the file, [tapSuite] if it is not known
	root             *tapGroup   // the points that are not in a subtest
	tests            []*tapItem  // the points without subtests
	groups           []*tapGroup // the subtests that have a result, the inner ones first
	version          bool        // it begins with its version
	versionAfterPlan bool        // the version follows a plan
	nextPlan         tapPlan     // another plan after a complete stream
	isCut            bool        // the last line is a plan or a point and has no end
	hasBraces        bool        // there are subtests in braces
	unclosed         *tapGroup   // the subtest in braces that has no end
	bailed           bool        // the program printed "Bail out!"
	bailReason       string      // the text after "Bail out!"
	exit             string      // how the program ended, if prove says so
	statedFailures   int         // failed tests, according to its last comment about them; 0 without one
	statedTests      int         // tests, according to its last comment about them; 0 without one
	failedPoints     int         // failed points, including those of subtests

	// The program is tape, which writes the name of a test as a comment before its assertions,
	// and the plan after all of them.
	isTape         bool
	section        string // the last comment
	lastIsComment  bool   // the last line is a comment
	followsComment bool   // the line before it is one
}

// tapGroup is the points of a stream or of a subtest.
type tapGroup struct {
	parent        *tapGroup // the group around it, nil for the root
	result        *tapItem  // the point of the subtest, nil until it is read
	announcedName string    // the name in the comment "# Subtest", "" for none
	child         *tapGroup // the last closed subtest, until its point is read
	plan          tapPlan
	points        int  // number of its points
	lastNumber    int  // number of the last point
	failures      int  // failures in it, to any depth
	closed        bool // its closing brace was read
}

// tapItem is one test point with its details.
type tapItem struct {
	group   *tapGroup // the group that has the point
	section string    // the comment before the point: see isTape
	point   tapPoint
	status  metric.Status
	output  *textstream.Clip // its message; nil for a passed point, whose output is not kept
	file    string
	line    int
	isSuite bool // its details say that it is a suite, not a test
}

// isPlaceholder reports whether a point is about what could not run: a file as a whole, as node:test
// writes it, or the set-up of one.
func (i *tapItem) isPlaceholder() bool {
	if i.status != metric.Failed || i.output == nil {
		return false
	}
	_, isRow := framework.PlaceholderFor("", i.point.name, i.output.String())
	return isRow || i.file != "" && (i.point.name == i.file || strings.HasSuffix(i.file, "/"+i.point.name))
}

// isEmpty reports whether nothing of the stream was read.
func (d *tapStream) isEmpty() bool {
	return d.suite == tapSuite && d.root.points == 0 && !d.root.plan.set && !d.version && !d.bailed && d.root.child == nil
}

// isComplete reports whether the stream has all planned points.
func (d *tapStream) isComplete() bool {
	return d.root.plan.set && d.root.points == d.root.plan.count
}

// startVersion handles a version line. It starts another stream if the current one may be
// at its end.
func (t *tapReader) startVersion() {
	plan := t.stream.root.plan
	if t.stream.root.points > 0 || t.stream.bailed || plan.set && plan.count == 0 {
		t.startStream(tapSuite)
	}
	t.stream.version = true
	t.stream.versionAfterPlan = t.stream.root.plan.set
}

// groupAt returns the open group at a depth. It closes deeper groups and opens missing ones.
func (t *tapReader) groupAt(depth int) *tapGroup {
	for len(t.openGroups) > depth+1 {
		t.closeGroup()
	}
	for len(t.openGroups) < depth+1 {
		t.openGroups = append(t.openGroups, &tapGroup{parent: t.openGroups[len(t.openGroups)-1]})
	}
	return t.openGroups[depth]
}

// closeGroup closes the innermost group. A subtest in braces has its point already. Any other
// subtest waits as the child of its parent for its point, which follows it.
func (t *tapReader) closeGroup() {
	n := len(t.openGroups) - 1
	g := t.openGroups[n]
	t.openGroups = t.openGroups[:n]
	switch {
	case g.result != nil && g.points == 0:
		if p := &g.result.point; !g.closed && p.skip == "" && p.seconds == 0 {
			p.name += " {" // it is part of the name
		}
		t.stream.addTest(g.result)
	case g.result != nil:
		t.stream.groups = append(t.stream.groups, g)
	default:
		g.parent.child = g
	}
}

// closeAll closes all groups at the end of the report. An open subtest in braces was cut
// off, unless it is only a name that ends with a brace.
func (t *tapReader) closeAll() {
	for _, g := range t.openGroups[1:] {
		inBraces := g.result != nil && (g.points > 0 || g.plan.set || t.stream.hasBraces || g.result.point.seconds > 0)
		if inBraces {
			t.stream.unclosed = g
			break
		}
	}
	t.groupAt(0)
}

// addTest adds a point without subtests as a test.
func (d *tapStream) addTest(i *tapItem) {
	d.tests = append(d.tests, i)
	if i.status == metric.Failed {
		i.group.countFailure()
	}
}

// countFailure counts a failure in the group and in all groups around it.
func (g *tapGroup) countFailure() {
	for ; g != nil; g = g.parent {
		g.failures++
	}
}

// addPoint adds a test point at a depth of subtests. An indented subtest directly before it
// belongs to it.
func (t *tapReader) addPoint(depth int, p tapPoint) {
	g := t.groupAt(depth)
	if depth == 0 {
		g = t.groupOfOuterPoint(p)
	}
	t.numberPoint(g, &p)

	item := &tapItem{group: g, point: p, status: p.status()}
	if item.status == metric.Failed {
		t.stream.failedPoints++
	}
	if depth == 0 {
		if g.points == 1 {
			t.stream.isTape = t.stream.version && t.stream.followsComment && !g.plan.set && g.child == nil
		}
		item.section = t.stream.section
		t.totals.Add(item.status)
	}
	if item.status != metric.Passed {
		item.output = &textstream.Clip{}
		item.output.Add(p.why)
	}

	t.latest, t.afterPoint = item, true
	child := g.child
	g.child = nil

	switch {
	case p.buffered:
		t.openGroups = append(t.openGroups, &tapGroup{parent: g, result: item})
	case child != nil && child.points > 0:
		child.result = item
		t.stream.groups = append(t.stream.groups, child)
	default:
		t.stream.addTest(item)
	}
}

// numberPoint numbers the point if it has no number, and checks the order of numbers. A point
// in the todo list of the plan becomes one with the directive TODO.
func (t *tapReader) numberPoint(g *tapGroup, p *tapPoint) {
	if g.points++; p.number == 0 {
		p.number = g.lastNumber + 1
	}
	if p.number != g.lastNumber+1 && g.lastNumber > 0 {
		t.problems.Add("test point %d is where %d should be", p.number, g.lastNumber+1)
	}
	g.lastNumber = p.number
	if g.plan.expects(p.number) {
		p.skip = "TODO"
	}
}

// groupOfOuterPoint returns the group of a point outside of subtests. After a complete
// stream, a second plan or the number 1 starts another stream.
func (t *tapReader) groupOfOuterPoint(p tapPoint) *tapGroup {
	if again := t.stream.nextPlan; t.stream.isComplete() && t.stream.root.points > 0 && (again.set || p.number == 1) {
		child := t.stream.root.child
		t.stream.root.child = nil
		t.stream.nextPlan = tapPlan{}
		t.startStream(t.stream.suite)
		t.stream.root.child = child
		t.stream.root.plan = again
	}
	return t.stream.root
}

// addPlan sets the plan of a group. A plan without indentation inside of braces is noise.
func (t *tapReader) addPlan(depth int, plan tapPlan) {
	innermost := t.openGroups[len(t.openGroups)-1]
	inBraces := len(t.openGroups) > depth+1 && innermost.result != nil && (innermost.points > 0 || innermost.plan.set)
	if inBraces {
		t.addNoise(plan.line)
		return
	}

	g := t.groupAt(depth)
	plan.first = g.points == 0
	if depth == 0 && g.plan.set {
		t.addSecondPlan(plan)
		return
	}
	if !g.plan.set {
		g.plan = plan
	}
}

// addSecondPlan handles another plan of the stream.
func (t *tapReader) addSecondPlan(plan tapPlan) {
	g := t.stream.root
	switch {
	case t.stream.versionAfterPlan && g.points == 0:
		t.startStream(tapSuite)
		t.stream.version = true
		t.stream.root.plan = plan
	case t.stream.isComplete() && (g.plan.first || plan.count != g.plan.count):
		t.stream.nextPlan = plan
		t.stream.nextPlan.first = true
	case plan.count != g.plan.count:
		t.problems.Add("a plan of %d tests follows one of %d", plan.count, g.plan.count)
	}
}

// announceSubtest handles the comment that names a subtest, with the indentation of the
// subtest or of its parent.
func (t *tapReader) announceSubtest(depth int, name string) {
	if g := t.groupAt(depth); depth > 0 && g.points == 0 && g.announcedName == "" {
		g.announcedName = name
	}
}

// readBrace opens the subtest of the point before it or closes a subtest, and reports whether
// it did.
func (t *tapReader) readBrace(depth int, body string) bool {
	if body == "}" {
		if len(t.openGroups) <= depth+1 {
			return false
		}
		t.openGroups[depth+1].closed, t.stream.hasBraces = true, true
		t.groupAt(depth)
		return true
	}

	n := len(t.stream.tests)
	if n == 0 || t.latest == nil || t.stream.tests[n-1] != t.latest || t.latest.group != t.groupAt(depth) {
		return false
	}

	t.stream.tests = t.stream.tests[:n-1]
	if t.latest.status == metric.Failed {
		for g := t.latest.group; g != nil; g = g.parent {
			g.failures--
		}
	}
	t.openGroups = append(t.openGroups, &tapGroup{parent: t.latest.group, result: t.latest})
	return true
}

// bailOut records that the program gave up. The first reason counts.
func (d *tapStream) bailOut(why string) {
	if !d.bailed {
		d.bailed, d.bailReason = true, why
	}
}

// addOutput adds a line to the message of a point, unless the point passed.
func (i *tapItem) addOutput(line string) {
	if i.output == nil {
		return
	}
	if !i.output.Empty() {
		i.output.Add("\n")
	}
	i.output.Add(line)
}

var (
	// tapDuration matches the time of a test: "duration_ms: 1.5".
	tapDuration = regexp.MustCompile(`^duration_ms: ([0-9.]+)$`)
	// tapPlace matches the place of a test: "location: '/p/a.js:3:1'".
	tapPlace = regexp.MustCompile(`^location: '?(.+?):(\d+):\d+'?$`)
	// tapSuiteKey matches the mark of a suite: "type: 'suite'".
	tapSuiteKey = regexp.MustCompile(`^type: '?suite'?$`)
)

// readMember reads a member of a YAML block, and reports whether it is one that is not part
// of the message.
func (i *tapItem) readMember(member string) bool {
	if m := tapDuration.FindStringSubmatch(member); m != nil {
		ms, _ := strconv.ParseFloat(m[1], 64) // 0 if it is none
		i.point.seconds = ms / 1000
		return true
	}
	if m := tapPlace.FindStringSubmatch(member); m != nil {
		i.file = textstream.CleanName(m[1])
		i.line, _ = strconv.Atoi(m[2]) // digits; 0 if there are too many
		return true
	}
	if tapSuiteKey.MatchString(member) {
		i.isSuite = true
		return true
	}
	return false
}

// name returns the description, or for a point without one its number.
func (i *tapItem) name() string {
	if i.point.name == "" {
		return fmt.Sprintf("test %d", i.point.number)
	}
	return textstream.CleanName(i.point.name)
}

// path returns the names of the enclosing subtests and of g itself.
func (g *tapGroup) path() string {
	var names []string
	for ; g.parent != nil; g = g.parent {
		name := textstream.CleanName(g.announcedName)
		if g.result != nil {
			name = g.result.name()
		}
		if name != "" {
			names = append([]string{name}, names...)
		}
	}
	return strings.Join(names, " > ")
}

// isTodo reports whether g or an enclosing subtest is skipped or to do, so that its failures
// do not count.
func (g *tapGroup) isTodo() bool {
	for ; g != nil; g = g.parent {
		if g.result != nil && g.result.point.skip != "" {
			return true
		}
	}
	return false
}
