package cleanroom

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/environment"
	"supervise/internal/treecopy"
	"supervise/runner"
)

// location is a place outside the change whose files are added to the copy.
type location struct {
	kind     detector.RelianceKind
	from, to string
	names    []string // entries of from
	prefix   string   // before the names of files in messages
}

// addOutside adds what is not part of the change: the ignored files of the working tree and the
// home folder, first without what changed since the loop began. It records what the goals need that
// pass then, and returns the others, which pass only in the folder of the working tree.
func (r *trialRun) addOutside(ctx context.Context, g goals) (goals, error) {
	ignored, err := treecopy.IgnoredFiles(ctx, r.Root)
	if err != nil { // without a repository, snapshots have them
		ignored = nil
	}
	if err := ctx.Err(); err != nil {
		return g, err
	}
	places := []location{{kind: detector.OnIgnored, from: r.Root, to: r.tree.Path, names: ignored}}
	if home := runner.Getenv(r.Meter.Environ(), "HOME"); runner.Getenv(r.env, "HOME") != "" {
		places = append(places, location{detector.OnHome, home, runner.Getenv(r.env, "HOME"), homeEntries(home), "~/"})
	}
	for _, add := range []func(context.Context, location, goals) (goals, error){r.addOld, r.addRecent} {
		for _, p := range places {
			if g, err = add(ctx, p, g); err != nil || g.isEmpty() {
				return g, err
			}
		}
	}
	if g, err = r.addAbove(ctx, g); err == nil && !g.isEmpty() {
		r.record(detector.Reliance{On: detector.OnPlace}, g)
	}
	return g, err
}

// addAbove puts what changed since the loop began in the folders above the working tree into the folder
// above the copy, one folder after another.
func (r *trialRun) addAbove(ctx context.Context, g goals) (goals, error) {
	for dir := filepath.Dir(r.Root); !g.isEmpty(); dir = filepath.Dir(dir) {
		files := r.recentIn(dir)
		if len(files) > 0 {
			left, names, err := r.tryAbove(ctx, dir, files, g)
			if err != nil {
				return left, err
			}
			r.recordSolved(detector.Reliance{On: detector.OnPlace, Files: names, Recent: true}, g, left)
			g = left
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return g, nil
}

// tryAbove runs the goals with files of a folder above the copy. It returns the goals that do not pass,
// and the paths of the files that those need that do: of one file, if that suffices.
func (r *trialRun) tryAbove(ctx context.Context, dir string, files []string, g goals) (left goals, names []string, err error) {
	left, err = r.withFilesAbove(ctx, dir, files, g)
	solved := g.minus(left)
	if err != nil || solved.isEmpty() {
		return left, nil, err
	}
	if len(files) > 1 && len(files) <= maxSingle {
		for _, f := range files {
			one, err := r.withFilesAbove(ctx, dir, []string{f}, solved)
			if err != nil || one.isEmpty() {
				return left, []string{filepath.Join(dir, f)}, err
			}
		}
	}
	for _, f := range files[:min(len(files), maxNamed)] {
		names = append(names, filepath.Join(dir, f))
	}
	return left, names, nil
}

// withFilesAbove runs the goals with files of a folder above the copy.
func (r *trialRun) withFilesAbove(ctx context.Context, dir string, files []string, g goals) (left goals, err error) {
	above := filepath.Dir(r.tree.Path)
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(above, f)); err == nil {
			continue
		}
		if err := copyFile(location{from: dir, to: above}, f); err != nil {
			return g, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(above, f))) }()
	}
	return r.try(ctx, g)
}

// recentIn returns the files directly in a folder, in its hidden folders, and below its other folders that
// changed since the loop began, without the folder of the working tree.
func (r *trialRun) recentIn(dir string) []string {
	var out []string
	entries, _ := os.ReadDir(dir) // a folder that cannot be read has none that matter
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.Type().IsRegular() && r.isRecent(e):
			out = append(out, e.Name())
		case !e.IsDir() || treecopy.IsBelow(r.Root, name) || treecopy.IsBelow(r.Scratch, name):
		case strings.HasPrefix(e.Name(), ".") && !isCache(e.Name()):
			below, _ := os.ReadDir(name)
			for _, b := range below {
				if b.Type().IsRegular() && r.isRecent(b) {
					out = append(out, filepath.Join(e.Name(), b.Name()))
				}
			}
		case r.isRecent(e):
			out = append(out, r.recentBelow(dir, e.Name())...)
		}
	}
	return out[:min(len(out), maxVisited)]
}

// maxNeighbors bounds the files of a folder next to the working tree. One with more is a project.
const maxNeighbors = 500

