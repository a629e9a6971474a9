// Package agentcheck tests known agents: it finds the installed ones, and runs one turn of an
// agent in a scratch project to see whether supervise understands its output.
package agentcheck

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/internal/regexp"
	"supervise/runner"

	"golang.org/x/sync/errgroup"
)

// Agent is a known agent, and its installed program.
type Agent struct {
	Name     string   `json:"name"`
	Programs []string `json:"programs,omitempty"`
	Path     string   `json:"path,omitempty"`    // of the program, "" where it is not installed
	Version  string   `json:"version,omitempty"` // that it prints, "" where it prints none
	// Observed is what was really run of it, in ObservedVersion; Supervised says that it
	// passes the suite of real programs.
	Observed        string `json:"observed,omitempty"`
	ObservedVersion string `json:"observed_version,omitempty"`
	Supervised      bool   `json:"supervised"`
	Hooks           string `json:"hooks,omitempty"` // whose hooks it has
	From            string `json:"from,omitempty"`  // the file of the user, "" for a built-in one
	Install         string `json:"install,omitempty"`
	Error           string `json:"error,omitempty"` // what is wrong with its file
}

// maxParallel is how many programs are asked for their version at a time.
const maxParallel = 4

// versionTimeout is how long a program may take to print its version.
const versionTimeout = 15 * time.Second

// List returns the agents of these names. It runs installed ones to get their version.
func List(ctx context.Context, names []string) []Agent {
	list := make([]Agent, len(names))
	var group errgroup.Group
	group.SetLimit(maxParallel)
	for i, name := range names {
		group.Go(func() error {
			list[i] = inspectAgent(ctx, name)
			return nil
		})
	}
	_ = group.Wait() // no function fails
	return list
}

func inspectAgent(ctx context.Context, name string) Agent {
	p, err := agent.ByName(name)
	if err != nil {
		return Agent{Name: name, Error: err.Error()}
	}
	out := Agent{
		Name: name, Programs: p.Programs, Observed: p.Observed.What, ObservedVersion: p.Observed.Version, Supervised: p.Observed.Supervised,
		Hooks: p.Hooks, From: p.Path, Install: p.Install,
	}
	for _, program := range p.Programs {
		if path, err := exec.LookPath(program); err == nil {
			out.Path, out.Version = path, readVersion(ctx, p, path)
			break
		}
	}
	return out
}

// versionRE finds a version among other words.
var versionRE = regexp.MustCompile(`\d+\.\d+[\w.+-]*`)

func readVersion(ctx context.Context, p agent.Preset, path string) string {
	said := runner.NewTail(4 << 10)
	res, err := runner.Run(ctx, runner.Command{
		Args: []string{path, "--version"}, Env: p.Environ(os.Environ(), false), Stdin: strings.NewReader(""), Stdout: said, Stderr: said, Timeout: versionTimeout, NoCgroup: true,
	})
	if err != nil || res.ExitCode != 0 {
		return ""
	}
	return strings.TrimRight(versionRE.FindString(agent.StripEscapes(said.String())), ".")
}

// The scratch project: its only test passes when the agent has written the file.
const (
	// TargetFile is the file that the agent has to write.
	TargetFile = "done.txt"
	// Task is the prompt.
	Task = "Write the word supervise into the new file " + TargetFile + " in this folder, by a command of your shell. Change nothing else, and then say that you are done."
	// CheckCommand is the command of the project's test.
	CheckCommand = "test -s " + TargetFile + " && echo 'ok 1 - the file is written' || echo 'not ok 1 - the file is written'; echo 1..1"
)

// CreateProject creates the scratch project.
func CreateProject(ctx context.Context, root string) error {
	err := errors.Join(os.MkdirAll(root, 0o700), os.WriteFile(filepath.Join(root, "README.md"), []byte("A scratch project of supervise agents check.\n"), 0o600))
	if err != nil {
		return err
	}
	return CommitFiles(ctx, root, "supervise")
}

// CommitFiles makes a folder a git repository with one commit of all its files by an author.
func CommitFiles(ctx context.Context, root, author string) error {
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "."},
		{"-c", "user.name=" + author, "-c", "user.email=" + author + "@localhost", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "start"},
	} {
		if _, err := git.NewCommand(root, args...).Output(ctx); err != nil {
			return err
		}
	}
	return nil
}

// The results of an agent's hooks.
const (
	HooksNone   = "none"   // it has none that supervise knows
	HooksCalled = "called" // supervise was asked
	HooksSilent = "silent" // they were installed, and never called
)

// Turn is the result of one turn of an agent.
type Turn struct {
	Agent   string          `json:"agent"`
	Command []string        `json:"command"` // without the prompt
	Run     ledger.AgentRun `json:"run"`
	Remedy  string          `json:"remedy,omitempty"`
	Consent bool            `json:"consent"` // it was given leave to do everything unasked
	Done    bool            `json:"done"`    // the file was written
	Hooks   string          `json:"hooks"`
	Calls   int             `json:"hook_calls"`
	Why     string          `json:"hooks_why,omitempty"` // they are silent
	Folder  string          `json:"folder,omitempty"`    // with the project and the transcript, kept where it did not go well
}

// Record updates the turn by an event of the loop.
func (t *Turn) Record(e event.Event) {
	switch d := e.Data.(type) {
	case ledger.AgentRun:
		t.Run = d
	case event.HookCall:
		t.Hooks, t.Calls = HooksCalled, t.Calls+1
	case event.HookFailure:
		t.Hooks, t.Why = HooksSilent, d.Why
	}
}

// ExitStatus returns 0 if the agent did its task and reported success, 2 if it needs the help
// of a person, and 4 otherwise.
func (t Turn) ExitStatus() int {
	switch {
	case t.Run.Outcome == string(agent.OK) && t.Done && t.Hooks != HooksSilent:
		return 0
	case agent.Outcome(t.Run.Outcome).NeedsPerson():
		return 2
	}
	return 4
}
