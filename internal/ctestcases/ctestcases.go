// Package ctestcases counts the cases of test programs that ctest counts as one test: programs of
// GoogleTest, Catch2, doctest or Boost.Test.
//
// ctest reads [Files] instead of the file of the build folder. They include the tests from there,
// and add to the command of such a program the options with which it reports its cases. Tests
// that CMake discovers case by case (gtest_discover_tests and others) do not change, nor do tests
// that ctest judges by their output. [Unfold] then replaces the programs by their cases.
package ctestcases

import (
	"crypto/sha256"
	_ "embed" // what ctest reads
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// Runner is the name of ctest in a check.
const Runner = "ctest"

// Folder is where ctest finds its tests, Reports where the programs report, and Added the
// names of the programs that ctest does not know, one a line, all in the private folder of a
// check.
const (
	Folder  = ".ctest"
	Reports = ".cases"
	Added   = Reports + "/added"
)

var (
	//go:embed cases.cmake
	casesScript string
	//go:embed programs.cmake
	programsScript string
	//go:embed build.cmake
	buildScript string
)

// Files are the files that the private folder must contain. build is the build folder, and tests
// the folder in which ctest would run, both slash paths relative to where the check runs.
func Files(build, tests string) map[string]string {
	in := strings.NewReplacer("{{build}}", build, "{{tests}}", tests)
	return map[string]string{
		Folder + "/CTestTestfile.cmake": in.Replace(casesScript),
		Folder + "/programs.cmake":      in.Replace(programsScript),
	}
}

// Program is the output of the program of one test.
type Program struct {
	List  string        // its list of cases or reporters; "" if it printed none
	Cases *metric.Tests // nil if it wrote no complete report
}

// BuildScript is a script of CMake that builds the programs which the default target leaves out:
// cmake -DBUILD=folder -DTESTS=folder -P {{report_dir}}/Build. TESTS is where ctest would run.
const BuildScript = ".build.cmake"

// BuildFiles are the files that the private folder must contain for [Build].
func BuildFiles() map[string]string { return map[string]string{BuildScript: buildScript} }

// Unfold replaces each test whose program reported cases by these cases; the test is their suite.
// A program that ended without a report becomes a suite that did not run, with the cases that it
// lists. A missing program becomes such a suite without cases. programOf finds the output of a
// program by the name of its files without extension. The result has the names of the tests that
// were replaced.
func Unfold(t *metric.Tests, programOf func(file string) Program) (*metric.Tests, map[string]bool) {
	out, replaced, times := *t, map[string]bool{}, map[string]int{}
	for _, c := range t.Cases {
		times[c.Name]++
	}
	var cases []metric.Test
	for _, c := range t.Cases {
		var p Program
		if times[c.Name] == 1 { // tests of one name in two folders would have one file
			p = programOf(fileNameOf(c.Name))
		}
		switch {
		case p.Cases != nil && len(p.Cases.Cases) > 0:
			cases = append(cases, casesOf(c, p.Cases)...)
			addProblems(&out, c, p.Cases)
		case p.List != "" && hasFailed(c):
			why := strings.TrimSpace(c.Message + "\nits program ended before it reported, and a case that crashes takes the others with it: run the test " + c.Name + " by itself")
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: c.Name, Why: why})
			cases = append(cases, parseCaseList(c.Name, why, p.List)...)
		case isNotBuilt(c):
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: c.Name, Why: noProgramReason})
			c.Status = metric.NotRun
			fallthrough
		default:
			cases = append(cases, c)
			continue
		}
		replaced[c.Name] = true
	}
	out.Cases = metric.NewTests(cases).Cases
	return &out, replaced
}

