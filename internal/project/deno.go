package project

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
)

var denoMarkers = framework.Named("deno").ConfigFiles

// denoTests are the files that deno test looks for.
var denoTests = []string{"*_test.ts", "*.test.ts", "*_test.tsx", "*.test.tsx", "*_test.js", "*.test.js", "*_test.mjs", "*.test.mjs", "test.ts", "test.js"}

// proposeDeno recognizes a folder with a configuration of Deno and without package.json. With one it
// is a project of Node, whose scripts may call Deno.
func proposeDeno(f projectfs.Folder) proposal {
	var p proposal
	config := f.First(denoMarkers...)
	if f.First(packageJSON) != "" {
		return p
	}
	keys, err := parseJSONKeys(f.Read(config))
	if err != nil {
		p.note("%s cannot be read: %v", config, err)
		return p
	}
	n := node{Folder: f, manifest: manifest{keys: keys, scripts: parseDenoTasks(keys), deps: map[string]string{}}, manager: deno, file: config}
	p.require(f, deno.name, deno.howToGet)
	n.parts = n.flatten("test")
	if !n.proposeScripted(&p) && len(f.Search(1, denoTests...)) > 0 {
		r := denoRunner()
		p.addTool(r.program, config)
		n.addTests(&p, r, r.call())
	}
	n.denoLint(&p, config)
	p.lintsAll = true
	p.covers = coversEverything
	return p
}

// deno takes the place of a package manager: it runs its tasks itself.
var deno = manager{name: "deno", run: []string{"deno", "task", "--quiet"}, howToGet: "npm install -g deno"}

// denoRunner returns deno test.
func denoRunner() nodeRunner {
	return nodeRunners()[slices.IndexFunc(nodeRunners(), func(r nodeRunner) bool { return r.Name == deno.name })]
}

// denoLint proposes the linter and the type check, if the project has a key or a task for them.
func (n node) denoLint(p *proposal, config string) {
	for _, l := range []struct {
		key  string
		args []string
	}{{"lint", []string{"--json"}}, {"check", nil}} {
		calls := findCalls(n.lintParts(), deno.name, l.key)
		if n.keys[l.key] == nil && len(calls) == 0 {
			continue
		}
		row, words := framework.LinterNamed("deno "+l.key), []string{l.key}
		if len(calls) > 0 {
			words = framework.WithoutOptions(calls[0].args, strings.Fields(row.Verdict))
		}
		p.addTool(row.Name, config)
		p.add(Check{Kind: Lint, Name: row.Name, Command: withWords(withWords([]string{deno.name}, words...), l.args...), Stderr: l.args == nil})
	}
}

// parseJSONKeys returns the values of an object in JSON by key. The text may have comments and
// trailing commas.
func parseJSONKeys(text string) (map[string]json.RawMessage, error) {
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		return nil, err
	}
	var keys map[string]json.RawMessage
	return keys, json.Unmarshal(plain, &keys)
}

// parseDenoTasks returns the commands of tasks by name. In the configuration, a task is a command
// or an object with one.
func parseDenoTasks(keys map[string]json.RawMessage) map[string]string {
	var tasks map[string]json.RawMessage
	out := map[string]string{}
	if keys["tasks"] == nil || json.Unmarshal(keys["tasks"], &tasks) != nil {
		return out
	}
	for name, raw := range tasks {
		var task struct{ Command string }
		if json.Unmarshal(raw, &task.Command) == nil || json.Unmarshal(raw, &task) == nil {
			out[name] = task.Command
		}
	}
	return out
}
