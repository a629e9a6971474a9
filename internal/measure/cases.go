package measure

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/measure/internal/listing"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// unfolded are the tests of a report, in which the cases of a program that ctest runs count
// in its place.
func (r *reading) unfolded(t *metric.Tests) *metric.Tests {
	if r.check.Runner != ctest {
		return t
	}
	t, r.run.programs = ctestcases.Unfold(t, func(file string) ctestcases.Program {
		base := filepath.Join(r.dir, ctestcases.Reports, file)
		p := ctestcases.Program{List: listOf(base + ".list")}
		if p.List == "" {
			return p
		}
		f, err := projectfile.Anywhere(base+".xml", projectfile.Report)
		if err != nil {
			return p
		}
		defer f.Close()
		if report, err := Read(f, r.check.Name, ""); err == nil {
			p.Cases = report.Tests
		}
		return p
	})
	return t
}

const ctest = "ctest"

// maxList limits the list of the cases of one program, in bytes.
const maxList = 16 << 20

func listOf(path string) string {
	f, err := projectfile.Anywhere(path, projectfile.Report)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxList))
	if err != nil {
		return ""
	}
	return string(text)
}

// lost names the suites whose programs could not be run, see [ctestcases.Lost].
func (r *Run) lost(known *metric.Tests) {
	if r.Check.Runner != ctest {
		return
	}
	r.tests = ctestcases.Lost(r.tests, known, r.Check.prefix())
}

// unlisted drops what ctest lists and runs as the cases of a program.
func (r *Run) unlisted(list []listing.Test) []listing.Test {
	return slices.DeleteFunc(list, func(l listing.Test) bool { return r.programs[l.Name] })
}

// ctestName is the test of ctest that runs a test: itself, or the program that it is a case
// of.
func (s selection) ctestName(t metric.Test) string {
	if t.Class == "" {
		return t.Name
	}
	return strings.TrimPrefix(t.Suite, s.check.prefix())
}

// prefix is what the suites of a check in a folder of its own begin with.
func (c Check) prefix() string {
	if c.Dir == "" {
		return ""
	}
	return c.Dir + "/"
}
