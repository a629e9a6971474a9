package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const memoryLimit = 4 << 30

// group is a control group with a memory limit; nil where none can be made.
type group struct{ dir string }

// newGroup makes a group under version 1 or 2 of the kernel's interface.
func newGroup() *group {
	for _, at := range []struct{ root, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"},
	} {
		dir := filepath.Join(at.root, "sweep-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(dir, at.file), []byte(strconv.Itoa(memoryLimit)), 0o644) == nil {
			return &group{dir}
		}
		_ = os.Remove(dir)
	}
	return nil
}

func (g *group) limit() string {
	if g == nil {
		return "none"
	}
	return fmt.Sprintf("%d GiB", memoryLimit>>30)
}

// wrap lets a program enter the group before it starts.
func (g *group) wrap(argv []string) []string {
	if g == nil {
		return argv
	}
	return append([]string{"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, argv...)
}

func (g *group) close() {
	if g == nil {
		return
	}
	for range 50 { // what was killed needs a moment to be gone
		if os.Remove(g.dir) == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// killGroup makes the end of the time limit the end of all processes of the program.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
