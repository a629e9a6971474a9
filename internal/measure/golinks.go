package measure

import (
	"context"
	"os"
	"time"

	"supervise/internal/measure/internal/golink"
	"supervise/metric"
)

// linked is a build of Go programs in an iteration, and the digest of what it linked.
type linked struct {
	of  string
	run Run
}

// reuseLink asks the go command what a build is going to link. If the last build linked
// the same, it reports true, and the attempt has the result of that build.
func (m *measurement) reuseLink(ctx context.Context, a *attempt) bool {
	question, ok := golink.ListCommand(a.Check.Command)
	if !ok || m.links == nil {
		return false
	}
	began := time.Now()
	if err := m.commands().Query(ctx, a.Check, question, func(answer *os.File) error {
		a.linked = golink.Digest(answer)
		return nil
	}); err != nil || a.linked == "" {
		return false // the build reports the reason
	}
	last, ok := m.links.Load(a.Check.ID())
	l, _ := last.(linked)
	if !ok || l.of != a.linked {
		return false
	}
	a.linked, a.Run = "", l.run
	a.Run.Leftovers = nil
	a.Run.Started, a.Run.Duration, a.Run.Sources = began, time.Since(began), []Source{{Path: "the last build of these packages", Format: "the same"}}
	return true
}

// rememberLink remembers the result of a build.
func (m *measurement) rememberLink(a *attempt, r Run) {
	if a.linked != "" && r.State == metric.Measured {
		m.links.Store(r.Check.ID(), linked{a.linked, r})
	}
}
