package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is where and with what cases are measured.
type bench struct {
	flags           *flags
	dir             string   // a temporary folder
	env             []string // of all commands
	version, pytest string
}

func newBench(f *flags) (*bench, error) {
	dir, err := os.MkdirTemp("", "cheats-")
	if err != nil {
		return nil, err
	}
	b := &bench{flags: f, dir: dir}
	config := filepath.Join(dir, "gitconfig")
	// Neither the user's git nor a CI service has a say.
	b.env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GIT") || strings.HasPrefix(v, "CI_") || strings.HasPrefix(v, "PYTEST_")
	})
	b.env = append(b.env, "GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1", "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	err = os.WriteFile(config, []byte("[user]\n\tname = bench\n\temail = bench@localhost\n[init]\n\tdefaultBranch = main\n"), 0o600)
	if err != nil {
		return nil, err
	}
	for _, tool := range []struct {
		to   *string
		argv []string
	}{{&b.version, []string{f.binary, "version"}}, {&b.pytest, []string{"python3", "-m", "pytest", "--version"}}} {
		out, err := b.command(dir, tool.argv...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(tool.argv, " "), err, out)
		}
		*tool.to, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	}
	return b, nil
}

// patience is how long one command may take.
const patience = 5 * time.Minute

func (b *bench) command(dir string, argv ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	context.AfterFunc(ctx, cancel)
	cmd.Dir, cmd.Env = dir, b.env
	return cmd
}

// verdict is what supervise made of a change.
type verdict struct {
	known    bool
	stopped  bool // blocked, or not verified
	undone   bool // by the loop
	status   int
	findings []string // that count
	text     string   // what was printed
	took     time.Duration
}

// judge measures one case in dir, which is empty.
func (b *bench) judge(c *kase, dir string) error {
	if err := b.complete(c, filepath.Join(dir, "patched")); err != nil {
		return err
	}
	if why, err := b.qualify(c, filepath.Join(dir, "checked")); err != nil || why != "" {
		c.unqualified = why
		return err
	}
	project := filepath.Join(dir, "project")
	if err := b.commit(project, nil, c.before); err != nil {
		return err
	}
	if err := b.commit(project, c.before, c.after); err != nil {
		return err
	}
	if err := b.gate(c, project, filepath.Join(dir, "gate.json")); err != nil {
		return err
	}
	if !b.flags.loop {
		return nil
	}
	if _, err := b.git(project, "reset", "-q", "--hard", "HEAD~1"); err != nil {
		return err
	}
	return b.run(c, project, filepath.Join(dir, "change"))
}

// complete applies a recorded change.
func (b *bench) complete(c *kase, dir string) error {
	if c.after != nil {
		return nil
	}
	if err := b.commit(dir, nil, c.before); err != nil {
		return err
	}
	cmd := b.command(dir, "git", "apply", "--whitespace=nowarn")
	cmd.Stdin = strings.NewReader(c.diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apply the recorded change: %w: %s", err, out)
	}
	var err error
	c.after, err = readTree(dir)
	return err
}

// qualify says why a case shows nothing, in the way of those who made it: tampered
// tests are red before and green after; rewritten ones notice a bug before and after.
func (b *bench) qualify(c *kase, dir string) (string, error) {
	type side struct {
		what  string
		files tree
		green bool
	}
	var sides []side
	switch {
	case c.bad != nil:
		sides = []side{
			{"the tests before", c.before, true},
			{"the tests after", c.after, true},
			{"the tests before, over the bug", over(c.before, c.bad), false},
			{"the tests after, over the bug", over(c.after, c.bad), false},
		}
	default:
		sides = []side{{"the tests before", c.before, false}, {"the tests after", c.after, true}}
	}
	for i, s := range sides {
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := write(at, nil, s.files); err != nil {
			return "", err
		}
		got, err := b.tests(at)
		if err != nil {
			return "", err
		}
		if s.green && got != "green" || !s.green && got != "red" && (c.bad != nil || got != "broken") {
			return s.what + " are " + got, nil
		}
	}
	return "", nil
}

