package project

import (
	_ "embed" // what the frameworks load
	"slices"
	"strings"
)

// Frameworks that write no report load a file that writes one, in the JSON of jest.
var (
	//go:embed reporters/jasmine.cjs
	jasmineReporter string
	//go:embed reporters/uvu.cjs
	uvuReporter string
)

func (n node) jasmine(c call) Check {
	own := ReportDir + "/.jasmine.cjs"
	return n.instrumented(Check{
		Name: "jasmine", Command: with([]string{"jasmine"}, with(c.args, "--reporter="+own)...),
		Files: map[string]string{".jasmine.cjs": jasmineReporter}, Reports: []string{ReportDir + "/jasmine.json"},
	}, c)
}

func (n node) uvu(c call) Check {
	options := `--require="` + ReportDir + `/.uvu.cjs"`
	if i := slices.IndexFunc(c.env, func(e string) bool { return strings.HasPrefix(e, nodeOptions) }); i >= 0 {
		options = strings.TrimPrefix(c.env[i], nodeOptions) + " " + options
	}
	return n.instrumented(Check{
		Name: "uvu", Command: with([]string{"uvu"}, c.args...), Env: []string{nodeOptions + options},
		Files: map[string]string{".uvu.cjs": uvuReporter}, Reports: []string{ReportDir + "/uvu.json"},
	}, c)
}

const nodeOptions = "NODE_OPTIONS="

// borp runs node's own tests, and takes its reporters.
func (n node) borp(c call) Check {
	report := ReportDir + "/node.xml"
	return n.instrumented(Check{
		Name: "borp", Command: with([]string{"borp"}, with(c.args, "--reporter=spec", "--reporter=junit:"+report)...), Reports: []string{report},
	}, c)
}
