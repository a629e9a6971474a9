package main

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/metric"
)

// gaps tells what of an iteration was not measured, and why.
func (p *printer) gaps(it ledger.Iteration) {
	if text := report.Hidden(it.Hidden); text != "" {
		p.note("hidden tests: %s", text)
	}
	for _, g := range it.Set.Gaps {
		p.line("     %s", p.paint(report.Warn, fmt.Sprintf("%s not measured: %s", g.Section, telling(g.Why))))
	}
	broken := brokenSuites(it.Set)
	for i, s := range broken {
		if i == 3 {
			p.note("and %d more did not run", len(broken)-i)
			break
		}
		p.line("     %s", p.paint(report.Warn, s.Name+" did not run: "+s.Brief()))
	}
	for _, c := range it.Checks {
		for _, problem := range c.Problems {
			if len(broken) == 0 { // else it most likely follows from that
				p.note("%s: %s", c.Name, problem)
			}
		}
	}
}

func brokenSuites(s metric.Set) []metric.Suite {
	if s.Tests == nil {
		return nil
	}
	return s.Tests.Broken
}

// telling is the line of a text that says most.
func telling(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	return metric.Suite{Why: text}.Brief()
}

// grave tells what the HIGH and CRITICAL findings of an iteration say that stands; of one
// that is rejected they are its reasons.
func (p *printer) grave(it ledger.Iteration) {
	if it.Rejected {
		return
	}
	for _, a := range it.Assessment.Alerts {
		if text := a.Message(); a.Severity >= detector.High && !said(it, text) {
			p.warn(text)
		}
	}
}

// said reports whether a message repeats why something was not measured.
func said(it ledger.Iteration, message string) bool {
	return slices.ContainsFunc(it.Set.Gaps, func(g metric.Gap) bool { return g.Why != "" && strings.HasSuffix(message, g.Why) })
}
