package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/reasoning"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) explainCmd() *cobra.Command {
	var asJSON, markdown bool
	cmd := &cobra.Command{
		Use:   "explain [LOOP] N",
		Short: "Say why iteration N was judged as it was, and how to override it",
		Long: `Explain gives the reasoning behind the verdict on an iteration, from the recorded
numbers, in five steps: the goal (what was compared with what), the extraction
(what was read from where), the reasoning (which rules fired or came near, with
the numbers), the exceptions (what was surprising) and the synthesis (class,
recommendation, and where its confidence comes from). At the end stand the
commands that decide otherwise. --markdown prints the whole report of the iteration.`,
		Example: "  supervise explain 3\n  supervise explain fix-tests 3 --json",
		Args:    loopAndTrees(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			args = treeOf(args)
			n, err := iterationArg(args[1])
			if err != nil {
				return err
			}
			if markdown {
				return a.report(cmd, args[0], ledger.Name(n)+"-report.md", false)
			}
			return a.explain(cmd, args[0], n, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the five steps as JSON")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the report of the iteration, as it was written then")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

func (a *app) explain(cmd *cobra.Command, name string, n int, asJSON bool) error {
	dir, state, err := a.find(cmd, name)
	if err != nil {
		return err
	}
	its, err := ledger.Iterations(dir)
	if err != nil {
		return err
	}
	at := numbered(its, n)
	if at == nil {
		return usageError{fmt.Errorf("loop %s has no iteration %d; it has %s, see supervise status %s", state.LoopID, n, iterationsText(its), state.LoopID)}
	}
	in := reasoning.Input{It: *at, Criterion: state.Criterion, Rules: a.rulesOf(dir)}
	if its[0].Number == 0 {
		in.Baseline = its[0]
	}
	in.Previous = numbered(its, reasoning.Previous(its, n))
	c := reasoning.Of(in)
	for i, o := range c.Overrides { // so that they can be given as they stand
		if rest, ok := strings.CutPrefix(o.Command, "supervise "); ok {
			c.Overrides[i].Command = a.self() + " " + rest
		}
	}
	if asJSON {
		return a.encode(c)
	}
	paint := a.paint(a.out)
	fmt.Fprintf(a.out, "%s\n\n%s", report.Line(*at, paint), report.Chain(c, paint))
	return nil
}

func iterationsText(its []ledger.Iteration) string {
	if len(its) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d to %d", its[0].Number, its[len(its)-1].Number)
}

func numbered(its []ledger.Iteration, n int) *ledger.Iteration {
	for i := range its {
		if its[i].Number == n {
			return &its[i]
		}
	}
	return nil
}

// rulesOf returns what the loop in dir is judged by. Where that is not known any
// more it says so, and the rules are those of a user who sets nothing.
func (a *app) rulesOf(dir string) detector.Options {
	sum := ""
	_, err := ledger.ReadLog(dir, func(e ledger.Event) {
		var started event.Started
		begins := e.Name == string(event.LoopStarted) || e.Name == string(event.LoopRecorded)
		if begins && json.Unmarshal(e.Data, &started) == nil {
			sum = started.Settings
		}
	})
	var s loop.Settings
	if err == nil {
		err = ledger.ReadSettings(dir, sum, &s)
	}
	if err == nil {
		return s.Rules
	}
	if _, absent := os.Stat(filepath.Join(dir, "settings.json")); absent == nil {
		fmt.Fprintf(a.err, "note: what the loop was set to is not known for sure, the rules are shown without overrides: %v\n", err)
	}
	return detector.DefaultOptions()
}
