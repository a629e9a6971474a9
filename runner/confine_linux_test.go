package runner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/runner"
)

// TestConfined lets a child, and what it starts, write inside and outside of what
// it may write.
func TestConfined(t *testing.T) {
	if err := runner.CheckLandlock(); err != nil {
		t.Skipf("not tested here: %v", err)
	}
	in, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "kept"), []byte("as it was\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `echo inside >"$IN/a" && mkdir "$IN/b" && mv "$IN/a" "$IN/b/a" && echo wrote
echo x >"$OUT/new" || echo refused new
(echo x >>"$OUT/kept") || echo refused kept
rm "$OUT/kept" || echo refused rm
mv "$IN/b/a" "$OUT/a" || echo refused mv
sh -c 'echo x >"$OUT/by-a-child"' || echo refused child
cat "$OUT/kept" && echo >/dev/null && echo end`
	for _, noCgroup := range []bool{true, false} {
		var printed bytes.Buffer
		res, err := runner.Run(t.Context(), runner.Command{
			Args: []string{"/bin/sh", "-c", script}, Dir: in, Env: append(os.Environ(), "IN="+in, "OUT="+out),
			Stdout: &printed, NoCgroup: noCgroup, Writable: []string{in, "/dev", filepath.Join(out, "never")},
		})
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("status %d, %v: %s", res.ExitCode, err, printed.String())
		}
		const want = "wrote refused new refused kept refused rm refused mv refused child as it was end"
		if got := strings.Join(strings.Fields(printed.String()), " "); !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if err := os.RemoveAll(filepath.Join(in, "b")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v, want what was there", entries, err)
	}
}
