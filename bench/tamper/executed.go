package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/bench/internal/stats"
	"supervise/bench/tamper/internal/corpus"
	"supervise/metric"
)

// executed is the verdict of `supervise replay` on one commit, compared with the one before it.
type executed struct {
	repo, commit, subject string

	ran      bool // its tests and those of the commit before; else it is judged by text
	late     bool // it did not end in time, so that it is judged by text
	touches  bool // tests
	asBefore bool // they were run as they were
	mutants  bool // and over mutants
	untried  bool // they could not be run so
	blocked  bool // a gate fails by default
	declared bool // and not where tests: change was declared
	worst    metric.Severity
	findings []string // HIGH or above
	took     time.Duration
}

// replayer runs commits through the program.
type replayer struct {
	binary string
	state  string        // a separate folder for what is measured
	limit  time.Duration // for one commit
}

// replayed is what the program prints.
type replayed struct {
	Proven struct {
		Touching int `json:"touch_tests"`
		Goals    int `json:"as_they_were"`
		Mutated  int `json:"mutation_checked"`
		Untried  int `json:"untried"`
	} `json:"proven"`
	Verdicts []struct {
		Blocked bool   `json:"blocked"`
		ByText  string `json:"by_text"`
		Alerts  []struct {
			Rule         string          `json:"rule"`
			Severity     metric.Severity `json:"severity"`
			Basis        string          `json:"basis"`
			Acknowledged any             `json:"acknowledged"`
		} `json:"alerts"`
	} `json:"verdicts"`
}

