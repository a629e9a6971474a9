package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/git"
	"supervise/internal/ledger"
	"supervise/internal/projectfile"
)

// copiedSettings is a pattern of the git settings that say who commits and how files are
// written, like user.name and core.autocrlf. No others are copied: without remotes and hooks
// git does nothing outside the tree.
const copiedSettings = `^(user\.(name|email)|core\.(autocrlf|eol|filemode|ignorecase|symlinks|safecrlf|precomposeunicode))$`

// copiedFiles are files of a repository that are copied unchanged, if they exist.
var copiedFiles = []string{"index", "sharedindex.*", "info/exclude", "info/attributes", "shallow"}

// CopyRepoState copies the state of the repository that contains the folder repo: HEAD,
// branches, tags and the index. The tree must have its files already.
func (t *Tree) CopyRepoState(ctx context.Context, repo string) error {
	refs, err := runGit(ctx, repo, "for-each-ref", "--format=%(if)%(symref)%(then)%(else)create %(refname) %(objectname)%(end)")
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error {
			return t.gitWithInput(ctx, strings.TrimSpace(strings.ReplaceAll(refs, "\n\n", "\n"))+"\n", "update-ref", "--stdin")
		},
		func() error { return t.copyHead(ctx, repo) },
		func() error { return t.copyConfig(ctx, repo) },
		func() error { return t.copyFiles(ctx, repo) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	_, _ = t.Git(ctx, "update-index", "-q", "--refresh") // status 1: some files differ
	return nil
}

// gitWithInput runs a git command with text on standard input. It does nothing without a text.
func (t *Tree) gitWithInput(ctx context.Context, text string, args ...string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	c := git.NewCommand(t.Dir, args...)
	c.Stdin = strings.NewReader(text)
	if _, err := c.Output(ctx); err != nil {
		return fmt.Errorf("for a checkout: %w", err)
	}
	return nil
}

// copyHead makes HEAD name the same branch, or the same commit.
func (t *Tree) copyHead(ctx context.Context, repo string) error {
	if branch, err := runGit(ctx, repo, "symbolic-ref", "-q", "HEAD"); err == nil {
		_, err = t.Git(ctx, "symbolic-ref", "HEAD", strings.TrimSpace(branch))
		return err
	}
	id, err := runGit(ctx, repo, "rev-parse", "--verify", "HEAD")
	if err == nil {
		_, err = t.Git(ctx, "update-ref", "--no-deref", "HEAD", strings.TrimSpace(id))
	}
	return err
}

// copyConfig copies the settings of copiedSettings.
func (t *Tree) copyConfig(ctx context.Context, repo string) error {
	list, err := runGit(ctx, repo, "config", "-z", "--local", "--get-regexp", copiedSettings)
	if err != nil {
		return nil // it has none
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if _, err := t.Git(ctx, "config", key, value); err != nil {
			return err
		}
	}
	return nil
}

// copyFiles copies the files of copiedFiles that exist.
func (t *Tree) copyFiles(ctx context.Context, repo string) error {
	for _, name := range copiedFiles {
		pattern, err := runGit(ctx, repo, "rev-parse", "--path-format=absolute", "--git-path", name)
		if err != nil {
			return err
		}
		pattern = strings.TrimSuffix(pattern, "\n")
		from, err := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(pattern)), filepath.Base(pattern)))
		if err != nil {
			return fmt.Errorf("for a checkout: %w", err)
		}
		for _, path := range from {
			to := filepath.Join(t.Dir, ".git", filepath.Dir(filepath.FromSlash(name)), filepath.Base(path))
			data, err := projectfile.Read(path, projectfile.Report)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o700)
			}
			if err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
			if err != nil {
				return fmt.Errorf("for a checkout: %w", err)
			}
		}
	}
	return nil
}

// escapeGlob quotes a folder name for use in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// IgnoreLinks makes git ignore the links of the tree to dependencies in the folder root. They
// are no work of the agent, and would lead out of a tree made from its snapshots. A pattern
// for a folder would not ignore a link of that name.
func (t *Tree) IgnoreLinks(ctx context.Context, root string) error {
	list, err := t.Git(ctx, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}

	path := filepath.Join(t.Dir, ".git", "info", "exclude")
	text, err := projectfile.Read(path, projectfile.Git)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("for a checkout: %w", err)
	}

	had := len(text)
	for name := range strings.SplitSeq(list, "\x00") {
		to, err := os.Readlink(filepath.Join(t.Dir, filepath.FromSlash(name)))
		if _, inside := ledger.PathInTree(to, root); name != "" && err == nil && inside && filepath.IsAbs(to) {
			text = fmt.Appendf(text, "\n/%s\n", escapeGlob(name))
		}
	}

	if len(text) == had {
		return nil
	}
	return ledger.WriteFile(path, text)
}
