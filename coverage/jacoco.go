package coverage

import (
	"bytes"
	"io"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// detectJaCoCo recognizes a root named report with elements or the document type of JaCoCo.
func detectJaCoCo(h sniff.Head) bool {
	return h.HasRoot("report") && (h.HasElements("sessioninfo") || h.HasElements("counter") || h.HasElements("package", "sourcefile") ||
		bytes.Contains(h.Text, []byte("-//JACOCO//DTD")))
}

// jacocoReader reads the XML of JaCoCo, which Kover and Pester write as well. A line is executed
// if one of its instructions is. The counters of a source file are used if it has no lines
// (compiled without line numbers) or its lines have no counts (gcovr), and those of classes if a
// package has no source files. The path is package/sourcefile, prefixed with its groups if
// another group has the same path.
type jacocoReader struct {
	*xmlReport
	groups         []string          // names of the open groups, outermost first
	pkg            string            // name of the open package
	groupByPath    map[string]string // by path: the groups in which the path was first seen
	inMethod       bool
	element        string         // current element: sourcefile, class, package, group or report
	lineCount      int            // lines of the current source file
	hasSources     bool           // the package has source files
	classes        []jacocoClass  // the classes of the open package
	class          jacocoClass    // the open class
	sourceCounters jacocoCounters // counters of the open source file
	reportCounters jacocoCounters // counters of the report
}

// jacocoClass contains the counters of a class, and the path of its source file.
type jacocoClass struct {
	path   string
	counts jacocoCounters
}

// jacocoCounters are the counters of one element.
type jacocoCounters struct{ lines, branches metric.Ratio }

// parseJaCoCo reads a report. Its totals are declared by the counters of the report.
func parseJaCoCo(r io.Reader) (Report, error) {
	j := &jacocoReader{xmlReport: newXMLReport(r, metric.Lines, ""), groupByPath: map[string]string{}}
	err := j.forEachElement(j.startElement, j.endElement, nil)
	if l := j.reportCounters.lines; l.Total > 0 {
		j.declared.covered, j.declared.units = l.Covered, l.Total
	}
	if b := j.reportCounters.branches; b.Total > 0 {
		j.declared.coveredBranches, j.declared.branches = b.Covered, b.Total
	}
	return j.finish(err)
}

func (j *jacocoReader) startElement(t xmlstream.Token) error {
	name := t.Value("name")
	switch t.Name {
	case "line":
		if j.element == "sourcefile" {
			return j.readLine(t)
		}
	case "counter":
		if !j.inMethod {
			return j.readCounter(t)
		}
	case "method":
		j.inMethod = true
	case "class":
		j.element, j.class = "class", jacocoClass{path: j.classPath(t, name)}
	case "sourcefile":
		j.openFile(j.filePath(name))
		j.element, j.lineCount, j.hasSources, j.sourceCounters = "sourcefile", 0, true, jacocoCounters{}
	case "package":
		j.element, j.pkg, j.hasSources, j.classes = "package", name, false, j.classes[:0]
	case "group":
		j.groups = append(j.groups, name)
		j.element = "group"
	case "report":
		j.element = "report"
	}
	return nil
}

func (j *jacocoReader) endElement(name string) {
	switch name {
	case "method":
		j.inMethod = false
	case "class":
		j.endClass()
		j.element = "package"
	case "sourcefile":
		if j.lineCount == 0 {
			j.addCounters(j.sourceCounters)
		}
		j.closeFile()
		j.element = "package"
	case "package":
		j.endPackage()
		j.element = "report"
		if len(j.groups) > 0 {
			j.element = "group"
		}
	case "group":
		if j.groups = j.groups[:len(j.groups)-1]; len(j.groups) == 0 {
			j.element = "report"
		}
	}
}

// endClass saves the counters of a class until it is known whether its package has source
// files. Consecutive classes of the same file are merged.
func (j *jacocoReader) endClass() {
	if n := len(j.classes); n > 0 && j.classes[n-1].path == j.class.path {
		j.classes[n-1].counts.add(j.class.counts)
	} else if n < maxFiles { // otherwise finish refuses the report
		j.classes = append(j.classes, j.class)
	}
}

// add adds the counters of another element.
func (c *jacocoCounters) add(o jacocoCounters) {
	c.lines = *c.lines.Plus(&o.lines)
	c.branches = *c.branches.Plus(&o.branches)
}

// endPackage adds the classes of a package without source files.
func (j *jacocoReader) endPackage() {
	if j.hasSources {
		return
	}
	for _, c := range j.classes {
		j.openFile(c.path)
		j.addCounters(c.counts)
	}
	j.closeFile()
}

// addCounters adds the totals of the current file.
func (j *jacocoReader) addCounters(c jacocoCounters) {
	f := j.current
	f.totals, f.branchTotals = *f.totals.Plus(&c.lines), *f.branchTotals.Plus(&c.branches)
}

// classPath returns the path of the source file of a class, or its name.
func (j *jacocoReader) classPath(t xmlstream.Token, name string) string {
	if source := t.Value("sourcefilename"); source != "" {
		return j.filePath(source)
	}
	return name
}

// filePath returns the path of a source file of the open package: package/sourcefile, after its
// groups if another group has the same path.
func (j *jacocoReader) filePath(source string) string {
	path := source
	if j.pkg != "" {
		path = j.pkg + "/" + source
	}
	group := ""
	for _, g := range j.groups {
		group += g + "/"
	}
	first, seen := j.groupByPath[path]
	if !seen {
		j.groupByPath[path] = group
	}
	if seen && first != group {
		return group + path
	}
	return path
}

// readLine reads a line of a source file. A line without counts is ignored.
func (j *jacocoReader) readLine(t xmlstream.Token) error {
	if _, known := t.Attr("ci"); !known {
		return nil
	}
	n, hit, err := j.parseLineAndHit(t, "nr", "ci")
	if err != nil {
		return err
	}
	missed, covered := branchAttr(t, "mb"), branchAttr(t, "cb")
	if missed < 0 || covered < 0 {
		return j.syntaxError("the branches of line %d are no numbers", n)
	}
	j.lineCount++
	j.addLine(n, hit)
	j.addCondition(n, covered, missed+covered)
	return nil
}

// branchAttr returns the number in an attribute. It is 0 if the attribute is missing, and -1 if
// it is not a number.
func branchAttr(t xmlstream.Token, name string) number {
	if v, ok := t.Attr(name); ok {
		return parseDeclared(v)
	}
	return 0
}

// readCounter reads a counter of the current element. Only lines and branches are used.
func (j *jacocoReader) readCounter(t xmlstream.Token) error {
	var counters *jacocoCounters
	switch j.element {
	case "sourcefile":
		counters = &j.sourceCounters
	case "class":
		counters = &j.class.counts
	case "report":
		counters = &j.reportCounters
	default:
		return nil
	}
	missed, covered := totalAttr(t, "missed"), totalAttr(t, "covered")
	if missed < 0 || covered < 0 {
		return j.syntaxError("a counter has no numbers")
	}
	r := metric.Ratio{Covered: covered, Total: missed + covered}
	switch t.Value("type") {
	case "LINE":
		counters.lines = r
	case "BRANCH":
		counters.branches = r
	}
	return nil
}
