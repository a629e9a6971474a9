package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/scan"
)

// plain makes a folder without git.
func plain(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	write(t, dir, "a.txt", "a\n")
	write(t, dir, "sub/b.txt", "b\n")
	return dir
}

func TestChangesPatchAndContent(t *testing.T) {
	ctx := context.Background()
	dir := plain(t)
	write(t, dir, "mode", "m")
	write(t, dir, "gone", "g")
	s := open(t, dir, Options{})
	one := take(t, s)
	write(t, dir, "a.txt", "changed\n")
	write(t, dir, "new file", "n\n")
	must(t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	must(t, os.Remove(filepath.Join(dir, "gone")))
	since, err := s.ChangesSince(ctx, one.ID)
	must(t, err)
	two := take(t, s)

	got, err := s.Changes(ctx, one.ID, two.ID)
	must(t, err)
	want := []Change{{"a.txt", Modified}, {"gone", Deleted}, {"mode", Mode}, {"new file", Added}}
	if d := cmp.Diff(want, since); d != "" {
		t.Errorf("changes since a snapshot (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	var patch bytes.Buffer
	must(t, s.WritePatch(ctx, &patch, one.ID, two.ID))
	for _, line := range []string{"--- a/a.txt\n+++ b/a.txt\n", "-a\n+changed\n", "old mode 100644\nnew mode 100755\n", "+++ b/new file"} {
		if !strings.Contains(patch.String(), line) {
			t.Errorf("patch lacks %q:\n%s", line, patch.String())
		}
	}
	for id, want := range map[ID]string{one.ID: "a\n", two.ID: "changed\n"} {
		if got, err := s.ReadFile(ctx, id, "a.txt"); err != nil || string(got) != want {
			t.Errorf("ReadFile(%s) = %q, %v", id, got, err)
		}
	}
	if _, err := s.ReadFile(ctx, two.ID, "gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadFile of a deleted file: %v", err)
	}
	list, err := s.Files(two.ID)
	must(t, err)
	if len(list) != two.Files || list[0].Path != "a.txt" || list[0].Size != 8 || list[0].Hash != pack.Hash(pack.Blob, []byte("changed\n")).String() {
		t.Errorf("files: %+v", list)
	}
	if _, err := s.Info("7"); !errors.Is(err, ErrUnknown) {
		t.Errorf("Info of an unknown snapshot: %v", err)
	}
	infos, err := reopen(t, s).List()
	must(t, err)
	if d := cmp.Diff([]Info{one, two}, infos); d != "" {
		t.Errorf("list after reopening (-want +got):\n%s", d)
	}
}

func TestTreeDependsOnContentAlone(t *testing.T) {
	dir := workshop(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "main.go", read(t, dir, "main.go")) // a new time
	git(t, dir, "add", "untracked.go")
	must(t, os.Mkdir(filepath.Join(dir, "another"), 0o755))
	if again := take(t, s); again.Tree != first.Tree {
		t.Error("tree changed without a change of files")
	}
	fi, err := os.Stat(filepath.Join(dir, "main.go"))
	must(t, err)
	text := []byte(read(t, dir, "main.go"))
	text[0] ^= 1
	write(t, dir, "main.go", string(text))
	must(t, os.Chtimes(filepath.Join(dir, "main.go"), fi.ModTime(), fi.ModTime()))
	if again := take(t, s); again.Tree == first.Tree {
		t.Error("a change of the same size with a forged time was missed")
	}
	mustRestore(t, s, first.ID)
	must(t, os.Chmod(filepath.Join(dir, "main.go"), 0o600))
	if again := take(t, s); again.Tree == first.Tree {
		t.Error("a change of permissions was missed")
	}
}

// The bytes of the working tree are captured, not what git's filters make of them.
func TestContentIsRaw(t *testing.T) {
	dir := workshop(t)
	s := open(t, dir, Options{})
	id := take(t, s).ID
	for name, want := range map[string]string{"crlf.txt": "one\r\ntwo\r\n", "data.dat": "filtered\n", ".env": "TOKEN=1\n", "bin/tool": "tracked although ignored\n", "nested/a": "dirty\n", "link": "lib/lib.go"} {
		if got, err := s.ReadFile(context.Background(), id, name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"build.log", "node_modules/dep/index.js", "bin/ignored", "nested/x.tmp", ".git/HEAD"} {
		if _, err := s.ReadFile(context.Background(), id, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was captured", name)
		}
	}
}

func TestIgnoreRulesAreFixedAtTheStart(t *testing.T) {
	for name, ignore := range map[string]string{"rules deleted": "", "everything ignored": "*\n"} {
		t.Run(name, func(t *testing.T) {
			dir := workshop(t)
			s := open(t, dir, Options{})
			first := take(t, s)
			write(t, dir, ".gitignore", ignore)
			write(t, dir, "node_modules/new/index.js", "installed by the agent\n")
			write(t, dir, "lib/node_modules/other.js", "installed by the agent\n")
			write(t, dir, "lib/debug.log", "log\n")
			write(t, dir, "fresh.go", "package main\n")
			second := take(t, s)
			s = reopen(t, s)
			r := mustRestore(t, s, first.ID)
			if d := cmp.Diff([]string{"fresh.go"}, r.Deleted); d != "" {
				t.Errorf("deleted (-want +got):\n%s", d)
			}
			for _, p := range []string{"node_modules/new/index.js", "node_modules/dep/index.js", "lib/node_modules/other.js", "lib/debug.log"} {
				if !exists(dir, p) {
					t.Errorf("%s is gone", p)
				}
			}
			mustRestore(t, s, second.ID)
			if read(t, dir, "fresh.go") != "package main\n" || read(t, dir, ".gitignore") != ignore {
				t.Error("the agent's work did not come back")
			}
		})
	}
}

func TestMissingIgnoredFoldersAreNamed(t *testing.T) {
	dir := workshop(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	must(t, os.RemoveAll(filepath.Join(dir, "node_modules")))
	if r := mustRestore(t, s, first.ID); !cmp.Equal(r.Gone, []string{"node_modules"}) {
		t.Errorf("gone: %v", r.Gone)
	}
}

func TestParentReplacedByLinkToOutside(t *testing.T) {
	dir := workshop(t)
	outside := t.TempDir()
	write(t, outside, "lib.go", "not yours\n")
	write(t, outside, "HEAD", "not yours\n")
	s := open(t, dir, Options{})
	before := picture(t, dir)
	first := take(t, s)
	for _, p := range []string{"lib", ".git", "with space"} {
		must(t, os.RemoveAll(filepath.Join(dir, p)))
		must(t, os.Symlink(outside, filepath.Join(dir, p)))
	}
	want := picture(t, outside)
	r := mustRestore(t, s, first.ID)
	same(t, "outside", want, picture(t, outside))
	same(t, "restored", before, picture(t, dir))
	mustRestore(t, s, r.Safety)
	same(t, "outside after undo", want, picture(t, outside))
}

func TestSkippedFilesAreNeverTouched(t *testing.T) {
	dir := plain(t)
	write(t, dir, "big", strings.Repeat("x", 2000))
	makePipe(t, filepath.Join(dir, "pipe"))
	s := open(t, dir, Options{MaxFile: 1000})
	first := take(t, s)
	want := []Skip{{Path: "big", Reason: TooBig, Size: 2000}, {Path: "pipe", Reason: Special, Size: 0}}
	if d := cmp.Diff(want, first.Skipped, untimed); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	write(t, dir, "big", "small now")
	write(t, dir, "a.txt", strings.Repeat("y", 3000))
	write(t, dir, "huge", strings.Repeat("z", 3000))
	second := take(t, s)
	changes, err := s.Changes(context.Background(), first.ID, second.ID)
	must(t, err)
	if d := cmp.Diff([]Change{{"a.txt", Modified}, {"big", Modified}}, changes); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	r := mustRestore(t, s, first.ID)
	if read(t, dir, "big") != "small now" || !exists(dir, "huge") || !exists(dir, "pipe") {
		t.Error("a file that the snapshot did not know was touched")
	}
	if read(t, dir, "a.txt") != "a\n" {
		t.Error("a captured file did not come back")
	}
	kept := read(t, r.DisplacedTo, "a.txt")
	if !cmp.Equal(r.Displaced, []string{"a.txt"}) || kept != strings.Repeat("y", 3000) {
		t.Errorf("what was in the way is lost: %v, %d bytes", r.Displaced, len(kept))
	}
}

func TestTotalLimitSkipsTheLargest(t *testing.T) {
	dir := plain(t)
	write(t, dir, "large", strings.Repeat("x", 900))
	write(t, dir, "larger", strings.Repeat("x", 1000))
	info := take(t, open(t, dir, Options{MaxTotal: 950}))
	if d := cmp.Diff([]Skip{{Path: "larger", Reason: OverTotal, Size: 1000}}, info.Skipped, untimed); d != "" || info.Files != 3 {
		t.Errorf("%d files, skipped (-want +got):\n%s", info.Files, d)
	}
}

func TestUnreadableEntries(t *testing.T) {
	if !asNobody(t) { // root can read everything
		return
	}
	dir := plain(t)
	write(t, dir, "locked/inner", "x", 0o600)
	write(t, dir, "secret", "x", 0)
	must(t, os.Chmod(filepath.Join(dir, "locked"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o700) })
	s := open(t, dir, Options{})
	first := take(t, s)
	if d := cmp.Diff([]Skip{{Path: "locked", Reason: Unreadable, Size: 0}, {Path: "secret", Reason: Unreadable, Size: 1}}, first.Skipped, untimed); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	must(t, os.Chmod(filepath.Join(dir, "sub"), 0o500))
	must(t, os.Chmod(filepath.Join(dir, "sub/b.txt"), 0))
	readonly := take(t, s)
	mustRestore(t, s, first.ID)
	if read(t, dir, "sub/b.txt") != "b\n" {
		t.Error("content is wrong")
	}
	must(t, os.Remove(filepath.Join(dir, "sub/b.txt")))
	mustRestore(t, s, first.ID)
	mustRestore(t, s, readonly.ID)
	must(t, os.Chmod(filepath.Join(dir, "sub"), 0o500))
	write(t, dir, "sub/b.txt", "changed in a read-only folder\n", 0o644)
	mustRestore(t, s, first.ID)
	if read(t, dir, "sub/b.txt") != "b\n" || !exists(dir, "secret") || !exists(dir, "locked") {
		t.Error("restore in a read-only folder failed")
	}
}

func TestFolderWithoutGit(t *testing.T) {
	dir := plain(t)
	write(t, dir, ".gitignore", "a.txt\n")
	write(t, dir, "node_modules/x.js", "x\n")
	s := open(t, dir, Options{})
	before := picture(t, dir)
	first := take(t, s)
	if first.Files != 3 {
		t.Errorf("%d files, want a.txt, sub/b.txt and .gitignore", first.Files)
	}
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	write(t, dir, "a.txt", "changed\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "agent")
	after := picture(t, dir)
	r := mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
	mustRestore(t, s, r.Safety)
	same(t, "undone", after, picture(t, dir))
}

func TestRepositoryWithoutCommits(t *testing.T) {
	dir := plain(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", "a.txt")
	s := open(t, dir, Options{})
	before := picture(t, dir)
	first := take(t, s)
	git(t, dir, "commit", "-q", "-m", "agent")
	must(t, os.RemoveAll(filepath.Join(dir, ".git")))
	mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
}

func TestLinkedWorktree(t *testing.T) {
	main := workshop(t)
	dir := filepath.Join(filepath.Dir(main), "linked")
	git(t, main, "worktree", "add", "-q", "-b", "topic", dir)
	write(t, dir, "main.go", "package main // staged in the worktree\n")
	git(t, dir, "add", "main.go")
	gitDir := strings.TrimSpace(git(t, dir, "rev-parse", "--absolute-git-dir"))
	s := open(t, dir, Options{})
	before, beforeGit, beforeMain := picture(t, dir), picture(t, gitDir), picture(t, main)
	first := take(t, s)
	for name, sabotage := range map[string]func(){
		"commit": func() { git(t, dir, "commit", "-q", "-m", "agent") },
		"lose the commit": func() {
			git(t, dir, "commit", "-q", "-am", "agent")
			git(t, dir, "reset", "-q", "--hard", "HEAD~2")
			git(t, dir, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "HEAD", "topic")
			git(t, dir, "gc", "-q", "--prune=now")
		},
		"delete the branch and .git": func() {
			git(t, dir, "switch", "-q", "--detach")
			git(t, dir, "branch", "-q", "-D", "topic")
			must(t, os.Remove(filepath.Join(dir, ".git")))
		},
	} {
		sabotage()
		mustRestore(t, s, first.ID)
		same(t, name+": worktree", before, picture(t, dir))
		same(t, name+": its git folder", beforeGit, picture(t, gitDir))
	}
	for _, key := range []string{".git $ git " + status, "main.go", ".git/HEAD", ".git/index", ".git/config"} {
		if beforeMain[key] != picture(t, main)[key] {
			t.Errorf("%s of the main worktree changed", key)
		}
	}
}

func TestSeparateGitDirAndSubmodule(t *testing.T) {
	lib, dir := workshop(t), filepath.Join(t.TempDir(), "work")
	gitDir := filepath.Join(t.TempDir(), "elsewhere.git")
	write(t, dir, "a", "a\n")
	git(t, dir, "init", "-q", "-b", "main", "--separate-git-dir", gitDir)
	git(t, dir, "submodule", "add", "-q", lib, "dep")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	write(t, dir, "dep/main.go", "dirty\n")
	s := open(t, dir, Options{})
	before, beforeGit := picture(t, dir), picture(t, gitDir)
	first := take(t, s)
	git(t, filepath.Join(dir, "dep"), "commit", "-q", "-am", "agent")
	git(t, dir, "commit", "-q", "-am", "agent")
	git(t, dir, "submodule", "deinit", "-q", "-f", "dep")
	must(t, os.RemoveAll(gitDir))
	mustRestore(t, s, first.ID)
	same(t, "worktree", before, picture(t, dir))
	delete(beforeGit, "modules/dep/objects")
	now := picture(t, gitDir)
	delete(now, "modules/dep/objects")
	for _, m := range []map[string]string{beforeGit, now} {
		for p := range m {
			if strings.Contains(p, "objects") {
				delete(m, p)
			}
		}
	}
	same(t, "git folder", beforeGit, now)
}

func TestExclude(t *testing.T) {
	dir := plain(t)
	write(t, dir, "out/report.xml", "one\n")
	s := open(t, dir, Options{})
	before := take(t, s)
	must(t, s.Exclude([]string{"out", "coverage.out"}))
	first := take(t, s)
	if first.Files != 2 {
		t.Errorf("%d files, want 2", first.Files)
	}
	write(t, dir, "out/report.xml", "two\n")
	write(t, dir, "out/new", "new\n")
	write(t, dir, "coverage.out", "mode: set\n")
	s = reopen(t, s)
	if again := take(t, s); again.Tree != first.Tree {
		t.Error("an excluded file changed the tree")
	}
	mustRestore(t, s, before.ID)
	if read(t, dir, "out/report.xml") != "two\n" || !exists(dir, "coverage.out") || !exists(dir, "out/new") {
		t.Error("an excluded file was touched")
	}
	for _, bad := range []string{"", ".", "..", "../x", "/etc", ".git/config", "a/../.."} {
		if s.Exclude([]string{bad}) == nil {
			t.Errorf("exclude %q was accepted", bad)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := workshop(t)
	home, err := os.UserHomeDir()
	must(t, err)
	other := open(t, plain(t), Options{})
	for name, c := range map[string]struct{ work, store, want string }{
		"root":               {"/", t.TempDir(), "entire file system"},
		"home":               {home, t.TempDir(), "home folder"},
		"parent of home":     {filepath.Dir(home), t.TempDir(), "refuse to snapshot"},
		"store inside":       {dir, filepath.Join(dir, "state"), "add it to .gitignore"},
		"store inside .git":  {dir, filepath.Join(dir, ".git", "state"), "choose a folder outside"},
		"store around":       {dir, filepath.Dir(dir), "lies inside it"},
		"store of another":   {dir, other.dir, "belongs to"},
		"no such tree":       {filepath.Join(dir, "none"), t.TempDir(), "find working tree"},
		"repository damaged": {brokenRepo(t), filepath.Join(t.TempDir(), "s"), "list tracked files"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(context.Background(), c.work, c.store, Options{})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if exists(dir, "state") {
		t.Error("a refused store was made")
	}
}

func brokenRepo(t *testing.T) string {
	dir := plain(t)
	write(t, dir, ".git/HEAD", "nonsense")
	return dir
}

func TestStoreInsideAnIgnoredFolder(t *testing.T) {
	dir := workshop(t)
	store := filepath.Join(dir, "node_modules", ".supervise")
	s, err := Open(context.Background(), dir, store, Options{})
	must(t, err)
	defer s.Close()
	first := take(t, s)
	write(t, dir, "main.go", "changed\n")
	must(t, os.Remove(filepath.Join(dir, ".gitignore")))
	mustRestore(t, s, first.ID)
	if again := take(t, s); again.Tree != first.Tree {
		t.Error("tree differs after restore")
	}
}

// Nothing that an agent plants in git's configuration may run when we look at the tree or restore it.
func TestPlantedProgramsNeverRun(t *testing.T) {
	dir := workshop(t)
	marker := filepath.Join(t.TempDir(), "ran")
	s := open(t, dir, Options{})
	first := take(t, s)
	for _, h := range []string{"post-checkout", "post-index-change", "reference-transaction", "post-commit"} {
		write(t, dir, ".git/hooks/"+h, "#!/bin/sh\ntouch "+marker+"\n", 0o755)
	}
	for _, k := range []string{"core.fsmonitor", "diff.external", "core.pager", "filter.upper.clean", "filter.upper.smudge", "diff.x.textconv", "core.sshCommand"} {
		git(t, dir, "config", k, "touch "+marker+"; cat")
	}
	write(t, dir, ".gitattributes", "* diff=x filter=upper\n")
	write(t, dir, "data.dat", "new\n")
	planted := take(t, s)
	again, err := Open(context.Background(), dir, filepath.Join(t.TempDir(), "fresh"), Options{})
	must(t, err)
	defer again.Close()
	take(t, again)
	must(t, s.WritePatch(context.Background(), &bytes.Buffer{}, first.ID, planted.ID))
	mustRestore(t, s, first.ID)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a planted program ran")
	}
}

func TestRestoreRefusesDuringLiveGit(t *testing.T) {
	if !exists("/proc/self", "fd") {
		t.Skip("needs /proc to tell who holds a lock")
	}
	dir := workshop(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "main.go", "changed\n")
	lock := filepath.Join(dir, ".git", "index.lock")
	holder := exec.Command("sh", "-c", "exec 3>\"$0\"; echo ready; read x", lock)
	in, err := holder.StdinPipe()
	must(t, err)
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	_, err = out.Read(make([]byte, 6)) // the lock is held from here on
	must(t, err)
	if _, err := s.Restore(context.Background(), first.ID); !errors.Is(err, ErrLocked) {
		t.Errorf("restore beside a live lock: %v", err)
	}
	if read(t, dir, "main.go") != "changed\n" {
		t.Error("the refused restore changed something")
	}
	in.Close()
	_ = holder.Wait() // its exit status is that of read
	mustRestore(t, s, first.ID)
	if exists(dir, ".git/index.lock") {
		t.Error("the stale lock is still there")
	}
}

func TestStoreIsForOneProcessAtATime(t *testing.T) {
	s := open(t, plain(t), Options{})
	first := take(t, s)
	unlock, err := s.lock()
	must(t, err)
	reader, err := Open(context.Background(), s.work, s.dir, Options{lockWait: time.Millisecond})
	must(t, err)
	t.Cleanup(func() { reader.Close() })
	if _, err := reader.Take(context.Background(), ""); !errors.Is(err, ErrBusy) {
		t.Errorf("take beside another: %v", err)
	}
	if _, err := reader.Files(first.ID); err != nil {
		t.Errorf("reading beside another: %v", err)
	}
	unlock()
	if second := take(t, reader); second.ID != "2" {
		t.Errorf("second snapshot is %s", second.ID)
	}
	if third := take(t, s); third.ID != "3" {
		t.Errorf("third snapshot is %s", third.ID)
	}
}

func TestLargeFilesAreStreamed(t *testing.T) {
	dir := plain(t)
	data := make([]byte, scan.StreamFrom+12345)
	_, err := rand.NewChaCha8([32]byte{1}).Read(data)
	must(t, err)
	write(t, dir, "large", string(data))
	write(t, dir, "same", string(data))
	s := open(t, dir, Options{})
	first := take(t, s)
	must(t, os.Remove(filepath.Join(dir, "large")))
	mustRestore(t, s, first.ID)
	if read(t, dir, "large") != string(data) {
		t.Error("content differs")
	}
	storeIsSound(t, s)
}

func TestRewrittenFilesGetCurrentTimeAndOthersKeepTheirs(t *testing.T) {
	dir := plain(t)
	old := time.Now().Add(-time.Hour)
	for _, f := range []string{"a.txt", "sub/b.txt"} {
		must(t, os.Chtimes(filepath.Join(dir, f), old, old))
	}
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "a.txt", "changed\n")
	mustRestore(t, s, first.ID)
	a, _ := os.Stat(filepath.Join(dir, "a.txt"))
	b, _ := os.Stat(filepath.Join(dir, "sub/b.txt"))
	if a.ModTime().Before(old.Add(time.Minute)) || !b.ModTime().Equal(old) {
		t.Errorf("times are %v and %v", a.ModTime(), b.ModTime())
	}
}

func TestCancelledTakeLeavesNothing(t *testing.T) {
	s := open(t, plain(t), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Take(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("take: %v", err)
	}
	if list, err := s.List(); err != nil || len(list) > 0 {
		t.Errorf("list: %v, %v", list, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.GitDir(), "objects/pack/*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestPathTooLongForTheSystem(t *testing.T) {
	dir := workshop(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	long := "lib" + strings.Repeat("/a-folder-with-a-long-name", 200)
	must(t, root.MkdirAll(long, 0o755))
	must(t, root.WriteFile(long+"/file", []byte("deep\n"), 0o600))
	second := take(t, s)
	mustRestore(t, s, first.ID)
	if _, err := root.Lstat("lib/a-folder-with-a-long-name"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the long path is still there: %v", err)
	}
	mustRestore(t, s, second.ID)
	if got, err := root.ReadFile(long + "/file"); err != nil || string(got) != "deep\n" {
		t.Errorf("the long path did not come back: %q, %v", got, err)
	}
}
