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

// commitMessage is the template of the message of --commit.
const commitMessage = "{{.Title}}\n\nIteration {{.Iteration}} of loop {{.Loop}}, under supervise.\n"

var errNotClean = errors.New("--commit makes a commit of what each task changed, and there is uncommitted work: commit or stash it first")

// taskRun is what became of a task of a list.
type taskRun struct {
	Number int `json:"number"`
	tasklist.Task
	Status     string `json:"status"` // done, done before, not done, not begun
	Loop       string `json:"loop,omitempty"`
	Iteration  int    `json:"iteration"` // that was selected
	Iterations int    `json:"iterations"`
	Why        string `json:"why,omitempty"` // it is not done
	Commit     string `json:"commit,omitempty"`
}

// The statuses of tasks.
const (
	taskDone       = "done"
	taskDoneBefore = "done before"
	taskNotDone    = "not done"
	taskNotBegun   = "not begun"
)

// list is a run of several tasks, one after the other, each in a loop of its own.
type list struct {
	app    *app
	at     place
	opts   loop.Options
	print  printFlags
	file   string // that holds the tasks, relative to the tree; "" where it lies elsewhere
	commit *template.Template
	runs   []taskRun
}

// runList does the tasks and says at the end what became of each. A task that is not done
// does not keep the next from being begun, unless a person is needed, the agent cannot
// work, or the user stops it all.
func (a *app) runList(ctx context.Context, at place, opts loop.Options, o runOptions, tasks []tasklist.Task) (err error) {
	if o.noApply {
		return usageError{errors.New("--no-apply leaves a tree that nobody has judged, on which no further task can be begun: leave it out, or give one task without --commit")}
	}
	l := &list{app: a, at: at, opts: opts, print: o.printFlags}
	if path, err := filepath.Abs(o.promptFile); err == nil && o.promptFile != "" {
		if rel, err := filepath.Rel(at.root, path); err == nil && filepath.IsLocal(rel) {
			l.file = rel
		}
	}
	if o.commit {
		err = l.committing(ctx, o.commitMessage)
	}
	if err == nil {
		err = l.plan(tasks, o.again)
	}
	if err != nil {
		return err
	}
	err = l.all(ctx)
	if len(tasks) > 1 {
		err = errors.Join(err, l.say())
	}
	return err
}

// plan notes what is to be done of the tasks. Of a list, what a loop of this tree has done
// is done only again.
func (l *list) plan(tasks []tasklist.Task, again bool) error {
	before, err := ledger.ListLoops(l.opts.Home, l.at.root)
	for i, t := range tasks {
		x := taskRun{Number: i + 1, Task: t, Status: taskNotBegun}
		if t.Done {
			x.Status = taskDoneBefore
		}
		done := func(s ledger.State) bool { return s.Task == t.Text && s.Status == ledger.Completed && s.ExitCode == 0 }
		if at := slices.IndexFunc(before, done); at >= 0 && len(tasks) > 1 && !again {
			x.Status, x.Loop = taskDoneBefore, before[at].LoopID
		}
		l.runs = append(l.runs, x)
	}
	return err
}

// all does one task after another. The status of the first that is not done is that of
// the list.
func (l *list) all(ctx context.Context) error {
	code := 0
	for i := range l.runs {
		if l.runs[i].Status != taskNotBegun {
			continue
		}
		err := l.one(ctx, &l.runs[i])
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

// one does one task.
func (l *list) one(ctx context.Context, x *taskRun) error {
	opts := l.opts
	opts.Task = x.Text
	l.opts.Hint = ""
	if x.Until != "" {
		until := criterion.Parse(x.Until)
		until.Promise, until.Quality = opts.Until.Promise, opts.Until.Quality
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
		return l.keep(ctx, x)
	case l.commit != nil && x.Iteration > 0:
		return l.undo(ctx, x)
	}
	return nil
}

// committing prepares for commits: nothing else may be in them.
func (l *list) committing(ctx context.Context, message string) (err error) {
	if err := l.at.underGit(ctx, "--commit"); err != nil {
		return err
	}
	if l.commit, err = template.New("--commit-message").Parse(cmp.Or(message, commitMessage)); err != nil {
		return usageError{err}
	}
	if _, err := l.message(&taskRun{}); err != nil {
		return usageError{err}
	}
	changed, err := l.git(ctx, "", append([]string{"status", "--porcelain", "--"}, l.paths()...)...)
	if err == nil && changed != "" {
		err = usageError{fmt.Errorf("%w:\n%s", errNotClean, changed)}
	}
	return err
}

// paths are those that a commit is about: all but the list itself.
func (l *list) paths() []string {
	if l.file == "" {
		return []string{"."}
	}
	return []string{".", ":(exclude,literal)" + filepath.ToSlash(l.file)}
}

func (l *list) git(ctx context.Context, in string, args ...string) (string, error) {
	c := git.NewCommand(l.at.root, args...)
	c.Stdin = strings.NewReader(in)
	out, err := c.Output(ctx)
	return strings.TrimRight(string(out), "\n"), err
}

func (l *list) message(x *taskRun) (string, error) {
	var b strings.Builder
	err := l.commit.Execute(&b, struct {
		Title, Task, Loop string
		Number, Iteration int
	}{x.Title(), x.Text, x.Loop, x.Number, x.Iteration})
	return b.String(), err
}

// keep commits what a task changed, signed off as the user, where that is wanted.
func (l *list) keep(ctx context.Context, x *taskRun) error {
	if l.commit == nil || x.Iteration == 0 {
		return nil
	}
	text, err := l.message(x)
	if err == nil {
		_, err = l.git(ctx, "", append([]string{"add", "--all", "--"}, l.paths()...)...)
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

// undo puts the tree back as it was before a task that is not done, so that the next
// commit holds nothing of it.
func (l *list) undo(ctx context.Context, x *taskRun) error {
	code := l.app.code
	err := runRollback(ctx, l.app, rollbackOptions{loop: x.Loop, tree: "0"})
	l.app.code = max(code, l.app.code)
	x.Why += fmt.Sprintf("; undone, to have it: %s rollback %s %d", l.app.self(), x.Loop, x.Iteration)
	return err
}

// say prints what became of each task.
func (l *list) say() error {
	if l.print.json {
		return l.app.lines([]any{map[string]any{"type": "tasks_finished", "tasks": l.runs}})
	}
	fmt.Fprintln(l.app.out)
	for _, x := range l.runs {
		fmt.Fprintf(l.app.out, "task %-3d %-11s  %s\n", x.Number, x.Status, x.Title())
		var more []string
		if x.Loop != "" {
			more = append(more, "loop "+x.Loop)
		}
		if x.Iterations > 0 {
			more = append(more, report.Pluralize(x.Iterations, "iteration", "iterations"))
		}
		if x.Commit != "" {
			more = append(more, "commit "+x.Commit)
		}
		if x.Why != "" {
			more = append(more, x.Why)
		}
		if len(more) > 0 {
			fmt.Fprintf(l.app.out, "         %s\n", strings.Join(more, ", "))
		}
	}
	return nil
}
