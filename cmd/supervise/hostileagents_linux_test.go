package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

// hostileAgent is a script that does harm; testdata/hostileagents.txtar has the table.
type hostileAgent struct {
	name, does, script, moving, survives string
	root, ends                           bool
}

// readAgents reads the table, and the script that makes the tree.
func readAgents(t *testing.T) (tree string, agents []hostileAgent) {
	t.Helper()
	table, err := txtar.ParseFile("testdata/hostileagents.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Files[1:] {
		a := hostileAgent{name: f.Name}
		for line := range strings.Lines(string(f.Data)) {
			line = strings.TrimSuffix(line, "\n")
			condition, is := strings.CutPrefix(line, "#: ")
			word, rest, _ := strings.Cut(condition, " ")
			switch {
			case !is && strings.HasPrefix(line, "# ") && a.does == "":
				a.does = line[2:]
			case !is:
				a.script += line + "\n"
			case word == "root":
				a.root = true
			case word == "ends":
				a.ends = true
			case word == "moving":
				a.moving = rest
			case word == "survives":
				a.survives = rest
			default:
				t.Fatalf("%s: what is %q?", f.Name, line)
			}
		}
		agents = append(agents, a)
	}
	return string(table.Files[0].Data), agents
}

// way is how an agent is run: by whom, whether a cgroup holds it, and whether a test is
// gone afterwards, so that all of it is undone.
type way struct{ user, cgroup, red bool }

func (w way) String() string {
	text := map[bool]string{false: "root", true: "user"}[w.user]
	text += map[bool]string{false: "/alone", true: "/cgroup"}[w.cgroup]
	return text + map[bool]string{false: "/green", true: "/red"}[w.red]
}

// shortAgents are those of CI; the others need SUPERVISE_HOSTILE_AGENTS, which is all or
// the names of some.
const shortAgents = "reset-clean rm-all object-bytes config-programs tree-link daemon-cleared state-rm"

