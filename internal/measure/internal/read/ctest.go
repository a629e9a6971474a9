package read

import (
	"io"
	"path/filepath"

	"supervise/internal/ctestcases"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// expandCTest returns the tests of a report, in which the cases of a program count instead
// of the program that ctest runs.
func (r *reading) expandCTest(t *metric.Tests) *metric.Tests {
	if r.check.Runner != ctestcases.Runner {
		return t
	}
	var out *metric.Tests
	out, r.run.Programs = ctestcases.Unfold(t, func(file string) ctestcases.Program {
		base := filepath.Join(r.dir, ctestcases.Reports, file)
		p := ctestcases.Program{List: listOf(base + ".list")}
		if p.List == "" {
			return p
		}
		p.Cases = r.casesIn(base+".xml", base+".report.xml")
		return p
	})
	r.run.CountDiffers = ctestcases.DescribeDifference(t, out, r.run.Programs, listOf(filepath.Join(r.dir, ctestcases.Added)))
	return out
}

// casesIn reads what a program wrote: one file, or for Boost.Test its log and its report,
// which are read as one. It returns nil if that is incomplete.
func (r *reading) casesIn(paths ...string) *metric.Tests {
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

// maxList limits the list of the cases of one program, in bytes.
const maxList = 16 << 20

func listOf(path string) string {
	f, err := projectfile.OpenAnywhere(path, projectfile.Report)
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
