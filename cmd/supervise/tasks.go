package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"supervise/internal/criterion"
	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/report"
	"supervise/internal/tasklist"
)

// commitMessage is the default template of the message of a commit with --commit.
const commitMessage = "{{.Title}}\n\nIteration {{.Iteration}} of loop {{.Loop}}, under supervise.\n"

// errNotClean is returned if the working tree has uncommitted changes, which a commit would
// include.
var errNotClean = errors.New("--commit commits the changes of each task, and there is uncommitted work: commit or stash it first")

// taskRun is a task in a list, and its outcome.
type taskRun struct {
	Number int `json:"number"`
	tasklist.Task
	Status     string `json:"status"` // one of the constants below
	Loop       string `json:"loop,omitempty"`
	Iteration  int    `json:"iteration"` // number of the selected iteration
	Iterations int    `json:"iterations"`
	Why        string `json:"why,omitempty"`    // why it is not done
	Commit     string `json:"commit,omitempty"` // short ID of the commit with the changes
}

// The statuses of tasks.
const (
	taskDone       = "done"
	taskDoneBefore = "done before"
	taskNotDone    = "not done"
	taskNotStarted = "not started"
)

// taskRunner runs the tasks of a list one after another, each in a separate loop.
type taskRunner struct {
	app    *app
	at     workspace
	opts   loop.Options
	print  printFlags
	file   string             // path of the task list in the tree; "" if it is outside
	commit *template.Template // template of commit messages; nil without --commit
	runs   []taskRun
}

// runList does the tasks and prints the outcome of each. After a task that is not done, it
// continues with the next one, unless a person is needed, the agent cannot work, or the user
// interrupts.
func (a *app) runList(ctx context.Context, at workspace, opts loop.Options, o runOptions, tasks []tasklist.Task) (err error) {
	if o.noApply {
		return usageError{errors.New("--no-apply leaves an unjudged tree, so no further task can start: omit it, or give one task without --commit")}
	}
	l := &taskRunner{app: a, at: at, opts: opts, print: o.printFlags}
	if path, err := filepath.Abs(o.promptFile); err == nil && o.promptFile != "" {
		if rel, err := filepath.Rel(at.root, path); err == nil && filepath.IsLocal(rel) {
			l.file = rel
		}
	}

	if o.commit {
		err = l.prepareCommits(ctx, o.commitMessage)
	}
	if err == nil {
		err = l.planTasks(tasks, o.again)
	}
	if err != nil {
		return err
	}

	err = l.runAll(ctx)
	if len(tasks) > 1 {
		err = errors.Join(err, l.printSummary())
	}
	return err
}

// planTasks fills l.runs. It marks the tasks that are done already: in the file, or by an earlier
// loop of this tree unless again is set.
func (l *taskRunner) planTasks(tasks []tasklist.Task, again bool) error {
	before, err := ledger.ListLoops(l.opts.Home, l.at.root)
	for i, t := range tasks {
		run := taskRun{Number: i + 1, Task: t, Status: taskNotStarted}
		if t.Done {
			run.Status = taskDoneBefore
		}
		hasDone := func(s ledger.State) bool { return s.Task == t.Text && s.Status == ledger.Completed && s.ExitCode == 0 }
		if i := slices.IndexFunc(before, hasDone); i >= 0 && len(tasks) > 1 && !again {
			run.Status, run.Loop = taskDoneBefore, before[i].LoopID
		}
		l.runs = append(l.runs, run)
	}
	return err
}

// runAll does the remaining tasks. The exit status is that of the first task that is not done.
func (l *taskRunner) runAll(ctx context.Context) error {
	code := 0
	for i := range l.runs {
		if l.runs[i].Status != taskNotStarted {
			continue
		}
		err := l.runTask(ctx, &l.runs[i])
		if code == 0 {
			code = l.app.code
		}
		if err != nil {
			return err
		}
		if now := l.app.code; now != 0 && now != 4 && now != 5 {
			break
		}
	}
	l.app.code = code
	return nil
}

// runTask does one task, and records the outcome in x. It commits the changes, or rolls them back.
func (l *taskRunner) runTask(ctx context.Context, x *taskRun) error {
	opts := l.opts
	opts.Task = x.Text
	l.opts.Hint = ""
	if x.Until != "" {
		until := criterion.Parse(x.Until)
		until.Promise, until.Quality, until.Noticed, until.ChangeCoverage = opts.Until.Promise, opts.Until.Quality, opts.Until.Noticed, opts.Until.ChangeCoverage
		opts.Until = until
	}

	if !l.print.json && len(l.runs) > 1 {
		fmt.Fprintf(l.app.out, "\ntask %d of %d: %s\n", x.Number, len(l.runs), x.Title())
	}
	var out loop.Outcome
	l.app.code = 0
	err := l.app.supervise(ctx, opts, l.print, func(ctx context.Context, o loop.Options) (_ loop.Outcome, err error) {
		out, err = loop.Run(ctx, o)
		return out, err
	})
	x.Loop, x.Iterations, x.Status, x.Why = out.LoopID, max(0, len(out.History)-1), taskNotDone, out.Stop.Text
	if err != nil {
		x.Why = err.Error()
		return err
	}

	if out.Choice != nil {
		x.Iteration = out.Choice.Iteration
	}
	switch {
	case l.app.code == 0:
		x.Status, x.Why = taskDone, ""
		return l.commitTask(ctx, x)
	case l.commit != nil && x.Iteration > 0:
		return l.rollBackTask(ctx, x)
	}
	return nil
}

