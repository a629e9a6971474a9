// Package taskfile reads the file with the tasks of a fleet.
package taskfile

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"supervise/internal/projectfile"
	"supervise/internal/yamlfile"
)

// ErrInvalid is in the error of a file that makes no sense.
var ErrInvalid = errors.New("invalid task file")

// File is the file.
type File struct {
	Fleet    string `yaml:"fleet"`    // name; default: that of the file
	Budget   Budget `yaml:"budget"`   // of all tasks together
	Defaults Task   `yaml:"defaults"` // for what a task does not say
	Tasks    []Task `yaml:"tasks"`
	Named    bool   `yaml:"-"` // it says how the fleet is called
}

// Budget limits what all agents consume together; 0: no limit.
type Budget struct {
	CostUSD float64 `yaml:"cost"`
	Tokens  int64   `yaml:"tokens"`
}

// Task is one task. What is 0 or empty is as supervise has it by default.
type Task struct {
	ID         string `yaml:"id" json:"id"`
	Repository string `yaml:"repository" json:"repository"` // for git: workers read it and push to it
	Commit     string `yaml:"commit" json:"commit"`         // or a branch or tag; default HEAD
	Store      string `yaml:"store" json:"store,omitempty"` // bucket that carries states and trees; "": the repository
	Prompt     string `yaml:"prompt" json:"prompt,omitempty"`
	PromptFile string `yaml:"prompt_file" json:"-"` // relative to the task file

	Agents     []string `yaml:"agents" json:"agents,omitempty"`   // known ones, round-robin
	Command    []string `yaml:"command" json:"command,omitempty"` // of the agent, instead
	Yolo       bool     `yaml:"yolo" json:"yolo,omitempty"`
	Candidates int      `yaml:"candidates" json:"candidates,omitempty"` // default 1
	Jobs       int      `yaml:"jobs" json:"jobs,omitempty"`             // candidates at the same time; default: all
	StopWhen   int      `yaml:"stop_when" json:"stop_when,omitempty"`   // the others end when so many did the task
	Setup      string   `yaml:"setup" json:"setup,omitempty"`           // command that prepares a tree
	Until      string   `yaml:"until" json:"until,omitempty"`

	MaxIterations int           `yaml:"max_iterations" json:"max_iterations,omitempty"` // of each candidate
	MaxTime       time.Duration `yaml:"max_time" json:"max_time,omitempty"`             // of the task
	MaxCost       float64       `yaml:"max_cost" json:"max_cost,omitempty"`             // of the task, in US dollars
	MaxTokens     int64         `yaml:"max_tokens" json:"max_tokens,omitempty"`         // of the task
	Flags         []string      `yaml:"flags" json:"flags,omitempty"`                   // further ones of supervise run
	Gate          bool          `yaml:"gate" json:"gate,omitempty"`                     // a person approves the choice
	GateTimeout   time.Duration `yaml:"gate_timeout" json:"gate_timeout,omitempty"`     // after which it counts as rejected; 0: none
}

// most is how large a task file, or a prompt, may be.
const most projectfile.Limit = 4 << 20

// reference is where the keys are documented.
const reference = "docs/fleet.md"

