//go:build linux || darwin

package snapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// insideEnv names the test that is to run in this process because it needs another kind of process.
const insideEnv = "SNAPSHOT_TEST_INSIDE"

// unprivileged is a user without any rights, on all systems that we know.
const unprivileged = 65534

// asNobody reports whether this process is without the rights of root. If not, it runs the test again in one that is.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "nobody")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o700))
	must(t, os.Chown(dir, unprivileged, unprivileged))
	again(t, dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}})
	return false
}

// again runs the current test in a separate process and adopts its result.
func again(t *testing.T, dir string, attr *syscall.SysProcAttr) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	if attr.Credential != nil { // which may not enter the folder of the program
		copied := filepath.Join(dir, "test")
		data, err := os.ReadFile(exe)
		must(t, err)
		must(t, os.WriteFile(copied, data, 0o755)) //nolint:gosec // it has to be executable by others
		exe = copied
	}
	cmd := exec.Command(exe, "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	cmd.Dir, cmd.SysProcAttr = dir, attr
	cmd.Env = append(os.Environ(), insideEnv+"="+t.Name(), "TMPDIR="+dir, "HOME="+filepath.Join(dir, "home"))
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && cmd.ProcessState == nil:
		t.Skipf("this system does not let the test start such a process: %v", err)
	case err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) && !strings.Contains(string(out), "--- SKIP: "):
		t.Errorf("in a process of its own: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("in a process of its own:\n%s", out)
	}
}
