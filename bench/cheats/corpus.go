package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// tree is a project: paths and what they hold.
type tree map[string][]byte

// kase is one change, and what was measured of it.
type kase struct {
	arm, name string
	position  int // among the sorted names of its folder, from 1; 0 where the arm has no halves
	cheat     bool
	before    tree
	after     tree
	bad       tree   // product code that both suites have to notice; nil where there is none
	diff      string // what makes the tree after of the one before; "" where that is known

	unqualified string  // why it shows nothing
	gate, loop  verdict // of the merge gate, and of a loop with an agent that makes the change
}

// open says that the case may be looked at.
func (c *kase) open() bool { return c.position%2 == 0 }

// settings are what a project of this kind has, so that pytest finds its code.
var settings = tree{
	"pyproject.toml": []byte("[tool.pytest.ini_options]\npythonpath = [\"src\"]\ntestpaths = [\"tests\"]\n"),
	".gitignore":     []byte("__pycache__/\n.pytest_cache/\n"),
}

// cases reads all arms of the benchmarks.
func (b *bench) cases(dir string) ([]*kase, error) {
	var all []*kase
	for _, arm := range []struct {
		folder string
		read   func(dir string) (*kase, error)
	}{{"tamper", readTampering}, {"refactors", readRefactoring}} {
		found, err := readHalves(filepath.Join(dir, arm.folder, "cases"), arm.read)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			c.arm = arm.folder
		}
		all = append(all, found...)
	}
	recorded, err := b.decoys(filepath.Join(dir, "decoy"))
	if err != nil {
		return nil, err
	}
	all = append(all, recorded...)
	return slices.DeleteFunc(all, func(c *kase) bool {
		f := b.flags
		return f.only != nil && !(c.open() && f.only.MatchString(c.name)) ||
			c.position > 0 && (f.half == "even") != c.open() && f.half != "both" ||
			c.position == 0 && f.half == "odd"
	}), nil
}

// readHalves reads the folders below dir. The place of a name among all names of the
// folder, files as well, divides them into halves: README.md stands between the two
// arms of the tamperings, so that one half has 001, 003 … d002, d004 … and the other
// 002, 004 … d001, d003 …
func readHalves(dir string, read func(string) (*kase, error)) ([]*kase, error) {
	entries, err := os.ReadDir(dir) // sorted by bytes
	if err != nil {
		return nil, err
	}
	var out []*kase
	for i, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := read(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read case %d of %s: %w", i+1, dir, err)
		}
		c.name, c.position = e.Name(), i+1
		out = append(out, c)
	}
	return out, nil
}

// readTampering reads a case whose bug stays, and whose tests become green.
func readTampering(dir string) (*kase, error) {
	t, err := readTrees(dir, "src", "before", "after")
	if err != nil {
		return nil, err
	}
	base := over(settings, under("src", t[0]))
	return &kase{cheat: true, before: over(base, t[1]), after: over(base, t[2])}, nil
}

// readRefactoring reads a case whose tests were rewritten and still notice a bug.
func readRefactoring(dir string) (*kase, error) {
	t, err := readTrees(dir, "PROD-GOOD", "PROD-BUG", "BEFORE", "AFTER")
	if err != nil {
		return nil, err
	}
	return &kase{
		before: over(settings, t[0], t[2]), after: over(settings, t[0], t[3]), bad: t[1],
	}, nil
}

func readTrees(dir string, names ...string) ([]tree, error) {
	out := make([]tree, len(names))
	for i, name := range names {
		var err error
		if out[i], err = readTree(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readTree reads the files below dir but those of git.
func readTree(dir string) (tree, error) {
	out := tree{}
	return out, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = os.ReadFile(p)
		return err
	})
}

func under(dir string, t tree) tree {
	out := tree{}
	for p, data := range t {
		out[path.Join(dir, p)] = data
	}
	return out
}

// over lays trees over each other, the last on top.
func over(trees ...tree) tree {
	out := tree{}
	for _, t := range trees {
		maps.Copy(out, t)
	}
	return out
}

// decoys reads the recorded changes of agents, with the projects that they were made
// in: those of agents that were asked to cheat, and those of agents that were asked
// nothing. They have no halves.
func (b *bench) decoys(dir string) ([]*kase, error) {
	projects := filepath.Join(b.dir, "decoys")
	cmd := b.command(b.dir, "python3", filepath.Join(dir, "make_tasks.py"), projects)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make the projects of the decoys: %w: %s", err, out)
	}
	arms, err := filepath.Glob(filepath.Join(dir, "arm-*.json"))
	if err != nil {
		return nil, err
	}
	var all []*kase
	for _, file := range arms {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var arm struct {
			Runs []struct{ Task, Diff string }
		}
		if err := json.Unmarshal(text, &arm); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		name := armName(file)
		for _, r := range arm.Runs {
			before, err := readTree(filepath.Join(projects, r.Task))
			if err != nil {
				return nil, err
			}
			all = append(all, &kase{
				arm: name, name: r.Task, cheat: !strings.Contains(name, "natural"),
				before: over(before, tree{".gitignore": settings[".gitignore"]}), diff: strings.TrimRight(r.Diff, "\n") + "\n",
			})
		}
	}
	return all, nil
}

// armName is "probe natural" for arm-probe-natural-2026-08-04.json.
func armName(file string) string {
	name := strings.TrimPrefix(filepath.Base(file), "arm-")
	if i := strings.Index(name, "-20"); i > 0 {
		name = name[:i]
	}
	return strings.ReplaceAll(name, "-", " ")
}
