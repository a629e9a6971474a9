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
// in turns, on published projects, and reports medians in seconds, and the median of the
// ratios of each round. One agent takes no time, so that only checks count; the other waits
// as long for its service as real ones do for the shortest of changes.
func BenchmarkCandidates(b *testing.B) {
	for _, p := range realProjects {
		b.Run(p.name, func(b *testing.B) {
			w := p.open(b)
			w.env = append(w.env, "XDG_CACHE_HOME="+filepath.Join(w.dir, "cache"))
			for _, agent := range []struct {
				name  string
				waits int // seconds
			}{{"agent-0s", 0}, {"agent-10s", 10}} {
				b.Run(agent.name, func(b *testing.B) {
					var one, four, ratios []float64
					for b.Loop() {
						for range candidateRounds {
							alone, all := w.loop(b, agent.waits), w.loop(b, agent.waits, "--candidates", "4")
							one, four, ratios = append(one, alone), append(four, all), append(ratios, all/alone)
						}
					}
					b.ReportMetric(middle(one), "one-s")
					b.ReportMetric(middle(four), "four-s")
					b.ReportMetric(middle(ratios), "x-one")
					b.ReportMetric(0, "ns/op")
				})
			}
		})
	}
}

// loop is how long a loop takes whose agent edits the code, each time in another way, in
// seconds.
func (w *project) loop(b *testing.B, waits int, flags ...string) float64 {
	b.Helper()
	w.must(b, "git", "checkout", "-q", "--force", "sound")
	w.round++
	edit := fmt.Sprintf("sleep %d; echo '%sround %d of '$SUPERVISE_CANDIDATE >>%s", waits, w.comment, w.round, w.code)
	argv := append([]string{w.binary, "run", "--unattended", "--until", "never", "--max-iterations", "1"}, flags...)
	cmd := w.command(append(argv, "--", "sh", "-c", edit)...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != 0 {
		b.Fatalf("%v\n%s", err, out)
	}
	return time.Since(began).Seconds()
}
