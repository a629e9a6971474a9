package agentrun

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/ledger"
	"supervise/runner"
)

// Placeholders in the agent's arguments.
const (
	promptText = "{{prompt}}"
	promptFile = "{{prompt_file}}"
)

// The errors of a prompt that no argument can hold name the remedy as well.
var (
	errPromptTooLong = fmt.Errorf("the prompt is longer than an argument may be (%d bytes): use {{prompt_file}}, or no placeholder to have it on standard input", agent.MaxArgument)
	errPromptZero    = errors.New("the prompt contains a zero byte, which no argument can: use {{prompt_file}}, or no placeholder to have it on standard input")
)

// errNoTask is returned for a known program without a task.
var errNoTask = errors.New("a known agent needs a task: give it with -p or -P")

// checkArgument returns an error if a text cannot be an argument.
func checkArgument(arg string) error {
	switch {
	case len(arg) > agent.MaxArgument:
		return errPromptTooLong
	case strings.ContainsRune(arg, 0):
		return errPromptZero
	}
	return nil
}

// command returns the agent's command, and writes the files that it names to dir. The prompt
// is always available as a file outside of the tree. The preset of a known program says how to
// pass it. In a command of the user it replaces the placeholders; if there are none, a task is
// passed on standard input.
func (r *run) command(dir string) (runner.Command, error) {
	text := r.task.Prompt
	path, evidence, err := r.writePrompt(dir, text)
	if err != nil {
		return runner.Command{}, err
	}

	box, err := r.sandbox(path, evidence)
	if err == nil {
		err = r.writeNotes()
	}
	if err != nil {
		return runner.Command{}, err
	}

	cmd := runner.Command{
		Dir: r.WorkDir(), Terminal: r.terminal(), Timeout: r.IterationTimeout, FirstOutput: r.FirstOutputTimeout, Idle: r.IdleTimeout, Grace: r.Grace,
		Env: r.agentEnv(path, evidence), ReadOnly: r.Shield.ReadOnly, Writable: r.Shield.Writable, Sandbox: box, OnInterrupt: r.OnInterrupt, KeepOpen: r.Ledger.TreeLocks(), User: r.User,
	}
	if r.Program.Name != "" {
		return cmd, r.launch(&cmd, path)
	}

	placed := false
	fill := strings.NewReplacer(promptText, text, promptFile, path)
	for _, arg := range r.Args {
		filled := fill.Replace(arg)
		placed = placed || filled != arg
		if err := checkArgument(filled); err != nil {
			return runner.Command{}, err
		}
		cmd.Args = append(cmd.Args, filled)
	}

	switch {
	case r.Setup.Task != "" && !placed:
		cmd.Stdin = strings.NewReader(text)
	case cmd.Terminal == nil || cmd.Terminal.In == nil:
		cmd.Stdin = strings.NewReader("") // many agents would wait forever for keys of a terminal
	}
	return cmd, nil
}

// minBudget is the minimum budget that is passed to a program, in US dollars.
const minBudget = .0001

// launch completes the command of a known program. path is the file with the prompt.
func (r *run) launch(cmd *runner.Command, path string) error {
	p, err := agent.ByName(r.Program.Name)
	if err != nil {
		return err
	}
	if r.Setup.Task == "" {
		return errNoTask
	}

	l := agent.Launch{Prompt: r.task.Prompt, File: path, Model: r.Program.Model, Yolo: r.Program.Yolo, Extra: append(slices.Clone(r.hooks.args()), r.Args...)}
	if r.Program.Continue {
		l.Session = r.session.id
	}
	if r.MaxCost > 0 {
		l.Budget = max(r.MaxCost-*cmp.Or(r.task.Spent.CostUSD, new(0.0)), minBudget)
	}

	inv := p.Command(l)
	cmd.Args, cmd.Stdin = inv.Args, strings.NewReader(inv.Stdin)
	if cmd.Grace == (runner.Grace{}) {
		cmd.Grace = p.Grace()
	}
	r.session.requestedID = l.Session
	return nil
}

