package environment_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/internal/environment"
	"supervise/test/tools"
)

// lookAt looks at a folder with what is installed in it.
func lookAt(t testing.TB, root string, programs, env []string, sums environment.Sums) environment.State {
	t.Helper()
	w := environment.Watch{Root: root, Programs: programs, Env: append(os.Environ(), env...), Sums: sums, Sites: map[string][]string{}}
	s, err := w.Look(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put writes a file as package managers do: as a new file.
func put(t testing.TB, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(full+".new", full); err != nil {
		t.Fatal(err)
	}
}

func TestEditedPackagesOfNode(t *testing.T) {
	install := func(t *testing.T, root, version string) {
		put(t, root, "node_modules/.package-lock.json", fmt.Sprintf(`{"packages": {"node_modules/expect": {"version": %q}}}`, version))
		put(t, root, "node_modules/expect/package.json", fmt.Sprintf(`{"name": "expect", "version": %q}`, version))
		put(t, root, "node_modules/expect/build/index.js", "module.exports = "+version[:1])
		put(t, root, "node_modules/left-pad/package.json", `{"name": "left-pad"}`)
		put(t, root, "node_modules/left-pad/index.js", "pad")
	}
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, root string)
		want []string
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"another version", func(t *testing.T, root string) { install(t, root, "2.0.0") }, nil},
		{"the same version again", func(t *testing.T, root string) { install(t, root, "1.0.0") }, nil},
		{"caches", func(t *testing.T, root string) {
			put(t, root, "node_modules/.cache/x.js", "x")
			put(t, root, "node_modules/.vite/deps/x.js", "x")
			put(t, root, "node_modules/left-pad/generated.js", "x")
		}, nil},
		{"a test package edited", func(t *testing.T, root string) {
			put(t, root, "node_modules/expect/build/index.js", "module.exports = () => true")
		}, []string{"node_modules/expect/build/index.js"}},
		{"edited in place, with its time put back", func(t *testing.T, root string) {
			name := filepath.Join(root, "node_modules/expect/build/index.js")
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("module.exports = 2"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, []string{"node_modules/expect/build/index.js"}},
		{"edited, and all written again", func(t *testing.T, root string) {
			install(t, root, "1.0.0")
			put(t, root, "node_modules/expect/build/index.js", "module.exports = () => true")
		}, []string{"node_modules/expect/build/index.js"}},
		{"another package edited", func(t *testing.T, root string) { put(t, root, "node_modules/left-pad/index.js", "rap") }, []string{"node_modules/left-pad/index.js"}},
		{"another package, by a patch of the project", func(t *testing.T, root string) {
			put(t, root, "patches/left-pad+1.0.0.patch", "patch")
			put(t, root, "node_modules/left-pad/index.js", "rap")
		}, nil},
		{"a test package, by a patch of the project", func(t *testing.T, root string) {
			put(t, root, "patches/expect+1.0.0.patch", "patch")
			put(t, root, "node_modules/expect/build/index.js", "x")
		}, []string{"node_modules/expect/build/index.js"}},
		{"a package that no manager installed", func(t *testing.T, root string) {
			put(t, root, "node_modules/left-pad/node_modules/expect/index.js", "x")
		}, []string{"node_modules/left-pad/node_modules/expect/index.js"}},
		{"a link in the place of a package", func(t *testing.T, root string) {
			if err := os.RemoveAll(filepath.Join(root, "node_modules/expect")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../fake", filepath.Join(root, "node_modules/expect")); err != nil {
				t.Fatal(err)
			}
		}, []string{"node_modules/expect"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root, sums := t.TempDir(), environment.Sums{}
			install(t, root, "1.0.0")
			before := lookAt(t, root, nil, nil, sums)
			tc.do(t, root)
			checkEdited(t, root, before, lookAt(t, root, nil, nil, sums), tc.want)
		})
	}
}

// checkEdited compares the files that are found.
func checkEdited(t *testing.T, root string, before, now environment.State, want []string) {
	t.Helper()
	var got []string
	for _, c := range now.ChangesSince(before, root) {
		rel, err := filepath.Rel(root, c.File)
		if err != nil || c.Type != "installed_package_edited" || c.Severity.String() != "CRITICAL" {
			t.Errorf("found %+v", c)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A virtual environment holds pip, which recorded the sums of the files of pip.
func TestEditedPackagesOfPython(t *testing.T) {
	tools.Need(t, "python3")
	root := t.TempDir()
	if out, err := exec.Command("python3", "-m", "venv", filepath.Join(root, ".venv")).CombinedOutput(); err != nil {
		t.Skipf("no virtual environment could be made: %v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(root, ".venv/lib/python*/site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q, %v", found, err)
	}
	site, err := filepath.Rel(root, found[0])
	if err != nil {
		t.Fatal(err)
	}
	init := site + "/pip/__init__.py"
	original, err := os.ReadFile(filepath.Join(root, init))
	if err != nil {
		t.Fatal(err)
	}
	before := lookAt(t, root, []string{".venv/bin/python"}, nil, environment.Sums{})
	again := func(want ...string) {
		t.Helper()
		checkEdited(t, root, before, lookAt(t, root, []string{".venv/bin/python"}, nil, environment.Sums{}), want)
	}
	again()
	put(t, root, init, string(original)) // as if it were installed again
	again()
	put(t, root, site+"/__pycache__/x.py", "")
	put(t, root, site+"/__editable__.mine.pth", "/src")
	put(t, root, site+"/pip/parsetab.py", "")
	again()
	put(t, root, init, string(original)+"\n")
	again(init)
	put(t, root, init, string(original))
	put(t, root, site+"/quiet.pth", "import quiet\n")
	again(site + "/quiet.pth")
}

// The sum of a module is that of go.sum, and an edited one has another.
func TestEditedModulesOfGo(t *testing.T) {
	const module, at = "github.com/bmatcuk/doublestar/v4", "github.com/bmatcuk/doublestar"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Skipf("the module is not in the cache: %v", err)
	}
	dir := strings.TrimSpace(string(out))
	root, cache := t.TempDir(), t.TempDir()
	copied := filepath.Join(cache, at, filepath.Base(dir))
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, "go.sum", string(sums))
	look := func() environment.State {
		return lookAt(t, root, nil, []string{"GOMODCACHE=" + cache}, environment.Sums{})
	}
	before := look()
	name := filepath.Join(copied, "match.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(name), "match.go", string(text)) // taken from the network again
	checkEdited(t, cache, before, look(), nil)
	put(t, filepath.Dir(name), "match.go", string(text)+"\n// more\n")
	checkEdited(t, cache, before, look(), []string{at + "/" + filepath.Base(dir)})
}

// The packages of npm are really installed.
func TestPackageInstalledByNpmMayBeInstalledAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("asks a registry")
	}
	root, sums := t.TempDir(), environment.Sums{}
	put(t, root, "package.json", `{"name": "x", "version": "1.0.0"}`)
	npm := func(args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "npm", append(args, "--no-audit", "--no-fund")...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("npm %v: %v\n%s", args, err, out)
		}
	}
	npm("install", "expect@29.6.0")
	before := lookAt(t, root, nil, nil, sums)
	npm("ci")
	checkEdited(t, root, before, lookAt(t, root, nil, nil, sums), nil)
	npm("install", "expect@29.7.0")
	checkEdited(t, root, before, lookAt(t, root, nil, nil, sums), nil)
	before = lookAt(t, root, nil, nil, sums)
	put(t, root, "node_modules/expect/build/index.js", "module.exports = {expect: () => ({toBe() {}})}")
	checkEdited(t, root, before, lookAt(t, root, nil, nil, sums), []string{"node_modules/expect/build/index.js"})
}

// BenchmarkInstalledPackages looks at 800 packages with 25 files each. The aim is less
// than 100 ms.
func BenchmarkInstalledPackages(b *testing.B) {
	root := b.TempDir()
	put(b, root, "node_modules/.package-lock.json", "{}")
	for i := range 800 {
		name := fmt.Sprintf("node_modules/package%d", i)
		if i < 40 {
			name = fmt.Sprintf("node_modules/@jest/package%d", i)
		}
		put(b, root, name+"/package.json", "{}")
		for k := range 24 {
			put(b, root, fmt.Sprintf("%s/lib/part%d/file%d.js", name, k%3, k), strings.Repeat("module.exports = 1\n", 100))
		}
	}
	sums := environment.Sums{}
	before := lookAt(b, root, nil, nil, sums)
	for b.Loop() {
		if found := lookAt(b, root, nil, nil, sums).ChangesSince(before, root); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
