//go:build linux

package main

import (
	"crypto/sha1" //nolint:gosec // it names git's objects
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/internal/ledger"
	"supervise/test/trace"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestCrashUser kills run, resume, rollback, select, gate, clean and watch, and has a
// user work in the tree in between. Everything that the user or an accepted iteration
// ever had has to be in the tree, in git, or in a snapshot for which the output gives a
// command. Each story has a separate seed, which it prints when it goes wrong.
func TestCrashUser(t *testing.T) {
	t.Parallel()
	want, seed := crashes(t, 2, 1)
	at := min(4, 1+want/25)
	sideBySide(t, want, at, func(stream int) func(*testing.T, int) int {
		return func(t *testing.T, n int) int {
			s := newStory(t, seed+uint64(at*n+stream)) //nolint:gosec // it is small
			s.tell()
			return s.kills
		}
	})
}

// story is a project of a user, who works in it while supervise is killed now and then.
type story struct {
	*world
	random *rand.Rand
	seed   uint64
	turn   int
	kills  int
	serial int

	owned  map[string]*owned // by content
	said   []said            // what supervise printed
	loops  []madeBy
	usual  map[string]time.Duration // how long a command takes
	repo   int                      // the repository that is in the tree; 0 is the first
	parked map[int]pin              // the others, next to it
}

// owned is a content that a user or a loop had and did not give up.
type owned struct {
	path string
	repo int
	gone int // the turn since which it is neither in a tree nor in git; 0: it is there
}

// said is what a command printed, killed or not.
type said struct {
	turn   int
	args   []string
	text   string
	killed bool
	code   int
}

// madeBy is a loop and the repository that it worked in.
type madeBy struct {
	id   string
	repo int
}

// pin is a folder next to the tree, and what was in it.
type pin struct {
	dir   string
	print map[string]string
}

const userAgent = `case $SUPERVISE_ITERATION in
2) test -e t-1.txt || exit 0 # all that follows is to be rejected
   git rm -qf --cached t-1.txt; rm -f t-1.txt; git commit -qm agent
   rm -rf deep/; rm -f untracked.txt u-*.txt kept.db; echo agent > tracked.txt; git add -A; git commit -qam "agent 2"
   git checkout -q -b agent; git stash clear; git reset -q --hard HEAD~1; git clean -qfdx ;;
3) echo ok > fixed.tmp; mv fixed.tmp t-2.txt ;;
*) echo "agent $SUPERVISE_LOOP_ID $SUPERVISE_ITERATION" > new-$SUPERVISE_ITERATION.txt; echo ok > t-new.txt; git add new-*.txt; git commit -qm "agent $SUPERVISE_ITERATION" ;;
esac
`

const userCheck = `code=0
{
  echo '<testsuite name="s">'
  for f in t-*.txt; do
    if grep -q ok "$f"; then echo "<testcase classname=\"c\" name=\"$f\"/>"
    else echo "<testcase classname=\"c\" name=\"$f\"><failure message=\"no\"/></testcase>"; code=1; fi
  done
  echo '</testsuite>'
} > "$1/junit.xml"
exit $code
`

// newStory makes a project with work that is committed, stashed, staged, changed,
// untracked and ignored.
func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	s := &story{
		world: newWorld(t), random: rand.New(rand.NewPCG(seed, 0)), seed: seed, //nolint:gosec // it has to be repeatable
		owned: map[string]*owned{}, parked: map[int]pin{},
		usual: map[string]time.Duration{"run": 2 * time.Second, "resume": time.Second, "rollback": 200 * time.Millisecond, "select": 200 * time.Millisecond, "gate": 500 * time.Millisecond, "clean": 60 * time.Millisecond, "watch": time.Second},
	}
	s.write("agent.sh", userAgent)
	s.write("session.sh", "echo session >session.txt; sleep .3\n")
	s.write("project.sh", userCheck)
	s.found(".gitignore", "t-1.txt", "t-2.txt", "tracked.txt", "deep/file.txt")
	s.put("tracked.txt")
	s.git("stash", "push", "-q")
	s.put("tracked.txt")
	s.git("add", "tracked.txt")
	for _, name := range []string{"tracked.txt", "untracked.txt", "kept.db", "deep/more.txt"} {
		s.put(name)
	}
	s.settle()
	return s
}

