//go:build unix

package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"supervise/internal/projectfile"
)

// repo makes a repository by a script of the shell, with programs that leave marks.
func repo(t *testing.T, script string) (dir string, marks func() string) {
	t.Helper()
	home := t.TempDir()
	dir = filepath.Join(home, "tree")
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("MARKS", filepath.Join(home, "marks"))
	t.Setenv("PATH", home+":"+os.Getenv("PATH"))
	cmd := exec.Command("sh", "-c", `set -e
for m in ours theirs; do printf '#!/bin/sh\necho %s >>"$MARKS"; cat\n' $m >$m; chmod +x $m; done
git config --global user.name a; git config --global user.email a@b
git init -q -b main tree; cd tree; echo text >a.txt; echo '*.txt filter=x' >.gitattributes; git add .; git commit -qm one; echo more >>a.txt
`+script)
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, func() string {
		text, _ := os.ReadFile(filepath.Join(home, "marks"))
		_ = os.Remove(filepath.Join(home, "marks"))
		return strings.Join(slices.Compact(strings.Fields(string(text))), " ")
	}
}

func TestFiltersOfTheUserRunAndThoseOfTheRepositoryDoNot(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"the user's", `git config --global filter.x.clean ours`, "ours"},
		{"the repository's", `git config filter.x.clean theirs; git config filter.x.required true`, ""},
		{"both", `git config --global filter.x.clean ours; git config filter.x.clean theirs`, "ours"},
		{"included", `printf '[filter "x"]\nclean = theirs\n' >.git/more; git config include.path more`, ""},
		{"of the worktree", `git config extensions.worktreeConfig true; git config --worktree filter.x.clean theirs`, ""},
		{"a name with a space", `echo '*.txt filter="y z"' >.gitattributes; git config 'filter.y z.clean' theirs`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, marks := repo(t, c.script)
			marks()
			out, err := NewCommand(dir, "diff", "--stat").Output(t.Context())
			if err != nil || !strings.Contains(string(out), "a.txt") {
				t.Fatalf("%s %v", out, err)
			}
			if got := marks(); got != c.want {
				t.Errorf("started %q, want %q", got, c.want)
			}
		})
	}
}

func TestANameThatCannotBeSwitchedOffIsRefused(t *testing.T) {
	dir, marks := repo(t, `echo '*.txt filter=x=y' >.gitattributes; git config filter.x=y.clean theirs`)
	if _, err := NewCommand(dir, "diff").Output(t.Context()); err == nil || !strings.Contains(err.Error(), "filter.x=y.clean") {
		t.Errorf("got %v", err)
	}
	if got := marks(); got != "" {
		t.Errorf("started %q", got)
	}
}

func TestRemotesStartNoProgramOfTheRepository(t *testing.T) {
	dir, marks := repo(t, `git clone -q --bare . ../far; git remote add far ../far; git config remote.far.uploadpack 'theirs; git-upload-pack'
git config remote.far.receivepack 'theirs; git-receive-pack'; git remote add ext 'ext::theirs'; git config credential.helper '!theirs'; git config core.sshCommand theirs
git remote add ssh ssh://nobody@localhost:1/x`)
	for _, args := range [][]string{{"fetch", "far"}, {"ls-remote", "far"}, {"push", "far", "HEAD:refs/heads/new"}} {
		if _, err := NewCommand(dir, args...).Output(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewCommand(dir, "fetch", "ext").Output(t.Context()); err == nil || !strings.Contains(err.Error(), "'ext' not allowed") {
		t.Errorf("got %v", err)
	}
	if _, err := NewCommand(dir, "fetch", "ssh").Output(t.Context()); err == nil || !strings.Contains(err.Error(), "core.sshcommand") {
		t.Errorf("got %v", err)
	}
	if got := marks(); got != "" {
		t.Errorf("started %q", got)
	}
}

func TestWhatWasInOrderIsLookedAtAgainAfterAProgram(t *testing.T) {
	dir, _ := repo(t, "mkdir sub")
	pipe := filepath.Join(dir, "sub", ".gitignore")
	if err := CheckFiles(dir, "status"); err != nil {
		t.Fatal(err)
	}
	done := TrackProgram()
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := CheckFiles(dir, "status"); err == nil {
		t.Error("a pipe is overlooked while the program runs")
	}
	_ = os.Remove(pipe)
	if err := CheckFiles(dir, "status"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done()
	if err := CheckFiles(dir, "status"); err == nil {
		t.Error("a pipe is overlooked after the program")
	}
	if _, err := NewCommand(dir, "status").Output(context.Background()); err == nil {
		t.Error("git was started")
	} else if _, refused := err.(*projectfile.Refusal); !refused { //nolint:errorlint // exactly this
		t.Errorf("got %v", err)
	}
}
