//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/fleet/flow"

	"go.temporal.io/sdk/client"
)

// BenchmarkIteration compares an iteration of a fleet with one worker with that of a local
// loop, both of an agent that takes no time: the time of a loop with eleven iterations less
// that of one with a single one, by ten.
func BenchmarkIteration(b *testing.B) {
	agent := "date +%s%N > notes.md\n"
	b.Run("local", func(b *testing.B) {
		f := newFleet(b)
		script := f.write("busy.sh", agent)
		took := func(n int) time.Duration {
			f.command("git", "-C", "project", "reset", "-q", "--hard")
			f.command("git", "-C", "project", "clean", "-qfd")
			begun := time.Now()
			out, status := f.try(programs.supervise, "-C", "project", "run", "-m", strconv.Itoa(n), "--on-stall", "continue", "--max-retries", "99", "--hooks", "off", "-p", "work", "--", "sh", script)
			if status != 4 {
				b.Fatalf("status %d\n%s", status, out)
			}
			return time.Since(begun)
		}
		each(b, took)
	})
	b.Run("fleet", func(b *testing.B) {
		f := newFleet(b)
		script := f.write("busy.sh", agent)
		f.server()
		f.worker(0)
		runs := 0
		took := func(n int) time.Duration {
			runs++
			name := "costs" + strconv.Itoa(runs)
			f.write("costs.yaml", fmt.Sprintf("fleet: %s\ntasks:\n  - {id: t0, repository: %s, prompt: work, command: [sh, %s], max_iterations: %d, flags: [--on-stall, continue, --max-retries, '99', --hooks, 'off']}\n", name, filepath.Join(f.dir, "project.git"), script, n))
			begun := time.Now()
			out, status := f.try(programs.fleet, "run", "costs.yaml", "--wait")
			if status != 4 {
				b.Fatalf("status %d\n%s", status, out)
			}
			return time.Since(begun)
		}
		each(b, took)
	})
}

// each reports what one iteration more takes, by how long loops of so many take.
func each(b *testing.B, took func(iterations int) time.Duration) {
	const more = 10
	var sum time.Duration
	for b.Loop() {
		sum += took(1+more) - took(1)
	}
	b.ReportMetric(float64(sum.Milliseconds())/float64(b.N)/more, "ms/iteration")
}

// BenchmarkTasks does many tasks of a trivial agent with three workers: SUPERVISE_FLEET_TASKS
// is how many.
func BenchmarkTasks(b *testing.B) {
	tasks := 30
	if n, err := strconv.Atoi(os.Getenv("SUPERVISE_FLEET_TASKS")); err == nil {
		tasks = n
	}
	for b.Loop() {
		f := newFleet(b)
		f.server()
		for n := range 3 {
			f.worker(n)
		}
		var text strings.Builder
		fmt.Fprintf(&text, "fleet: many\ndefaults: {repository: %s, prompt: work, command: [sh, -c, 'echo \"echo \\$((\\$1 + \\$2))\" > add.sh'], flags: [--hooks, 'off']}\ntasks:\n", filepath.Join(f.dir, "project.git"))
		for n := range tasks {
			fmt.Fprintf(&text, "  - {id: t%d}\n", n)
		}
		begun := time.Now()
		f.command(programs.fleet, "run", f.write("many.yaml", text.String()))
		c, err := client.Dial(client.Options{HostPort: f.address})
		if err != nil {
			b.Fatal(err)
		}
		var l flow.Ledger
		if err := c.GetWorkflow(context.Background(), flow.FleetID("many"), "").Get(context.Background(), &l); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begun).Seconds()/float64(tasks), "s/task")
		done := strings.Count(f.command(programs.fleet, "status", "many"), " done ")
		if done != tasks {
			b.Errorf("%d of %d tasks are done", done, tasks)
		}
		size := 0.0
		for _, name := range []string{"server.db", "server.db-wal"} {
			if fi, err := os.Stat(filepath.Join(f.dir, name)); err == nil {
				size += float64(fi.Size())
			}
		}
		b.ReportMetric(size/float64(tasks)/1024, "KiB-on-server/task")
		for _, name := range []string{"server", "worker0"} {
			b.ReportMetric(f.resident(name), "MiB-"+name)
		}
		c.Close()
	}
}

// resident is the memory of a program, in MiB; 0 where the system does not tell.
func (f *fleet) resident(name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.running[name].Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return float64(kib) / 1024
}
