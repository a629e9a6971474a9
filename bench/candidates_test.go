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

// BenchmarkCandidates runs, in turns, on published projects, a plain loop of one iteration,
// one candidate of one iteration and four of them, and reports medians in seconds, and the
// medians of the ratios of each round: four candidates to one, and to the plain loop, whose
// tree is the one that compilers know. One agent takes no time, so that only checks count;
// the other waits as long for its service as real ones do for the shortest of changes.
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
					var plain, one, four, toOne, toPlain []float64
					for b.Loop() {
						for range candidateRounds {
							alone, single, all := w.loop(b, agent.waits), w.loop(b, agent.waits, "--candidates", "1"), w.loop(b, agent.waits, "--candidates", "4")
							plain, one, four = append(plain, alone), append(one, single), append(four, all)
							toOne, toPlain = append(toOne, all/single), append(toPlain, all/alone)
						}
					}
					b.ReportMetric(middle(plain), "loop-s")
					b.ReportMetric(middle(one), "one-s")
					b.ReportMetric(middle(four), "four-s")
					b.ReportMetric(middle(toOne), "x-one")
					b.ReportMetric(middle(toPlain), "x-loop")
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
