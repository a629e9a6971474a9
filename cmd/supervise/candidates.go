package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/agentrun"
	"supervise/internal/candidate"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"

	"github.com/spf13/pflag"
)

// candidateFlags are the flags of supervise run for several candidates.
type candidateFlags struct {
	number, jobs, stopWhen int
	vary, setup, trees     string
}

// register adds the flags to the command.
func (c *candidateFlags) register(f *pflag.FlagSet) {
	f.IntVar(&c.number, "candidates", 0, "run this many loops, each in a separate tree, and restore the best result (1: one loop in a separate tree; your tree changes only at the end); --agent a,b,… assigns their agents round-robin")
	f.IntVar(&c.jobs, "jobs", 0, "how many of them run at the same time (default: all, at most 8); of their checks, as many as the machine has processors")
	f.IntVar(&c.stopWhen, "stop-when", 0, "end the others when this many have done the task (default: all run to their end)")
	f.StringVar(&c.vary, "vary", "", "`file` with texts, separated by lines of ---, that are added to their tasks round-robin")
	f.StringVar(&c.setup, "setup", "", "`command` that prepares each tree, such as 'npm ci'")
	registerTrees(f, &c.trees)
}

// registerTrees adds the flag --trees.
func registerTrees(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "trees", "", "`folder` for the trees of candidates (default: supervise/candidates in the cache folder; in a loop that is resumed, where they were)")
}

// resolveTreesDir creates the folder that --trees names and returns its absolute path. It returns
// "" for "".
func resolveTreesDir(dir, root string) (string, error) {
	if dir == "" {
		return "", nil
	}
	path, err := filepath.Abs(dir)
	if _, inside := ledger.PathInTree(path, root); inside {
		err = errors.New("the trees are copies of the working tree, and this is a folder in it: give one outside")
	}
	if err == nil {
		err = os.MkdirAll(path, 0o700)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", usageError{fmt.Errorf("--trees %s: %w", dir, err)}
	}
	return path, nil
}

// validate checks the values and the combination of flags.
func (c *candidateFlags) validate(o runOptions, given *pflag.FlagSet) error {
	if c.number == 0 {
		for _, name := range []string{"jobs", "stop-when", "vary", "setup", "trees"} {
			if given.Changed(name) {
				return usageError{fmt.Errorf("--%s is for --candidates", name)}
			}
		}
		return nil
	}
	switch {
	case c.number < 1 || c.number > maxCandidates:
		return usageError{fmt.Errorf("--candidates is %d: give a number from 1 to %d", c.number, maxCandidates)}
	case c.jobs < 0 || given.Changed("jobs") && c.jobs == 0:
		return usageError{fmt.Errorf("--jobs is %d: give a number from 1", c.jobs)}
	case c.stopWhen < 0 || c.stopWhen > c.number:
		return usageError{fmt.Errorf("--stop-when is %d: give a number from 1 to that of --candidates", c.stopWhen)}
	case o.steps.n != nil && *o.steps.n != 0:
		return usageError{errors.New("with --candidates, --steps is 0: the baseline is measured, and supervise resume LOOP --candidate N --steps M does iterations of one")}
	case o.noApply:
		return usageError{errors.New("--no-apply leaves the tree as the last iteration left it, but candidates work in separate trees: omit it")}
	}
	return nil
}

// Limits of the number of candidates, and of the agents that run at the same time by default.
const (
	maxCandidates = 64 // since each has a complete tree
	maxJobs       = 8  // unless the user asks for more
)

// variationSeparatorPattern matches a line such as "---" between the texts in the file of --vary.
var variationSeparatorPattern = regexp.MustCompile(`(?m)^---+[ \t]*\r?\n`)

// settings returns the settings for package candidate. Each text of --vary becomes a task, with the
// common task before it.
func (c *candidateFlags) settings(opts loop.Options) (candidate.Settings, error) {
	s := candidate.Settings{Number: c.number, Jobs: c.jobs, StopWhen: c.stopWhen, Setup: c.setup, Programs: opts.Programs()}
	if s.Jobs == 0 {
		s.Jobs = min(c.number, maxJobs)
	}
	var err error
	if s.Folder, err = resolveTreesDir(c.trees, opts.Root); err != nil || c.vary == "" {
		return s, err
	}
	text, err := projectfile.ReadNamed(c.vary, projectfile.Settings)
	if err != nil {
		return s, usageError{fmt.Errorf("read the variations: %w", err)}
	}
	for _, part := range variationSeparatorPattern.Split(string(text), -1) {
		if part = strings.TrimSpace(part); part != "" {
			s.Tasks = append(s.Tasks, strings.TrimSpace(opts.Task+"\n\n"+part))
		}
	}
	if len(s.Tasks) == 0 {
		return s, usageError{fmt.Errorf("read the variations: %s has none: write one or more texts, with lines of --- between", c.vary)}
	}
	return s, nil
}

// defaultTrees returns the default folder for the trees of candidates.
func defaultTrees() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "supervise", "candidates")
}

// runCandidates runs several loops on the same task, and restores the best result.
func (a *app) runCandidates(ctx context.Context, opts loop.Options, o runOptions) error {
	s, err := o.candidateFlags.settings(opts)
	if err != nil {
		return err
	}
	if opts.Protect.User != "" {
		return usageError{errors.New("--candidates does not go with protect.user: the trees belong to you alone")}
	}
	return a.runCompetition(ctx, opts, o.printFlags, func(ctx context.Context, c candidate.Options) (candidate.Outcome, error) {
		c.Settings, c.Loop.Fallback = s, nil // each has one agent
		return candidate.Run(ctx, c)
	})
}

// runCompetition runs candidates with the terminal of this process. The output of their agents
// is not shown; it is in their folders.
func (a *app) runCompetition(ctx context.Context, opts loop.Options, p printFlags, start func(context.Context, candidate.Options) (candidate.Outcome, error)) error {
	p.agentOutput = "none"
	return a.supervise(ctx, opts, p, func(ctx context.Context, opts loop.Options) (loop.Outcome, error) {
		out, err := start(ctx, candidate.Options{Loop: opts, Cache: defaultTrees(), Watch: func(n int) (measure.Watch, func(agentrun.Progress)) {
			b := a.board.CandidateBoard(n)
			return b.StartCheck, b.HandleReport
		}})
		return loop.Outcome{LoopID: out.LoopID, Dir: out.Dir, Stop: out.Stop}, err
	})
}

// stepCandidate runs iterations of the loop of one candidate, and prints it like any other loop.
func (a *app) stepCandidate(ctx context.Context, opts loop.Options, o resumeOptions, id string) error {
	o.agentOutput = "none"
	return a.supervise(ctx, opts, o.printFlags, func(ctx context.Context, opts loop.Options) (loop.Outcome, error) {
		if next := opts.OnEvent; !o.json {
			opts.OnEvent = func(e event.Event) {
				e.Candidate = 0
				next(e)
			}
		}
		return candidate.RunStep(ctx, id, o.candidate, candidate.Options{Loop: opts, Cache: defaultTrees(), Force: o.force, Settings: candidate.Settings{Folder: o.trees}})
	})
}
