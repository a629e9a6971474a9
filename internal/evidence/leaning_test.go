package evidence_test

import (
	"slices"
	"testing"

	"supervise/internal/evidence"
)

// Tests depend on what they name, on what that names one after another, and on what runs all of them.
func TestUsersOfAPlace(t *testing.T) {
	base := evidence.TestDependencies{}
	for name, text := range map[string]string{
		"spec/a_spec.rb":          "require 'support/checks'\nRSpec.describe A do\n  it('a') { same(1, 1) }\nend\n",
		"spec/b_spec.rb":          "RSpec.describe B do\n  it('checks') { expect(1).to eq(1) }\nend\n",
		"spec/support/checks.rb":  "require 'support/deep'\n",
		"spec/support/deep.rb":    "",
		"spec/support/alone.rb":   "",
		".rspec":                  "--require spec_helper\n",
		"spec/spec_helper.rb":     "",
		"spec/golden.txt":         "8\n",
		"spec/g_spec.rb":          "RSpec.describe G do\n  it('g') { File.read('spec/golden.txt') }\nend\n",
		"web/package.json":        "{}",
		"web/a.test.js":           "const x = require('./helpers/index');\ntest('a', () => { expect(x).toBe(1); });\n",
		"web/helpers/index.js":    "",
		"py/tests/conftest.py":    "",
		"py/tests/test_a.py":      "def test_a():\n    assert True\n",
		"py/tests/deep/test_b.py": "def test_b():\n    assert True\n",
		"py/test_c.py":            "def test_c():\n    assert True\n",
		"go/check/check.go":       "package check\n",
		"go/a_test.go":            "package a\n\nimport (\n\t\"testing\"\n\n\t\"m/go/check\"\n)\n\nfunc TestA(t *testing.T) { check.Is(t) }\n",
		"go/b_test.go":            "package a\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n",
	} {
		base[name] = []byte(text)
	}
	for file, want := range map[string][]string{
		"spec/support/checks.rb": {"spec/a_spec.rb"},
		"spec/support/deep.rb":   {"spec/a_spec.rb"},
		"spec/support/alone.rb":  nil,
		"spec/golden.txt":        {"spec/g_spec.rb"},
		"spec/old.txt":           nil,
		"spec/spec_helper.rb":    {"*"},
		".rspec":                 {"*"},
		"jest.config.js":         {"*"},
		"web/package.json":       {"web/a.test.js"},
		"web/helpers/index.js":   {"web/a.test.js"},
		"py/tests/conftest.py":   {"py/tests/deep/test_b.py", "py/tests/test_a.py"},
		"go/check/check.go":      {"go/a_test.go"},
	} {
		got, all := base.TestFilesUsing(file)
		if all {
			got = []string{"*"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
