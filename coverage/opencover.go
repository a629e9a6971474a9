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

func detectOpenCover(h sniff.Head) bool { return h.HasRoot("CoverageSession") }

// opencoverReader reads the XML of OpenCover, which coverlet and AltCover write as well. Its unit
// is sequence points, the statements of .NET. A point is identified by method, number and
// location, so a source file that was compiled into two modules counts once. A point without a
// line counts, but adds no line. A branch is identified by method, offset and path.
//
// The file of a point is its own fileid, or that of its method; otherwise its class is used.
type opencoverReader struct {
	*xmlReport
	paths      map[string]string // path of each file, by its uid
	class      string            // name of the open class
	method     string            // name of the open method
	methodPath string            // path of the file of the open method; "" if it is not known
	text       strings.Builder   // text of the current element
	inMethod   bool
}

func parseOpenCover(r io.Reader) (Report, error) {
	o := &opencoverReader{xmlReport: newXMLReport(r, metric.Statements, "modules"), paths: map[string]string{}}
	return o.finish(o.forEachElement(o.startElement, o.endElement, func(text string) {
		if o.text.Len() < 16<<10 {
			o.text.WriteString(text)
		}
	}))
}

func (o *opencoverReader) startElement(t xmlstream.Token) error {
	o.text.Reset()
	switch t.Name {
	case "SequencePoint", "BranchPoint":
		return o.readPoint(t)
	case "FileRef":
		o.methodPath = o.paths[t.Value("uid")]
	case "Method":
		o.inMethod, o.methodPath, o.method = true, "", ""
	case "Class":
		o.class = ""
	case "File":
		o.paths[t.Value("uid")] = t.Value("fullPath")
	case "Modules":
		o.required = ""
	case "Summary":
		if t.Depth == 1 { // the totals of the session
			o.declared = declaredTotals(t, "visitedSequencePoints", "numSequencePoints", "visitedBranchPoints", "numBranchPoints")
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

// readPoint reads a sequence or branch point. Line and count are optional.
func (o *opencoverReader) readPoint(t xmlstream.Token) (err error) {
	line, hit := 0, false
	if start := t.Value("sl"); start != "" {
		if line, err = o.parseLineNumber(t.Name, start); err != nil {
			return err
		}
	}
	if count := t.Value("vc"); count != "" {
		if hit, err = o.parseExecuted(t.Name, count); err != nil {
			return err
		}
	}
	o.openFile(cmp.Or(o.paths[t.Value("fileid")], o.methodPath, o.class))
	if t.Name == "BranchPoint" {
		o.addBranch(line, []byte(o.method), []byte(t.Value("offset")+":"+t.Value("path")), hit)
	} else {
		o.addStatement(line, hashParts(o.method, t.Value("ordinal"), t.Value("sc"), t.Value("el"), t.Value("ec")), hit)
	}
	return nil
}

// hashParts returns a hash that identifies a location within a line.
func hashParts(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return h.Sum32()
}
