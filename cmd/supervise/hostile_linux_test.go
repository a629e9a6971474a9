package main

import (
	"context"
	"errors"
	"fmt"
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
)

// What a hostile repository may cost: the time of a command, twice ten seconds for a
// busy machine, and the memory of supervise in KiB.
const (
	hostileTime   = 20 * time.Second
	hostileMemory = 256 << 10
)

// obstacle is something in the place of a file. The shell makes it at $1.
type obstacle struct{ name, make, why string }

var obstacles = []obstacle{
	{"pipe", `mkfifo "$1"`, "is a named pipe"},
	{"device", `ln -s /dev/zero "$1"`, "leads out of"},
	{"folder", `mkdir "$1"`, "is a folder"},
	{"huge", `truncate -s 3G "$1"`, "is larger than"},
	{"out", `ln -s "$SECRET" "$1"`, "leads out of"},
	{"dangling", `ln -s nowhere "$1"`, "is a link to nothing"},
	{"loop", `ln -s "$(basename "$1")" "$1"`, "is a loop of links"},
}

// hostileFile is a file that supervise reads from a repository.
type hostileFile struct {
	name    string
	needs   string // a file that has to be there for this one to be read
	namedBy string // commands that name the file when something else is in its place
}

const measuring = "measure doctor gate run"

var hostileFiles = []hostileFile{
	{".supervise.yaml", "", measuring + " audit"},
	{".supervise-ack.yaml", "", "gate run"},
	{".supervise/prompts", "", "run"},
	{".supervise/prompts/boundary.md", "", "run"},
	{".supervise/ratchet.json", "", ""},
	{"package.json", "", measuring},
	{"jest.config.js", "package.json", ""},
	{"vitest.config.ts", "package.json", ""},
	{"tsconfig.json", "package.json", ""},
	{"pnpm-workspace.yaml", "package.json", measuring},
	{"pyproject.toml", "", measuring},
	{"setup.cfg", "requirements.txt", measuring},
	{"tox.ini", "requirements.txt", measuring},
	{"pytest.ini", "requirements.txt", ""},
	{"requirements.txt", "", measuring},
	{"Cargo.toml", "", measuring},
	{"pom.xml", "", measuring},
	{"build.gradle", "", measuring},
	{"go.mod", "", measuring},
	{"go.work", "go.mod", measuring},
	{"go.sum", "go.mod", ""},
	{"Makefile", "", measuring},
	{"CMakeLists.txt", "", measuring},
	{"Gemfile", "", measuring},
	{"composer.json", "", measuring},
	{"mix.exs", "", measuring},
	{"src/a_test.py", "", ""},
	{"src/a.go", "", ""},
	{".gitignore", "", measuring},
	{"src/.gitignore", "", ""},
	{".gitattributes", "", ""},
	{"report.xml", "", "measure doctor"},
	{"lcov.info", "", ""},
	{".git/HEAD", "", ""},
	{".git/config", "", ""},
	{".git/index", "", ""},
	{".git/info/exclude", "", ""},
	{".git/packed-refs", "", ""},
}

// alwaysTried are obstacles that once hung a command, filled the memory or showed a secret.
var alwaysTried = map[string]string{".supervise.yaml": "device pipe out", "setup.cfg": "pipe", "package.json": "pipe", "tox.ini": "pipe", ".supervise-ack.yaml": "pipe"}

// plain are texts for the files that have to be there.
var plain = map[string]string{
	"package.json": `{"devDependencies":{"jest":"29","vitest":"1","typescript":"5"}}`, "requirements.txt": "pytest\n", "go.mod": "module example.com/a\n",
}

// tap is a test command that passes.
const tap = `printf 'TAP version 13\n1..1\nok 1 - a\n'`

func (f hostileFile) commands() map[string][]string {
	test := []string{"--test-cmd", tap, "--build-cmd", "true", "--lint-cmd", "true"} // other tools may hang as they like
	if f.report() {
		test[1] += `; make-obstacle "$PWD/` + f.name + `"`
		test = append(test, "--test-report", f.name)
	}
	with := func(args ...string) []string { return append(args, test...) }
	return map[string][]string{
		"measure": with("measure"), "doctor": with("doctor"), "gate": with("gate", "--base", "HEAD", "--offline"),
		"audit": {"audit", "--working-tree"}, "run": append(with("run", "--max-iterations", "1", "--until", "never"), "--", "true"),
	}
}

// report says that the tests write the file.
func (f hostileFile) report() bool { return f.name == "report.xml" || f.name == "lcov.info" }

