package coverage

import (
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// detectClover recognizes a root named coverage with a project or with the attribute clover.
func detectClover(h sniff.Head) bool {
	return h.HasRoot("coverage") && (h.HasElements("project") || h.Root.Attr("clover") != "")
}

// istanbulClover is the version that istanbul (jest, vitest, nyc, c8) always writes.
const istanbulClover = "3.2.0"

// cloverReader reads the XML of Clover. PHPUnit and OpenClover list statements, which are
// counted; methods are not. Istanbul lists one element for each line, so its unit is lines,
// and the numbers equal those of its other reports.
//
// A cond element has the two outcomes of a condition. In istanbul's reports it has all
// branches of a line and also counts as the line itself. Test sources (testproject) are not
// counted.
type cloverReader struct {
	*xmlReport
	istanbul  bool   // istanbul wrote the report
	testDepth int    // number of open testproject elements
	pkg       string // name of the open package
	inFile    bool   // a file that counts is open
	lastLine  int    // line of the previous statement; -1 for none
	nthOnLine uint32 // index of the next statement on that line
	// cond is the condition whose branches are being added up; its number is the line, 0 for
	// none.
	cond struct {
		number         int
		covered, total int64
	}
}

func parseClover(r io.Reader) (Report, error) {
	c := &cloverReader{xmlReport: newXMLReport(r, metric.Statements, "project")}
	return c.finish(c.forEachElement(c.startElement, c.endElement, nil))
}

func (c *cloverReader) startElement(t xmlstream.Token) error {
	switch t.Name {
	case "line":
		if c.inFile && c.testDepth == 0 {
			return c.readLine(t)
		}
	case "coverage":
		if c.istanbul = t.Value("clover") == istanbulClover; c.istanbul {
			c.unit = metric.Lines
		}
	case "project":
		c.required = ""
	case "testproject":
		c.testDepth++
	case "package":
		c.pkg = t.Value("name")
	case "file":
		if c.testDepth == 0 {
			c.openFile(c.filePath(t))
			c.inFile, c.lastLine, c.nthOnLine = true, -1, 0
		}
	case "metrics":
		if t.Depth == 2 && c.testDepth == 0 { // the totals of the project
			c.declared = declaredTotals(t, "coveredstatements", "statements", "coveredconditionals", "conditionals")
		}
	}
	return nil
}

func (c *cloverReader) endElement(name string) {
	switch name {
	case "testproject":
		c.testDepth--
	case "package":
		c.pkg = ""
	case "file":
		if c.inFile {
			c.endCondition()
			c.closeFile()
			c.inFile = false
		}
	}
}

// filePath returns the path of a file. A base name is prefixed with the folders of its package,
// because other packages may have a file of the same name.
func (c *cloverReader) filePath(t xmlstream.Token) string {
	if full := t.Value("path"); full != "" {
		return full
	}
	name := t.Value("name")
	if c.pkg == "" || strings.ContainsAny(name, `/\`) {
		return name
	}
	return strings.ReplaceAll(c.pkg, ".", "/") + "/" + name
}

// readLine reads a line element, unless it is a method.
func (c *cloverReader) readLine(t xmlstream.Token) error {
	kind, count := t.Value("type"), t.Value("count")
	if kind == "method" {
		return nil
	}
	n, err := c.parseLineNumber(t.Name, t.Value("num"))
	if err != nil {
		return err
	}
	if kind == "cond" {
		yes, no := parseDeclared(t.Value("truecount")), parseDeclared(t.Value("falsecount"))
		if yes < 0 || no < 0 {
			return c.syntaxError("the counts of the condition on line %d are no numbers", n)
		}
		c.addOutcomes(n, yes, no)
		if !c.istanbul || count == "" { // Clover itself also used that version
			return nil
		}
	}
	hit, err := c.parseExecuted(t.Name, count)
	if err != nil {
		return err
	}
	c.addExecutable(n, hit)
	return nil
}

// addExecutable adds a line of istanbul, or a statement.
func (c *cloverReader) addExecutable(n int, hit bool) {
	if c.istanbul {
		c.addLine(n, hit)
		return
	}
	if c.lastLine != n {
		c.lastLine, c.nthOnLine = n, 0
	}
	c.addStatement(n, c.nthOnLine, hit)
	c.nthOnLine++
}

// addOutcomes adds the outcomes of a condition to the branches of its line. The values are
// numbers of branches in istanbul's reports, otherwise how often each outcome occurred.
func (c *cloverReader) addOutcomes(n int, yes, no number) {
	if c.cond.number != n {
		c.endCondition()
		c.cond.number = n
	}
	if c.istanbul {
		c.cond.covered += yes
		c.cond.total += yes + no
		return
	}
	c.cond.covered += min(yes, 1) + min(no, 1)
	c.cond.total += 2
}

// endCondition adds the branches of the last condition to its line.
func (c *cloverReader) endCondition() {
	c.addCondition(c.cond.number, c.cond.covered, c.cond.total)
	c.cond.number, c.cond.covered, c.cond.total = 0, 0, 0
}
