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

// node are folders named node_modules.
//
// npm keeps no sums of files. A package that was installed again has a new package.json,
// and npm, yarn and pnpm then rewrite a record of their own; one edited by hand has not.
// Packages that run tests are compared by content as well.
var node = ecosystem{
	wanted: func(name string) bool {
		switch path.Ext(name) {
		case ".js", ".cjs", ".mjs", ".json", ".node", ".wasm":
			return true
		}
		return strings.HasPrefix(name, ".bin/") || slices.Contains(nodeRecords, name)
	},
	into: func(folder string) bool {
		base := path.Base(folder)
		return !strings.HasPrefix(base, ".") || folder == ".bin" || folder == ".pnpm"
	},
	read:   readNode,
	edited: editedNode,
}

// nodeRecords are files that a package manager rewrites whenever it installs something.
var nodeRecords = []string{".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml"}

// testPackages are packages that run tests or decide how they end, with those whose names
// begin with one and a hyphen.
var testPackages = framework.NodePackages

func runsTests(name string) bool {
	scope, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(testPackages, func(p string) bool { return name == p || scope == p || strings.HasPrefix(name, p+"-") })
}

// packageOf cuts a path below node_modules behind the folder of its package, and returns
// its name as well: "jest/node_modules/expect" and "expect".
func packageOf(file string) (folder, name string) {
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

func readNode(w Watch, p *place) {
	p.sums, p.records = map[string]string{}, map[string]string{}
	for name, s := range p.files {
		if _, pkg := packageOf(name); pkg == "" || !runsTests(pkg) || s.size > maxSummed || s.link {
			continue
		}
		if sum, err := w.Sums.of(p.path(name)); err == nil {
			p.sums[name] = sum
		}
		if folder, _ := packageOf(name); name == folder+"/package.json" {
			p.records[folder] = version(p.path(name))
		}
	}
}

func version(manifest string) string {
	var m struct{ Version string }
	if text, err := projectfile.ReadAnywhere(manifest, projectfile.Manifest); err != nil || json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.Version
}

func editedNode(was, now *place) []edited {
	var out []edited
	managed, recorded := false, false // a manager wrote its record; there is one
	for _, name := range nodeRecords {
		before, ok := was.files[name]
		after, there := now.files[name]
		recorded = recorded || ok && there
		managed = managed || there && (!ok || after.rewritten(before))
	}
	seen := map[string]bool{}
	for _, file := range unequal(was, now) {
		folder, name := packageOf(file)
		if name == "" || strings.HasPrefix(file, ".bin/") {
			folder, name = file, path.Base(file)
		}
		if seen[folder] || patched(now.dir, name) || !editedByHand(was, now, file, managed || !recorded) {
			continue
		}
		seen[folder] = true
		what := "the installed package " + name + " is not what was installed: nobody else has this change; put it back with npm ci"
		if strings.HasPrefix(file, ".bin/") {
			what = "the program " + name + " of an installed package was replaced: put it back with npm ci"
		}
		out = append(out, edited{now.path(file), what})
	}
	return out
}

// patched reports whether the project has a patch for a package, which patch-package, pnpm
// or yarn apply. Packages that run tests are not patched.
func patched(dir, name string) bool {
	if runsTests(name) {
		return false
	}
	for _, file := range entries(filepath.Join(dir, "..", "patches")) {
		plain := strings.NewReplacer("+", "/", "__", "/").Replace(file.Name())
		if rest, ok := strings.CutPrefix(plain, name); ok && strings.HasSuffix(rest, ".patch") && strings.ContainsAny(rest[:1], "/@.") {
			return true
		}
	}
	return false
}

// unequal are the files that were touched, and those with another content than before.
func unequal(was, now *place) []string {
	out := now.touched(was)
	for name, sum := range now.sums {
		if before, ok := was.sums[name]; ok && before != sum {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// editedByHand reports whether no package manager wrote a touched file. managed says that
// one may have been at work.
func editedByHand(was, now *place, file string, managed bool) bool {
	before, existed := was.files[file]
	_, name := packageOf(file)
	switch {
	case strings.HasPrefix(file, ".bin/"):
		return existed && (!managed || before.link && !now.files[file].link)
	case now.files[file].link: // another package, or a link in its place
		_, installed := was.files[file+"/package.json"]
		return !managed && (existed || installed)
	}
	return name != "" && editedInside(was, now, file, managed)
}

// editedInside is the same for a file of a package.
func editedInside(was, now *place, file string, managed bool) bool {
	_, existed := was.files[file]
	folder, name := packageOf(file)
	manifest, known := was.files[folder+"/package.json"]
	reinstalled := known && now.files[folder+"/package.json"].rewritten(manifest)
	switch {
	case was.sums[file] != "" && now.sums[file] != "": // read at both times
		return was.sums[file] != now.sums[file] && (!reinstalled || was.records[folder] == now.records[folder])
	case existed:
		return !reinstalled || !managed
	case known: // programs write into their packages, but not into those that run tests
		return runsTests(name) && !reinstalled && path.Ext(file) != ".json"
	}
	return runsTests(name) && !managed // a package that nobody installed
}
