package gotests_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"supervise/internal/measure/internal/gotests"
	"supervise/internal/measure/internal/listing"
	"supervise/metric"
)

var inventory = []string{"go", "test", "-json", "-list", ".", "./..."}

// files is a module with all that makes a function a test or none.
var files = map[string]string{
	"go.mod": "// a module\nmodule \"example.com/m\"\n\ngo 1.21\n", "m.go": "package m\n",
	"a_test.go": `package m

import (
	"fmt"
	"testing"
	. "testing"
	other "testing"
)

func TestA(t *testing.T)           {}
func Test(t *other.T)              {}
func TestÉ(t *T)                   {}
func Test_low(*testing.T)          {}
func Testable(t *testing.T)         {}
func testB(t *testing.T)           {}
func BenchmarkC(b *testing.B)      {}
func FuzzD(f *testing.F)           {}
func TestMain(m *testing.M)        { m.Run() }
func Example()                     { fmt.Println(1) }
func ExampleE()                    {
	fmt.Println(1)
	// Output: 1
}
func Example_empty() {
	// Output:
}
func Example_unordered() {
	fmt.Println(1)
	// Unordered output: 1
}

type suite struct{}

func (suite) TestF(t *testing.T) {}

var E = 1
`,
	"x_test.go":            "package m_test\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n",
	"os_plan9_test.go":     "package m\n\nimport \"testing\"\n\nfunc TestPlan9(t *testing.T) {}\n",
	"tagged_test.go":       "//go:build never\n\npackage m\n\nimport \"testing\"\n\nfunc TestTagged(t *testing.T) {}\n",
	"sub/x/s_test.go":      "package x\n\nimport \"testing\"\n\nfunc TestS(t *testing.T) {}\n",
	"only/o_test.go":       "//go:build never\n\npackage o\n\nimport \"testing\"\n\nfunc TestO(t *testing.T) {}\n",
	"vendor/v/v_test.go":   "package v\n\nimport \"testing\"\n\nfunc TestV(t *testing.T) {}\n",
	"testdata/t_test.go":   "package t\n\nimport \"testing\"\n\nfunc TestT(t *testing.T) {}\n",
	"_no/n_test.go":        "package n\n\nimport \"testing\"\n\nfunc TestN(t *testing.T) {}\n",
	"other/go.mod":         "module other\n\ngo 1.21\n",
	"other/other_test.go":  "package other\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n",
	"main/exit_test.go":    "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\nfunc TestNever(t *testing.T) {}\n",
	"main/under/u_test.go": "package under\n\nimport \"testing\"\n\nfunc TestU(t *testing.T) {}\n",
}

func module(t *testing.T, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if slices.Contains(without, name) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// asked is what go test itself lists.
func asked(t *testing.T, dir string, command []string) []listing.Test {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod -vet=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	list, err := listing.Read("go", bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return sorted(list)
}

func sorted(list []listing.Test) []listing.Test {
	return slices.SortedFunc(slices.Values(list), listing.Test.Compare)
}

func ran(list []listing.Test) *metric.Tests {
	var cases []metric.Test
	for _, l := range list {
		cases = append(cases, metric.Test{ID: metric.ID{Suite: l.Suite, Name: l.Name}, Status: metric.Passed})
	}
	return metric.NewTests(cases)
}

// The sources have the tests that go test lists. What did not run is listed again.
func TestListedAsGoDoes(t *testing.T) {
	dir := module(t)
	all := asked(t, dir, inventory)
	list, again, ok := gotests.ListFromSource(dir, inventory, false, ran(all))
	if want := []string{"go", "test", "-json", "-list", ".", "./main/..."}; !ok || !slices.Equal(again, want) {
		t.Fatalf("%v: %q is to be listed again, want %q", ok, again, want)
	}
	if !slices.Equal(sorted(list), all) {
		t.Errorf("listed %v, go test says %v", sorted(list), all)
	}
	if len(all) != 11 {
		t.Errorf("go test lists %v", all)
	}

	some := slices.DeleteFunc(slices.Clone(all), func(l listing.Test) bool { return l.Name == "TestX" || l.Name == "TestS" })
	list, again, _ = gotests.ListFromSource(dir, inventory, false, ran(some))
	if want := []string{"./...", "./main/...", "./sub/x/..."}; !slices.Equal(again[5:], want) || len(list) != 1 {
		t.Errorf("%v, and %q is to be listed again, want %q", list, again, want)
	}

	// Where tags may be set, files that are left out without them may have tests.
	if _, again, _ = gotests.ListFromSource(dir, inventory, true, ran(all)); !slices.Equal(again[5:], []string{"./...", "./main/...", "./only/..."}) {
		t.Errorf("with tags: %q", again)
	}

	// A package that does not compile ran nothing, and the reason is known.
	tests := ran(all)
	tests.Broken = []metric.Suite{{Name: "example.com/m/main"}}
	if _, again, ok = gotests.ListFromSource(dir, inventory, false, tests); !ok || again != nil {
		t.Errorf("of a broken package: %q", again)
	}
}

// In other forms the inventory is run as it is.
func TestListedByGo(t *testing.T) {
	dir := module(t, "go.mod")
	for _, command := range [][]string{nil, {"make", "list"}, {"go", "test", "-json", "-list", "."}, {"go", "test", "-json", "-list", ".", "./a"}, {"go", "test", "-json", "-list", ".", "all/..."}, inventory} {
		if _, _, ok := gotests.ListFromSource(dir, command, false, &metric.Tests{}); ok {
			t.Errorf("%q is read from the sources", command)
		}
	}
}
