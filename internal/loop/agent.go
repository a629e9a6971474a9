package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/ledger"
	"supervise/internal/prompt"
	"supervise/metric"
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
	errPromptZero    = errors.New("the prompt holds a zero byte, which no argument can: use {{prompt_file}}, or no placeholder to have it on standard input")
)

// passable says what keeps a text from being an argument.
func passable(arg string) error {
	switch {
	case len(arg) > agent.MaxArgument:
		return errPromptTooLong
	case strings.ContainsRune(arg, 0):
		return errPromptZero
	}
	return nil
}

// promptName is the file of a prompt in the folder of its iteration.
const promptName = "prompt.md"

// runAgent starts the agent with the prompt of the iteration and waits until
// nothing of it is left. While its service fails it waits, and starts it again.
func (s *session) runAgent(ctx context.Context, w *work) (err error) {
	text, err := s.prompt(w)
	if err != nil {
		return err
	}
	text += s.opts.Until.promised()
	if s.hooks, err = s.openHooks(w); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.hooks.close()) }()
	for {
		report, err := s.attempt(ctx, w, text)
		if err != nil {
			return err
		}
		again, err := s.await(ctx, w, report)
		if err != nil || !again {
			return err
		}
	}
}

const lastWords = 4 << 10

var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])`)

// StripEscapes removes the escape sequences of a terminal from a text.
func StripEscapes(s string) string { return escapes.ReplaceAllString(s, "") }

// lastLine returns the last line of what was printed that says anything.
func lastLine(s string) string {
	lines := strings.FieldsFunc(StripEscapes(s), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// command puts the agent's command together. The prompt is always there as a
// file, outside the tree. A known program is given it in its own way; else it is
// passed as an argument where the placeholder asks for it, and on standard input
// when there is a task and no placeholder.
func (s *session) command(ctx context.Context, text, dir string, n int) (runner.Command, error) {
	path, err := s.handPrompt(dir, text)
	if err != nil {
		return runner.Command{}, err
	}
	cmd := runner.Command{
		Dir: s.opts.agentDir(), Terminal: s.terminal(), Timeout: s.opts.IterationTimeout, FirstOutput: s.opts.FirstOutputTimeout, Idle: s.opts.IdleTimeout, Grace: s.opts.Grace,
		Env: s.agentEnv(path, n), Writable: s.opts.Protect.WritableIn(ctx, s.opts.Root), OnInterrupt: s.opts.OnInterrupt, Hold: s.ledger.Held(), User: s.user,
	}
	if s.opts.Program.Name != "" {
		return cmd, s.launch(&cmd, text, path)
	}
	placed := false
	fill := strings.NewReplacer(promptText, text, promptFile, path)
	for _, arg := range s.opts.Args {
		filled := fill.Replace(arg)
		placed = placed || filled != arg
		if err := passable(filled); err != nil {
			return runner.Command{}, err
		}
		cmd.Args = append(cmd.Args, filled)
	}
	switch {
	case s.opts.Task != "" && !placed:
		cmd.Stdin = strings.NewReader(text)
	case cmd.Terminal == nil || cmd.Terminal.In == nil:
		cmd.Stdin = strings.NewReader("") // nobody types: a terminal that stays silent hangs many agents
	}
	return cmd, nil
}

// agentDir is where the agent runs.
func (o Settings) agentDir() string { return cmp.Or(o.Dir, o.Root) }

// terminal returns the agent's terminal, nil for none.
func (s *session) terminal() *runner.Terminal {
	if s.opts.Pty == PtyNever {
		return nil
	}
	t := runner.Terminal{}
	if s.opts.Terminal != nil {
		t = *s.opts.Terminal
	}
	t.Optional = s.opts.Pty != PtyAlways
	return &t
}

// maskPrompt masks what is kept of a prompt, which had to be whole for the agent.
func (s *session) maskPrompt(text, dir string) error {
	masked := s.masker.String(text)
	if masked == text {
		return nil
	}
	return ledger.WriteFile(filepath.Join(dir, promptName), []byte(masked))
}

func (s *session) agentEnv(prompt string, n int) []string {
	env := s.opts.programEnv()
	if s.user != nil {
		env = s.user.Environ(env)
	}
	return append(append(env, s.hooks.env()...),
		"SUPERVISE_LOOP_ID="+s.id,
		"SUPERVISE_ITERATION="+strconv.Itoa(n),
		"SUPERVISE_PROMPT_FILE="+prompt,
	)
}

// nameless takes the tests out of the alerts that are about hidden ones: the agent
// is told how many fail and not which.
func nameless(alerts []detector.Alert) []detector.Alert {
	out := slices.Clone(alerts)
	for i := range out {
		if out[i].Secret() {
			out[i].Tests, out[i].Files = nil, nil
		}
	}
	return out
}

// toldChanges are what the next iteration has to know of what became of which
// test.
func toldChanges(c detector.TestChanges) []prompt.Change {
	var out []prompt.Change
	for _, k := range []struct {
		what string
		ids  []metric.ID
	}{{"newly failing", c.NewlyFailing}, {"newly skipped", c.NewlySkipped}, {"did not run", c.NotRun}, {"flaky", c.Flaky}, {"newly passing", c.NewlyPassing}} {
		if len(k.ids) == 0 {
			continue
		}
		change := prompt.Change{What: k.what}
		for _, id := range k.ids {
			change.Tests = append(change.Tests, id.String())
		}
		out = append(out, change)
	}
	return out
}

func failing(t *metric.Tests) []string {
	if t == nil {
		return nil
	}
	var out []string
	for _, c := range t.Cases {
		if c.Failed() {
			out = append(out, c.ID.String())
		}
	}
	return out
}
