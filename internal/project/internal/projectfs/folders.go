package projectfs

import (
	"os"
	"path"
	"slices"
	"strings"
)

// skippedFolders are folders without projects to test: output of tools, third-party code, and
// samples.
var skippedFolders = []string{
	"node_modules", "bower_components", "vendor", "third_party", "site-packages", "deps", "Pods",
	"target", "build", "dist", "out", "bin", "obj", "coverage", "htmlcov",
	"testdata", "fixtures", "examples", "example", "samples", "fuzz",
	"venv", "env",
}

// Subfolders lists the folders in f that may have projects, sorted: no links, hidden folders,
// ignored ones, virtual environments, or folders that Go and others leave out (_examples).
func (f Folder) Subfolders() []Folder {
	entries, err := os.ReadDir(f.Path(""))
	if err != nil {
		return nil
	}
	excluded := append(f.Ignored(), skippedFolders...)
	var out []Folder
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains(excluded, name) || f.Exists(name+"/pyvenv.cfg") {
			continue
		}
		out = append(out, f.below(name))
	}
	return out
}

// Ignored lists the names of folders in f that the .gitignore of f or of the root names
// literally, without patterns.
func (f Folder) Ignored() []string {
	var out []string
	for _, dir := range Unique([]string{"", f.Dir}) {
		for line := range strings.Lines((Folder{Dir: dir, files: f.files}).Read(".gitignore")) {
			line = strings.TrimSpace(line)
			anchored := strings.HasPrefix(line, "/")
			name := strings.Trim(line, "/")
			if name == "" || strings.ContainsAny(name, "*?[!#\\") {
				continue
			}
			switch parent, base := path.Split(name); {
			case parent == "" && (!anchored || dir == f.Dir):
				out = append(out, name)
			case parent != "" && Join(dir, strings.TrimSuffix(parent, "/")) == f.Dir:
				out = append(out, base)
			}
		}
	}
	return out
}

// IsMember reports whether dir is among the members of a workspace, given as
// patterns like "packages/*", "libs/**" and "!packages/old". The last one that
// matches decides.
func IsMember(dir string, patterns []string) bool {
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

// within reports whether one pattern of a workspace, without "!", matches dir.
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

// Unique returns the elements of a list without repetitions.
func Unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Join returns the slash path of name in dir.
func Join(dir, name string) string { return strings.TrimPrefix(path.Join(dir, name), "./") }
