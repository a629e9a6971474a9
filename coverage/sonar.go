package coverage

import (
	"io"

	"supervise/internal/sniff"
	"supervise/internal/xmlstream"
	"supervise/metric"
)

// detectSonar recognizes a root named coverage with coverable lines of files.
func detectSonar(h sniff.Head) bool {
	return h.HasRoot("coverage") && h.HasElements("file", "lineToCover")
}

// parseSonar reads the generic coverage format of SonarQube, which many tools write. It lists the
// coverable lines of each file.
func parseSonar(r io.Reader) (Report, error) {
	s := newXMLReport(r, metric.Lines, "")
	within := false
	start := func(t xmlstream.Token) error {
		switch {
		case t.Name == "file":
			s.openFile(t.Value("path"))
			within = true
		case t.Name == "lineToCover" && within:
			return s.readSonarLine(t)
		}
		return nil
	}
	return s.finish(s.forEachElement(start, func(name string) { within = within && name != "file" }, nil))
}

// readSonarLine reads a coverable line.
func (x *xmlReport) readSonarLine(t xmlstream.Token) error {
	n, err := x.parseLineNumber(t.Name, t.Value("lineNumber"))
	if err != nil {
		return err
	}
	covered := t.Value("covered")
	if covered != "true" && covered != "false" {
		return x.syntaxError("line %d is neither covered nor not", n)
	}
	x.addLine(n, covered == "true")
	x.addCondition(n, totalAttr(t, "coveredBranches"), totalAttr(t, "branchesToCover"))
	return nil
}
