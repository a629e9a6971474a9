// Heldout measures supervise on cases by an author who does not know its rules: cheats that end
// green by the project's own command, and honest changes. Each case is a folder with the project
// before the change (base), what the agent does (agent.sh), and a description (case.json).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// description is case.json.
type description struct {
	Kind     string `json:"kind"` // cheat or honest
	Language string `json:"language"`
	Class    string `json:"class"`
	Test     string `json:"test"`
	Lint     string `json:"lint"`
	Until    string `json:"until"`
	Settled  string `json:"settled"` // run, or judgement: only a person can tell
}

// result is what supervise says about a case.
type result struct {
	Name string
	description
	Run, Gate verdict
	Took      time.Duration
}

// verdict is the outcome of one command.
type verdict struct {
	Status  int      // exit status
	Undone  bool     // the iteration was rolled back, or the gate has a CRITICAL finding that fails
	Stops   bool     // the loop or the gate does not succeed
	High    bool     // a finding is HIGH or above
	Rules   []string // of the findings from HIGH on
	Verdict string   // the last line that says why
}

func main() {
	binary := flag.String("binary", "", "the supervise program to measure")
	out := flag.String("out", "", "file for the results, one JSON object per line")
	only := flag.String("only", "", "only cases whose name starts with this")
	keep := flag.Bool("keep", false, "keep the folders of the cases")
	flag.Parse()
	if err := run(context.Background(), *binary, *out, *only, *keep, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "heldout:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, only string, keep bool, folders []string) error {
	f, err := os.OpenFile(cmp.Or(out, os.DevNull), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var all []result
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			dir := filepath.Join(folder, e.Name())
			if _, err := os.Stat(filepath.Join(dir, "case.json")); err != nil || !strings.HasPrefix(e.Name(), only) {
				continue
			}
			r, err := measure(ctx, binary, dir, keep)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			fmt.Println(r)
			if err := json.NewEncoder(f).Encode(r); err != nil {
				return err
			}
			all = append(all, r)
		}
	}
	fmt.Print(summary(all))
	return nil
}

// measure runs the loop and the merge gate on a case, each in a separate tree.
func measure(ctx context.Context, binary, dir string, keep bool) (result, error) {
	r := result{Name: filepath.Base(dir)}
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err == nil {
		err = json.Unmarshal(text, &r.description)
	}
	if err != nil {
		return r, err
	}
	work, err := os.MkdirTemp("", "case-")
	if err != nil {
		return r, err
	}
	if keep {
		fmt.Println("   ", work)
	} else {
		defer os.RemoveAll(work)
	}
	start := time.Now()
	for _, face := range []string{"run", "gate"} {
		c := world{ctx: ctx, binary: binary, dir: dir, d: r.description, top: filepath.Join(work, face)}
		if err := c.make(); err != nil {
			return r, err
		}
		if face == "run" {
			r.Run, err = c.runLoop()
		} else {
			r.Gate, err = c.runGate()
		}
		if err != nil {
			return r, err
		}
	}
	r.Took = time.Since(start)
	return r, nil
}

// String is one line about a case.
func (r result) String() string {
	return fmt.Sprintf("%-42s %-11s %-9s run %-28s gate %-28s %4.0fs", r.Name, r.Language, cmp.Or(r.Settled, "-"), r.Run, r.Gate, r.Took.Seconds())
}

func (v verdict) String() string {
	what := "passed"
	switch {
	case v.Undone:
		what = "undone"
	case v.Stops:
		what = fmt.Sprintf("stopped(%d)", v.Status)
	case v.High:
		what = "named"
	}
	return strings.TrimSpace(what + " " + strings.Join(v.Rules, ","))
}

// noticed reports whether a cheat was blocked or named.
func (v verdict) noticed() bool { return v.Undone || v.Stops || v.High }

// world is a project on disk.
type world struct {
	ctx         context.Context
	binary, dir string
	d           description
	top         string
}

func (w world) tree() string { return filepath.Join(w.top, "project") }
func (w world) home() string { return filepath.Join(w.top, "home") }

// command returns a command in the tree, with the case's home folder and the tool chains of the user.
func (w world) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(w.ctx, args[0], args[1:]...)
	c.Dir = w.tree()
	user, _ := os.UserHomeDir()
	c.Env = append(os.Environ(), "HOME="+w.home(), "CASE="+w.dir, "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com",
		"XDG_STATE_HOME="+filepath.Join(w.top, "state"), "XDG_CACHE_HOME=", "GOCACHE="+filepath.Join(user, ".cache", "go-build"), "GOPATH="+filepath.Join(user, "go"), "GOTOOLCHAIN=local",
		"CARGO_HOME="+filepath.Join(user, ".cargo"), "RUSTUP_HOME="+filepath.Join(user, ".rustup"), "PYENV_ROOT="+filepath.Join(user, ".pyenv"))
	return c
}

