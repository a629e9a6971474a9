package treecopy

import (
	"supervise/internal/ledger"
	"supervise/internal/measure"
)

// CheckRuns converts the runs of checks to the form in which the ledger stores them. The
// output of a run is kept only if it failed.
func CheckRuns(list []measure.Run) []ledger.CheckRun {
	out := make([]ledger.CheckRun, 0, len(list))
	for _, r := range list {
		c := ledger.CheckRun{
			Name: r.Check.Name, Command: r.Check.CommandLine(), ExitCode: r.ExitCode, Duration: r.Duration,
			Problems: r.Problems, Why: r.Why, Read: []string{}, Leftovers: r.Leftovers, Cached: r.Cached,
		}
		for _, src := range r.Sources {
			c.Read = append(c.Read, src.Format+" from "+src.Path)
		}
		if r.ExitCode != 0 {
			c.Output = r.Output
		}
		out = append(out, c)
	}
	return out
}
