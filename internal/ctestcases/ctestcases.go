// Package ctestcases takes apart the tests of ctest that are programs with test cases of
// their own, of GoogleTest, Catch2, doctest or Boost.Test: each case counts, in place of the
// program.
//
// ctest reads a file of ours in place of that of the build folder. It takes in the tests
// from there, and adds to the command of such a program the options with which it reports
// its cases. Tests that CMake found case by case (gtest_discover_tests and the like) are
// left alone, and so are those that ctest judges by their output.
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
	cases string
	//go:embed programs.cmake
	programs string
	//go:embed build.cmake
	build string
)

// Files are what the private folder must hold. build is the build folder, and tests the one
// where ctest would run, both slash paths relative to where the check runs.
func Files(build, tests string) map[string]string {
	in := strings.NewReplacer("{{build}}", build, "{{tests}}", tests)
	return map[string]string{
		Folder + "/CTestTestfile.cmake": in.Replace(cases),
		Folder + "/programs.cmake":      in.Replace(programs),
	}
}

// Program is what the program of one test left.
type Program struct {
	List  string        // what it printed when it was asked for its cases or its reporters; "" if it was not, or does not understand
	Cases *metric.Tests // nil if it wrote no report that can be read whole
}

// Build is a script of CMake that builds the programs which the default target leaves out:
// cmake -DBUILD=folder -DTESTS=folder -P {{report_dir}}/Build. TESTS is where ctest would run.
const Build = ".build.cmake"

// BuildFiles are what the private folder must hold for [Build].
func BuildFiles() map[string]string { return map[string]string{Build: build} }

// Unfold replaces each test whose program reported its cases by these; the test is their
// suite. A program that ended before is a suite that did not run, with the cases that it
// lists, and so is a program that is not there. of finds what a program left, by the name of
// its files without extension. The names are those of the tests that were replaced.
func Unfold(t *metric.Tests, of func(file string) Program) (*metric.Tests, map[string]bool) {
	out, names, times := *t, map[string]bool{}, map[string]int{}
	for _, c := range t.Cases {
		times[c.Name]++
	}
	var cases []metric.Test
	for _, c := range t.Cases {
		var p Program
		if times[c.Name] == 1 { // tests of one name in two folders would have one file
			p = of(file(c.Name))
		}
		switch {
		case p.Cases != nil && len(p.Cases.Cases) > 0:
			cases = append(cases, within(c, p.Cases)...)
			add(&out, c, p.Cases)
		case p.List != "" && bad(c):
			why := strings.TrimSpace(c.Message + "\nits program ended before it reported, and a case that crashes takes the others with it: run the test " + c.Name + " by itself")
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: c.Name, Why: why})
			cases = append(cases, listed(c.Name, why, p.List)...)
		case notBuilt(c):
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: c.Name, Why: noProgram})
			c.Status = metric.NotRun
			fallthrough
		default:
			cases = append(cases, c)
			continue
		}
		names[c.Name] = true
	}
	out.Cases = metric.NewTests(cases).Cases
	return &out, names
}

// DescribeDifference says in how far the number of tests is not the one that ctest prints, "" if it is.
// read and unfolded are the tests before and after [Unfold], programs are the names of those
// replaced, and added is the file [Added], "" if there is none.
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

// disabledByCMake is what ctest says of a test that it does not count.
const disabledByCMake = "Disabled"

// file is the name that the script gives to the files of a test.
func file(test string) string {
	sum := sha256.Sum256([]byte(test))
	return hex.EncodeToString(sum[:])
}

func bad(c metric.Test) bool { return c.Status == metric.Failed || c.Status == metric.Errored }

// notBuilt reports whether ctest did not find the program of a test.
func notBuilt(c metric.Test) bool {
	return c.Status == metric.Errored && strings.HasPrefix(c.Message, "Unable to find executable")
}

const noProgram = "its program is not there: it is not built, or not installed"

// within are the cases of a program under the name of their test. The class is never
// empty, which tells them from tests of ctest.
func within(test metric.Test, t *metric.Tests) []metric.Test {
	out := slices.Clone(t.Cases)
	for i, c := range out {
		if c.Class == "" {
			out[i].Class = c.Suite
		}
		out[i].Suite = test.Name
	}
	return out
}

// add takes what a report says beside its cases. A test that failed without a failing case
// is a contradiction: a sanitizer may have found something, or the program crashed at its
// end.
func add(out *metric.Tests, test metric.Test, t *metric.Tests) {
	out.Problems = append(slices.Clip(out.Problems), t.Problems...)
	for _, b := range t.Broken {
		out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: test.Name, Why: b.Why})
	}
	why := t.Failure
	if bad(test) && t.Counts().Failed == 0 && len(t.Broken) == 0 {
		why = "the test " + test.Name + " failed and none of its cases did: run it by itself to see how its program ends"
	}
	if out.Failure == "" {
		out.Failure = why
	}
}

// listed are the cases in the list of a program of GoogleTest, as not run. Those that are
// disabled do not run anyway.
func listed(suite, why, list string) []metric.Test {
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
			if strings.HasPrefix(name, disabled) || strings.HasPrefix(class, disabled) {
				t.Status, t.Message = metric.Skipped, "disabled"
			}
			out = append(out, t)
		}
	}
	return out
}

const disabled = "DISABLED_"

// ReplaceUnbuilt replaces a failing test that reported cases before, and now could not even be asked
// for them, by a suite that did not run: its program was not built. prefix is what the
// suites of the check begin with.
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
		lost := (bad(c) || c.Status == metric.NotRun) && c.Class == "" && suites[prefix+c.Name]
		if lost && bad(c) {
			out.Broken = append(slices.Clip(out.Broken), metric.Suite{Name: prefix + c.Name, Why: "its program cannot be run: " + c.Message})
		}
		return lost
	})
	return &out
}
