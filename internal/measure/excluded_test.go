package measure_test

import (
	"strings"
	"testing"

	"supervise/internal/measure"
)

// A module that Maven cannot build where the loop starts, for nothing in a file of the
// project, is reported once, and the tree can be green. Other errors of it count.
func TestModuleThatCannotBeBuiltIsExcluded(t *testing.T) {
	root := tree(t, map[string]string{
		"junit.xml": `<testsuite name="s"><testcase classname="c" name="a"/></testsuite>`, "said": "[INFO] Total time: 1.2 s\n[ERROR] Failed to execute goal on project b: Could not resolve dependencies: lacking:jar:1 is not there\n",
	})
	check := shell(measure.Test, "cp junit.xml target.xml; cat said; exit 1", "target.xml")
	check.Runner = "maven"
	m := measure.New(measure.Plan{Root: root, Checks: []measure.Check{check}}, measure.Options{Scratch: t.TempDir(), Baseline: true})
	first, err := m.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if problems := strings.Join(first.Runs[0].Problems, "\n"); first.Set.Tests.Failure != "" || first.Set.IsPartial() || !strings.Contains(problems, "failed before any agent ran") || strings.Contains(problems, "although no test failed") {
		t.Errorf("at first: %+v, problems %q", first.Set, problems)
	}
	for _, tt := range []struct {
		name, said string
		counts     bool
	}{
		{"the same", "[INFO] Total time: 2.7 s\n[ERROR] Failed to execute goal on project b: Could not resolve dependencies: lacking:jar:1 is not there\n", false},
		{"another error", "[ERROR] Failed to execute goal on project a: the plugin is gone\n", true},
		{"an error in a file", "[ERROR] /src/A.java:[3,4] cannot find symbol\n", true},
	} {
		lay(t, root, map[string]string{"said": tt.said})
		res, err := measure.New(measure.Plan{Root: root, Checks: []measure.Check{check}}, measure.Options{Scratch: t.TempDir(), Memory: m.Memory()}).RunQuick(t.Context(), first.Set.Tests)
		if err != nil || (res.Set.Tests.Failure != "") != tt.counts || len(res.Runs[0].Problems) > 0 != tt.counts {
			t.Errorf("%s: %+v, problems %q, %v", tt.name, res.Set.Tests, res.Runs[0].Problems, err)
		}
	}
}

// If one of two checks is unreadable, its known tests did not run. If their check is unknown,
// no test is measured.
func TestTestsOfAnUnreadableCheckAreNotDeleted(t *testing.T) {
	suite := func(name string) string {
		return `<testsuite name="` + name + `"><testcase name="one"/></testsuite>`
	}
	root := tree(t, map[string]string{"a.xml": suite("a"), "b.xml": suite("b")})
	plan := measure.Plan{Root: root, Checks: []measure.Check{shell(measure.Test, "cat a.xml"), shell(measure.Test, "cat b.xml")}}
	m := measure.New(plan, measure.Options{Scratch: t.TempDir(), Baseline: true})
	first, err := m.Run(t.Context(), nil)
	if err != nil || first.Set.Tests.Counts().Passed != 2 {
		t.Fatalf("at first: %+v, %v", first.Set, err)
	}
	lay(t, root, map[string]string{"b.xml": "cannot be read"})
	for _, tt := range []struct {
		name   string
		memory measure.Memory
		broken bool
	}{
		{"known whose they are", m.Memory(), true},
		{"a new meter", measure.Memory{}, false},
	} {
		res, err := measure.New(plan, measure.Options{Scratch: t.TempDir(), Memory: tt.memory}).Run(t.Context(), first.Set.Tests)
		if err != nil || (res.Set.Tests != nil) != tt.broken {
			t.Fatalf("%s: %+v, %v", tt.name, res.Set, err)
		}
		if n := res.Set.Tests.Counts(); tt.broken && (n.Count != 2 || n.Passed != 1 || n.Failed != 1) {
			t.Errorf("%s: %+v, want one test that passed and one that did not run", tt.name, n)
		}
	}
}
