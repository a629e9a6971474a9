package framework_test

import (
	"slices"
	"testing"

	"supervise/coverage"
	"supervise/internal/framework"
	"supervise/parsers"
)

// The formats of reports are ones that are read.
func TestFormats(t *testing.T) {
	for _, f := range framework.All() {
		if name := f.Report.Format; name != "" && !slices.ContainsFunc(parsers.Formats(), func(p parsers.Format) bool { return p.Name == name }) {
			t.Errorf("%s reports in %q, which no parser reads", f.Name, name)
		}
		if name := f.Coverage.Format; name != "" && !slices.ContainsFunc(coverage.Formats(), func(c coverage.Format) bool { return c.Name == name }) {
			t.Errorf("%s covers in %q, which no reader of coverage reads", f.Name, name)
		}
	}
}
