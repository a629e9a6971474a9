package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"supervise/runner"
)

// private is what an agent in a sandbox is not to read, below the folder of the world.
var private = []string{
	"home/.ssh/id_ed25519", "home/.aws/credentials", "home/.config/gcloud/credentials.db", "home/.azure/token", "home/.kube/config", "home/.docker/config.json",
	"home/.gnupg/secring", "home/.netrc", "home/.git-credentials", "home/.config/git/credentials", "home/.local/share/keyrings/login", "home/.mozilla/cookies",
	"home/.bash_history", "home/.npmrc", "home/.cargo/credentials.toml", "home/code/other/secret", "other/secret", "hidden/h_test.sh", "tmp/of-another-program",
	"state/supervise/another-1234/loops/x/state.json",
}

// probing is an agent that tries to read those and to reach the two servers, and says
// what it could do; then it says that it cannot continue.
const probing = `for f in $PRIVATE "$WORLD"/state/supervise/*/loops/*/settings.json; do
	grep -q . "$WORLD/${f#$WORLD/}" 2>/dev/null && echo "read ${f#$WORLD/}"
done >seen
cat ~/.gitconfig >/dev/null && echo "read .gitconfig" >>seen
cat "$SUPERVISE_PROMPT_FILE" >/dev/null && echo "read the prompt" >>seen
for port in $ALLOWED $OTHER; do
	bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null && echo "reached $port" >>seen
done
env | grep -q '^TOKEN_OF_MINE=\|^SSH_AUTH_SOCK=' && echo "has keys" >>seen
touch "$WORLD/beside" ~/.profile 2>/dev/null; touch "$TMPDIR/mine" && echo "wrote" >>seen
test -z "$HTTP_PROXY" || bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n" >&3; head -1 <&3 >/dev/null'
test -z "$HTTP_PROXY" || supervise blocked --reason "asked from the inside"
`

// TestSandboxedAgent runs an agent in a sandbox and, as a control, without one.
func TestSandboxedAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("loops like others: nothing new for the race detector")
	}
	if err := runner.CheckReadOnly(t.Context(), t.TempDir()); err != nil {
		t.Skipf("not tested here: %v", err)
	}
	t.Run("control", func(t *testing.T) {
		w := newSandboxWorld(t, 0)
		seen, _, code := w.probe()
		want := append(slices.Clone(private), "settings.json", ".gitconfig", "the prompt", w.allowed, w.other, "has keys", "wrote")
		if code != 0 || len(seen) != len(want) {
			t.Errorf("status %d: without a sandbox it did %q, want all of %q", code, seen, want)
		}
	})
	t.Run("as oneself", func(t *testing.T) { sandboxed(t, 0) })
	t.Run("as an ordinary user", func(t *testing.T) {
		const nobody = 65534
		if os.Geteuid() != 0 {
			t.Skip("it was run as one")
		}
		sandboxed(t, nobody)
	})
}

// sandboxed runs the agent as a user; 0 is the user of the test.
func sandboxed(t *testing.T, uid int) {
	t.Helper()
	w := newSandboxWorld(t, uid)
	seen, out, code := w.probe("--sandbox", "--json")
	if want := []string{"read .gitconfig", "read the prompt", "reached " + w.allowed, "wrote"}; !slices.Equal(seen, want) {
		t.Errorf("it did %q, want %q alone", seen, want)
	}
	for _, want := range []string{`"refused_hosts":["evil.test:80"]`, "asked from the inside"} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	for _, name := range []string{"beside", "home/.profile", "tmp/mine"} {
		if _, err := os.Lstat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("it wrote %s", name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "state/supervise/*/loops/*/tmp")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
	if code != 3 || t.Failed() {
		t.Errorf("status %d, want 3, since it is blocked:\n%s", code, out)
	}
}

type sandboxWorld struct {
	*world
	uid            int
	allowed, other string // ports
}

func newSandboxWorld(t *testing.T, uid int) *sandboxWorld {
	t.Helper()
	w := &sandboxWorld{world: newWorld(t), uid: uid, allowed: listening(t), other: listening(t)}
	for _, name := range private {
		w.write(name, "TestSecret() { :; }\n")
	}
	w.write("home/.gitconfig", "[user]\n\tname = t\n\temail = t@localhost\n")
	w.write("sandbox.yaml", "checks: {test: sh "+filepath.Join(w.dir, "check.sh")+"}\nprotect: {network: '127.0.0.1:"+w.allowed+"'}\n")
	w.write("proj/m_test.sh", "TestOne() { :; }\n")
	w.write("proj/probe", probing)
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	text, read := os.ReadFile(program)
	if err = errors.Join(err, read); err != nil {
		t.Fatal(err)
	}
	w.write("bin/supervise", string(text))
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	err = errors.Join(os.Chmod(filepath.Join(w.dir, "bin/supervise"), 0o755), os.Chmod(filepath.Dir(w.dir), 0o711))
	if uid != 0 {
		err = errors.Join(err, filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Lchown(path, uid, uid)) }))
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// listening is a port of this machine with a listener.
func listening(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// probe runs the agent, and returns what it could do and what supervise printed.
func (w *sandboxWorld) probe(flags ...string) (seen []string, out string, code int) {
	w.t.Helper()
	args := append([]string{"run", "--config", "../sandbox.yaml", "--hidden-tests", "../hidden", "--until", "never", "-m", "1"}, flags...)
	cmd := w.command(filepath.Join(w.dir, "bin/supervise"), append(args, "--no-apply", "--", "sh", "probe")...)
	in := func(name string) string { return filepath.Join(w.dir, name) }
	cmd.Env = append(cmd.Env, "HOME="+in("home"), "TMPDIR="+in("tmp"), "WORLD="+w.dir, "PRIVATE="+strings.Join(private, " "), "ALLOWED="+w.allowed, "OTHER="+w.other,
		"TOKEN_OF_MINE=0123456789", "SSH_AUTH_SOCK=/nowhere", "PATH="+in("bin")+":"+os.Getenv("PATH"))
	if w.uid != 0 {
		id := uint32(w.uid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	printed, err := cmd.CombinedOutput()
	if exit := cmd.ProcessState; exit == nil {
		w.t.Fatal(err)
	}
	text, err := os.ReadFile(in("proj/seen"))
	if err != nil {
		w.t.Errorf("the agent has not run: %v\n%s", err, printed)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), string(printed), cmd.ProcessState.ExitCode()
}
