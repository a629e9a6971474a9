package project_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"supervise/internal/project"
)

// For any script of package.json, the proposed commands have a program, and no option
// that changes files or watches.
func FuzzScript(f *testing.F) {
	for _, script := range []string{
		"jest", "NODE_ENV=test jest --watch -u", "npm run build && nyc mocha 'test/**/*.js' | tap-spec", "node --test test/*.js",
		"vitest --coverage.enabled=true", "npm test", "run-s test:*", `echo "a \" b" && jest`, "jest || true", "c8 --reporter", "yarn yarn jest --", "\\", "'", "&&;|",
	} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		text, err := json.Marshal(map[string]any{"scripts": map[string]string{"test": script, "lint": script, "pretest": script, "test:a": script}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := project.Detect(write(t, map[string]string{"package.json": string(text), "jest.config.js": ""}), having("npm"))
		if err != nil {
			return // nothing was recognised
		}
		for _, c := range p.Checks {
			if len(c.Command) == 0 || c.Command[0] == "" || c.Name == "" {
				t.Errorf("check without a program: %+v", c)
			}
			if c.Runner == "jest" && slices.ContainsFunc(c.Command, func(w string) bool { return w == "--watch" || w == "-u" || strings.HasPrefix(w, "--watch=") }) {
				t.Errorf("%q is left to watch or to update: %q", script, c.Command)
			}
		}
	})
}
