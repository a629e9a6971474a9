package gitstate_test

import (
	"fmt"
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
			if !gitstate.HaveSameEntries(before, after) {
				t.Error("other times make another index")
			}
			if gitstate.HaveSameEntries(before, after[:len(after)/2]) {
				t.Error("an index that is cut is the same")
			}
			git("add", "abc")
			if gitstate.HaveSameEntries(before, index()) {
				t.Error("a file that is staged makes no other index")
			}
		})
	}
}

// In a repository of SHA-256 the parts of an entry have other offsets: what is staged there may not be overlooked.
func TestIndexOfSHA256IsNotTakenForAnother(t *testing.T) {
	dir := t.TempDir()
	stage := func(text string) []byte {
		if err := os.WriteFile(filepath.Join(dir, "zz"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "-C", dir, "add", ".")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git add: %v: %s", err, out)
		}
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if out, err := exec.Command("git", "init", "-q", "--object-format=sha256", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%03d", i)), []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	same := 0
	before := stage("text")
	for i := range 20 {
		now := stage(strings.Repeat("x", i))
		if gitstate.HaveSameEntries(before, now) {
			same++
		}
		before = now
	}
	if same > 0 {
		t.Errorf("%d of 20 changes that are staged are overlooked", same)
	}
}
