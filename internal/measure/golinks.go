package measure

import (
	"context"
	"os"
	"time"

	"supervise/internal/measure/internal/golink"
	"supervise/metric"
)

// linkedBuild is the last build of Go programs, with the digest of what it linked.
type linkedBuild struct {
	digest string
	run    Run
}

// reuseLinkedBuild asks the go command what a build will link. If the last build linked the
// same, it sets the result of that build and returns true.
func (m *measurement) reuseLinkedBuild(ctx context.Context, a *attempt) bool {
	question, ok := golink.ListCommand(a.Check.Command)
	if !ok || m.links == nil {
		return false
	}
	began := time.Now()
	if err := m.commandRunner().Query(ctx, a.Check, question, func(answer *os.File) error {
		a.linkDigest = golink.Digest(answer)
		return nil
	}); err != nil || a.linkDigest == "" {
		return false // the build reports the reason
	}
	last, ok := m.links.Load(a.Check.ID())
	l, _ := last.(linkedBuild)
	if !ok || l.digest != a.linkDigest {
		return false
	}
	a.linkDigest, a.Run = "", l.run
	a.Run.Leftovers = nil
	a.Run.Started, a.Run.Duration, a.Run.Sources = began, time.Since(began), []Source{{Path: "the last build of these packages", Format: "the same"}}
	return true
}

// rememberLinkedBuild stores the result of a build.
func (m *measurement) rememberLinkedBuild(a *attempt, r Run) {
	if a.linkDigest != "" && r.State == metric.Measured {
		m.links.Store(r.Check.ID(), linkedBuild{a.linkDigest, r})
	}
}
