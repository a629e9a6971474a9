//go:build unix

package git

import (
	"os/exec"
	"testing"
)

// BenchmarkReady looks through 100,000 files before a git command, once a program has run
// and when none has. The alternative is git status in the same tree.
func BenchmarkReady(b *testing.B) {
	dir := b.TempDir()
	cmd := exec.Command("sh", "-c", `git init -q .; for d in $(seq 200); do mkdir d$d; (cd d$d; seq 500 | split -l 1 -a 3 -); done; git add .`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	ready := func(b *testing.B, before func()) {
		for b.Loop() {
			before()
			if err := CheckFiles(dir, "status"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("after a program", func(b *testing.B) { ready(b, InvalidateChecks) })
	b.Run("remembered", func(b *testing.B) { ready(b, func() {}) })
	b.Run("git status", func(b *testing.B) {
		for b.Loop() {
			status := exec.Command("git", "--no-optional-locks", "status", "--porcelain")
			status.Dir = dir
			if err := status.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
