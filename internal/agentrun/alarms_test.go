package agentrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"supervise/snapshot"
)

// The tree in which an agent begins: two files of tests, and what they test.
var alarmTree = map[string]string{
	"calc.go":          "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n",
	"add_test.go":      "package calc\n\nimport \"testing\"\n\n" + addTest,
	"sub_test.go":      "package calc\n\nimport \"testing\"\n\n" + subTest,
	"more/add_test.go": "package more\n\nimport \"testing\"\n\n" + addTest,
	"other_test.go":    "package calc\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {\n\tfor range 3 {\n\t\tt.Log(Add(0, 0))\n\t}\n}\n",
}

const (
	addTest = "func TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Errorf(\"Add(2, 3) = %d\", got)\n\t}\n}\n"
	subTest = "func TestSub(t *testing.T) {\n\tfor _, c := range [][3]int{{5, 3, 2}, {1, 1, 0}} {\n\t\tif Sub(c[0], c[1]) != c[2] {\n\t\t\tt.Fatal(c)\n\t\t}\n\t}\n}\n"
)

// alarmSetup makes of the tree a repository, in which another branch has both files
// of tests as one.
const alarmSetup = `git init -q -b main
git add . && git commit -qm start
git checkout -qb merged
{ cat add_test.go; sed 1,4d sub_test.go; } >all_test.go
git rm -q add_test.go sub_test.go
git add . && git commit -qm 'tests are one file'
git checkout -q main
git branch empty $(git commit-tree -m empty $(git mktree </dev/null))
`

// TestAlarmsNameTheTestsThatAreGone looks at the tree after each step of what an agent does, as the
// watcher makes the loop do. A step that ends with "later" in want is one of which
// nothing is known yet.
func TestAlarmsNameTheTestsThatAreGone(t *testing.T) {
	t.Parallel()
	type step struct {
		sh   string
		want []string // test files; "later"; nil for nothing
	}
	template := newAlarmWorld(t)
	template.write(alarmTree)
	template.sh(alarmSetup)
	both, later := []string{"add_test.go", "sub_test.go"}, []string{"later"}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"deleted", []step{{`rm add_test.go`, both[:1]}, {`rm sub_test.go`, both[1:]}, {`:`, nil}}},
		{"deleted without git", []step{{`rm -r .git; rm add_test.go`, both[:1]}}},
		{"deleted by git", []step{{`git rm -q add_test.go`, later}, {`:`, both[:1]}}},
		{"deleted after a commit", []step{{`echo >>calc.go; git commit -qam calc`, nil}, {`rm add_test.go`, both[:1]}}},
		{"deleted after a stash", []step{{`echo >>calc.go; git stash -q`, nil}, {`rm add_test.go`, both[:1]}}},
		{"untracked, and deleted after a commit", []step{{`echo >>calc.go; git commit -qam calc`, nil}, {`rm new_test.go`, []string{"new_test.go"}}}},
		{"untracked, committed, and on another branch", []step{{`git add .; git commit -qm all; git checkout -q empty`, nil}}},
		{"untracked, committed, and taken back", []step{{`git add .; git commit -qm all; git reset -q --hard HEAD~1`, later}, {`:`, []string{"new_test.go"}}}},
		{"packed", []step{{`git pack-refs --all --prune; rm add_test.go`, both[:1]}, {`git checkout -q empty`, nil}}},
		{"deleted in a linked tree", []step{{`mv .git ../git && git -C ../git worktree add -q --no-checkout ../linked && mv ../linked/.git . && git reset -q`, nil}, {`echo >>calc.go; git commit -qam calc; rm add_test.go`, both[:1]}}},
		{"deleted on another branch", []step{{`git checkout -q merged`, nil}, {`git checkout -q main; rm sub_test.go`, both[1:]}}},
		{"deleted where git was ended", []step{{`touch .git/index.lock; rm sub_test.go`, later}, {`rm .git/index.lock`, both[1:]}}},
		{"another branch", []step{{`git checkout -q empty`, nil}, {`git checkout -q main`, nil}}},
		{"a branch begun anew", []step{{`git checkout -q --orphan new; git rm -qrf .`, nil}, {`git checkout -qf main`, nil}}},
		{"stashed", []step{{`rm add_test.go; git stash -q`, nil}, {`git reset -q --hard empty`, nil}, {`git reset -q --hard main@{1}`, nil}}},
		{"stashed with all", []step{{`git mv add_test.go plus_test.go; git stash -qu`, nil}, {`git stash pop -q`, nil}}},
		{"rebased onto merged files", []step{
			{`echo >>calc.go; git commit -qam calc`, nil},
			{`! git rebase -q -x false merged 2>/dev/null; ! test -e add_test.go`, later},
			{`:`, later},
			{`git rebase --continue >/dev/null; ! test -e add_test.go`, nil},
		}},
		{"a rebase given up", []step{
			{`echo >>calc.go; git commit -qam calc; ! git rebase -q -x false merged 2>/dev/null`, later},
			{`git rebase --abort`, nil},
			{`rm add_test.go`, both[:1]},
		}},
		{"a rebase with conflicts", []step{
			{`echo // more >>add_test.go; git commit -qam more; ! git rebase -q merged >/dev/null 2>&1`, later},
			{`git rm -q add_test.go`, later},
			{`GIT_EDITOR=true git rebase --skip >/dev/null 2>&1; ! test -e add_test.go`, nil},
		}},
		{"merged branches", []step{
			{`echo >>calc.go; git commit -qam calc; git merge -q --no-ff --no-commit merged >/dev/null`, later},
			{`git commit -qm both; ! test -e add_test.go`, nil},
		}},
		{"cherry-picked", []step{{`git cherry-pick merged >/dev/null; ! test -e add_test.go`, nil}}},
		{"looked for by bisecting", []step{
			{`git bisect start >/dev/null; git checkout -q empty`, later},
			{`git bisect reset >/dev/null 2>&1`, nil},
		}},
		{"moved and renamed", []step{
			{`mkdir sub; mv sub_test.go sub/`, nil},
			{`mv add_test.go plus_test.go`, nil},
			{`git mv plus_test.go add_more_test.go 2>/dev/null || mv plus_test.go add_more_test.go`, nil},
		}},
		{"merged by hand", []step{
			{`{ cat add_test.go; sed 1,4d sub_test.go; } >all_test.go`, nil},
			{`rm add_test.go sub_test.go`, nil},
			{`git add -A`, nil},
		}},
		{"merged into one that was there", []step{{`sed 1,4d add_test.go >>other_test.go; git rm -qf add_test.go`, nil}}},
		{"merged under other names", []step{
			{`{ cat add_test.go; sed 1,4d sub_test.go; } | sed 's/TestAdd/TestCalc_Add/; s/TestSub/TestCalc_Sub/' >all_test.go; rm add_test.go sub_test.go`, nil},
		}},
		{"merged without one", []step{{`cp add_test.go all_test.go; rm add_test.go sub_test.go`, both[1:]}}},
		{"merged without its tests", []step{{`echo 'func TestAdded(t *testing.T) {}' >>other_test.go; rm add_test.go`, both[:1]}}},
		{"another of the same name was there", []step{{`echo >>more/add_test.go; rm add_test.go`, both[:1]}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := copiedWorld(t, template.root)
			for _, s := range c.steps {
				a.sh(s.sh)
				alarm, again := a.findAlarm(t.Context())
				got := alarm.MissingTests
				if again {
					got = append(got, "later")
				}
				if !slices.Equal(got, s.want) {
					t.Errorf("after %s: %q, want %q", s.sh, got, s.want)
				}
			}
		})
	}
}

