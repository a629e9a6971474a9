package bench

import (
	"encoding/xml"
	"io"
	"testing"

	"github.com/joshdk/go-junit"
)

// BenchmarkJUnit reads JUnit XML of 100 000 cases.
func BenchmarkJUnit(b *testing.B) {
	compare(b, junitOf(100_000),
		ours("junit"),
		reader{"go-junit", func(r io.Reader) (any, error) { return junit.IngestReader(r) }},
		reader{"encoding-xml", readJUnitXML},
	)
}

// junitXML is the least that a reader built on the standard library decodes.
type junitXML struct {
	Suites []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string  `xml:"name,attr"`
			Class   string  `xml:"classname,attr"`
			File    string  `xml:"file,attr"`
			Time    float64 `xml:"time,attr"`
			Failure *struct {
				Message string `xml:"message,attr"`
				Text    string `xml:",chardata"`
			} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func readJUnitXML(r io.Reader) (any, error) {
	var report junitXML
	err := xml.NewDecoder(r).Decode(&report)
	return report, err
}
