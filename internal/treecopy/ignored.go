package treecopy

import (
	"context"
	"fmt"
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
