package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
)

// WithReportDir returns the check with its private report folder filled in.
func (c Check) WithReportDir(dir string) Check {
	fill := func(list []string, dir string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = strings.ReplaceAll(s, ReportDir, dir)
		}
		return out
	}
	c.Command, c.Env = fill(c.Command, dir), fill(c.Env, dir)
	c.Reports = fill(c.Reports, globEscaper.Replace(dir))
	return c
}

// globEscaper escapes a path for use in a pattern.
var globEscaper = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// WriteFiles writes the files of the check into its private folder.
func (c Check) WriteFiles(dir string) error {
	for name, text := range c.Files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("write %s for %s: it would be outside the private folder", name, c.Name)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write %s for %s: %w", name, c.Name, err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, ReportDir, dir)), 0o600); err != nil {
			return fmt.Errorf("write %s for %s: %w", name, c.Name, err)
		}
	}
	return nil
}

// compilingRunners compile the complete project before they run its tests.
var compilingRunners = map[string]bool{"go": true, "maven": true, "gradle": true}

// Compiles reports whether the run of tests shows whether the project can be built.
func (c Check) Compiles() bool { return c.Kind == Test && compilingRunners[c.Runner] }

// SuitePrefix returns the start of the suite names of a check in a subfolder.
func (c Check) SuitePrefix() string {
	if c.Dir == "" {
		return ""
	}
	return c.Dir + "/"
}

// Uncached returns the plan whose checks use no cached result of their tool.
func (p Plan) Uncached() Plan {
	p.Checks = slices.Clone(p.Checks)
	for i, c := range p.Checks {
		p.Checks[i] = c.Uncached()
	}
	return p
}

// Uncached returns the check that uses no cached result. It changes only a plain go test; a
// script decides itself what it runs.
func (c Check) Uncached() Check {
	if c.Kind != Test || c.Runner != "go" {
		return c
	}
	line, plain := commandline.Parse(c.Command)
	at, ok := line.GoTestOptions()
	if !plain || !ok || line.HasOption("-count", "-test.count") {
		return c
	}
	c.PlannedID = c.ID()
	c.Command = line.Edit(at, []string{"-count=1"}, nil)
	return c
}
