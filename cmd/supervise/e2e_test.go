package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/report/results"
	"supervise/test/tools"

	"github.com/google/go-cmp/cmp"
)

// e2eCase is a change of a project, and what a measurement says then.
type e2eCase struct {
	name  string
	files map[string]string // written over the project's own; "" deletes the file
	code  int               // exit status of measure
	want  map[string]any    // fields of the record; nil is null or absent
	why   string            // in a gap or in a problem
}

// e2eProjects are real projects with the tools of their languages; see .ci/e2e.
var e2eProjects = []struct {
	name  string
	needs []string // programs
	heavy []string // folders of installed packages, which are not copied
	cases []e2eCase
}{
	{
		"vitest",
		[]string{"node", "npx"},
		[]string{"node_modules"},
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 6, "tests_passed": 3, "tests_failed": 1, "tests_skipped": 2, "lint_errors": 1, "lint_warnings": 1,
				"coverage_lines_covered": 7, "coverage_lines_total": 12,
			}},
			{name: "broken build", files: map[string]string{"src/sum.js": "export function sum( {"}, code: 6, want: map[string]any{"test_count": nil}, why: "sum.test.js did not run"},
			{name: "no tests", files: map[string]string{"src/sum.test.js": ""}, code: 6, want: map[string]any{"test_count": nil}, why: "o tests"},
			{name: "crashed", files: map[string]string{"vitest.config.js": "process.exit(3)\n"}, code: 6, want: map[string]any{"test_count": nil}, why: "status 3"},
		},
	},
	{
		"jest",
		[]string{"node", "npx"},
		[]string{"node_modules"},
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 6, "tests_passed": 3, "tests_failed": 1, "tests_skipped": 2, "lint_errors": 1, "lint_warnings": 1,
			}},
			{name: "broken build", files: map[string]string{"src/sum.js": "exports.sum = ("}, code: 6, want: map[string]any{"test_count": nil}, why: "sum.test.js did not run"},
			{name: "no tests", files: map[string]string{"src/sum.test.js": ""}, code: 6, want: map[string]any{"test_count": nil}, why: "o tests"},
			{name: "crashed", files: map[string]string{"src/sum.js": "process.abort()\n"}, code: 6, want: map[string]any{"test_count": nil}},
		},
	},
	{
		"nodereports", // jasmine, uvu, borp, a file that node runs, and an old mocha
		[]string{"node", "npx"},
		[]string{"node_modules"},
		[]e2eCase{
			{name: "as it is", want: map[string]any{"test_count": 23, "tests_passed": 10, "tests_failed": 8, "tests_skipped": 5}},
			{name: "broken build", files: map[string]string{"src/sum.js": "exports.sum = ("}, want: map[string]any{"tests_passed": 0, "tests_failed": 0}, why: "uvu ended before"},
			{name: "no tests", files: map[string]string{"spec/sum.spec.js": "", "uvu/sum.js": "", "uvu/only.mjs": "", "borp/sum.test.js": "", "node/all.js": "", "mocha/sum.js": ""}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"src/sum.js": "process.abort()\n"}, code: 6, want: map[string]any{"test_count": nil}, why: "status 134"},
		},
	},
	{
		"bun",
		[]string{"bun"},
		[]string{"node_modules"},
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 7, "tests_passed": 4, "tests_failed": 1, "tests_skipped": 2, "coverage_lines_covered": 1, "coverage_lines_total": 1,
			}},
			{name: "broken build", files: map[string]string{"src/sum.ts": "export const sum = ("}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "no tests", files: map[string]string{"sum.test.ts": ""}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"src/sum.ts": "process.abort();\n"}, code: 6, want: map[string]any{"test_count": nil}},
		},
	},
	{
		"deno",
		[]string{"deno"},
		nil,
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 8, "tests_passed": 5, "tests_failed": 2, "tests_skipped": 1, "lint_errors": 1, "coverage_lines_covered": 2, "coverage_lines_total": 2,
			}},
			{name: "broken build", files: map[string]string{"sum.ts": "export const sum = ("}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "no tests", files: map[string]string{"sum_test.ts": ""}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"sum.ts": "Deno.exit(3);\n"}, code: 6, want: map[string]any{"test_count": nil}},
		},
	},
	{
		"python",
		[]string{"python3"},
		[]string{".venv"},
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 6, "tests_passed": 3, "tests_failed": 2, "tests_skipped": 1, "lint_errors": 1, "type_errors": 1,
			}},
			{name: "broken build", files: map[string]string{"calc.py": "def add(:\n"}, code: 6, want: map[string]any{"test_count": nil}, why: "did not run"},
			{name: "no tests", files: map[string]string{"tests/test_calc.py": ""}, code: 6, want: map[string]any{"test_count": nil}, why: "no tests"},
			{name: "crashed", files: map[string]string{"calc.py": "import os\nos._exit(0)\n"}, code: 6, want: map[string]any{"test_count": nil}, why: "pytest printed nothing that can be read"},
		},
	},
	{
		"java",
		[]string{"mvn", "javac"},
		nil,
		[]e2eCase{
			{name: "as it is", want: map[string]any{
				"test_count": 5, "tests_passed": 2, "tests_failed": 2, "tests_skipped": 1, "build_status": "success", "coverage_lines_covered": 3, "coverage_lines_total": 5,
			}},
			{name: "broken build", files: map[string]string{"src/main/java/calc/Calc.java": "package calc;\nclass Calc {"}, code: 6, want: map[string]any{"test_count": nil, "build_status": "failure"}},
			{name: "no tests", files: map[string]string{"src/test/java/calc/CalcTest.java": ""}, code: 6, want: map[string]any{"test_count": nil, "build_status": "success"}},
			{name: "crashed", files: map[string]string{"src/test/java/calc/CalcTest.java": "package calc;\n\nclass CalcTest {\n    @org.junit.jupiter.api.Test\n    void dies() {\n        Runtime.getRuntime().halt(9);\n    }\n}\n"}, code: 6, want: map[string]any{"test_count": nil, "build_status": nil}},
		},
	},
	{
		"rust", []string{"cargo", "rustc"}, nil, rustCases,
	},
	{
		"nextest", []string{"cargo", "cargo-nextest"}, nil, rustCases,
	},
	{
		"rspec",
		[]string{"ruby", "rspec"},
		nil,
		[]e2eCase{
			{name: "as it is", want: map[string]any{"test_count": 5, "tests_passed": 2, "tests_failed": 1, "tests_skipped": 2}},
			{name: "broken build", files: map[string]string{"lib/calc.rb": "module Calc\n  def"}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "no tests", files: map[string]string{"spec/calc_spec.rb": "# nothing\n"}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"lib/calc.rb": "Process.kill(:KILL, Process.pid)\n"}, code: 6, want: map[string]any{"test_count": nil}},
		},
	},
	{
		"phpunit",
		[]string{"php", "phpunit"},
		nil,
		[]e2eCase{
			{name: "as it is", want: map[string]any{"test_count": 5, "tests_passed": 2, "tests_failed": 2, "tests_skipped": 1}},
			{name: "broken build", files: map[string]string{"src/calc.php": "<?php function add( {"}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "no tests", files: map[string]string{"tests/CalcTest.php": ""}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"src/calc.php": "<?php posix_kill(getmypid(), 9);\n"}, code: 6, want: map[string]any{"test_count": nil}},
		},
	},
	{
		"ctest",
		[]string{"ctest", "cmake", "cc"},
		nil,
		[]e2eCase{
			{name: "as it is", want: map[string]any{"test_count": 4, "tests_passed": 1, "tests_failed": 2, "tests_skipped": 1, "build_status": "success"}},
			{name: "broken build", files: map[string]string{"calc.c": "int add(int a, int b) {"}, want: map[string]any{"build_status": "failure", "tests_passed": 0}},
			{name: "no tests", files: map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(calc C)\nenable_testing()\n"}, code: 6, want: map[string]any{"test_count": nil}},
			{name: "crashed", files: map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.21)\nproject(calc C)\nmessage(FATAL_ERROR no)\n"}, code: 6, want: map[string]any{"test_count": nil, "build_status": "failure"}},
		},
	},
}

