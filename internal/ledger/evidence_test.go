package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/source"
)

func TestEvidenceComesBackWhole(t *testing.T) {
	file, err := source.Scan("a_test.go", []byte(`package a

import "testing"

func TestA(t *testing.T) {
	t.Run("b c", func(t *testing.T) {
		if A("<x>") != 1 {
			t.Error("no")
		}
	})
}

func BenchmarkA(b *testing.B) {}

func FuzzA(f *testing.F) { f.Skip("later") }

func ExampleA() {}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Evidence{
		JudgedAt: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Evidence: detector.Evidence{Renamed: map[string]string{"a.go": "b.go"}, Removed: []string{"a.go"}, GoneSymbols: []string{"A"}, GitLost: []string{"branch topic"}, WorkLost: []detector.LostWork{{Path: "notes.md", How: "deleted", Ignored: true}}, Flaky: []metric.ID{{Suite: "a", Name: "TestA/b_c"}}},
	}
	for _, def := range file.Tests {
		want.After = append(want.After, detector.TestSource{File: "a_test.go", Def: def})
	}
	home := t.TempDir()
	l, err := ledger.Create(home, ledger.State{LoopID: "ralph-x-00000000", Workspace: t.TempDir(), StartedAt: want.JudgedAt})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Append(ledger.Iteration{Number: 1, Evidence: &want}, nil, false); err != nil {
		t.Fatal(err)
	}
	got, err := ledger.ReadEvidence(l.Dir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := ledger.ReadEvidence(l.Dir(), 2); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("evidence of no iteration: %v", err)
	}
	if err := os.WriteFile(filepath.Join(l.Dir(), "iterations", "iteration-001", "evidence.json.gz"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.ReadEvidence(l.Dir(), 1); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("damaged evidence: %v", err)
	}
}
