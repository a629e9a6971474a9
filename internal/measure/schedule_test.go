package measure

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func check(kind Kind, line string, reports ...string) Check {
	return Check{Kind: kind, Name: line, Command: strings.Fields(line), Reports: reports}
}

func TestBuildsAndTestsHaveStages(t *testing.T) {
	build, tests, vet := check(Build, "go build"), check(Test, "go test", "r.xml"), check(Lint, "go vet")
	for _, tc := range []struct {
		name     string
		parallel int
		checks   []Check
		want     []stage
	}{
		{"one at a time", 1, []Check{build, tests, vet}, []stage{{sequential: []int{0}}, {sequential: []int{1, 2}}}},
		{"a build first", 2, []Check{build, tests, vet}, []stage{{sequential: []int{0}}, {sequential: []int{1}, parallel: []int{2}}}},
		{"a build without output", 2, []Check{check(Build, "go build -o "+os.DevNull), tests, vet}, []stage{{sequential: []int{1}, parallel: []int{0, 2}}}},
		{"a build without output, one at a time", 1, []Check{check(Build, "go build -o "+os.DevNull), tests, vet}, []stage{{sequential: []int{0, 1, 2}}}},
		{"a build between", 2, []Check{vet, build, tests}, []stage{{parallel: []int{0}}, {sequential: []int{1}}, {sequential: []int{2}}}},
		{"two tests", 3, []Check{tests, vet, tests}, []stage{{sequential: []int{0, 2}, parallel: []int{1}}}},
		{"a report in the tree", 2, []Check{tests, check(Lint, "eslint .", "out.json")}, []stage{{sequential: []int{0, 1}}}},
		{"a private report", 2, []Check{tests, check(Lint, "eslint .", ReportDir+"/out.json")}, []stage{{sequential: []int{0}, parallel: []int{1}}}},
		{"vouched for", 2, []Check{tests, check(Lint, "make lint")}, []stage{{sequential: []int{0}, parallel: []int{1}}}},
		{"nothing", 2, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := planStages(Plan{Checks: tc.checks, Parallel: tc.parallel}); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestAutoRunsReadingLintersNextToTests(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for _, tc := range []struct {
		cpus     int
		lint     string
		parallel bool
	}{
		{1, "go vet ./...", false},
		{2, "go vet ./...", true},
		{2, "go version", false},
		{2, "make lint", false},
		{2, "npx --no-install eslint . --format=json", true},
		{2, "node_modules/.bin/eslint .", true},
		{2, "eslint . --fix", false},
		{2, "uv run --frozen python -m mypy .", true},
		{2, "tsc --noEmit", true},
		{2, "tsc", false},
		{2, "rubocop -A", false},
		{2, "cargo clippy", true},
		{2, "cargo fmt", false},
		{2, "echo a b c d e eslint", false},
	} {
		runtime.GOMAXPROCS(tc.cpus)
		st := planStages(Plan{Checks: []Check{check(Test, "go test"), check(Lint, tc.lint)}})
		if got := len(st) == 1 && len(st[0].parallel) == 1; got != tc.parallel {
			t.Errorf("%d CPUs, %s: in parallel with the tests %t, want %t", tc.cpus, tc.lint, got, tc.parallel)
		}
	}
}

func TestHashIgnoresParallel(t *testing.T) {
	a, b := Plan{Root: "/r"}, Plan{Root: "/r", Parallel: 3}
	if a.Hash() != b.Hash() {
		t.Error("plans that give the same results have other hashes")
	}
}
