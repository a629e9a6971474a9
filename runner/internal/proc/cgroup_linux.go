package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupPrefix begins the name of every cgroup of ours. The name of its shim
// follows, which shows later whether anybody still watches over it.
const cgroupPrefix = "supervise-"

// Cgroup is a cgroup (version 2, cgroups(7)) for one child's tree. Nothing that
// a process does to its session, parents or environment takes it out. The zero
// value is none, and does nothing.
type Cgroup struct{ Dir string }

var errNoCgroup = errors.New("no cgroup of its own")

// NewCgroup makes the cgroup of a shim below the one that this process is in, so
// that its limits hold for the tree as well. An error is usual: often the system
// allows no such thing, as most containers do, or has no cgroup.kill, which came
// with Linux 5.14.
func NewCgroup(shim Process) (Cgroup, error) {
	if shim.Start == "" {
		return Cgroup{}, fmt.Errorf("%w: its shim has no name", errNoCgroup)
	}
	parent, err := ownCgroup()
	if err != nil {
		return Cgroup{}, err
	}
	sweepCgroups(parent)
	g := Cgroup{filepath.Join(parent, cgroupPrefix+shim.mark())}
	if err := os.Mkdir(g.Dir, 0o755); err != nil {
		return Cgroup{}, fmt.Errorf("%w: %w", errNoCgroup, err)
	}
	if _, err := os.Stat(filepath.Join(g.Dir, "cgroup.kill")); err != nil {
		_ = os.Remove(g.Dir)
		return Cgroup{}, fmt.Errorf("%w: %w", errNoCgroup, err)
	}
	return g, nil
}

// ownCgroup returns the folder of the cgroup that this process is in.
func ownCgroup() (string, error) {
	point, root, err := cgroupMount()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoCgroup, err)
	}
	for line := range strings.Lines(string(data)) {
		path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !ok {
			continue
		}
		below, err := filepath.Rel(root, path)
		if err != nil || !filepath.IsLocal(below) {
			return "", fmt.Errorf("%w: %s lies outside of the mount %s", errNoCgroup, path, point)
		}
		return filepath.Join(point, below), nil
	}
	return "", fmt.Errorf("%w: this system has version 1 alone", errNoCgroup)
}

// cgroupMount returns where the hierarchy of version 2 is mounted, and which
// folder of it (/proc/PID/mountinfo of proc(5)).
func cgroupMount() (point, root string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", fmt.Errorf("%w: %w", errNoCgroup, err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		mount, source, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(mount)
		if len(fields) >= 5 && strings.HasPrefix(source, "cgroup2 ") {
			return unescapeMount(fields[4]), unescapeMount(fields[3]), nil
		}
	}
	return "", "", fmt.Errorf("%w: version 2 is not mounted", errNoCgroup)
}

// unescapeMount returns a path as it is: mountinfo has blanks in octal.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// sweepCgroups ends what earlier runs left in the folder: cgroups whose shim is
// dead and in which nobody is supervised any more.
func sweepCgroups(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		g := Cgroup{filepath.Join(parent, e.Name())}
		if owner, ok := cgroupOwner(e.Name()); ok && owner.hasEnded() && !g.hasLiveShim() {
			g.Kill()
			if !g.awaitEmpty(KillOneByOneAfter) {
				g.KillOneByOne()
				g.awaitEmpty(time.Second)
			}
			g.Remove()
		}
	}
}

// cgroupOwner returns the shim that a cgroup is named for. It is not ok when the
// shim is one of another pid namespace, about which nothing can be said.
func cgroupOwner(name string) (shim Process, ok bool) {
	mark, ours := strings.CutPrefix(name, cgroupPrefix)
	pid, start, cut := strings.Cut(mark, "-")
	_, tail, whole := strings.Cut(start, "-")
	n, err := strconv.Atoi(pid)
	return Process{PID: n, Start: start}, ours && cut && whole && err == nil && tail == identityTail()
}

