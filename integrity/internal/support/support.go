// Package support distinguishes product code from tests and from what tests depend on: helpers,
// fixtures, expected outputs, plugins and set-up files, and the configuration of the runner.
//
// It decides by paths first (path.go), then by what the configuration of the tree names
// (configured.go), and then by imports (imports.go). Where none of these proves the contrary, a
// file is product code.
package support

import (
	"cmp"
	"path"
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/source"
)

// Role is what a file is for.
type Role uint8

// The roles of a file.
const (
	Product Role = iota // what is tested, with its data; and everything that is nothing else
	Test                // holds tests, or what their runner wrote for them
	Support             // what tests depend on
	Runner              // configures the runner of tests, and nothing else
	Mixed               // configures other things as well; the change is to the runner's part
	Other               // documentation, CI, editors, installed packages
)

// IsTestRelated reports whether the file is a test or what tests depend on.
func (r Role) IsTestRelated() bool { return r == Test || r == Support }

// RoleByPath returns the role that the path of a file suggests, whatever the tree. It is [Mixed]
// for a file that may configure the runner.
func RoleByPath(name string) Role {
	if mixedConfigRE.MatchString(name) && !isInTestFolder(name) {
		return Mixed
	}
	role, _ := pathRole(name)
	return role
}

// Roles returns the roles of changed files by path. A file that existed before the change
// has the role that it had then: the change cannot make product code of a helper.
func Roles(files []facts.File, base facts.Tree) map[string]Role {
	before, after := newTrees(files, base)
	out := make(map[string]Role, len(files))
	for _, f := range files {
		switch {
		case mixedConfigRE.MatchString(f.Path) && !isInTestFolder(f.Path):
			out[f.Path] = Product
			if touchesRunner(f) {
				out[f.Path] = Mixed
			}
		case f.Added && f.OldPath == "":
			out[f.Path] = after.role(f.Path)
		case f.OldPath != "":
			out[f.Path] = before.role(f.OldPath)
		default:
			out[f.Path] = before.role(f.Path)
		}
	}
	return out
}

// tree is the project before or after the change, with what was read from it so far.
type tree struct {
	paths     []string
	exists    map[string]bool
	texts     map[string][]byte // the texts that were read; nil if a file cannot be read
	readFiles func([]string) map[string][]byte
	bytesLeft int // bytes that may still be read

	roles map[string]Role // the roles that were determined, by path

	// What the configuration names, see readConfigs.
	supportFiles map[string]bool // files that runners load
	testGlobs    []string        // patterns of test files
	pluginFiles  map[string]bool // plugins that the project provides, which are its product
	configured   bool            // the configuration was read

	importPaths map[string]string // import paths of Go by folder, see goImportPath
}

// Bounds of what is read to find out who imports a file.
const (
	maxImporters = 800
	maxBytes     = 16 << 20
	batchSize    = 40 // files read at a time
)

// newTrees returns the project before and after the change.
func newTrees(files []facts.File, base facts.Tree) (before, after *tree) {
	before, after = newTree(base), newTree(base)
	var paths []string
	if base.Paths != nil {
		paths = base.Paths()
	}
	changed := map[string]bool{}
	for _, f := range files {
		changed[f.Path], changed[f.OldPath] = true, true
		if !f.Added || f.OldPath != "" {
			before.addChanged(cmp.Or(f.OldPath, f.Path), f.Before)
		}
		if !f.Deleted {
			after.addChanged(f.Path, f.After)
		}
	}

	for _, p := range paths {
		if !before.exists[p] && !changed[p] {
			before.add(p)
			after.add(p)
		}
	}
	return before, after
}

// newTree returns a tree without files.
func newTree(base facts.Tree) *tree {
	return &tree{exists: map[string]bool{}, texts: map[string][]byte{}, roles: map[string]Role{}, readFiles: base.Texts, bytesLeft: maxBytes}
}

// add adds a file that is read only if needed.
func (t *tree) add(name string) {
	t.exists[name] = true
	t.paths = append(t.paths, name)
}

// addChanged adds a changed file, whose text is known.
func (t *tree) addChanged(name string, text []byte) {
	t.add(name)
	t.texts[name] = text
}

// role returns the role of a file of the tree.
func (t *tree) role(name string) Role {
	if r, ok := t.roles[name]; ok {
		return r
	}
	r, sure := pathRole(name)
	if sure {
		return r
	}
	t.roles[name] = r // for files that import each other
	t.roles[name] = t.determineRole(name, r)
	return t.roles[name]
}

// determineRole returns the role of a file whose path does not decide it. suggested is what the
// path suggests.
func (t *tree) determineRole(name string, suggested Role) Role {
	t.readConfigs()
	lang := source.DetectLanguage(name, nil)
	switch {
	case t.pluginFiles[name]:
		return Product
	case suggested.IsTestRelated(): // by a folder that may as well hold product code
		if t.isUsedByProduct(name, lang) {
			return Product
		}
		return suggested
	case t.supportFiles[name] && !t.isUsedByProduct(name, lang):
		return Support
	case lang == source.Unknown:
		return t.dataRole(name, suggested)
	case lang == source.Rust && t.isRustTestModule(name):
		return Support
	case t.isDiscovered(name) && t.definesTests(name) && !t.isUsedByProduct(name, lang):
		return Test
	case t.isTestHelper(name, lang):
		return Support
	}
	return suggested
}

// text returns the text of a file, nil if it cannot be read.
func (t *tree) text(name string) []byte {
	t.fetch([]string{name})
	return t.texts[name]
}

// fetch reads the files that were not read yet, until bytesLeft is used up.
func (t *tree) fetch(names []string) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		_, known := t.texts[n]
		return known || !t.exists[n]
	})
	if len(names) == 0 || t.readFiles == nil || t.bytesLeft <= 0 {
		return
	}
	found := t.readFiles(names)
	for _, n := range names {
		t.texts[n] = found[n]
		t.bytesLeft -= len(found[n])
	}
}

// definesTests reports whether a file would hold tests if it had the name of a test file.
func (t *tree) definesTests(name string) bool {
	ext := path.Ext(name)
	for _, similarity := range []string{"test_x", "x.test"} {
		if in, _ := source.Inspect(similarity+ext, t.text(name)); len(in.Tests) > 0 {
			return true
		}
	}
	return false
}
