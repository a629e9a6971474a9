// Package review asks for a second opinion on a change: a program that the user names,
// usually an agent, reads the change and what running it showed, and answers in a fixed
// form. What it says is an opinion. It can add findings, and removes none.
package review

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/internal/protect"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

// Options say who reviews.
type Options struct {
	Agent   string        `json:"agent,omitempty"` // a known agent program, or a command for the shell; "": no review
	Model   string        `json:"model,omitempty"` // of a known program; "": its own choice
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Protect says what of the environment the reviewer is given, as an agent is.
	Protect protect.Settings `json:"protect,omitzero"`
}

// DefaultTimeout is how long a reviewer may take.
const DefaultTimeout = 10 * time.Minute

// Preset is the known agent program that reviews, false for a command.
func (o Options) Preset() (agent.Preset, bool) {
	p, err := agent.ByName(o.Agent)
	return p, err == nil
}

// Reviewer asks for opinions.
type Reviewer struct {
	Options
	Task string   // what the change was to do
	Env  []string // of which the reviewer is given what Protect allows, without supervise's own variables
	// ProtectedDirs are folders that the reviewer must not write to, besides the working tree and
	// git's folder of it.
	ProtectedDirs []string
	// BudgetUSD is what the reviewer may cost, in US dollars; 0: no limit. Over names the
	// limit that a consumption reaches, "" for none; nil: there is none.
	BudgetUSD    float64
	LimitReached func(metric.Usage) string

	Masker      *runner.Masker
	Hold        []*os.File                 // as in [runner.Command]
	BeforeStart func(runner.Process) error // the same
}

// Change is what is reviewed.
type Change struct {
	Base, Current snapshot.ID
	Files         []string // that changed
	Results       string   // what running it showed
}

// Ask has a change reviewed in a private copy of the tree. Whatever keeps the reviewer
// from an answer is said in the review: there is no opinion then. The error is that of
// ctx.
func (r *Reviewer) Ask(ctx context.Context, w treecopy.Workspace, c Change) (*ledger.Review, error) {
	out := &ledger.Review{Reviewer: r.Masker.String(r.Agent)}
	if out.Why = r.limitReached(metric.Usage{}); out.Why != "" {
		return out, nil
	}
	started := time.Now()
	err := r.askInCopy(ctx, w, c, out)
	out.Duration = time.Since(started)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		out.Verdict, out.Findings, out.Why = "", nil, r.Masker.String(shorten(err.Error()))
	}
	return out, nil
}

func (r *Reviewer) askInCopy(ctx context.Context, w treecopy.Workspace, c Change, out *ledger.Review) error {
	patch := &cappedBuffer{limit: maxPatch}
	if err := w.Store.WritePatch(ctx, patch, c.Base, c.Current); err != nil {
		return err
	}
	question := Question{Task: r.Task, Patch: patch.String(), Results: c.Results}
	return w.WithCopy(ctx, c.Current, func(t treecopy.Tree) error {
		if err := t.Restore(ctx, c.Base, instructionFilesAmong(c.Files)...); err != nil {
			return err
		}
		desk, err := r.newWorkDir(t, r.Masker.String(question.Prompt()))
		if err != nil {
			return err
		}
		message, err := r.run(ctx, t, desk, out)
		if err := errors.Join(err, ledger.RemoveTree(desk.dir)); err != nil {
			return err
		}
		a, err := ParseAnswer(strings.ReplaceAll(message, t.Path+string(filepath.Separator), ""))
		if err != nil {
			return err
		}
		out.Verdict, out.Findings = a.Verdict, a.Findings
		for i := range out.Findings {
			out.Findings[i].Reason = r.Masker.String(out.Findings[i].Reason)
		}
		return nil
	})
}

// limitReached names the limit that a consumption reaches, "" for none.
func (r *Reviewer) limitReached(usage metric.Usage) string {
	if r.LimitReached == nil {
		return ""
	}
	return r.LimitReached(usage)
}

// workDir is a folder with what the reviewer needs besides the tree.
type workDir struct{ dir, prompt, file, temp string }

func (r *Reviewer) newWorkDir(t treecopy.Tree, prompt string) (workDir, error) {
	dir, err := os.MkdirTemp(t.Scratch, "review-")
	if err != nil {
		return workDir{}, err
	}
	d := workDir{dir, prompt, filepath.Join(dir, "prompt.md"), filepath.Join(dir, "tmp")}
	if err := errors.Join(os.WriteFile(d.file, []byte(prompt), 0o600), os.Mkdir(d.temp, 0o700)); err != nil || t.User == nil {
		return d, err
	}
	return d, errors.Join(t.User.Chown(dir), t.User.Chown(t.Path))
}

// maxOutput is how much of the end of a command's output is read, in bytes.
const maxOutput = 256 << 10

