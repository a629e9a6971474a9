package coverage

import (
	"bytes"
	"io"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

func detectJaCoCo(h sniff.Head) bool {
	return h.HasRoot("report") && (h.HasElements("sessioninfo") || h.HasElements("counter") || h.HasElements("package", "sourcefile") ||
		bytes.Contains(h.Text, []byte("-//JACOCO//DTD")))
}

// jacocoReader reads the XML of JaCoCo, which Kover and Pester write as well.
// A line is executed if one of its instructions is; branches are those of the
// lines. A source file without lines (compiled without line numbers), or whose
// lines do not say whether they were executed (gcovr), has the numbers of its
// counters, and a package without source files those of its classes. The path is package/sourcefile, below its groups where another
// group has a file of that path too.
type jacocoReader struct {
	*xmlReport
	groups   []string
	pkg      string
	owner    map[string]string // path to the groups it was first seen in
	inMethod bool
	within   string // the element whose counters come: sourcefile, class, package or report
	lines    int    // of the source file
	sources  bool   // the package has source files
	classes  []jacocoClass
	class    jacocoClass
	source   jacocoCounters
	all      jacocoCounters // of the report
}

type jacocoClass struct {
	path   string
	counts jacocoCounters
}

// jacocoCounters are the counters of one element.
type jacocoCounters struct{ lines, branches metric.Ratio }

func parseJaCoCo(r io.Reader) (Report, error) {
	j := &jacocoReader{xmlReport: newXMLReport(r, metric.Lines, ""), owner: map[string]string{}}
	err := j.each(j.start, j.endElement, nil)
	if l := j.all.lines; l.Total > 0 {
		j.declares.covered, j.declares.units = l.Covered, l.Total
	}
	if b := j.all.branches; b.Total > 0 {
		j.declares.taken, j.declares.branches = b.Covered, b.Total
	}
	return j.report(err)
}

func (j *jacocoReader) start(t xmlstream.Token) error {
	name := t.Value("name")
	switch t.Name {
	case "line":
		if j.within == "sourcefile" {
			return j.lineElement(t)
		}
	case "counter":
		if !j.inMethod {
			return j.counter(t)
		}
	case "method":
		j.inMethod = true
	case "class":
		j.within, j.class = "class", jacocoClass{path: j.className(t, name)}
	case "sourcefile":
		j.begin(j.path(name))
		j.within, j.lines, j.sources, j.source = "sourcefile", 0, true, jacocoCounters{}
	case "package":
		j.within, j.pkg, j.sources, j.classes = "package", name, false, j.classes[:0]
	case "group":
		j.groups = append(j.groups, name)
		j.within = "group"
	case "report":
		j.within = "report"
	}
	return nil
}

func (j *jacocoReader) endElement(name string) {
	switch name {
	case "method":
		j.inMethod = false
	case "class":
		j.endClass()
		j.within = "package"
	case "sourcefile":
		if j.lines == 0 {
			j.count(j.source)
		}
		j.end()
		j.within = "package"
	case "package":
		j.endPackage()
		j.within = "report"
		if len(j.groups) > 0 {
			j.within = "group"
		}
	case "group":
		if j.groups = j.groups[:len(j.groups)-1]; len(j.groups) == 0 {
			j.within = "report"
		}
	}
}

// endClass keeps the numbers of a class until it is known whether its package has
// source files. Classes of one file follow each other and are one.
func (j *jacocoReader) endClass() {
	if n := len(j.classes); n > 0 && j.classes[n-1].path == j.class.path {
		j.classes[n-1].counts.add(j.class.counts)
	} else if n < maxFiles { // else the report is refused at its end
		j.classes = append(j.classes, j.class)
	}
}

func (c *jacocoCounters) add(o jacocoCounters) {
	c.lines = *c.lines.Plus(&o.lines)
	c.branches = *c.branches.Plus(&o.branches)
}

func (j *jacocoReader) endPackage() {
	if j.sources {
		return
	}
	for _, c := range j.classes {
		j.begin(c.path)
		j.count(c.counts)
	}
	j.end()
}

// count adds counters that are all that is known of the open file.
func (j *jacocoReader) count(c jacocoCounters) {
	f := j.open
	f.counts.Covered += c.lines.Covered
	f.counts.Total += c.lines.Total
	f.taken.Covered += c.branches.Covered
	f.taken.Total += c.branches.Total
}

// className returns the path of the source file of a class, or its name.
func (j *jacocoReader) className(t xmlstream.Token, name string) string {
	if source := t.Value("sourcefilename"); source != "" {
		return j.path(source)
	}
	return name
}

func (j *jacocoReader) path(source string) string {
	plain := source
	if j.pkg != "" {
		plain = j.pkg + "/" + source
	}
	group := ""
	for _, g := range j.groups {
		group += g + "/"
	}
	first, seen := j.owner[plain]
	if !seen {
		j.owner[plain] = group
	}
	if seen && first != group {
		return group + plain
	}
	return plain
}

func (j *jacocoReader) lineElement(t xmlstream.Token) error {
	if _, known := t.Attr("ci"); !known {
		return nil
	}
	n, hit, err := j.execution(t, "nr", "ci")
	if err != nil {
		return err
	}
	missed, covered := branchCount(t, "mb"), branchCount(t, "cb")
	if missed < 0 || covered < 0 {
		return j.fault("the branches of line %d are no numbers", n)
	}
	j.lines++
	j.line(n, hit)
	j.condition(n, covered, missed+covered)
	return nil
}

// branchCount returns the number of an attribute that may be missing, -1 if it is none.
func branchCount(t xmlstream.Token, name string) number {
	if v, ok := t.Attr(name); ok {
		return declaredNumber(v)
	}
	return 0
}

func (j *jacocoReader) counter(t xmlstream.Token) error {
	var to *jacocoCounters
	switch j.within {
	case "sourcefile":
		to = &j.source
	case "class":
		to = &j.class.counts
	case "report":
		to = &j.all
	default:
		return nil
	}
	missed, covered := total(t, "missed"), total(t, "covered")
	if missed < 0 || covered < 0 {
		return j.fault("a counter has no numbers")
	}
	r := metric.Ratio{Covered: covered, Total: missed + covered}
	switch t.Value("type") {
	case "LINE":
		to.lines = r
	case "BRANCH":
		to.branches = r
	}
	return nil
}