// recentBelow returns the files below a folder that changed since the loop began, none if it has too many.
func (r *trialRun) recentBelow(dir, name string) []string {
	var out []string
	_ = filepath.WalkDir(filepath.Join(dir, name), func(file string, d fs.DirEntry, err error) error {
		rel, fault := filepath.Rel(dir, file)
		switch {
		case err != nil, fault != nil:
			return nil //nolint:nilerr // what cannot be read is left out
		case d.IsDir() && d.Name() == ".git", len(out) > maxNeighbors:
			out = nil
			return filepath.SkipAll
		case d.Type().IsRegular() && r.isRecent(d):
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// addOld adds the files of a place that were there before the loop.
func (r *trialRun) addOld(ctx context.Context, p location, g goals) (left goals, err error) {
	n := 0
	err = r.walk(p.from, p.names, func(rel string, d fs.DirEntry) error {
		if r.isRecent(d) {
			return nil
		}
		n++
		return copyFile(p, rel)
	})
	if err != nil || n == 0 {
		return g, err
	}
	if left, err = r.try(ctx, g); err == nil {
		r.recordSolved(detector.Reliance{On: p.kind}, g, left)
	}
	return left, err
}

// maxGroups bounds how many groups of recent files are tried one after another.
const maxGroups = 8

// addRecent adds the files of a place that changed since the loop began, those of one folder after
// another, and names the folder that helped.
func (r *trialRun) addRecent(ctx context.Context, p location, g goals) (goals, error) {
	groups, order := map[string][]string{}, []string(nil)
	err := r.walk(p.from, p.names, func(rel string, d fs.DirEntry) error {
		if !r.isRecent(d) {
			return nil
		}
		parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
		key := strings.Join(parts[:min(2, len(parts))], "/")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], rel)
		return nil
	})
	for _, key := range order[:min(len(order), maxGroups)] {
		if err != nil || g.isEmpty() {
			break
		}
		var names []string
		for _, rel := range groups[key] {
			if err := copyFile(p, rel); err != nil {
				return g, err
			}
			if len(names) < maxNamed {
				names = append(names, p.prefix+filepath.ToSlash(rel))
			}
		}
		var left goals
		if left, err = r.try(ctx, g); err == nil {
			r.recordSolved(detector.Reliance{On: p.kind, Files: names, Recent: true}, g, left)
			g = left
		}
	}
	return g, err
}

// recordSolved records what the goals rely on that pass now, if any do.
func (r *trialRun) recordSolved(x detector.Reliance, g, left goals) {
	if solved := g.minus(left); !solved.isEmpty() {
		r.record(x, solved)
	}
}

// The limits of what is searched outside the change, and named of it.
const (
	maxVisited = 50_000
	maxNamed   = 5
)

// walk calls do with the files below the named entries of a folder, without caches of tools.
func (r *trialRun) walk(dir string, names []string, do func(rel string, d fs.DirEntry) error) error {
	visited := 0
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(name)), func(file string, d fs.DirEntry, err error) error {
			visited++
			rel, fault := filepath.Rel(dir, file)
			switch {
			case err != nil, fault != nil:
				return nil //nolint:nilerr // what cannot be read is left out
			case visited > maxVisited:
				return filepath.SkipAll
			case d.IsDir() && (isCache(d.Name()) || file == r.Root || file == r.Scratch || slices.Contains(toolFolders, filepath.ToSlash(rel))):
				return filepath.SkipDir
			case d.IsDir():
				return nil
			}
			return do(rel, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file of a place into the copy, unless the copy has it.
func copyFile(p location, rel string) error {
	target := filepath.Join(p.to, rel)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return nil //nolint:nilerr // the copy has a file in the place of a folder
	}
	return treecopy.CopyMissing(filepath.Join(p.from, rel), target)
}

// isCache reports whether a folder holds what tools write whenever they run.
func isCache(name string) bool {
	return name == "__pycache__" || name == "node_modules" || name == ".git" || name == ".venv" || name == "venv" || strings.HasPrefix(name, ".") && strings.HasSuffix(name, "_cache")
}

// isRecent reports whether an entry changed since the loop began.
func (r *trialRun) isRecent(d fs.DirEntry) bool {
	info, err := d.Info()
	if err != nil || r.Since.IsZero() {
		return false
	}
	at := environment.ChangeTime(info)
	if at.IsZero() {
		at = info.ModTime()
	}
	return at.After(r.Since)
}

// homeEntries lists the settings and caches of a home folder, without the user's documents.
func homeEntries(home string) []string {
	entries, err := os.ReadDir(home)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
