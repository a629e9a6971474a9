package manifest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supervise/snapshot/internal/disk"
)

var manifests = cmp.Options{cmp.AllowUnexported(Manifest{}, Entry{}, disk.Stat{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Manifest{}, "Stored")}

// A manifest of a real snapshot, in the version before this one, is read in full, and says the same when it is written.
func TestStoredManifestIsReadAndWrittenAlike(t *testing.T) {
	m, err := Read("testdata/manifest")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range m.Work {
		paths = append(paths, string(e.Kind)+e.Path)
	}
	want := "f.env f.gitattributes f.gitignore f:colon f[work] dbin fbin/tool fcrlf.txt fdata.dat dempty fgit~1 fkeep.log flatin-\xe9 dlib flib/lib.go " +
		"flib/lib_test.go llink fmain.go dnested fnested/.gitignore fnested/a fnested/x.log dodd fodd/\"quoted\" fodd/new\nline frun.sh fsecret.conf " +
		"dunborn funborn/b funtracked.go dwith space"
	if d := cmp.Diff(want, strings.Join(paths, " ")); d != "" {
		t.Errorf("paths (-want +got):\n%s", d)
	}
	if e := m.Work[Lookup(m.Work, "secret.conf")]; e.Stat.Mode != 0o600 || e.Stat.Size != 8 || e.OID.String() != "3e18ebf09ec44c39a2f23f8f231b8900753e0597" ||
		e.Stat.Mtime != 1795291994523644472 || e.Stat.Ctime != 1795291994523644472 || e.Stat.Ino != 10209811 || e.Stat.Dev != 65024 {
		t.Errorf("entry: %+v", e)
	}
	if id := treeID(m.Work); id != m.Tree || id != "d677fd054887f8c69d4efb3a39120e2c0f01ad6b513157e5a68693e785fc7cd3" {
		t.Errorf("the tree is called %s, and %s in the file", id, m.Tree)
	}
	if len(m.Git) < 30 || len(m.ObjectDirs) != 3 || len(m.Ignored) < 3 || !cmp.Equal(m.Skipped, []Skip{{Path: "big", Reason: TooBig, Size: 300000}}) {
		t.Errorf("%d files of git, objects %v, ignored %q, skipped %v", len(m.Git), m.ObjectDirs, m.Ignored, m.Skipped)
	}
	m.Kept = m.Work[:3]
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, again, manifests); d != "" {
		t.Errorf("read again (-was +is):\n%s", d)
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
		"unknown version": bytes.Replace(data, []byte(versionWithoutKept), []byte("supervise-snapshot 1"), 1),
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
	f.Add([]byte(Version + "\n{}\n" + strings.Repeat("\x00", 10)))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parseManifest(appendChecksum(body))
		if err != nil {
			return
		}
		again, err := m.Encode()
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
