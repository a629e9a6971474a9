package project

import (
	"os"
	"path/filepath"
	"regexp"
)

// Every run is a fresh one (-count=1): a cached result would hide a flaky test
// and make test times meaningless.
var goTest = Check{
	Kind: Test, Name: "go test", Runner: "go", Coverage: true,
	Command: []string{"go", "test", "-json", "-count=1", "-coverprofile=" + ReportDir + "/cover.out", "./..."},
	Reports: []string{ReportDir + "/cover.out"},
}

var golangciConfigs = []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}

func proposeGo(root string, look func(string) (string, error)) (checks []Check, notes []string) {
	if _, err := look("go"); err != nil {
		notes = append(notes, "go is not on PATH: install Go, or put it on PATH")
	}
	checks = []Check{
		// Built to nowhere: a module with a single program would get its binary.
		{Kind: Build, Name: "go build", Command: []string{"go", "build", "-o", os.DevNull, "./..."}},
		goTest,
	}
	config, found := golangciConfig(root)
	if !found {
		return append(checks, vet()), notes
	}
	if _, err := look("golangci-lint"); err != nil {
		notes = append(notes, config+" is there but golangci-lint is not on PATH: go vet is used alone until it is installed")
		return append(checks, vet()), notes
	}
	return append(checks, golangci(filepath.Join(root, config))), notes
}

func vet() Check {
	return Check{Kind: Lint, Name: "go vet", Command: []string{"go", "vet", "./..."}}
}

// golangci-lint runs vet itself. Its limits are lifted: what it does not show
// cannot be seen to grow. Version 2 of its configuration renamed the
// flag that chooses the report.
func golangci(config string) Check {
	c := Check{Kind: Lint, Name: "golangci-lint"}
	if text, err := os.ReadFile(config); err == nil && !versionTwo.Match(text) {
		c.Command = []string{"golangci-lint", "run", "--out-format=json", "--max-same-issues=0", "--max-issues-per-linter=0", "./..."}
		return c
	}
	c.Reports = []string{ReportDir + "/golangci.json"}
	c.Command = []string{"golangci-lint", "run", "--output.json.path=" + ReportDir + "/golangci.json", "--max-same-issues=0", "--max-issues-per-linter=0", "./..."}
	return c
}

var versionTwo = regexp.MustCompile(`(?m)^\s*"?version"?\s*[:=]\s*"?2"?`)

func golangciConfig(root string) (string, bool) {
	for _, name := range golangciConfigs {
		if exists(root, name) {
			return name, true
		}
	}
	return "", false
}