// A tree that shrinks raises one alarm, also where no test is gone; a few files raise
// none.
func TestAlarmsReportAShrinkingTreeOnce(t *testing.T) {
	t.Parallel()
	w := newAlarmWorld(t)
	w.write(alarmTree)
	for i := range 60 {
		w.write(map[string]string{fmt.Sprintf("docs/%d.md", i): fmt.Sprintln("page", i)})
	}
	w.begin()
	for _, step := range []struct {
		sh   string
		gone int
	}{
		{"rm docs/1.md docs/2.md", 0},
		{"rm docs/[3-4]*.md", 24},
		{"rm docs/50.md", 0},
		{"mv docs pages", 0},
		{"rm -r pages", 60},
	} {
		w.sh(step.sh)
		alarm, again := w.findAlarm(t.Context())
		if again || len(alarm.MissingTests) > 0 {
			t.Errorf("%s: %+v, again %v", step.sh, alarm, again)
		}
		if alarm.MissingFiles != step.gone {
			t.Errorf("%s: %d files are gone, want %d", step.sh, alarm.MissingFiles, step.gone)
		}
	}
}

// alarmWorld is what looks at a repository.
type alarmWorld struct {
	*treeAlarms
	t    *testing.T
	root string
}

func newAlarmWorld(t *testing.T) *alarmWorld {
	t.Helper()
	return &alarmWorld{t: t, root: filepath.Join(t.TempDir(), "tree")}
}

// copiedWorld is a copy of what alarmSetup made in template.
func copiedWorld(t *testing.T, template string) *alarmWorld {
	t.Helper()
	w := newAlarmWorld(t)
	w.write(map[string]string{"new_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { t.Skip(\"not yet\") }\n"})
	if err := os.CopyFS(w.root, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	w.begin()
	w.sh("git update-index -q --refresh")
	return w
}

func (w *alarmWorld) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		full := filepath.Join(w.root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// begin has the tree watched from now on.
func (w *alarmWorld) begin() {
	w.t.Helper()
	store, err := snapshot.Open(w.t.Context(), w.root, filepath.Join(w.t.TempDir(), "store"), snapshot.Options{MinFree: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = store.Close() })
	info, err := store.Take(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	r := &run{Agent: New(Options{Setup: Setup{Root: w.root}, Store: store}), task: Task{Start: info.ID}}
	w.treeAlarms = r.newAlarms()
	if err := w.readStartFiles(); err != nil {
		w.t.Fatal(err)
	}
}

// sh is what the agent does; each part of it has to succeed.
func (w *alarmWorld) sh(script string) {
	w.t.Helper()
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-ec", script)
	cmd.Dir = w.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost", "HOME="+filepath.Dir(w.root))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}
