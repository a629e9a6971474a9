package coverage

import (
	"cmp"
	"hash/fnv"
	"io"
	"strings"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

func detectOpenCover(h sniff.Head) bool { return h.XML("CoverageSession") }

// opencoverReader reads the XML of OpenCover, which coverlet and AltCover
// write as well. Its unit are sequence points, the statements of .NET. A point
// is named by its method, number and place, so a source file that was compiled into two
// modules counts once; a point without a line counts, but gives no line. A branch is
// named by its method, offset and path.
//
// The file of a point is its own fileid, else that of its method, else its
// class is used.
type opencoverReader struct {
	*xmlReport
	paths    map[string]string // by uid
	class    string
	method   string
	ref      string // path of the method's file
	text     strings.Builder
	inMethod bool
	modules  bool
}

func parseOpenCover(r io.Reader) (Report, error) {
	o := &opencoverReader{xmlReport: newXMLReport(r, metric.Statements), paths: map[string]string{}}
	err := o.each(o.start, o.endElement, func(text string) {
		if o.text.Len() < 16<<10 {
			o.text.WriteString(text)
		}
	})
	if err == nil && !o.modules {
		return Report{}, &SyntaxError{Problem: "there are no modules in the report: the tool measured nothing"}
	}
	return o.report("opencover", err)
}

func (o *opencoverReader) start(t xmlstream.Token) error {
	o.text.Reset()
	switch t.Name {
	case "SequencePoint":
		return o.point(t)
	case "BranchPoint":
		return o.branchPoint(t)
	case "FileRef":
		uid, _ := t.Attr("uid")
		o.ref = o.paths[uid]
	case "Method":
		o.inMethod, o.ref, o.method = true, "", ""
	case "Class":
		o.class = ""
	case "File":
		uid, _ := t.Attr("uid")
		o.paths[uid], _ = t.Attr("fullPath")
	case "Modules":
		o.modules = true
	case "Summary":
		if t.Depth == 1 { // of the session
			o.declares = totals{
				covered: total(t, "visitedSequencePoints"), units: total(t, "numSequencePoints"),
				taken: total(t, "visitedBranchPoints"), branches: total(t, "numBranchPoints"),
			}
		}
	}
	return nil
}

func (o *opencoverReader) endElement(name string) {
	switch {
	case name == "FullName":
		o.class = strings.TrimSpace(o.text.String())
	case name == "Name" && o.inMethod:
		o.method = strings.TrimSpace(o.text.String())
	case name == "Method":
		o.inMethod = false
	}
	o.text.Reset()
}

// opencoverPoint is the place of a sequence or branch point.
type opencoverPoint struct {
	line     int
	within   [5]string // method, ordinal, column, end line, end column
	branch   [2]string // offset, path
	executed bool
}

func (o *opencoverReader) place(t xmlstream.Token) (p opencoverPoint, err error) {
	var start, count, path string
	p.within[0] = o.method
	for _, a := range t.Attrs {
		switch a.Name {
		case "vc":
			count = a.Value
		case "fileid":
			path = o.paths[a.Value]
		case "sl":
			start = a.Value
		case "ordinal":
			p.within[1] = a.Value
		case "sc":
			p.within[2] = a.Value
		case "el":
			p.within[3] = a.Value
		case "ec":
			p.within[4] = a.Value
		case "offset":
			p.branch[0] = a.Value
		case "path":
			p.branch[1] = a.Value
		}
	}
	if start != "" {
		if p.line, err = o.lineNumber(t.Name, start); err != nil {
			return p, err
		}
	}
	if count != "" {
		p.executed, err = o.executed(t.Name, count)
	}
	o.begin(cmp.Or(path, o.ref, o.class))
	return p, err
}

func (o *opencoverReader) point(t xmlstream.Token) error {
	p, err := o.place(t)
	if err != nil {
		return err
	}
	o.statement(p.line, hashed(p.within[:]...), p.executed)
	return nil
}

func (o *opencoverReader) branchPoint(t xmlstream.Token) error {
	p, err := o.place(t)
	if err != nil {
		return err
	}
	o.branch(p.line, []byte(o.method), []byte(p.branch[0]+":"+p.branch[1]), p.executed)
	return nil
}

// hashed makes a number of a place within a line.
func hashed(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // a hash takes everything
		_, _ = h.Write([]byte{0})
	}
	return h.Sum32()
}
