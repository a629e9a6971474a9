package snapshot

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var manifests = cmp.Options{cmp.AllowUnexported(manifest{}, entry{}, stat{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(manifest{}, "stored")}

// A manifest of a real snapshot is read in full, and written again as it was.
func TestStoredManifestIsReadAndWrittenAlike(t *testing.T) {
	m, err := readManifest("testdata/manifest")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range m.work {
		paths = append(paths, string(e.kind)+e.path)
	}
	want := "f.env f.gitattributes f.gitignore f:colon f[work] dbin fbin/tool fcrlf.txt fdata.dat dempty fgit~1 fkeep.log flatin-\xe9 dlib flib/lib.go " +
		"flib/lib_test.go llink fmain.go dnested fnested/.gitignore fnested/a fnested/x.log dodd fodd/\"quoted\" fodd/new\nline frun.sh fsecret.conf " +
		"dunborn funborn/b funtracked.go dwith space"
	if d := cmp.Diff(want, strings.Join(paths, " ")); d != "" {
		t.Errorf("paths (-want +got):\n%s", d)
	}
	if e := m.work[lookup(m.work, "secret.conf")]; e.st.mode != 0o600 || e.st.size != 8 || e.oid.String() != "3e18ebf09ec44c39a2f23f8f231b8900753e0597" ||
		e.st.mtime != 1795291994523644472 || e.st.ctime != 1795291994523644472 || e.st.ino != 10209811 || e.st.dev != 65024 {
		t.Errorf("entry: %+v", e)
	}
	if id := treeID(m.work); id != m.Tree || id != "d677fd054887f8c69d4efb3a39120e2c0f01ad6b513157e5a68693e785fc7cd3" {
		t.Errorf("the tree is called %s, and %s in the file", id, m.Tree)
	}
	if len(m.git) < 30 || len(m.objectDirs) != 3 || len(m.ignored) < 3 || !cmp.Equal(m.Skipped, []Skip{{"big", TooBig, 300000}}) {
		t.Errorf("%d files of git, objects %v, ignored %q, skipped %v", len(m.git), m.objectDirs, m.ignored, m.Skipped)
	}
	again, err := m.encode()
	stored, errRead := os.ReadFile("testdata/manifest")
	if err != nil || errRead != nil || !bytes.Equal(again, stored) {
		t.Errorf("written as %d bytes, want the %d of the file, %v, %v", len(again), len(stored), err, errRead)
	}
}

// A damaged manifest and one of an unknown version are refused.
func TestUnreadableManifestIsRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/manifest")
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"cut short": data[:len(data)/2], "one byte changed": append(append(bytes.Clone(data[:900]), data[900]^1), data[901:]...),
		"unknown version": bytes.Replace(data, []byte(manifestVersion), []byte("supervise-snapshot 1"), 1),
	} {
		if m, err := parseManifest(bad); err == nil {
			t.Errorf("%s: read as %d files", name, m.Files)
		}
	}
}

// FuzzManifest reads anything without a crash, and what it accepts it writes as it was read.
func FuzzManifest(f *testing.F) {
	data, err := os.ReadFile("testdata/manifest")
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
		if err != nil {
			t.Fatal(err)
		}
		same, err := parseManifest(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, same, manifests); d != "" {
			t.Error(d)
		}
	})
}
