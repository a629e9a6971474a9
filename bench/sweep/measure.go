package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// result is what was measured of one repository, and is kept. Times are in seconds,
// the best of up to three runs; 0 means not measured.
type result struct {
	Commit  string `json:"commit"`
	Version string `json:"version"` // the commit of supervise
	Date    string `json:"date"`
	Load    string `json:"load"`   // of the machine, at the start
	Memory  string `json:"memory"` // the limit, if one could be set
	Error   string `json:"error,omitempty"`

	Native       counts  `json:"native"`
	NativeFull   float64 `json:"native_full_s"`
	NativeEdited float64 `json:"native_edited_s"`

	Recognised bool     `json:"recognised"` // tests were measured without configuration
	Ours       counts   `json:"ours"`
	Checks     []string `json:"checks"`          // what we ran, in words
	Words      []string `json:"words,omitempty"` // what our output says of numbers that may be others
	OursFull   float64  `json:"ours_full_s"`
	OursEdited float64  `json:"ours_edited_s"`
	Carried    int      `json:"cached,omitempty"`  // tests that the edit did not run again
	Verdict    string   `json:"verdict,omitempty"` // of the iteration that made the edit
}

func (r *result) exact() bool { return r.Recognised && r.Native == r.Ours }

// untimed is the result of a run that only counted.
func (r *result) untimed() bool { return r.Error == "" && r.NativeFull == 0 }

func (r *result) line(of *repo) string {
	if r.Error != "" {
		return fmt.Sprintf("%s: %s", of.Name, r.Error)
	}
	return fmt.Sprintf("%s: native %s, ours %s; full %.1f s and %.1f s, edited %.1f s and %.1f s",
		of.Name, r.Native, r.Ours, r.NativeFull, r.OursFull, r.NativeEdited, r.OursEdited)
}

func (r *result) write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

func read(file string) (*result, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// checkout is one repository while it is measured.
type checkout struct {
	*flags
	*repo
	*result
	dir, out string // the tree, and what was printed
	group    *group
	steps    int
}

// measure is all of one repository.
func measure(ctx context.Context, f *flags, r *repo) (*result, error) {
	base := filepath.Join(f.work, strings.ReplaceAll(r.Name, "/", "+"))
	c := &checkout{
		flags: f, repo: r, dir: filepath.Join(base, filepath.Base(r.Name)), out: filepath.Join(base, "out"),
		result: &result{Commit: r.Commit, Date: time.Now().UTC().Format("2006-01-02 15:04"), Load: load1(), Version: f.commit},
	}
	if err := errors.Join(os.RemoveAll(base), os.MkdirAll(c.out, 0o755), os.MkdirAll(filepath.Join(base, "tmp"), 0o755)); err != nil {
		return c.result, err
	}
	c.group = newGroup()
	defer c.group.close()
	c.Memory = c.group.limit()
	err := c.all(ctx)
	if !f.keep {
		err = errors.Join(err, removeAll(base))
	}
	return c.result, err
}

func (c *checkout) all(ctx context.Context) error {
	parts := []func(context.Context) error{c.clone, c.full, c.edited, c.loop}
	if c.flags.native || c.counts {
		parts = parts[:2]
	}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	if c.counts { // made once, and on a machine as busy as it may be
		c.NativeFull, c.OursFull = 0, 0
	}
	return nil
}

// clone checks the commit out and installs its dependencies.
func (c *checkout) clone(ctx context.Context) error {
	public := "https://github.com/" + c.repo.Name
	from := public
	if c.mirror != "" {
		from = filepath.Join(c.mirror, strings.ReplaceAll(c.repo.Name, "/", "+"), "repo")
	}
	commands := [][]string{
		{"clone", "--quiet", "--no-checkout", from, c.dir},
		{"-C", c.dir, "remote", "set-url", "origin", public}, // some checks look at it
		{"-C", c.dir, "-c", "advice.detachedHead=false", "checkout", "--quiet", c.repo.Commit},
	}
	if c.Folder != "" {
		commands = slices.Insert(commands, 1, []string{"-C", c.dir, "sparse-checkout", "set", c.Folder})
	}
	for _, argv := range commands {
		if out, err := exec.CommandContext(ctx, "git", argv...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", argv[0], err, bytes.TrimSpace(out))
		}
	}
	// Environments that the table makes are no part of the project.
	ignored := filepath.Join(c.dir, ".git", "info", "exclude")
	if err := os.WriteFile(ignored, []byte(".venv/\nnode_modules/\nvendor/bundle/\n.bundle/\n"), 0o644); err != nil {
		return err
	}
	if c.Install == "" {
		return nil
	}
	if _, out, err := c.shell(ctx, "install", c.Install); err != nil {
		return fmt.Errorf("install: %w: %s", err, tail(out))
	}
	return nil
}

// full takes the best time of several runs, ours and native ones alternately, since a busy
// machine can only make them longer. A slow project runs once.
func (c *checkout) full(ctx context.Context) error {
	if c.Warm && !c.counts {
		if _, _, err := c.native(ctx, false); err != nil {
			return fmt.Errorf("native commands: %w", err)
		}
	}
	for n := 0; n == 0 || !c.counts && n < runs(c.NativeFull); n++ {
		if !c.flags.native {
			if err := errors.Join(c.clean(ctx), c.ours(ctx)); err != nil {
				return err
			}
		}
		if err := c.clean(ctx); err != nil {
			return err
		}
		took, tests, err := c.native(ctx, false)
		if err != nil {
			return fmt.Errorf("native commands: %w", err)
		}
		c.NativeFull, c.result.Native = best(c.NativeFull, took), tests
	}
	return nil
}

func runs(seconds float64) int {
	switch {
	case seconds < 4:
		return 3
	case seconds < 8:
		return 2
	}
	return 1
}

func best(before float64, now time.Duration) float64 {
	if before == 0 || now.Seconds() < before {
		return now.Seconds()
	}
	return before
}

// edited runs the native commands after edits of the leaf file, each another one.
func (c *checkout) edited(ctx context.Context) error {
	file := filepath.Join(c.dir, filepath.FromSlash(c.Edit))
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.out, "append"), []byte(c.Append), 0o644); err != nil {
		return err
	}
	for range runs(c.NativeFull) {
		if _, out, err := c.shell(ctx, "edit", c.editing()); err != nil {
			return fmt.Errorf("edit: %w: %s", err, tail(out))
		}
		took, _, err := c.native(ctx, true)
		if err != nil {
			return fmt.Errorf("native commands after the edit: %w", err)
		}
		c.NativeEdited = best(c.NativeEdited, took)
	}
	return errors.Join(os.WriteFile(file, before, 0o644), c.clean(ctx))
}

