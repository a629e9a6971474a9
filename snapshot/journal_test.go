package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// A restore that stopped half-way is finished by the next Open, whatever part of it had been done.
func TestInterruptedRestoreIsFinished(t *testing.T) {
	for name, half := range map[string]func(t *testing.T, dir, temp string){
		"nothing done": func(*testing.T, string, string) {},
		"temporary files left": func(t *testing.T, dir, temp string) {
			write(t, dir, temp, "half a fi")
			write(t, dir, "lib/"+temp, "half")
			write(t, dir, ".git/refs/heads/"+temp, "ab")
		},
		"some files done": func(t *testing.T, dir, _ string) {
			write(t, dir, "main.go", read(t, dir+".was", "main.go"))
			must(t, os.RemoveAll(filepath.Join(dir, "fresh")))
		},
		"half of git's state done": func(t *testing.T, dir, _ string) {
			write(t, dir, ".git/index", read(t, dir+".was", ".git/index"))
			write(t, dir, ".git/refs/heads/main", read(t, dir+".was", ".git/refs/heads/main"))
		},
		"git has looked at the times": func(t *testing.T, dir, _ string) {
			must(t, os.Chtimes(filepath.Join(dir, "run.sh"), time.Unix(1, 0), time.Unix(1, 0)))
			index := read(t, dir, ".git/index")
			git(t, dir, "update-index", "-q", "--refresh")
			if read(t, dir, ".git/index") == index {
				t.Error("git has left the index as it is")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			s := open(t, dir, Options{})
			before := picture(t, dir)
			target := take(t, s)
			must(t, exec.Command("cp", "-R", dir, dir+".was").Run())
			write(t, dir, "main.go", "broken\n")
			write(t, dir, "fresh/new.go", "new\n")
			git(t, dir, "commit", "-q", "-am", "agent")
			after := picture(t, dir)
			safety := take(t, s)
			j, err := json.Marshal(journal{Target: target.ID, Safety: safety.ID, Token: "TOKEN"})
			must(t, err)
			must(t, os.WriteFile(s.journalFile(), j, 0o600))
			half(t, dir, disk.TempPrefix+"TOKEN-1")

			s = reopen(t, s)
			if r := s.Recovered(); r == nil || r.Target != target.ID || r.Safety != safety.ID || len(r.Mismatches) > 0 {
				t.Fatalf("recovered: %+v", r)
			}
			same(t, "finished", before, picture(t, dir))
			if reopen(t, s).Recovered() != nil {
				t.Error("the journal is still there")
			}
			mustRestore(t, s, safety.ID)
			same(t, "undone", after, picture(t, dir))
		})
	}
}

// What was changed since is never overwritten: the restore is given up, and the next Open succeeds.
func TestInterruptedRestoreIsGivenUp(t *testing.T) {
	for name, user := range map[string]struct {
		does func(t *testing.T, dir string)
		path string
	}{
		"edit": {func(t *testing.T, dir string) { write(t, dir, "main.go", "mine\n") }, "main.go"},
		"edit of what the restore does not concern": {func(t *testing.T, dir string) { write(t, dir, "crlf.txt", "mine\n") }, "crlf.txt"},
		"new file": {func(t *testing.T, dir string) { write(t, dir, "plan.md", "mine\n") }, "plan.md"},
		"deletion": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "run.sh"))) }, "run.sh"},
		"mode":     {func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o700)) }, "run.sh"},
		"branch":   {func(t *testing.T, dir string) { git(t, dir, "branch", "mine") }, ".git/refs/heads/mine"},
		"commit":   {func(t *testing.T, dir string) { git(t, dir, "commit", "-q", "--allow-empty", "-m", "mine") }, ".git/logs/HEAD"},
		"staging":  {func(t *testing.T, dir string) { git(t, dir, "add", "untracked.go") }, ".git/index"},
		"repository": {func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o755))
			git(t, dir, "init", "-q")
			write(t, dir, "main.go", "mine\n")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			s := open(t, dir, Options{})
			target := take(t, s)
			write(t, dir, "main.go", "broken\n")
			safety := take(t, s)
			j, err := json.Marshal(journal{Target: target.ID, Safety: safety.ID, Token: "TOKEN", Repository: s.config.Repository})
			must(t, err)
			must(t, os.WriteFile(s.journalFile(), j, 0o600))
			user.does(t, dir)
			found := picture(t, dir)
			must(t, s.Close())

			_, err = Open(t.Context(), dir, s.dir, Options{})
			var why *UnfinishedError
			if !errors.As(err, &why) || why.Target != target.ID || why.Safety != safety.ID {
				t.Fatalf("the error is %v", err)
			}
			other := user.path == ""
			if other != (why.Current == "") || !other && !slices.Contains(why.Changed, user.path) {
				t.Errorf("it says %+v", why)
			}
			same(t, "found", found, picture(t, dir))
			s, err = Open(t.Context(), dir, s.dir, Options{})
			must(t, err)
			defer s.Close()
			_, err = s.Restore(t.Context(), target.ID)
			if errors.Is(err, ErrOtherRepository) != other {
				t.Errorf("a restore later: %v", err)
			}
			if other {
				same(t, "found", found, picture(t, dir))
				must(t, s.AdoptRepository())
				mustRestore(t, s, target.ID)
				return
			}
			mustRestore(t, s, why.Current)
			same(t, "kept", found, picture(t, dir))
		})
	}
}