// TestHostileAgents lets each agent of the table loose on a tree with work of every kind,
// as root and as an ordinary user, with a cgroup and without, and compares the tree with
// what the last line says that it is.
func TestHostileAgents(t *testing.T) {
	chosen := os.Getenv("SUPERVISE_HOSTILE_AGENTS")
	switch chosen {
	case "":
		t.Skip("make hostile-agents; its short form is a step of .ci/run")
	case "short":
		chosen = shortAgents
	}
	lab := newLab(t)
	tree, agents := readAgents(t)
	ways := lab.ways()
	for _, w := range ways {
		lab.template(w.user, tree)
	}
	t.Run("agents", func(t *testing.T) {
		for k, a := range agents {
			for i, w := range ways {
				if chosen != "all" && !slices.Contains(strings.Fields(chosen), a.name) || chosen == shortAgents && (i+k)%3 != 0 || w.user && a.root {
					continue
				}
				t.Run(a.name+"/"+w.String(), func(t *testing.T) {
					t.Parallel()
					lab.try(t, a, w)
				})
			}
		}
	})
	t.Log(lab.table(agents))
	if file := os.Getenv("SUPERVISE_HOSTILE_TABLE"); file != "" {
		if err := os.WriteFile(file, []byte(lab.table(agents)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lab is what all trials share.
type lab struct {
	t       *testing.T
	dir     string
	program string
	group   string // a cgroup in which the user may make others; "" if there is none
	mounts  bool   // the mount of cgroups can be taken away from a process

	mu      sync.Mutex
	results map[string][]result
}

// result is what became of one trial.
type result struct {
	kept           bool
	named, unnamed map[string]int
}

const nobody = 65534

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir(), results: map[string][]result{}}
	l.program = filepath.Join(l.dir, "bin", "supervise")
	if out, err := exec.Command("go", "build", "-o", l.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if os.Geteuid() == 0 {
		open(t, filepath.Dir(l.program))
		l.mounts = exec.Command("unshare", "-m", "true").Run() == nil
		l.makeGroup()
	}
	return l
}

// makeGroup makes a cgroup of the user's, where the system has such.
func (l *lab) makeGroup() {
	text, _ := os.ReadFile("/proc/self/cgroup")
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	own := regexp.MustCompile(`(?m)^0::(.*)$`).FindSubmatch(text)
	point := regexp.MustCompile(`(?m)^\S+ \S+ \S+ / (\S+) .* - cgroup2 `).FindSubmatch(mounts)
	if own == nil || point == nil {
		return
	}
	group := filepath.Join(string(point[1]), string(own[1]), "hostile-"+strconv.Itoa(os.Getpid()))
	if os.Mkdir(group, 0o755) != nil {
		return
	}
	l.group = group
	l.t.Cleanup(func() { _ = exec.Command("find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run() })
	for _, name := range []string{".", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(group, name), nobody, nobody); err != nil {
			l.t.Fatal(err)
		}
	}
}

// ways are all that the system allows: the other user only for root, cgroups where one
// can be made, and none where it can be taken away.
func (l *lab) ways() (out []way) {
	root := os.Geteuid() == 0
	for i := range 8 {
		w := way{user: i&4 != 0, cgroup: i&2 == 0, red: i&1 == 0}
		if (root || w.user) && (!w.cgroup || l.group != "") && (w.cgroup || w.user || l.mounts) {
			out = append(out, w)
		}
	}
	return out
}

func (l *lab) templateOf(user bool) string {
	return filepath.Join(l.dir, "tree-"+strconv.FormatBool(user))
}

// template makes the tree once for each user.
func (l *lab) template(user bool, script string) {
	tr := &trial{lab: l, way: way{user: user}, t: l.t, home: l.templateOf(user)}
	if _, err := os.Stat(tr.home); err == nil {
		return
	}
	tr.makeHome()
	for name, text := range map[string]string{"gitconfig": "[user]\n\tname = t\n\temail = t@localhost\n[safe]\n\tdirectory = *\n", "check.sh": checkScript(l.t)} {
		if err := os.WriteFile(filepath.Join(tr.home, name), []byte(text), 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	tr.shell("umask 022; mkdir lib tree state tmp; cd lib; git init -q -b main .; echo lib >lib.txt; git add .; git commit -qm lib; cd ../tree\n"+script, "")
}

// trial is one agent, loose on one tree.
type trial struct {
	*lab
	way
	t      *testing.T
	agent  hostileAgent
	home   string // holds the tree, the state and the agent
	mark   string // in the command line of what the agent leaves behind
	out    string
	result result
}

func (tr *trial) tree() string { return filepath.Join(tr.home, "tree") }

// trialTime is how long supervise may take for a trial on a busy machine.
const trialTime = 2 * time.Minute

// gitTime is how long git may take to look at a tree.
const gitTime = 20 * time.Second

func (l *lab) try(t *testing.T, a hostileAgent, w way) {
	tr := &trial{
		lab: l, way: w, t: t, agent: a, home: filepath.Join(l.dir, strings.ReplaceAll(a.name+"-"+w.String(), "/", "-")),
		mark: strconv.FormatUint(rand.Uint64(), 36), result: result{named: map[string]int{}, unnamed: map[string]int{}},
	}
	defer tr.remove()
	tr.prepare()
	before := tr.picture()
	end := tr.run()
	tr.nobodyLeft()
	tr.compare("run", before, end)
	if t.Failed() {
		t.Log(tr.out)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results[a.name] = append(l.results[a.name], tr.result)
}

// remove deletes the tree, whatever the agent has made of it.
func (tr *trial) remove() {
	if os.Getenv("SUPERVISE_HOSTILE_KEEP") != "" {
		tr.t.Log(tr.home)
		return
	}
	if tr.agent.name == "immutable" {
		_ = exec.Command("chattr", "-R", "-i", tr.home).Run()
	}
	_ = exec.Command("chmod", "-R", "u+rwx", tr.home).Run()
	if err := os.RemoveAll(tr.home); err != nil {
		tr.t.Error(err)
	}
}

func (tr *trial) makeHome() {
	tr.t.Helper()
	err := os.Mkdir(tr.home, 0o755)
	if err == nil && tr.user && os.Geteuid() == 0 {
		err = os.Chown(tr.home, nobody, nobody)
	}
	if err != nil {
		tr.t.Fatal(err)
	}
}

// shell runs a script of ours in the home.
func (tr *trial) shell(script, input string) {
	tr.t.Helper()
	cmd := tr.command(context.Background(), "sh", "-ec", script)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		tr.t.Fatalf("%v\n%s", err, out)
	}
}

// prepare copies the tree, and writes the agent.
func (tr *trial) prepare() {
	tr.makeHome()
	from := tr.templateOf(tr.user)
	tr.shell(fmt.Sprintf(`cp -a %s/. .; mkfifo ready go
sed -i 's|%s/|%s/|' tree/.git/worktrees/linked/gitdir linked/.git
mkdir keep; cp -p tree/m.sh tree/m_test.sh tree/.supervise.yaml keep; cat >deed.sh; cat >agent.sh <<'EOF'
sh "$WORLD/deed.sh"
cd "$WORLD"
if [ "$FORM" = red ]; then rm -f "$TREE/m_test.sh"; else
  for f in m.sh m_test.sh .supervise.yaml; do
    [ -f "$TREE/$f" ] && [ ! -L "$TREE/$f" ] || { rm -rf "$TREE/$f"; cp -p "$WORLD/keep/$f" "$TREE/$f"; }
    chmod u+r "$TREE/$f"
  done
fi
echo >"$WORLD/ready"; read go <"$WORLD/go"
EOF
`, from, from, tr.home), strings.ReplaceAll(tr.agent.script, "MARK", tr.mark))
}

// command is a command of the user of the trial, held by a cgroup or not, whose memory
// is limited.
func (tr *trial) command(ctx context.Context, args ...string) *exec.Cmd {
	if os.Geteuid() == 0 && tr.user {
		args = append([]string{"setpriv", "--reuid=" + strconv.Itoa(nobody), "--regid=" + strconv.Itoa(nobody), "--clear-groups"}, args...)
	}
	script := `ulimit -d 1048576; exec "$@"`
	switch {
	case tr.way.cgroup:
		script = `echo $$ >"$GROUP/cgroup.procs"; ` + script
	case tr.mounts:
		args = append([]string{"unshare", "-m", "sh", "-c", `umount -l -a -t cgroup2; exec "$@"`, "sh"}, args...)
	}
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env = tr.home, []string{
		"PATH=" + filepath.Dir(tr.program) + ":" + os.Getenv("PATH"), "HOME=" + tr.home, "XDG_STATE_HOME=" + tr.home + "/state", "STATE=" + tr.home + "/state",
		"WORLD=" + tr.home, "TREE=" + tr.tree(), "FORM=" + filepath.Base(tr.way.String()), "GROUP=" + tr.group,
		"GIT_CONFIG_GLOBAL=" + tr.home + "/gitconfig", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "NO_COLOR=1", "TMPDIR=" + tr.home + "/tmp",
	}
	cmd.WaitDelay = 10 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// supervise runs the program, and returns what it printed and its status.
func (tr *trial) supervise(args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), trialTime)
	defer cancel()
	cmd := tr.command(ctx, append([]string{tr.program, "-C", tr.tree()}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if ctx.Err() != nil {
		tr.t.Errorf("supervise %s hangs", args[0])
	} else if cmd.ProcessState == nil {
		tr.t.Fatal(err)
	}
	if crashed.Match(out.Bytes()) {
		tr.t.Errorf("supervise %s crashed", args[0])
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// picture looks at the tree; git sees it with the rights of this process.
func (tr *trial) picture() treePicture {
	tr.t.Helper()
	return takePicture(tr.t, tr.tree(), func(args ...string) string {
		for _, name := range []string{"HEAD", "config", "index"} {
			if fi, err := os.Stat(filepath.Join(tr.tree(), ".git", name)); err == nil && !fi.Mode().IsRegular() {
				return "git would wait for " + name
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), gitTime)
		defer cancel()
		limited := `ulimit -v 4194304; exec git --no-optional-locks -c core.fsmonitor=false "$@"`
		cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, "git", "-C", tr.tree()}, args...)...)
		cmd.Env = append(tr.command(ctx).Env, "GIT_CEILING_DIRECTORIES="+tr.home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			out = fmt.Appendf(out, "%v", err)
		}
		return string(out)
	})
}

// run runs the loop, and returns the picture of the tree as the agent left it; nil if it
// did not end.
func (tr *trial) run() *treePicture {
	ready, err := os.OpenFile(filepath.Join(tr.home, "ready"), os.O_RDWR, 0)
	if err != nil {
		tr.t.Fatal(err)
	}
	seen, done := make(chan *treePicture, 1), make(chan struct{})
	defer close(done)
	go func() {
		var left *treePicture
		if n, _ := ready.Read(make([]byte, 1)); n == 1 && !tr.agent.ends {
			p := tr.picture()
			left = &p
		}
		if f, err := os.OpenFile(filepath.Join(tr.home, "go"), os.O_RDWR, 0); err == nil {
			_, _ = f.WriteString("\n")
			defer f.Close()
		}
		seen <- left
		<-done // or the pipe would be empty again before the agent reads it
	}()
	var code int
	tr.out, code = tr.supervise("run", "--until", "never", "--max-iterations", "1", "--max-retries", "0", "--", "sh", tr.home+"/agent.sh")
	_ = ready.Close() // no agent comes any more
	left := <-seen
	if code != 0 && code != 3 && code != 4 && !strings.Contains(tr.out, "the tree is restored to snapshot s1") {
		tr.t.Errorf("supervise run: status %d", code)
	}
	return left
}

// nobodyLeft looks for what runs all the same, and ends it.
func (tr *trial) nobodyLeft() {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(tr.mark)) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(file, "/")[2]); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if tr.way.cgroup || tr.agent.survives == "" {
			tr.t.Errorf("still running: %q", text)
		}
	}
}

var treeIs = regexp.MustCompile(`(?m)^.*the tree is (as it was before the loop|that of iteration 1|that of s\d+|restored to snapshot s1)\b.*$`)

// compare compares the tree with what the last line says that it is. One that was
// accepted is rolled back, and compared again.
func (tr *trial) compare(command string, before treePicture, left *treePicture) {
	line, as := "", ""
	if all := treeIs.FindAllStringSubmatch(tr.out, -1); len(all) > 0 {
		line, as = all[len(all)-1][0], all[len(all)-1][1]
	}
	if line == "" || !strings.HasSuffix(strings.TrimSpace(tr.out), strings.TrimSpace(line)) {
		tr.t.Errorf("%s: the last line does not say what the tree is", command)
	}
	want := before
	kept := as == "that of iteration 1"
	if kept {
		tr.result.kept = true
		if left == nil {
			tr.t.Error("an iteration was accepted that did not come to its end")
			return
		}
		want = *left
	}
	list := want.changes(tr.picture())
	if kept && tr.agent.moving != "" {
		list = slices.DeleteFunc(list, func(c change) bool {
			return c.path == "" || c.path == tr.agent.moving || strings.HasPrefix(c.path, tr.agent.moving+"/")
		})
	}
	tr.judge(command, list, line)
	if kept {
		var code int
		if tr.out, code = tr.supervise("rollback", "latest", "0"); code != 0 && !strings.Contains(tr.out, "not as the snapshot has it: ") {
			tr.t.Errorf("supervise rollback: status %d", code)
		}
		tr.compare("rollback", before, nil)
	}
}

// judge counts the differences, and fails for those that are not named.
func (tr *trial) judge(command string, list []change, line string) {
	named, left := unnamed(list, line)
	for _, c := range named {
		tr.result.named[c.look]++
	}
	for i, c := range left {
		if tr.result.unnamed[c.look]++; i < 20 {
			tr.t.Errorf("%s: not named: %s of %q was %.300q, is %.300q", command, c.look, c.path, c.was, c.is)
		}
	}
	if len(left) > 0 {
		tr.t.Log(tr.out)
	}
}

// table has a row for each agent.
func (l *lab) table(agents []hostileAgent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| agent | what it does | runs | kept | %s |\n|---|---|---|---|%s\n", strings.Join(fields, " | "), strings.Repeat("---|", len(fields)))
	for _, a := range agents {
		kept, named, left := 0, map[string]int{}, map[string]int{}
		for _, r := range l.results[a.name] {
			if r.kept {
				kept++
			}
			for _, look := range fields {
				named[look] += r.named[look]
				left[look] += r.unnamed[look]
			}
		}
		if len(l.results[a.name]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d |", a.name, a.does, len(l.results[a.name]), kept)
		for _, look := range fields {
			switch {
			case left[look] > 0:
				fmt.Fprintf(&b, " **%d unnamed** |", left[look])
			case named[look] > 0:
				fmt.Fprintf(&b, " %d named |", named[look])
			default:
				b.WriteString(" = |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
