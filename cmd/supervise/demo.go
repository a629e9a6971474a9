package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/agentcheck"
	"supervise/internal/config"
	"supervise/internal/criterion"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"
)

//go:embed demo.txtar
var demoFiles []byte

// demoAgent is the name of the hidden command of the scripted agent.
const demoAgent = "__demo-agent"

// demoIntro is printed before the loop.
const demoIntro = `A small Go project with two failing tests, in a temporary folder. A scripted agent
works on it for six iterations, in a real terminal; the tests, the rules and the
rollbacks are real. Watch iterations 3 and 4, in which it cheats, and 6, in which
it makes good work worse.
`

// demoOutro is printed after the loop. Its verbs are for the project and the command line of
// supervise.
const demoOutro = `
What happened: in iteration 3 the agent deleted the failing test, and in iteration 4
it skipped it; both were detected and rolled back. Iteration 5 did the work. Iteration
6 passes all tests too, but made the project worse, so iteration 5 was selected.

The project is in  %s
Why, for example:  cd there && %s explain latest 3
In your project:   supervise run -p "Make the tests pass" -- YOUR-AGENT
`

func newDemoCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Show in half a minute what supervise does",
		Long: `A scripted agent works on a small Go project in a temporary folder: honest progress, a
new test, a deleted test, a skipped test, a peak, and an iteration that is worse. The
demo needs Go and git.`,
		Example: "  supervise demo",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a) },
	}
}

// runDemo runs a loop with a scripted agent in a temporary project.
func runDemo(ctx context.Context, a *app) error {
	for _, tool := range []string{"go", "git"} {
		if _, err := lookPath(tool); err != nil {
			return usageError{fmt.Errorf("the demo needs %s: %w", tool, err)}
		}
	}

	dir, err := os.MkdirTemp("", "supervise-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}

	root := filepath.Join(dir, "shop")
	if err = writeDemoStep(root, "start"); err == nil {
		err = agentcheck.CommitFiles(ctx, root, "demo")
	}
	if err != nil {
		return fmt.Errorf("lay out the demo: %w", err)
	}

	fmt.Fprintln(a.out, a.paint(a.out)(document.Faint, strings.TrimRight(demoIntro, "\n"))+"\n")
	opts, err := demoOptions(root, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}

	a.state = opts.Home
	if err := a.supervise(ctx, opts, printFlags{agentOutput: "lines"}, loop.Run); err != nil {
		return err
	}
	if a.code == 0 {
		fmt.Fprintf(a.out, demoOutro, root, a.self())
	}
	return nil
}

// demoOptions returns the options of the loop of the demo.
func demoOptions(root, state string) (loop.Options, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return loop.Options{}, err
	}
	settings := config.Default()
	settings.Limits.MaxIterations, settings.Until, settings.Unattended = 6, string(criterion.Never), true
	self, err := os.Executable()
	if err != nil {
		return loop.Options{}, err
	}
	opts, err := scratchOptions(settings, root)
	opts.Task, opts.Args, opts.Home = "Make all tests of the shop pass.", []string{self, demoAgent}, ledger.Home(state, root)
	return opts, err
}

// scratchOptions returns the options of a loop in a small project that supervise has created.
func scratchOptions(s config.Settings, root string) (loop.Options, error) {
	opts, err := s.LoopOptions(root)
	if err == nil {
		opts.Plan, _, err = s.Plan(root, lookPath)
	}
	opts.NoRepeat = true
	return opts, err
}

// writeDemoStep writes the files that belong to one step of demo.txtar below dir.
func writeDemoStep(dir, step string) error {
	for _, f := range txtar.Parse(demoFiles).Files {
		name, ok := strings.CutPrefix(f.Name, step+"/")
		if !ok || name == "SAY" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// newDemoAgentCmd returns the hidden command of the scripted agent. In each iteration it does
// one step of its script.
func newDemoAgentCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: demoAgent, Hidden: true, Short: "The scripted agent of the demo",
		RunE: func(*cobra.Command, []string) error {
			step := os.Getenv("SUPERVISE_ITERATION")
			if step == "" {
				return errors.New("the scripted agent is started by supervise demo")
			}
			for _, f := range txtar.Parse(demoFiles).Files {
				if f.Name == step+"/SAY" {
					fmt.Fprintf(a.out, "%s", f.Data)
				}
			}
			return writeDemoStep(".", step)
		},
	}
}
