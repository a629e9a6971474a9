package runner_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"supervise/runner"
)

// quick is a grace that a test can wait for.
var quick = runner.Grace{Interrupt: 50 * time.Millisecond, Terminate: 50 * time.Millisecond}

// onTerminal and onPipes are the two ways to run a child.
var ways = []struct {
	name     string
	terminal *runner.Terminal
}{
	{"pipes", nil},
	{"terminal", &runner.Terminal{}},
}

func mustRun(t *testing.T, c runner.Command) runner.Result {
	t.Helper()
	res, err := runner.Run(context.Background(), c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return res
}

func TestExitStatus(t *testing.T) {
	for _, way := range ways {
		for _, tc := range []struct {
			name   string
			args   []string
			code   int
			signal string
		}{
			{"zero", self("exit", "0"), 0, ""},
			{"three", self("exit", "3"), 3, ""},
			{"killed", self("kill-self"), -1, "SIGKILL"},
		} {
			t.Run(way.name+"/"+tc.name, func(t *testing.T) {
				res := mustRun(t, runner.Command{Args: tc.args, Terminal: way.terminal})
				if res.ExitCode != tc.code || res.Signal != tc.signal || res.Cause != runner.Exited {
					t.Errorf("got %d %q %v, want %d %q exited", res.ExitCode, res.Signal, res.Cause, tc.code, tc.signal)
				}
				if res.Started.IsZero() || res.Ended.Before(res.Started) || len(res.Leftovers) > 0 {
					t.Errorf("got %+v, want times in order and nothing left over", res)
				}
			})
		}
	}
}

func TestOutputIsComplete(t *testing.T) {
	for _, way := range ways {
		for _, size := range []string{"11264", "1048576"} {
			t.Run(way.name+"/"+size, func(t *testing.T) {
				var out bytes.Buffer
				mustRun(t, runner.Command{Args: self("burst", size), Terminal: way.terminal, Stdout: &out})
				n := 11264
				if size != "11264" {
					n = 1 << 20
				}
				got := bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
				if !bytes.Equal(got, pattern(n)) {
					t.Errorf("got %d bytes that differ from the %d written", len(got), n)
				}
			})
		}
	}
}

// slowWriter takes longer than the deadline for draining for its first bytes.
type slowWriter struct {
	bytes.Buffer
	slept bool
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if !w.slept {
		w.slept = true
		<-time.After(700 * time.Millisecond) // this is the case under test, no wait for an event
	}
	return w.Buffer.Write(p)
}

func TestSlowWriterLosesNothing(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			out := &slowWriter{}
			mustRun(t, runner.Command{Args: self("burst", "60000"), Terminal: way.terminal, Stdout: out})
			if got := bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n")); !bytes.Equal(got, pattern(60000)) {
				t.Errorf("got %d bytes that differ from the 60000 written", len(got))
			}
		})
	}
}

func TestStdoutAndStderr(t *testing.T) {
	script := []string{"/bin/sh", "-c", "echo one; echo two >&2; echo three"}
	var out, errs, both bytes.Buffer
	mustRun(t, runner.Command{Args: script, Stdout: &out, Stderr: &errs})
	if out.String() != "one\nthree\n" || errs.String() != "two\n" {
		t.Errorf("apart: got %q and %q", out.String(), errs.String())
	}
	mustRun(t, runner.Command{Args: script, Stdout: &both, Stderr: &both})
	if both.String() != "one\ntwo\nthree\n" {
		t.Errorf("together: got %q, want the order of the writing", both.String())
	}
}

var errFull = errors.New("disk full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func TestFailingWriterDoesNotStopTheChild(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			res, err := runner.Run(context.Background(), runner.Command{
				Args: self("burst", "1048576"), Terminal: way.terminal, Stdout: fullWriter{},
			})
			if !errors.Is(err, errFull) || res.ExitCode != 0 || res.Cause != runner.Exited {
				t.Errorf("got %+v, %v; want exit status 0 and the writer's error", res, err)
			}
		})
	}
}

