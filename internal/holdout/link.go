package holdout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// link links a dependency folder of the copy to that of the working tree, entry by
// entry: what a program adds to the folder, such as a cache, stays in the copy. A folder
// that does not exist, or that the snapshot has, is left alone. A Python environment is
// one link, since its programs are found by its path.
func (t Tree) link(name string) error {
	from, to := filepath.Join(t.Root, filepath.FromSlash(name)), filepath.Join(t.Path, filepath.FromSlash(name))
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if filepath.Base(name) != "node_modules" || !info.IsDir() {
		return os.Symlink(from, to)
	}
	return linkEntries(from, to)
}

// linkEntries makes a folder whose entries link to those of another. Caches, which are
// hidden and not the package manager's own, are left out. Folders of scopes are made in
// the same way. A link among the entries is made again: it may lead to another part of
// the project, which the copy has as well.
func linkEntries(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") && !managed[e.Name()]:
			continue
		case e.IsDir() && strings.HasPrefix(e.Name(), "@"):
			err = linkEntries(source, target)
		case e.Type() == fs.ModeSymlink:
			err = relink(source, target)
		default:
			err = os.Symlink(source, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// managed are hidden entries of node_modules that are no caches.
var managed = map[string]bool{".bin": true, ".pnpm": true, ".modules.yaml": true, ".package-lock.json": true, ".yarn-integrity": true, ".yarn-state.yml": true, ".store": true, ".prisma": true}

// relink makes a link with the target of another where that is relative and exists from
// the new place as well; else it links to the other link.
func relink(source, target string) error {
	to, err := os.Readlink(source)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(to) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(target), to)); err == nil {
			return os.Symlink(to, target)
		}
	}
	return os.Symlink(source, target)
}
