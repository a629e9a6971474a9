// Package conceal runs tests so that the code under test cannot find out that it is tested. Code
// that then behaves in another way was written for its tests.
//
// [FindSigns] finds code that may look for the test runner. If there is any, a [Trial] runs the
// tests of a change concealed, and compares them with concealed tests of the base. conceal.go has
// the files that conceal a run, by runner.
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

// folder is the folder of the files that conceal a run. It is in the private folder of the check.
const folder = "plain/"

// concealment returns the files that hide a runner from the code, by their names in folder. The
// file run.sh starts the command. root is the root of the tree. stack tells whether the code may
// look at its callers, so that they are hidden, too.
type concealment func(root string, stack bool) (map[string]string, error)

// concealments are the runners that can be hidden.
var concealments = map[framework.Concealment]concealment{
	framework.PythonPlugin: pytestFiles,
	framework.GoOverlay:    goFiles,
	framework.NodePreload:  nodeFiles,
}

// concealmentOf returns the concealment for the runner of a check, or nil if the runner cannot be
// hidden.
func concealmentOf(c measure.Check) concealment {
	if f := framework.Named(c.Runner); f != nil {
		return concealments[f.Conceal]
	}
	return nil
}

// concealed returns the check with its tests concealed. It returns false if that is not possible.
func concealed(c measure.Check, root string, stack bool) (measure.Check, bool) {
	filesOf := concealmentOf(c)
	if filesOf == nil {
		return c, false
	}
	added, err := filesOf(root, stack)
	if err != nil {
		return c, false
	}
	files := map[string]string{}
	maps.Copy(files, c.Files)
	for name, text := range added {
		files[folder+name] = text
	}
	c.Files = files
	c.Command = append([]string{"sh", measure.ReportDir + "/" + folder + "run.sh"}, c.Command...)
	return c, true
}

// pytestFiles returns a plugin that hides pytest from the code.
func pytestFiles(root string, stack bool) (map[string]string, error) {
	files := map[string]string{"run.sh": pytestScript, "plainrun.py": pytestPlugin, "root": root}
	if stack {
		files["stack"] = ""
	}
	return files, nil
}

// nodeFiles returns a module that is loaded first and shows the code another environment and
// other arguments. The code can still see its callers and the globals of a runner.
func nodeFiles(root string, _ bool) (map[string]string, error) {
	return map[string]string{"run.sh": nodeScript, "plainrun.cjs": nodePreload, "root": root}, nil
}

// goFiles returns an overlay for the go command. It replaces package testing by one that denies
// that tests run, and adds a file to each package with tests that takes the arguments of the test
// binary from a variable.
func goFiles(root string, stack bool) (map[string]string, error) {
	files := map[string]string{"run.sh": goScript, "start.sh": startScript, "testing.go": goTesting}

	// replace maps the files of the build to the files that replace them.
	replace := map[string]string{"@GOROOT@/src/testing/plain_run.go": measure.ReportDir + "/" + folder + "testing.go"}
	add := func(path, text string) {
		name := fmt.Sprintf("%d.go", len(files))
		files[name], replace[path] = text, measure.ReportDir+"/"+folder+name
	}

	packages, err := findGoTests(root)
	if err != nil {
		return nil, err
	}

	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		text, hasMain := goMain, false
		for _, file := range packages[dir] {
			hasMain = hasMain || testMainPattern.MatchString(file.text)
			if stack { // then stack frames show the file name of the line directive
				add(file.path, "//line "+filepath.Join(dir, "cases.go")+":1\n"+file.text)
			}
		}
		if hasMain {
			text = goInit
		}

		name := packageNamePattern.FindStringSubmatch(packages[dir][0].text)
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
	// testMainPattern matches the start of the function TestMain of a package.
	testMainPattern = regexp.MustCompile(`(?m)^func TestMain\(`)
	// packageNamePattern matches a package clause, as in "package calc". The group is the name.
	packageNamePattern = regexp.MustCompile(`(?m)^package\s+(\w+)`)
)

// testFile is a file of Go tests.
type testFile struct{ path, text string }

// findGoTests returns the files of Go tests below root, by folder. Hidden, vendored and testdata
// folders are not searched.
func findGoTests(root string) (map[string][]testFile, error) {
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
