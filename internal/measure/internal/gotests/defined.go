package gotests

import (
	"io/fs"
	"path/filepath"
	"strings"

	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/metric"
)

// testFunctionRE captures the name of a test function: TestAdd of "func TestAdd(t *testing.T) {".
// topLevelNameRE matches that name at the start of a reported test: TestAdd of "TestAdd/zero".
var (
	testFunctionRE = regexp.MustCompile(`(?m)^func\s+((?:Test|Example|Fuzz|Benchmark)\w*)\s*\(`)
	topLevelNameRE = regexp.MustCompile(`^(?:Test|Example|Fuzz|Benchmark)[\p{L}\p{N}_]*`)
)

// maxFolders limits how many folders are searched for modules.
const maxFolders = 4000

// FindUndefined returns the tests that no test file in the folder of their package defines.
// Every Go test is a function there. dir is the folder of the check in the tree.
func FindUndefined(root, dir string, tests []metric.Test) []metric.Test {
	modules := findModules(root, dir)
	defined := map[string]map[string]bool{} // by folder
	var out []metric.Test
	for _, t := range tests {
		name := topLevelNameRE.FindString(t.Name)
		folder := packageDir(strings.TrimPrefix(t.Suite, dir+"/"), modules)
		if name == "" || folder == "" {
			continue
		}
		if defined[folder] == nil {
			defined[folder] = testFunctions(folder)
		}
		if !defined[folder][name] {
			out = append(out, t)
		}
	}
	return out
}

// findModules maps the modules of the tree to their folders: those at, above and below the
// folder of the check.
func findModules(root, dir string) map[string]string {
	out := map[string]string{}
	read := func(dir string) {
		if name := modulePath(dir); name != "" {
			out[name] = dir
		}
	}

	base := filepath.Join(root, filepath.FromSlash(dir))
	for dir := base; dir != root && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		read(filepath.Dir(dir))
	}

	folders := 0
	_ = filepath.WalkDir(base, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir():
			return nil
		case dir != base && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "vendor"):
			return fs.SkipDir
		}
		if folders++; folders > maxFolders {
			return fs.SkipAll
		}
		read(dir)
		return nil
	})

	return out
}

// packageDir returns the folder of a package in the innermost module that can contain it, ""
// if there is none.
func packageDir(pkg string, modules map[string]string) string {
	module, found := "", ""
	for name, dir := range modules {
		if (pkg == name || strings.HasPrefix(pkg, name+"/")) && len(name) >= len(module) {
			module, found = name, filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(pkg, name)))
		}
	}
	return found
}

// testFunctions returns the names of the test functions in the test files of a folder.
func testFunctions(dir string) map[string]bool {
	out := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is valid
	for _, name := range files {
		if text, err := projectfile.Read(name, projectfile.Source); err == nil {
			for _, found := range testFunctionRE.FindAllSubmatch(text, -1) {
				out[string(found[1])] = true
			}
		}
	}
	return out
}
