// Package gotests reads the names of Go's tests from the source files. go test -list links
// the tests of every package again to print them, which takes as long as running most.
package gotests

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"supervise/internal/measure/internal/listing"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/metric"
)

// command is the inventory of Go, before its packages.
var command = []string{"go", "test", "-json", "-list", "."}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// ListFromSource returns the tests of the packages whose tests all ran, and the command that lists
// those of the others, nil if there are none. It is not ok if that takes the complete
// inventory: in another form, or in sources that cannot be read. tagged says that build tags
// may be set.
func ListFromSource(dir string, inventory []string, tagged bool, ran *metric.Tests) (list []listing.Test, again []string, ok bool) {
	if len(inventory) <= len(command) || !slices.Equal(inventory[:len(command)], command) {
		return nil, nil, false
	}
	for _, pattern := range inventory[len(command):] {
		module, whole := strings.CutSuffix(pattern, "/...")
		if !whole || module != "." && !strings.HasPrefix(module, "./") {
			return nil, nil, false
		}
		r := reader{root: filepath.Join(dir, filepath.FromSlash(module)), module: module, tagged: tagged, ran: listing.ListedNames(ran), broken: ran.Broken}
		if !r.all() {
			return nil, nil, false
		}
		list, again = append(list, r.list...), append(again, r.again...)
	}
	if len(again) > 0 {
		again = append(slices.Clone(command), again...)
	}
	return list, again, true
}

// reader reads one module.
type reader struct {
	root, module, path string // its folder, the same as a pattern has it, and its import path
	tagged             bool
	ran                map[listing.Test]bool
	broken             []metric.Suite
	list               []listing.Test
	again              []string // patterns of packages
}

func (r *reader) all() bool {
	if r.path = modulePath(r.root); r.path == "" {
		return false
	}
	return filepath.WalkDir(r.root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != r.root && (strings.ContainsAny(d.Name()[:1], "._") || d.Name() == "testdata" || d.Name() == "vendor" || exists(filepath.Join(dir, "go.mod"))) {
			return fs.SkipDir
		}
		return r.folder(dir)
	}) == nil
}

// modulePath is the import path of the module in a folder, "" if there is none.
func modulePath(dir string) string {
	text, err := projectfile.Read(filepath.Join(dir, "go.mod"), projectfile.Manifest)
	if err != nil {
		return ""
	}
	if m := moduleLine.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// folder reads one package. Packages with tests that did not run are listed again, with
// those below: as a pattern, since an error in the name of a package ends go test.
func (r *reader) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(r.root, dir)
	if err != nil {
		return err
	}
	suite := path.Join(r.path, filepath.ToSlash(rel))
	if slices.ContainsFunc(r.broken, func(b metric.Suite) bool { return b.Name == suite }) {
		return nil
	}
	var here []listing.Test
	unseen := false
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") || e.IsDir() {
			continue
		}
		names, err := r.names(filepath.Join(dir, e.Name()))
		if err != nil {
			unseen = true // go test says what is wrong with it
		}
		for _, name := range names {
			here = append(here, listing.Test{Suite: suite, Name: name})
			unseen = unseen || !r.ran[listing.NormalizedName(suite, name)]
		}
	}
	if unseen {
		r.again = append(r.again, "./"+path.Join(r.module, filepath.ToSlash(rel), "..."))
	} else {
		r.list = append(r.list, here...)
	}
	return nil
}

// names returns the tests of a file, as go test finds them.
func (r *reader) names(file string) ([]string, error) {
	text, err := projectfile.Read(file, projectfile.Source)
	if err != nil {
		return nil, err
	}
	if !r.tagged {
		use := build.Default
		use.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text))), nil }
		if ok, err := use.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || !ok {
			return nil, err
		}
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (isTestOf(f, "Test", "T") || isTestOf(f, "Fuzz", "F")) {
			out = append(out, f.Name.Name)
		}
	}
	for _, e := range doc.Examples(tree) {
		if e.Output != "" || e.EmptyOutput {
			out = append(out, "Example"+e.Name)
		}
	}
	return out, nil
}

// begins reports whether a function is a test of a kind: its name continues with no lower-case
// letter, and it takes what the kind takes.
func isTestOf(f *ast.FuncDecl, kind, takes string) bool {
	rest, ok := strings.CutPrefix(f.Name.Name, kind)
	if first, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && unicode.IsLower(first) {
		return false
	}
	if f.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := pointer.X.(type) {
	case *ast.Ident:
		return x.Name == takes
	case *ast.SelectorExpr:
		return x.Sel.Name == takes
	}
	return false
}