// childEnv makes the test binary work on a store and nothing else, to be killed while it does: the action, the tree, the
// store and perhaps a snapshot, each on a line.
const childEnv = "SNAPSHOT_TEST_CHILD"

func child(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

func TestMain(m *testing.M) {
	args := strings.Split(os.Getenv(childEnv), "\n")
	if len(args) < 3 {
		code := m.Run()
		_ = os.RemoveAll(template.dir) // "" where no test needed it
		os.Exit(code)
	}
	if err := childMain(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childMain(args []string) error {
	ctx := context.Background()
	s, err := Open(ctx, args[1], args[2], Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	switch args[0] {
	case "take":
		_, err = s.Take(ctx, "child")
	case "restore":
		_, err = s.Restore(ctx, ID(args[3]))
	case "rollback":
		_, err = s.Rollback(ctx, ID(args[3]))
	case "prune":
		_, err = s.Prune(ctx, []ID{ID(args[3]), ID(args[4]), ID(args[5])})
	}
	return err
}

// A restore that is killed as soon as it has started to write loses nothing and is finished later.
func TestKilledRestore(t *testing.T) {
	dir := workshop(t)
	for i := range 200 {
		write(t, dir, fmt.Sprintf("many/d%d/f%d", i%20, i), fmt.Sprint("one ", i))
	}
	s := open(t, dir, Options{})
	target := take(t, s)
	before := picture(t, dir)
	for i := range 200 {
		write(t, dir, fmt.Sprintf("many/d%d/f%d", i%20, i), fmt.Sprint("two ", i))
	}
	write(t, dir, "fresh/new.go", "new\n")
	git(t, dir, "commit", "-q", "-am", "agent")
	after := picture(t, dir)
	rejected := take(t, s)

	killed := 0
	for round := range 3 {
		cmd := child("restore", dir, s.dir, string(target.ID))
		must(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if waitForJournal(t, s, dir, round*90, done) {
			must(t, cmd.Process.Kill())
			if <-done != nil {
				killed++
			}
		}
		n := reopen(t, s)
		if r := n.Recovered(); r != nil && len(r.Mismatches) > 0 {
			t.Errorf("round %d: %+v", round, r.Mismatches)
		}
		mustRestore(t, n, target.ID)
		same(t, "finished", before, picture(t, dir))
		mustRestore(t, n, rejected.ID)
		same(t, "undone", after, picture(t, dir))
	}
	if killed == 0 {
		t.Error("no restore was caught while it was writing")
	}
}

// waitForJournal waits until a restore is under way and has written some files. There is no event for that.
func waitForJournal(t *testing.T, s *Store, dir string, files int, done chan error) bool {
	t.Helper()
	name := filepath.Join(dir, fmt.Sprintf("many/d%d/f%d", files%20, files))
	for {
		select {
		case err := <-done:
			must(t, err)
			return false
		default:
		}
		_, err := os.Stat(s.journalFile())
		if content, _ := os.ReadFile(name); err == nil && (files == 0 || strings.HasPrefix(string(content), "one")) {
			return true
		}
		runtime.Gosched()
	}
}

func TestDamagedManifestIsRefused(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{})
	first, second := take(t, s), take(t, s)
	file := filepath.Join(s.manifestDir(), string(first.ID))
	data, err := os.ReadFile(file)
	must(t, err)
	for name, bad := range map[string]string{
		"cut":     string(data[:len(data)-10]),
		"changed": strings.Replace(string(data), "a.txt", "b.txt", 1),
		"future":  strings.Replace(string(data), manifest.Version, "supervise-snapshot 9", 1),
	} {
		must(t, os.WriteFile(file, []byte(bad), 0o600))
		s, err := Open(context.Background(), dir, s.dir, Options{})
		if err == nil {
			_, err = s.Restore(context.Background(), first.ID)
			if _, errOther := s.Files(second.ID); errOther != nil {
				t.Errorf("%s: the other snapshot cannot be read: %v", name, errOther)
			}
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error is %v, want one that names %s", name, err, file)
		}
	}
}

// After a restore that failed half-way, the next snapshot must not start a history that a later Open would roll back.
func TestTakeFinishesAnInterruptedRestoreFirst(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{})
	target := take(t, s)
	write(t, dir, "a.txt", "rejected\n")
	safety := take(t, s)
	j, err := json.Marshal(journal{Target: target.ID, Safety: safety.ID, Token: "TOKEN"})
	must(t, err)
	must(t, os.WriteFile(s.journalFile(), j, 0o600))
	if next := take(t, s); next.Tree != target.Tree || read(t, dir, "a.txt") != "a\n" {
		t.Error("the restore was not finished before the snapshot")
	}
	write(t, dir, "a.txt", "later work\n")
	if reopen(t, s); read(t, dir, "a.txt") != "later work\n" {
		t.Error("a finished restore was done again")
	}
}
