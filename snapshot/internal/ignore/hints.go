package ignore

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/walk"
)

// Hints find names that no pattern of a scope can match, so that git need not check them. They
// may report a match where there is none, but never miss one. Therefore all patterns apply in
// all folders, a bracket or backslash and everything after it match anything, letter case is
// ignored, and negated patterns (a leading !) are omitted.
type Hints struct {
	exact map[string]bool // names, in lower case
	globs []glob
}

// glob is the last element of a pattern with wildcards, or of one for folders only.
type glob struct {
	pattern string // for path.Match, in lower case
	suffix  string // its end without wildcards, which excludes most names at once
	folders bool   // matches only folders
}

// NewHints returns hints without patterns.
func NewHints() *Hints { return &Hints{exact: map[string]bool{}} }

// Add adds the patterns of an ignore file, see gitignore(5).
func (h *Hints) Add(file []byte) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(file), "\n") {
		if line != "" && line[0] != '#' && line[0] != '!' {
			h.addPattern(strings.ToLower(line))
		}
	}
}

// addPattern adds one pattern, in lower case.
func (h *Hints) addPattern(p string) {
	if i := strings.IndexAny(p, "[\\\x00"); i >= 0 {
		coversLastElement := strings.Contains(strings.TrimRight(p[i:], "/"), "/")
		if p = p[:i] + "*"; coversLastElement {
			p = "*"
		}
	} else if trimmed := strings.TrimRight(p, " \t\r"); trimmed != p {
		p = strings.TrimRight(trimmed, "/") + "*" // git does not trim all of these
	}
	folders := strings.HasSuffix(p, "/")
	p = path.Base(p)
	if folders || strings.ContainsAny(p, "*?") {
		h.globs = append(h.globs, glob{p, p[strings.LastIndexAny(p, "*?")+1:], folders})
		return
	}
	h.exact[p] = true
}

// MayMatch reports whether any pattern may match a name. It is true for all names with letters
// outside of ASCII, which systems encode differently.
func (h *Hints) MayMatch(name string, folder bool) bool {
	if len(h.exact)+len(h.globs) == 0 {
		return false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true
	}
	name = strings.ToLower(name)
	return h.exact[name] || slices.ContainsFunc(h.globs, func(g glob) bool {
		if g.folders && !folder || !strings.HasSuffix(name, g.suffix) {
			return false
		}
		matches, err := path.Match(g.pattern, name)
		return matches || err != nil
	})
}

// mayIgnore reports whether git has to check a node: some pattern of the scope may match its
// name.
func (r *Rules) mayIgnore(s scope, n *walk.Node) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hintsOf(s.Dir).MayMatch(n.Name, n.Kind == disk.KindDir)
}

// hintsOf returns the hints of the scope whose copy is in dir. It reads the copied ignore
// files on first use. If that fails, every name may match.
func (r *Rules) hintsOf(dir string) *Hints {
	h := r.hints[dir]
	if h != nil {
		return h
	}
	h = NewHints()
	r.hints[dir] = h
	root := filepath.Join(r.dir, dir)
	for _, name := range []string{"global", filepath.Join("git", "info", "exclude")} {
		h.addFile(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "tree"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".gitignore" && d.Type().IsRegular() {
			h.addFile(p)
		}
		return err
	})
	if err != nil {
		h.addPattern("*") // git reports the error
	}
	return h
}

// addFile adds the patterns of a file. If it cannot be read, every name may match.
func (h *Hints) addFile(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		h.addPattern("*")
		return
	}
	h.Add(data)
}
