package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/selector"
	"supervise/snapshot"
)

// openFindings lists what stands open against the tree of an iteration that is
// accepted: its own findings about integrity, and those of the iterations it
// builds on, as long as what they found is still there.
//
// It is here that an iteration asks a person, where somebody can be asked: a
// finding that stands open undoes nothing, but nothing is done with it either.
func (s *session) openFindings(ctx context.Context, it ledger.Iteration) ([]ledger.OpenFinding, error) {
	out := raised(it)
	for _, o := range s.history[s.previous.Iteration].Open {
		if slices.ContainsFunc(out, func(x ledger.OpenFinding) bool { return x.ID == o.ID }) {
			continue
		}
		there, err := s.stillThere(ctx, o, it.Snapshot)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, o)
		}
	}
	return out, nil
}

// raised lists the findings about integrity of an iteration that weigh and that
// nobody acknowledged. What hidden tests say is left out, which is asked anew of
// each tree, and so is what linters are told to pass over: that costs errors.
func raised(it ledger.Iteration) []ledger.OpenFinding {
	var out []ledger.OpenFinding
	for _, a := range it.Assessment.Alerts {
		if a.Severity >= detector.High && strings.HasPrefix(a.Rule, detector.TamperPrefix) && a.Rule != detector.HiddenTestFailing && !integrity.OfPattern(a.Type, "TP-28", "TP-33") {
			out = append(out, ledger.OpenFinding{
				ID: a.ID(), Rule: a.Rule, Severity: a.Severity, Iteration: it.Number, Message: a.Message(), Files: a.Files,
			})
		}
	}
	return out
}

// stillThere reports whether a tree still has what an earlier iteration was
// accused of. It has not when all files concerned are as they were before that
// iteration, or when the same change, read as a whole, shows it no more. What is
// no part of the tree stays open, and so does what cannot be compared any more.
func (s *session) stillThere(ctx context.Context, o ledger.OpenFinding, now snapshot.ID) (bool, error) {
	by := s.history[o.Iteration]
	ofTree := slices.ContainsFunc(by.Changed, func(c ledger.FileChange) bool { return slices.Contains(o.Files, c.Path) })
	if !ofTree || s.dropped[by.Start] {
		return true, nil
	}
	changes, err := s.store.Changes(ctx, by.Start, now)
	if err != nil {
		return false, fmt.Errorf("compare with what iteration %d started from: %w", o.Iteration, err)
	}
	if !slices.ContainsFunc(changes, func(c snapshot.Change) bool { return slices.Contains(o.Files, c.Path) }) {
		return false, nil
	}
	e, err := evidence.Between(ctx, s.store, by.Start, now, changes, s.opts.Integrity)
	if err != nil {
		return false, err
	}
	same := func(t detector.Tampering) bool {
		return detector.TamperPrefix+t.Type == o.Rule && slices.Contains(o.Files, t.File)
	}
	kind := strings.TrimPrefix(o.Rule, detector.TamperPrefix)
	textual := len(integrity.Unknown([]string{kind})) == 0 // else nobody can say that it is gone
	return !textual || slices.ContainsFunc(e.Tampering, func(t detector.Tampering) bool { return same(t) && t.ExplainedBy == "" }), nil
}

// excuseReturns explains the findings about what runs and judges the tests whose
// file is again as it was before the loop: to take something back brings nothing
// new, whatever it looks like.
func (s *session) excuseReturns(ctx context.Context, list []detector.Tampering, it ledger.Iteration) error {
	if it.Start == "" || it.Number < 2 || !slices.ContainsFunc(list, ofHarness) {
		return nil
	}
	changes, err := s.store.Changes(ctx, s.state.BaselineSnapshot, it.Snapshot)
	if err != nil {
		return fmt.Errorf("compare iteration %d with the baseline: %w", it.Number, err)
	}
	for i, t := range list {
		touched := slices.ContainsFunc(it.Changed, func(c ledger.FileChange) bool { return c.Path == t.File })
		differs := slices.ContainsFunc(changes, func(c snapshot.Change) bool { return c.Path == t.File })
		if ofHarness(t) && touched && !differs && t.ExplainedBy == "" {
			list[i].ExplainedBy = "the file is as it was before the loop"
		}
	}
	return nil
}

// ofHarness reports whether a finding is about what runs and judges the tests.
func ofHarness(t detector.Tampering) bool { return t.Pattern >= "TP-21" && t.Pattern <= "TP-32" }

// openAgain lists what stands open where recorded iterations are judged once more:
// of what was carried along, what is raised by the rules of now as well.
func (s *session) openAgain(was, is ledger.Iteration) []ledger.OpenFinding {
	out := raised(is)
	for _, o := range was.Open {
		if o.Iteration != is.Number && slices.ContainsFunc(s.history[s.previous.Iteration].Open, func(x ledger.OpenFinding) bool { return x.ID == o.ID }) {
			out = append(out, o)
		}
	}
	return out
}

// heldOpen says why the loop does not end although its criterion holds: findings
// are open. The agent has one iteration to mend what it was told of; then a
// person has to look.
func heldOpen(it ledger.Iteration) event.Stop {
	if slices.ContainsFunc(it.Open, func(o ledger.OpenFinding) bool { return o.Iteration == it.Number }) {
		return event.Stop{}
	}
	return event.Stop{Reason: event.FindingsOpen, Text: "the criterion holds, but " + openText(it.Open)}
}

// openStop corrects the reason to end where findings stand open against the tree
// that was selected, or against the last one that was accepted.
func (s *session) openStop(stop event.Stop, c selector.Choice) event.Stop {
	open := s.history[c.Iteration].Open
	if len(open) == 0 {
		open = s.history[s.previous.Iteration].Open
	}
	if code := stop.Reason.ExitCode(); len(open) == 0 || stop.Reason == event.FindingsOpen || code != 0 && code != 4 && code != 5 {
		return stop
	}
	return event.Stop{Reason: event.FindingsOpen, Text: openText(open) + " (" + stop.Text + ")"}
}

func openText(open []ledger.OpenFinding) string {
	first := fmt.Sprintf("%s %s of iteration %d", open[0].Severity, open[0].Rule, open[0].Iteration)
	if len(open) == 1 {
		return "a finding about integrity is open: " + first
	}
	return fmt.Sprintf("%d findings about integrity are open: %s, and others", len(open), first)
}
