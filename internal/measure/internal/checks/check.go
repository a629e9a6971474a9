package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
)

// WithReportDir returns c with its private report folder filled in.
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

// globEscaper quotes a name for use in a pattern.
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

// compilers are the runners whose command compiles the complete project before its tests.
var compilers = map[string]bool{"go": true, "maven": true, "gradle": true}

// Compiles reports whether the results of tests show whether the project can be built.
func (c Check) Compiles() bool { return c.Kind == Test && compilers[c.Runner] }

// SuitePrefix is the start of the suite names of a check in a subfolder.
func (c Check) SuitePrefix() string {
	if c.Dir == "" {
		return ""
	}
	return c.Dir + "/"
}

// Uncached returns the plan whose checks take no result from a cache of their tool.
func (p Plan) Uncached() Plan {
	p.Checks = slices.Clone(p.Checks)
	for i, c := range p.Checks {
		p.Checks[i] = c.Uncached()
	}
	return p
}

// Uncached returns the check that runs everything. Commands other than a plain go test
// stay: a script decides by itself what it runs.
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