// Read reads a task file with the prompts that it names. The error wraps [ErrInvalid]
// where the file makes no sense.
func Read(path string) (File, error) {
	text, err := projectfile.ReadNamed(path, most)
	if err != nil {
		return File{}, fmt.Errorf("read the tasks: %w", err)
	}
	var f File
	if err := (yamlfile.File{Path: path, Text: text, Reference: reference}).Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return f, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if f.Named = f.Fleet != ""; !f.Named {
		f.Fleet = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	for i := range f.Tasks {
		f.Tasks[i].fill(f.Defaults)
		if err := f.Tasks[i].readPrompt(filepath.Dir(path)); err != nil {
			return f, fmt.Errorf("%w: %s: task %d: %w", ErrInvalid, path, i+1, err)
		}
	}
	if err := f.check(); err != nil {
		return f, fmt.Errorf("%w: %s: %w", ErrInvalid, path, err)
	}
	return f, nil
}

// fill takes what is not said from the defaults.
func (t *Task) fill(d Task) {
	for _, row := range []struct {
		to   *string
		from string
	}{
		{&t.Repository, d.Repository}, {&t.Commit, d.Commit}, {&t.Store, d.Store}, {&t.Setup, d.Setup}, {&t.Until, d.Until},
	} {
		if *row.to == "" {
			*row.to = row.from
		}
	}
	if t.Prompt == "" && t.PromptFile == "" {
		t.Prompt, t.PromptFile = d.Prompt, d.PromptFile
	}
	if len(t.Agents) == 0 && len(t.Command) == 0 {
		t.Agents, t.Command = d.Agents, d.Command
	}
	if len(t.Flags) == 0 {
		t.Flags = d.Flags
	}
	t.Yolo, t.Gate = t.Yolo || d.Yolo, t.Gate || d.Gate
	or(&t.Candidates, d.Candidates, 1)
	or(&t.Jobs, d.Jobs, t.Candidates)
	or(&t.StopWhen, d.StopWhen, 0)
	or(&t.MaxIterations, d.MaxIterations, 0)
	or(&t.MaxTime, d.MaxTime, 0)
	or(&t.MaxCost, d.MaxCost, 0)
	or(&t.MaxTokens, d.MaxTokens, 0)
	or(&t.GateTimeout, d.GateTimeout, 0)
}

func or[T comparable](v *T, others ...T) {
	var zero T
	for _, other := range others {
		if *v == zero {
			*v = other
		}
	}
}

func (t *Task) readPrompt(dir string) error {
	switch {
	case t.Prompt != "" && t.PromptFile != "":
		return errors.New("give prompt or prompt_file, not both")
	case t.PromptFile == "":
		return nil
	}
	if !filepath.IsAbs(t.PromptFile) {
		t.PromptFile = filepath.Join(dir, t.PromptFile)
	}
	text, err := projectfile.ReadNamed(t.PromptFile, most)
	t.Prompt = string(text)
	return err
}

// name is what a task or a fleet may be called: it becomes part of the name of a branch.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// store is the address of a bucket.
var store = regexp.MustCompile(`^(file:///|s3://|gs://|azblob://)[^/]`)

func (f File) check() error {
	if !name.MatchString(f.Fleet) {
		return fmt.Errorf("fleet: %q: letters, digits, - and _ make a name, at most 63", f.Fleet)
	}
	if len(f.Tasks) == 0 {
		return errors.New("it has no tasks")
	}
	if f.Budget.CostUSD < 0 || f.Budget.Tokens < 0 {
		return errors.New("budget: it must not be negative")
	}
	seen := map[string]int{}
	for i, t := range f.Tasks {
		if err := t.check(); err != nil {
			return fmt.Errorf("task %d (%s): %w", i+1, t.ID, err)
		}
		if at, twice := seen[t.ID]; twice {
			return fmt.Errorf("task %d: task %d is called %s too", i+1, at, t.ID)
		}
		seen[t.ID] = i + 1
	}
	return nil
}

func (t Task) check() error {
	for _, row := range []struct {
		wrong bool
		text  string
	}{
		{!name.MatchString(t.ID), fmt.Sprintf("id: %q: letters, digits, - and _ make a name, at most 63", t.ID)},
		{t.Repository == "" || strings.HasPrefix(t.Repository, "-"), fmt.Sprintf("repository: %q: give the address that workers clone", t.Repository)},
		{strings.HasPrefix(t.Commit, "-"), fmt.Sprintf("commit: %q is no commit", t.Commit)},
		{t.Store != "" && !store.MatchString(t.Store), fmt.Sprintf("store: %q: give file:///folder, s3://bucket, gs://bucket or azblob://container", t.Store)},
		{strings.TrimSpace(t.Prompt) == "", "prompt: say what is to be done"},
		{(len(t.Agents) == 0) == (len(t.Command) == 0), "give agents or command, one of the two"},
		{t.Candidates < 1 || t.Candidates > 64, fmt.Sprintf("candidates: %d: give a number from 1 to 64", t.Candidates)},
		{t.Jobs < 1, fmt.Sprintf("jobs: %d: give a number from 1", t.Jobs)},
		{t.StopWhen < 0 || t.StopWhen > t.Candidates, fmt.Sprintf("stop_when: %d: give a number from 1 to that of candidates", t.StopWhen)},
		{min(t.MaxIterations, 0) < 0 || min(t.MaxTime, t.GateTimeout) < 0 || t.MaxCost < 0 || t.MaxTokens < 0, "limits must not be negative"},
		{slices.Contains(t.Flags, "--"), "flags: -- ends the flags of supervise: write the agent's command as command"},
	} {
		if row.wrong {
			return errors.New(row.text)
		}
	}
	return nil
}

// Task returns the task of that name.
func (f File) Task(id string) (Task, error) {
	for _, t := range f.Tasks {
		if t.ID == id {
			return t, nil
		}
	}
	return Task{}, fmt.Errorf("the file has no task %s", id)
}