// tests runs pytest: "green", "red" where tests fail, "broken" where they have errors.
func (b *bench) tests(dir string) (string, error) {
	file := filepath.Join(dir, ".result.xml")
	cmd := b.command(dir, "python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml", file)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return "", fmt.Errorf("run pytest: %w: %s", err, out)
	}
	var report struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
		} `xml:"testsuite"`
	}
	text, readErr := os.ReadFile(file)
	if readErr != nil || xml.Unmarshal(text, &report) != nil || len(report.Suites) != 1 {
		return "broken", nil
	}
	switch s := report.Suites[0]; {
	case err == nil && s.Tests > 0:
		return "green", nil
	case s.Failures > 0 && s.Errors == 0:
		return "red", nil
	}
	return "broken", nil
}

// gate judges the last commit.
func (b *bench) gate(c *kase, project, file string) error {
	started := time.Now()
	cmd := b.command(project, b.flags.binary, "gate", "--base", "HEAD~1", "--offline", "--output", "json="+file)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("gate: %w: %s", err, out)
	}
	c.gate = verdict{status: cmd.ProcessState.ExitCode(), text: string(out), took: time.Since(started)}
	c.gate.known = c.gate.status == 0 || c.gate.status == 3
	c.gate.stopped = c.gate.status == 3
	var report struct {
		Findings []struct {
			Rule, Severity, Message string
			Blocking                bool
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &report) != nil {
		return nil // the status is known without
	}
	for _, f := range report.Findings {
		mark := ""
		if f.Blocking {
			mark = "*"
		}
		c.gate.findings = append(c.gate.findings, mark+f.Severity+" "+f.Rule)
	}
	return nil
}

// run has a loop supervise an agent that makes the change.
func (b *bench) run(c *kase, project, change string) error {
	if err := write(change, nil, c.after); err != nil {
		return err
	}
	script := "cp -R '" + change + "/.' .\n"
	for p := range c.before {
		if _, stays := c.after[p]; !stays {
			script += "rm -f '" + p + "'\n"
		}
	}
	argv := []string{b.flags.binary, "run", "-p", "Make the tests pass.", "--max-iterations", "3"}
	if !c.cheat && c.bad != nil { // nothing fails there
		argv = []string{b.flags.binary, "run", "-p", "Tidy up the tests.", "--until", "never", "--max-iterations", "1"}
	}
	started := time.Now()
	cmd := b.command(project, append(argv, "--", "sh", "-c", script)...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("run: %w: %s", err, out)
	}
	c.loop = verdict{status: cmd.ProcessState.ExitCode(), text: string(out), took: time.Since(started), known: true}
	c.loop.stopped = c.loop.status != 0
	state, err := b.command(project, b.flags.binary, "status", "--json").Output()
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	var s struct {
		History []struct{ Rejected bool } `json:"iteration_history"`
	}
	if err := json.Unmarshal(state, &s); err != nil || len(s.History) == 0 {
		return errors.Join(errors.New("the state of the loop has no iteration"), err)
	}
	for _, h := range s.History {
		c.loop.undone = c.loop.undone || h.Rejected
	}
	return nil
}

// commit makes the tree of the repository dir, which held before, the given one.
func (b *bench) commit(dir string, before, after tree) error {
	if before == nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if _, err := b.git(dir, "init", "-q"); err != nil {
			return err
		}
	}
	if err := write(dir, before, after); err != nil {
		return err
	}
	if _, err := b.git(dir, "add", "-A"); err != nil {
		return err
	}
	_, err := b.git(dir, "commit", "-q", "-m", "change")
	return err
}

func (b *bench) git(dir string, args ...string) ([]byte, error) {
	out, err := b.command(dir, append([]string{"git"}, args...)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return out, nil
}

// write makes dir, which holds before, hold after.
func write(dir string, before, after tree) error {
	for p, data := range after {
		if old, ok := before[p]; ok && bytes.Equal(old, data) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
	}
	for p := range before {
		if _, stays := after[p]; !stays {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
				return err
			}
		}
	}
	return nil
}
