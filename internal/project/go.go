package project

import (
	"debug/buildinfo"
	"os"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
	"supervise/internal/regexp"
)

var (
	goTests      = framework.Named("go")
	golangciLint = framework.LinterNamed("golangci-lint")
)

// proposeGo recognizes a module, or the modules of a go.work.
func proposeGo(f projectfs.Folder) proposal {
	var p proposal
	packages := []string{"./..."}
	if f.First("go.work") != "" {
		uses := parseGoWork(f.Read("go.work"))
		packages = packagePatterns(uses)
		p.covers = func(dir string) bool { return slices.Contains(uses, dir) }
		p.addTool("workspace", "go.work")
	}

	if len(packages) == 0 {
		return p
	}

	p.require(f, "go", "install Go, or put it on PATH")
	p.addTool("go test", f.First("go.work", "go.mod"))
	if hasGoPrograms(f) { // the tests compile everything else; built to nowhere: a single program would leave its binary
		p.add(Check{Kind: Build, Name: "go build", Stderr: true, Command: withWords([]string{"go", "build", "-o", os.DevNull}, packages...)})
	}
	if f.Dir == "" || len(f.Search(1, "*_test.go")) > 0 {
		p.add(goTestCheck(packages))
	}
	config := f.FirstAbove(golangciLint.ConfigFiles...)
	lint := Check{Kind: Lint, Name: "go vet", Stderr: true, Command: withWords([]string{"go", "vet"}, packages...)}
	switch {
	case config == "":
	case !f.OnPath(golangciLint.Name):
		p.note("%s is there but golangci-lint is not on PATH: go vet is used alone until it is installed", config)
	case versionMismatch(f, config) != "":
		p.note("%s, so that it does not run: go vet is used alone", versionMismatch(f, config))
	default:
		p.addTool(golangciLint.Name, config)
		lint = golangciCheck(f.Read(config), packages)
	}
	p.add(lint)
	if f.First("go.work") == "" && f.FirstAbove("go.work") != "" { // not a member, or already part of it
		for i := range p.checks {
			p.checks[i].Env = append(p.checks[i].Env, "GOWORK=off")
		}
	}

	return p
}

// goMainPattern matches the main function of a program, goIgnoredPattern the constraint of a file
// that the build ignores: //go:build ignore.
var (
	goMainPattern    = regexp.MustCompile(`(?m)^func main\(\)`)
	goIgnoredPattern = regexp.MustCompile(`(?m)^//go:build .*\bignore\b`)
)

// hasGoPrograms reports whether there seem to be programs, which only a build links. A
// generator, which the build ignores, is none.
func hasGoPrograms(f projectfs.Folder) bool {
	return f.First("cmd") != "" || slices.ContainsFunc(append(f.Glob("*.go"), f.Search(50, "main.go")...), func(name string) bool {
		text := f.Read(name)
		return goMainPattern.MatchString(text) && !goIgnoredPattern.MatchString(text)
	})
}

// goTestCheck returns the check that runs go test. Results may come from Go's cache; package
// measure adds -count=1 if they must not.
func goTestCheck(packages []string) Check {
	c := rowCheck(goTests, "go", "test")
	c.Name, c.Inventory = "go test", slices.Concat(c.Command, goTests.List.Args, packages)
	c.cover(goTests)
	c.Command = append(c.Command, packages...)
	return c
}

// golangciCheck returns the check that runs golangci-lint, which includes go vet. It switches off
// the limits on the number of findings, which would hide new ones. config is the text of the
// configuration; version 2 of it has another flag for the report.
func golangciCheck(config string, packages []string) Check {
	c := Check{Kind: Lint, Name: "golangci-lint"}
	format := "--out-format=json"
	if config == "" || versionTwoPattern.MatchString(config) {
		report := ReportDir + "/golangci.json"
		c.Reports, format = []string{report}, "--output.json.path="+report
	}
	c.Command = withWords([]string{"golangci-lint", "run", format, "--max-same-issues=0", "--max-issues-per-linter=0"}, packages...)
	return c
}

// versionMismatch describes that golangci-lint has another major version than its configuration
// file, which it then cannot read. It is "" if they fit, or if the version is unknown.
func versionMismatch(f projectfs.Folder, config string) string {
	info, err := buildinfo.ReadFile(f.Program(golangciLint.Name))
	if err != nil || !strings.HasPrefix(info.Main.Path, golangciLint.Packages[0]) {
		return ""
	}
	two := strings.HasPrefix(info.Main.Path, golangciLint.Packages[0]+"/v2")
	switch {
	case two && !versionTwoPattern.MatchString(f.Read(config)):
		return config + " is of version 1 and golangci-lint 2 is installed (golangci-lint migrate converts it)"
	case !two && versionTwoPattern.MatchString(f.Read(config)):
		return config + " is of version 2 and golangci-lint 1 is installed"
	}
	return ""
}

// versionTwoPattern matches the version in a configuration of golangci-lint: version: "2".
// goUsePattern captures the folder in "use ./api" of a go.work, goUseBlockPattern the folders
// in "use ( … )". goCommentPattern matches a comment up to the end of its line.
var (
	versionTwoPattern = regexp.MustCompile(`(?m)^\s*"?version"?\s*[:=]\s*["']?2`)
	goUsePattern      = regexp.MustCompile(`(?m)^use\s+([^\s(]+)`)
	goUseBlockPattern = regexp.MustCompile(`(?ms)^use\s*\((.*?)^\s*\)`)
	goCommentPattern  = regexp.MustCompile(`//.*`)
)

// parseGoWork returns the folders in a go.work, as slash paths; "" is the folder of the go.work.
func parseGoWork(text string) []string {
	text = goCommentPattern.ReplaceAllString(text, "")
	var out []string
	for _, m := range goUsePattern.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range goUseBlockPattern.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Fields(m[1])...)
	}
	for i, dir := range out {
		out[i] = strings.TrimPrefix(projectfs.Join("", strings.Trim(dir, `"`+"`")), ".")
	}
	return projectfs.Unique(out)
}

// packagePatterns returns a pattern for all packages of each module: "./api/..." for "api".
func packagePatterns(uses []string) []string {
	var out []string
	for _, dir := range uses {
		if !strings.HasPrefix(dir, "./") && !strings.HasPrefix(dir, "/") {
			dir = "./" + dir
		}
		out = append(out, strings.TrimSuffix(dir, "/")+"/...")
	}
	return out
}
