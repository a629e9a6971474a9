package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fields are those by which two states of a tree are compared.
var fields = []string{"content", "mode", "owner", "links", "status", "index", "refs", "stash", "reflog", "config", "fsck"}

// gitLooks say what git sees. Reading may not refresh the index.
var gitLooks = map[string][]string{
	"status": {"status", "--porcelain", "--ignored", "--untracked-files=all"},
	"index":  {"ls-files", "--stage", "-v"},
	"refs":   {"for-each-ref"},
	"stash":  {"stash", "list", "--format=%H %gs"},
	"reflog": {"reflog", "--all", "--format=%H %gD %gs"},
	"config": {"config", "--local", "--list"},
	"fsck":   {"fsck", "--no-dangling", "--no-progress"},
}

// treePicture is the state of a working tree: each field of each path, what git says,
// and git's objects.
type treePicture struct {
	paths   map[string]map[string]string
	git     map[string]string
	objects map[string]bool
}

// takePicture looks at a tree that may hold anything.
func takePicture(t *testing.T, root string, git func(args ...string) string) treePicture {
	t.Helper()
	p := treePicture{paths: map[string]map[string]string{}, git: map[string]string{}, objects: map[string]bool{}}
	names := map[uint64][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		rel, errRel := filepath.Rel(root, file)
		var st unix.Stat_t
		if err != nil || errRel != nil || unix.Lstat(file, &st) != nil {
			p.paths[rel] = map[string]string{"content": fmt.Sprint("unreachable: ", err)}
			return nil //nolint:nilerr // it is in the picture
		}
		p.paths[rel] = lookAt(file, &st)
		if d.Type().IsRegular() && st.Nlink > 1 && !strings.HasPrefix(rel, ".git/objects/") {
			names[st.Ino] = append(names[st.Ino], rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range names {
		if len(list) == 1 {
			continue // its other name is outside
		}
		for _, name := range list {
			p.paths[name]["links"] = strings.Join(list, " = ")
		}
	}
	for look, args := range gitLooks {
		p.git[look] = git(args...)
	}
	for line := range strings.Lines(git("cat-file", "--batch-all-objects", "--batch-check")) {
		p.objects[line] = true
	}
	return p
}

// lookAt reads the fields of one path.
func lookAt(file string, st *unix.Stat_t) map[string]string {
	out := map[string]string{"mode": fmt.Sprintf("%o", st.Mode&0o7777), "owner": fmt.Sprintf("%d:%d", st.Uid, st.Gid), "content": "special"}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		out["content"] = "folder"
	case unix.S_IFLNK:
		out["content"], out["mode"] = "link", ""
		out["links"], _ = os.Readlink(file)
	case unix.S_IFREG:
		out["content"] = contentOf(file, st.Size)
	default:
		out["content"] = fmt.Sprintf("special %o %d", st.Mode&unix.S_IFMT, st.Rdev)
	}
	return out
}

// contentOf is the hash of a file, the size of one that is huge.
func contentOf(file string, size int64) string {
	if size > 100<<20 {
		return fmt.Sprint("size ", size)
	}
	f, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// change is a difference between two pictures: of a path, or, without one, of what git
// says.
type change struct{ look, path, was, is string }

// changes lists the differences. Objects of git may come, and be packed; none may go.
func (p treePicture) changes(now treePicture) (out []change) {
	all := map[string]bool{}
	for _, side := range []treePicture{p, now} {
		for name := range side.paths {
			all[name] = true
		}
	}
	for name := range all {
		was, is := p.paths[name], now.paths[name]
		if name == ".git/index" || strings.HasPrefix(name, ".git/objects/") && (was == nil || is == nil) {
			continue // git says what is in them
		}
		for _, look := range fields[:4] {
			if was[look] != is[look] && (look == "content" || was != nil && is != nil) {
				out = append(out, change{lookOf(look, name), name, was[look], is[look]})
			}
		}
	}
	for look := range gitLooks {
		if p.git[look] != now.git[look] {
			out = append(out, change{look, "", p.git[look], now.git[look]})
		}
	}
	for object := range p.objects {
		if !now.objects[object] {
			out = append(out, change{"fsck", ".git/objects", object, "gone"})
		}
	}
	slices.SortFunc(out, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return out
}

// lookOf is the field to which the content of git's own files belongs.
func lookOf(look, name string) string {
	if look != "content" {
		return look
	}
	for of, prefix := range map[string]string{"reflog": ".git/logs", "refs": ".git/refs", "config": ".git/config"} {
		if name == prefix || strings.HasPrefix(name, prefix+"/") {
			return of
		}
	}
	if name == ".git/HEAD" || name == ".git/packed-refs" {
		return "refs"
	}
	return look
}

// names are the paths that the last line names; those of what tools regenerate are only
// the last elements of paths.
type lineNames struct{ paths, regenerable map[string]bool }

var reasons = regexp.MustCompile(` \([^()]*\)`)

func namesOf(line string) lineNames {
	n := lineNames{map[string]bool{}, map[string]bool{}}
	line = reasons.ReplaceAllString(line, "")
	for part := range strings.SplitSeq(line, "; ") {
		to := n.paths
		if strings.Contains(part, "tools regenerate it: ") || strings.HasPrefix(part, "not compared: ") {
			to = n.regenerable
		}
		part = part[strings.LastIndex(part, ": ")+1:]
		for name := range strings.SplitSeq(part, ", ") {
			to[strings.TrimSuffix(strings.TrimSpace(name), "/")] = true
		}
	}
	return n
}

// has reports whether a path, or a folder above it, is named.
func (n lineNames) has(name string) bool {
	for ; name != "." && name != ""; name = path.Dir(name) {
		if n.paths[name] || n.regenerable[path.Base(name)] {
			return true
		}
	}
	return n.paths["."]
}

// unnamed sorts out the differences that a line does not name. What git says follows
// from its files: it is named if one of those is.
func unnamed(list []change, line string) (named, left []change) {
	names := namesOf(line)
	files := 0
	for _, c := range list {
		if c.path != "" && c.path != ".git/objects" && names.has(c.path) {
			files++
		}
	}
	for _, c := range list {
		switch {
		case c.look == "fsck" && c.path == "" && strings.Contains(line, "git fsck finds: "),
			c.look == "index" && c.path == "" && names.has(".git/index"),
			c.look != "fsck" && c.path == "" && files > 0,
			c.path != "" && names.has(c.path):
			named = append(named, c)
		default:
			left = append(left, c)
		}
	}
	return named, left
}
