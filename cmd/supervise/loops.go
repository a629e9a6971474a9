package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/regexp"
	"supervise/internal/worktree"
	"supervise/runner"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// errInside is returned to an agent that tries to use a command for people.
var errInside = errors.New("this runs inside an agent that supervise started: use another terminal")

// find returns the folder and the state of the loop with that name or part of a name. For "" it
// finds the latest loop.
func (a *app) find(ctx context.Context, name string) (string, ledger.State, error) {
	at, err := a.workspaceAndHome(ctx)
	if err != nil {
		return "", ledger.State{}, err
	}
	return ledger.FindLoop(at.home, at.root, name)
}

// findRunning is like find for a loop that a process of supervise works on.
func (a *app) findRunning(ctx context.Context, name string) (string, ledger.State, error) {
	if insideAgent() {
		return "", ledger.State{}, usageError{errInside}
	}
	dir, state, err := a.find(ctx, name)
	if err != nil {
		return "", state, err
	}
	free, err := ledger.IsUnlocked(dir)
	if err == nil && free {
		err = usageError{fmt.Errorf("loop %s (%s) does not run", state.LoopID, state.Status)}
	}
	return dir, state, err
}

// view reads the complete record of a loop.
func (a *app) view(ctx context.Context, name string) (record.View, error) {
	dir, state, err := a.find(ctx, name)
	if err != nil {
		return record.View{}, err
	}
	return record.ReadView(dir, state)
}

// viewOrDefaults is like [app.view]. If the settings of the loop are lost, it uses the default
// rules and prints a note.
func (a *app) viewOrDefaults(ctx context.Context, name string) (record.View, error) {
	v, err := a.view(ctx, name)
	if errors.Is(err, ledger.ErrChanged) {
		a.printNotes("the settings of the loop are not known for sure, so the default rules are shown: " + err.Error())
		v.Settings, err = record.Defaults(), nil
	}
	return v, err
}

// openTrees opens the trees of a loop.
func (a *app) openTrees(ctx context.Context, name string) (*worktree.Trees, error) {
	dir, state, err := a.find(ctx, name)
	if err != nil {
		return nil, err
	}
	a.noteUnfinishedRestore(state.LoopID, dir)
	return worktree.OpenTrees(ctx, dir, state)
}

// noteUnfinishedRestore prints a note if a restore was interrupted. Opening the snapshots of the
// loop will finish it.
func (a *app) noteUnfinishedRestore(loop, dir string) {
	if restore := snapshot.ReadUnfinished(ledger.SnapshotDir(dir)); restore != nil {
		fmt.Fprintf(a.err, "supervise: a restore of %s was interrupted; unless the tree was changed since, it is finished first; the tree before it: %s rollback %s %s\n",
			restore.Target.Name(), a.self(), loop, restore.Safety.Name())
	}
}

// firstArg returns the first argument, "" if there is none.
func firstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// optionalArg accepts at most one argument and stores it, "" if there is none.
func optionalArg(to *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		*to = firstArg(args)
		return cobra.MaximumNArgs(1)(cmd, args)
	}
}

// storeArgs checks the arguments by a rule and stores them.
func storeArgs(to *[]string, rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		*to = args
		return rule(cmd, args)
	}
}

// iterationArg parses the number of an iteration.
func iterationArg(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("%q is not an iteration: give a number, 0 for the baseline", s)}
	}
	return n, nil
}

// treeNamePattern matches the name of a tree of a loop, as in 3, s12 or best. The names that
// supervise gives to loops are longer.
var treeNamePattern = regexp.MustCompile(`^(s?[0-9]{1,5}|best|baseline|now)$`)

// loopFirst returns the arguments with "latest", the latest loop, in front if they only name
// trees.
func loopFirst(args []string) []string {
	if len(args) > 0 && treeNamePattern.MatchString(args[0]) {
		return append([]string{"latest"}, args...)
	}
	return args
}

// loopAndTrees accepts the arguments LOOP TREE…, with minTrees to maxTrees trees. LOOP is optional.
func loopAndTrees(minTrees, maxTrees int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		return cobra.RangeArgs(1+minTrees, 1+maxTrees)(c, loopFirst(args))
	}
}

// userName returns the name of the current user, for the log.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return os.Getenv("USER")
}

// insideAgent reports whether an agent, or a check, of a loop started this process.
func insideAgent() bool {
	for _, name := range []string{"SUPERVISE_TREE", "SUPERVISE_LOOP_ID", "SUPERVISE_PROMPT_FILE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return runner.IsSupervised()
}