// DescribeDifference explains why the number of tests is not the one that ctest prints. It is ""
// if the numbers are equal. read and unfolded are the tests before and after [Unfold], programs
// are the names of those replaced, and added is the text of the file [Added].
func DescribeDifference(read, unfolded *metric.Tests, programs map[string]bool, added string) string {
	known, cases, unknown := 0, len(unfolded.Cases)-len(read.Cases)+len(programs), 0
	for _, c := range read.Cases {
		switch {
		case strings.Contains("\n"+added, "\n"+c.Name+"\n"):
			unknown++
		case c.Status != metric.Skipped || c.Message != disabledByCMake:
			known++
		}
	}
	if len(programs) == 0 || unknown == 0 && cases == len(programs) {
		return ""
	}
	why := fmt.Sprintf("%d tests, where ctest itself counts %d: programs of a test framework (%d) count by their cases (%d)", len(unfolded.Cases), known, len(programs), cases)
	if unknown > 0 {
		why += fmt.Sprintf("; not known to ctest: %d", unknown)
	}
	return why
}

// disabledByCMake is the message of ctest for a test that it does not count.
const disabledByCMake = "Disabled"

// fileNameOf is the name of the files of a test, as the script of CMake computes it.
func fileNameOf(test string) string {
	sum := sha256.Sum256([]byte(test))
	return hex.EncodeToString(sum[:])
}

// hasFailed reports whether a test ran and failed.
func hasFailed(c metric.Test) bool { return c.Status == metric.Failed || c.Status == metric.Errored }

// isNotBuilt reports whether ctest did not find the program of a test.
func isNotBuilt(c metric.Test) bool {
	return c.Status == metric.Errored && strings.HasPrefix(c.Message, "Unable to find executable")
}

const noProgramReason = "its program is not there: it is not built, or not installed"

// casesOf are the cases of a program, with the test as their suite. Their class is never empty,
// which distinguishes them from tests of ctest.
func casesOf(test metric.Test, t *metric.Tests) []metric.Test {
	out := slices.Clone(t.Cases)
	for i, c := range out {
		if c.Class == "" {
			out[i].Class = c.Suite
		}
		out[i].Suite = test.Name
	}
	return out
}

// addProblems adds what a report has in addition to its cases. A test that failed without a
// failing case is a contradiction: a sanitizer may have found something, or the program crashed
// when it ended.
func addProblems(out *metric.Tests, test metric.Test, t *metric.Tests) {
	out.Problems = append(slices.Clip(out.Problems), t.Problems...)
	for _, b := range t.Broken {
		out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: test.Name, Why: b.Why})
	}
	why := t.Failure
	if hasFailed(test) && t.Counts().Failed == 0 && len(t.Broken) == 0 {
		why = "the test " + test.Name + " failed and none of its cases did: run it by itself to see how its program ends"
	}
	if out.Failure == "" {
		out.Failure = why
	}
}

// parseCaseList reads the list of cases of a program of GoogleTest. The cases did not run; those
// that are disabled are skipped.
func parseCaseList(suite, why, list string) []metric.Test {
	var out []metric.Test
	class := ""
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\r\n"), "  # ") // the value of a parameter
		name, inside := strings.CutPrefix(line, "  ")
		switch {
		case !inside:
			class = ""
			if before, ok := strings.CutSuffix(line, "."); ok && !strings.Contains(before, " ") {
				class = before
			}
		case class != "":
			t := metric.Test{ID: metric.ID{Suite: suite, Class: class, Name: name}, Status: metric.NotRun, Message: why}
			if strings.HasPrefix(name, disabledPrefix) || strings.HasPrefix(class, disabledPrefix) {
				t.Status, t.Message = metric.Skipped, "disabled"
			}
			out = append(out, t)
		}
	}
	return out
}

const disabledPrefix = "DISABLED_"

// ReplaceUnbuilt replaces a failing test that reported cases before, and that now cannot list
// them, by a suite that did not run: its program was not built. prefix starts the names of the
// check's suites.
func ReplaceUnbuilt(t, known *metric.Tests, prefix string) *metric.Tests {
	if t == nil || known == nil {
		return t
	}
	suites := map[string]bool{}
	for _, c := range known.Cases {
		suites[c.Suite] = c.Class != ""
	}
	out := *t
	out.Cases = slices.DeleteFunc(slices.Clone(t.Cases), func(c metric.Test) bool {
		lost := (hasFailed(c) || c.Status == metric.NotRun) && c.Class == "" && suites[prefix+c.Name]
		if lost && hasFailed(c) {
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: prefix + c.Name, Why: "its program cannot be run: " + c.Message})
		}
		return lost
	})
	return &out
}
