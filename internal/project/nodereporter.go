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

// reporterFiles are what is written for frameworks whose options name a file of ours.
var reporterFiles = map[string]map[string]string{
	"jasmine": {".jasmine.cjs": jasmineReporter},
	"borp":    {".node.mjs": nodeReporter},
}

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

// oldMochaCheck writes its JSON only to standard output, and lists no tests. Before 6 an option
// that is not known is an error.
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

const nodeOptions = "NODE_OPTIONS="

// nodeOwn is node's own framework.
var nodeOwn = framework.Named("node")

// nodeCheck is the check of a command of Node, which loads our reporter.
func nodeCheck(words ...string) Check {
	check := rowCheck(nodeOwn, words...)
	check.Files = map[string]string{".node.mjs": nodeReporter}
	return check
}

var (
	nodeTests = regexp.MustCompile(`\b(?:from|require\()\s*['"]node:test['"]`)
	nodeLoads = regexp.MustCompile(`(?m)^\s*(?:import|.*\brequire\()\s*['"](\./[^'"]+)['"]`)
)

var nodeFiles = []string{".js", ".mjs", ".cjs"}

// runnerOfFile is a file that node runs without --test and that holds its tests, or loads
// files that do.
func (n node) runnerOfFile(s segment) (nodeRunner, call, bool) {
	calls := findCalls([]segment{s}, "node", "")
	if len(calls) == 0 {
		return nodeRunner{}, call{}, false
	}
	c := calls[0]
	at := slices.IndexFunc(c.args, func(w string) bool {
		return slices.Contains(nodeFiles, path.Ext(w)) && n.Exists(w)
	})
	if at < 0 {
		return nodeRunner{}, call{}, false
	}
	files := []string{c.args[at]}
	for _, m := range nodeLoads.FindAllStringSubmatch(n.Read(files[0]), -1) {
		if name := path.Join(path.Dir(files[0]), m[1]); slices.Contains(nodeFiles, path.Ext(name)) {
			files = append(files, name)
		} else { // it may be a folder
			files = append(files, name+".js", name+"/index.js")
		}
	}
	return nodeRunner{Framework: inFile, program: "node", check: node.nodeFileCheck}, c, n.FirstMatching(nodeTests, files...) != ""
}

// inFile is node's own framework in a file that node runs: it takes no names of tests.
var inFile = &framework.Framework{Drop: nodeOwn.Drop}

func (n node) nodeFileCheck(c call) Check {
	check := nodeCheck("node")
	check.Command = append(check.Command, c.args...)
	return n.withCoverageTool(check, c)
}

// packageVersion is that of the installed package, else the lowest that package.json asks for, 0
// if unknown.
func (n node) packageVersion(name string) (major, minor int) {
	text := n.deps[name]
	if file := n.FirstAbove("node_modules/" + name + "/package.json"); file != "" {
		var installed struct{ Version string }
		if json.Unmarshal([]byte(n.Read(file)), &installed) == nil && installed.Version != "" {
			text = installed.Version
		}
	}
	m := versionNumber.FindStringSubmatch(text)
	if m == nil {
		return 0, 0
	}
	major, _ = strconv.Atoi(m[1]) // digits
	minor, _ = strconv.Atoi(cmp.Or(m[2], "99"))
	return major, minor
}

var versionNumber = regexp.MustCompile(`^[\^~>=v ]*(\d+)(?:\.(\d+))?`)
