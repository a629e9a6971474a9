package taskfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	t.Parallel()
	path := write(t, "night.yaml", `
budget: {cost: 12.5}
defaults: {repository: /r, agents: [claude, codex], candidates: 3, max_time: 2h, gate: true}
tasks:
  - {id: a, prompt_file: a.md}
  - {id: b, prompt: do it, command: [sh, agent.sh], candidates: 1, commit: v2}
`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "a.md"), []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := f.Tasks[0], f.Tasks[1]
	if f.Fleet != "night" || f.Named || f.Budget.CostUSD != 12.5 || a.Prompt != "from a file" || a.Candidates != 3 || a.Jobs != 3 || a.MaxTime != 2*time.Hour || len(a.Agents) != 2 || !a.Gate {
		t.Errorf("%+v", f)
	}
	if len(b.Agents) != 0 || len(b.Command) != 2 || b.Candidates != 1 || b.Commit != "v2" || b.Repository != "/r" {
		t.Errorf("%+v", b)
	}
}

// TestInvalid has what is wrong in the error, and the file.
func TestInvalid(t *testing.T) {
	t.Parallel()
	const good = "repository: /r, prompt: p, command: [x]"
	for text, want := range map[string]string{
		"": "no tasks",
		"tasks: [{id: a, " + good + "}, {id: a, " + good + "}]": "called a too",
		"tasks: [{id: ../x, " + good + "}]":                     "make a name",
		"tasks: [{id: a, prompt: p, command: [x]}]":             "give the address",
		"tasks: [{id: a, repository: /r, command: [x]}]":        "say what is to be done",
		"tasks: [{id: a, repository: /r, prompt: p}]":           "agents or command",
		"tasks: [{id: a, agents: [claude], " + good + "}]":      "agents or command",
		"tasks: [{id: a, candidates: 65, " + good + "}]":        "from 1 to 64",
		"tasks: [{id: a, stop_when: 2, " + good + "}]":          "that of candidates",
		"tasks: [{id: a, max_cost: -1, " + good + "}]":          "negative",
		"tasks: [{id: a, gate_timeout: -1h, " + good + "}]":     "negative",
		"tasks: [{id: a, flags: [--], " + good + "}]":           "as command",
		"tasks: [{id: a, prompt_file: b.md, " + good + "}]":     "not both",
		"tasks: [{id: a, max_iteration: 3, " + good + "}]":      "max_iteration",
		"fleet: a b\ntasks: [{id: a, " + good + "}]":            "make a name",
		"budget: {cost: -1}\ntasks: [{id: a, " + good + "}]":    "negative",
	} {
		path := write(t, "tasks.yaml", text)
		if _, err := Read(path); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(write(t, "huge.yaml", strings.Repeat("#", int(most)+1))); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Error(err)
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}
