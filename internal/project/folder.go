package project

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/internal/tomlfile"
)

// folder is a read-only view of one folder of a checkout. Names are slash paths
// relative to it.
type folder struct {
	root string // the checkout
	dir  string // slash path below root; "" is the root
	look func(string) (string, error)
	*files
}

// files are those of a checkout.
type files struct {
	tree    *projectfile.Tree
	refused []*projectfile.Refusal // each file once

	documents map[string]tomlfile.Document // by slash path below the root
	mistakes  []string                     // in those, with file and line
}

// refuse notes a file that exists and cannot be read.
func (l *files) refuse(err error) {
	r, ok := errors.AsType[*projectfile.Refusal](err)
	if ok && !slices.ContainsFunc(l.refused, func(o *projectfile.Refusal) bool { return o.Path == r.Path }) {
		l.refused = append(l.refused, r)
	}
}

// blocked is an error about the first file for which every program would wait.
func (l *files) blocked() error {
	for _, r := range l.refused {
		if r.Special {
			return r
		}
	}
	return nil
}

// notes say what cannot be read.
func (l *files) notes() []string {
	var out []string
	for _, r := range l.refused {
		out = append(out, r.Error())
	}
	return append(out, l.mistakes...)
}

func (f folder) abs(name string) string {
	return filepath.Join(f.root, filepath.FromSlash(f.dir), filepath.FromSlash(name))
}

func (f folder) below(name string) folder {
	f.dir = join(f.dir, name)
	return f
}

// has returns the first of the names or patterns that exists, or "".
func (f folder) has(names ...string) string {
	for _, name := range names {
		if strings.ContainsAny(name, "*?[") {
			if all := f.glob(name); len(all) > 0 {
				return all[0]
			}
			continue
		}
		if f.exists(name) {
			return name
		}
	}
	return ""
}

// packageJSON is the manifest of Node.
const packageJSON = "package.json"

// configuredBy returns the file of a pattern, or of "file#section" if it has the section or
// key, "" if there is none.
func (f folder) configuredBy(config string) string {
	file, name, inside := strings.Cut(config, "#")
	switch {
	case !inside:
		return f.has(file)
	case file == packageJSON:
		if m, err := readManifest(f); err == nil && m.keys[name] != nil {
			return file
		}
	case f.has(file) != "" && f.hasSection(file, name):
		return file
	}
	return ""
}

// exists reports whether a file or folder is there, and refuses what is neither.
func (f folder) exists(name string) bool {
	info, err := os.Lstat(f.abs(name))
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		info, err = os.Stat(f.abs(name))
	} else if err != nil {
		return false
	}
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		f.read(name)
	}
	return err == nil
}

// readable reports whether one of the names or patterns is a file that is not refused.
func (f folder) readable(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if name = f.has(name); name == "" {
			return false
		}
		file, err := f.tree.Open(join(f.dir, name), projectfile.Source)
		if err != nil {
			f.refuse(err)
			return false
		}
		_ = file.Close() // nothing was written
		return true
	})
}

// glob lists the names that a pattern matches, sorted.
func (f folder) glob(pattern string) []string {
	paths, err := filepath.Glob(filepath.Join(escaped.Replace(f.abs("")), filepath.FromSlash(pattern)))
	if err != nil {
		return nil
	}
	for i, p := range paths {
		if rel, err := filepath.Rel(f.abs(""), p); err == nil {
			paths[i] = filepath.ToSlash(rel)
		}
	}
	return paths
}

var escaped = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// read returns the text of a file, "" if it does not exist or is refused.
func (f folder) read(name string) string {
	text, err := f.tree.Read(join(f.dir, name), projectfile.Manifest)
	f.refuse(err)
	return string(text)
}

// holds returns the first of the files that exists and matches, or "".
func (f folder) holds(re *regexp.Regexp, names ...string) string {
	for _, name := range names {
		if re.MatchString(f.read(name)) {
			return name
		}
	}
	return ""
}

var submodulePath = regexp.MustCompile(`(?m)^\s*path\s*=\s*(.+?)\s*$`)

// submodules notes those of git that were not fetched: builds fail without them.
func (f folder) submodules() []string {
	var missing []string
	for _, m := range submodulePath.FindAllStringSubmatch(f.read(".gitmodules"), -1) {
		entries, err := os.ReadDir(f.abs(m[1]))
		if filepath.IsLocal(m[1]) && (errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0) {
			missing = append(missing, m[1])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{strings.Join(missing, ", ") + " in .gitmodules is not fetched: run git submodule update --init"}
}

// found reports whether a program is on PATH.
func (f folder) found(program string) bool {
	if f.look == nil {
		return false
	}
	_, err := f.look(program)
	return err == nil
}

// upwards returns the folder itself and those above it, up to the root.
func (f folder) upwards() []folder {
	out := []folder{f}
	for f.dir != "" {
		if f.dir = path.Dir(f.dir); f.dir == "." {
			f.dir = ""
		}
		out = append(out, f)
	}
	return out
}

// above finds the nearest folder, upwards, that has one of the names. It returns
// the path from f: "../../yarn.lock".
func (f folder) above(names ...string) string {
	for i, up := range f.upwards() {
		if name := up.has(names...); name != "" {
			return strings.Repeat("../", i) + name
		}
	}
	return ""
}

// errEnough ends a search.
var errEnough = errors.New("enough")

// search lists at most limit files below the folder whose base name matches one of the
// patterns, in the folders that a project may use and five levels deep.
func (f folder) search(limit int, patterns ...string) []string {
	var out []string
	seen := 0
	err := filepath.WalkDir(f.abs(""), func(p string, d os.DirEntry, err error) error {
		if seen++; seen > 20_000 || len(out) >= limit {
			return errEnough
		}
		rel, relErr := filepath.Rel(f.abs(""), p)
		if err != nil || relErr != nil {
			return nil //nolint:nilerr // an unreadable folder proposes nothing
		}
		rel = filepath.ToSlash(rel)
		switch {
		case rel == ".":
		case d.IsDir():
			if strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name()) || strings.Count(rel, "/") >= 5 {
				return filepath.SkipDir
			}
		case matchesAny(d.Name(), patterns):
			out = append(out, rel)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil
	}
	return out
}

func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, err := path.Match(p, name); return err == nil && ok })
}

// member reports whether dir is among the members of a workspace, given as
// patterns like "packages/*", "libs/**" and "!packages/old". The last one that
// matches decides.
func member(dir string, patterns []string) bool {
	in := false
	for _, p := range patterns {
		pattern, excluded := strings.CutPrefix(p, "!")
		pattern = strings.Trim(strings.TrimPrefix(pattern, "./"), "/")
		if within(dir, pattern) {
			in = !excluded
		}
	}
	return in
}

func within(dir, pattern string) bool {
	if base, deep := strings.CutSuffix(pattern, "**"); deep {
		base = strings.Trim(base, "/")
		return base == "" || strings.HasPrefix(dir, base+"/") || matchPrefix(dir, base)
	}
	ok, err := path.Match(pattern, dir)
	return err == nil && ok
}

// matchPrefix reports whether a pattern matches the first parts of dir.
func matchPrefix(dir, pattern string) bool {
	parts := strings.Split(dir, "/")
	if n := strings.Count(pattern, "/") + 1; n < len(parts) {
		ok, err := path.Match(pattern, strings.Join(parts[:n], "/"))
		return err == nil && ok
	}
	return false
}
