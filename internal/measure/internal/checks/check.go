package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
)

// in returns c with its private report folder filled in.
func (c Check) WithDir(dir string) Check {
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

// literally quotes a name for use in a pattern.
var globEscaper = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// lay writes the check's own files into its private folder.
func (c Check) WriteFiles(dir string) error {
	for name, text := range c.Files {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("write %s for %s: it would lie outside the private folder", name, c.Name)
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

// compilers are the runners whose command compiles the whole project before its tests.
var compilers = map[string]bool{"go": true, "maven": true, "gradle": true}

// compiles reports whether the results of tests say whether the project can be built.
func (c Check) Compiles() bool { return c.Kind == Test && compilers[c.Runner] }

// prefix is what the suites of a check in a folder of its own begin with.
func (c Check) Prefix() string {
	if c.Dir == "" {
		return ""
	}
	return c.Dir + "/"
}

// Anew returns the plan whose checks take no result from a cache of their tool.
func (p Plan) Uncached() Plan {
	p.Checks = slices.Clone(p.Checks)
	for i, c := range p.Checks {
		p.Checks[i] = c.Uncached()
	}
	return p
}

// anew returns the check that runs everything. Commands that are no plain go test are
// left as they are: a script decides by itself what it runs.
func (c Check) Uncached() Check {
	if c.Kind != Test || c.Runner != "go" {
		return c
	}
	line, plain := commandline.Of(c.Command)
	at, ok := line.GoTest()
	if !plain || !ok || line.Has("-count", "-test.count") {
		return c
	}
	c.PlannedID = c.ID()
	c.Command = line.With(at, []string{"-count=1"}, nil)
	return c
}
