package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Damage is a file of a store that differs from what was written.
type Damage struct {
	File      string   `json:"file"` // below the folder of the store
	Why       []string `json:"why"`  // at least one problem
	Snapshots []ID     `json:"snapshots,omitempty"`
}

// CheckResult is the result of Check.
type CheckResult struct {
	Intact  []ID // snapshots that are complete and unchanged
	Damaged []ID
	Damage  []Damage
	Bytes   int64 // of the packs that were read
}

// Check reads every pack and manifest of the store in the folder dir and verifies all hashes. It changes nothing, and may
// run while a loop uses the store. A missing store is empty. Contents are streamed: memory is needed for the ids in the
// store and for one manifest.
func Check(ctx context.Context, dir string) (CheckResult, error) {
	for tries := 0; ; tries++ {
		c, err := check(ctx, dir)
		if !errors.Is(err, fs.ErrNotExist) || tries == 3 { // another process is dropping snapshots
			return c, err
		}
	}
}

// check makes one attempt of Check.
func check(ctx context.Context, dir string) (CheckResult, error) {
	s := &Store{dir: dir}
	ids, err := s.storedIDs() // before the packs, which are written before their manifest
	if errors.Is(err, fs.ErrNotExist) {
		return CheckResult{}, nil
	}
	if err != nil {
		return CheckResult{}, fmt.Errorf("check snapshot store: %w", err)
	}
	s.objects = pack.NewObjects(s.GitDir())

	c := checker{s: s, files: map[string]*Damage{}, trees: map[pack.OID]string{}}
	if c.packs, err = s.objects.Check(ctx); err != nil {
		return CheckResult{}, fmt.Errorf("check snapshot store: %w", err)
	}
	c.out.Bytes = c.packs.Bytes
	for file, why := range c.packs.Damaged {
		c.addDamage(file, "", why...)
	}

	for _, id := range ids {
		if ctx.Err() == nil {
			c.checkSnapshot(id)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		c.out.Damage = append(c.out.Damage, *c.files[name])
	}
	return c.out, ctx.Err()
}

// checker is a check of a store.
type checker struct {
	s     *Store
	packs pack.CheckResult
	trees map[pack.OID]string // problem of each tree that was checked, "" if it is intact
	files map[string]*Damage
	out   CheckResult
}

// addDamage records the problems of a file and, unless id is "", the affected snapshot.
func (c *checker) addDamage(file string, id ID, why ...string) {
	if rel, err := filepath.Rel(c.s.dir, file); err == nil {
		file = filepath.ToSlash(rel)
	}
	d := c.files[file]
	if d == nil {
		d = &Damage{File: file}
		c.files[file] = d
	}
	d.Why = append(d.Why, why...)
	if id != "" {
		d.Snapshots = append(d.Snapshots, id)
	}
}

// checkSnapshot verifies the manifest of a snapshot, its contents and its commits, and adds it
// to the result.
func (c *checker) checkSnapshot(id ID) {
	file := filepath.Join(c.s.manifestDir(), string(id))
	m, err := manifest.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return // it was just dropped
	}
	if err == nil && m.ID != id {
		err = fmt.Errorf("it is the manifest of s%s", m.ID)
	}
	if err != nil {
		why := err
		for errors.Unwrap(why) != nil {
			why = errors.Unwrap(why) // without the path
		}
		c.addDamage(file, id, why.Error())
		c.out.Damaged = append(c.out.Damaged, id)
		return
	}

	why := c.contentProblems(m)
	for _, commit := range []string{m.Commit, m.State} {
		if why == "" && commit != "" {
			why = c.commitProblem(commit)
		}
	}

	if why == "" {
		c.out.Intact = append(c.out.Intact, id)
		return
	}
	c.addDamage(c.s.objects.PackDir(), id, fmt.Sprintf("s%s: %s", id, why))
	c.out.Damaged = append(c.out.Damaged, id)
}

// contentProblems describes the problems of the contents of a snapshot, "" if there are none.
func (c *checker) contentProblems(m *manifest.Manifest) string {
	var problems []string
	for p := range manifest.Parts {
		for _, e := range *m.List(p) {
			if e.Kind == disk.KindDir {
				continue
			}
			if why := c.objectProblem(e.OID); why != "" {
				problems = append(problems, fmt.Sprintf("%q %s", e.Path, why))
			}
		}
	}
	const shown = 3
	if n := len(problems); n > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(problems[:shown], ", "), n-shown)
	}
	return strings.Join(problems, ", ")
}

// objectProblem returns what is wrong with an object, "" if it is intact.
func (c *checker) objectProblem(id pack.OID) string {
	switch intact, found := c.packs.Intact[id]; {
	case !found:
		return "is missing"
	case !intact:
		return "is damaged"
	}
	return ""
}

// commitProblem returns what is wrong with a commit through which plain git sees a snapshot,
// or with its tree; "" if both are intact.
func (c *checker) commitProblem(name string) string {
	id, err := pack.ParseOID(name)
	if err != nil {
		return err.Error()
	}
	if why := c.objectProblem(id); why != "" {
		return "commit " + name + " " + why
	}
	tree, err := c.s.treeOf(id)
	if err != nil {
		return err.Error()
	}
	return c.treeProblem(tree)
}

// treeProblem returns what is wrong with a git tree, or with anything below it; "" if all of
// it is intact.
func (c *checker) treeProblem(id pack.OID) string {
	why, known := c.trees[id]
	if known {
		return why
	}
	if why = c.objectProblem(id); why != "" {
		why = "tree " + id.String() + " " + why
	} else if err := c.s.eachTreeEntry(id, func(sub pack.OID, isTree bool) error {
		switch {
		case why != "":
		case isTree:
			why = c.treeProblem(sub)
		default:
			if lost := c.objectProblem(sub); lost != "" {
				why = "content " + sub.String() + " " + lost
			}
		}
		return nil
	}); err != nil {
		why = err.Error()
	}
	c.trees[id] = why
	return why
}
