package environment

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"supervise/internal/projectfile"
)

// goModuleCache describes a module in the cache of Go, whose sum is in go.sum.
var goModuleCache = ecosystem{
	isWanted:    func(string) bool { return true },
	isSearched:  func(string) bool { return true },
	readRecords: func(Watch, *packageFolder) {},
	findEdits:   findModuleEdits,
}

// goTestingPackage describes package testing of the standard library.
var goTestingPackage = ecosystem{
	isWanted:   func(name string) bool { return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") },
	isSearched: func(string) bool { return true },
	readRecords: func(_ Watch, p *packageFolder) {
		if info, err := os.Stat(filepath.Join(p.dir, "..", "..", "VERSION")); err == nil {
			p.files["VERSION"] = stampOf(info)
		}
	},
	findEdits: func(earlier, now *packageFolder) []edit {
		files := now.changedFiles(earlier)
		if len(files) == 0 || slices.Contains(files, "VERSION") {
			return nil
		}
		return []edit{{now.pathOf(files[0]), "the package testing of Go's standard library was edited: install Go again"}}
	},
}

// addGoModules adds the modules that a go.sum names and that are in the cache.
func (w Watch) addGoModules(sums string, into map[string]*ecosystem) {
	text, err := projectfile.Read(sums, projectfile.Source)
	cache := w.moduleCache()
	if err != nil || cache == "" {
		return
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || strings.HasSuffix(f[1], "/go.mod") {
			continue
		}
		dir := filepath.Join(cache, filepath.FromSlash(escapeModulePath(f[0]))+"@"+escapeModulePath(f[1]))
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			e := goModuleCache
			e.readRecords = func(_ Watch, p *packageFolder) { p.records = map[string]string{f[0] + "@" + f[1]: f[2]} }
			into[dir] = &e
		}
	}
}

// escapeModulePath returns the path of a module as in the names of folders, with "!a" for "A".
func escapeModulePath(s string) string {
	var out strings.Builder
	for _, c := range s {
		if unicode.IsUpper(c) {
			out.WriteByte('!')
		}
		out.WriteRune(unicode.ToLower(c))
	}
	return out.String()
}

// moduleCache returns the folder of Go's module cache, "" if the environment does not tell.
func (w Watch) moduleCache() string {
	if cache := getenv(w.Env, "GOMODCACHE"); cache != "" {
		return cache
	}
	if folders := filepath.SplitList(getenv(w.Env, "GOPATH")); len(folders) > 0 {
		return filepath.Join(folders[0], "pkg", "mod")
	}
	if home := getenv(w.Env, "HOME"); home != "" {
		return filepath.Join(home, "go", "pkg", "mod")
	}
	return ""
}

// addGoTesting adds the package testing of an installation of Go.
func (w Watch) addGoTesting(program string, into map[string]*ecosystem) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return
	}
	if dir := filepath.Join(filepath.Dir(real), "..", "src", "testing"); isFile(filepath.Join(dir, "testing.go")) {
		into[dir] = &goTestingPackage
	}
}

// findModuleEdits returns an edit if a file of the module was written and its sum is not that of
// go.sum.
func findModuleEdits(earlier, now *packageFolder) []edit {
	if maps.Equal(earlier.files, now.files) {
		return nil
	}
	for module, sum := range earlier.records {
		if is, err := hashModule(now.dir, module); err == nil && is != sum {
			return []edit{{now.dir, module + " in Go's module cache is not what go.sum states: go clean -modcache, and build again"}}
		}
	}
	return nil
}

// hashModule returns the sum of a module in the form of go.sum, "h1:…". It covers the names and
// sums of all files in dir. module is the name with the version, as in "example.com/a@v1.0.0".
func hashModule(dir, module string) (string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := projectfile.ReadAnywhere(name, projectfile.Git)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		sum := sha256.Sum256(text)
		sums[module+"/"+filepath.ToSlash(rel)] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		return "", err
	}

	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(h, "%s  %s\n", sums[name], name)
	}
	return "h1:" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