func TestTerminalOrNone(t *testing.T) {
	for _, tc := range []struct {
		name    string
		command runner.Command
		want    string
	}{
		{"pipes", runner.Command{}, "fd0=false fd1=false fd2=false tty=false leader=true front=false"},
		{"default size", runner.Command{Terminal: &runner.Terminal{}}, "fd0=true fd1=true fd2=true tty=true size=120x40 leader=false front=true"},
		{"given size", runner.Command{Terminal: &runner.Terminal{Cols: 77, Rows: 11}}, "fd0=true fd1=true fd2=true tty=true size=77x11 leader=false front=true"},
		{"fed", runner.Command{Terminal: &runner.Terminal{}, Stdin: strings.NewReader("")}, "fd0=false fd1=true fd2=true tty=true size=120x40 leader=false front=true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			tc.command.Args, tc.command.Stdout = self("terminal"), &out
			mustRun(t, tc.command)
			if got := strings.TrimSpace(out.String()); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// TestDescriptors also starts from a process that was itself handed one it did
// not ask for, like one run by make.
func TestDescriptors(t *testing.T) {
	leak, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	fd, err := dupWithoutCloseOnExec(leak)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			var out bytes.Buffer
			// A Go program would show what its own runtime opened, and a shell that
			// lists the folder, the folder.
			script := `n=0; while [ $n -lt 256 ]; do [ -e /proc/$$/fd/$n ] && echo $n; n=$((n+1)); done`
			mustRun(t, runner.Command{Args: []string{"/bin/sh", "-c", script}, Terminal: way.terminal, Stdout: &out})
			if got := strings.Fields(out.String()); !slices.Equal(got, []string{"0", "1", "2"}) {
				t.Errorf("the child has descriptors %v, want 0, 1 and 2 alone", got)
			}
		})
	}
}

func TestStdinIsByteExact(t *testing.T) {
	prompt := strings.Repeat("x", 6000) + string(pattern(94000)) + "ä\x00\x03\x04end"
	file := filepath.Join(t.TempDir(), "prompt")
	if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		t.Run(way.name+"/reader", func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "got")
			mustRun(t, runner.Command{
				Args: []string{"/bin/sh", "-c", `cat >"$0"`, copied}, Terminal: way.terminal, Stdin: strings.NewReader(prompt),
			})
			wantFile(t, copied, prompt)
		})
		t.Run(way.name+"/file", func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "got")
			in, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			mustRun(t, runner.Command{
				Args: []string{"/bin/sh", "-c", `cat >"$0"`, copied}, Terminal: way.terminal, Stdin: in,
			})
			wantFile(t, copied, prompt)
		})
		t.Run(way.name+"/unread", func(t *testing.T) {
			res := mustRun(t, runner.Command{Args: self("exit", "0"), Terminal: way.terminal, Stdin: strings.NewReader(prompt)})
			if res.ExitCode != 0 {
				t.Errorf("got %+v, want exit status 0", res)
			}
		})
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%d bytes arrived that differ from the %d sent", len(got), len(want))
	}
}

