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

// errInside refuses an agent that tries to answer for a person.
var errInside = errors.New("this runs inside an agent that supervise started: use a terminal of your own")

// find returns the loop that is meant, by a part of its name or the latest.
func (a *app) find(ctx context.Context, name string) (string, ledger.State, error) {
	at, home, err := a.located(ctx)
	if err != nil {
		return "", ledger.State{}, err
	}
	return ledger.FindLoop(home, at.root, name)
}

// running finds a loop that a supervise process works on.
func (a *app) running(ctx context.Context, name string) (string, ledger.State, error) {
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

// view reads a whole loop.
func (a *app) view(ctx context.Context, name string) (record.View, error) {
	dir, state, err := a.find(ctx, name)
	if err != nil {
		return record.View{}, err
	}
	return record.ReadView(dir, state)
}

// anyView reads a whole loop; where its settings are lost, it uses the default rules
// and says so.
func (a *app) anyView(ctx context.Context, name string) (record.View, error) {
	v, err := a.view(ctx, name)
	if errors.Is(err, ledger.ErrChanged) {
		a.notes("the settings of the loop are not known for sure, so the default rules are shown: " + err.Error())
		v.Settings, err = record.Defaults(), nil
	}
	return v, err
}

// trees opens the trees of a loop.
func (a *app) trees(ctx context.Context, name string) (*worktree.Trees, error) {
	dir, state, err := a.find(ctx, name)
	if err != nil {
		return nil, err
	}
	a.finishing(state.LoopID, dir)
	return worktree.OpenTrees(ctx, dir, state)
}

// finishing says, before the snapshots of a loop are opened, that a restore which was
// interrupted is finished with that.
func (a *app) finishing(loop, dir string) {
	if half := snapshot.ReadUnfinished(ledger.SnapshotDir(dir)); half != nil {
		fmt.Fprintf(a.err, "supervise: a restore of %s was interrupted; unless the tree was changed since, it is finished first; the tree before it: %s rollback %s %s\n",
			half.Target.Name(), a.self(), loop, half.Safety.Name())
	}
}

// loops returns the folder of the loops of a working tree, and their states.
func (a *app) loops(at place) (home string, list []ledger.State, err error) {
	if home, err = a.home(at.root); err == nil {
		list, err = ledger.ListLoops(home, at.root)
	}
	return home, list, err
}

// first returns the first argument, "" where there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// iterationArg reads the number of an iteration.
func iterationArg(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("%q is not an iteration: give a number, 0 for the baseline", s)}
	}
	return n, nil
}

// treeName matches what names a tree of a loop. Loops have longer names.
var treeName = regexp.MustCompile(`^(s?[0-9]{1,5}|best|baseline|now)$`)

// loopFirst adds the latest loop to arguments that name trees only.
func loopFirst(args []string) []string {
	if len(args) > 0 && treeName.MatchString(args[0]) {
		return append([]string{"latest"}, args...)
	}
	return args
}

// loopAndTrees accepts a loop and so many of its trees, or the trees alone.
func loopAndTrees(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		return cobra.RangeArgs(1+least, 1+most)(c, loopFirst(args))
	}
}

// userName is who works here, for the log.
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
