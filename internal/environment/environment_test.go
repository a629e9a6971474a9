package environment_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/environment"
)

// place is a repository with one committed file, and a PATH of two folders. The second
// one holds the program "check".
type place struct{ root, first, second string }

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	p.write(t, filepath.Join(p.root, "a.txt"), "a", 0o644)
	p.write(t, filepath.Join(p.second, "check"), "#!/bin/sh\n", 0o755)
	p.write(t, filepath.Join(p.root, "bin", "own"), "#!/bin/sh\n", 0o755)
	p.git(t, "init", "-q")
	p.git(t, "add", "a.txt")
	p.git(t, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qm", "start")
	return p
}

func (p place) write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (p place) git(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (p place) look(t *testing.T) environment.State {
	t.Helper()
	path := p.first + string(filepath.ListSeparator) + p.second + string(filepath.ListSeparator) + os.Getenv("PATH")
	w := environment.Watch{Root: p.root, Programs: []string{"check", "./bin/own", "missing"}, Env: append(os.Environ(), "PATH="+path)}
	s, err := w.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChangesOfProgramsHooksAndHiddenFiles(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(*testing.T, place)
		want []string // severity, pattern and type
	}{
		{"nothing", func(*testing.T, place) {}, nil},
		{"a commit, and a new program", func(t *testing.T, p place) {
			p.write(t, filepath.Join(p.root, "a.txt"), "b", 0o644)
			p.git(t, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-qam", "more")
			p.write(t, filepath.Join(p.first, "missing"), "", 0o755)
		}, nil},
		{"a program before the other on PATH", func(t *testing.T, p place) {
			p.write(t, filepath.Join(p.first, "check"), "#!/bin/sh\nexit 0\n", 0o755)
		}, []string{"CRITICAL TP-31 runner_replaced"}},
		{"a program overwritten", func(t *testing.T, p place) {
			p.write(t, filepath.Join(p.second, "check"), "#!/bin/sh\nexit 0\n", 0o755)
		}, []string{"HIGH TP-31 runner_replaced"}},
		{"a program of the project", func(t *testing.T, p place) {
			p.write(t, filepath.Join(p.root, "bin", "own"), "#!/bin/sh\nexit 0\n", 0o755)
		}, []string{"MEDIUM TP-31 runner_updated"}},
		{"a program deleted", func(t *testing.T, p place) {
			if err := os.Remove(filepath.Join(p.second, "check")); err != nil {
				t.Fatal(err)
			}
		}, []string{"HIGH TP-31 runner_replaced"}},
		{"assume-unchanged", func(t *testing.T, p place) { p.git(t, "update-index", "--assume-unchanged", "a.txt") }, []string{"CRITICAL TP-30 hidden_from_git"}},
		{"skip-worktree", func(t *testing.T, p place) { p.git(t, "update-index", "--skip-worktree", "a.txt") }, []string{"CRITICAL TP-30 hidden_from_git"}},
		{"a hook", func(t *testing.T, p place) {
			p.write(t, filepath.Join(p.root, ".git", "hooks", "post-commit"), "#!/bin/sh\n", 0o755)
		}, []string{"HIGH TP-30 git_hooks_changed"}},
		{"no git any more", func(t *testing.T, p place) {
			if err := os.RemoveAll(filepath.Join(p.root, ".git")); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"another folder of hooks", func(t *testing.T, p place) { p.git(t, "config", "core.hooksPath", "hooks") }, []string{"HIGH TP-30 git_hooks_changed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			before := p.look(t)
			tc.do(t, p)
			var got []string
			for _, c := range p.look(t).ChangesSince(before, p.root) {
				got = append(got, c.Severity.String()+" "+c.Pattern+" "+c.Type)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A folder without a repository has only programs.
func TestFolderWithoutRepositoryHasOnlyPrograms(t *testing.T) {
	p := place{t.TempDir(), t.TempDir(), t.TempDir()}
	if s := p.look(t); s.HookPath != "" || len(s.Hidden) > 0 || s.Programs["check"].Path != "" {
		t.Errorf("got %+v", s)
	}
}
