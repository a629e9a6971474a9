package project

import (
	"cmp"
	_ "embed" // what the frameworks load
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
)

// Frameworks that write no report, or one that lacks tests, load a file that writes one.
var (
	//go:embed reporters/jasmine.cjs
	jasmineReporter string
	//go:embed reporters/mocha.cjs
	mochaReporter string
	//go:embed reporters/node.mjs
	nodeReporter string
	//go:embed reporters/uvu.cjs
	uvuReporter string
)

// reporterFiles maps a framework, whose options name our reporter, to the file and its text.
var reporterFiles = map[string]map[string]string{
	"jasmine": {".jasmine.cjs": jasmineReporter},
	"borp":    {".node.mjs": nodeReporter},
	"node":    {".node.mjs": nodeReporter},
}

// ReporterFiles returns the files that the options of a framework name, for [Check].Files.
func ReporterFiles(name string) map[string]string { return reporterFiles[name] }

// uvuCheck adds our reporter to the options of node that the script sets.
func (n node) uvuCheck(c call) Check {
	options := `--require="` + ReportDir + `/.uvu.cjs"`
	if i := slices.IndexFunc(c.env, func(e string) bool { return strings.HasPrefix(e, nodeOptions) }); i >= 0 {
		options = strings.TrimPrefix(c.env[i], nodeOptions) + " " + options
	}
	return n.withCoverageTool(Check{
		Name: "uvu", Command: withWords([]string{"uvu"}, c.args...), Env: []string{nodeOptions + options},
		Files: map[string]string{".uvu.cjs": uvuReporter}, Reports: []string{ReportDir + "/uvu.json"},
	}, c)
}

// oldMochaCheck returns the check of a Mocha before 9.2, which writes JSON only to standard output
// and lists no tests. Before version 6, an unknown option is an error.
func (n node) oldMochaCheck(base []string, major int, c call) Check {
	words := []string{"--reporter=" + ReportDir + "/.mocha.cjs"}
	if major < 6 {
		words = append(words, "--no-colors")
	} else {
		words = append(words, "--no-bail", "--no-color")
	}
	return n.withCoverageTool(Check{
		Name: "mocha", Command: withWords(base, words...), Files: map[string]string{".mocha.cjs": mochaReporter}, Reports: []string{ReportDir + "/mocha.json"},
	}, c)
}

// nodeOptions is the start of the environment entry with options for node.
const nodeOptions = "NODE_OPTIONS="

// nodeOwn is the framework that is part of Node.
var nodeOwn = framework.Named("node")

// nodeCheck returns the check of a command of Node that loads our reporter.
func nodeCheck(words ...string) Check {
	check := rowCheck(nodeOwn, words...)
	check.Files = reporterFiles[nodeOwn.Name]
	return check
}

// nodeTestsPattern matches the import of Node's test framework: from "node:test".
// nodeLoadsPattern captures another file that a file loads: ./units.js of require("./units.js").
var (
	nodeTestsPattern = regexp.MustCompile(`\b(?:from|require\()\s*['"]node:test['"]`)
	nodeLoadsPattern = regexp.MustCompile(`(?m)^\s*(?:import|.*\brequire\()\s*['"](\./[^'"]+)['"]`)
)

// nodeFiles are the extensions of files that node runs.
var nodeFiles = []string{".js", ".mjs", ".cjs"}

// runnerOfFile returns the framework and the call of a command that runs a file without --test, as
// in "node test.js". It is false unless the file, or one that it loads, uses node:test.
func (n node) runnerOfFile(s segment) (nodeRunner, call, bool) {
	c, ok := s.callOf("node", "")
	if !ok {
		return nodeRunner{}, call{}, false
	}
	at := slices.IndexFunc(c.args, func(w string) bool {
		return slices.Contains(nodeFiles, path.Ext(w)) && n.Exists(w)
	})
	if at < 0 {
		return nodeRunner{}, call{}, false
	}
	files := []string{c.args[at]}
	for _, m := range nodeLoadsPattern.FindAllStringSubmatch(n.Read(files[0]), -1) {
		if name := path.Join(path.Dir(files[0]), m[1]); slices.Contains(nodeFiles, path.Ext(name)) {
			files = append(files, name)
		} else { // it may be a folder
			files = append(files, name+".js", name+"/index.js")
		}
	}
	return nodeRunner{Framework: inFile, program: "node", check: node.nodeFileCheck}, c, n.FirstMatching(nodeTestsPattern, files...) != ""
}

// inFile is Node's framework for a file that node runs directly. Such a run cannot select tests.
var inFile = &framework.Framework{Drop: nodeOwn.Drop}

// nodeFileCheck returns the check of a file with tests.
func (n node) nodeFileCheck(c call) Check {
	check := nodeCheck("node")
	check.Command = append(check.Command, c.args...)
	return n.withCoverageTool(check, c)
}

// packageVersion returns the version of the installed package, else the lowest one that
// package.json allows. It returns 0, 0 if the version is unknown, and 99 for an unknown minor
// version.
func (n node) packageVersion(name string) (major, minor int) {
	text := n.deps[name]
	if file := n.FirstAbove("node_modules/" + name + "/package.json"); file != "" {
		var installed struct{ Version string }
		if json.Unmarshal([]byte(n.Read(file)), &installed) == nil && installed.Version != "" {
			text = installed.Version
		}
	}
	m := versionNumberPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, 0
	}
	major, _ = strconv.Atoi(m[1]) // digits
	minor, _ = strconv.Atoi(cmp.Or(m[2], "99"))
	return major, minor
}

// versionNumberPattern captures the major and the minor version: 9 and 2 of "^9.2.0".
var versionNumberPattern = regexp.MustCompile(`^[\^~>=v ]*(\d+)(?:\.(\d+))?`)