// found makes a repository with a first commit.
func (s *story) found(names ...string) {
	s.write("proj/.supervise.yaml", "checks:\n  test: {command: 'sh ../project.sh {{report_dir}}', reports: ['{{report_dir}}/junit.xml']}\n")
	for _, name := range names {
		s.put(name)
	}
	s.write("proj/.gitignore", "*.db\n")
	s.write("proj/t-1.txt", "ok\n")
	s.write("proj/t-2.txt", "fails\n")
	s.git("init", "-q")
	s.git("add", ".")
	s.git("commit", "-qm", "start")
}

// put writes a file of the user's whose content is nowhere else.
func (s *story) put(name string) {
	s.serial++
	text := fmt.Sprintf("user %d\n", s.serial)
	path := filepath.Join(s.root, name)
	if os.MkdirAll(filepath.Dir(path), 0o755) == nil && os.WriteFile(path, []byte(text), 0o644) == nil {
		s.owned[text] = &owned{path: name, repo: s.repo}
	}
}

// settle forgets what the user gave up.
func (s *story) settle() {
	have := s.have()
	maps.DeleteFunc(s.owned, func(text string, o *owned) bool { return o.gone == 0 && !have[text] })
}

// have is what is in the trees and in git: owned contents and commits.
func (s *story) have() map[string]bool {
	out := map[string]bool{}
	dirs := []string{s.root}
	for _, p := range s.parked {
		dirs = append(dirs, p.dir)
	}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			if err == nil && d.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				out[string(text)] = true
			}
			return nil
		})
		cmd := s.command("git", "--no-optional-locks", "rev-list", "--objects", "--all", "--reflog", "--indexed-objects")
		cmd.Dir = dir
		list, err := cmd.Output()
		if err != nil {
			continue
		}
		objects := map[string]bool{}
		for line := range strings.Lines(string(list)) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			objects[id] = true
		}
		for text := range s.owned {
			if objects[text] || objects[blobID(text)] {
				out[text] = true
			}
		}
	}
	return out
}

// blobID is what git calls a file of this content.
func blobID(text string) string {
	return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))) //nolint:gosec // as above
}

// tell has supervise and the user work by turns, and looks at the end whether all can
// be found.
func (s *story) tell() {
	for n := 5 + s.random.IntN(4); s.turn < n && !s.t.Failed(); {
		s.turn++
		s.next()
		if !s.t.Failed() && s.random.IntN(4) > 0 {
			s.act()
		}
	}
	s.turn++
	if !s.t.Failed() {
		s.supervised(nil, "status")
	}
	for repo := range len(s.parked) + 1 {
		s.bring(repo)
		s.regain()
	}
	s.accepted()
	if s.t.Failed() {
		s.explain()
	}
}

// next runs one command of supervise, and kills it as a rule.
func (s *story) next() {
	args := s.choice()
	var d *death
	if s.random.IntN(5) > 0 {
		d = s.death(args[0])
	}
	s.supervised(d, args...)
}

// choice is the next command.
func (s *story) choice() []string {
	run := []string{"run", "--until", "never", "--on-stall", "continue", "--max-retries", "9", "--max-iterations", "3", "--", "sh", "../agent.sh"}
	mine := s.loops
	if len(mine) == 0 {
		return run
	}
	id := mine[s.random.IntN(len(mine))].id
	switch s.random.IntN(16) {
	case 0, 1, 2:
		return run
	case 3, 4, 5:
		return []string{"resume", mine[len(mine)-1].id}
	case 6, 7, 8:
		return []string{"rollback", id, strconv.Itoa(s.random.IntN(4))}
	case 9:
		return []string{"rollback", id, "s" + strconv.Itoa(1+s.random.IntN(8)), "--force"}
	case 10:
		return []string{"rollback", "--undo", id}
	case 11:
		return []string{"select", id, "--use", strconv.Itoa(s.random.IntN(3)), "--reason", "because", "--apply"}
	case 12:
		return []string{"select", id, "--use-final", "--reason", "because"}
	case 13:
		return []string{"gate", "--offline"}
	case 14:
		return []string{"clean", "--keep", "0", "--older-than", "0s", "--yes"}
	}
	return []string{"watch", "--rest", "100ms", "--", "sh", "../session.sh"}
}

