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

// cgroupPrefix is the prefix of our cgroups. The name of the shim follows, which shows later
// whether the shim still runs.
const cgroupPrefix = "supervise-"

// Cgroup is a cgroup (version 2, cgroups(7)) for one child's tree. A process cannot leave it
// by a change of its session, parent or environment. The zero value is no cgroup.
type Cgroup struct{ Dir string }

var errNoCgroup = errors.New("no separate cgroup")

// NewCgroup makes the cgroup of a shim below the cgroup of this process, so that its limits
// also apply to the tree. Errors are common: most containers do not allow it, and
// cgroup.kill needs Linux 5.14.
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

// ownCgroup returns the folder of the cgroup that this process is in. The error says why there
// is none of version 2.
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
			return "", fmt.Errorf("%w: %s is outside of the mount %s", errNoCgroup, path, point)
		}
		return filepath.Join(point, below), nil
	}
	return "", fmt.Errorf("%w: this system only has version 1", errNoCgroup)
}

// cgroupMount returns the mount point of the hierarchy of version 2, and the folder of it that
// is mounted there (/proc/PID/mountinfo of proc(5)).
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

// unescapeMount decodes a path of mountinfo, which has white space in octal.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// sweepCgroups removes the cgroups of earlier runs in the folder if their shim is dead and no
// inner shim runs.
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

// cgroupOwner returns the shim in the name of a cgroup, which is supervise- and the mark of
// the shim. ok is false for other cgroups, and for shims of another pid namespace.
func cgroupOwner(name string) (shim Process, ok bool) {
	mark, hasPrefix := strings.CutPrefix(name, cgroupPrefix)
	pid, start, hasStart := strings.Cut(mark, "-")
	_, tail, hasTail := strings.Cut(start, "-")
	n, err := strconv.Atoi(pid)
	isMark := hasPrefix && hasStart && hasTail && err == nil
	return Process{PID: n, Start: start}, isMark && tail == identityTail()
}

// hasLiveShim reports whether the shim of a cgroup at or below g is alive: a supervisor
// still runs in the tree.
func (g Cgroup) hasLiveShim() bool {
	return slices.ContainsFunc(g.dirs(), func(dir string) bool {
		owner, ok := cgroupOwner(filepath.Base(dir))
		return ok && owner.Alive() && !owner.hasEnded()
	})
}

// findCgroup returns the cgroup of a shim, which may be dead, anywhere in the hierarchy; the
// zero value if there is none.
func findCgroup(shim Process) Cgroup {
	point, _, err := cgroupMount()
	if err != nil || shim.Start == "" {
		return Cgroup{}
	}
	for _, dir := range (Cgroup{point}).dirs() {
		if filepath.Base(dir) == cgroupPrefix+shim.mark() {
			return Cgroup{dir}
		}
	}
	return Cgroup{}
}

// dirs returns the folder of the cgroup and all folders below it, parents first.
func (g Cgroup) dirs() (dirs []string) {
	if g.Dir == "" {
		return nil
	}
	_ = filepath.WalkDir(g.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil // cgroups may disappear meanwhile
	})
	return dirs
}

// ForkExec starts a process in the cgroup. If the system does not allow that, for example
// because a sandbox forbids clone3(2), the process starts outside.
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

// Kill kills all processes in the cgroup and below it at once, even stopped or forking ones.
// The kernel skips processes whose first thread has ended.
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

// KillOneByOne kills each process that Kill has skipped.
func (g Cgroup) KillOneByOne() {
	for _, p := range g.Members(-1) {
		p.Signal(unix.SIGKILL)
	}
}

// IsPopulated reports whether a process is in the cgroup or below it. Zombies do not count.
func (g Cgroup) IsPopulated() bool {
	if g.Dir == "" {
		return false
	}
	data, err := os.ReadFile(filepath.Join(g.Dir, "cgroup.events"))
	return err == nil && slices.Contains(strings.Split(string(data), "\n"), "populated 1")
}

// pids returns the processes in the cgroup and below it, in this pid namespace.
func (g Cgroup) pids() map[int]bool {
	pids := map[int]bool{}
	for _, dir := range g.dirs() {
		data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs")) // the folder may be gone
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 { // 0: in another pid namespace
				pids[pid] = true
			}
		}
	}
	return pids
}

// awaitEmpty waits until the cgroup has no processes, for at most limit, and reports whether
// it has none.
func (g Cgroup) awaitEmpty(limit time.Duration) bool {
	for end := time.Now().Add(limit); g.IsPopulated(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Remove removes the cgroup and those that the tree made below it. If that fails, a later
// run removes it.
func (g Cgroup) Remove() {
	for _, dir := range slices.Backward(g.dirs()) {
		_ = os.Remove(dir)
	}
}
