package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/environment"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/notify"
	"supervise/internal/originaltests"
	"supervise/internal/prompt"
	"supervise/internal/protect"
	"supervise/internal/secrets"
	"supervise/internal/worktree"
	"supervise/snapshot"
)

// open creates the folder of a new loop, prepares the loop, and logs its start. After an error,
// the loop is recorded as failed and closed.
func open(ctx context.Context, o Options) (*run, error) {
	o.Protect.RunnerVars = protect.HashRunnerVars(o.Env)
	name := o.Task
	if name == "" && len(o.Args) > 0 {
		name = o.Args[0]
	}

	mask := secrets.NewMask(o.Env)
	state := ledger.State{
		LoopID: cmp.Or(o.ID, ledger.NewID(mask.String(name))), Status: ledger.Running, Task: mask.String(o.Task), Agent: mask.Texts(o.CommandLine()), Criterion: o.Until.String(),
		Workspace: o.Root, PID: os.Getpid(), StartedAt: o.Now(), UpdatedAt: o.Now(),
		Kind: o.kind(), History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{}, Config: o.configuration(),
	}

	l, err := ledger.Create(o.Home, state)
	if err != nil {
		return nil, err
	}

	r := newRun(o, l, state)
	r.countStepsFrom(0)
	sum, err := r.ledger.SaveSettings(o.forJSON())
	if err == nil && o.Hint != "" {
		err = ledger.AddHint(l.Dir(), o.Hint)
	}

	var learnt measure.Memory
	if err == nil && o.BaselineFrom != "" {
		err = ledger.ReadMeasureState(o.BaselineFrom, &learnt)
	}
	if err == nil {
		err = r.prepare(ctx, event.NewPosition(), learnt)
	}
	if err == nil {
		err = r.journal.Write(event.LoopStarted, 0, event.Started{Dir: l.Dir(), Plan: o.Plan, Agent: state.Agent, MaxIterations: o.MaxIterations, Settings: sum, Steps: o.Steps})
	}
	if err == nil {
		err = r.handleKilledLoops(ctx)
	}
	if err != nil {
		r.fail(err)
		r.close()
		return nil, err
	}
	return r, nil
}

// newRun returns a run that can write to the folder of its loop. [run.prepare] sets the other
// fields.
func newRun(o Options, l *ledger.Ledger, state ledger.State) *run {
	r := &run{opts: o, ledger: l, state: state, mask: secrets.NewMask(o.Env), past: judge.NewHistory()}
	r.past.SnapshotDir = l.SnapshotDir()
	r.notifier = notify.New(o.Notify, r.mask, func(err error) { o.Log.WithError(err).Warn("send a notification") })
	r.journal = &event.Journal{
		Ledger: l, LoopID: state.LoopID, Now: o.Now, OnEvent: []func(event.Event){o.OnEvent, r.notifier.Handle},
		OnError: func(err error) { o.Log.WithError(err).Error("write the audit log") },
	}
	r.reports = &reports{set: &r.opts.Settings, past: r.past, ledger: l, self: o.Person.Self, now: o.Now}
	return r
}

