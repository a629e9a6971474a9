// Package criterion says when the task of a loop counts as done. The agent's own
// claim is never enough.
package criterion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/runner"
)

// Kind is the kind of a criterion.
type Kind string

// The kinds. Auto is Green when the baseline is not green, else Idle.
const (
	Auto    Kind = ""
	Green   Kind = "green"
	Idle    Kind = "idle"
	Never   Kind = "never"
	Command Kind = "command"
)

// Criterion is when the task counts as done.
type Criterion struct {
	Kind    Kind
	Command string  // for Command: run by the shell, exit status 0 is done
	Promise string  `json:",omitempty"` // a text that the agent has to print as well; "": none
	Quality float64 `json:",omitempty"` // score in [0,100] that has to be reached as well; 0: none

	Noticed        float64 `json:",omitempty"` // share of the mutants of the change in [0,100] that tests have to notice; 0: none
	ChangeCoverage float64 `json:",omitempty"` // share of the changed lines in [0,100] that tests have to execute; 0: none

	NoBuild, NoErrors, NoCoverage bool `json:",omitempty"` // for Green: what the checks do not measure
}

// Parse reads the value of --until: green, idle, never, or a command.
func Parse(s string) Criterion {
	switch kind := Kind(strings.TrimSpace(s)); kind {
	case Auto, Green, Idle, Never:
		return Criterion{Kind: kind}
	case Command:
	}
	return Criterion{Kind: Command, Command: s}
}

// String returns the criterion for people.
func (c Criterion) String() string {
	text := c.baseText()
	if c.Quality > 0 {
		text += fmt.Sprintf(", and quality is at least %g%%", c.Quality)
	}
	if c.Noticed > 0 {
		text += fmt.Sprintf(", and tests execute every changed line and notice at least %g%% of its mutants", c.Noticed)
	}
	if c.ChangeCoverage > 0 {
		text += fmt.Sprintf(", and tests execute at least %g%% of the changed lines", c.ChangeCoverage)
	}
	if c.Promise != "" {
		text += fmt.Sprintf(", and the agent says %q", c.Promise)
	}
	return text
}

func (c Criterion) baseText() string {
	switch c.Kind {
	case Green:
		return c.greenText()
	case Idle:
		return "an iteration changes nothing while the checks are green"
	case Never:
		return "none: all iterations are run"
	case Command:
		return "this command succeeds: " + c.Command
	case Auto:
	}
	return "decided by the baseline"
}

// greenText says what green means, as far as it is measured.
func (c Criterion) greenText() string {
	text := "all tests pass"
	for _, part := range []struct {
		missing bool
		text    string
	}{{c.NoBuild, "the build succeeds"}, {c.NoErrors, "no new errors"}, {c.NoCoverage, "coverage holds"}} {
		if !part.missing {
			text += ", " + part.text
		}
	}
	return text
}

// Resolve is the criterion once the baseline is known, which is green or not. One
// that asks for more than the checks is never that nothing happens.
func (c Criterion) Resolve(baseline metric.Set, green bool) Criterion {
	_, hasErrors := baseline.Value(metric.ErrorCount)
	c.NoBuild, c.NoErrors, c.NoCoverage = baseline.Build == nil, !hasErrors, baseline.Coverage == nil
	if c.Kind != Auto {
		return c
	}
	c.Kind = Green
	if green && c.Promise == "" && c.Quality == 0 && c.Noticed == 0 {
		c.Kind = Idle
	}
	return c
}

// PromptText is what the prompt asks of the agent, "" for nothing.
func (c Criterion) PromptText() string {
	if c.Promise == "" {
		return ""
	}
	return "\nWhen the whole task is done and every check is green, and not before, end your last message with this text on a separate line: " + c.Promise + "\n"
}

// isGreenIteration reports whether an iteration is green by these numbers: the hidden tests are too,
// tests execute enough of the change, and no measured finding against the baseline is HIGH.
func isGreenIteration(it ledger.Iteration, set, baseline metric.Set) bool {
	return it.Hidden.AllPass() && it.ChangeCoverage.Shortfall() == "" && IsGreen(set, baseline) && len(it.Assessment.Balance.CostMessages()) == 0
}

