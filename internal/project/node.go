package project

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"supervise/internal/project/internal/projectfs"
)

// manifest is a package.json, as far as detection needs it.
type manifest struct {
	keys       map[string]json.RawMessage
	scripts    map[string]string
	deps       map[string]string
	workspaces []string
}

// readManifest reads the package.json of a folder. The manifest is empty after an error. Fields of an
// unexpected type count as absent, as in other tools.
func readManifest(f projectfs.Folder) (manifest, error) {
	m := manifest{deps: map[string]string{}}
	if err := json.Unmarshal([]byte(f.Read("package.json")), &m.keys); err != nil {
		return m, err
	}
	m.decode("scripts", &m.scripts)
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"} {
		var deps map[string]string
		m.decode(key, &deps)
		maps.Copy(m.deps, deps)
	}
	var object struct{ Packages []string }
	m.decode("workspaces", &object)
	m.decode("workspaces", &m.workspaces)
	m.workspaces = append(m.workspaces, object.Packages...)
	var pnpm struct{ Packages []string }
	if yaml.Unmarshal([]byte(f.Read("pnpm-workspace.yaml")), &pnpm) == nil {
		m.workspaces = append(m.workspaces, pnpm.Packages...)
	}
	return m, nil
}

// decode reads one key into v, which does not change if the type differs.
func (m manifest) decode(key string, v any) {
	_ = json.Unmarshal(m.keys[key], v) // a field of another type counts as absent
}

// manager is a package manager of Node.
type manager struct {
	name     string
	locks    []string
	exec     []string // the words before a program of the project's dependencies
	run      []string // the words before a script of package.json
	install  string   // the command that installs the dependencies
	howToGet string   // how to install the manager
}

// managers are the known package managers. The order decides between several lock files. The options
// of npx and bunx prevent downloads.
var managers = []manager{
	{"pnpm", []string{"pnpm-lock.yaml"}, []string{"pnpm", "exec"}, []string{"pnpm", "--silent", "run"}, "pnpm install --frozen-lockfile", "corepack enable pnpm, or npm install -g pnpm"},
	{"yarn", []string{"yarn.lock"}, []string{"yarn", "run", "--silent"}, []string{"yarn", "run", "--silent"}, "yarn install --immutable", "corepack enable yarn, or npm install -g yarn"},
	{"bun", []string{"bun.lock", "bun.lockb"}, []string{"bunx", "--no-install"}, []string{"bun", "run", "--silent"}, "bun install --frozen-lockfile", "npm install -g bun"},
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, []string{"npx", "--no-install"}, []string{"npm", "run", "--silent"}, "npm ci", "install Node.js"},
}

var npm = managers[len(managers)-1]

// node is a folder with a package.json.
type node struct {
	projectfs.Folder
	manifest
	manager manager
	file    string    // name of the file with the scripts
	parts   []segment // the commands of the script test
}

// proposeNode recognizes a package for Node, or the root of a workspace of packages.
func proposeNode(f projectfs.Folder) proposal {
	var p proposal
	m, err := readManifest(f)
	if err != nil {
		if f.Read("package.json") != "" {
			p.note("package.json cannot be read: %v", err)
		}
		return p
	}

	n := node{Folder: f, manifest: m, file: packageJSON}
	n.manager = n.chooseManager(&p)
	n.parts = n.flatten("test")
	n.proposeBuild(&p)
	n.proposeTests(&p)
	n.proposeLint(&p)
	if len(p.checks) > 0 && f.FirstAbove("node_modules", ".pnp.cjs") == "" && len(m.deps) > 0 {
		p.note("the dependencies in package.json are not installed (node_modules is not there): run %s", n.manager.installCommand(n))
	}
	if len(m.workspaces) > 0 {
		p.addTool("workspace", f.First("pnpm-workspace.yaml", "package.json"))
		if p.hasKind(Test) {
			p.covers = func(dir string) bool { return projectfs.IsMember(dir, m.workspaces) }
		}
	}

	p.lintsAll = true
	return p
}

