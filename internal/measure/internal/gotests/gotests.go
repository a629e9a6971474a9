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

// inventoryCommand is the command that lists Go tests, without its packages.
var inventoryCommand = []string{"go", "test", "-json", "-list", "."}

// moduleLineRE captures the import path in a go.mod: example.com/shop of "module example.com/shop".
var moduleLineRE = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// ListFromSource reads the tests from the sources below dir. list are the tests of the packages
// whose tests all ran. again is the command that lists those of the other packages, nil if there
// are none. ok is false if the complete inventory command is needed: it has another form than
// [inventoryCommand] with patterns, or the sources cannot be read. tagged means that build tags
// may be set, so that constraints of files are ignored. ran are the tests of this run.
func ListFromSource(dir string, inventory []string, tagged bool, ran *metric.Tests) (list []listing.Test, again []string, ok bool) {
	if len(inventory) <= len(inventoryCommand) || !slices.Equal(inventory[:len(inventoryCommand)], inventoryCommand) {
		return nil, nil, false
	}
	for _, pattern := range inventory[len(inventoryCommand):] {
		module, isPattern := strings.CutSuffix(pattern, "/...")
		if !isPattern || module != "." && !strings.HasPrefix(module, "./") {
			return nil, nil, false
		}
		r := moduleReader{root: filepath.Join(dir, filepath.FromSlash(module)), module: module, tagged: tagged, ranTests: listing.ListedNames(ran), broken: ran.Broken}
		if !r.readAll() {
			return nil, nil, false
		}
		list, again = append(list, r.list...), append(again, r.unreadPatterns...)
	}
	if len(again) > 0 {
		again = append(slices.Clone(inventoryCommand), again...)
	}
	return list, again, true
}

// moduleReader reads the packages of one module. root is the path of its folder, module the same
// folder as in a pattern ("." or "./api"), and modulePath its import path.
type moduleReader struct {
	root, module, modulePath string
	tagged                   bool // see ListFromSource
	ranTests                 map[listing.Test]bool
	broken                   []metric.Suite
	list                     []listing.Test // tests of the packages whose tests all ran
	unreadPatterns           []string       // patterns of the packages that go test has to list
}

// readAll reads all packages of the module. It is false if they cannot be read.
func (r *moduleReader) readAll() bool {
	if r.modulePath = modulePath(r.root); r.modulePath == "" {
		return false
	}
	return filepath.WalkDir(r.root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != r.root && (strings.ContainsAny(d.Name()[:1], "._") || d.Name() == "testdata" || d.Name() == "vendor" || exists(filepath.Join(dir, "go.mod"))) {
			return fs.SkipDir
		}
		return r.readPackage(dir)
	}) == nil
}

// modulePath returns the import path of the module in a folder, "" if there is none.
func modulePath(dir string) string {
	text, err := projectfile.Read(filepath.Join(dir, "go.mod"), projectfile.Manifest)
	if err != nil {
		return ""
	}
	if m := moduleLineRE.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// readPackage reads one package. If a test in it did not run, go test has to list the package. It
// gets a pattern with the packages below too, since go test stops at an error in the name of a
// single package.
func (r *moduleReader) readPackage(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	rel, err := filepath.Rel(r.root, dir)
	if err != nil {
		return err
	}

	suite := path.Join(r.modulePath, filepath.ToSlash(rel))
	if slices.ContainsFunc(r.broken, func(b metric.Suite) bool { return b.Name == suite }) {
		return nil
	}

	var tests []listing.Test
	unlisted := false
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") || e.IsDir() {
			continue
		}
		names, err := r.readTestNames(filepath.Join(dir, e.Name()))
		if err != nil {
			unlisted = true // go test says what is wrong with it
		}
		for _, name := range names {
			tests = append(tests, listing.Test{Suite: suite, Name: name})
			unlisted = unlisted || !r.ranTests[listing.NormalizedName(suite, name)]
		}
	}

	if unlisted {
		r.unreadPatterns = append(r.unreadPatterns, "./"+path.Join(r.module, filepath.ToSlash(rel), "..."))
	} else {
		r.list = append(r.list, tests...)
	}

	return nil
}

// readTestNames returns the tests of a file, as go test finds them.
func (r *moduleReader) readTestNames(file string) ([]string, error) {
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
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (isTestFunction(f, "Test", "T") || isTestFunction(f, "Fuzz", "F")) {
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

// isTestFunction reports whether a function is a test of a kind: the kind is not followed by a
// lower-case letter in its name, and it has the parameter of the kind.
func isTestFunction(f *ast.FuncDecl, kind, paramType string) bool {
	suffix, ok := strings.CutPrefix(f.Name.Name, kind)
	if first, _ := utf8.DecodeRuneInString(suffix); !ok || suffix != "" && unicode.IsLower(first) {
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
		return x.Name == paramType
	case *ast.SelectorExpr:
		return x.Sel.Name == paramType
	}
	return false
}
