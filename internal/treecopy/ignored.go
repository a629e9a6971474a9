package treecopy

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"supervise/internal/git"
	"supervise/internal/projectfile"
)

// copyIgnored copies the ignored modules of packages that are edited in place if they are
// missing from the copy. These are compiled modules, and files such as _version.py, which an
// installation has written.
func (t Tree) copyIgnored(ctx context.Context) error {
	for _, source := range EditableDirs(ctx, t.Plan) {
		dir := path.Join(t.projectPath(), filepath.ToSlash(source))
		if !filepath.IsLocal(filepath.FromSlash(dir)) {
			continue
		}
		list, err := git.NewCommand(t.Root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", dir).Output(ctx)
		if err != nil {
			return ctx.Err() // without a repository, snapshots have them
		}
		for name := range strings.SplitSeq(string(list), "\x00") {
			if ext := path.Ext(name); ext != ".py" && ext != ".so" && ext != ".pyd" { // folders are caches and environments
				continue
			}
			if err := t.copyFile(name); err != nil {
				return fmt.Errorf("copy %s: %w", name, err)
			}
		}
	}
	return nil
}

// copyFile copies a file of the working tree, unless the copy has it. It ignores an unreadable
// file.
func (t Tree) copyFile(name string) error {
	if _, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(name))); err == nil {
		return nil
	}
	text, err := projectfile.ReadAnywhere(filepath.Join(t.Root, filepath.FromSlash(name)), projectfile.Report)
	if err != nil {
		return nil //nolint:nilerr // an unreadable file cannot be imported there either
	}
	return Files{{Path: name, Text: text}}.Write(t.Path)
}

// IgnoredFiles lists the ignored files and folders of the working tree at root, with slashes. It fails
// without a repository.
func IgnoredFiles(ctx context.Context, root string) ([]string, error) {
	list, err := git.NewCommand(root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").Output(ctx)
	return strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 }), err
}

// CopyIgnored copies the ignored files of the working tree at root that are missing from the copy in
// dir.
func CopyIgnored(ctx context.Context, root, dir string) error {
	list, err := IgnoredFiles(ctx, root)
	for _, name := range list {
		if name = filepath.FromSlash(name); err == nil {
			err = CopyMissing(filepath.Join(root, name), filepath.Join(dir, name))
		}
	}
	return err
}

// CopyMissing copies a file, or the files of a folder, that are missing at to. It omits what belongs
// to git, and does not follow links in the copy.
func CopyMissing(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil || info.Name() == ".git" {
		return nil //nolint:nilerr // it was removed meanwhile
	}
	there, err := os.Lstat(to)
	switch {
	case err == nil && !(there.IsDir() && info.IsDir()):
		return nil
	case info.Mode().Type() == fs.ModeSymlink:
		return relink(from, to)
	case info.Mode().IsRegular():
		return copyFileTo(from, to)
	case !info.IsDir(): // a socket or a pipe
		return nil
	}
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range entries {
		if err == nil {
			err = CopyMissing(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}
