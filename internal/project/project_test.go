package project_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/project"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func having(names ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		for _, n := range names {
			if n == name {
				return "/bin/" + n, nil
			}
		}
		return "", exec.ErrNotFound
	}
}

func commands(p project.Project) string {
	var out []string
	for _, c := range p.Checks {
		out = append(out, string(c.Kind)+": "+strings.Join(c.Command, " "))
	}
	return strings.Join(out, "\n")
}

func TestDetectGo(t *testing.T) {
	const always = "test: go test -json -coverprofile={{report_dir}}/cover.out ./...\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		tools []string
		want  string
		notes string
	}{
		{
			"plain",
			map[string]string{"go.mod": "module m\n"},
			[]string{"go"},
			always + "lint: go vet ./...", "",
		},
		{
			"a generator",
			map[string]string{"go.mod": "module m\n", "gen/main.go": "//go:build ignore\n\npackage main\n\nfunc main() {}\n"},
			[]string{"go"},
			always + "lint: go vet ./...", "",
		},
		{
			"a program",
			map[string]string{"go.mod": "module m\n", "tool/main.go": "package main\n\nfunc main() {}\n"},
			[]string{"go"},
			"build: go build -o " + os.DevNull + " ./...\n" + always + "lint: go vet ./...", "",
		},
		{
			"golangci-lint configured and there",
			map[string]string{"go.mod": "module m\n", ".golangci.yml": "version: \"2\"\n"},
			[]string{"go", "golangci-lint"},
			always + "lint: golangci-lint run --output.json.path={{report_dir}}/golangci.json --max-same-issues=0 --max-issues-per-linter=0 ./...", "",
		},
		{
			"golangci-lint of the old configuration",
			map[string]string{"go.mod": "module m\n", ".golangci.yml": "linters: {}\n"},
			[]string{"go", "golangci-lint"},
			always + "lint: golangci-lint run --out-format=json --max-same-issues=0 --max-issues-per-linter=0 ./...", "",
		},
		{
			"golangci-lint configured, not installed",
			map[string]string{"go.mod": "module m\n", ".golangci.toml": "version = \"2\"\n"},
			[]string{"go"},
			always + "lint: go vet ./...", ".golangci.toml is there but golangci-lint is not on PATH",
		},
		{
			"no go",
			map[string]string{"go.mod": "module m\n"},
			nil, always + "lint: go vet ./...", "go is not on PATH",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := project.Detect(write(t, tt.files), having(tt.tools...))
			if err != nil {
				t.Fatal(err)
			}
			if got := commands(p); got != tt.want {
				t.Errorf("checks:\n%s\nwant:\n%s", got, tt.want)
			}
			if notes := strings.Join(p.Notes, "; "); !strings.Contains(notes, tt.notes) || (tt.notes == "") != (notes == "") {
				t.Errorf("notes %q, want %q in them", notes, tt.notes)
			}
		})
	}
}

// A golangci-lint does not run by a configuration of another version.
func TestGolangciOfAnotherVersion(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	installed := func(module string) func(string) (string, error) {
		dir := write(t, map[string]string{"go.mod": "module " + module + "\n", "main.go": "package main\n\nfunc main() {}\n"})
		build := exec.Command("go", "build", "-o", "golangci-lint", ".")
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return func(name string) (string, error) { return filepath.Join(dir, name), nil }
	}
	one, two := installed("github.com/golangci/golangci-lint"), installed("github.com/golangci/golangci-lint/v2")
	for _, tt := range []struct {
		name, config string
		look         func(string) (string, error)
		linter, note string
	}{
		{"2 by 1", "linters: {}\n", two, "go", ".golangci.yml is of version 1 and golangci-lint 2 is installed"},
		{"1 by 2", "version: '2'\n", one, "go", ".golangci.yml is of version 2 and golangci-lint 1 is installed"},
		{"2 by 2", "version: \"2\"\n", two, "golangci-lint", ""},
		{"1 by 1", "linters: {}\n", one, "golangci-lint", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := project.Detect(write(t, map[string]string{"go.mod": "module m\n", ".golangci.yml": tt.config}), tt.look)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Checks[len(p.Checks)-1]; got.Kind != project.Lint || got.Command[0] != tt.linter {
				t.Errorf("%s, want a linter of %s", commands(p), tt.linter)
			}
			if notes := strings.Join(p.Notes, "; "); !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
				t.Errorf("notes %q, want %q in them", notes, tt.note)
			}
		})
	}
}