// prepare opens the snapshots and sets up everything that an iteration needs. position and memory
// come from an earlier process of the loop; they are empty for a new one.
func (r *run) prepare(ctx context.Context, position *event.Position, memory measure.Memory) error {
	o := r.opts
	if err := o.checkHiddenTests(); err != nil {
		return err
	}

	texts, err := prompt.Parse(o.Texts, "")
	if err != nil {
		return err
	}

	r.prompts = &prompter{texts: texts, set: &r.opts.Settings, past: r.past, blocked: o.BlockedCommand(o.Self, o.Env), iterationDir: r.ledger.MakeIterationDir}
	store, err := worktree.Open(ctx, o.Root, o.Home, r.ledger.SnapshotDir(), o.Snapshot)
	if err != nil {
		return err
	}

	if _, err := r.loadSealed(); err != nil {
		return err
	}
	r.tree = worktree.New(store, worktree.Options{
		Limit: o.MaxStore, Journal: r.journal, Iteration: r.iterationNumber, Protected: r.keptSnapshots, Dropped: r.past.Dropped, Foreign: position.ForeignTrees, Warned: position.OverLimit,
	})
	env, scrubbed := o.Protect.ForChecks(o.Env)
	r.checks = &checker{mask: r.mask, ledger: r.ledger, journal: r.journal, iteration: r.iterationNumber, env: env}
	shield, err := r.setUpProtection(ctx)
	if err != nil {
		return err
	}
	if len(scrubbed) > 0 {
		o.Log.WithField("variables", strings.Join(scrubbed, ", ")).Warn("the checks are not given variables that steer runners and were others when the loop began")
	}

	m := measure.Options{
		Env: env, Scratch: r.checks.scratchDir(), User: r.checks.user, OnProgress: r.checks.reportProgress, Watch: o.WatchChecks, Memory: memory, Hold: r.ledger.TreeLocks(),
		BeforeStart: r.journal.Starting(event.ChildCheck, r.iterationNumber), Reruns: o.Confirm, Baseline: true, MayStartBroken: true,
	}
	if _, inside := ledger.PathInTree(o.Home, o.Root); inside {
		m.Ignore = o.Home
	}

	r.checks.baseMeter, r.checks.basePlan = measure.New(o.Plan, m), o.Plan
	r.checks.meter, r.checks.plan = r.checks.baseMeter, o.Plan
	r.environment = &environmentWatch{watch: environment.Watch{Root: o.Root, Programs: o.Plan.Programs(), Env: env, Sums: environment.Sums{}, Sites: map[string][]string{}}, ledger: r.ledger}
	r.approver = &approver{
		Approval: o.Approval, Person: o.Person, leaveQuestions: o.Steps != nil, answered: position.Answers, answeredIteration: position.Iteration, loopID: r.state.LoopID, dir: r.ledger.Dir(), journal: r.journal, mask: r.mask, now: o.Now,
		pause: func(s ledger.Status) error {
			r.state.Status = s
			return r.save()
		},
	}

	r.agent = agentrun.New(agentrun.Options{
		Setup: o.Setup, LoopID: r.state.LoopID, Home: o.Home, Env: o.Env, Self: o.Self, Promise: o.Until.Promise,
		Terminal: o.Terminal, Mirror: o.Mirror, OnReport: o.OnReport, Grace: o.Grace, OnInterrupt: o.OnInterrupt, Warn: r.warn, Now: o.Now,
		Mode: hook.Mode(o.Rules.Mode), Integrity: o.Integrity, Checks: o.checkScripts(),
		Shield: shield, User: r.checks.user, Masker: r.mask.Masker, Ledger: r.ledger, Store: store, Journal: r.journal,
	})
	return nil
}

// setUpProtection returns the protection that the settings ask for, and sets the user of agent and
// checks. It returns an error if the system cannot provide the protection.
func (r *run) setUpProtection(ctx context.Context) (shield protect.Shield, err error) {
	p := r.opts.Protect
	p.Readable = slices.Concat(p.Readable, r.opts.Readable)
	if err := p.CheckLandlock(ctx, r.opts.Root, r.opts.Home); err != nil {
		return shield, err
	}
	if (p.User != "" || p.Sandbox) && r.opts.IsWatching() {
		return shield, fmt.Errorf("%w: protect.user and protect.sandbox are for loops, and a watched session is your own: leave them out", protect.ErrUnavailable)
	}

	if !r.opts.IsWatching() || p.Landlock { // a watched session belongs to the user
		site := r.opts.SandboxSite(r.opts.Env)
		site.State, site.Temp, site.Hidden, site.Self = r.opts.Home, r.ledger.TempDir(), r.opts.Hidden.Dir, r.opts.Self
		warning := ""
		if shield, warning, err = p.Shield(ctx, site); err != nil {
			return shield, err
		}
		if warning != "" {
			r.warn(warning, nil)
		}
		// Later loops read the user's files about agents, so this agent must not change them.
		if len(shield.ReadOnly) > 0 {
			if dir, err := filepath.EvalSymlinks(agent.UserDir()); err == nil {
				shield.ReadOnly = append(shield.ReadOnly, dir)
			}
			shield.ReadOnly = append(shield.ReadOnly, r.opts.ReadOnly...)
		}
	}

	r.checks.user, err = p.FindUser(ctx, protect.Tree{
		Root: r.opts.Root, Dir: r.opts.WorkDir(), MustOwn: r.state.BaselineSnapshot == "", // a resumed loop has restored files as root
		Private: map[string]string{"the state folder": r.ledger.Dir(), "the folder of the snapshots": r.ledger.SnapshotDir(), "the folder of the hidden tests": r.opts.Hidden.Dir},
	})
	if err == nil && r.checks.user != nil {
		r.checks.userDir, err = protect.MakeCheckDir()
	}
	return shield, err
}

