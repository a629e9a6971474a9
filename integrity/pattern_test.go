package integrity

import (
	"strings"
	"testing"

	"supervise/metric"
)

const patternFile = `patterns:
  - id: ACME-01
    type: feature_flag_off
    severity: high
    languages: [go, python]
    files: ["**/flags/*"]
    where: product
    added: '\bFEATURE_\w+\s*=\s*(false|False)'
    unless: 'rollback of #\d+'
  - id: ACME-02
    type: validation_gone
    removed: 'validate\('
    in: code
  - id: ACME-03
    type: todo
    severity: info
    in: comment
    added: 'TODO'
`

func TestPatterns(t *testing.T) {
	patterns, err := ReadPatterns("p.yaml", []byte(patternFile))
	if err != nil {
		t.Fatal(err)
	}
	found := func(path, before, after string) string {
		var out []string
		for _, f := range Audit([]File{oneFile(path, before, after)}, Options{Patterns: patterns, Enabled: []string{"TP-22"}}) {
			out = append(out, f.Rule+" "+f.Type+" "+f.Severity.String())
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ name, path, before, after, want string }{
		{"fires", "app/flags/a.py", "FEATURE_X = True\n", "FEATURE_X = False\n", "ACME-01 feature_flag_off HIGH"},
		{"unless", "app/flags/a.py", "FEATURE_X = True\n", "FEATURE_X = False  # rollback of #7\n", ""},
		{"other folder", "app/a.py", "FEATURE_X = True\n", "FEATURE_X = False\n", ""},
		{"other language", "app/flags/a.rb", "FEATURE_X = true\n", "FEATURE_X = false\n", ""},
		{"a test", "app/flags/test_a.py", "FEATURE_X = True\n", "FEATURE_X = False\n", ""},
		{"in a string", "app/flags/a.py", "x = 1\n", "x = 'FEATURE_X = False'\n", ""},
		{"removed", "a.js", "validate(x)\nrun(x)\n", "run(x)\n", "ACME-02 validation_gone MEDIUM"},
		{"removed comment", "a.js", "// validate(x)\nrun(x)\n", "run(x)\n", ""},
		{"removed with the file", "a.js", "validate(x)\n", none, "ACME-02 validation_gone MEDIUM"},
		{"comment", "a.go", "package a\n", "package a\n\n// TODO: more\n", "ACME-03 todo INFO"},
		{"code, no comment", "a.go", "package a\n", "package a\n\nvar TODO = 1\n", ""},
	} {
		if got := found(c.path, c.before, c.after); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no list", "x: 1\n", `unknown field "x"`},
		{"empty", "patterns: []\n", `p.yaml: no pattern in it; write a list under "patterns:"`},
		{"unknown field", "patterns:\n  - id: A\n    kind: b\n", `p.yaml: [3:5] unknown field "kind"`},
		{"no id", "patterns:\n  - type: a\n    added: x\n", "p.yaml:2: patterns: number 1: id: it is missing"},
		{"expression", "patterns:\n  - id: A\n    type: a\n    added: '('\n", "p.yaml:4: patterns: number 1: added: error parsing regexp"},
		{"severity", "patterns:\n  - id: A\n    type: a\n    added: x\n    severity: fatal\n", `p.yaml:5: patterns: number 1: severity: "fatal" is not known; write info, low, medium, high or critical`},
		{"language", "patterns:\n  - id: A\n    type: a\n    added: x\n    languages: [cobol]\n", `number 1: languages: read language "cobol"`},
		{"nothing to look for", "patterns:\n  - id: A\n    type: a\n", "give a regular expression for at least one"},
		{"where", "patterns:\n  - {id: A, type: a, added: x, where: docs}\n", "write test, product or config"},
		{"glob", "patterns:\n  - {id: A, type: a, added: x, files: ['[']}\n", "is no glob"},
		{"twice", "patterns:\n  - {id: A, type: a, added: x}\n  - {id: A, type: b, added: x}\n", "p.yaml:3: patterns: number 2: id: A is there twice"},
		{"taken", "patterns:\n  - {id: TP-25, type: a, added: x}\n", "TP-25 is a rule of the catalogue; choose another"},
	} {
		_, err := ReadPatterns("p.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestSelection(t *testing.T) {
	files := []File{
		oneFile("Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n"),
		oneFile(".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 40\n"),
	}
	rulesOf := func(o Options) string {
		var out []string
		for _, f := range Audit(files, o) {
			if f.Severity == metric.Critical {
				out = append(out, f.Rule)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		name string
		opt  Options
		want string
	}{
		{"all", Options{}, "TP-27 TP-25"},
		{"family", Options{Enabled: []string{"coverage_regression"}}, "TP-27"},
		{"number", Options{Enabled: []string{"TP-25"}}, "TP-25"},
		{"off", Options{Disabled: []string{"failure_ignored"}}, "TP-27"},
		{"family off", Options{Disabled: []string{"validation_bypass"}}, "TP-27"},
		{"off outweighs", Options{Enabled: []string{"TP-25"}, Disabled: []string{"TP-25"}}, ""},
	} {
		if got := rulesOf(c.opt); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	own := []File{oneFile(".supervise.yaml", "mode: standard\n", "integrity:\n  off: [TP-30]\n")}
	if got := Audit(own, Options{Disabled: []string{"TP-30"}}); len(got) != 1 || got[0].Type != alwaysOnRule {
		t.Errorf("who turns the rules off must be seen: %+v", got)
	}
	if got := UnknownRules([]string{"test_deletion", "TP-25", "failure_ignored", "nonsense"}); len(got) != 1 || got[0] != "nonsense" {
		t.Errorf("unknown: %v", got)
	}
}