// Of a project with files of Maven and Gradle, the tool is used that is there.
func TestMavenOrGradle(t *testing.T) {
	home := t.TempDir()
	t.Setenv("GRADLE_USER_HOME", home)
	root := write(t, map[string]string{
		"pom.xml": "<project/>", "build.gradle": "", "gradlew": "", "src/test/java/ATest.java": "",
		"gradle/wrapper/gradle-wrapper.properties": "distributionBase=GRADLE_USER_HOME\ndistributionUrl=https\\://services.gradle.org/distributions/gradle-8.14-bin.zip\n",
	})
	uses := func(program string, tools ...string) {
		t.Helper()
		p, err := project.Detect(root, having(tools...))
		if err != nil || len(p.Checks) != 1 || p.Checks[0].Command[0] != program {
			t.Errorf("with %v: %s, %v, want %s", tools, commands(p), err, program)
		}
	}
	uses("mvn", "mvn")
	uses("./gradlew")
	dir := filepath.Join(home, "wrapper", "dists", "gradle-8.14-bin", "1a2b3c")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "gradle-8.14-bin.zip.part"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	uses("mvn", "mvn") // its download has failed
	if err := os.WriteFile(filepath.Join(dir, "gradle-8.14-bin.zip.ok"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	uses("./gradlew", "mvn")
}

// The proposed build works for every layout of a module and leaves nothing behind. By
// itself go build ./... writes a program if the module is one main package, and fails
// if a folder has the name of that program.
func TestGoBuildLeavesNothing(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
	const program = "package main\n\nfunc main() {}\n"
	for name, files := range map[string]map[string]string{
		"no main.go":     {"m.go": program},
		"one program":    {"main.go": program},
		"programs":       {"cmd/x/main.go": program, "cmd/y/main.go": program},
		"program in m/m": {"m/main.go": program},
		"folder m":       {"main.go": program, "m/data.txt": ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{"go.mod": "module m\n\ngo 1.21\n"})
			for path, text := range files {
				path = filepath.Join(dir, filepath.FromSlash(path))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			p, err := project.Detect(dir, exec.LookPath)
			if err != nil {
				t.Fatal(err)
			}
			command := p.Checks[0].Command
			build := exec.Command(command[0], command[1:]...)
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", strings.Join(command, " "), err, out)
			}
			if got := count(t, dir); got != len(files)+1 {
				t.Errorf("%d files after the build, want %d", got, len(files)+1)
			}
		})
	}
}

func count(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDetectUnknown(t *testing.T) {
	_, err := project.Detect(write(t, map[string]string{"README": "hello"}), having("go"))
	if !errors.Is(err, project.ErrUnknown) || !strings.Contains(err.Error(), "--test-cmd") {
		t.Errorf("error %v, want ErrUnknown with the remedy", err)
	}
}

// Tests without a manifest: Python's are run, others are named with what they lack.
func TestDetectStrayTests(t *testing.T) {
	p, err := project.Detect(write(t, map[string]string{"sub/test_sum.py": "def test_sum():\n    assert 1 + 1 == 2\n"}), having("python3"))
	if err != nil || !strings.Contains(commands(p), "-m pytest") {
		t.Errorf("%v: %s", err, commands(p))
	}
	for file, lacks := range map[string]string{"sum_test.go": "go mod init", "sum.test.js": "npm init", "SumTest.java": "pom.xml"} {
		_, err := project.Detect(write(t, map[string]string{file: ""}), having("go"))
		if !errors.Is(err, project.ErrUnknown) || !strings.Contains(err.Error(), "there is "+file+", but no ") || !strings.Contains(err.Error(), lacks) {
			t.Errorf("%s: error %v, want one that names what is missing", file, err)
		}
	}
}

// A pipe in the place of a manifest is not read, so that detection does not wait for it.
func TestDetectReadsNoPipes(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": "module m\n\ngo 1.21\n", "m_test.go": "package m\n"})
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "package.json"), filepath.Join(dir, "pyproject.toml")).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v: %s", err, out)
	}
	p, err := project.Detect(dir, having("go", "npm"))
	if err != nil || !strings.Contains(commands(p), "test: go test") || strings.Contains(commands(p), "npm") {
		t.Errorf("%v: %s", err, commands(p))
	}
}
