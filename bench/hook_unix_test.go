//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// hookRounds is how often each of the programs is started, in turns: the machine
// is not ours alone.
const hookRounds = 60

// hookCalls are what agents tell their hooks.
var hookCalls = []struct{ name, event, input string }{
	{"harmless", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"go test ./..."}}`},
	{"denied", "PreToolUse", `{"tool_name":"Bash","tool_input":{"command":"cd pkg && rm -rf *_test.go"}}`},
	{"edit", "PreToolUse", `{"tool_name":"Edit","tool_input":{"file_path":"pkg/a_test.go","old_string":"t.Fatal(1)","new_string":"t.Fatal(2)"}}`},
	{"after", "PostToolUse", `{"tool_name":"Edit","tool_input":{"file_path":"pkg/a_test.go","old_string":"t.Fatal(2)","new_string":"t.Fatal(1)"},"tool_response":{}}`},
}

// BenchmarkHook starts supervise hook as a whole process, with a running supervisor
// and alone, in turns with true(1): the least that any process takes here. It
// reports the median and the 95th percentile in ms, that of the CPU time alone, which
// other work on the machine does not touch, and the median of the ratios of each
// round.
func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	bin := filepath.Join(dir, "supervise")
	run(b, "..", "go", "build", "-trimpath", "-o", bin, "./cmd/supervise")
	nothing, err := exec.LookPath("true")
	if err != nil {
		b.Skip("needs true(1)")
	}
	project := hookProject(b, filepath.Join(dir, "project"))
	for _, with := range []string{"supervisor", "alone"} {
		socket := ""
		if with == "supervisor" {
			socket = supervisor(b, bin, project)
		}
		for _, c := range hookCalls {
			b.Run(with+"/"+c.name, func(b *testing.B) {
				var ours, ratios, cpus []float64
				for b.Loop() {
					for range hookRounds {
						least, _ := started(b, project, "", "", nothing)
						us, cpu := started(b, project, c.input, socket, bin, "hook", "claude", c.event)
						ours, ratios, cpus = append(ours, us), append(ratios, us/least), append(cpus, cpu)
					}
				}
				slices.Sort(ours)
				slices.Sort(ratios)
				slices.Sort(cpus)
				b.ReportMetric(ours[len(ours)/2], "p50-ms")
				b.ReportMetric(ours[len(ours)*95/100], "p95-ms")
				b.ReportMetric(cpus[len(cpus)*95/100], "p95-cpu-ms")
				b.ReportMetric(ratios[len(ratios)/2], "x-true")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// started runs a program to its end and returns how long that took, and how much CPU
// time, with that of what it started, in ms.
func started(b *testing.B, dir, input, socket string, argv ...string) (wall, cpu float64) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "SUPERVISE_HOOK_SOCKET="+socket)
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	if err := cmd.Run(); err != nil || said.Len() > 0 {
		b.Fatalf("%s: %v\n%s", cmd, err, said.Bytes())
	}
	wall = float64(time.Since(began).Microseconds()) / 1000
	return wall, float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds()) / 1000
}

// hookProject makes a project of two thousand files that git knows.
func hookProject(b *testing.B, dir string) string {
	b.Helper()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 1000 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		write("src/"+name+".go", "package src\n")
		write("src/"+name+"_test.go", "package src\n\nimport \"testing\"\n\nfunc TestT"+name+"(t *testing.T) {}\n")
	}
	write("pkg/a_test.go", "package pkg\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Fatal(1)\n}\n")
	write(".supervise.yaml", "checks:\n  test:\n    command: ['sh', '-c', 'echo \"<testsuite><testcase name=\\\"a\\\"/></testsuite>\"']\n")
	run(b, dir, "git", "init", "-q")
	run(b, dir, "git", "add", ".")
	run(b, dir, "git", "-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "-qm", "start")
	return dir
}

// supervisor starts a loop whose agent waits, and returns the socket of its hooks.
func supervisor(b *testing.B, bin, project string) string {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, bin, "run", "--until", "never", "--max-iterations", "1", "--pty", "never", "--no-apply", "--agent-output", "lines", "--",
		"sh", "-c", "echo socket=$SUPERVISE_HOOK_SOCKET; exec sleep 100000")
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.TempDir())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cancel(); _ = cmd.Wait() })
	found := ""
	for lines := bufio.NewScanner(out); found == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "socket=/"); ok {
			found = "/" + strings.TrimSpace(after)
		}
	}
	if found == "" {
		b.Fatalf("no hooks are answered (%s)", runtime.GOOS)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
		}
	}()
	return found
}