func TestDirAndEnvironment(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	odd := "ODD=\xff\xfe"
	mustRun(t, runner.Command{
		Args: []string{"/bin/sh", "-c", `pwd; printf %s "$ODD$1"`, "sh", "\x80arg"}, Dir: dir,
		Env: []string{odd, "PATH=/usr/bin:/bin"}, Stdout: &out,
	})
	if want := dir + "\n\xff\xfe\x80arg"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	t.Setenv("PWD", "/")
	out.Reset()
	mustRun(t, runner.Command{Args: []string{"/usr/bin/env"}, Dir: dir, Stdout: &out})
	if !strings.Contains(out.String(), "\nPWD="+dir+"\n") && !strings.HasPrefix(out.String(), "PWD="+dir+"\n") {
		t.Errorf("PWD is not %s in:\n%s", dir, out.String())
	}
	out.Reset()
	mustRun(t, runner.Command{Args: []string{"/usr/bin/env"}, Env: []string{"A=inherited", "B=1", "A=own"}, Stdout: &out})
	if got := strings.Fields(out.String()); !slices.Contains(got, "A=own") || !slices.Contains(got, "B=1") || slices.Contains(got, "A=inherited") {
		t.Errorf("what was added last does not count: %q", got)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "text", 0o600)
	orphan := write("orphan", "#!/no/such/interpreter\n", 0o700)
	bare := write("bare", "echo hello\n", 0o700)
	write("here", "#!/bin/sh\n", 0o700)
	for _, tc := range []struct {
		name  string
		c     runner.Command
		is    error
		wants string
	}{
		{"no program in PATH", runner.Command{Args: []string{"no-such-agent"}}, runner.ErrNotFound, "no-such-agent"},
		{"same, standard error", runner.Command{Args: []string{"no-such-agent"}}, exec.ErrNotFound, "install it"},
		{"no program at path", runner.Command{Args: []string{"./no-such-agent"}, Dir: dir}, runner.ErrNotFound, dir},
		{"relative PATH", runner.Command{Args: []string{"here"}, Dir: dir, Env: []string{"PATH=.:"}}, runner.ErrNotFound, "here"},
		{"not executable", runner.Command{Args: []string{plain}}, fs.ErrPermission, "chmod +x"},
		{"in PATH, not executable", runner.Command{Args: []string{"plain"}, Env: []string{"PATH=" + dir}}, fs.ErrPermission, "plain"},
		{"a directory", runner.Command{Args: []string{dir}}, fs.ErrPermission, "is a directory"},
		{"no interpreter", runner.Command{Args: []string{orphan}}, fs.ErrNotExist, "first line"},
		{"no first line", runner.Command{Args: []string{bare}}, runner.ErrUnstartable, "#!/bin/sh"},
		{"no directory", runner.Command{Args: self("exit", "0"), Dir: dir + "/none"}, fs.ErrNotExist, "working directory"},
		{"directory is a file", runner.Command{Args: self("exit", "0"), Dir: plain}, runner.ErrUnstartable, "not a directory"},
		{"NUL in argument", runner.Command{Args: self("exit", "\x00")}, nil, "invalid argument"},
		{"nothing to run", runner.Command{}, nil, "no command given"},
	} {
		for _, way := range ways {
			t.Run(tc.name+"/"+way.name, func(t *testing.T) {
				tc.c.Terminal = way.terminal
				res, err := runner.Run(context.Background(), tc.c)
				if err == nil || (tc.is != nil && !errors.Is(err, tc.is)) || !strings.Contains(err.Error(), tc.wants) {
					t.Errorf("got %v, want an error like %v that says %q", err, tc.is, tc.wants)
				}
				if fault := tc.wants != "invalid argument" && tc.wants != "no command given"; errors.Is(err, runner.ErrUnstartable) != fault {
					t.Errorf("%v is ErrUnstartable: %v, want %v", err, !fault, fault)
				}
				if errors.Is(err, runner.ErrNotFound) && !errors.Is(tc.is, exec.ErrNotFound) && !errors.Is(tc.is, runner.ErrNotFound) {
					t.Errorf("got %v, which is no ErrNotFound", err)
				}
				if res.Cause != runner.NotStarted || res.ExitCode != -1 {
					t.Errorf("got %+v, want one that never ran", res)
				}
			})
		}
	}
}

func TestContextEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errFull)
	if res, err := runner.Run(ctx, runner.Command{Args: self("exit", "0")}); !errors.Is(err, errFull) || res.Cause != runner.NotStarted {
		t.Errorf("got %+v, %v; want the cause of the context", res, err)
	}
}

// TestWithoutShimMain runs a program that uses the package and forgot ShimMain:
// it must get an error, not start itself without end.
func TestWithoutShimMain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "forgetful")
	build := exec.Command("go", "build", "-o", program, "./testdata/forgetful")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(program).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "must call runner.ShimMain first") {
		t.Errorf("got %v and %q, want an error that names ShimMain", err, out)
	}
}

func TestStartedManuallyAsShim(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The Go runtime may have opened files under these numbers.
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := &exec.Cmd{Path: program, Args: []string{"supervise-shim"}, ExtraFiles: []*os.File{null, null}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "started manually") {
		t.Errorf("got %v and %q, want a refusal", err, out)
	}
}

// TestShortLived: the end of a child is seen however early it comes.
func TestShortLived(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range runsOf(t, 10) {
						res, err := runner.Run(t.Context(), runner.Command{Args: []string{"/bin/true"}, Terminal: way.terminal, Timeout: 20 * time.Second})
						if err != nil || res.Cause != runner.Exited {
							t.Errorf("got %+v, %v; want exited", res, err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}