var rustCases = []e2eCase{
	{name: "as it is", want: map[string]any{
		"test_count": 5, "tests_passed": 3, "tests_failed": 1, "tests_skipped": 1, "build_status": "success", "lint_warnings": 1,
	}},
	{name: "broken build", files: map[string]string{"src/lib.rs": "pub fn add(a: i32"}, code: 6, want: map[string]any{"test_count": nil, "build_status": "failure"}},
	{name: "no tests", files: map[string]string{"src/lib.rs": "pub fn add() {}\n", "tests/whole.rs": ""}, code: 6, want: map[string]any{"test_count": nil, "build_status": "success"}},
	{name: "crashed", files: map[string]string{"tests/whole.rs": "#[test]\nfn dies() {\n    std::process::abort();\n}\n"}, want: map[string]any{"build_status": "success", "tests_passed": 2}},
}

// TestE2E measures real projects without any configuration. SUPERVISE_E2E names
// the folder in which .ci/e2e installed their tools.
func TestE2E(t *testing.T) {
	base := tools.Installed(t)
	t.Setenv("PATH", filepath.Join(base, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, p := range e2eProjects {
		t.Run(p.name, func(t *testing.T) {
			tools.Need(t, p.needs...)
			for _, c := range p.cases {
				t.Run(c.name, func(t *testing.T) { c.check(t, base, p.name, p.heavy) })
			}
		})
	}
}

// Several projects in one repository are measured each by itself and in sum.
func TestE2EMonorepo(t *testing.T) {
	base := tools.Installed(t)
	root := t.TempDir()
	for dir, p := range map[string]struct{ project, heavy string }{"web": {"vitest", "node_modules"}, "api": {"python", ".venv"}} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("testdata", "e2e", p.project))); err != nil {
			t.Fatal(err)
		}
		installed := filepath.Join(base, p.project, p.heavy)
		if _, err := os.Stat(installed); err != nil {
			t.Skipf("%s is not installed: %v", p.project, err)
		}
		if err := os.Symlink(installed, filepath.Join(root, dir, p.heavy)); err != nil {
			t.Fatal(err)
		}
	}
	var out, talk bytes.Buffer
	code := run([]string{"-C", root, "measure", "--json"}, streams{in: os.Stdin, out: &out, err: &talk})
	var m results.Measurement
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || code != 0 || m.Testing == nil {
		t.Fatalf("status %d, %v: %s%s", code, err, out.String(), talk.String())
	}
	counts := map[string]float64{"": *m.Testing.TestCount}
	for _, p := range m.Projects {
		counts[p.Dir] = *p.Testing.TestCount
	}
	if diff := cmp.Diff(map[string]float64{"": 12, "web": 6, "api": 6}, counts); diff != "" || m.Testing.CoverageUnit == "" {
		t.Errorf("(-want +got):\n%s%s", diff, out.String())
	}
}

