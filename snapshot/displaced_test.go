package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/snapshot/internal/manifest"
)

// A command that opens the store without options must capture what the loop captured.
func TestStoreKeepsItsOptions(t *testing.T) {
	dir := workshop(t)
	big := strings.Repeat("x", 2000)
	write(t, dir, "main.go", big)
	write(t, dir, "mine.log", "ignored and precious\n")
	for name, o := range map[string]Options{
		"larger than a reader's":  {MaxFile: 5000, MaxTotal: 1 << 20, MaxIgnored: 1 << 20, Precious: []string{"[m]ine.log"}},
		"smaller than a reader's": {MaxFile: 1000, MaxTotal: 1 << 20, MaxIgnored: 1 << 20, Precious: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, dir, o)
			first := take(t, s)
			for _, other := range []Options{{}, {MaxFile: 1, MaxTotal: 1, Precious: []string{"*"}}} {
				n, err := Open(context.Background(), dir, s.dir, other)
				must(t, err)
				defer n.Close()
				if d := cmp.Diff(o, n.opts, cmp.AllowUnexported(Options{})); d != "" {
					t.Errorf("opened with %+v (-want +got):\n%s", other, d)
				}
				if again := take(t, n); again.Tree != first.Tree || !cmp.Equal(again.Skipped, first.Skipped) {
					t.Errorf("opened with %+v: another tree", other)
				}
			}
		})
	}
}

func TestUndoThroughAStoreOpenedWithoutOptions(t *testing.T) {
	dir := plain(t)
	const size = defaultMaxFile + 1
	write(t, dir, "big", strings.Repeat("x", size))
	s := open(t, dir, Options{MaxFile: 2 * defaultMaxFile})
	first := take(t, s)
	later := strings.Repeat("y", size)
	write(t, dir, "big", later)
	n, err := Open(context.Background(), dir, s.dir, Options{})
	must(t, err)
	defer n.Close()
	r := mustRestore(t, n, first.ID)
	if read(t, dir, "big")[0] != 'x' || len(r.Displaced) > 0 {
		t.Errorf("not restored, or displaced: %v", r.Displaced)
	}
	mustRestore(t, n, r.Safety)
	if read(t, dir, "big") != later {
		t.Error("undo did not bring the later edit back")
	}
}

// What the safety snapshot could not capture, whatever the reason, is moved to the store and never overwritten. The
// reasons are planted in the manifest: no file is unstable or unreadable on demand.
func TestUncapturedPresentIsDisplaced(t *testing.T) {
	for _, reason := range []Reason{TooBig, OverTotal, Unreadable, Unstable} {
		t.Run(string(reason), func(t *testing.T) {
			ctx := context.Background()
			dir := plain(t)
			s := open(t, dir, Options{})
			first := take(t, s)
			target, err := s.manifest(first.ID)
			must(t, err)
			write(t, dir, "a.txt", "later work\n")
			write(t, dir, "new", "later file\n")
			must(t, os.RemoveAll(filepath.Join(dir, "sub")))
			write(t, dir, "sub", "a file where the folder was\n")
			present, err := s.take(ctx, "before-restore", "TOKEN")
			must(t, err)
			for _, p := range []string{"a.txt", "new", "sub"} {
				present.Work = slices.DeleteFunc(present.Work, func(e manifest.Entry) bool { return e.Path == p })
				present.Skipped = append(present.Skipped, Skip{Path: p, Reason: reason})
			}
			r := &Restored{Target: first.ID, Safety: present.ID}
			x := s.newRestorer("TOKEN", r)
			must(t, x.Apply(ctx, present, target))
			slices.Sort(r.Displaced)
			if d := cmp.Diff([]string{"a.txt", "sub"}, r.Displaced); d != "" || len(r.Mismatches) > 0 {
				t.Errorf("mismatches %v, displaced (-want +got):\n%s", r.Mismatches, d)
			}
			kept := x.DisplacedTo()
			got := []string{read(t, kept, "a.txt"), read(t, kept, "sub"), read(t, dir, "new"), read(t, dir, "a.txt"), read(t, dir, "sub/b.txt")}
			want := []string{"later work\n", "a file where the folder was\n", "later file\n", "a\n", "b\n"}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("contents (-want +got):\n%s", d)
			}
		})
	}
}

func TestFolderInTheWayIsDisplaced(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{MaxFile: 1000})
	first := take(t, s)
	must(t, os.Remove(filepath.Join(dir, "a.txt")))
	write(t, dir, "a.txt/deep/huge", strings.Repeat("z", 3000))
	write(t, dir, "a.txt/small", "captured\n")
	r := mustRestore(t, s, first.ID)
	kept := r.DisplacedTo
	if d := cmp.Diff([]string{"a.txt"}, r.Displaced); d != "" || len(read(t, kept, "a.txt/deep/huge")) != 3000 || read(t, dir, "a.txt") != "a\n" {
		t.Errorf("displaced (-want +got):\n%s", d)
	}
}

// The git state of a nested repository goes only after the working files, so its folder is moved away while it is whole.
func TestNestedRepositoryInTheWayOfAFile(t *testing.T) {
	dir := plain(t)
	s := open(t, dir, Options{})
	before := picture(t, dir)
	first := take(t, s)
	must(t, os.Remove(filepath.Join(dir, "a.txt")))
	write(t, dir, "a.txt/x", "x\n")
	git(t, filepath.Join(dir, "a.txt"), "init", "-q", "-b", "main")
	mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
}
