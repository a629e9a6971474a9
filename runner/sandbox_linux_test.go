package runner_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/runner"

	"golang.org/x/sys/unix"
)

// prober tries what a sandbox is to prevent, and prints what it could do.
func prober(args []string) int {
	dir, addr, other := args[0], args[1], args[2]
	in := func(name string) string { return filepath.Join(dir, name) }
	say := func(what string, err error) { fmt.Println(what, err == nil) }
	for _, name := range []string{"covered/key", "covered/shown/text", "closed", "open/text", "home/copied", "elsewhere/text", "home/link"} {
		_, err := os.ReadFile(in(name))
		say("read "+name, err)
	}
	for _, name := range []string{"covered/new", "covered/shown/text", "open/text", "home/copied", "elsewhere/text", "private/new", "/dev/shm/supervise-test"} {
		if !filepath.IsAbs(name) {
			name = in(name)
		}
		say("write "+strings.TrimPrefix(name, dir+"/"), os.WriteFile(name, []byte("changed\n"), 0o600))
	}
	err := unix.Unmount(in("covered"), unix.MNT_DETACH)
	say("umount", err)
	for _, pid := range []string{args[3], fmt.Sprint(os.Getppid())} {
		_, err = os.ReadFile(filepath.Join("/proc", pid, "root", in("covered/key")))
		say("by another process", err)
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	say("a terminal", err)
	_ = tty.Close()
	_, err = os.Stat("/dev/null")
	say("null", err)
	for _, a := range []string{addr, other} {
		c, err := net.Dial("tcp", a)
		say("direct", err)
		if err == nil {
			_ = c.Close()
		}
	}
	for _, url := range []string{"http://a.test:" + port(addr), "http://b.test:" + port(addr)} {
		res, err := http.Get(url)
		var text []byte
		if err == nil {
			text, _ = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		fmt.Println("proxy", url[:13], err == nil && res.StatusCode == http.StatusOK, string(text))
	}
	return 0
}

func port(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

// TestSandbox lets a child try what its sandbox has to prevent, as the user of the test.
func TestSandbox(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"covered/key", "covered/shown/text", "closed", "open/text", "home/copied", "elsewhere/text", "spare/x"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte("as it was\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	serve := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	addr, other := serve(), serve()
	box := runner.Sandbox{
		Mounts: []runner.Mount{
			{Path: in("covered")},
			{Path: in("covered/shown"), From: in("covered/shown")},
			{Path: in("closed"), From: "/dev/null"},
			{Path: in("open"), From: in("open"), Write: true},
			{Path: in("home"), Write: true},
			{Path: in("home/copied"), From: in("home/copied"), Copy: true},
			{Path: in("home/link"), From: in("open/text"), Link: true},
			{Path: in("private"), From: in("spare"), Write: true},
			{Path: in("never"), From: in("never"), Write: true},
		},
		Network: &runner.Network{Hosts: []string{addr, "gone.test:1"}},
	}
	if err := os.Mkdir(in("private"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := runner.CheckReadOnly(t.Context(), dir); err != nil {
		t.Skipf("not tested here: %v", err)
	}
	if err := runner.CheckSandbox(t.Context(), box); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	res, err := runner.Run(t.Context(), runner.Command{
		Args: self("probe", dir, addr, other, fmt.Sprint(os.Getpid())), Dir: in("open"), Env: append(os.Environ(), box.Network.Environ()...), Stdout: &printed, Stderr: &printed, Sandbox: &box,
	})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("status %d, %v: %s", res.ExitCode, err, printed.String())
	}
	want := `read covered/key false
read covered/shown/text true
read closed true
read open/text true
read home/copied true
read elsewhere/text true
read home/link true
write covered/new false
write covered/shown/text false
write open/text true
write home/copied true
write elsewhere/text false
write private/new true
write /dev/shm/supervise-test true
umount false
by another process false
by another process false
a terminal true
null true
direct true
direct false
`
	got, proxied, _ := strings.Cut(printed.String(), "proxy ")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if strings.Contains(proxied, "true") {
		t.Errorf("the proxy let through what it should not: %s", proxied)
	}
	if want := []string{"a.test:" + port(addr), "b.test:" + port(addr)}; !slices.Equal(res.RefusedHosts, want) {
		t.Errorf("refused %q, want %q", res.RefusedHosts, want)
	}
	for name, want := range map[string]string{"open/text": "changed\n", "home/copied": "as it was\n", "spare/new": "changed\n", "elsewhere/text": "as it was\n"} {
		if text, err := os.ReadFile(in(name)); err != nil || string(text) != want {
			t.Errorf("%s is %q afterwards, %v, want %q", name, text, err, want)
		}
	}
}

// As an ordinary user the same needs a user namespace.
func TestSandboxOfOrdinaryUser(t *testing.T) { asNobody(t, "TestSandbox") }

// asNobody runs a test of this program again as an ordinary user, where root runs it.
func asNobody(t *testing.T, name string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip(name + " has run as an ordinary user")
	}
	dir, err := os.MkdirTemp("/tmp", "ordinary") // below a folder that the user may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const nobody = 65534
	program := filepath.Join(dir, "runner.test") // the user may not enter the folder of the other
	text, err := os.ReadFile("/proc/self/exe")
	if err = errors.Join(err, os.Chown(dir, nobody, nobody)); err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	res, err := runner.Run(t.Context(), runner.Command{
		Args: []string{program, "-test.run=^" + name + "$", "-test.v"}, Dir: "/", Env: append(os.Environ(), "TMPDIR="+dir), Stdout: &out, Stderr: &out,
		User: &runner.User{UID: nobody, GID: nobody},
	})
	switch {
	case err != nil || res.ExitCode != 0:
		t.Errorf("status %d, %v: %s", res.ExitCode, err, out.String())
	case strings.Contains(out.String(), "--- SKIP"):
		t.Skipf("not tested here: %s", out.String())
	case !strings.Contains(out.String(), "--- PASS"):
		t.Errorf("it was not run: %s", out.String())
	}
}
