package treecopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/projectfile"
)

// linkFolder links a dependency folder of the copy to that of the working tree. If another
// runner ran the tests at the base, the folder of the base comes first, because its packages
// belong to that runner. A folder that the snapshot contains is not changed.
func (t Tree) linkFolder(name string) error {
	to := filepath.Join(t.Path, filepath.FromSlash(name))
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	for _, root := range []string{t.baseRoot, t.Root} {
		if root == "" {
			continue
		}
		if err := t.linkDir(filepath.Join(root, filepath.FromSlash(name)), to); err != nil {
			return err
		}
	}
	return nil
}

// linkDir makes a dependency folder at to from the one at from, which may be missing. The
// entries of node_modules are linked one by one, so that what a program adds to the folder,
// such as a cache, stays in the copy. Any other folder, such as a Python environment, is one
// link.
func (t Tree) linkDir(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if filepath.Base(from) == "node_modules" && info.IsDir() {
		return t.linkEntries(from, to)
	}
	if _, err := os.Stat(filepath.Join(from, "autoload.php")); err == nil {
		return linkComposer(from, to)
	}
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	return os.Symlink(from, to)
}

// linkComposer makes a folder of Composer. Its own files are copied, because they find the
// project relative to their real location. Packages are links.
func linkComposer(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); errors.Is(err, fs.ErrExist) {
		return nil // the copy has it
	} else if err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.IsDir() && filepath.Base(from) == "vendor" && (e.Name() == "composer" || e.Name() == "bin"):
			err = linkComposer(source, target)
		case e.Type() == fs.ModeSymlink:
			err = relink(source, target)
		case e.IsDir():
			err = os.Symlink(source, target)
		default:
			err = copyFileTo(source, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyFileTo copies a file with its permission to execute. A file that is too large becomes a
// link.
func copyFileTo(from, to string) error {
	text, err := projectfile.ReadAnywhere(from, projectfile.Source)
	if err != nil {
		return os.Symlink(from, to) // too large, or no file
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode()&0o100|0o600)
}

// linkEntries makes a folder whose entries are links to those of another folder, and keeps the
// entries that it has. There are three exceptions: hidden entries that are caches are left
// out; folders of scopes (@types), and that of programs if two folders are joined, are made in
// the same way; and links are made again, because they may lead to another part of the
// project, which the copy has as well.
func (t Tree) linkEntries(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		joined := strings.HasPrefix(e.Name(), "@") || e.Name() == ".bin" && t.baseRoot != ""
		_, missing := os.Lstat(target)
		switch {
		case strings.HasPrefix(e.Name(), ".") && !managedEntries[e.Name()]:
			continue
		case e.IsDir() && joined:
			err = t.linkEntries(source, target)
		case missing == nil:
			continue
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

// managedEntries are the hidden entries of node_modules that are not caches.
var managedEntries = map[string]bool{".bin": true, ".pnpm": true, ".modules.yaml": true, ".package-lock.json": true, ".yarn-integrity": true, ".yarn-state.yml": true, ".store": true, ".prisma": true}

// relink makes a link at target for the link at source. It has the same relative target if
// that exists from the new place as well, and otherwise leads to the other link.
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