// hasLiveShim reports whether a shim lives for which a cgroup below g is made: a
// supervisor ran in the tree and still does.
func (g Cgroup) hasLiveShim() bool {
	found := false
	g.walk(func(dir string) {
		if owner, ok := cgroupOwner(filepath.Base(dir)); ok && owner.Alive() && !owner.hasEnded() {
			found = true
		}
	})
	return found
}

// findCgroup returns the cgroup of a shim that may be dead, from wherever in the
// hierarchy this process is.
func findCgroup(shim Process) Cgroup {
	point, _, err := cgroupMount()
	if err != nil || shim.Start == "" {
		return Cgroup{}
	}
	name, found := cgroupPrefix+shim.mark(), Cgroup{}
	Cgroup{point}.walk(func(dir string) {
		if filepath.Base(dir) == name {
			found.Dir = dir
		}
	})
	return found
}

// walk calls visit for the folder of the cgroup and all below it, the inner ones
// later.
func (g Cgroup) walk(visit func(dir string)) {
	if g.Dir == "" {
		return
	}
	_ = filepath.WalkDir(g.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // cgroups come and go while we look
		}
		if d.IsDir() {
			visit(path)
		}
		return nil
	})
}

// ForkExec starts a process in the cgroup. Where the system does not let it, for
// one because a sandbox forbids clone3(2), the process starts outside.
func (g Cgroup) ForkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, inside bool, err error) {
	if g.Dir != "" {
		f, err := os.OpenFile(g.Dir, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err == nil {
			defer f.Close()
			sys := *attr.Sys
			sys.UseCgroupFD, sys.CgroupFD = true, int(f.Fd())
			within := *attr
			within.Sys = &sys
			if pid, err = syscall.ForkExec(path, argv, &within); err == nil {
				return pid, true, nil
			}
		}
	}
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, false, err
}

// Kill kills every process in the cgroup and below it, all at once, be it stopped
// or about to fork. The kernel passes over one whose first thread has ended.
func (g Cgroup) Kill() {
	if g.Dir != "" {
		_ = os.WriteFile(filepath.Join(g.Dir, "cgroup.kill"), []byte("1"), 0)
	}
}

// Members returns the processes in the cgroup and below it, at most n.
func (g Cgroup) Members(n int) []Info {
	var list []Info
	for pid := range g.pids() {
		if p, err := Read(pid); err == nil {
			list = append(list, p)
		}
		if len(list) == n {
			break
		}
	}
	return list
}

// KillOneByOne kills one by one what kill has passed over.
func (g Cgroup) KillOneByOne() {
	for _, p := range g.Members(-1) {
		p.Signal(unix.SIGKILL)
	}
}

// IsPopulated reports whether a process is in the cgroup or below it. Those that
// ended but were not collected do not count.
func (g Cgroup) IsPopulated() bool {
	if g.Dir == "" {
		return false
	}
	data, err := os.ReadFile(filepath.Join(g.Dir, "cgroup.events"))
	return err == nil && slices.Contains(strings.Split(string(data), "\n"), "populated 1")
}

// pids returns the processes in the cgroup and below it, as they are numbered
// here.
func (g Cgroup) pids() map[int]bool {
	pids := map[int]bool{}
	g.walk(func(dir string) {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			return
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 { // 0: of another pid namespace
				pids[pid] = true
			}
		}
	})
	return pids
}

// awaitEmpty waits until nothing is in the cgroup, for at most so long. It
// reports whether that is so.
func (g Cgroup) awaitEmpty(limit time.Duration) bool {
	for end := time.Now().Add(limit); g.IsPopulated(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Remove removes the cgroup and what the tree made below it. One that cannot be
// removed is swept at a later start.
func (g Cgroup) Remove() {
	var dirs []string
	g.walk(func(dir string) { dirs = append(dirs, dir) })
	for _, dir := range slices.Backward(dirs) {
		_ = os.Remove(dir)
	}
}
