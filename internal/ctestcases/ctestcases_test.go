package ctestcases_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/ctestcases"
	"supervise/internal/regexp"
	"supervise/metric"
)

func test(suite, class, name string, s metric.Status) metric.Test {
	return metric.Test{ID: metric.ID{Suite: suite, Class: class, Name: name}, Status: s}
}

// shown is a set of tests, one a line.
func shown(t *metric.Tests) string {
	var out []string
	for _, c := range t.Cases {
		out = append(out, fmt.Sprintf("%s|%s|%s %s", c.Suite, c.Class, c.Name, c.Status))
	}
	for _, b := range t.Broken {
		out = append(out, "broken "+b.Name)
	}
	if t.Failure != "" {
		out = append(out, "failure")
	}
	return strings.Join(out, "\n")
}

const list = "Running main() from gtest_main.cc\nA.\n  one\n  DISABLED_two\nNums/P.  # TypeParam = int\n  even/0  # GetParam() = 2\n"

func TestUnfold(t *testing.T) {
	ran := metric.NewTests([]metric.Test{test("unit", "A", "one", metric.Passed), test("A", "", "two", metric.Passed)})
	failed := metric.NewTests([]metric.Test{test("unit", "A", "one", metric.Failed)})
	unbuilt := test("linux", "", "unit", metric.Errored)
	unbuilt.Message = "Unable to find executable\nUnable to find executable: unit"
	for _, tt := range []struct {
		name  string
		tests []metric.Test
		left  ctestcases.Program
		want  string
	}{
		{"a test of ctest", []metric.Test{test("linux", "", "unit", metric.Failed)}, ctestcases.Program{}, "linux||unit failed"},
		{"a program", []metric.Test{test("linux", "", "unit", metric.Passed)}, ctestcases.Program{List: list, Cases: ran}, "unit|A|one passed\nunit|A|two passed"},
		{"a case that failed", []metric.Test{test("linux", "", "unit", metric.Failed)}, ctestcases.Program{List: list, Cases: failed}, "unit|A|one failed"},
		{"a program that failed", []metric.Test{test("linux", "", "unit", metric.Failed)}, ctestcases.Program{List: list, Cases: ran}, "unit|A|one passed\nunit|A|two passed\nfailure"},
		{"a program that ended", []metric.Test{test("linux", "", "unit", metric.Failed)}, ctestcases.Program{List: list}, "unit|A|DISABLED_two skipped\nunit|A|one not_run\nunit|Nums/P|even/0 not_run\nbroken unit"},
		{"a program that lists no cases", []metric.Test{test("linux", "", "unit", metric.Errored)}, ctestcases.Program{List: "Available reporters: xml"}, "broken unit"},
		{"a program that reports nothing", []metric.Test{test("linux", "", "unit", metric.Passed)}, ctestcases.Program{List: list}, "linux||unit passed"},
		{"a program without cases", []metric.Test{test("linux", "", "unit", metric.Passed)}, ctestcases.Program{List: list, Cases: metric.NewTests(nil)}, "linux||unit passed"},
		{"a program that is not built", []metric.Test{unbuilt}, ctestcases.Program{}, "linux||unit not_run\nbroken unit"},
		{
			"one name in two folders",
			[]metric.Test{test("linux", "", "unit", metric.Passed), test("linux", "x", "unit", metric.Failed)},
			ctestcases.Program{List: list, Cases: ran},
			"linux||unit passed\nlinux|x|unit failed",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sum := sha256.Sum256([]byte("unit"))
			got, names := ctestcases.Unfold(&metric.Tests{Cases: tt.tests}, func(file string) ctestcases.Program {
				if file != hex.EncodeToString(sum[:]) {
					t.Errorf("file %s", file)
				}
				return tt.left
			})
			if shown(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", shown(got), tt.want)
			}
			if replaced := !strings.Contains(tt.want, "linux"); names["unit"] != replaced {
				t.Errorf("replaced: %t, want %t", names["unit"], replaced)
			}
		})
	}
}

func TestDiffers(t *testing.T) {
	off := test("linux", "", "off", metric.Skipped)
	off.Message = "Disabled"
	read := &metric.Tests{Cases: []metric.Test{test("linux", "", "a", metric.Passed), test("linux", "", "b", metric.Skipped), test("linux", "", "unit", metric.Passed), off}}
	for _, tt := range []struct {
		name         string
		cases, added string
		want         string
	}{
		{"as many", "one", "", ""},
		{"more", "one two", "", "5 tests, where ctest itself counts 3: programs of a test framework (1) count by their cases (2)"},
		{"a program that ctest does not know", "one", "unit\n", "4 tests, where ctest itself counts 2: programs of a test framework (1) count by their cases (1); not known to ctest: 1"},
		{"no program", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var cases []metric.Test
			for _, name := range strings.Fields(tt.cases) {
				cases = append(cases, test("", "A", name, metric.Passed))
			}
			out, programs := ctestcases.Unfold(read, func(file string) ctestcases.Program {
				sum := sha256.Sum256([]byte("unit"))
				if file != hex.EncodeToString(sum[:]) {
					return ctestcases.Program{}
				}
				return ctestcases.Program{List: list, Cases: metric.NewTests(cases)}
			})
			if got := ctestcases.DescribeDifference(read, out, programs, tt.added); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What reported cases before and cannot be run now has not become another test.
func TestLost(t *testing.T) {
	known := metric.NewTests([]metric.Test{test("web/unit", "A", "one", metric.Passed), test("linux", "", "plain", metric.Passed)})
	now := metric.NewTests([]metric.Test{test("web/linux", "", "unit", metric.Errored), test("web/linux", "", "plain", metric.Failed)})
	got := ctestcases.ReplaceUnbuilt(now, known, "web/")
	if want := "web/linux||plain failed\nbroken web/unit"; shown(got) != want {
		t.Errorf("got\n%s\nwant\n%s", shown(got), want)
	}
	if want := "web/unit|A|one not_run"; !slices.Contains(strings.Split(shown(got.WithNotRun(known)), "\n"), want) {
		t.Errorf("got\n%s\nwithout %s", shown(got.WithNotRun(known)), want)
	}
	now.Cases[1].Status = metric.NotRun // its suite is broken already
	if got := shown(ctestcases.ReplaceUnbuilt(now, known, "web/")); got != "web/linux||plain failed" {
		t.Errorf("got\n%s", got)
	}
	if got := ctestcases.ReplaceUnbuilt(now, nil, ""); got != now {
		t.Error("without known tests something changed")
	}
}

// What programs of Catch2 print with --list-reporters. In 3.4 the names begin with a
// capital, and --reporter takes both.
func TestReportersOfCatch2(t *testing.T) {
	text := ctestcases.Files("build", "build")[ctestcases.Folder+"/CTestTestfile.cmake"]
	m := regexp.MustCompile(`--list-reporters "([^"]*)" --reporter xml `).FindStringSubmatch(text)
	said, err := filepath.Glob("testdata/catch2-*.txt")
	if m == nil || err != nil || len(said) < 2 {
		t.Fatalf("pattern %q, outputs %q: %v", m, said, err)
	}
	for _, name := range said {
		printed, err := os.ReadFile(name)
		if err != nil || !regexp.MustCompile(m[1]).Match(printed) {
			t.Errorf("%s has no reporter %s: %v", name, m[1], err)
		}
	}
}
