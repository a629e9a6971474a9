package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/pool"
)

// largeObjects are what git-lfs and git-annex keep of files that were not pushed yet.
var largeObjects = map[string]string{
	"lfs/objects/4d/7a/4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393": "large\n",
	"lfs/objects/00/11/0011":                                    "other\n",
	"annex/objects/Wx/9z/SHA256E-s6--aa.bin/SHA256E-s6--aa.bin": "annex\n",
}

// An agent that deletes the repository deletes with it what git-lfs and git-annex keep there.
func TestLargeFilesOfGitComeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		setup func(t *testing.T, dir string) (tree, gitDir string)
		gone  []string // in the git folder
	}{
		"repository": {
			func(_ *testing.T, dir string) (string, string) { return dir, filepath.Join(dir, ".git") },
			[]string{"."},
		},
		"in one that stays": {
			func(_ *testing.T, dir string) (string, string) { return dir, filepath.Join(dir, ".git") },
			[]string{"lfs", "annex"},
		},
		"git folder elsewhere": {
			func(t *testing.T, dir string) (string, string) {
				git(t, dir, "init", "-q", "--separate-git-dir", dir+".git")
				return dir, dir + ".git"
			},
			[]string{"lfs", "annex", "HEAD"},
		},
		"linked worktree": {
			func(t *testing.T, dir string) (string, string) {
				git(t, dir, "worktree", "add", "-q", dir+"-linked")
				return dir + "-linked", filepath.Join(dir, ".git")
			},
			[]string{"lfs", "annex"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree, gitDir := tt.setup(t, workshop(t))
			for file, text := range largeObjects {
				write(t, gitDir, file, text, 0o444)
			}
			write(t, gitDir, "lfs/tmp/half", "not whole\n")
			s := open(t, tree, Options{})
			first := take(t, s)
			for _, f := range tt.gone {
				must(t, os.RemoveAll(filepath.Join(gitDir, f)))
			}
			second := take(t, s)
			mustRestore(t, s, first.ID)
			for file, want := range largeObjects {
				if got := read(t, gitDir, file); got != want {
					t.Errorf("%s holds %q, want %q", file, got, want)
				}
			}
			if first.Tree != second.Tree && name != "repository" {
				t.Error("large files of git count as working files")
			}
			mustRestore(t, s, second.ID) // objects that are more than there were do no harm
			if !exists(gitDir, "lfs/objects/00/11/0011") && name != "repository" {
				t.Error("an undo took a large file away again")
			}
		})
	}
}

// Large files are never copied to another disk: that would take longer than the agent.
func TestLargeFilesOnAnotherDisk(t *testing.T) {
	const other = "/dev/shm"
	here := t.TempDir()
	a, errA := os.Stat(here)
	b, errB := os.Stat(other)
	if errA != nil || errB != nil || disk.StatOf(a).Dev == disk.StatOf(b).Dev {
		t.Skip("this machine has no second file system at " + other)
	}
	dir, err := os.MkdirTemp(other, "supervise-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	write(t, here, "objects/00/11/0011", "large\n")
	p, err := pool.Open(dir)
	must(t, err)
	p.Large = true
	if err := p.Gather(filepath.Join(here, "objects"), 1); !errors.Is(err, pool.ErrOtherDisk) || skipReason(err) != OtherDisk {
		t.Errorf("gather = %v, want %v", err, pool.ErrOtherDisk)
	}
}