func (c e2eCase) check(t *testing.T, base, project string, heavy []string) {
	dir := filepath.Join(t.TempDir(), project)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "e2e", project))); err != nil {
		t.Fatal(err)
	}
	for _, name := range heavy {
		if err := os.Symlink(filepath.Join(base, project, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %s", out)
	}
	var out, talk bytes.Buffer
	code := run([]string{"-C", dir, "measure", "--json"}, streams{in: os.Stdin, out: &out, err: &talk})
	var m results.Measurement
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatalf("%v: %s%s", err, out.String(), talk.String())
	}
	got := map[string]any{}
	for name := range c.want {
		got[name] = field(t, out.Bytes(), name)
	}
	want := map[string]any{}
	for name, v := range c.want {
		if n, ok := v.(int); ok {
			v = float64(n)
		}
		want[name] = v
	}
	if diff := cmp.Diff(want, got); diff != "" || code != c.code || !strings.Contains(out.String(), c.why) {
		t.Errorf("status %d, want %d; %q wanted\n(-want +got):\n%s%s%s", code, c.code, c.why, diff, out.String(), talk.String())
	}
}

// field is a number or word of a record, nil where it was not measured.
func field(t *testing.T, text []byte, name string) any {
	t.Helper()
	var sections map[string]any
	if err := json.Unmarshal(text, &sections); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"testing", "quality", "codebase"} {
		section, ok := sections[s].(map[string]any)
		if v, there := section[name]; ok && there {
			return v
		}
	}
	return nil
}
