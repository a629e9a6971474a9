package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"supervise/metric"
)

// BenchmarkEvent appends an event to the log, chained and synced, next to a plain
// append of as many bytes with a sync and without one.
func BenchmarkEvent(b *testing.B) {
	data := map[string]string{"text": string(make([]byte, 600))}
	b.Run("log", func(b *testing.B) {
		l, err := openLog(filepath.Join(b.TempDir(), logName), func(Event) {})
		if err != nil {
			b.Fatal(err)
		}
		led := &Ledger{log: l}
		for b.Loop() {
			if err := led.Log(time.Unix(0, 0), "x", 1, 0, data); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, sync := range []bool{true, false} {
		name := "plain"
		if sync {
			name = "plain-synced"
		}
		b.Run(name, func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			line := make([]byte, 4096)
			for b.Loop() {
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				if sync {
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkSave writes the state of a loop with 100 iterations atomically (temporary
// file, synced, renamed, folder synced), next to os.WriteFile, which a crash can
// tear.
func BenchmarkSave(b *testing.B) {
	s := State{LoopID: "ralph-x-00000000", Status: Running, BaselineMetrics: &metric.Record{}}
	for n := range 100 {
		s.History = append(s.History, HistoryEntry{Iteration: n, Snapshot: "1"})
	}
	path := filepath.Join(b.TempDir(), stateName)
	b.Run("state", func(b *testing.B) {
		for b.Loop() {
			if err := WriteJSON(path, s); err != nil {
				b.Fatal(err)
			}
		}
	})
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("os.WriteFile", func(b *testing.B) {
		for b.Loop() {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	})
}
