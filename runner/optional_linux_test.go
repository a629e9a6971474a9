package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"supervise/runner"
)

// withoutPty runs a child whose terminal may be missing, and then one that needs
// it, and prints what came of both.
func withoutPty([]string) int {
	for _, optional := range []bool{true, false} {
		var out bytes.Buffer
		res, err := runner.Run(context.Background(), runner.Command{
			Args: []string{"/bin/sh", "-c", "test -t 1 || echo none; echo error >&2"}, Terminal: &runner.Terminal{Optional: optional}, Stdout: &out,
		})
		fmt.Printf("%q cause=%v no-terminal=%v error=%v\n", out.String(), res.Cause, res.NoTerminal, err)
	}
	return 0
}

// TestNoTerminalToGive hides the pseudo-terminals of the system in a mount
// namespace.
func TestNoTerminalToGive(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to hide /dev/pts")
	}
	if out, err := exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev/pts").CombinedOutput(); err != nil {
		t.Skipf("needs a mount namespace: %v: %s", err, out)
	}
	argv := append([]string{"-m", "sh", "-c", `mount -t tmpfs none /dev/pts && exec "$@"`, "sh"}, self("without-pty")...)
	out, err := exec.Command("unshare", argv...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	if !strings.HasPrefix(lines[0], `"none\nerror\n" cause=exited no-terminal=open pseudo-terminal: `) || !strings.HasSuffix(lines[0], "error=<nil>") {
		t.Errorf("optional: %s", lines[0])
	}
	if !strings.HasPrefix(lines[1], `"" cause=not_started no-terminal=<nil> error=start /bin/sh: open pseudo-terminal: `) {
		t.Errorf("needed: %s", lines[1])
	}
}