// death is when supervise is killed.
type death struct {
	after   time.Duration
	step    int  // before this step; 0: after a time
	restore bool // steps count from the beginning of a restore
}

func (s *story) death(verb string) *death {
	switch restores := slices.Contains([]string{"run", "resume", "rollback", "select"}, verb); {
	case restores && s.random.IntN(2) == 0:
		return &death{step: 1 + s.random.IntN(90), restore: true}
	case !restores && s.random.IntN(2) == 0:
		return &death{step: 1 + s.random.IntN(120)}
	}
	return &death{after: time.Duration(s.random.Float64() * 1.1 * float64(s.usual[verb]))}
}

// supervised runs supervise, and looks at what vanished meanwhile.
func (s *story) supervised(d *death, args ...string) {
	pending, before := s.pending(), s.prints(s.root)
	loops := s.state("loops", "*")
	out := s.once(d, args)
	s.nobodyLeft()
	s.said = append(s.said, out)
	for _, dir := range s.state("loops", "*") {
		if !slices.Contains(loops, dir) {
			s.loops = append(s.loops, madeBy{filepath.Base(dir), s.repo})
		}
	}
	for i, l := range s.loops {
		if slices.Contains(args, "--force") && slices.Contains(args, l.id) {
			s.loops[i].repo = s.repo // which the user wants, also when it was killed
		}
	}
	s.loops = slices.DeleteFunc(s.loops, func(l madeBy) bool { return args[0] == "clean" && s.cleaned(l.id) })
	have := s.have()
	var lost []string
	for text, o := range s.owned {
		switch {
		case have[text]:
			o.gone = 0
		case o.gone == 0:
			o.gone = s.turn
			lost = append(lost, o.path+": "+strings.TrimSpace(text))
		}
	}
	s.check(out, lost, before, pending)
}

// check looks for what this command must not do at all.
func (s *story) check(out said, lost []string, before map[string]string, pending bool) {
	verb := out.args[0]
	if out.code == 1 && !strings.Contains(out.text, "\nstopped ") { // else it tells how a loop had ended
		s.t.Errorf("turn %d: supervise %s: status 1\n%s", s.turn, strings.Join(out.args, " "), out.text)
	}
	quiet := verb == "status" || verb == "clean" || verb == "gate" || verb == "select" && !slices.Contains(out.args, "--apply")
	if s.inOtherRepository(out.args) {
		quiet, pending = true, false
	}
	if pending {
		return // it finishes a restore, which has said what it does
	}
	if len(lost) > 0 && (quiet || verb == "watch" || verb == "run" && !out.killed) {
		s.t.Errorf("turn %d: supervise %s: gone: %s\n%s", s.turn, strings.Join(out.args, " "), strings.Join(lost, ", "), out.text)
	}
	if now := s.prints(s.root); quiet && !maps.Equal(before, now) {
		s.t.Errorf("turn %d: supervise %s changed the tree: %s", s.turn, strings.Join(out.args, " "), differences(before, now))
	}
}

// inOtherRepository reports whether a command is about a loop of another repository, and not
// forced.
func (s *story) inOtherRepository(args []string) bool {
	if slices.Contains(args, "--force") || !slices.Contains([]string{"rollback", "resume", "select"}, args[0]) || args[0] == "select" && !slices.Contains(args, "--apply") {
		return false
	}
	return slices.ContainsFunc(s.loops, func(l madeBy) bool { return slices.Contains(args, l.id) && l.repo != s.repo })
}

