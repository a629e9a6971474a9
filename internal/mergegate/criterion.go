package mergegate

import (
	"context"
	"fmt"
	"strings"

	"supervise/internal/cleanroom"
	"supervise/internal/criterion"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/runner"
)

// CriterionResult is how the command of the criterion ended in the tree.
type CriterionResult struct {
	Command string `json:"command"`
	Met     bool   `json:"met"`
	Output  string `json:"output,omitempty"` // the end of what it printed
}

// holds reports whether the criterion, if there is one, is met.
func (c *CriterionResult) holds() bool { return c == nil || c.Met }

// String describes the result in one line.
func (c *CriterionResult) String() string {
	if c.Met {
		return "met: " + c.Command
	}
	text := "not met: this command fails: " + c.Command
	if lines := strings.Split(strings.TrimSpace(c.Output), "\n"); lines[len(lines)-1] != "" {
		text += ": " + strings.TrimSpace(lines[len(lines)-1])
	}
	return text
}

// checkCriterion runs the command of the criterion in the tree, if it has one. If it fails, the gate
// fails.
func (g *mergeGate) checkCriterion(ctx context.Context) error {
	if g.until.Kind != criterion.Command {
		return nil
	}
	g.OnProgress("running the command of the criterion")
	ok, output, err := g.runCriterion(ctx, g.Project, nil)
	if err != nil {
		return fmt.Errorf("run the criterion: %w", err)
	}
	g.criterion = &CriterionResult{g.mask().String(g.until.Command), ok, output}
	return nil
}

// runCriterion runs the command in a folder, with additional variables.
func (g *mergeGate) runCriterion(ctx context.Context, dir string, extra []string) (bool, string, error) {
	ok, output, err := criterion.RunCommand(ctx, g.until.Command, runner.Command{Dir: dir, Env: append(g.Env[:len(g.Env):len(g.Env)], extra...)})
	return ok, g.mask().String(output), err
}

// ending returns what the change has to meet, for the judge.
func (g *mergeGate) ending() judge.Ending {
	if g.criterion == nil || !g.criterion.Met {
		return judge.Ending{}
	}
	return judge.Ending{
		Met: func(context.Context, ledger.Iteration) (bool, error) { return true, nil },
		Criterion: &cleanroom.Criterion{Command: g.until.Command, Run: func(ctx context.Context, dir string, env []string) (bool, error) {
			ok, _, err := g.runCriterion(ctx, dir, env)
			return ok, err
		}},
	}
}
