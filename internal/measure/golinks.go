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

// linked asks what a build is going to link. Where it did that before, it reports true, and
// the attempt has the result of that time.
func (m *Meter) reuseLink(ctx context.Context, a *attempt) bool {
	question, ok := golink.Question(a.check.Command)
	if !ok || m.links == nil {
		return false
	}
	began := time.Now()
	if err := m.ask(ctx, a.check, question, func(answer *os.File) error {
		a.of = golink.Digest(answer)
		return nil
	}); err != nil || a.of == "" {
		return false // the build says why
	}
	last, ok := m.links.Load(a.check.ID())
	l, _ := last.(linked)
	if !ok || l.of != a.of {
		return false
	}
	a.of, a.run = "", l.run
	a.run.Leftovers = nil
	a.run.Started, a.run.Duration, a.run.Read = began, time.Since(began), []Source{{Path: "the last build of these packages", Format: "the same"}}
	return true
}

// link remembers how a build ended.
func (m *Meter) rememberLink(a *attempt, r Run) {
	if a.of != "" && r.State == metric.Measured {
		m.links.Store(r.Check.ID(), linked{a.of, r})
	}
}
