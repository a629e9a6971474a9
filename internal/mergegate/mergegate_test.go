package mergegate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/metric"
)

// world is a repository.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) world {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "t")
		t.Setenv("GIT_"+who+"_EMAIL", "t@localhost")
	}
	w := world{t, t.TempDir()}
	w.git("init", "-q", "-b", "main")
	return w
}

func (w world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit and returns its name.
func (w world) commit(name string) string {
	w.t.Helper()
	w.git("commit", "-q", "--allow-empty", "-m", name)
	return w.git("rev-parse", "HEAD")
}

func (w world) gate(base string, env ...string) *mergeGate {
	return &mergeGate{Options: Options{Root: w.dir, Base: base, Env: env}, repo: repo{dir: w.dir}}
}

func TestBaseIsWhereHeadLeftTheTarget(t *testing.T) {
	w := newWorld(t)
	one := w.commit("one")
	if _, _, err := w.gate("").baseCommit(t.Context()); !errors.Is(err, ErrBase) {
		t.Errorf("a single commit: %v, want ErrBase", err)
	}
	w.git("switch", "-qc", "topic")
	topic := w.commit("topic")
	w.git("switch", "-q", "main")
	two := w.commit("two")
	w.git("switch", "-q", "--detach")
	w.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
	merge := w.git("rev-parse", "HEAD")
	w.git("switch", "-q", "--detach", "topic")
	w.git("merge", "-q", "--no-ff", "-m", "merge", "main")
	update := w.git("rev-parse", "HEAD")
	for _, tt := range []struct {
		name, at, base string
		env            string
		want           string
	}{
		{"a merge", merge, "", "", two},
		{"a merge, and the target of its request", merge, "", "GITHUB_BASE_REF=main", two},
		{"a merge of the main branch into the change", update, "", "", two},
		{"a merge of another target into the change", merge, "", "GITHUB_BASE_REF=topic", topic},
		{"a named base that HEAD merges into", merge, "main", "", two},
		{"a branch", "topic", "", "", one},
		{"a branch and the target of its request", "topic", "", "GITHUB_BASE_REF=main", one},
		{"a commit of the service", "topic", "", "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + two, two},
		{"a named branch", "topic", "main", "", one},
		{"a push to the main branch", "main", "", "", one},
		{"a named commit", "main", topic, "", one},
	} {
		w.git("switch", "-q", "--detach", tt.at)
		got, why, err := w.gate(tt.base, tt.env).baseCommit(t.Context())
		if err != nil || got != tt.want || why == "" {
			t.Errorf("%s: %s (%s), %v, want %s", tt.name, shortID(got), why, err, shortID(tt.want))
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.git("switch", "-q", "main")
	if got, _, err := w.gate("").baseCommit(t.Context()); err != nil || got != two {
		t.Errorf("uncommitted work: %s, %v, want HEAD", shortID(got), err)
	}
	w.git("switch", "-q", "--orphan", "other")
	w.commit("other")
	if _, _, err := w.gate("main").baseCommit(t.Context()); !errors.Is(err, ErrBase) {
		t.Errorf("unrelated histories: %v, want ErrBase", err)
	}
}

// The change cannot move its base: a remote-tracking branch is compared with the remote.
func TestMovedTrackingBranchIsNoBase(t *testing.T) {
	w := newWorld(t)
	one := w.commit("one")
	clone := world{t, filepath.Join(t.TempDir(), "clone")}
	w.git("clone", "-q", "file://"+w.dir, clone.dir)
	clone.git("switch", "-qc", "topic")
	two := clone.commit("two")
	clone.commit("three")
	gate := func(base, remote string) (string, string, []string) {
		g := clone.gate(base)
		g.Remote, g.repo.remote = remote, remote
		got, why, err := g.baseCommit(t.Context())
		if err != nil {
			t.Error(err)
		}
		return got, why, g.notes
	}
	if got, why, notes := gate("", "origin"); got != one || why != "the common ancestor with origin/HEAD" || len(notes) > 0 {
		t.Errorf("not moved: %s, %s, %q", shortID(got), why, notes)
	}
	clone.git("update-ref", "refs/remotes/origin/main", two)
	for _, base := range []string{"", "origin/main", "main"} {
		if base == "main" {
			clone.git("branch", "-qD", "main")
		}
		got, why, notes := gate(base, "origin")
		if got != one || len(notes) != 1 || !strings.Contains(notes[0], " was moved: it is at "+shortID(two)) {
			t.Errorf("moved, --base %q: %s, %s, %q", base, shortID(got), why, notes)
		}
	}
	if got, why, _ := gate("", ""); got != two || !strings.HasSuffix(why, " as this clone has it") {
		t.Errorf("offline: %s, %s", shortID(got), why)
	}
	w.commit("newer") // at the remote only
	if got, why, notes := gate("origin/main", "origin"); got != one || len(notes) != 1 {
		t.Errorf("fetched: %s, %s, %q", shortID(got), why, notes)
	}
}

func TestShallowCloneNamesTheRemedy(t *testing.T) {
	w := newWorld(t)
	w.commit("one")
	w.git("switch", "-qc", "topic")
	w.commit("topic")
	w.git("switch", "-q", "main")
	w.commit("two")
	clone := world{t, filepath.Join(t.TempDir(), "clone")}
	w.git("clone", "-q", "--depth=1", "--no-single-branch", "file://"+w.dir, clone.dir)
	clone.git("switch", "-q", "topic")
	_, _, err := clone.gate("main").baseCommit(t.Context())
	if !errors.Is(err, ErrBase) || !strings.Contains(err.Error(), "fetch-depth: 0") {
		t.Errorf("%v, want the remedy", err)
	}
}

func TestRecordsAreFoundByCommit(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "a_test.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.git("add", ".")
	one := w.commit("one")
	two := w.commit("two")
	set := metric.Set{Tests: &metric.Tests{Cases: []metric.Test{{ID: metric.ID{Name: "A"}, Status: metric.Passed}}}}
	rec := Record{Version: recordVersion, Commit: one, MeasuredAt: time.Unix(1000, 0), Set: set}
	r := repo{dir: w.dir}
	if err := rec.Store(t.Context(), w.dir, ""); err != nil {
		t.Fatal(err)
	}
	got, at, distance, err := r.nearestRecord(t.Context(), two)
	if err != nil || at != one || distance != 1 || got.Set.Tests.Counts().Passed != 1 {
		t.Fatalf("%+v of %s, %d away, %v", got, shortID(at), distance, err)
	}
	if tree, err := r.treeID(t.Context(), RecordRef(one)+":"+treeName); err != nil || tree != w.git("rev-parse", one+"^{tree}") {
		t.Errorf("the record brings the tree %s, %v", tree, err)
	}
	again := w.git("rev-parse", RecordRef(one))
	if err := rec.Store(t.Context(), w.dir, ""); err != nil || w.git("rev-parse", RecordRef(one)) != again {
		t.Errorf("the same record is another object: %v", err)
	}
	for name, text := range map[string]string{
		"of another version": `{"version": 1, "measured": {"tests": {"cases": []}}}`,
		"without tests":      `{"version": 2, "measured": {}}`,
		"not JSON":           `tests: 3`,
	} {
		path := filepath.Join(t.TempDir(), "record.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRecord(path); !errors.Is(err, ErrBase) || !strings.Contains(err.Error(), path) {
			t.Errorf("a record %s: %v", name, err)
		}
	}
	if gone, err := Prune(t.Context(), w.dir, "", 1, []string{"main"}); err != nil || !slices.Equal(gone, []string{one}) {
		t.Errorf("pruned %v, %v, want %s", gone, err, shortID(one))
	}
	if rec, _, _, err := r.nearestRecord(t.Context(), two); rec != nil || err != nil {
		t.Errorf("%+v, %v, want none", rec, err)
	}
}

func TestRatchetOnlyTightens(t *testing.T) {
	set := metric.Set{
		Tests:    &metric.Tests{Cases: []metric.Test{{ID: metric.ID{Name: "A"}, Status: metric.Passed}, {ID: metric.ID{Name: "B"}, Status: metric.Failed}}},
		Coverage: &metric.Coverage{Covered: 2, Total: 3},
	}
	kept := Ratchet{metric.TestCount: 2, metric.CoveragePct: 66.7, metric.TestsFailed: 1}
	if got := kept.Violations(set); len(got) != 0 {
		t.Errorf("%v violated", got)
	}
	broken := Ratchet{metric.TestsPassed: 2, metric.TestsFailed: 0, metric.CoveragePct: 66.8, metric.ErrorCount: 0}
	var texts []string
	for _, s := range broken.Violations(set) {
		texts = append(texts, s.String())
	}
	want := []string{
		"tests_passed is 1, beyond the limit 2", "coverage_percentage is 66.67, beyond the limit 66.8",
		"tests_failed is 1, beyond the limit 0", "error_count is not measured, and has the limit 0",
	}
	if !slices.Equal(texts, want) {
		t.Errorf("got  %q\nwant %q", texts, want)
	}
	tight := Ratchet{metric.TestCount: 5, metric.TestsFailed: 3}.Tighten(set)
	if tight[metric.TestCount] != 5 || tight[metric.TestsFailed] != 1 || tight[metric.CoveragePct] != 66.6 {
		t.Errorf("tightened: %v", tight)
	}
	path := filepath.Join(t.TempDir(), RatchetName)
	if err := tight.Save(path); err != nil {
		t.Fatal(err)
	}
	if read, err := ReadRatchet(path); err != nil || len(read) != len(tight) {
		t.Errorf("%v, %v, want %v", read, err, tight)
	}
	if err := os.WriteFile(path, []byte(`{"beauty": 3}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRatchet(path); !errors.Is(err, ErrRatchet) {
		t.Errorf("an unknown limit: %v", err)
	}
}

// Names of a project must not become commands, tables or mentions.
func TestReportsOfHostileNames(t *testing.T) {
	name := "a|b <img src=x> @everyone `x` [l](u)\n::error::x % ##[error]y ##vso[task.x]z \u202egnp \u2066 \x1b[2J done"
	r := Report{FailOn: FailOnCritical, Base: Base{Commit: strings.Repeat("a", 40), Source: FromRecord, Why: "named"}}
	for i := range 30 {
		r.Findings = append(r.Findings, Finding{
			ID: fmt.Sprint(i), Rule: "tests_replaced", Severity: detector.Critical, Blocking: true, Message: name, Locations: []Location{{File: "a,b:c.go", Line: 3, Note: name}},
		})
	}
	var b bytes.Buffer
	if err := r.GitHub(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	errs := 0
	for _, line := range lines[:len(lines)-1] {
		if !strings.HasPrefix(line, "::error file=a%2Cb%3Ac.go,line=3,") && !strings.HasPrefix(line, "::notice ") {
			t.Errorf("a command of the project: %s", line)
		}
		errs += strings.Count(line, "::error file")
	}
	if errs != maxPerLevel {
		t.Errorf("%d annotations, want %d", errs, maxPerLevel)
	}
	b.Reset()
	b.WriteString(r.Markdown())
	for _, bad := range []string{"<img", "@everyone", "a|b"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the comment holds %s", bad)
		}
	}
	if !strings.HasPrefix(b.String(), Marker+"\n") || b.Len() > 65_535 {
		t.Errorf("%d bytes, beginning %.40q", b.Len(), b.String())
	}
	b.Reset()
	if text := r.Text().Terminal(document.NoPaint); !strings.Contains(text, "failed: 30 findings of severity CRITICAL or above") {
		t.Error(text)
	}
	for name, write := range map[string]func() error{
		"github":   func() error { return r.GitHub(&b) },
		"markdown": func() error { _, err := b.WriteString(r.Markdown()); return err }, "text": func() error { _, err := b.WriteString(r.Text().Terminal(document.NoPaint)); return err },
		"sarif": func() error { return r.SARIF(&b, "1", "x") }, "gitlab": func() error { return r.GitLab(&b, "x") }, "junit": func() error { return r.JUnit(&b) }, "json": func() error { return r.JSON(&b) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "json" {
			continue // for programs: the names as they are
		}
		for _, bad := range []string{"\n::error::x", "##[error]", "##vso[", "\u202e", "\u2066", "\x1b"} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
	}
}
