package measure_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/measure"
	"supervise/metric"
)

// With features that a machine cannot build, the default features are measured, and a note says so.
// An error in the project's own code is one.
func TestFeaturesThatNeedALibrary(t *testing.T) {
	const library = "error: failed to run custom build command for `alsa-sys v0.3.1`"
	for _, tt := range []struct {
		name, prints, without string
		given                 bool
		count                 int
		says                  string
	}{
		{name: "a library is missing", prints: library, count: 1, says: "(failed to run custom build command for `alsa-sys v0.3.1`): measured with the default features"},
		{name: "the linker misses it", prints: "  = note: rust-lld: error: unable to find library -lasound", count: 1, says: "(-lasound)"},
		{name: "also by default", prints: library, without: "exit 101", says: "wrote no report that can be read"},
		{name: "an error of the project", prints: "error: failed to run custom build command for `own v0.1.0 (/home/me/own)`", says: "wrote no report that can be read"},
		{name: "an error in the code", prints: "error[E0425]: cannot find value `x` in this scope", says: "wrote no report that can be read"},
		{name: "the command is the user's", prints: library, given: true, says: "wrote no report that can be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := tree(t, map[string]string{
				"cargo": "#!/bin/sh\ncase $* in *--all-features*) cat <<'E' >&2\n" + tt.prints + "\nE\nexit 101;; esac\n" + tt.without + "\nprintf 'running 1 test\\ntest a ... ok\\n\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n'\n",
			})
			if err := os.Chmod(filepath.Join(bin, "cargo"), 0o755); err != nil {
				t.Fatal(err)
			}
			plan := measure.Plan{Root: tree(t, nil), Recognised: !tt.given, Checks: []measure.Check{{
				Kind: measure.Test, Name: "cargo test", Stderr: true, Command: []string{"cargo", "test", "--workspace", "--all-features"},
			}}}
			t.Setenv("PATH", bin+":/usr/bin:/bin")
			res, err := measure.New(plan, measure.Options{}).Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			problems := strings.Join(res.Runs[0].Problems, ";") + res.Runs[0].Why
			if got := res.Set.Tests.Counts().Count; got != tt.count || !strings.Contains(problems, tt.says) {
				t.Errorf("%d tests, problems %q; want %d and %q", got, problems, tt.count, tt.says)
			}
			if _, missing := res.Set.Gap(metric.SectionTests); missing != (tt.count == 0) {
				t.Errorf("gaps %+v", res.Set.Gaps)
			}
		})
	}
}