// terminal returns the terminal for the agent, nil if it gets none.
func (a *Agent) terminal() *runner.Terminal {
	if a.Pty == PtyNever {
		return nil
	}
	t := runner.Terminal{}
	if a.Terminal != nil {
		t = *a.Terminal
	}
	t.Optional = a.Pty != PtyAlways
	return &t
}

// agentEnv returns the environment of the agent, with the variables of supervise. prompt is
// the path of the prompt, and evidence the folder of the evidence.
func (r *run) agentEnv(prompt, evidence string) []string {
	env := r.environ(r.Env)
	if r.User != nil {
		env = r.User.Environ(env)
	}
	if r.Shield.Sandbox != nil {
		env = append(env, r.Shield.Sandbox.Network.Environ()...)
	}
	return append(append(env, r.hooks.env()...),
		"SUPERVISE_LOOP_ID="+r.LoopID,
		"SUPERVISE_ITERATION="+strconv.Itoa(r.task.Iteration),
		"SUPERVISE_PROMPT_FILE="+prompt,
		agent.EvidenceEnv+"="+evidence,
		agent.NotesEnv+"="+r.notes.agentPath,
	)
}

// sandbox returns the agent's sandbox with its prompt, the evidence and its hooks; nil without
// a sandbox. It empties the agent's folder for temporary files.
func (r *run) sandbox(prompt, evidence string) (*runner.Sandbox, error) {
	if r.Shield.Sandbox == nil {
		return nil, nil //nolint:nilnil // none is wanted
	}
	shown := []string{prompt, evidence, filepath.Join(r.Ledger.Dir(), "hooks")}
	if r.hooks != nil {
		shown = append(shown, r.hooks.server.Path())
	}
	temp := r.Ledger.TempDir() // removed by takePromptBack
	return r.Shield.SandboxWith(shown...), errors.Join(os.RemoveAll(temp), os.Mkdir(temp, 0o700))
}

// writePrompt writes the prompt and the evidence to a folder that the agent can read, and
// returns the path of the prompt and the folder of the evidence.
func (r *run) writePrompt(dir, text string) (path, evidence string, err error) {
	path, evidence = filepath.Join(dir, ledger.PromptName), filepath.Join(dir, "evidence")
	if err := errors.Join(os.RemoveAll(evidence), os.Mkdir(evidence, 0o700), ledger.WriteFile(path, []byte(text))); err != nil {
		return "", "", fmt.Errorf("write the prompt: %w", err)
	}
	for name, text := range r.task.Evidence {
		if err := ledger.WriteFile(filepath.Join(evidence, name), []byte(text)); err != nil {
			return "", "", err
		}
	}

	if r.User == nil {
		return path, evidence, nil
	}
	files := map[string]string{ledger.PromptName: text, notesName: r.task.Notes}
	maps.Copy(files, r.task.Evidence)
	if r.promptDir, err = r.User.WriteFiles(files); err != nil {
		return "", "", err
	}
	return filepath.Join(r.promptDir, ledger.PromptName), r.promptDir, nil
}

// removePrompt removes the files of writePrompt, writeNotes and sandbox.
func (r *run) removePrompt() {
	r.readBackNotes()
	if r.Shield.Sandbox != nil {
		if err := os.RemoveAll(r.Ledger.TempDir()); err != nil {
			r.Warn("remove the temporary files of the agent", err)
		}
	}
	if r.promptDir == "" {
		return
	}
	if err := os.RemoveAll(r.promptDir); err != nil {
		r.Warn("remove the prompt that was handed to the agent", err)
	}
	r.promptDir = ""
}

// maskPrompt masks the secrets in the stored prompt, after the agent has read it.
func (r *run) maskPrompt(dir string) error {
	masked := r.masked(r.task.Prompt)
	if masked == r.task.Prompt {
		return nil
	}
	return ledger.WriteFile(filepath.Join(dir, ledger.PromptName), []byte(masked))
}
