// Package projectfs is a read-only view of a checkout, for what recognises projects in it.
// [Open] returns its top folder; the methods of [Folder] find files, read them, and look up
// sections of TOML and INI files. Files that cannot be read count as absent, and are
// remembered for [Folder.Notes].
package projectfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/internal/tomlfile"
)

// Folder is a read-only view of one folder of a checkout. Names are slash paths
// relative to it.
type Folder struct {
	Dir string // slash path below the root; "" is the root

	root string // the checkout
	look func(string) (string, error)
	*files
}

// files is the state that all folders of a checkout share.
type files struct {
	tree    *projectfile.Tree
	refused []*projectfile.Refusal // the files that cannot be read, each once

	documents map[string]tomlfile.Document // parsed TOML files, by slash path below the root
	mistakes  []string                     // in TOML files, with file and line
}

// Open returns the top folder of the checkout at root, which the caller closes. look finds a
// program by name, as [os/exec.LookPath] does.
func Open(root string, look func(string) (string, error)) (Folder, error) {
	tree, err := projectfile.Open(root)
	if err != nil {
		return Folder{}, fmt.Errorf("look at the project: %w", err)
	}
	return Folder{root: root, look: look, files: &files{tree: tree}}, nil
}

// Close closes the checkout.
func (l *files) Close() { l.tree.Close() }

// refuse records a file that exists and cannot be read.
func (l *files) refuse(err error) {
	r, ok := errors.AsType[*projectfile.Refusal](err)
	if ok && !slices.ContainsFunc(l.refused, func(o *projectfile.Refusal) bool { return o.Path == r.Path }) {
		l.refused = append(l.refused, r)
	}
}

// Blocked returns an error about the first pipe, socket or device in the place of a file, nil if
// there is none. Every program that opens it waits.
func (l *files) Blocked() error {
	for _, r := range l.refused {
		if r.Special {
			return r
		}
	}
	return nil
}

// Notes name the files that cannot be read, and the mistakes in TOML files.
func (l *files) Notes() []string {
	var out []string
	for _, r := range l.refused {
		out = append(out, r.Error())
	}
	return append(out, l.mistakes...)
}

// TakeMistakes returns the mistakes in TOML files in one line, and removes them from the notes.
func (l *files) TakeMistakes() string {
	mistakes := strings.Join(l.mistakes, "; ")
	l.mistakes = nil
	return mistakes
}

// Path returns the absolute path of a file of the folder, in the form of this system.
func (f Folder) Path(name string) string {
	return filepath.Join(f.root, filepath.FromSlash(f.Dir), filepath.FromSlash(name))
}

// below returns the subfolder with the name.
func (f Folder) below(name string) Folder {
	f.Dir = Join(f.Dir, name)
	return f
}

// First returns the first of the names or patterns that exists, or "".
func (f Folder) First(names ...string) string {
	for _, name := range names {
		if strings.ContainsAny(name, "*?[") {
			if all := f.Glob(name); len(all) > 0 {
				return all[0]
			}
			continue
		}
		if f.Exists(name) {
			return name
		}
	}
	return ""
}

// Exists reports whether a file or folder is there, and refuses what is neither.
func (f Folder) Exists(name string) bool {
	info, err := os.Lstat(f.Path(name))
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		info, err = os.Stat(f.Path(name))
	} else if err != nil {
		return false
	}
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		f.Read(name)
	}
	return err == nil
}

// IsReadable reports whether one of the names or patterns is a file that is not refused.
func (f Folder) IsReadable(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name = f.First(name); name == "" {
			return false
		}
		file, err := f.tree.Open(Join(f.Dir, name), projectfile.Source)
		if err != nil {
			f.refuse(err)
			return false
		}
		_ = file.Close() // nothing was written
		return true
	})
}

// Glob lists the names that a pattern matches, sorted.
func (f Folder) Glob(pattern string) []string {
	paths, err := filepath.Glob(filepath.Join(escaped.Replace(f.Path("")), filepath.FromSlash(pattern)))
	if err != nil {
		return nil
	}
	for i, p := range paths {
		if rel, err := filepath.Rel(f.Path(""), p); err == nil {
			paths[i] = filepath.ToSlash(rel)
		}
	}
	return paths
}

// escaped escapes the characters of a path that have a meaning in patterns.
var escaped = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// Read returns the text of a file, "" if it does not exist or is refused.
func (f Folder) Read(name string) string {
	text, err := f.tree.Read(Join(f.Dir, name), projectfile.Manifest)
	f.refuse(err)
	return string(text)
}

// FirstMatching returns the first of the files that exists and matches, or "".
func (f Folder) FirstMatching(re *regexp.Regexp, names ...string) string {
	for _, name := range names {
		if re.MatchString(f.Read(name)) {
			return name
		}
	}
	return ""
}

// submodulePathPattern captures the folder of a submodule in .gitmodules: "path = lib/json".
var submodulePathPattern = regexp.MustCompile(`(?m)^\s*path\s*=\s*(.+?)\s*$`)

// MissingSubmodules returns a note with the submodules of git that were not fetched, since builds
// fail without them; nil if there are none.
func (f Folder) MissingSubmodules() []string {
	var missing []string
	for _, m := range submodulePathPattern.FindAllStringSubmatch(f.Read(".gitmodules"), -1) {
		entries, err := os.ReadDir(f.Path(m[1]))
		if filepath.IsLocal(m[1]) && (errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0) {
			missing = append(missing, m[1])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{strings.Join(missing, ", ") + " in .gitmodules is not fetched: run git submodule update --init"}
}

// Program returns the path of a program on PATH, "" if it is missing.
func (f Folder) Program(name string) string {
	if f.look == nil {
		return ""
	}
	file, err := f.look(name)
	if err != nil {
		return ""
	}
	return file
}

// OnPath reports whether a program is on PATH.
func (f Folder) OnPath(name string) bool { return f.Program(name) != "" }

// Upwards returns the folder itself and those above it, up to the root.
func (f Folder) Upwards() []Folder {
	out := []Folder{f}
	for f.Dir != "" {
		if f.Dir = path.Dir(f.Dir); f.Dir == "." {
			f.Dir = ""
		}
		out = append(out, f)
	}
	return out
}

// FirstAbove finds the nearest folder, upwards, that has one of the names. It returns
// the path from f: "../../yarn.lock".
func (f Folder) FirstAbove(names ...string) string {
	for i, up := range f.Upwards() {
		if name := up.First(names...); name != "" {
			return strings.Repeat("../", i) + name
		}
	}
	return ""
}

// errEnough ends a search.
var errEnough = errors.New("enough")

// Search lists at most limit files below the folder whose base name matches one of the
// patterns, in the folders that a project may use and five levels deep.
func (f Folder) Search(limit int, patterns ...string) []string {
	var out []string
	seen := 0
	err := filepath.WalkDir(f.Path(""), func(p string, d os.DirEntry, err error) error {
		if seen++; seen > 20_000 || len(out) >= limit {
			return errEnough
		}
		rel, relErr := filepath.Rel(f.Path(""), p)
		if err != nil || relErr != nil {
			return nil //nolint:nilerr // an unreadable folder proposes nothing
		}
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".":
		case d.IsDir():
			if strings.HasPrefix(d.Name(), ".") || slices.Contains(skippedFolders, d.Name()) || strings.Count(rel, "/") >= 5 {
				return filepath.SkipDir
			}
		case MatchesAny(d.Name(), patterns):
			out = append(out, rel)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil
	}
	return out
}

// MatchesAny reports whether one of the patterns of package path matches the name.
func MatchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return err == nil && ok })
}