// checkHiddenTests returns an error if the folder has no hidden tests, or if the state folder is
// where the agent could read their results.
func (o Options) checkHiddenTests() error {
	if o.Hidden.Dir == "" && o.Hidden.Seal == 0 {
		return nil
	}
	if _, inside := ledger.PathInTree(o.Home, o.Root); inside {
		return fmt.Errorf("hidden tests: the state folder %s is in the working tree, where the agent would see what it says of them: give another --state-dir", o.Home)
	}
	if o.Hidden.Dir == "" {
		return nil
	}
	if _, err := originaltests.ReadHiddenFiles(o.Hidden.Dir); err != nil {
		return fmt.Errorf("hidden tests: %w", err)
	}
	return nil
}

// checkScripts returns the files in the tree that the checks start, as slash paths relative to its
// root.
func (s Settings) checkScripts() []string {
	var out []string
	for _, name := range s.Plan.Programs() {
		path := filepath.Join(s.Plan.Root, name)
		if rel, err := filepath.Rel(s.Root, path); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// keptSnapshots returns the snapshots that the limit of the store must not drop: the baseline, the
// best iteration, the tree that the next iteration starts from, and those of
// [worktree.ProtectedSnapshots].
func (r *run) keptSnapshots() map[snapshot.ID]bool {
	keep := worktree.ProtectedSnapshots(r.past.Iterations)
	keep[r.state.BaselineSnapshot], keep[r.past.SafeSnapshot] = true, true
	keep[r.original] = true
	if r.state.Best != nil {
		keep[r.state.Best.Snapshot] = true
	}
	return keep
}

// handleKilledLoops looks for other loops of this tree that were killed or suspended. It finishes
// interrupted restores, restores sealed tests, and reports that the tree may contain unjudged changes of an agent.
func (r *run) handleKilledLoops(ctx context.Context) error {
	loops, err := ledger.ListLoops(r.opts.Home, r.opts.Root)
	if err != nil {
		return err
	}
	for _, s := range loops {
		dir := ledger.LoopDir(r.opts.Home, s.LoopID)
		hasUnfinishedRestore := snapshot.ReadUnfinished(ledger.SnapshotDir(dir)) != nil
		isKilled := s.IsUnnoticedCrash() || hasUnfinishedRestore
		if s.LoopID == r.state.LoopID {
			continue
		}
		if isKilled {
			err = r.handleKilledLoop(ctx, s)
		}
		if err == nil {
			err = r.restoreSealedOf(dir, s.LoopID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handleKilledLoop handles one loop that was killed, or whose restore was interrupted.
func (r *run) handleKilledLoop(ctx context.Context, dead ledger.State) error {
	dir := ledger.LoopDir(r.opts.Home, dead.LoopID)
	data, position := event.Crash{LoopID: dead.LoopID, Iteration: dead.Iteration, LoopEnded: !dead.IsUnnoticedCrash()}, event.NewPosition()
	if _, err := ledger.ReadLog(dir, position.Apply); err == nil && !data.LoopEnded {
		data.Trees = position.Trees()
		if err := r.endSurvivors(ctx, position); err != nil {
			return fmt.Errorf("loop %s was killed: %w", dead.LoopID, err)
		}
	}
	store, err := snapshot.Open(ctx, r.opts.Root, ledger.SnapshotDir(dir), r.opts.Snapshot)
	if err != nil {
		return fmt.Errorf("finish what loop %s left when it was killed: %w", dead.LoopID, err)
	}
	if restore := store.Recovered(); restore != nil {
		data.Restored, data.Trees.Kept = true, restore.Safety.Name()
	}
	err = errors.Join(r.journal.Write(event.CrashFound, 0, data), store.Close())
	if err != nil || data.LoopEnded {
		return err
	}
	return errors.Join(ledger.SweepScratch(dir), ledger.MarkCrashed(dir, dead, r.state.LoopID))
}

// close releases everything that the run has open. Errors are only logged.
func (r *run) close() {
	r.notifier.Close()
	err := errors.Join(r.kept.Remove(), r.ledger.Close())
	if r.checks != nil {
		err = errors.Join(err, r.checks.close())
	}
	if r.tree != nil {
		err = errors.Join(r.tree.Store.Close(), err)
	}
	if err != nil {
		r.opts.Log.WithError(err).Warn("close the loop's folder")
	}
}