// prepareCommits parses the template of commit messages, and checks that the tree is clean.
func (l *taskRunner) prepareCommits(ctx context.Context, message string) (err error) {
	if err := l.at.requireGit(ctx, "--commit"); err != nil {
		return err
	}
	if l.commit, err = template.New("--commit-message").Parse(cmp.Or(message, commitMessage)); err != nil {
		return usageError{err}
	}
	if _, err := l.message(&taskRun{}); err != nil {
		return usageError{err}
	}
	changed, err := l.git(ctx, "", append([]string{"status", "--porcelain", "--"}, l.commitPaths()...)...)
	if err == nil && changed != "" {
		err = usageError{fmt.Errorf("%w:\n%s", errNotClean, changed)}
	}
	return err
}

// commitPaths returns the paths that git commits: all files except the list of tasks itself.
func (l *taskRunner) commitPaths() []string {
	if l.file == "" {
		return []string{"."}
	}
	return []string{".", ":(exclude,literal)" + filepath.ToSlash(l.file)}
}

// git runs git in the working tree with the text in as its input, and returns the output.
func (l *taskRunner) git(ctx context.Context, in string, args ...string) (string, error) {
	c := git.NewCommand(l.at.root, args...)
	c.Stdin = strings.NewReader(in)
	out, err := c.Output(ctx)
	return strings.TrimRight(string(out), "\n"), err
}

// message returns the commit message for a task.
func (l *taskRunner) message(x *taskRun) (string, error) {
	var b strings.Builder
	err := l.commit.Execute(&b, struct {
		Title, Task, Loop string
		Number, Iteration int
	}{x.Title(), x.Text, x.Loop, x.Number, x.Iteration})
	return b.String(), err
}

// commitTask commits what a task changed, with a sign-off, if --commit is given and something
// changed.
func (l *taskRunner) commitTask(ctx context.Context, x *taskRun) error {
	if l.commit == nil || x.Iteration == 0 {
		return nil
	}
	text, err := l.message(x)
	if err == nil {
		_, err = l.git(ctx, "", append([]string{"add", "--all", "--"}, l.commitPaths()...)...)
	}
	staged := ""
	if err == nil {
		staged, err = l.git(ctx, "", "diff", "--cached", "--name-only")
	}
	if err == nil && staged != "" {
		if _, err = l.git(ctx, text, "commit", "--quiet", "--signoff", "--file=-"); err == nil {
			x.Commit, err = l.git(ctx, "", "rev-parse", "--short", "HEAD")
		}
	}
	if err != nil {
		return fmt.Errorf("task %d is done, and its changes are in the tree, but not committed: %w", x.Number, err)
	}
	return nil
}

// rollBackTask restores the tree from before a task that is not done, so that the next commit does
// not contain its changes.
func (l *taskRunner) rollBackTask(ctx context.Context, x *taskRun) error {
	code := l.app.code
	err := runRollback(ctx, l.app, rollbackOptions{loop: x.Loop, tree: "0"})
	l.app.code = max(code, l.app.code)
	x.Why += fmt.Sprintf("; rolled back, to get it back: %s rollback %s %d", l.app.self(), x.Loop, x.Iteration)
	return err
}

// printSummary prints the outcome of each task.
func (l *taskRunner) printSummary() error {
	if l.print.json {
		return l.app.encodeLines(map[string]any{"type": "tasks_finished", "tasks": l.runs})
	}
	fmt.Fprintln(l.app.out)
	for _, x := range l.runs {
		fmt.Fprintf(l.app.out, "task %-3d %-11s  %s\n", x.Number, x.Status, x.Title())
		var details []string
		if x.Loop != "" {
			details = append(details, "loop "+x.Loop)
		}
		if x.Iterations > 0 {
			details = append(details, report.Pluralize(x.Iterations, "iteration", "iterations"))
		}
		if x.Commit != "" {
			details = append(details, "commit "+x.Commit)
		}
		if x.Why != "" {
			details = append(details, x.Why)
		}
		if len(details) > 0 {
			fmt.Fprintf(l.app.out, "         %s\n", strings.Join(details, ", "))
		}
	}
	return nil
}