// IsGreen reports whether no test fails, at least one passes, the build succeeds and
// there are no more errors than at the baseline, and than they vary by.
func IsGreen(set, baseline metric.Set) bool {
	n := set.Tests.Counts()
	if n.Passed == 0 || n.Failed > 0 || len(set.Tests.Broken) > 0 || set.Tests.Failure != "" {
		return false
	}
	if set.Build != nil && set.Build.Status == metric.BuildFailure {
		return false
	}
	now, ok := set.Value(metric.ErrorCount)
	before, had := baseline.Value(metric.ErrorCount)
	return !ok || !had || now <= before+baseline.Variation[metric.ErrorCount]
}

// Check reports whether the criterion holds for an iteration, and nil when there is
// none that could. run runs the command of the criterion and reports whether it
// succeeded.
func (c Criterion) Check(it ledger.Iteration, baseline metric.Set, run func(command string) (bool, error)) (*bool, error) {
	green := isGreenIteration(it, it.JudgedSet(), baseline)
	met := green
	switch c.Kind {
	case Green:
	case Command:
		var err error
		if met, err = run(c.Command); err != nil {
			return nil, fmt.Errorf("run the criterion: %w", err)
		}
	case Idle, Never, Auto:
		return nil, nil //nolint:nilnil // no criterion is a third answer
	}
	if c.Promise != "" || c.Quality > 0 || c.Noticed > 0 {
		met = met && green && c.meetsExtras(it)
	}
	met = met && it.ChangeCoverage.Shortfall() == ""
	return &met, nil
}

// The limits of a command of a criterion.
const (
	commandTimeout = 10 * time.Minute
	maxOutput      = 2 << 10 // of its output that is kept, in bytes
)

// RunCommand runs the shell command of a criterion. in has the folder, the environment and the user.
// It returns whether the command succeeded, and the end of its output. A folder that is gone is a
// failure.
func RunCommand(ctx context.Context, command string, in runner.Command) (ok bool, output string, err error) {
	tail := runner.NewTail(maxOutput)
	in.Args, in.Timeout, in.Stdout, in.Stderr = []string{"/bin/sh", "-c", command}, commandTimeout, tail, tail
	in.Env = append(slices.Clone(in.Env), "CI=true")
	res, err := runner.Run(ctx, in)
	if errors.Is(err, runner.ErrUnstartable) {
		return false, "", nil
	}
	return err == nil && res.Cause == runner.Exited && res.ExitCode == 0, tail.String(), err
}

// MayBeMet reports whether an iteration with these numbers may be the last one, as far as
// that is known before it is judged.
func (c Criterion) MayBeMet(it ledger.Iteration, set, baseline metric.Set) bool {
	if it.ChangeCoverage.Shortfall() != "" {
		return false
	}
	switch c.Kind {
	case Green:
		return IsGreen(set, baseline) && (c.Promise == "" || it.Agent != nil && it.Agent.CompletionClaimed)
	case Idle:
		return len(it.Changed) == 0 && IsGreen(set, baseline)
	case Command, Never, Auto: // the final verification follows at once
	}
	return false
}

// meetsExtras reports whether an iteration has the promise, the quality and the guarding tests that are required in addition to the checks.
func (c Criterion) meetsExtras(it ledger.Iteration) bool {
	if c.Quality > 0 && !(it.Score.Measured && 100*it.Score.Value >= c.Quality-1e-9) {
		return false
	}
	if c.Noticed > 0 && it.GuardShortfall(c.Noticed) != "" {
		return false
	}
	return c.Promise == "" || it.Agent != nil && it.Agent.CompletionClaimed
}

// IsIdle reports whether the agent came to rest by itself where that is the
// criterion: it ended well, changed nothing, and the checks are green. One that
// breaks off has not finished.
func (c Criterion) IsIdle(it ledger.Iteration, baseline metric.Set) bool {
	return c.Kind == Idle && len(it.Changed) == 0 && it.Agent != nil &&
		it.Agent.ExitCode == 0 && it.Agent.Succeeded() && it.Agent.Cause == runner.Exited.String() && isGreenIteration(it, it.Set, baseline)
}
