package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"supervise/runner"
)

// treeSize is how many processes are to be stopped. All but the first do not
// listen to signals that can be ignored, and escapees of them left the process
// group, or lost their parent, or cleared their environment.
const (
	treeSize = 1000
	escapees = 4
)

// treeScript starts the tree. All of it holds descriptor 9, by which it is
// counted. The last line comes when everything runs.
const treeScript = `exec 9>>"$0"; trap "" HUP INT TERM
setsid sh -c 'echo up; exec sleep 300' &
setsid sh -c 'echo up; sleep 300 & :' &
setsid env -i sh -c 'echo up; /bin/sleep 300; :' &
i=0; while [ $((i+=1)) -lt %d ]; do sleep 300 & done; echo up; wait`

// BenchmarkStop stops a tree of 1 000 processes: median milliseconds until
// nothing that the way knows of is left, and how many processes still run then.
func BenchmarkStop(b *testing.B) {
	ours := func(noCgroup bool) func(*testing.B, string) time.Duration {
		return func(b *testing.B, lock string) time.Duration { return stopOurs(b, lock, noCgroup) }
	}
	for _, way := range []struct {
		name string
		stop func(b *testing.B, lock string) time.Duration
	}{
		{"ours-cgroup", ours(false)},
		{"ours-subreaper", ours(true)},
		{"kill-group", stopGroup},
		{"ppid-walk", stopWalk},
	} {
		b.Run(way.name, func(b *testing.B) {
			var times []time.Duration
			left := 0
			for b.Loop() {
				lock := filepath.Join(b.TempDir(), "lock")
				times = append(times, way.stop(b, lock))
				rest := holders(lock)
				left = max(left, len(rest))
				for _, pid := range rest {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "stop-ms")
			b.ReportMetric(float64(left), "survivors")
			b.ReportMetric(0, "ns/op") // it holds the building of the tree
		})
	}
}

// counter reports when it has seen n lines.
type counter struct {
	mu    sync.Mutex
	lines int
	n     int
	seen  chan struct{}
}

func newCounter() *counter { return &counter{n: escapees, seen: make(chan struct{})} }

func (c *counter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.lines
	if c.lines += strings.Count(string(p), "\n"); before < c.n && c.lines >= c.n {
		close(c.seen)
	}
	return len(p), nil
}

func tree(lock string) []string {
	return []string{"/bin/sh", "-c", fmt.Sprintf(treeScript, treeSize-6), lock}
}

func stopOurs(b *testing.B, lock string, noCgroup bool) time.Duration {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	up := newCounter()
	begun := make(chan time.Time, 1)
	go func() {
		<-up.seen
		begun <- time.Now()
		cancel()
	}()
	res, err := runner.Run(ctx, runner.Command{
		Args: tree(lock), Stdout: up, NoCgroup: noCgroup, Grace: runner.Grace{Interrupt: -1, Terminate: -1},
	})
	took := time.Since(<-begun)
	if err != nil {
		b.Fatal(err)
	}
	if !noCgroup && res.Containment != runner.CgroupContainment {
		b.Skip("this system lets us make no cgroup")
	}
	return took
}

// start starts the tree in a new session, as most programs do.
func start(b *testing.B, lock string) *exec.Cmd {
	up := newCounter()
	cmd := exec.Command(tree(lock)[0], tree(lock)[1:]...)
	cmd.Stdout, cmd.SysProcAttr, cmd.WaitDelay = up, &syscall.SysProcAttr{Setsid: true}, time.Nanosecond
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	<-up.seen
	return cmd
}

func stopGroup(b *testing.B, lock string) time.Duration {
	cmd := start(b, lock)
	begun := time.Now()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	return time.Since(begun)
}

// stopWalk looks once at which process has which parent, and kills the lot.
func stopWalk(b *testing.B, lock string) time.Duration {
	cmd := start(b, lock)
	begun := time.Now()
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	for list := []int{cmd.Process.Pid}; len(list) > 0; list = list[1:] {
		_ = syscall.Kill(list[0], syscall.SIGKILL)
		list = append(list, children[list[0]]...)
	}
	_ = cmd.Wait()
	return time.Since(begun)
}

// holders returns the processes that run and hold the file open.
func holders(path string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/9")
	var pids []int
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}