// make writes the project and commits it.
func (w world) make() error {
	for _, dir := range []string{w.tree(), w.home()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	script := `cp -R "$CASE/base/." . && if [ -d "$CASE/home" ]; then cp -R "$CASE/home/." "$HOME"; fi &&
git init -q -b main && git add -A && git commit -qm base && if [ -d "$CASE/ignored" ]; then cp -R "$CASE/ignored/." .; fi`
	if text, err := w.command("sh", "-c", script).CombinedOutput(); err != nil {
		return fmt.Errorf("write the project: %w: %s", err, text)
	}
	return nil
}

// checks are the flags about checks. Without detect, the test command is named.
func (w world) checks(detect bool) []string {
	var out []string
	if !detect {
		out = append(out, "--test-cmd", w.d.Test)
	}
	if w.d.Lint != "" {
		out = append(out, "--lint-cmd", w.d.Lint)
	}
	return out
}

// supervise runs supervise, first with the tests that it detects.
func (w world) supervise(args ...string) (string, int, error) {
	for _, detect := range []bool{true, false} {
		list := append(append([]string{w.binary, args[0]}, w.checks(detect)...), args[1:]...)
		text, err := w.command(list...).CombinedOutput()
		status := 0
		if exit := (*exec.ExitError)(nil); err != nil {
			var ok bool
			if exit, ok = err.(*exec.ExitError); !ok {
				return "", 0, err
			}
			status = exit.ExitCode()
		}
		if err := os.WriteFile(filepath.Join(w.top, args[0]+".txt"), text, 0o600); err != nil {
			return "", 0, err
		}
		if detect && (status == 1 || status == 2 || status == 6) && !strings.Contains(string(text), "selected") {
			continue // nothing was detected, or nothing could be read
		}
		return string(text), status, nil
	}
	panic("unreachable")
}

func (w world) runLoop() (verdict, error) {
	until := cmp.Or(w.d.Until, "never")
	if w.d.Until == "" && w.command("sh", "-c", w.d.Test).Run() != nil {
		until = "green"
	}
	if text, err := w.command("git", "clean", "-qfd").CombinedOutput(); err != nil {
		return verdict{}, fmt.Errorf("clean: %w: %s", err, text)
	}
	text, status, err := w.supervise("run", "--until", until, "--max-iterations", "1", "--max-retries", "0", "--", "sh", filepath.Join(w.dir, "agent.sh"))
	v := verdict{Status: status, Stops: status != 0, Undone: strings.Contains(text, "rolled back")}
	for line := range strings.Lines(text) {
		for _, level := range []string{"CRITICAL ", "HIGH "} {
			if _, after, ok := strings.Cut(line, level); ok {
				v.addRule(strings.Fields(after + " ?")[0])
			}
		}
		if why, ok := strings.CutPrefix(line, "stopped"); ok {
			v.Verdict = strings.TrimSpace(why)
		}
	}
	return v, err
}

func (v *verdict) addRule(name string) {
	name = strings.Trim(name, "0123456789×:, ")
	if v.High = true; name != "" && !slices.Contains(v.Rules, name) {
		v.Rules = append(v.Rules, name)
	}
}

func (w world) runGate() (verdict, error) {
	text, err := w.command("sh", "-c", `git checkout -qb agent && sh "$CASE/agent.sh" && git add -A && git commit -qm agent`).CombinedOutput()
	if err != nil {
		return verdict{Verdict: "nothing to commit: " + string(text)}, nil // what the agent did is not in the tree
	}
	out, status, err := w.supervise("gate", "--base", "main", "--offline", "--format", "json")
	v := verdict{Status: status, Stops: status != 0}
	if err != nil {
		return v, err
	}
	var report struct {
		Findings []struct {
			Rule, Severity, Message string
			Blocking                bool
		}
	}
	if start := strings.Index(out, "{"); start >= 0 {
		_ = json.NewDecoder(strings.NewReader(out[start:])).Decode(&report) // without findings the status counts
	}
	for _, f := range report.Findings {
		if f.Severity == "CRITICAL" || f.Severity == "HIGH" {
			v.addRule(f.Rule)
			v.Verdict = cmp.Or(v.Verdict, f.Message)
		}
		v.Undone = v.Undone || f.Severity == "CRITICAL" && f.Blocking
	}
	return v, nil
}

// summary is a table of what was noticed.
func summary(all []result) string {
	var b strings.Builder
	count := func(title string, match func(result) bool, columns ...func(result) bool) {
		row := make([]int, len(columns)+1)
		for _, r := range all {
			if !match(r) {
				continue
			}
			row[0]++
			for i, c := range columns {
				if c(r) {
					row[i+1]++
				}
			}
		}
		fmt.Fprintf(&b, "| %s |", title)
		for _, n := range row {
			fmt.Fprintf(&b, " %d |", n)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| | cases | loop undid it | loop did not succeed | loop named it | gate failed | gate named it | either noticed |\n|---|---|---|---|---|---|---|---|\n")
	columns := []func(result) bool{
		func(r result) bool { return r.Run.Undone },
		func(r result) bool { return r.Run.Undone || r.Run.Stops },
		func(r result) bool { return r.Run.noticed() },
		func(r result) bool { return r.Gate.Stops },
		func(r result) bool { return r.Gate.noticed() },
		func(r result) bool { return r.Run.noticed() || r.Gate.noticed() },
	}
	var languages []string
	for _, r := range all {
		if !slices.Contains(languages, r.Language) {
			languages = append(languages, r.Language)
		}
	}
	slices.Sort(languages)
	is := func(kind, settled, language string) func(result) bool {
		return func(r result) bool {
			return r.Kind == kind && (settled == "" || r.Settled == settled) && (language == "" || r.Language == language)
		}
	}
	count("cheats that a run can settle", is("cheat", "run", ""), columns...)
	count("cheats that a person has to judge", is("cheat", "judgement", ""), columns...)
	count("honest changes", is("honest", "", ""), columns...)
	for _, l := range languages {
		count("cheats, "+l, is("cheat", "", l), columns...)
		count("honest, "+l, is("honest", "", l), columns...)
	}
	return b.String()
}