// TestHostileFiles puts something else in the place of each file that supervise reads
// from a repository. No command hangs, takes much memory or prints what a link leads to,
// and one line says what is wrong. SUPERVISE_HOSTILE_FILES=1 tries all of the table.
func TestHostileFiles(t *testing.T) {
	runAll := os.Getenv("SUPERVISE_HOSTILE_FILES") != ""
	program, err := exec.LookPath("supervise")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, f := range hostileFiles {
		for j, o := range obstacles {
			k := 0
			for _, name := range strings.Fields(measuring + " audit") {
				k++
				always := slices.Contains(strings.Fields(alwaysTried[f.name]), o.name) && strings.HasPrefix(f.namedBy, name)
				if !runAll && !always && ((i+j)%len(obstacles) != 0 || (i+k)%5 != 0 || i%3 != 0) {
					continue
				}
				n++
				t.Run(strings.ReplaceAll(f.name, "/", "_")+"/"+o.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					h := hostileProject(t, f, o)
					h.check(name, h.run(program, f.commands()[name]))
				})
			}
		}
	}
	t.Logf("%d runs", n)
}

type hostileRun struct {
	t          *testing.T
	file       hostileFile
	obstacle   obstacle
	home, tree string
}

// hostileProject is a repository with an obstacle in the place of a file.
func hostileProject(t *testing.T, f hostileFile, o obstacle) *hostileRun {
	h := &hostileRun{t, f, o, t.TempDir(), ""}
	h.tree = filepath.Join(h.home, "tree")
	script := `set -e
printf 'TOPSECRET: [unclosed\n\tline' >"$SECRET"
mkdir bin tree; cd tree
printf '#!/bin/sh\n%s\n' "$MAKE" >../bin/make-obstacle; chmod +x ../bin/make-obstacle
git init -q .; echo text >file; mkdir src; echo 'def test_a(): pass' >src/b_test.py
mkdir -p "$(dirname "$FILE")"
if [ -n "$BESIDE" ]; then printf '%s' "$TEXT" >"$BESIDE"; fi
git add -A; git commit -qm start
[ -n "$REPORT" ] && exit
rm -rf "$FILE"; make-obstacle "$FILE"
case "$FILE" in .git/*) exit;; esac
if [ -L "$FILE" ]; then git add -A 2>/dev/null; git commit -qm link 2>/dev/null; fi; true`
	report := ""
	if f.report() {
		report = "1"
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = h.home, append(h.env(), "FILE="+f.name, "BESIDE="+f.needs, "TEXT="+plain[f.needs], "MAKE="+o.make, "REPORT="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func (h *hostileRun) env() []string {
	return append(os.Environ(), "HOME="+h.home, "XDG_STATE_HOME="+h.home+"/state", "SECRET="+h.home+"/secret", "PATH="+h.home+"/bin:"+os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GOMEMLIMIT=off", "NO_COLOR=1")
}

// run runs a command of supervise with half a gigabyte for its heap, and returns what it
// printed.
func (h *hostileRun) run(program string, args []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	limited := `ulimit -d ` + strconv.Itoa(512<<10) + `; exec "$0" "$@"`
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, program, "-C", h.tree}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = h.tree, h.env(), time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		h.t.Fatalf("it hangs\n%s", out)
	}
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		h.t.Fatal(err)
	}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && used.Maxrss > hostileMemory {
		h.t.Errorf("it took %d MiB", used.Maxrss>>10)
	}
	return fmt.Sprintf("%s\nstatus %d after %v", out, cmd.ProcessState.ExitCode(), time.Since(began).Round(10*time.Millisecond))
}

var crashed = regexp.MustCompile(`(?m)^(panic|fatal error|runtime):|goroutine \d+ \[`)

// check looks at what a command printed.
func (h *hostileRun) check(command, out string) {
	if strings.Contains(out, "TOPSECRET") || strings.Contains(out, "unclosed") {
		h.t.Errorf("it prints what a link leads to:\n%s", out)
	}
	if crashed.MatchString(out) {
		h.t.Errorf("it crashed:\n%s", out)
	}
	if !strings.Contains(" "+h.file.namedBy+" ", " "+command+" ") {
		return
	}
	reports := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, filepath.Base(h.file.name)+" ") && (strings.Contains(line, h.obstacle.why) || h.file.name == ".supervise/prompts" || h.file.report()) {
			reports++
		}
	}
	most := 1
	if command == "gate" || h.file.report() {
		most = 2 // in the base and in the tree; a check and the whole
	}
	if (reports < 1 || reports > most) && !h.untold(command) {
		h.t.Errorf("%d lines say that %s %s:\n%s", reports, h.file.name, h.obstacle.why, out)
	}
}

// untold are obstacles that say nothing: git ignores its files behind links and its
// folders, the folder of the prompts may be a folder, a gate reads the configuration of
// the base, which has only links, and a report behind a broken link was not written.
func (h *hostileRun) untold(command string) bool {
	link := strings.HasPrefix(h.obstacle.make, "ln ")
	switch filepath.Base(h.file.name) {
	case ".supervise.yaml", ".supervise-ack.yaml":
		return command == "gate" && !link
	case ".gitignore":
		return h.obstacle.name != "pipe" && h.obstacle.name != "huge"
	case "report.xml":
		return h.obstacle.name == "dangling" || h.obstacle.name == "loop"
	case "prompts", "boundary.md":
		return h.obstacle.name == "folder"
	}
	return false
}
