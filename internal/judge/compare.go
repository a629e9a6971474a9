package judge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/snapshot"
)

// collectEvidence reads the texts of the change. It reads the changed files before and after,
// the state of git and findings outside the tree, and adds the evidence: test
// definitions, renamed and removed files, and findings about tampering.
func collectEvidence(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	var e ledger.Evidence
	var err error
	if v.Start != "" {
		if e, err = evidence.CompareSnapshots(ctx, c.Store, v.Start, v.Snapshot, c.Tree.Changes, c.Integrity); err != nil {
			return v, err
		}
	}
	if e.JudgedAt = c.Now(); v.Confirmation != nil {
		e.Flaky = v.Confirmation.Flaky
	}
	v.Evidence = &e
	if c.Subject == Change {
		return v, nil
	}
	return v, c.addOtherEvidence(ctx, v, &e)
}

// addOtherEvidence adds the evidence that is not in the texts of the change.
func (c Case) addOtherEvidence(ctx context.Context, v Verdict, e *ledger.Evidence) error {
	if err := c.explainRestoredFiles(ctx, v, e.Tampering); err != nil {
		return err
	}
	c.explainUnreadReports(e.Tampering)
	e.Tampering = append(e.Tampering, c.Tree.EnvironmentFindings...)
	if v.Resumed {
		lowerUnattended(e.Tampering)
	}
	var err error
	if e.GitLost, err = c.Store.LostGitState(ctx, c.History.baselineIteration().Snapshot, v.Snapshot); err != nil {
		return fmt.Errorf("compare git's state with the baseline: %w", err)
	}
	if e.WorkLost, err = evidence.FindLostWork(ctx, c.Store, evidence.Trees{Baseline: c.History.baselineIteration().Snapshot, Start: v.Start, Now: v.Snapshot}); err != nil {
		return err
	}
	for _, change := range c.Tree.Changes {
		if path.Base(change.Path) == ack.FileName {
			e.AckFiles = append(e.AckFiles, change.Path)
		}
	}
	return nil
}

// explainRestoredFiles explains the harness findings about files that equal those before the loop
// again: undoing a change adds nothing new, whatever it looks like.
func (c Case) explainRestoredFiles(ctx context.Context, v Verdict, list []detector.Tampering) error {
	if v.Start == "" || v.Number < 2 || !slices.ContainsFunc(list, isAboutHarness) {
		return nil
	}
	changes, err := c.changesSinceBaseline(ctx, v)
	if err != nil {
		return err
	}
	for i, t := range list {
		touched := slices.ContainsFunc(v.Changed, func(c ledger.FileChange) bool { return c.Path == t.File })
		differs := slices.ContainsFunc(changes, func(c snapshot.Change) bool { return c.Path == t.File })
		if isAboutHarness(t) && touched && !differs && t.ExplainedBy == "" {
			list[i].ExplainedBy = "the file is as it was before the loop"
		}
	}
	return nil
}

// explainUnreadReports explains reports that a run of the agent left in the tree, if no check reads
// a report there. Detected tests write their reports into a private folder.
func (c Case) explainUnreadReports(list []detector.Tampering) {
	reads := func(check measure.Check) bool {
		return slices.ContainsFunc(check.Reports, func(r string) bool { return !strings.HasPrefix(r, measure.ReportDir) })
	}
	written := slices.ContainsFunc(list, func(t detector.Tampering) bool { return t.Type == reportWritten })
	if written || !c.Workspace.Plan.Recognised || slices.ContainsFunc(c.Workspace.Plan.Checks, reads) {
		return
	}
	for i, t := range list {
		if t.Type == reportForged && t.ExplainedBy == "" {
			list[i].ExplainedBy = "no check reads a report in the tree"
		}
	}
}

// changesSinceBaseline returns the changes since the start of the loop.
func (c Case) changesSinceBaseline(ctx context.Context, v Verdict) ([]snapshot.Change, error) {
	changes, err := c.Store.Changes(ctx, c.History.baselineIteration().Snapshot, v.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("compare iteration %d with the baseline: %w", v.Number, err)
	}
	return changes, nil
}

// isAboutHarness reports whether a finding is about what runs and judges the tests.
func isAboutHarness(t detector.Tampering) bool { return t.Pattern >= "TP-21" && t.Pattern <= "TP-32" }

// The types of findings about reports, in the tree and by code that runs the tests.
const (
	reportForged  = "report_forged"
	reportWritten = "report_written_by_code"
)

// The types of findings that a person may have caused while the tree was not supervised: changes
// to the configuration of supervise, and to the hidden tests.
const (
	supervisorTouched = "supervisor_touched"
	hiddenChanged     = "hidden_tests_changed"
)

// lowerUnattended lowers the severity of findings that a person may have caused.
func lowerUnattended(list []detector.Tampering) {
	for i, t := range list {
		if t.Type == supervisorTouched || t.Type == hiddenChanged {
			list[i].Severity = min(t.Severity, detector.Medium)
		}
	}
}
