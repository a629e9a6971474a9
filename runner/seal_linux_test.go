package runner_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"supervise/runner"
)

// TestReadOnly lets a child, and what it starts, try to change a folder that it may
// only read, and others, as the user of the test.
func TestReadOnly(t *testing.T) {
	kept, open := t.TempDir(), t.TempDir()
	for _, dir := range []string{kept, open, filepath.Dir(kept), filepath.Dir(open)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := runner.CheckReadOnly(t.Context(), kept); err != nil {
		t.Skipf("not tested here: %v", err)
	}
	if err := os.WriteFile(filepath.Join(kept, "kept"), []byte("as it was\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	script := `echo x >"$OUT/a" && mkdir "$OUT/b" && mv "$OUT/a" "$OUT/b/a" && echo wrote
echo x >"$IN/new" || echo refused new
(echo x >>"$IN/kept") || echo refused kept
rm "$IN/kept" || echo refused rm
chmod 000 "$IN/kept" || echo refused chmod
mv "$IN" "$IN.away" || echo refused mv
sh -c 'echo x >"$IN/by-a-child"' || echo refused child
ln "$IN/kept" "$OUT/link" || echo refused link
[ "$(id -u)" = 0 ] || umount "$IN" || echo refused umount
[ "$(id -u)" = 0 ] || unshare -Urm umount "$IN" || echo refused umount
cat "$IN/kept" && echo end`
	var printed bytes.Buffer
	res, err := runner.Run(t.Context(), runner.Command{
		Args: []string{"/bin/sh", "-c", script}, Dir: open, Env: append(os.Environ(), "IN="+kept, "OUT="+open),
		Stdout: &printed, ReadOnly: []string{kept, filepath.Join(kept, "never")},
	})
	want := "wrote refused new refused kept refused rm refused chmod refused mv refused child refused link "
	if os.Geteuid() != 0 {
		want += "refused umount refused umount "
	}
	want += "as it was end"
	if got := strings.Join(strings.Fields(printed.String()), " "); err != nil || res.ExitCode != 0 || got != want {
		t.Errorf("status %d, %v: got %q, want %q", res.ExitCode, err, got, want)
	}
	if entries, err := os.ReadDir(kept); err != nil || len(entries) != 1 {
		t.Errorf("there is %v, %v, want what was there", entries, err)
	}
	if err := os.WriteFile(filepath.Join(kept, "kept"), []byte("ours\n"), 0o666); err != nil {
		t.Errorf("supervise itself cannot write any more: %v", err)
	}
}

// As an ordinary user the same needs a user namespace. Root runs the test above again as
// one.
func TestReadOnlyOfOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestReadOnly has run as an ordinary user")
	}
	dir, err := os.MkdirTemp("/tmp", "ordinary") // below a folder that the user may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestReadOnly$", "-test.v")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("%v: %s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("not tested here: %s", out)
	case !strings.Contains(string(out), "--- PASS"):
		t.Errorf("it was not run: %s", out)
	}
}
