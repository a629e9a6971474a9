package ignore

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/walk"
)

// Hints find names that no pattern of a scope can match, so that git need not check them. They
// may report a match where there is none, but never miss one. Therefore all patterns apply in
// all folders, a bracket or backslash and everything after it match anything, letter case is
// ignored, and negated patterns (a leading !) are omitted.
type Hints struct {
	exact map[string]bool // patterns without wildcards, in lower case
	globs []glob
}

// glob is the last element of a pattern, split at its wildcards: lib*.so has the pieces "lib"
// and ".so". The pieces must occur in a name in order. The first one is a prefix of the name,
// and the last one a suffix; both may be empty.
type glob struct {
	pieces  []string
	folders bool // matches only folders
}

// NewHints returns hints without patterns.
func NewHints() *Hints { return &Hints{exact: map[string]bool{}} }

// Add adds the patterns of an ignore file, see gitignore(5).
func (h *Hints) Add(file []byte) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	for line := range strings.SplitSeq(string(file), "\n") {
		if line != "" && line[0] != '#' && line[0] != '!' {
			h.addPattern(lowerASCII(line))
		}
	}
}

// addPattern adds one pattern, in lower case.
func (h *Hints) addPattern(p string) {
	if i := strings.IndexAny(p, "[\\\x00"); i >= 0 {
		p = p[:i] + "*"
	} else if t := strings.TrimRight(p, " \t\r"); t != p {
		p = t + "*" // git does not trim all of these
		if strings.HasSuffix(t, "/") {
			p = strings.TrimRight(t, "/") + "*"
		}
	}

	g := glob{folders: strings.HasSuffix(p, "/")}
	p = strings.TrimRight(p, "/")
	p = p[strings.LastIndexByte(p, '/')+1:]
	g.pieces = strings.FieldsFunc(strings.ReplaceAll(p, "?", "*"), func(r rune) bool { return r == '*' })

	switch wild := strings.ContainsAny(p, "*?"); {
	case !wild && !g.folders:
		h.exact[p] = true
		return
	case !wild:
		g.pieces = []string{p, ""}
		h.globs = append(h.globs, g)
		return
	}

	if len(g.pieces) == 0 || strings.IndexAny(p, "*?") == 0 {
		g.pieces = append([]string{""}, g.pieces...)
	}
	if last := p[len(p)-1]; last == '*' || last == '?' {
		g.pieces = append(g.pieces, "")
	}
	h.globs = append(h.globs, g)
}

// MayMatch reports whether any pattern may match a name. It is true for all names with letters
// outside of ASCII.
func (h *Hints) MayMatch(name string, folder bool) bool {
	if len(h.exact)+len(h.globs) == 0 {
		return false
	}
	name = lowerASCII(name)
	for i := range len(name) {
		if name[i] >= 0x80 {
			return true // systems encode such letters differently
		}
	}
	if h.exact[name] {
		return true
	}
	for _, g := range h.globs {
		if (folder || !g.folders) && g.matches(name) {
			return true
		}
	}
	return false
}

// matches reports whether the pieces occur in a name, which is in lower case.
func (g glob) matches(name string) bool {
	last := len(g.pieces) - 1
	if !strings.HasPrefix(name, g.pieces[0]) {
		return false
	}
	name = name[len(g.pieces[0]):]
	for _, p := range g.pieces[1:last] {
		_, after, found := strings.Cut(name, p)
		if !found {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, g.pieces[last])
}

// lowerASCII converts ASCII letters to lower case, byte by byte, like git does for core.ignoreCase.
func lowerASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for k, c := range b {
				if 'A' <= c && c <= 'Z' {
					b[k] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
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
