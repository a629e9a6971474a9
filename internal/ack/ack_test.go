package ack_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/metric"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)

func alert(tests ...string) detector.Alert {
	a := detector.Alert{Rule: "test_count_decreased", Severity: detector.Critical, Action: detector.AlertAndRollback}
	for _, name := range tests {
		a.Tests = append(a.Tests, metric.ID{Suite: "m", Name: name})
	}
	return a
}

func entry(t *testing.T, a detector.Alert) ack.Entry {
	t.Helper()
	e, err := ack.NewEntry(a, "", "they moved", "", now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExpiry(t *testing.T) {
	for text, want := range map[string]string{
		"90d": "2026-05-30", "2w": "2026-03-15", "never": "never", "2027-01-01": "2027-01-01",
		"": "", "0d": "", "-3d": "", "90": "", "d": "", "2h": "", "2026-02-30": "", "99999999d": "",
	} {
		got, err := ack.ParseExpiry(text, now)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestExpired(t *testing.T) {
	for _, c := range []struct {
		entry ack.Entry
		want  bool
	}{
		{ack.Entry{Expires: "2026-03-01"}, false}, // its last day
		{ack.Entry{Expires: "2026-02-28"}, true},
		{ack.Entry{Expires: "never"}, false},
		{ack.Entry{Date: "2025-12-02"}, false}, // 90 days
		{ack.Entry{Date: "2025-11-29"}, true},
	} {
		if got := c.entry.Expired(now); got != c.want {
			t.Errorf("%+v: expired %t, want %t", c.entry, got, c.want)
		}
	}
}

// The entry of a finding covers exactly its tests, also in the detector, and no other.
func TestEntryCoversItsFinding(t *testing.T) {
	e := entry(t, alert("Test[a*]", `Test?\d`))
	before := []string{"Test[a*]", `Test?\d`, "Test[ab]", "TestX", `TestX\d`}
	for _, c := range []struct {
		name string
		gone []string
		kept []string // of the remaining alert
	}{
		{"the very tests", before[:2], nil},
		{"one of them", before[:1], nil},
		{"one that looks like it", before[1:3], before[2:3]},
		{"another", before[4:], before[4:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all, rest []metric.Test
			for _, name := range before {
				test := metric.Test{ID: metric.ID{Suite: "m", Name: name}, Status: metric.Failed}
				all = append(all, test)
				if !contains(c.gone, name) {
					rest = append(rest, test)
				}
			}
			was := detector.Observation{Set: metric.Set{Tests: metric.NewTests(all)}}
			a := detector.Assess(detector.Input{
				Current:  detector.Observation{Iteration: 1, Set: metric.Set{Tests: metric.NewTests(rest)}},
				Previous: was, Baseline: was, Now: now,
			}, detector.Options{Acknowledged: ack.Acknowledgements([]ack.Entry{e}, now)})
			var kept []string
			for _, alert := range a.Alerts {
				for _, id := range alert.Tests {
					if alert.Acknowledged == nil {
						kept = append(kept, id.Name)
					}
				}
			}
			if diff := cmp.Diff(c.kept, kept); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An accepted loss of coverage covers no greater loss.
func TestEntryCoversNoGreaterLoss(t *testing.T) {
	was := covered(90)
	lost := assess(t, was, covered(80), nil)
	e, err := ack.NewEntry(lost, "", "moved", "", now)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := ack.Add("", e)
	if err != nil {
		t.Fatal(err)
	}
	list, err := ack.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for coverage, want := range map[int64]bool{80: true, 85: true, 79: false, 10: false} {
		if got := assess(t, was, covered(coverage), list).Acknowledged != nil; got != want {
			t.Errorf("coverage from 90 to %d after one to 80 was accepted: acknowledged %t, want %t", coverage, got, want)
		}
	}
	if e, err = ack.NewEntry(lost, "m.go", "moved", "", now); err != nil || assess(t, was, covered(10), []ack.Entry{e}).Acknowledged == nil {
		t.Errorf("a path does not cover all that lies there: %v", err)
	}
}

func covered(percent int64) metric.Set {
	files := []metric.FileCoverage{{Path: "m.go", Covered: percent, Total: 100}}
	return metric.Set{Coverage: &metric.Coverage{Covered: percent, Total: 100, Unit: metric.Lines, Format: "x", Files: files}}
}

func assess(t *testing.T, was, is metric.Set, list []ack.Entry) detector.Alert {
	t.Helper()
	before := detector.Observation{Set: was}
	a := detector.Assess(detector.Input{
		Current: detector.Observation{Iteration: 1, Set: is}, Previous: before, Baseline: before, Now: now,
	}, detector.Options{Acknowledged: ack.Acknowledgements(list, now)})
	if len(a.Alerts) != 1 {
		t.Fatalf("alerts %v, want one", a.Alerts)
	}
	return a.Alerts[0]
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestAddAndRemove(t *testing.T) {
	one, two := entry(t, alert("TestA")), entry(t, alert("TestB"))
	text, replaced, err := ack.Add("", one)
	if err != nil || replaced {
		t.Fatal(replaced, err)
	}
	text = strings.Replace(text, "acknowledged:\n", "acknowledged:\n  # why A\n", 1) + "\n  # why B\n"
	if text, replaced, err = ack.Add(text, two); err != nil || replaced {
		t.Fatal(replaced, err)
	}
	again := one
	again.Reason = "they moved: \"on\" and # off"
	if text, replaced, err = ack.Add(text, again); err != nil || !replaced {
		t.Fatal(replaced, err)
	}
	got, err := ack.Parse(text)
	if diff := cmp.Diff([]ack.Entry{two, again}, got); err != nil || diff != "" {
		t.Fatalf("%v %s in\n%s", err, diff, text)
	}
	for _, comment := range []string{"# why A", "# why B", "# Findings of supervise"} {
		if !strings.Contains(text, comment) {
			t.Errorf("%q is lost in\n%s", comment, text)
		}
	}
	for _, e := range got {
		if text, replaced, err = ack.Remove(text, e.ID()[:6]); err != nil || !replaced {
			t.Fatal(replaced, err)
		}
	}
	if got, err = ack.Parse(text); err != nil || len(got) != 0 {
		t.Errorf("%v, %v are left in\n%s", got, err, text)
	}
	if text, _, err = ack.Add(text, one); err != nil || !strings.Contains(text, "TestA") {
		t.Errorf("%v in\n%s", err, text)
	}
}

func TestFlowStyleIsKept(t *testing.T) {
	text := `acknowledged: [{rule: flaky_test, reason: known, expires: never}]` + "\n"
	list, err := ack.Parse(text)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if _, _, err := ack.Add(text, entry(t, alert("TestA"))); !errors.Is(err, ack.ErrInvalid) {
		t.Errorf("error %v, want one that says to edit it manually", err)
	}
	if _, _, err := ack.Remove(text, list[0].ID()); !errors.Is(err, ack.ErrInvalid) {
		t.Errorf("error %v, want one that says to edit it manually", err)
	}
}

func TestParseErrors(t *testing.T) {
	good := "acknowledged:\n  - rule: flaky_test\n    reason: known\n    expires: never\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", good + "    because: x\n", `[5:5]`},
		{"no reason", good + "  - rule: build_broken\n    expires: never\n", "line 5: "},
		{"unknown rule", good + "  - rule: no_such\n    reason: x\n    expires: never\n", "line 5: "},
		{"no expiry", good + "\n  # two\n  - rule: build_broken\n    reason: x\n", "line 7: "},
		{"bad expiry", "acknowledged:\n  - rule: build_broken\n    reason: x\n    expires: soon\n", `"soon"`},
		{"a date that is none", "acknowledged:\n  - rule: build_broken\n    reason: x\n    date: May\n", `"May"`},
		{"neither rule nor finding", "acknowledged:\n  - reason: x\n    expires: never\n", "line 2: "},
		{"a path alone", "acknowledged:\n  - finding: 0a0a0a0a\n    path: x\n    reason: x\n    expires: never\n", "rule"},
		{"twice", good + good[len("acknowledged:\n"):], "line 5: "},
		{"no YAML", "acknowledged: [", "[1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ack.Parse(c.text)
			if !errors.Is(err, ack.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	for _, text := range []string{"", "# nothing\n", "acknowledged:\n", "acknowledged: []\n"} {
		if list, err := ack.Parse(text); err != nil || len(list) != 0 {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("acknowledged:\n  - rule: flaky_test\n    reason: known\n    expires: never\n")
	f.Add("acknowledged: [{finding: a, reason: b, expires: 2026-01-01}]")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ack.Parse(text)
		if err != nil {
			return
		}
		e := ack.Entry{Finding: "00000000", Rule: "flaky_test", Reason: "x", Expires: "never"}
		out, replaced, err := ack.Add(text, e)
		if err != nil {
			return
		}
		after, err := ack.Parse(out)
		want := len(list) + 1
		if replaced {
			want--
		}
		if err != nil || len(after) != want {
			t.Errorf("%d entries of %d after one was added: %v\n%s", len(after), len(list), err, out)
		}
	})
}
