package coverage

import (
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

func detectClover(h sniff.Head) bool {
	return h.HasRoot("coverage") && (h.HasElements("project") || h.Root.Attr("clover") != "")
}

// istanbulClover is the version that istanbul (jest, vitest, nyc, c8) writes,
// always the same one.
const istanbulClover = "3.2.0"

// cloverReader reads the XML of Clover. PHPUnit and OpenClover list statements:
// these are counted, and so are the statements of the metrics; a method is no
// statement. Istanbul lists lines under the name of statements, one element
// for each, so its unit is lines, and the numbers are those of its other
// reports.
//
// A cond element has the two outcomes of a condition; istanbul's has all
// branches of its line and is the line itself, with its count. The sources of
// tests (testproject) are not counted, as in the metrics.
type cloverReader struct {
	*xmlReport
	istanbul  bool
	testDepth int // depth of testproject
	pkg       string
	inFile    bool
	lastLine  int    // the line of the statement before
	nthOnLine uint32 // which statement of its line it was
	cond      struct {
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
		if t.Depth == 2 && c.testDepth == 0 { // of the project
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

// filePath returns the full path of a file where the report has it. A bare name
// in a package is put below the folders of the package: other packages may
// have a file of that name.
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
		if !c.istanbul || count == "" { // Clover itself had that version once
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

// addOutcomes adds the branches of a condition to those of its line. Of
// istanbul the counts are of branches, of others how often each outcome was.
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

func (c *cloverReader) endCondition() {
	c.addCondition(c.cond.number, c.cond.covered, c.cond.total)
	c.cond.number, c.cond.covered, c.cond.total = 0, 0, 0
}
