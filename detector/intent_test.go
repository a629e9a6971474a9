package detector_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/detector/internal/loss"
	"supervise/metric"
	"supervise/source"
)

func defined(file, name, word string) detector.TestSource {
	return detector.TestSource{File: file, Def: source.TestDef{Name: name, Tokens: map[string]int{word: 1}}}
}

// TestIntent: what the user declared about the tests, and what breaks it.
func TestIntent(t *testing.T) {
	a, b := defined("a_test.go", "TestA", "x"), defined("a_test.go", "TestB", "x")
	changed, moved, added := defined("a_test.go", "TestA", "y"), defined("b_test.go", "TestA", "x"), defined("a_test.go", "TestNew", "z")
	const existing, file = "CRITICAL tamper:existing_test_changed", "CRITICAL tamper:test_file_changed"
	for _, tt := range []struct {
		name          string
		o             detector.Options
		before, after []detector.TestSource
		files         []string
		want          []string
	}{
		{"free", detector.Options{}, []detector.TestSource{a, b}, []detector.TestSource{changed}, []string{"a_test.go"}, nil},
		{"append: added", detector.Options{Tests: detector.TestsAppend}, []detector.TestSource{a, b}, []detector.TestSource{a, added, b}, []string{"a_test.go"}, nil},
		{"append: moved", detector.Options{Tests: detector.TestsAppend}, []detector.TestSource{a}, []detector.TestSource{moved}, []string{"a_test.go", "b_test.go"}, nil},
		{"append: changed", detector.Options{Tests: detector.TestsAppend}, []detector.TestSource{a, b}, []detector.TestSource{changed, b}, nil, []string{existing}},
		{"append: lost", detector.Options{Tests: detector.TestsAppend}, []detector.TestSource{a, b}, []detector.TestSource{a}, nil, []string{existing}},
		{"append: lost as allowed", detector.Options{Tests: detector.TestsAppend, AllowRemove: []string{"TestB"}}, []detector.TestSource{a, b}, []detector.TestSource{a}, nil, nil},
		{"append: allowed to go, and changed", detector.Options{Tests: detector.TestsAppend, AllowRemove: []string{"TestA"}}, []detector.TestSource{a}, []detector.TestSource{changed}, nil, []string{existing}},
		{"append: changed as allowed", detector.Options{Tests: detector.TestsAppend, MayChange: []string{"TestA"}}, []detector.TestSource{a}, []detector.TestSource{changed}, nil, nil},
		{"append: another may change", detector.Options{Tests: detector.TestsAppend, MayChange: []string{"TestB"}}, []detector.TestSource{a, b}, []detector.TestSource{changed, b}, nil, []string{existing}},
		{"append: may change, and lost", detector.Options{Tests: detector.TestsAppend, MayChange: []string{"TestA"}}, []detector.TestSource{a}, nil, nil, []string{existing}},
		{"frozen: a file may change", detector.Options{Tests: detector.TestsFrozen, MayChange: []string{"*_test.go"}}, nil, nil, []string{"a_test.go"}, nil},
		{"frozen", detector.Options{Tests: detector.TestsFrozen}, nil, nil, nil, nil},
		{"frozen: added", detector.Options{Tests: detector.TestsFrozen}, nil, []detector.TestSource{added}, []string{"a_test.go"}, []string{file}},
		{"frozen, without rules", detector.Options{Tests: detector.TestsFrozen, Mode: detector.ModeOff}, nil, nil, []string{"a_test.go"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.o.Validate(); err != nil {
				t.Fatal(err)
			}
			set := metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "m", Name: "TestZ"}, Status: metric.Passed}})}
			first := detector.Observation{Set: set}
			got := detector.Assess(detector.Input{
				Current: detector.Observation{Iteration: 1, Set: set, Changed: true}, Previous: first, Baseline: first,
				Evidence: detector.Evidence{Before: tt.before, After: tt.after, TestFiles: tt.files},
			}, tt.o)
			if list := fired(got); !slices.Equal(list, tt.want) {
				t.Errorf("%v, want %v", list, tt.want)
			}
			if len(tt.want) > 0 && got.Recommendation.Action != detector.Rollback {
				t.Errorf("recommended is %+v", got.Recommendation)
			}
		})
	}
}

// TestAllowRemove: what the user lets go is no finding, by whatever rule.
func TestAllowRemove(t *testing.T) {
	lost := metric.Test{ID: metric.ID{Suite: "example.com/shop", Name: "TestOld"}, Status: metric.Failed}
	kept := metric.Test{ID: metric.ID{Suite: "example.com/shop", Name: "TestKept"}, Status: metric.Passed}
	for _, tt := range []struct {
		name    string
		allowed []string
		strict  bool
		want    []string
	}{
		{"nothing is allowed", nil, false, []string{"CRITICAL test_count_decreased"}},
		{"by name", []string{"TestOld"}, false, nil},
		{"by pattern", []string{"Test?ld"}, false, nil},
		{"by suite and name", []string{"example.com/shop: TestO*"}, false, nil},
		{"by file", []string{"shop/*_test.go"}, false, nil},
		{"another file", []string{"cart/**"}, false, []string{"CRITICAL test_count_decreased"}},
		{"strict counts raw", []string{"TestOld"}, true, []string{"CRITICAL test_count_decreased"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := detector.Options{AllowRemove: tt.allowed, Strict: tt.strict}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			first := detector.Observation{Set: metric.Set{Tests: metric.NewTests([]metric.Test{lost, kept})}}
			got := detector.Assess(detector.Input{
				Current:  detector.Observation{Iteration: 1, Set: metric.Set{Tests: metric.NewTests([]metric.Test{kept})}, Changed: true},
				Previous: first, Baseline: first, Evidence: detector.Evidence{Before: []detector.TestSource{defined("shop/old_test.go", "TestOld", "x")}},
			}, o)
			if !slices.Equal(fired(got), tt.want) {
				t.Errorf("%v, want %v", fired(got), tt.want)
			}
			if lost := got.Changes.Explained; len(tt.want) == 0 && (len(lost) != 1 || lost[0].Explanation != loss.Allowed) {
				t.Errorf("explained %+v", lost)
			}
		})
	}
}

// The patterns also apply where the tests cannot be read and only the text of the
// files shows the loss.
func TestAllowRemoveAppliesToTextFindings(t *testing.T) {
	in := goalCase{"TP-01", metric.Failed, 0, "", false, false}.input()
	if got := severityOf(in, detector.TamperPrefix, "shop/**"); got != 0 {
		t.Errorf("removed as allowed: %v", got)
	}
	in.Tampering[0].Pattern = "TP-11"
	if got := severityOf(in, detector.TamperPrefix, "shop/**"); got != detector.High {
		t.Errorf("weakened, which is not allowed: %v", got)
	}
}

func TestInvalidIntentIsRefused(t *testing.T) {
	for _, tt := range []struct {
		o    detector.Options
		want string
	}{
		{detector.Options{Tests: "locked"}, "tests: it is locked; give free, append, change or frozen"},
		{detector.Options{AllowRemove: []string{"a", "**"}}, `allow_remove: the pattern "**"`},
	} {
		if err := tt.o.Validate(); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
