package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"supervise/internal/ledger"
)

// TestCheck: changes that another process makes to the loop's files are noticed and, as far
// as possible, reversed.
func TestCheck(t *testing.T) {
	const log, state, settings = "hook-log.jsonl", "state.json", "settings.json"
	for _, tc := range []struct {
		name    string
		meddle  func(dir string) error
		changed []string
		damaged bool // the log has lost something for good
	}{
		{"nothing", func(string) error { return nil }, nil, false},
		{"state deleted", func(dir string) error { return os.Remove(filepath.Join(dir, state)) }, []string{state}, false},
		{"settings rewritten", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, settings), []byte("{}"), 0o600)
		}, []string{settings}, false},
		{"log deleted", func(dir string) error { return os.Remove(filepath.Join(dir, log)) }, []string{log}, false},
		{"log replaced", func(dir string) error {
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				return err
			}
			return os.Rename(other, filepath.Join(dir, log))
		}, []string{log}, false},
		{"log added to", func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, log), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("{}\n")
			return err
		}, []string{log}, false},
		{"log cut short", func(dir string) error { return os.Truncate(filepath.Join(dir, log), 10) }, []string{log}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := ledger.State{LoopID: "ralph-x-00000000", Workspace: t.TempDir(), Status: ledger.Running, StartedAt: noon}
			l, err := ledger.Create(t.TempDir(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if _, err := l.SaveSettings(map[string]int{"max_iterations": 3}); err != nil {
				t.Fatal(err)
			}
			if err := tc.meddle(l.Dir()); err != nil {
				t.Fatal(err)
			}
			changed, err := l.RepairChanged()
			if err != nil || !slices.Equal(changed, tc.changed) {
				t.Fatalf("changed are %v, %v; want %v", changed, err, tc.changed)
			}
			if err := l.Log(noon, "afterwards", 1, 0, nil); err != nil {
				t.Fatal(err)
			}
			if again, err := l.RepairChanged(); err != nil || len(again) > 0 {
				t.Errorf("after it was put back: %v, %v", again, err)
			}
			events, problems, err := ledger.Audit(l.Dir())
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) > 0 != tc.damaged || events[len(events)-1].Name != "afterwards" {
				t.Errorf("the log has the problems %v and ends with %+v", problems, events[len(events)-1])
			}
		})
	}
}

// TestCheckOfLongLogs: a log that is too long to be read whole at each check is still
// seen to be changed in place, whatever its length and its time say.
func TestCheckOfLongLogs(t *testing.T) {
	s := ledger.State{LoopID: "ralph-x-00000000", Workspace: t.TempDir(), Status: ledger.Running, StartedAt: noon}
	l, err := ledger.Create(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	add := func(n int) {
		t.Helper()
		if err := l.Log(noon, "test", 1, 0, strings.Repeat("x", n)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...string) {
		t.Helper()
		if changed, err := l.RepairChanged(); err != nil || !slices.Equal(changed, want) {
			t.Fatalf("got %q, %v; want %q", changed, err, want)
		}
	}
	add(2 << 20)
	check()
	add(10)
	check()
	path := filepath.Join(l.Dir(), "hook-log.jsonl")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for now := before; now.ModTime().Equal(before.ModTime()); { // until the clock of the file system advances
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte("y"), 1<<20)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if now, err = os.Stat(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	check("hook-log.jsonl")
}

// TestReturn: a folder above the loop's that was moved away comes back, and what was put
// in its place goes where it was.
func TestReturn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no other system says where an open file is")
	}
	top := t.TempDir()
	state, away := filepath.Join(top, "state"), filepath.Join(top, "away")
	l, err := ledger.Create(filepath.Join(state, "tree"), ledger.State{LoopID: "ralph-x-00000000", Workspace: t.TempDir(), Status: ledger.Running, StartedAt: noon})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(os.Rename(state, away), os.MkdirAll(filepath.Join(state, "tree", "other"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := l.MoveBack(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(away, "tree", "other")); err != nil {
		t.Errorf("what was in its place: %v", err)
	}
	if changed, err := l.RepairChanged(); err != nil || len(changed) != 1 || changed[0] != state+" (it was moved to "+away+")" {
		t.Errorf("Check gives %q, %v", changed, err)
	}
	if changed, err := l.RepairChanged(); err != nil || len(changed) > 0 {
		t.Errorf("Check gives %q, %v the second time", changed, err)
	}
}
