package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var manifests = cmp.Options{cmp.AllowUnexported(manifest{}, entry{}, stat{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(manifest{}, "stored")}

// A manifest that version 1 has written is read, and says the same in the present version.
func TestManifestOfVersion1(t *testing.T) {
	old, err := readManifest("testdata/manifest-1")
	must(t, err)
	var paths []string
	for _, e := range old.work {
		paths = append(paths, string(e.kind)+e.path)
	}
	want := "f.env f.gitattributes f.gitignore f:colon f[work] dbin fbin/tool fcrlf.txt fdata.dat dempty fgit~1 fkeep.log flatin-\xe9 dlib flib/lib.go " +
		"flib/lib_test.go llink fmain.go dnested fnested/.gitignore fnested/a fnested/x.log dodd fodd/\"quoted\" fodd/new\nline frun.sh fsecret.conf " +
		"dunborn funborn/b funtracked.go dwith space"
	if d := cmp.Diff(want, strings.Join(paths, " ")); d != "" {
		t.Errorf("paths (-want +got):\n%s", d)
	}
	if e := old.work[lookup(old.work, "secret.conf")]; e.st.mode != 0o600 || e.st.size != 8 || e.oid.String() != "3e18ebf09ec44c39a2f23f8f231b8900753e0597" ||
		e.st.mtime != 1795291994523644472 || e.st.ctime != 1795291994523644472 || e.st.ino != 10209811 || e.st.dev != 65024 {
		t.Errorf("entry: %+v", e)
	}
	if id := treeID(old.work); id != old.Tree || id != "d677fd054887f8c69d4efb3a39120e2c0f01ad6b513157e5a68693e785fc7cd3" {
		t.Errorf("the tree is called %s, and %s in the file", id, old.Tree)
	}
	if len(old.git) < 30 || len(old.objectDirs) != 3 || len(old.ignored) < 3 || !cmp.Equal(old.Skipped, []Skip{{"big", TooBig, 300000}}) {
		t.Errorf("%d files of git, objects %v, ignored %q, skipped %v", len(old.git), old.objectDirs, old.ignored, old.Skipped)
	}
	data, err := old.encode()
	must(t, err)
	if !strings.HasPrefix(string(data), manifestVersion+"\n") {
		t.Errorf("written as %.30q", data)
	}
	now, err := parseManifest(data)
	must(t, err)
	if d := cmp.Diff(old, now, manifests); d != "" {
		t.Errorf("version 1 and 2 differ:\n%s", d)
	}
}

// Refs are not synced, so that a crash of the system may leave them empty or missing.
func TestLostRefsAreMadeAgain(t *testing.T) {
	s := open(t, plain(t), Options{})
	first, second := take(t, s), take(t, s)
	refs := git(t, s.GitDir(), "for-each-ref")
	must(t, os.Truncate(filepath.Join(s.GitDir(), first.ID.Ref()), 0))
	must(t, os.Remove(filepath.Join(s.GitDir(), "refs/state", string(second.ID))))
	reopen(t, s)
	if d := cmp.Diff(refs, git(t, s.GitDir(), "for-each-ref")); d != "" {
		t.Errorf("refs (-want +got):\n%s", d)
	}
}

// FuzzManifest reads anything without a crash, and what it accepts it writes as it was read.
func FuzzManifest(f *testing.F) {
	old, err := os.ReadFile("testdata/manifest-1")
	if err != nil {
		f.Fatal(err)
	}
	m, err := parseManifest(old)
	if err != nil {
		f.Fatal(err)
	}
	data, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:len(data)-32])
	f.Add([]byte(manifestVersion + "\n{}\n\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parseManifest(sealed(body))
		if err != nil {
			return
		}
		again, err := m.encode()
		must(t, err)
		same, err := parseManifest(again)
		must(t, err)
		if d := cmp.Diff(m, same, manifests); d != "" {
			t.Error(d)
		}
	})
}
