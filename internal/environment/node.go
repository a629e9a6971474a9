package environment

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/projectfile"
)

// nodeModules describes folders named node_modules.
//
// npm keeps no sums of files. When a package is installed again, its package.json is new, and
// npm, yarn and pnpm rewrite a record; a manual edit changes neither. Packages that run tests
// are compared by content as well.
var nodeModules = ecosystem{
	isWanted: func(name string) bool {
		switch path.Ext(name) {
		case ".js", ".cjs", ".mjs", ".json", ".node", ".wasm":
			return true
		}
		return strings.HasPrefix(name, ".bin/") || slices.Contains(nodeRecordFiles, name)
	},
	isSearched: func(folder string) bool {
		base := path.Base(folder)
		return !strings.HasPrefix(base, ".") || folder == ".bin" || folder == ".pnpm"
	},
	readRecords: readNodeRecords,
	findEdits:   findNodeEdits,
}

// nodeRecordFiles are files that a package manager rewrites whenever it installs something.
var nodeRecordFiles = []string{".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml"}

// testPackages are packages that run tests or decide their results. Packages whose names start with
// one of them and a hyphen count too.
var testPackages = framework.NodePackages

// isTestPackage reports whether a package, or its scope, is one of testPackages.
func isTestPackage(name string) bool {
	scope, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(testPackages, func(p string) bool { return name == p || scope == p || strings.HasPrefix(name, p+"-") })
}

// splitPackagePath returns the folder and the name of the package of a file below node_modules:
// "jest/node_modules/expect" and "expect" for "jest/node_modules/expect/index.js". Both are "" for
// a file in no package.
func splitPackagePath(file string) (folder, name string) {
	from := strings.LastIndex("/"+file, "/node_modules/")
	rest := file
	if from >= 0 {
		rest = file[from+len("node_modules/"):]
	}
	parts := strings.SplitN(rest, "/", 3)
	n := 1
	if strings.HasPrefix(rest, "@") {
		n = 2
	}
	if len(parts) <= n {
		return "", ""
	}
	name = strings.Join(parts[:n], "/")
	return file[:len(file)-len(rest)] + name, name
}

// maxSummed bounds the files of test packages whose content is read, in bytes.
const maxSummed = 1 << 20

// readNodeRecords reads the sums of the files of test packages, and their versions by folder.
func readNodeRecords(w Watch, p *packageFolder) {
	p.sums, p.records = map[string]string{}, map[string]string{}
	for name, s := range p.files {
		if _, pkg := splitPackagePath(name); pkg == "" || !isTestPackage(pkg) || s.size > maxSummed || s.link {
			continue
		}
		if sum, err := w.Sums.sumOf(p.pathOf(name)); err == nil {
			p.sums[name] = sum
		}
		if folder, _ := splitPackagePath(name); name == folder+"/package.json" {
			p.records[folder] = readVersion(p.pathOf(name))
		}
	}
}

// readVersion returns the version in a package.json, "" if it cannot be read.
func readVersion(manifest string) string {
	var m struct{ Version string }
	if text, err := projectfile.ReadAnywhere(manifest, projectfile.Manifest); err != nil || json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.Version
}

// findNodeEdits returns one edit for each package with a file that no package manager wrote.
func findNodeEdits(earlier, now *packageFolder) []edit {
	var out []edit
	managed, recorded := false, false // a manager wrote its record; there is one
	for _, name := range nodeRecordFiles {
		before, ok := earlier.files[name]
		after, there := now.files[name]
		recorded = recorded || ok && there
		managed = managed || there && (!ok || after.rewritten(before))
	}

	seen := map[string]bool{}
	for _, file := range differingFiles(earlier, now) {
		folder, name := splitPackagePath(file)
		if name == "" || strings.HasPrefix(file, ".bin/") {
			folder, name = file, path.Base(file)
		}
		if seen[folder] || hasPatch(now.dir, name) || !isManualEdit(earlier, now, file, managed || !recorded) {
			continue
		}
		seen[folder] = true
		what := "the installed package " + name + " is not what was installed: no other installation has this change; restore it with npm ci"
		if strings.HasPrefix(file, ".bin/") {
			what = "the program " + name + " of an installed package was replaced: restore it with npm ci"
		}
		out = append(out, edit{now.pathOf(file), what})
	}

	return out
}

// hasPatch reports whether the project has a patch for a package, which patch-package, pnpm
// or yarn apply. Packages that run tests are not patched.
func hasPatch(dir, name string) bool {
	if isTestPackage(name) {
		return false
	}
	for _, file := range readEntries(filepath.Join(dir, "..", "patches")) {
		plain := strings.NewReplacer("+", "/", "__", "/").Replace(file.Name())
		if rest, ok := strings.CutPrefix(plain, name); ok && strings.HasSuffix(rest, ".patch") && strings.ContainsAny(rest[:1], "/@.") {
			return true
		}
	}
	return false
}

// differingFiles returns the files that were written, and those whose content differs, sorted.
func differingFiles(earlier, now *packageFolder) []string {
	out := now.changedFiles(earlier)
	for name, sum := range now.sums {
		if before, ok := earlier.sums[name]; ok && before != sum {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isManualEdit reports whether no package manager wrote a changed file. managed means that a
// package manager may have run since the earlier look.
func isManualEdit(earlier, now *packageFolder, file string, managed bool) bool {
	before, existed := earlier.files[file]
	_, name := splitPackagePath(file)
	switch {
	case strings.HasPrefix(file, ".bin/"):
		return existed && (!managed || before.link && !now.files[file].link)
	case now.files[file].link: // another package, or a link in its place
		_, installed := earlier.files[file+"/package.json"]
		return !managed && (existed || installed)
	}
	return name != "" && isManualEditInPackage(earlier, now, file, managed)
}

// isManualEditInPackage is isManualEdit for a file inside a package.
func isManualEditInPackage(earlier, now *packageFolder, file string, managed bool) bool {
	_, existed := earlier.files[file]
	folder, name := splitPackagePath(file)
	manifest, known := earlier.files[folder+"/package.json"]
	reinstalled := known && now.files[folder+"/package.json"].rewritten(manifest)
	switch {
	case earlier.sums[file] != "" && now.sums[file] != "": // read at both times
		return earlier.sums[file] != now.sums[file] && (!reinstalled || earlier.records[folder] == now.records[folder])
	case existed:
		return !reinstalled || !managed
	case known: // programs write into their packages, but not into those that run tests
		return isTestPackage(name) && !reinstalled && path.Ext(file) != ".json"
	}
	return isTestPackage(name) && !managed // a package that no manager installed
}
