// Package conceal runs tests so that the code under test cannot see that it is under
// test. Code that behaves otherwise then was written for its tests.
package conceal

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/source"
)

//go:embed pytest.py
var pytestPlugin string

//go:embed pytest.sh
var pytestScript string

//go:embed node.cjs
var nodePreload string

//go:embed node.sh
var nodeScript string

//go:embed go.sh
var goScript string

//go:embed start.sh
var startScript string

//go:embed testing.go.txt
var goTesting string

//go:embed main.go.txt
var goMain string

//go:embed init.go.txt
var goInit string

// folder is where the files of a disguise are, in the private folder of the check.
const folder = "plain/"

// disguises are what hides the runner from the code. Each returns files for the private
// folder, of which run.sh starts the command. root is the tree; stack says that the code may
// look at its callers.
var disguises = map[framework.Concealment]func(root string, stack bool) (map[string]string, error){
	framework.PythonPlugin: underPytest,
	framework.GoOverlay:    underGo,
	framework.NodePreload:  underNode,
}

// disguiseOf is what hides the runner of a check, nil if nothing does.
func disguiseOf(c measure.Check) func(root string, stack bool) (map[string]string, error) {
	if f := framework.Named(c.Runner); f != nil {
		return disguises[f.Conceal]
	}
	return nil
}

// as returns the check with its tests in disguise, and false where its runner does not
// allow it.
func as(c measure.Check, root string, stack bool) (measure.Check, bool) {
	make := disguiseOf(c)
	if make == nil {
		return c, false
	}
	own, err := make(root, stack)
	if err != nil {
		return c, false
	}
	files := maps.Clone(c.Files)
	if files == nil {
		files = map[string]string{}
	}
	for name, text := range own {
		files[folder+name] = text
	}
	c.Files = files
	c.Command = append([]string{"sh", measure.ReportDir + "/" + folder + "run.sh"}, c.Command...)
	return c, true
}

func underPytest(root string, stack bool) (map[string]string, error) {
	files := map[string]string{"run.sh": pytestScript, "plainrun.py": pytestPlugin, "root": root}
	if stack {
		files["stack"] = ""
	}
	return files, nil
}

// underNode preloads what shows the code another environment and other arguments; callers
// and the globals of a runner stay in its sight.
func underNode(root string, _ bool) (map[string]string, error) {
	return map[string]string{"run.sh": nodeScript, "plainrun.cjs": nodePreload, "root": root}, nil
}

// underGo overlays each package that has tests with a file that reads the arguments of
// its binary from elsewhere, and package testing with one that denies that it runs.
func underGo(root string, stack bool) (map[string]string, error) {
	files := map[string]string{"run.sh": goScript, "start.sh": startScript, "testing.go": goTesting}
	replace := map[string]string{"@GOROOT@/src/testing/plain_run.go": measure.ReportDir + "/" + folder + "testing.go"}
	add := func(path, text string) {
		name := fmt.Sprintf("%d.go", len(files))
		files[name], replace[path] = text, measure.ReportDir+"/"+folder+name
	}
	packages, err := testFiles(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		text, own := goMain, false
		for _, file := range packages[dir] {
			own = own || testMain.MatchString(file.text)
			if stack { // frames name the file that the line says
				add(file.path, "//line "+filepath.Join(dir, "cases.go")+":1\n"+file.text)
			}
		}
		if own {
			text = goInit
		}
		name := packageName.FindStringSubmatch(packages[dir][0].text)
		if name == nil {
			continue
		}
		add(filepath.Join(dir, "plain_run_test.go"), "package "+name[1]+"\n"+text)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	files["overlay"] = string(overlay)
	return files, err
}

var (
	testMain    = regexp.MustCompile(`(?m)^func TestMain\(`)
	packageName = regexp.MustCompile(`(?m)^package\s+(\w+)`)
)

type testFile struct{ path, text string }

// testFiles are the files of Go tests below root, by folder.
func testFiles(root string) (map[string][]testFile, error) {
	out := map[string][]testFile{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && (name == "testdata" || rel != "." && strings.HasPrefix(name, ".") || source.IsVendored(filepath.ToSlash(rel)+"/x")):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, "_test.go"):
			text, err := projectfile.Read(path, projectfile.Source)
			out[filepath.Dir(path)] = append(out[filepath.Dir(path)], testFile{path, string(text)})
			return err
		}
		return nil
	})
	return out, err
}
