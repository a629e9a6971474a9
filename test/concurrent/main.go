// Concurrent prints the packages whose tests the race detector has to watch: those that
// start goroutines or share values between them, and those with such a package in their
// own internal folder: go run ./test/concurrent [PACKAGE…]
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	patterns := os.Args[1:]
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := concurrent(".", patterns...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(packages, "\n"))
}

// concurrent returns the import paths of concurrent packages among the patterns.
func concurrent(dir string, patterns ...string) ([]string, error) {
	list := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, patterns...)...)
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []string
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, path)
		yes, err := concurrentFolder(folder)
		if err != nil {
			return nil, err
		}
		for yes { // the tests of a parent run what is in its internal folder
			found[path] = true
			path, _, yes = cutLast(path, "/internal/")
		}
	}
	var packages []string
	for _, path := range all {
		if found[path] {
			packages = append(packages, path)
		}
	}
	return packages, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func concurrentFolder(dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false, fmt.Errorf("list %s: %w", dir, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("parse %s: %w", file, err)
		}
		if concurrentFile(f) {
			return true, nil
		}
	}
	return false, nil
}

// concurrentFile reports whether a file starts goroutines, or names something of the
// packages sync, sync/atomic and errgroup, but for sync.Once and its kind, which make a
// value once and share nothing else.
func concurrentFile(f *ast.File) (yes bool) {
	packages := map[string]bool{}
	for _, spec := range f.Imports {
		switch path, _ := strconv.Unquote(spec.Path.Value); path {
		case "sync", "sync/atomic", "golang.org/x/sync/errgroup":
			name := path[strings.LastIndex(path, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			yes = true
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && packages[x.Name] && !strings.HasPrefix(n.Sel.Name, "Once") {
				yes = true
			}
		}
		return !yes
	})
	return yes
}
