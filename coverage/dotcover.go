package coverage

import (
	"fmt"
	"io"
	"strings"

	"supervise/internal/jsonstream"
	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// detectDotCover recognizes the version of dotCover in XML and JSON.
func detectDotCover(h sniff.Head) bool {
	return h.HasRoot("Root") && h.Root.Attr("DotCoverVersion") != "" || h.HasMembers("DotCoverVersion", "TotalStatements")
}

// dotcoverReader reads the reports of dotCover in JSON, XML and detailed XML: a tree of
// assemblies or projects, namespaces, types and methods. Only detailed XML has files and lines;
// in the others each outermost type counts as a file.
type dotcoverReader struct {
	*xmlReport
	nodes       []dotcoverNode    // open nodes, outermost first
	types       int               // number of open nodes that are types
	paths       map[string]string // path of each file, by its index in the report
	invalidNode error             // error of the first node with invalid numbers
}

// dotcoverNode is a node of the tree. Its numbers are -1 if they are missing.
type dotcoverNode struct {
	Kind, Name        string
	CoveredStatements number
	TotalStatements   number
	isCounted         bool // the node or a descendant was counted
}

// parseDotCover reads a report in JSON or XML. It must declare its total.
func parseDotCover(r io.Reader) (Report, error) {
	src, head, err := sniff.Open(r)
	if err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	d := &dotcoverReader{xmlReport: newXMLReport(src, metric.Statements, ""), paths: map[string]string{}}
	if head.Root.Name != "" {
		err = d.forEachElement(d.startElement, d.endElement, nil)
		if err == nil {
			err = d.invalidNode
		}
	} else {
		err = d.documents(src, d.readJSONNode)
	}
	if err == nil && d.declared.units < 0 {
		err = &SyntaxError{Problem: "the report does not say how many statements there are"}
	}
	return d.finish(err)
}

// openNode opens a node below the current one.
func (d *dotcoverReader) openNode(kind string) {
	if kind == "Type" {
		d.types++
	}
	d.nodes = append(d.nodes, dotcoverNode{Kind: kind, CoveredStatements: -1, TotalStatements: -1})
}

// closeNode closes a node. It is counted if it is an outermost type, or if no descendant was
// counted, as in a report that ends at assemblies. The root declares the totals.
func (d *dotcoverReader) closeNode() error {
	n := d.nodes[len(d.nodes)-1]
	var path []string
	for _, o := range d.nodes[1:] {
		path = append(path, o.Name)
	}
	d.nodes = d.nodes[:len(d.nodes)-1]
	if n.Kind == "Type" {
		d.types--
	}
	switch {
	case len(d.nodes) == 0:
		d.declared.covered, d.declared.units = n.CoveredStatements, n.TotalStatements
		return nil
	case d.types > 0 || n.isCounted:
		return nil
	case n.CoveredStatements < 0 || n.CoveredStatements > n.TotalStatements:
		return fmt.Errorf("%s has no numbers, or more covered than there is", strings.Join(path, "/"))
	}
	d.addTotals(strings.Join(path, "/"), metric.Ratio{Covered: n.CoveredStatements, Total: n.TotalStatements}, metric.Ratio{})
	d.markCounted()
	return nil
}

// markCounted marks all open nodes as counted.
func (d *dotcoverReader) markCounted() {
	for i := range d.nodes {
		d.nodes[i].isCounted = true
	}
}

// dotcoverMaxDepth limits the nesting of nodes.
const dotcoverMaxDepth = 256

// readJSONNode reads a node. Its kind must come first, as dotCover writes it.
func (d *dotcoverReader) readJSONNode(j *jsonstream.Reader) error {
	if len(d.nodes) > dotcoverMaxDepth {
		return j.Error("nodes are nested more than %d deep", dotcoverMaxDepth)
	}
	open := false
	err := j.Object(func(name string) error {
		if name == "Kind" && !open {
			kind, err := j.Text()
			d.openNode(kind)
			open = true
			return err
		}
		if !open && name != "DotCoverVersion" {
			return j.Error("a node begins with %s, not with its kind: this is no report of dotCover", name)
		}

		switch name {
		case "Name":
			return j.Value(&d.nodes[len(d.nodes)-1].Name)
		case "CoveredStatements":
			return j.Value(&d.nodes[len(d.nodes)-1].CoveredStatements)
		case "TotalStatements":
			return j.Value(&d.nodes[len(d.nodes)-1].TotalStatements)
		case "Children":
			return j.Array(func() error { return d.readJSONNode(j) })
		}
		return j.Skip()
	})

	if err == nil && open {
		if err = d.closeNode(); err != nil {
			err = j.Error("%v", err)
		}
	}
	return err
}

// startElement reads an element: a node, a file of the list, or a statement.
func (d *dotcoverReader) startElement(t xmlstream.Token) error {
	name, hasName := t.Attr("Name")
	switch t.Name {
	case "File":
		d.paths[t.Value("Index")] = name
	case "Statement":
		return d.readXMLStatement(t)
	case "FileIndices":
	default:
		d.openNode(t.Name)
		n := &d.nodes[len(d.nodes)-1]
		n.CoveredStatements, n.TotalStatements = totalAttr(t, "CoveredStatements"), totalAttr(t, "TotalStatements")
		if n.Name = name; !hasName {
			n.Name = t.Name
		}
	}
	return nil
}

func (d *dotcoverReader) endElement(name string) {
	if name == "File" || name == "Statement" || name == "FileIndices" {
		return
	}
	if err := d.closeNode(); err != nil && d.invalidNode == nil {
		d.invalidNode = d.syntaxError("%v", err)
	}
}

// readXMLStatement reads a statement of detailed XML.
func (d *dotcoverReader) readXMLStatement(t xmlstream.Token) error {
	path, ok := d.paths[t.Value("FileIndex")]
	if !ok {
		return d.syntaxError("a statement is in file %q, which is not in the list of files", t.Value("FileIndex"))
	}
	line, err := d.parseLineNumber(t.Name, t.Value("Line"))
	if err != nil {
		return err
	}
	covered := t.Value("Covered")
	if covered != "True" && covered != "False" {
		return d.syntaxError("the statement on line %d of %s is neither covered nor not", line, path)
	}
	d.openFile(path)
	d.addStatement(line, hashParts(t.Value("Column"), t.Value("EndLine"), t.Value("EndColumn")), covered == "True")
	d.markCounted()
	return nil
}
