package gitstate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/snapshot/internal/gitstate"
)

// Two index files are the same if only times differ, in every version of the format; not if anything else is staged.
func TestSameIndex(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) {
				cmd := exec.Command("git", append([]string{"-C", dir, "-c", "index.version=" + version}, args...)...)
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			index := func() []byte {
				data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			git("init", "-q")
			for _, name := range []string{"a", "ab", "abc", strings.Repeat("long", 50)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git("add", "a", "ab", strings.Repeat("long", 50))
			git("update-index", "--index-version", version)
			if version == "3" {
				git("add", "--intent-to-add", "abc")
			}
			before := index()
			if err := os.Chtimes(filepath.Join(dir, "ab"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			git("update-index", "-q", "--refresh")
			after := index()
			if string(before) == string(after) || before[7] != version[0]-'0' {
				t.Fatalf("git has written version %d, or nothing", before[7])
			}
			if !gitstate.SameIndex(before, after) {
				t.Error("other times make another index")
			}
			if gitstate.SameIndex(before, after[:len(after)/2]) {
				t.Error("an index that is cut is the same")
			}
			git("add", "abc")
			if gitstate.SameIndex(before, index()) {
				t.Error("a file that is staged makes no other index")
			}
		})
	}
}
