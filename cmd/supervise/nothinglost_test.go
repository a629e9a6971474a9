package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every iteration is rejected, whatever the agent does to the tree and to git;
// afterwards the user's staged, unstaged, untracked and ignored work, the index,
// the stash and the branches are byte for byte what they were.
func TestAllRejectedNothingLost(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("looks at the tree afterwards; the loop is that of the scripts")
	}
	w := newWorld(t)
	userTree(t, w)
	// The two tests alternate: the same finding three times would end the loop.
	const deleted, other = "TestOne() { :; }\n", "TestTwo() { test \"$(One)\" = 1; }\n"
	steps := map[string]string{
		"1/m_test.sh": deleted,
		"3/_sh":       "echo agent > staged.txt; echo agent > unstaged.txt; mv untracked.txt moved.txt; echo new > created.txt; chmod 600 m.sh",
		"2/m_test.sh": other,
		"2/_sh":       "git add -A; git commit -qm agent; git checkout -qb agent-branch; git stash clear; git tag agent; rm .gitignore",
		"3/m_test.sh": deleted,
		"1/_sh":       "git reset -q --hard HEAD; git clean -fdq; git branch -q other; git config core.hooksPath /tmp/hooks; git reflog expire --expire=now --all; git gc -q --prune=now",
		"4/m_test.sh": other,
		"4/_sh":       "rm -rf .git untracked.txt staged.txt deep; ln -s /etc deep; printf 'ignored/\\n*.txt\\n' > .gitignore",
	}
	for name, text := range steps {
		w.write("steps/"+name, text)
	}
	before := w.picture()
	out, code := w.supervise("run", "--max-iterations", "4", "--max-retries", "4", "--", "agent")
	if code != 4 {
		t.Errorf("exit status %d, want 4: no iteration is acceptable\n%s", code, out)
	}
	if n := strings.Count(out, "→ rolled back"); n != 4 {
		t.Errorf("%d iterations were rolled back, want 4\n%s", n, out)
	}
	w.unchanged(before)
}

// userTree is a project with work of every kind under way.
func userTree(t *testing.T, w *world) {
	t.Helper()
	for name, text := range map[string]string{
		".supervise.yaml": shellPlan, "m.sh": "One() { echo 1; }\n",
		"m_test.sh":  "TestOne() { :; }\nTestTwo() { test \"$(One)\" = 1; }\n",
		".gitignore": "ignored/\n*.log\n", "staged.txt": "one\n", "unstaged.txt": "one\r\n", "gone.txt": "bye\n",
		"deep/er/file.txt": "deep\n",
	} {
		w.write("proj/"+name, text)
	}
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	w.write("proj/unstaged.txt", "stashed\n")
	w.git("stash", "push", "-q", "-m", "the user's own")
	w.git("branch", "feature")
	w.write("proj/staged.txt", "two\n")
	w.git("add", "staged.txt")
	w.write("proj/staged.txt", "three\n")
	w.write("proj/unstaged.txt", "two\r\n")
	w.git("rm", "-q", "--cached", "gone.txt")
	w.write("proj/untracked.txt", "mine\n")
	w.write("proj/ignored/cache.bin", "\x00\x01\x02")
	w.write("proj/x.log", "log\n")
	w.write("proj/script.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(w.root, "script.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("m.sh", filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
}