func differences(a, b map[string]string) string {
	var out []string
	for _, m := range []map[string]string{a, b} {
		for name := range m {
			if a[name] != b[name] && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// state lists what matches below the state folder.
func (s *story) state(parts ...string) []string {
	list, _ := filepath.Glob(filepath.Join(append([]string{s.dir, "state", "supervise", "*"}, parts...)...))
	return list
}

func (s *story) pending() bool { return len(s.state("snapshots", "*", "restore.json")) > 0 }

// cleaned reports whether a loop is not whole any more.
func (s *story) cleaned(id string) bool {
	return len(s.state("loops", id, "state.json")) == 0 || len(s.state("loops", id, "hook-log.jsonl")) == 0 || len(s.state("snapshots", id, "store.json")) == 0
}

// once runs supervise and kills it where it is to die.
func (s *story) once(d *death, args []string) said {
	cmd := s.command("supervise", args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+s.dir)
	read := s.listen(cmd, args[0] == "watch")
	begun := time.Now()
	out := said{turn: s.turn, args: args}
	switch {
	case d != nil && d.step > 0:
		tr := trace.Program{Cmd: cmd, Kill: d.step}
		if d.restore {
			tr.From = s.pending
		}
		var err error
		if out.killed, err = tr.Run(); err != nil {
			s.t.Fatal(err)
		}
		out.code = tr.Code
	case d != nil:
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		timer := time.AfterFunc(d.after, func() { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) })
		_ = cmd.Wait()
		timer.Stop()
	default:
		_ = cmd.Run()
	}
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	if p := cmd.ProcessState; p != nil {
		status, _ := p.Sys().(syscall.WaitStatus)
		out.killed, out.code = status.Signaled(), p.ExitCode()
	}
	if took := time.Since(begun); d == nil || !out.killed && d.step == 0 {
		s.usual[args[0]] = (s.usual[args[0]] + took) / 2
	}
	if out.killed {
		s.kills, out.code = s.kills+1, -1
	}
	out.text = read()
	return out
}

// listen has the output of a command collected, on a terminal if that is wanted. What
// it returns returns the output.
func (s *story) listen(cmd *exec.Cmd, terminal bool) func() string {
	if !terminal {
		file, err := os.Create(filepath.Join(s.dir, "said"))
		if err != nil {
			s.t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = file, file, &syscall.SysProcAttr{Setpgid: true}
		return func() string {
			file.Close()
			return s.read("said")
		}
	}
	user, tty, err := pty.Open()
	if err != nil {
		s.t.Fatal(err)
	}
	screen := drain(user)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return func() string {
		tty.Close()
		defer user.Close()
		return screen.String()
	}
}

// nobodyLeft waits until no process holds the tree.
func (s *story) nobodyLeft() {
	tree, err := os.Open(s.root)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	defer tree.Close()
	if err := unix.Flock(int(tree.Fd()), unix.LOCK_EX); err != nil {
		s.t.Fatal(err)
	}
}

// act is what the user does in between.
func (s *story) act() {
	name := "u-" + strconv.Itoa(s.random.IntN(4)) + ".txt"
	switch s.random.IntN(14) {
	case 0, 1:
		s.put(name)
		s.commit("add", name)
	case 2:
		s.put("tracked.txt")
		s.commit("add", "-A")
	case 3:
		s.put("tracked.txt")
	case 4, 5:
		s.put(name)
	case 6:
		s.put("deep/er/" + name)
		s.put("kept.db")
	case 7:
		_ = os.Remove(filepath.Join(s.root, name))
		_ = os.Remove(filepath.Join(s.root, "untracked.txt"))
	case 8:
		s.put("tracked.txt")
		s.try("add", "tracked.txt")
		s.put("tracked.txt")
	case 9:
		s.put("tracked.txt")
		s.try("stash", "push", "-q")
	case 10:
		s.try("checkout", "-q", "-b", "user-"+strconv.Itoa(s.turn))
	case 11:
		s.try("checkout", "-q", "main")
	case 12:
		s.other()
	default:
		if len(s.parked) > 0 {
			s.bring(slices.Min(slices.Collect(maps.Keys(s.parked))))
		}
	}
	s.settle()
}

// try runs git; in a tree that is half restored much does not work.
func (s *story) try(args ...string) string {
	out, _ := s.command("git", args...).Output()
	return strings.TrimSpace(string(out))
}

func (s *story) commit(args ...string) {
	before := s.try("rev-parse", "HEAD")
	s.try(args...)
	s.try("commit", "-qm", "of the user")
	if id := s.try("rev-parse", "HEAD"); len(id) == 40 && id != before {
		s.owned[id] = &owned{path: "a commit", repo: s.repo}
	}
}

// other puts a new repository into the place of the present one.
func (s *story) other() {
	if len(s.parked) > 1 {
		return
	}
	s.park()
	s.repo = len(s.parked)
	if err := os.Mkdir(s.root, 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.found("own-" + strconv.Itoa(s.repo) + ".txt")
	s.put("more.txt")
}

func (s *story) park() {
	dir := filepath.Join(s.dir, "parked-"+strconv.Itoa(s.repo))
	if err := os.Rename(s.root, dir); err != nil {
		s.t.Fatal(err)
	}
	s.parked[s.repo] = pin{dir, s.prints(dir)}
}

// bring puts a repository back that is next to the tree.
func (s *story) bring(repo int) {
	if repo == s.repo {
		return
	}
	s.park()
	p := s.parked[repo]
	if now := s.prints(p.dir); !maps.Equal(p.print, now) {
		s.t.Errorf("repository %d was changed where it lay: %s", repo, differences(p.print, now))
	}
	if err := os.Rename(p.dir, s.root); err != nil {
		s.t.Fatal(err)
	}
	delete(s.parked, repo)
	s.repo = repo
}

// prints is every file of a folder with its mode and content, git's own included.
func (s *story) prints(dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			out[rel] += fmt.Sprintf(" %x", sha256.Sum256(text))
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// remedy matches a command of the output that gives a tree.
var remedy = regexp.MustCompile(`supervise (rollback (?:--undo )?(ralph-[a-z0-9-]+)(?: s?\d+)?)\b(?:; [^\n]*?)?( \(with --force\))?`)

// regain runs what the output says for everything of this repository that is gone.
func (s *story) regain() {
	missing := map[string]*owned{}
	for text, o := range s.owned {
		if o.gone > 0 && o.repo == s.repo {
			missing[text] = o
		}
	}
	tried := map[string]bool{}
	for _, out := range slices.Backward(s.said) {
		for _, m := range slices.Backward(remedy.FindAllStringSubmatch(out.text, -1)) {
			maps.DeleteFunc(missing, func(_ string, o *owned) bool { return o.gone <= out.turn && s.cleaned(m[2]) }) // the user had it deleted
			if tried[m[1]] || !slices.ContainsFunc(slices.Collect(maps.Values(missing)), func(o *owned) bool { return o.gone <= out.turn }) {
				continue
			}
			tried[m[1]] = true
			args := strings.Fields(m[1])
			if m[3] != "" {
				args = append(args, "--force")
			}
			text, code := s.supervise(args...)
			if code == 2 && strings.Contains(text, "; --force restores all the same") {
				text, code = s.supervise(append(args, "--force")...)
			}
			if code != 0 {
				s.t.Logf("supervise %s: status %d\n%s", m[1], code, text)
			}
			have := s.have()
			maps.DeleteFunc(missing, func(text string, o *owned) bool { return o.gone <= out.turn && have[text] })
		}
	}
	for text, o := range missing {
		s.t.Errorf("lost: %q of %s, since turn %d", text, o.path, o.gone)
	}
}

// accepted asks for what accepted iterations had.
func (s *story) accepted() {
	for _, l := range s.loops[:min(2, len(s.loops))] {
		if s.t.Failed() || s.cleaned(l.id) {
			continue
		}
		s.bring(l.repo)
		dir := filepath.Dir(s.state("loops", l.id, "state.json")[0])
		its, _ := ledger.ReadIterations(dir)
		if state, err := ledger.ReadState(dir); err != nil || state.Kind == ledger.KindWatched {
			continue
		}
		for _, it := range its {
			if it.Number != 1 || it.Rejected {
				continue
			}
			text := "agent " + l.id + " 1\n"
			out, code := s.supervise("rollback", l.id, "1", "--force")
			if got, err := os.ReadFile(filepath.Join(s.root, "new-1.txt")); err != nil || string(got) != text || code != 0 {
				s.t.Errorf("iteration 1 of %s was accepted and has %q, %v, status %d\n%s", l.id, got, err, code, out)
			}
		}
	}
}

// explain logs the story.
func (s *story) explain() {
	s.t.Logf("make crash CRASHES=1 SEED=%d", s.seed)
	for _, out := range s.said {
		s.t.Logf("turn %d: supervise %s: killed %v, status %d\n%s", out.turn, strings.Join(out.args, " "), out.killed, out.code, out.text)
	}
}
