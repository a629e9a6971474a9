package measure_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// Results of tests in another tree count, the meter learns nothing from them, and the
// project's own tree is not read.
func TestResultsInTreeTeachNothing(t *testing.T) {
	needGo(t)
	root := tree(t, goFiles)
	plan := measure.Plan{Root: root, Checks: goPlan(root)}
	m := measure.New(plan, measure.Options{Scratch: t.TempDir()})
	res, err := m.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := res.Set.Tests.Cases
	changed := maps.Clone(goFiles)
	changed["b/b.go"] = "package b\n\nfunc G() int { return 3 }\n"                      // fixes TestG
	changed["a/a_test.go"] = strings.Replace(goFiles["a/a_test.go"], "F(1)", "H(1)", 1) // there is no H
	for _, tt := range []struct {
		name  string
		files map[string]string
		limit time.Duration
		want  map[string]string
	}{
		{"as it is", goFiles, 0, map[string]string{"TestF": "passed", "TestSkip": "", "TestG": "failed"}},
		{"changed", changed, 0, map[string]string{"TestF": "unbuilt", "TestSkip": "unbuilt", "TestG": "passed"}},
		{"without the tests", map[string]string{"go.mod": goFiles["go.mod"], "a/a.go": goFiles["a/a.go"], "b/b.go": goFiles["b/b.go"]}, 0, map[string]string{"TestF": "", "TestSkip": "", "TestG": ""}},
		{"no time", goFiles, time.Nanosecond, map[string]string{"TestF": "", "TestSkip": "", "TestG": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := m.RunInTree(context.Background(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), tree(t, tt.files)), Tests: all, Limit: tt.limit})
			if err != nil {
				t.Fatal(err)
			}
			ends := out.ByTest
			for id, e := range ends {
				got := ""
				switch {
				case e.Unbuilt:
					got = "unbuilt"
				case e.Test.Status != 0:
					got = e.Test.Status.String()
				}
				if want, known := tt.want[id.Name]; known && (got != want || (e.Why == "") != (e.Test.Status != 0)) {
					t.Errorf("%s: %q (%s), want %q", id, got, e.Why, want)
				}
			}
			if len(ends) != len(all) {
				t.Errorf("%d ends of %d tests", len(ends), len(all))
			}
		})
	}
}

// A build that leaves nothing does not run if the tests build themselves.
func TestRunInTreeBuildsOnce(t *testing.T) {
	needGo(t)
	for target, want := range map[string]int{os.DevNull: 1, "out": 2} {
		root := tree(t, goFiles)
		checks := goPlan(root)
		checks[0].Command = []string{"go", "build", "-mod=mod", "-o", target, "./a"}
		m := measure.New(measure.Plan{Root: root, Checks: checks}, measure.Options{Scratch: t.TempDir()})
		one := metric.Test{ID: metric.ID{Suite: "m/a", Name: "TestF"}}
		out, err := m.RunInTree(context.Background(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), root), Tests: []metric.Test{one}})
		if err != nil || len(out.Runs) != want || out.ByTest[one.ID].Test.Status != metric.Passed {
			t.Errorf("-o %s: %v, %d runs, want %d: %+v", target, err, len(out.Runs), want, out.ByTest)
		}
	}
}

// The command uses the other tree also if it names the tree. If its framework is
// unknown, the complete command runs.
func TestRunInTreeNamesTheOtherTree(t *testing.T) {
	root := tree(t, map[string]string{"ran": ""})
	other := tree(t, map[string]string{"keep": ""})
	report := `<testsuite name="s"><testcase name="one"/><testcase name="two"><failure/></testcase></testsuite>`
	c := shell(measure.Test, "echo x >> "+root+"/ran; echo '"+report+"' > '"+root+"/out.xml'; exit 1", "out.xml")
	c.Env = []string{"AT=" + root}
	m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{c}}, measure.Options{Scratch: t.TempDir()})
	one, three := metric.Test{ID: metric.ID{Suite: "s", Name: "one"}}, metric.Test{ID: metric.ID{Suite: "s", Name: "three"}}
	out, err := m.RunInTree(context.Background(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), other), Tests: []metric.Test{one, three}})
	if err != nil {
		t.Fatal(err)
	}
	ends, runs := out.ByTest, out.Runs
	if e := ends[one.ID]; e.Test.Status != metric.Passed {
		t.Errorf("one: %+v, runs %+v", e, runs)
	}
	if e := ends[three.ID]; e.Test.Status != 0 || e.Unbuilt {
		t.Errorf("three: %+v", e)
	}
	if out, err = m.RunInTree(context.Background(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), other), Tests: []metric.Test{one}, Full: true}); err != nil || len(out.Others) != 1 || out.Others[0].Name != "two" {
		t.Errorf("others: %+v, %v", out.Others, err)
	}
	if text, _ := os.ReadFile(filepath.Join(root, "ran")); len(text) > 0 {
		t.Error("the command ran in the project's own tree")
	}
	if !slices.ContainsFunc(runs, func(r measure.Run) bool { return strings.Contains(r.Check.CommandLine(), other) }) {
		t.Errorf("runs %+v", runs)
	}
}

// If a framework does not understand which tests to run, the complete command runs.
func TestRunInTreeFallsBackToAllTests(t *testing.T) {
	files := map[string]string{"mocha": `if [ $# -gt 0 ]; then echo 'no such option'; exit 2; fi
echo '<testsuite name="s"><testcase name="one"/></testsuite>' >out.xml
`}
	c := measure.Check{Kind: measure.Test, Name: "mocha", Command: []string{"env", "sh", "mocha"}, Runner: "mocha", Reports: []string{"out.xml"}}
	m := measure.New(measure.Plan{Root: tree(t, files), Checks: []measure.Check{c}}, measure.Options{Scratch: t.TempDir()})
	one := metric.Test{ID: metric.ID{Suite: "s", Name: "one"}}
	out, err := m.RunInTree(context.Background(), measure.TreeRun{Plan: treecopy.MovePlan(m.Plan(), tree(t, files)), Tests: []metric.Test{one}})
	if err != nil || len(out.Runs) != 2 || out.ByTest[one.ID].Test.Status != metric.Passed {
		t.Errorf("%+v, %v after %d runs", out.ByTest, err, len(out.Runs))
	}
}