// run starts the reviewer and returns its last message.
func (r *Reviewer) run(ctx context.Context, t treecopy.Tree, d workDir, out *ledger.Review) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, known := r.Preset()
	reader := p.NewReader(func(report agent.Report) {
		if limit := r.limitReached(report.Usage); limit != "" {
			cancel(errors.New(limit))
		}
	})
	output, troubles := runner.NewTail(maxOutput), runner.NewTail(4<<10)
	cmd := r.command(ctx, t, d)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(output, reader), troubles
	if known {
		cmd.Stderr = cmd.Stdout // why a program fails is read in what it says there, too
	}
	res, err := runner.Run(ctx, cmd)
	if err := errors.Join(err, reader.Close()); err != nil && !(res.Cause == runner.Stopped && ctx.Err() != nil) {
		return "", err
	}
	report := reader.Report()
	if !report.Usage.IsZero() {
		out.Usage = &report.Usage
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if why := r.failureText(res, report, known); why != "" {
		return "", errors.New(strings.TrimSuffix(why+": "+shorten(cmp.Or(report.Message, lastLine(troubles.String()), lastLine(report.LastOutput))), ": "))
	}
	if report.LastMessage != "" {
		return report.LastMessage, nil
	}
	return agent.StripEscapes(output.String()), nil
}

// failureText says how the reviewer ended, "" where it ended well. A tool that it was denied
// does not matter: it was to read.
func (r *Reviewer) failureText(res runner.Result, report agent.Report, known bool) string {
	p, _ := r.Preset()
	end := agent.Ending{ExitCode: res.ExitCode, Signal: res.Signal, TimedOut: res.Cause == runner.TimedOut, Stopped: res.Cause == runner.Stopped || res.Cause == runner.Interrupted}
	switch outcome := report.Outcome(p, end, known && p.Events.IsDefined()); {
	case outcome == agent.Timeout:
		return fmt.Sprintf("it took longer than %s", r.timeout())
	case outcome == agent.OK, outcome == agent.Denied:
		return ""
	case !known:
		return fmt.Sprintf("it ended with status %d", res.ExitCode)
	default:
		return "it ended without success (" + strings.ReplaceAll(string(outcome), "_", " ") + ")"
	}
}

func (r *Reviewer) timeout() time.Duration {
	return cmp.Or(r.Timeout, DefaultTimeout)
}

// command puts the reviewer's command together. A known program gets the prompt in its
// own way, and never the consent to do everything unasked; any other one gets it on
// standard input, and in the file $SUPERVISE_PROMPT_FILE.
func (r *Reviewer) command(ctx context.Context, t treecopy.Tree, d workDir) runner.Command {
	cmd := runner.Command{
		Args: []string{"/bin/sh", "-c", r.Agent}, Dir: t.ProjectDir(), Stdin: strings.NewReader(d.prompt), Timeout: r.timeout(),
		KeepOpen: r.Hold, BeforeStart: r.BeforeStart, User: t.User, Writable: r.writable(ctx, t, d),
	}
	env := r.Protect.ForAgent(withoutOwnVariables(r.Env), nil)
	if p, known := r.Preset(); known {
		inv := p.Command(agent.Launch{Prompt: d.prompt, File: d.file, Model: r.Model, Budget: r.BudgetUSD})
		cmd.Args, cmd.Stdin, cmd.Grace = inv.Args, strings.NewReader(inv.Stdin), p.Grace()
		env = p.Environ(env, false)
	}
	if t.User != nil {
		env = t.User.Environ(env)
	}
	cmd.Env = slices.Concat(env, t.Env(ctx, env), []string{"SUPERVISE_PROMPT_FILE=" + d.file, "TMPDIR=" + d.temp})
	return cmd
}

// writable lists what the reviewer may write: not the working tree, where the kernel can
// see to that.
func (r *Reviewer) writable(ctx context.Context, t treecopy.Tree, d workDir) []string {
	switch {
	case r.Protect.Landlock:
		return append(r.Protect.WritablePaths(ctx, t.Path), d.dir)
	case runner.CheckLandlock() != nil:
		return nil
	}
	protected := append([]string{t.Root}, r.ProtectedDirs...)
	if dir, err := git.CommonDir(ctx, t.Root); err == nil {
		protected = append(protected, dir)
	}
	return append(protect.PathsOutside(protected...), t.Path, d.dir)
}

// withoutOwnVariables are the variables that are not supervise's own: they name the loop and its
// folders.
func withoutOwnVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "SUPERVISE_") || strings.HasPrefix(kv, "TMPDIR=")
	})
}

// cappedBuffer keeps the beginning of what is written to it, and counts the rest.
type cappedBuffer struct {
	bytes.Buffer
	limit, dropped int
}

// Write never fails.
func (h *cappedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), max(0, h.limit-h.Len()))
	h.dropped += len(p) - n
	_, _ = h.Buffer.Write(p[:n]) // it never fails
	return len(p), nil
}

// String returns the beginning, and how much is left out.
func (h *cappedBuffer) String() string {
	if h.dropped == 0 {
		return h.Buffer.String()
	}
	return strings.ToValidUTF8(h.Buffer.String(), "") + fmt.Sprintf("\n[%d bytes more are left out here; read the files]", h.dropped)
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	text = strings.TrimSpace(agent.StripEscapes(text))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
