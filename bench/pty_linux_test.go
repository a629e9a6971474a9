package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"supervise/runner"
)

// ptyRounds is how often each of the two is run, in turns: the machine is not
// ours alone.
const ptyRounds = 7

// BenchmarkPty prints files on a pseudo-terminal: runner.Run with transcript,
// tail and mask, and script(1), which keeps a typescript. It reports the
// medians in MB/s, and the median of the ratios of each round.
func BenchmarkPty(b *testing.B) {
	script, err := exec.LookPath("script")
	if err != nil {
		b.Skip("needs script(1), of util-linux")
	}
	for _, bc := range []struct {
		name string
		unit string
	}{
		{"lines", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS\n"},
		{"no-newlines", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			dir := b.TempDir()
			file := filepath.Join(dir, "output")
			size := 96 << 20 // so that starting counts for nothing
			if err := os.WriteFile(file, bytes.Repeat([]byte(bc.unit), size/len(bc.unit)), 0o600); err != nil {
				b.Fatal(err)
			}
			var ours, theirs, ratios []float64
			for b.Loop() {
				for range ptyRounds {
					them := speed(b, size, func() error {
						return exec.Command(script, "-qfc", "cat "+file, filepath.Join(dir, "typescript")).Run()
					})
					us := speed(b, size, func() error { return recorded(file, filepath.Join(dir, "transcript.cast")) })
					ours, theirs, ratios = append(ours, us), append(theirs, them), append(ratios, us/them)
				}
			}
			b.ReportMetric(middle(ours), "ours-MB/s")
			b.ReportMetric(middle(theirs), "script-MB/s")
			b.ReportMetric(middle(ratios), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func speed(b *testing.B, size int, run func() error) float64 {
	b.Helper()
	started := time.Now()
	if err := run(); err != nil {
		b.Fatal(err)
	}
	return float64(size) / 1e6 / time.Since(started).Seconds()
}

// recorded prints a file as an agent would, with all that sees its output.
func recorded(file, transcript string) error {
	t, err := runner.CreateTranscript(transcript, 0)
	if err != nil {
		return err
	}
	cast, tail := runner.NewCast(t, 0, 0), runner.NewTail(0)
	mask := runner.NewMasker([]runner.Secret{{Name: "TOKEN", Value: "tk-0123456789abcdef"}, {Name: "KEY", Value: "sk-0123456789abcdef"}})
	masked := mask.Writer(io.MultiWriter(cast, tail))
	res, err := runner.Run(context.Background(), runner.Command{Args: []string{"/bin/cat", file}, Terminal: &runner.Terminal{}, Stdout: masked})
	for _, c := range []io.Closer{masked, cast, t} {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("cat: %+v", res)
	}
	return err
}
