package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"supervise/runner"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the program itself and a fake agent commands of the scripts.
func TestMain(m *testing.M) {
	runner.ShimMain()
	if strings.HasPrefix(filepath.Base(os.Args[0]), "supervise.test") { // not as one of the commands
		// Most scripts wait for what they started half of the time.
		flag.Parse()
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
		if err := os.Setenv("SUPERVISE_CHANGE_MUTANTS", "off"); err != nil { // only the scripts about them need the time
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){
		"supervise": main,
		"agent":     func() { os.Exit(fakeAgent()) },
		"asks":      func() { os.Exit(asksModel()) },

		"simulated-model": func() { os.Exit(runSimulatedModel()) },
	})
}

// fakeAgent does in iteration N what $AGENT_STEPS/N holds: files are copied
// into the tree, except
//
//	_rm      lists files to delete
//	_sh      is run by the shell
//	_say     is printed
//	_exit    holds the exit status
//	_hang    makes it ignore SIGINT, start a grandchild in a separate session, and wait
//
// Without a folder for the iteration it does nothing. Its input is
// appended to $AGENT_HEARD.
func fakeAgent() int {
	hear()
	dir := filepath.Join(os.Getenv("AGENT_STEPS"), os.Getenv("SUPERVISE_ITERATION"))
	code := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch d.Name() {
		case "_rm":
			for name := range strings.FieldsSeq(string(data)) {
				if err := os.RemoveAll(name); err != nil {
					return err
				}
			}
		case "_sh":
			cmd := exec.Command("/bin/sh", "-ec", string(data))
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			return cmd.Run()
		case "_say":
			fmt.Printf("%s", data)
		case "_exit":
			_, err := fmt.Sscan(string(data), &code)
			return err
		case "_hang":
			hang(string(data))
		default:
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
				return err
			}
			return os.WriteFile(rel, data, 0o644)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		fmt.Fprintln(os.Stderr, "fake agent:", err)
		return 1
	}
	return code
}

// hear notes the arguments and, where it is no terminal, the standard input.
func hear() {
	path := os.Getenv("AGENT_HEARD")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "== iteration %s\n", os.Getenv("SUPERVISE_ITERATION"))
	for _, arg := range os.Args[1:] {
		fmt.Fprintf(f, "arg: %s\n", arg)
	}
	if isTerminal(os.Stdin) {
		fmt.Fprintln(f, "stdin: terminal")
		return
	}
	text, _ := io.ReadAll(os.Stdin)
	fmt.Fprintf(f, "stdin: %s\n", text)
}

// quickGo spares Go what no test here looks at: debug information, and the vetting
// of tests in addition to go vet.
const quickGo = "-ldflags=-w -vet=off"

// goCaches keeps the real caches of Go in scripts, whose home is empty.
func goCaches(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		t.Skip("go is not on PATH: the scripts measure Go projects")
	}
	v := strings.Split(string(out), "\n")
	return []string{"GOCACHE=" + v[0], "GOMODCACHE=" + v[1], "GOPROXY=" + v[2], "GOFLAGS=" + v[3] + " " + quickGo, "GOTOOLCHAIN=local", "GOTELEMETRY=off", fewCollections}
}

// fewCollections spares programs that end soon a tenth of their time, Go's compiler and
// linker too. Memory is measured without it.
const fewCollections = "GOGC=400"

// shortScripts are those in which most happens at the same time in a loop: agents
// that are ended, watched, and listened to, and commits that are measured in
// parallel. They are what the race detector is to see; it takes ten times as long.
var shortScripts = []string{
	"testdata/script/ends.txtar",
	"testdata/script/replay.txtar",
	"testdata/script/resume.txtar",
	"testdata/script/rollback.txtar",
	"testdata/script/terminal.txtar",
	"testdata/script/until.txtar",
}

// TestScripts runs the command lines of testdata/script. Most scripts have projects of
// shell functions, measured by testdata/check.sh within milliseconds; those about
// what is recognised, built or renamed have Go.
func TestScripts(t *testing.T) {
	t.Parallel()
	caches := goCaches(t)
	check := []byte(checkScript(t))
	dir, files := "testdata/script", []string(nil)
	if testing.Short() {
		dir, files = "", shortScripts
		t.Logf("only %q: the others run the same loop to look at what is decided and printed", files)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, caches...)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("AGENT_STEPS", filepath.Join(env.WorkDir, "steps"))
			env.Setenv("SUPERVISE_CHANGE_MUTANTS", "off")
			env.Setenv("SUPERVISE_E2E", os.Getenv("SUPERVISE_E2E"))
			for _, variable := range []string{"CCACHE_DIR", "CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "CCACHE_SLOPPINESS", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "MAVEN_OPTS"} { // of .ci/e2e
				if value := os.Getenv(variable); value != "" {
					env.Setenv(variable, value)
				}
			}
			env.Setenv("RUSTUP_HOME", cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(os.Getenv("HOME"), ".rustup"))) // the home of scripts is empty
			env.Setenv("AGENT_HEARD", filepath.Join(env.WorkDir, "heard"))
			env.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(env.WorkDir, "gitconfig"))
			if err := os.WriteFile(filepath.Join(env.WorkDir, "check.sh"), check, 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "gitconfig"),
				[]byte("[user]\n\tname = t\n\temail = t@localhost\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"), 0o644)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "mounts":
			case "inside":
				return runner.IsSupervised(), nil
			case "sealable":
				return runner.CheckReadOnly(context.Background(), os.TempDir()) == nil, nil
			case "landlock":
				return runner.CheckLandlock() == nil, nil
			default:
				if holds, known := withTools(cond); known {
					return holds, nil
				}
				return false, fmt.Errorf("there is no condition %s", cond)
			}
			return exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "recorded": recorded, "cheats": cheatSteps},
	})
}

// status runs a command and checks its exit status: status N CMD ARGS…
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); asExit(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if want := args[0]; fmt.Sprint(got) != want {
		ts.Fatalf("%s ended with status %d, want %s", strings.Join(args[1:], " "), got, want)
	}
}

func asExit(err error, to **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError) //nolint:errorlint // Exec returns it bare
	*to = e
	return ok
}