// editing is the script that edits the leaf file. Each edit differs from all others, so
// that no cache knows its results.
func (c *checkout) editing() string {
	return fmt.Sprintf(`sed "s/@/$(date +%%s%%N)/g" <%q >>%q`, filepath.Join(c.out, "append"), c.Edit)
}

func (c *checkout) native(ctx context.Context, again bool) (took time.Duration, all counts, err error) {
	for _, s := range c.repo.Native {
		run := s.Run
		if again && s.Again != "" {
			run = s.Again
		}
		t, out, err := c.shell(ctx, "native", run)
		took += t
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return took, all, err
		}
		if s.Read == "" {
			continue // that a linter finds something is no error
		}
		n, err := readers[s.Read](out)
		if err != nil {
			return took, all, fmt.Errorf("%s: %w: %s", run, err, tail(out))
		}
		all.add(n)
	}
	return took, all, nil
}

func (c *checkout) clean(ctx context.Context) error {
	if c.Clean == "" {
		return nil
	}
	_, out, err := c.shell(ctx, "clean", c.Clean)
	if err != nil {
		return fmt.Errorf("clean: %w: %s", err, tail(out))
	}
	return nil
}

// ours is supervise measure.
func (c *checkout) ours(ctx context.Context) error {
	took, out, err := c.start(ctx, "measure", c.binary, "measure", "--json")
	var m struct {
		Testing *struct {
			Total   int `json:"test_count"`
			Failed  int `json:"tests_failed"`
			Skipped int `json:"tests_skipped"`
		}
		Missing   []struct{ Section, Why string }
		DidNotRun []struct{ Name, Why string } `json:"did_not_run"`
		Checks    []struct {
			Name, Command, Why string
			Problems           []string
		}
	}
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil {
		return fmt.Errorf("supervise measure: %w", errors.Join(err, jsonErr))
	}
	if m.Testing != nil {
		c.Recognised = true
		c.Ours = counts{m.Testing.Total, m.Testing.Failed, m.Testing.Skipped}
	}
	c.OursFull, c.Checks, c.Words = best(c.OursFull, took), nil, nil
	for _, g := range m.Missing {
		c.Words = append(c.Words, g.Section+": "+g.Why)
	}
	for _, d := range m.DidNotRun {
		c.Words = append(c.Words, d.Name+" did not run: "+d.Why)
	}
	for _, k := range m.Checks {
		c.Checks = append(c.Checks, k.Command)
		for _, p := range append(k.Problems, k.Why) {
			if p != "" {
				c.Words = append(c.Words, k.Name+": "+p)
			}
		}
	}
	for i, w := range c.Words {
		c.Words[i] = c.anonymous(w)
	}
	return nil
}

// anonymous takes the folders of this machine out of a text that is kept.
func (c *checkout) anonymous(text string) string {
	text = strings.NewReplacer(c.dir, ".", filepath.Dir(c.dir), "…").Replace(text)
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// loop is a loop whose agent makes such edits. What counts is the time between the end
// of the agent and the verdict.
func (c *checkout) loop(ctx context.Context) error {
	if !c.Recognised {
		return nil
	}
	_, out, err := c.start(ctx, "loop", c.binary, "run", "--json", fmt.Sprintf("--max-iterations=%d", runs(c.NativeFull)), "--until=never", "--no-apply",
		"--state-dir="+filepath.Join(filepath.Dir(c.dir), "state"), "--", "sh", "-c", c.editing())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("supervise run: %w", err)
	}
	var edited time.Time
	for line := range bytes.Lines(out) {
		var e struct {
			Time time.Time
			Type string
			Data struct {
				Metrics struct {
					Classification string
					Testing        struct {
						Carried int `json:"tests_cached"`
					}
				}
			}
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch e.Type {
		case "agent_finished":
			edited = e.Time
		case "iteration_finished":
			c.OursEdited = best(c.OursEdited, e.Time.Sub(edited))
			c.Carried, c.Verdict = e.Data.Metrics.Testing.Carried, e.Data.Metrics.Classification
		}
	}
	if c.OursEdited == 0 {
		return fmt.Errorf("supervise run: no iteration: %w: %s", err, tail(out))
	}
	return nil
}

func tail(out []byte) string {
	const most = 600
	if len(out) > most {
		out = out[len(out)-most:]
	}
	return strings.ToValidUTF8(string(bytes.TrimSpace(out)), "")
}

// removeAll deletes also what a tool made read-only, as Go does with its modules.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// load1 is the load of the last minute, where the system tells it.
func load1() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
