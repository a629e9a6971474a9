package measure_test

import (
	"runtime"
	"strings"
	"testing"

	"supervise/internal/measure"
	"supervise/metric"
)

// A test that fails only while another check runs passes, and is flaky. Others fail as they
// did.
func TestFailuresUnderContentionAreRerun(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const wait = "i=0; until test -e %; do i=$((i+1)); test $i -lt 3000 || exit 9; /bin/sleep 0.01; done; "
	tests := shell(measure.Test, "test -e seen || { "+strings.Replace(wait, "%", "busy", 1)+"}; "+
		`failed=; test ! -e busy || failed="<failure/>"; touch seen; `+
		`echo "<testsuite name='s'><testcase name='slow'>$failed</testcase><testcase name='fails'><failure/></testcase><testcase name='good'/></testsuite>" >r.xml; exit 1`, "r.xml")
	linter := shell(measure.Lint, "touch busy; "+strings.Replace(wait, "%", "seen", 1)+"rm busy")
	plan := measure.Plan{Root: t.TempDir(), Parallel: 2, Checks: []measure.Check{tests, linter}}

	res := again(t, measure.New(plan, measure.Options{Scratch: t.TempDir()}))
	if got, want := res.Set.Tests.Counts(), (metric.Counts{Count: 3, Passed: 2, Failed: 1, Flaky: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if problems := strings.Join(res.Runs[0].Problems, "\n"); !strings.Contains(problems, "1 tests failed while other checks ran and passed in an isolated rerun; they count as passed and flaky, the first: s: slow") {
		t.Errorf("problems: %q", problems)
	}

	plan.Root = t.TempDir()
	res = again(t, measure.New(plan, measure.Options{Scratch: t.TempDir(), Reruns: &measure.Reruns{}}))
	if got, want := res.Set.Tests.Counts(), (metric.Counts{Count: 3, Passed: 1, Failed: 2}); got != want {
		t.Errorf("without reruns: counts %+v, want %+v", got, want)
	}
}
