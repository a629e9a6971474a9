package unstablenames_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/internal/unstablenames"
	"supervise/metric"
)

func tests(names ...string) *metric.Tests {
	var cases []metric.Test
	for _, name := range names {
		cases = append(cases, metric.Test{ID: metric.ID{Suite: "a.py", Name: name}, Status: metric.Passed})
	}
	return metric.NewTests(cases)
}

func names(t *metric.Tests) map[string]bool {
	out := map[string]bool{}
	for _, c := range t.Cases {
		out[c.Name] = c.UnstableName
	}
	return out
}

func TestShape(t *testing.T) {
	for name, want := range map[string]string{
		"test_a[2026-11-25T20:10:11.123456+00:00]":                                  "test_a[*]",
		"test_a[2026-11-25 20:10:11]":                                               "test_a[*]",
		"test_a[datetime.datetime(2026, 11, 25, 20, 10)]":                           "test_a[*]",
		"is open at Wed Nov 25 2026 20:10:11 GMT+0000 (Coordinated Universal Time)": "is open at *",
		"user 123e4567-e89b-12d3-a456-426614174000 logs in":                         "user * logs in",
		"test_a[<object at 0x7f3a2c4d5e60>]":                                        "test_a[<object at *>]",
		"reads /tmp/pytest-of-root/pytest-3/x.txt":                                  "reads *",
		`reads C:\Users\a\AppData\Local\Temp\x.txt`:                                 "reads *",
		"test_a[1764100000.25]":                                                     "test_a[*]",
		"test_a[1764100000123]":                                                     "test_a[*]",
		"test_a[0.8371923847561]":                                                   "test_a[*]",
		"Expected time (182.44579199999998ms) to be less than 500ms":                "Expected time (*) to be less than 500ms",
		"took 44.0415 ms":                                                           "took *",
		"took 0.8371923847561s":                                                     "took *",
		"test_a[d41d8cd98f00b204e9800998ecf8427e]":                                  "test_a[*]",

		"adds 1 and 2":         "",
		"test_a[1.5-3]":        "",
		"GET /users/42 is 200": "",
		"0x10 is 16":           "",
		"waits 100ms":          "",
		"waits 1.5s":           "",
	} {
		got, changes := unstablenames.ShapeOf(name)
		if changes != (want != "") || changes && got != want {
			t.Errorf("%s: shape %q, %v; want %q", name, got, changes, want)
		}
	}
}

// A test whose name changes keeps the one it had; a name with a date that stays is not
// touched, and what is really gone or new stays so.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name       string
		known, now *metric.Tests
		want       map[string]bool
	}{
		{"a time", tests("t[2026-01-01T10:00:00]", "u"), tests("t[2026-01-01T10:00:07]", "u"), map[string]bool{"t[2026-01-01T10:00:00]": true, "u": false}},
		{"dates that stay", tests("t[2020-01-01]", "t[2021-01-01]"), tests("t[2020-01-01]", "t[2021-01-01]"), map[string]bool{"t[2020-01-01]": false, "t[2021-01-01]": false}},
		{"one of two is gone", tests("t[2020-01-01]", "t[2021-01-01]"), tests("t[2020-01-01]"), map[string]bool{"t[2020-01-01]": false}},
		{"one is gone, of two that change", tests("t[2020-01-01]", "t[2021-01-01]"), tests("t[2022-01-01]"), map[string]bool{"t[2020-01-01]": true}},
		{"one is new", tests("t[2020-01-01]"), tests("t[2021-01-01]", "t[2022-01-01]"), map[string]bool{"t[2020-01-01]": true, "t[2022-01-01]": false}},
		{"another test", tests("t[2020-01-01]"), tests("u[2021-01-01]"), map[string]bool{"u[2021-01-01]": false}},
		{"other parameters", tests("t[a]"), tests("t[b]"), map[string]bool{"t[b]": false}},
		{"nothing known", nil, tests("t[2021-01-01]"), map[string]bool{"t[2021-01-01]": false}},
	} {
		if diff := cmp.Diff(tt.want, names(unstablenames.MatchNames(tt.now, tt.known))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What two runs of one tree do not agree on changes, whatever it looks like.
func TestLearn(t *testing.T) {
	first := unstablenames.MarkUnstable(tests("t[quick fox]", "s[1]", "s[2]", "seed 17 works", "gone"), tests("t[lazy dog]", "s[1]", "s[2]", "seed 4711 works", "new"))
	want := map[string]bool{"t[quick fox]": true, "s[1]": false, "s[2]": false, "seed 17 works": true, "gone": false}
	if diff := cmp.Diff(want, names(first)); diff != "" {
		t.Fatalf("learned (-want +got):\n%s", diff)
	}
	later := unstablenames.MatchNames(tests("t[old hen]", "s[1]", "s[3]", "seed 9 works", "gone"), first)
	want = map[string]bool{"t[quick fox]": true, "s[1]": false, "s[3]": false, "seed 17 works": true, "gone": false}
	if diff := cmp.Diff(want, names(later)); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	again := unstablenames.MatchNames(tests("t[red cat]", "s[1]", "s[3]", "seed 17 works", "gone"), later)
	if got := slices.Sorted(maps.Keys(names(again))); !names(again)["seed 17 works"] {
		t.Errorf("what is known to change is forgotten where the name is the same: %v", got)
	}
}
