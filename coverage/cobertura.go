package coverage

import (
	"cmp"
	"io"
	"path"
	"slices"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// detectCobertura recognizes a root named coverage with rates or packages, and without a project,
// which a report of Clover has.
func detectCobertura(h sniff.Head) bool {
	rates := cmp.Or(h.Root.Attr("line-rate"), h.Root.Attr("lines-valid"), h.Root.Attr("branch-rate"))
	return h.HasRoot("coverage") && !h.HasElements("project") && (rates != "" || h.HasElements("packages"))
}

// coberturaReader reads the XML of Cobertura, which tools of many languages write. The lines of
// a file are those of all its classes. A line that is listed twice is executed if one entry is,
// and has the larger number of branches. The lines of methods repeat those of their class, and
// count only if the class has none.
//
// The path of a file is its filename, joined to the source root if there is exactly one. With
// several roots the report does not say which one applies.
type coberturaReader struct {
	*xmlReport
	sources        []string        // the source roots so far
	source         strings.Builder // the text of the open source element
	inSource       bool
	inMethod       bool
	inClass        bool
	classHasLines  bool       // the open class has lines outside methods
	methodLines    marks      // used if the class has no lines
	methodBranches conditions // branches of methodLines
}

func parseCobertura(r io.Reader) (Report, error) {
	c := &coberturaReader{xmlReport: newXMLReport(r, metric.Lines, "packages"), methodBranches: conditions{}}
	return c.finish(c.forEachElement(c.startElement, c.endElement, func(text string) {
		if c.inSource && c.source.Len() < 4096 {
			c.source.WriteString(text)
		}
	}))
}

func (c *coberturaReader) startElement(t xmlstream.Token) error {
	switch t.Name {
	case "line":
		if c.inClass {
			return c.readLine(t)
		}
	case "method":
		c.inMethod = true
	case "class":
		c.beginClass(t)
	case "source":
		c.inSource = true
	case "packages": // the element may be empty
		c.required = ""
	case "coverage":
		c.declared = declaredTotals(t, "lines-covered", "lines-valid", "branches-covered", "branches-valid")
	}
	return nil
}

func (c *coberturaReader) endElement(name string) {
	switch name {
	case "method":
		c.inMethod = false
	case "class":
		c.endClass()
	case "source":
		s := strings.TrimSpace(c.source.String())
		if s != "" && s != "--source" && !slices.Contains(c.sources, s) { // Cobertura lists this option as a root
			c.sources = append(c.sources, s)
		}
		c.source.Reset()
		c.inSource = false
	}
}

// beginClass opens the file of a class.
func (c *coberturaReader) beginClass(t xmlstream.Token) {
	name := cmp.Or(t.Value("filename"), t.Value("name"))
	if len(c.sources) == 1 {
		name = joinSource(c.sources[0], name)
	}
	c.openFile(name)
	c.inClass, c.classHasLines = true, false
	c.methodLines = marks{list: c.methodLines.list[:0]}
	clear(c.methodBranches)
}

// endClass adds the lines of the methods if the class has no others.
func (c *coberturaReader) endClass() {
	if c.inClass && !c.classHasLines {
		c.currentLines.addAll(&c.methodLines)
		for line, b := range c.methodBranches {
			c.addCondition(int(line), int64(b.covered), int64(b.total))
		}
	}
	c.inClass = false
}

// readLine reads a line of a class or of one of its methods.
func (c *coberturaReader) readLine(t xmlstream.Token) error {
	n, hit, err := c.parseLineAndHit(t, "number", "hits")
	if err != nil {
		return err
	}
	covered, total, _ := parseFraction(t.Value("condition-coverage")) // a percentage without counts is ignored
	if !c.inMethod {
		c.classHasLines = true
		c.addLine(n, hit)
		c.addCondition(n, covered, total)
	} else if !c.classHasLines && n > 0 && n <= maxLine {
		c.methodLines.add(uint64(n), hit)
		if total > 0 {
			c.methodBranches.add(uint32(n), uint32(min(covered, total, maxLine)), uint32(min(total, maxLine)))
		}
	}
	return nil
}

// joinSource joins a source root and a file name, which may have been written on another
// operating system.
func joinSource(root, name string) string {
	switch {
	case isAbsolute(name) || name == "" || root == "." || root == "./":
		return name
	case strings.ContainsRune(root, '\\') && !strings.ContainsRune(root, '/'):
		return strings.TrimRight(root, `\`) + `\` + strings.TrimPrefix(name, `.\`)
	}
	return path.Join(root, name)
}

// isAbsolute reports whether a path of any operating system is absolute, or a URL.
func isAbsolute(name string) bool {
	drive := len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
	return drive || strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) || strings.Contains(name, "://")
}
