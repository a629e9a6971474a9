package testtext

import (
	"fmt"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// tapDoc is one stream: the output of one test program.
type tapDoc struct {
	suite   string // the file, where it is known
	root    *tapGroup
	tests   []*tapItem  // the points without subtests
	groups  []*tapGroup // the subtests that have a result, the inner ones first
	version bool        // it begins with its version
	late    bool        // after the plan
	again   tapPlanned  // another plan after a complete stream
	cut     bool        // the last line is a plan or a point and has no end
	braces  bool        // there are subtests in braces
	open    *tapGroup   // the subtest in braces that has no end
	bailed  bool
	why     string // it bailed out
	exit    string // how the program ended, where prove says so
	stated  int    // how many tests failed, as its last comment about it says
	counted int    // how many tests there are, as its last comment about it says
	bad     int    // points that failed, subtests and their parts

	// tape writes the name of a test as a comment before its assertions, and the
	// plan after all of them.
	tape    bool
	section string // the last comment
	remark  bool   // the last line is a comment
	led     bool   // the line before it is one
}

// tapGroup is the points of a stream or of a subtest.
type tapGroup struct {
	up     *tapGroup
	result *tapItem // the point of the subtest, nil until it came
	hint   string   // the name that was announced
	child  *tapGroup
	plan   tapPlanned
	points int
	last   int  // number of the last point
	fails  int  // failures in it, to any depth
	closed bool // its closing brace came
}

// tapItem is one test point with its details.
type tapItem struct {
	group   *tapGroup // that it is in
	section string
	point   tapPoint
	status  metric.Status
	out     *textstream.Clip
	file    string
	line    int
	suite   bool // it says that it is not a test
}

func (d *tapDoc) empty() bool {
	return d.suite == tapSuite && d.root.points == 0 && !d.root.plan.set && !d.version && !d.bailed && d.root.child == nil
}

// complete reports whether all came that the plan promises.
func (d *tapDoc) complete() bool {
	return d.root.plan.set && d.root.points == d.root.plan.count
}

// version begins a stream where one may end.
func (t *tap) version() {
	plan := t.doc.root.plan
	if t.doc.root.points > 0 || t.doc.bailed || plan.set && plan.count == 0 {
		t.begin(tapSuite)
	}
	t.doc.version = true
	t.doc.late = t.doc.root.plan.set
}

// at returns the open group of that depth: deeper ones end, missing ones begin.
func (t *tap) at(depth int) *tapGroup {
	for len(t.stack) > depth+1 {
		t.pop()
	}
	for len(t.stack) < depth+1 {
		t.stack = append(t.stack, &tapGroup{up: t.stack[len(t.stack)-1]})
	}
	return t.stack[depth]
}

func (t *tap) pop() {
	n := len(t.stack) - 1
	g := t.stack[n]
	t.stack = t.stack[:n]
	switch {
	case g.result != nil && g.points == 0:
		if p := &g.result.point; !g.closed && p.skip == "" && p.seconds == 0 {
			p.name += " {" // it is part of the name
		}
		t.doc.leaf(g.result)
	case g.result != nil:
		t.doc.groups = append(t.doc.groups, g)
	default:
		g.up.child = g
	}
}

// end ends all that is open at the end of the report. A subtest in braces that
// is open then was cut off; what looks like one can be a name with a brace.
func (t *tap) end() {
	for _, g := range t.stack[1:] {
		if g.result != nil && (g.points > 0 || g.plan.set || t.doc.braces || g.result.point.seconds > 0) {
			t.doc.open = g
			break
		}
	}
	t.at(0)
}

func (d *tapDoc) leaf(i *tapItem) {
	d.tests = append(d.tests, i)
	if i.status == metric.Failed {
		i.group.failed()
	}
}

func (g *tapGroup) failed() {
	for ; g != nil; g = g.up {
		g.fails++
	}
}

// point takes a test point. The subtest before it is its own.
func (t *tap) point(depth int, p tapPoint) {
	g := t.at(depth)
	if depth == 0 {
		g = t.another(p)
	}
	t.number(g, &p)
	item := &tapItem{group: g, point: p, status: p.status()}
	if item.status == metric.Failed {
		t.doc.bad++
	}
	if depth == 0 {
		if g.points == 1 {
			t.doc.tape = t.doc.version && t.doc.led && !g.plan.set && g.child == nil
		}
		item.section = t.doc.section
		t.total.Add(item.status)
	}
	if item.status != metric.Passed {
		item.out = &textstream.Clip{}
		item.out.Add(p.why)
	}
	t.now, t.fresh = item, true
	child := g.child
	g.child = nil
	switch {
	case p.buffered:
		t.stack = append(t.stack, &tapGroup{up: g, result: item})
	case child != nil && child.points > 0:
		child.result = item
		t.doc.groups = append(t.doc.groups, child)
	default:
		t.doc.leaf(item)
	}
}

// number gives the point its number, where it has none.
func (t *tap) number(g *tapGroup, p *tapPoint) {
	if g.points++; p.number == 0 {
		p.number = g.last + 1
	}
	if p.number != g.last+1 && g.last > 0 {
		t.problems.Add("test point %d is where %d should be", p.number, g.last+1)
	}
	g.last = p.number
	if g.plan.expects(p.number) {
		p.skip = "TODO"
	}
}

// another returns the stream that an outer point belongs to: where all that was
// planned came, a second plan or the number 1 begin another stream.
func (t *tap) another(p tapPoint) *tapGroup {
	if again := t.doc.again; t.doc.complete() && t.doc.root.points > 0 && (again.set || p.number == 1) {
		child := t.doc.root.child
		t.doc.root.child = nil
		t.doc.again = tapPlanned{}
		t.begin(t.doc.suite)
		t.doc.root.child = child
		t.doc.root.plan = again
	}
	return t.doc.root
}

// planned takes a plan. A plan inside of braces that is not indented is noise.
func (t *tap) planned(depth int, plan tapPlanned) {
	if top := t.stack[len(t.stack)-1]; len(t.stack) > depth+1 && top.result != nil && (top.points > 0 || top.plan.set) {
		t.other(plan.line)
		return
	}
	g := t.at(depth)
	plan.first = g.points == 0
	if depth == 0 && g.plan.set {
		t.second(plan)
		return
	}
	if !g.plan.set {
		g.plan = plan
	}
}

// second takes a plan after the first.
func (t *tap) second(plan tapPlanned) {
	g := t.doc.root
	switch {
	case t.doc.late && g.points == 0:
		t.begin(tapSuite)
		t.doc.version = true
		t.doc.root.plan = plan
	case t.doc.complete() && (g.plan.first || plan.count != g.plan.count):
		t.doc.again = plan
		t.doc.again.first = true
	case plan.count != g.plan.count:
		t.problems.Add("a plan of %d tests follows one of %d", plan.count, g.plan.count)
	}
}

// subtest takes the announcement of a subtest, in its own indentation or in
// that of its parent.
func (t *tap) subtest(depth int, name string) {
	if g := t.at(depth); depth > 0 && g.points == 0 && g.hint == "" {
		g.hint = name
	}
}

// brace opens the subtest of the point before it, or closes one.
func (t *tap) brace(depth int, body string) bool {
	if body == "}" {
		if len(t.stack) <= depth+1 {
			return false
		}
		t.stack[depth+1].closed, t.doc.braces = true, true
		t.at(depth)
		return true
	}
	n := len(t.doc.tests)
	if n == 0 || t.now == nil || t.doc.tests[n-1] != t.now || t.now.group != t.at(depth) {
		return false
	}
	t.doc.tests = t.doc.tests[:n-1]
	if t.now.status == metric.Failed {
		for g := t.now.group; g != nil; g = g.up {
			g.fails--
		}
	}
	t.stack = append(t.stack, &tapGroup{up: t.now.group, result: t.now})
	return true
}

func (d *tapDoc) bail(why string) {
	if !d.bailed {
		d.bailed, d.why = true, why
	}
}

// say adds a line to the message of a point that did not pass.
func (i *tapItem) say(line string) {
	if i.out == nil {
		return
	}
	if !i.out.Empty() {
		i.out.Add("\n")
	}
	i.out.Add(line)
}

var (
	tapDuration = regexp.MustCompile(`^duration_ms: ([0-9.]+)$`)
	tapPlace    = regexp.MustCompile(`^location: '?(.+?):(\d+):\d+'?$`)
	tapSuiteKey = regexp.MustCompile(`^type: '?suite'?$`)
)

// know takes a member of the block that is not a message.
func (i *tapItem) know(member string) bool {
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
		i.suite = true
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

// path returns the names of the subtests around g and of g itself.
func (g *tapGroup) path() string {
	var names []string
	for ; g.up != nil; g = g.up {
		name := textstream.CleanName(g.hint)
		if g.result != nil {
			name = g.result.name()
		}
		if name != "" {
			names = append([]string{name}, names...)
		}
	}
	return strings.Join(names, " > ")
}

// excused reports whether a subtest around is skipped or still to do, so that
// a failure in it is none.
func (g *tapGroup) excused() bool {
	for ; g != nil; g = g.up {
		if g.result != nil && g.result.point.skip != "" {
			return true
		}
	}
	return false
}