// executeAll judges the latest commits that touch code, the same number of each
// repository, round-robin, so that a time limit leaves as many of each.
func executeAll(f *flags, w io.Writer) error {
	dirs := slices.Concat(f.tune, f.report)
	state, err := os.MkdirTemp("", "tamper-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(state) }()
	r := replayer{f.binary, state, f.each}
	lists := make([][]corpus.Commit, len(dirs))
	names := make([]string, len(dirs))
	for i, dir := range dirs {
		repo, err := corpus.OpenRepo(dir)
		if err != nil {
			return err
		}
		names[i] = repo.Name
		lists[i], err = repo.CodeCommits(f.set.negatives, f.set.maxFiles)
		if err := errors.Join(err, repo.Close()); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	found := make([][]executed, max(1, f.jobs))
	faults := make([]error, len(found))
	var done sync.WaitGroup
	for k := range found {
		done.Go(func() { // the commits of a repository by one, so that they share what is measured
			for round := range f.set.negatives {
				for i := k; i < len(dirs); i += len(found) {
					if round >= len(lists[i]) || !f.set.until.IsZero() && time.Now().After(f.set.until) {
						continue
					}
					c := lists[i][round]
					e, err := r.commit(dirs[i], c.ID)
					if err != nil {
						faults[k] = fmt.Errorf("%s: commit %s: %w", dirs[i], c.ID, err)
						return
					}
					e.repo, e.commit, e.subject = names[i], c.ID, c.Subject
					fmt.Fprintf(os.Stderr, "%s %.10s %.1f s ran=%t blocked=%t %v\n", e.repo, e.commit, e.took.Seconds(), e.ran, e.blocked, e.findings)
					found[k] = append(found[k], e)
				}
			}
		})
	}
	done.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	printExecuted(w, names, slices.Concat(found...))
	return nil
}

// commit judges one commit. One that does not end in time is judged by text.
func (r replayer) commit(dir, id string) (executed, error) {
	began := time.Now()
	out, err := r.run(dir, id, r.limit)
	late := errors.Is(err, context.DeadlineExceeded)
	if late {
		out, err = r.run(dir, id, 0, "--fresh", "--setup", "exit 1")
	}
	if err != nil {
		return executed{}, err
	}
	if len(out.Verdicts) != 1 {
		return executed{}, fmt.Errorf("%d verdicts", len(out.Verdicts))
	}
	v := out.Verdicts[0]
	e := executed{
		ran: v.ByText == "", late: late, blocked: v.Blocked, took: time.Since(began),
		touches: out.Proven.Touching > 0, asBefore: out.Proven.Goals > 0, mutants: out.Proven.Mutated > 0, untried: out.Proven.Untried > 0,
	}
	for _, a := range v.Alerts {
		if a.Acknowledged == nil {
			e.worst = max(e.worst, a.Severity)
		}
		if a.Severity >= metric.High {
			e.findings = append(e.findings, fmt.Sprintf("%s %s (%s)", a.Severity, a.Rule, a.Basis))
		}
	}
	if e.blocked && e.ran { // judged again: it was run
		out, err := r.run(dir, id, r.limit, "--tests", "change")
		e.declared = err == nil && len(out.Verdicts) == 1 && !out.Verdicts[0].Blocked
	}
	return e, nil
}

func (r replayer) run(dir, id string, limit time.Duration, more ...string) (out replayed, err error) {
	ctx := context.Background()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, r.binary, append([]string{"replay", id + "^.." + id, "--json"}, more...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends what it runs
	cmd.WaitDelay = time.Minute
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+r.state)
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		return out, fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return out, json.Unmarshal(text, &out)
}

// printExecuted prints the rates, those that ran and those judged by text apart.
func printExecuted(w io.Writer, names []string, all []executed) {
	t := &table{w: w}
	t.row("repository", "commits", "ran", "by text alone", "of them late", "ran and touch tests", "run as they were", "over mutants", "could not be run so", "median time")
	for _, name := range append(slices.Clone(names), "all") {
		var n [8]int
		var took []time.Duration
		for _, e := range all {
			if name != "all" && e.repo != name {
				continue
			}
			took = append(took, e.took)
			for i, is := range []bool{true, e.ran, !e.ran, e.late, e.touches, e.asBefore, e.mutants, e.untried} {
				if is {
					n[i]++
				}
			}
		}
		cells := []string{name}
		for _, k := range n {
			cells = append(cells, fmt.Sprint(k))
		}
		t.row(append(cells, fmt.Sprintf("%.0f s", quantile(took, .5).Seconds()))...)
	}
	fmt.Fprintf(w, "\nPer 100 commits [95 %% Wilson]:\n\n")
	t = &table{w: w}
	t.row("commits", "CRITICAL", "HIGH or above", "blocked by the gate's default", "blocked with tests: change as well")
	for _, g := range []struct {
		name string
		in   func(executed) bool
	}{
		{"ran", func(e executed) bool { return e.ran }},
		{"ran, and touch tests", func(e executed) bool { return e.touches }},
		{"by text alone", func(e executed) bool { return !e.ran }},
		{"all", func(executed) bool { return true }},
	} {
		var critical, high, blocked, anyway stats.Share
		for _, e := range all {
			if g.in(e) {
				critical.Add(e.worst >= metric.Critical)
				high.Add(e.worst >= metric.High)
				blocked.Add(e.blocked)
				anyway.Add(e.blocked && !e.declared)
			}
		}
		t.row(g.name, critical.String(), high.String(), blocked.String(), anyway.String())
	}
	fmt.Fprintf(w, "\nFindings at HIGH or above:\n\n")
	t = &table{w: w}
	t.row("commit", "blocked", "judged by", "findings")
	slices.SortStableFunc(all, func(a, b executed) int { return cmp.Compare(a.repo, b.repo) })
	for _, e := range all {
		if e.worst >= metric.High {
			t.row(fmt.Sprintf("%s %.10s", e.repo, e.commit), blockedText(e), map[bool]string{true: "run", false: "text"}[e.ran], strings.Join(e.findings, ", "))
		}
	}
}

func blockedText(e executed) string {
	switch {
	case e.declared:
		return "unless declared"
	case e.blocked:
		return "yes"
	}
	return "no"
}
