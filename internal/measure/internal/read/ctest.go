package read

import (
	"io"
	"path/filepath"

	"supervise/internal/ctestcases"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// expandCTestCases returns the tests of a report of ctest. A program that ctest runs as one test is
// replaced by its test cases if the program wrote their names and results.
func (r *reportReader) expandCTestCases(t *metric.Tests) *metric.Tests {
	if r.check.Runner != ctestcases.Runner {
		return t
	}
	var out *metric.Tests
	out, r.run.Programs = ctestcases.Unfold(t, func(file string) ctestcases.Program {
		base := filepath.Join(r.dir, ctestcases.Reports, file)
		p := ctestcases.Program{List: readList(base + ".list")}
		if p.List == "" {
			return p
		}
		p.Cases = r.readCases(base+".xml", base+".report.xml")
		return p
	})
	r.run.CountDiffers = ctestcases.DescribeDifference(t, out, r.run.Programs, readList(filepath.Join(r.dir, ctestcases.Added)))
	return out
}

// readCases reads what a program wrote: one file or, for Boost.Test, its log and its report,
// which are read as one. It returns nil if the report is incomplete.
func (r *reportReader) readCases(paths ...string) *metric.Tests {
	var list []io.Reader
	for _, path := range paths {
		f, err := projectfile.OpenAnywhere(path, projectfile.Report)
		if err != nil {
			continue
		}
		defer f.Close()
		list = append(list, f)
	}
	if len(list) == 0 {
		return nil
	}
	report, err := Read(io.MultiReader(list...), r.check.Name, "")
	if err != nil {
		return nil
	}
	return report.Tests
}

// maxListBytes limits the list of the cases of one program.
const maxListBytes = 16 << 20

// readList returns the list of test cases that a program printed, "" if there is none.
func readList(path string) string {
	f, err := projectfile.OpenAnywhere(path, projectfile.Report)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxListBytes))
	if err != nil {
		return ""
	}
	return string(text)
}
