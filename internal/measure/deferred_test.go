package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/measure"
	"supervise/metric"
)

// goals is a stub for Maven: it records its goal, and reports one test of
// each kind that it runs.
const goals = `echo "$1" >>goals
if [ "$1" = test ] && [ -e needs-package ]; then exit 1; fi
mkdir -p target/surefire-reports target/failsafe-reports
echo '<testsuite name="a.UnitTest"><testcase classname="a.UnitTest" name="unit"/></testsuite>' >target/surefire-reports/TEST-a.UnitTest.xml
if [ "$1" = verify ]; then
	echo '<testsuite name="a.ServerIT"><testcase classname="a.ServerIT" name="serves">'"$(cat fails 2>/dev/null)"'</testcase></testsuite>' >target/failsafe-reports/TEST-a.ServerIT.xml
fi
`

// An iteration runs integration tests where one of them changed or failed, where their
// coverage counts, where the user gave the command, and where the project cannot be tested
// without being packaged.
func TestIntegrationTestsOfAnIteration(t *testing.T) {
	for _, tt := range []struct {
		name    string
		plan    func(*measure.Plan)
		before  map[string]string // files that are there from the start
		changed map[string]string
		ran     string // in three iterations
		cached  bool
	}{
		{name: "they passed", changed: map[string]string{"src/Main.java": "changed"}, ran: "test test test", cached: true},
		{name: "one changed", changed: map[string]string{"src/a/ServerIT.java": "changed"}, ran: "verify test test"},
		{name: "one is new", changed: map[string]string{"src/a/OtherITCase.kt": "new"}, ran: "verify test test"},
		{name: "the build changed", changed: map[string]string{"pom.xml": "<project/>"}, ran: "verify test test"},
		{name: "what was built changed", changed: map[string]string{"target/a/ServerIT.java": "copy"}, ran: "test test test", cached: true},
		{name: "one fails", before: map[string]string{"fails": "<failure/>"}, ran: "verify verify verify"},
		{name: "their coverage counts", plan: func(p *measure.Plan) { p.Checks[0].Coverage = true }, ran: "verify verify verify"},
		{name: "the command is the user's", plan: func(p *measure.Plan) { p.Recognised = false }, ran: "verify verify verify"},
		{name: "packages are needed", before: map[string]string{"needs-package": ""}, ran: "test verify verify verify"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"mvn": goals, "src/a/ServerIT.java": "", "pom.xml": ""})
			lay(t, root, tt.before)
			plan := measure.Plan{Root: root, Recognised: true, Checks: []measure.Check{{
				Kind: measure.Test, Name: "maven", Runner: "maven", Command: []string{"sh", "mvn", "verify"},
				Reports: []string{"**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"},
			}}}
			if tt.plan != nil {
				tt.plan(&plan)
			}
			m := measure.New(plan, measure.Options{Scratch: t.TempDir()})
			res, err := m.Run(t.Context(), nil)
			if err != nil || res.Set.Tests.Counts().Count != 2 {
				t.Fatalf("measured %+v, %v; want two tests", res.Set, err)
			}
			lay(t, root, tt.changed)
			var sets []metric.Set
			m = measure.New(plan, measure.Options{Scratch: t.TempDir(), Memory: m.Memory()})
			for range 3 {
				if res, err = m.RunQuick(t.Context(), res.Set.Tests); err != nil {
					t.Fatal(err)
				}
				sets = append(sets, res.Set)
			}
			goals, err := os.ReadFile(filepath.Join(root, "goals"))
			if got := strings.Join(strings.Fields(string(goals))[1:], " "); err != nil || got != tt.ran {
				t.Errorf("ran %s, want %s (%v)", got, tt.ran, err)
			}
			for i, s := range sets {
				_, missing := s.Gap(metric.SectionTests)
				if n := s.Tests.Counts(); n.Count != 2 || missing || i == 0 && (n.Cached == 1) != tt.cached {
					t.Errorf("iteration %d: %+v, gaps %v", i, n, s.Gaps)
				}
			}
			if res, err = m.Run(t.Context(), res.Set.Tests); err != nil || res.Set.Tests.Counts().Cached > 0 {
				t.Errorf("uncached: %+v, %v", res.Set, err)
			}
		})
	}
}

// A deleted integration test is missing, and one of a build that fails did not run.
func TestDeferredTestsAreNotCarriedBlindly(t *testing.T) {
	root := tree(t, map[string]string{"mvn": goals, "src/a/ServerIT.java": "", "pom.xml": ""})
	plan := measure.Plan{Root: root, Recognised: true, Checks: []measure.Check{{
		Kind: measure.Test, Name: "maven", Runner: "maven", Command: []string{"sh", "mvn", "verify"},
		Reports: []string{"**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"},
	}}}
	m := measure.New(plan, measure.Options{Scratch: t.TempDir()})
	first, err := m.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.RunQuick(t.Context(), first.Set.Tests); err != nil { // it works without them
		t.Fatal(err)
	}
	lay(t, root, map[string]string{"mvn": goals + "exit 1"})
	broken, err := m.RunQuick(t.Context(), first.Set.Tests)
	if n := broken.Set.Tests.Counts(); err != nil || n.Failed != 1 || n.Cached != 0 {
		t.Errorf("the build fails: %+v, %v; want that one did not run", n, err)
	}
	if err := os.Remove(filepath.Join(root, "src/a/ServerIT.java")); err != nil {
		t.Fatal(err)
	}
	lay(t, root, map[string]string{"mvn": strings.Replace(goals, "= verify", "= never", 1)})
	gone, err := m.RunQuick(t.Context(), first.Set.Tests)
	if err != nil || gone.Set.Tests != nil && gone.Set.Tests.Counts().Count != 1 {
		t.Errorf("deleted: %+v, %v; want one test, or a gap", gone.Set.Tests, err)
	}
}
