package bench

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// candidateRounds is how often each is run, in turns.
const candidateRounds = 3

// BenchmarkCandidates runs one loop of one iteration, and four candidates of one iteration,
// in turns, on published projects, with an agent that takes no time: with one that works
// for minutes, the four are nearer to one. It reports medians in seconds, and the median of
// the ratios of each round.
func BenchmarkCandidates(b *testing.B) {
	for _, p := range realProjects {
		b.Run(p.name, func(b *testing.B) {
			w := p.open(b)
			w.env = append(w.env, "XDG_CACHE_HOME="+filepath.Join(w.dir, "cache"))
			w.must(b, "git", "checkout", "-q", "--force", "sound")
			var one, four, ratios []float64
			for b.Loop() {
				for range candidateRounds {
					alone, all := w.loop(b), w.loop(b, "--candidates", "4")
					one, four, ratios = append(one, alone), append(four, all), append(ratios, all/alone)
				}
			}
			b.ReportMetric(middle(one), "one-s")
			b.ReportMetric(middle(four), "four-s")
			b.ReportMetric(middle(ratios), "x-one")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// loop is how long a loop takes whose agent edits the code, each time in another way, in
// seconds.
func (w *project) loop(b *testing.B, flags ...string) float64 {
	b.Helper()
	w.must(b, "git", "checkout", "-q", "--force", "sound")
	w.round++
	edit := fmt.Sprintf("echo '%sround %d of '$SUPERVISE_CANDIDATE >>%s", w.comment, w.round, w.code)
	argv := append([]string{w.binary, "run", "--unattended", "--until", "never", "--max-iterations", "1"}, flags...)
	cmd := w.command(append(argv, "--", "sh", "-c", edit)...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != 0 {
		b.Fatalf("%v\n%s", err, out)
	}
	return time.Since(began).Seconds()
}