// installCommand returns the command that installs the dependencies of the project.
func (m manager) installCommand(n node) string {
	if n.Folder.FirstAbove(m.locks...) == "" && m.name == "npm" {
		return "npm install"
	}
	return m.install
}

// chooseManager finds the package manager: by the packageManager field, else by the lock file,
// here or above.
func (n node) chooseManager(p *proposal) manager {
	chosen, why := npm, "package.json"
	for _, m := range managers {
		if lock := n.Folder.FirstAbove(m.locks...); lock != "" {
			chosen, why = m, lock
			break
		}
	}

	for _, up := range n.Upwards() {
		var field string
		m, _ := readManifest(up)
		m.decode("packageManager", &field)
		name, _, _ := strings.Cut(field, "@")
		if i := slices.IndexFunc(managers, func(m manager) bool { return m.name == name }); i >= 0 {
			chosen, why = managers[i], "packageManager in package.json"
			break
		}
	}

	p.addTool(chosen.name, why)
	if n.OnPath(chosen.name) {
		return chosen
	}

	p.note("%s is not on PATH: %s", chosen.name, chosen.howToGet)
	if chosen.name != "npm" && n.OnPath("npm") {
		chosen.exec, chosen.run = npm.exec, npm.run
	}
	return chosen
}

// execCommand returns the argv that runs a program of the project's dependencies. It avoids yarn
// if the project has a script of that name, which yarn would run.
func (n node) execCommand(program string, words ...string) []string {
	start := n.manager.exec
	if _, script := n.scripts[program]; script && start[0] == "yarn" {
		start = npm.exec
	}
	return withWords(withWords(start, program), words...)
}

// scriptCommand returns the argv that runs a script of package.json.
func (n node) scriptCommand(name string) []string { return withWords(n.manager.run, name) }

// outputFolders are common output folders of builds.
var outputFolders = []string{"dist", "build", "lib", "out", "es", "esm", "cjs", ".next", ".nuxt", ".output", ".svelte-kit", "target"}

// proposeBuild proposes the build script that CI usually runs before the tests, if git ignores
// its output.
func (n node) proposeBuild(p *proposal) {
	script := n.scripts["build"]
	if script == "" || watchPattern.MatchString(script) || n.isBuiltByWorkspace() {
		return
	}
	for _, up := range n.Upwards() {
		if slices.ContainsFunc(up.Ignored(), func(name string) bool { return slices.Contains(outputFolders, name) }) {
			n.addBuild(p)
			return
		}
	}
}

// addBuild proposes the build script.
func (n node) addBuild(p *proposal) {
	p.addTool("build script", "package.json")
	p.add(Check{Kind: Build, Name: n.manager.name + " run build", Command: n.scriptCommand("build"), Stderr: true})
}

// isBuiltByWorkspace reports whether the root of the workspace has a build script,
// which builds this member too.
func (n node) isBuiltByWorkspace() bool {
	for _, up := range n.Upwards()[1:] {
		m, _ := readManifest(up)
		if m.scripts["build"] != "" && projectfs.IsMember(strings.TrimPrefix(strings.TrimPrefix(n.Dir, up.Dir), "/"), m.workspaces) {
			return true
		}
	}
	return false
}

// firstDependency returns the first of the packages in package.json, or "".
func (m manifest) firstDependency(names ...string) string {
	for _, name := range names {
		if _, ok := m.deps[name]; ok {
			return name
		}
	}
	return ""
}

// firstDependencyAbove is firstDependency for this package and those above, in which a workspace
// has shared dependencies.
func (n node) firstDependencyAbove(names ...string) string {
	for _, up := range n.Upwards() {
		m, _ := readManifest(up)
		if name := m.firstDependency(names...); name != "" {
			return name
		}
	}
	return ""
}
