package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// thousands makes n small files, twelve a folder.
func thousands(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "work")
	for i := range n {
		p := filepath.Join(dir, fmt.Sprintf("d%d/e%d", i/144, i/12%12), fmt.Sprintf("f%d.go", i))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.Repeat(fmt.Sprintf("line %d\n", i), 300)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkTake(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		dir := thousands(b, n)
		b.Run(fmt.Sprintf("cold/%d", n), func(b *testing.B) {
			for b.Loop() {
				s, err := Open(context.Background(), dir, filepath.Join(b.TempDir(), "store"), Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Take(context.Background(), ""); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		s, err := Open(context.Background(), dir, filepath.Join(b.TempDir(), "store"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		first, err := s.Take(context.Background(), "")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("warm/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Take(context.Background(), ""); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("changes/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.ChangesSince(context.Background(), first.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("restore10/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				for k := range 10 {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d0/e0/f%d.go", k)), fmt.Appendf(nil, "round %d", i), 0o600); err != nil {
						b.Fatal(err)
					}
				}
				if r, err := s.Restore(context.Background(), first.ID); err != nil || len(r.Written) != 10 {
					b.Fatal(err, len(r.Written))
				}
			}
		})
	}
}
