package integrity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/harness"
	"supervise/integrity/internal/suppressions"
)

// configRules are the rows about what runs and judges the tests.
var configRules = slices.Concat(configuration.Rules, harness.RunnerRules, suppressions.Rules, harness.EnvironmentRules)

// none is the text of a file that is not there.
const none = "\x00none"

// caseOf is a change of one file with the most severe finding it must give, as
// "TP-25 CRITICAL"; "" is none above INFO.
type caseOf struct{ name, path, before, after, want string }

// oneFile makes the change of one file.
func oneFile(path, before, after string) File {
	f := File{Path: path, Before: []byte(before), After: []byte(after)}
	if before == none {
		f.Before, f.Added = nil, true
	}
	if after == none {
		f.After, f.Deleted = nil, true
	}
	return f
}

// mostSevere returns the rule and severity of the most severe finding of the rules about
// configuration and harness.
func mostSevere(files ...File) string { return gravestOf(files, Options{}) }

func gravestOf(files []File, opt Options) string {
	own := map[string]bool{}
	for _, r := range configRules {
		own[r.Name] = true
	}
	for _, f := range Audit(files, opt) {
		if own[f.Type] && f.Severity.String() != "INFO" {
			return fmt.Sprintf("%s %v", f.Rule, f.Severity)
		}
	}
	return ""
}

func checkCases(t *testing.T, cases []caseOf) {
	t.Helper()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, "/", " "), func(t *testing.T) {
			if got := mostSevere(oneFile(c.path, c.before, c.after)); got != c.want {
				t.Errorf("got %q, want %q\nbefore:\n%s\nafter:\n%s\nall: %+v", got, c.want, c.before, c.after,
					Audit([]File{oneFile(c.path, c.before, c.after)}, Options{}))
			}
		})
	}
}

const workflow = `name: ci
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: lint
        run: golangci-lint run
      - name: test
        run: |
          go vet ./...
          go test ./...
`

func npmScript(name, line string) string {
	return fmt.Sprintf("{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"build\": \"tsc -p .\",\n    %q: %q\n  }\n}\n", name, line)
}

func TestCommandRules(t *testing.T) {
	edit := func(old, now string) string {
		if !strings.Contains(workflow, old) {
			t.Fatalf("%q is not in the workflow", old)
		}
		return strings.Replace(workflow, old, now, 1)
	}
	checkCases(t, []caseOf{
		{"npm or true", "package.json", npmScript("test", "jest"), npmScript("test", "jest || true"), "TP-25 CRITICAL"},
		{"npm or exit 0", "package.json", npmScript("test", "jest"), npmScript("test", "jest || exit 0"), "TP-25 CRITICAL"},
		{"npm semicolon true", "package.json", npmScript("test", "mocha -R dot"), npmScript("test", "mocha -R dot; true"), "TP-25 CRITICAL"},
		{"npm or echo", "package.json", npmScript("test", "vitest run"), npmScript("test", "vitest run || echo failed"), "TP-25 CRITICAL"},
		{"npm another runner and or true", "package.json", npmScript("test", "mocha"), npmScript("test", "jest --ci || true"), "TP-25 CRITICAL"},
		{"npm pass with no tests", "package.json", npmScript("test", "jest"), npmScript("test", "jest --passWithNoTests"), "TP-25 HIGH"},
		{"npm true", "package.json", npmScript("test", "jest"), npmScript("test", "true"), "TP-24 CRITICAL"},
		{"npm echo", "package.json", npmScript("test", "jest"), npmScript("test", "echo 'all tests passed' && exit 0"), "TP-24 CRITICAL"},
		{"npm node -e", "package.json", npmScript("test", "jest"), npmScript("test", "node -e \"process.exit(0)\""), "TP-24 CRITICAL"},
		{"npm list", "package.json", npmScript("test", "jest"), npmScript("test", "jest --listTests"), "TP-24 CRITICAL"},
		{"npm lint is true", "package.json", npmScript("lint", "eslint ."), npmScript("lint", "true"), "TP-24 CRITICAL"},
		{"npm test is gone", "package.json", npmScript("test", "jest"), npmScript("start", "node ."), "TP-24 HIGH"},
		{"npm ignore one file", "package.json", npmScript("test", "jest"), npmScript("test", "jest --testPathIgnorePatterns src/calc.test.js"), "TP-26 CRITICAL"},
		{"npm name pattern", "package.json", npmScript("test", "jest"), npmScript("test", "jest -t 'adds'"), "TP-08 CRITICAL"},
		{"npm mocha invert", "package.json", npmScript("test", "mocha"), npmScript("test", "mocha --grep 'broken' --invert"), "TP-08 CRITICAL"},
		{"npm one file", "package.json", npmScript("test", "mocha"), npmScript("test", "mocha test/a.js"), "TP-26 HIGH"},
		{"npm update snapshots", "package.json", npmScript("test", "jest"), npmScript("test", "jest -u"), "TP-16 HIGH"},
		{"npm warnings", "package.json", npmScript("lint", "eslint . --max-warnings 0"), npmScript("lint", "eslint . --max-warnings 50"), "TP-27 CRITICAL"},
		{"npm warnings gone", "package.json", npmScript("lint", "eslint . --max-warnings=0"), npmScript("lint", "eslint ."), "TP-27 HIGH"},
		{"npm coverage", "package.json", npmScript("test", "c8 --check-coverage --lines 90 mocha"), npmScript("test", "c8 --check-coverage --lines 40 mocha"), "TP-27 CRITICAL"},
		{"npm retries", "package.json", npmScript("test", "mocha"), npmScript("test", "mocha --retries 3"), "TP-15 MEDIUM"},
		{"honest: other runner", "package.json", npmScript("test", "mocha"), npmScript("test", "vitest run"), ""},
		{"honest: options", "package.json", npmScript("test", "jest"), npmScript("test", "jest --coverage --ci"), ""},
		{"honest: a wrapper", "package.json", npmScript("test", "jest"), npmScript("test", "cross-env NODE_ENV=test jest"), ""},
		{"honest: ignore built files", "package.json", npmScript("test", "jest"), npmScript("test", "jest --testPathIgnorePatterns dist"), ""},
		{"honest: a script for one", "package.json", npmScript("test", "jest"), strings.Replace(npmScript("test", "jest"), `"test"`, `"test:one": "jest -t one", "test"`, 1), ""},
		{"honest: cleaning up", "package.json", npmScript("clean", "rm -r dist"), npmScript("clean", "rm -r dist || true"), ""},
		{"honest: fewer warnings", "package.json", npmScript("lint", "eslint . --max-warnings 50"), npmScript("lint", "eslint . --max-warnings 10"), ""},

		{"make or true", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n", "TP-25 CRITICAL"},
		{"make dash", "Makefile", "test:\n\tgo test ./...\n", "test:\n\t-go test ./...\n", "TP-25 CRITICAL"},
		{"make true", "Makefile", "test: build\n\t$(GO) test ./...\n", "test: build\n\t@true\n", "TP-24 CRITICAL"},
		{"make emptied", "Makefile", "test:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n", "test:\n\nlint:\n\tgolangci-lint run\n", "TP-24 CRITICAL"},
		{"make run", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -run 'TestA|TestB' ./...\n", "TP-08 CRITICAL"},
		{"make skip", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -skip TestSum ./...\n", "TP-26 CRITICAL"},
		{"make one package", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./calc\n", "TP-26 HIGH"},
		{"make short", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -short ./...\n", "TP-26 HIGH"},
		{"make no run", "Makefile", "test:\n\tcargo test --all\n", "test:\n\tcargo test --all --no-run\n", "TP-24 CRITICAL"},
		{"honest: race", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -race -count=1 ./...\n", ""},
		{"honest: bench target", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./...\nbench:\n\tgo test -run '^$' -bench . ./...\n", ""},
		{"honest: renamed target", "Makefile", "test:\n\tgo test ./...\n", "unit:\n\tgo test ./...\n", ""},
		{"honest: rm", "Makefile", "test:\n\tgo test ./...\n", "test:\n\t-rm -f cover.out\n\tgo test ./...\n", ""},

		{"workflow continue-on-error of a step", ".github/workflows/ci.yml", workflow, edit("      - name: test\n", "      - name: test\n        continue-on-error: true\n"), "TP-25 CRITICAL"},
		{"workflow continue-on-error of a job", ".github/workflows/ci.yml", workflow, edit("    runs-on", "    continue-on-error: true\n    runs-on"), "TP-25 CRITICAL"},
		{"workflow if false", ".github/workflows/ci.yml", workflow, edit("    runs-on", "    if: ${{ false }}\n    runs-on"), "TP-25 CRITICAL"},
		{"workflow set +e", ".github/workflows/ci.yml", workflow, edit("          go vet", "          set +e\n          go vet"), "TP-25 CRITICAL"},
		{"workflow exit 0", ".github/workflows/ci.yml", workflow, edit("          go vet", "          exit 0\n          go vet"), "TP-25 CRITICAL"},
		{"workflow or true", ".github/workflows/ci.yml", workflow, edit("go test ./...", "go test ./... || true"), "TP-25 CRITICAL"},
		{"workflow echo", ".github/workflows/ci.yml", workflow, edit("          go vet ./...\n          go test ./...\n", "          echo ok\n"), "TP-24 CRITICAL"},
		{"workflow without tests", ".github/workflows/ci.yml", workflow, edit("      - name: test\n        run: |\n          go vet ./...\n          go test ./...\n", ""), "TP-24 HIGH"},
		{"honest: a step before", ".github/workflows/ci.yml", workflow, edit("      - name: lint", "      - uses: actions/setup-go@v5\n      - name: lint"), ""},
		{"honest: upload may fail", ".github/workflows/ci.yml", workflow, workflow + "      - uses: codecov/codecov-action@v4\n        continue-on-error: true\n", ""},
		{"honest: status is kept", ".github/workflows/ci.yml", workflow, edit("          go vet ./...\n          go test ./...\n", "          set +e\n          go test ./...\n          status=$?\n          set -e\n          go vet ./...\n          exit $status\n"), ""},
		{"honest: matrix decides", ".github/workflows/ci.yml", workflow, edit("    runs-on", "    continue-on-error: ${{ matrix.experimental }}\n    runs-on"), ""},
		{"gitlab allow_failure", ".gitlab-ci.yml", "unit:\n  script:\n    - pytest -q\n", "unit:\n  allow_failure: true\n  script:\n    - pytest -q\n", "TP-25 CRITICAL"},
		{"gitlab manual", ".gitlab-ci.yml", "unit:\n  script:\n    - pytest -q\n", "unit:\n  when: manual\n  script:\n    - pytest -q\n", "TP-25 HIGH"},
		{"malformed yaml", ".travis.yml", "script:\n  - pytest\n\t bad: [\n", "script:\n  - pytest || true\n\t bad: [\n", "TP-25 CRITICAL"},

		{"tox dash before a wrapper", "tox.ini", "[testenv]\ncommands =\n    {env:COVERAGE_RUN:} pytest {posargs}\n", "[testenv]\ncommands =\n    - {env:COVERAGE_RUN:} pytest {posargs}\n", "TP-25 CRITICAL"},
		{"tox dash", "tox.ini", "[testenv]\ncommands =\n    pytest {posargs}\n", "[testenv]\ncommands =\n    - pytest {posargs}\n", "TP-25 CRITICAL"},
		{"tox dash behind a blank line", "tox.ini", "[testenv]\ncommands =\n    pip install x\n\n    pytest -q\n\n[testenv:docs]\ncommands = sphinx-build\n", "[testenv]\ncommands =\n    pip install x\n\n    - pytest -q\n\n[testenv:docs]\ncommands = sphinx-build\n", "TP-25 CRITICAL"},
		{"tox deselect", "tox.ini", "[testenv]\ncommands = pytest\n", "[testenv]\ncommands = pytest --deselect tests/test_a.py::test_x\n", "TP-26 CRITICAL"},
		{"addopts k", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-ra\"\n", "[tool.pytest.ini_options]\naddopts = \"-ra -k 'not test_sum'\"\n", "TP-08 CRITICAL"},
		{"addopts list", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = [\"-ra\"]\n", "[tool.pytest.ini_options]\naddopts = [\n  \"-ra\",\n  \"--ignore=tests/test_calc.py\",\n]\n", "TP-26 CRITICAL"},
		{"addopts in a new file", "pytest.ini", none, "[pytest]\naddopts = --ignore tests/test_calc.py\n", "TP-26 CRITICAL"},
		{"addopts marker", "setup.cfg", "[tool:pytest]\naddopts = -ra\n", "[tool:pytest]\naddopts = -ra -m 'not slow'\n", "TP-26 HIGH"},
		{"honest: addopts", "setup.cfg", "[tool:pytest]\naddopts = -ra\n", "[tool:pytest]\naddopts = -ra --strict-markers --ignore=docs\n", ""},
		{"nox", "noxfile.py", "@nox.session\ndef tests(session):\n    session.run(\"pytest\", *session.posargs)\n", "@nox.session\ndef tests(session):\n    session.run(\"pytest\", \"--ignore=tests/test_a.py\", *session.posargs)\n", "TP-26 CRITICAL"},
		{"composer", "composer.json", `{"scripts": {"test": "phpunit"}}`, `{"scripts": {"test": "phpunit --exclude-filter testSum"}}`, "TP-26 CRITICAL"},
		{"composer list", "composer.json", `{"scripts": {"test": ["phpunit", "phpstan"]}}`, `{"scripts": {"test": ["@php -v"]}}`, "TP-24 HIGH"},
		{"mix alias", "mix.exs", "  defp aliases do\n    [\n      check: [\"test --cover\"],\n      test: [\"ecto.create\", \"test\"]\n    ]\n  end\n", "  defp aliases do\n    [\n      check: [\"test --cover\"],\n      test: [\"ecto.create\", \"test\"]\n    ]\n  end\n\n", ""},
		{"shell exit first", "scripts/test.sh", "#!/bin/sh\nset -e\npytest -q\n", "#!/bin/sh\nexit 0\nset -e\npytest -q\n", "TP-25 CRITICAL"},
		{"shell if false", "scripts/test.sh", "#!/bin/sh\npytest -q\n", "#!/bin/sh\nif false; then\n  pytest -q\nfi\n", "TP-25 CRITICAL"},
		{"honest: shell early exit in a branch", "scripts/test.sh", "#!/bin/sh\npytest -q\n", "#!/bin/sh\nif [ -n \"$SKIP\" ]; then\n  exit 0\nfi\npytest -q\n", ""},
		{"docker", "Dockerfile", "FROM x\nRUN pytest\n", "FROM x\nRUN pytest || true\n", "TP-25 CRITICAL"},
		{"maven command", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: mvn -B verify\n", "jobs:\n  a:\n    steps:\n      - run: mvn -B verify -DskipTests\n", "TP-24 CRITICAL"},
		{"maven one test", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: mvn -B test\n", "jobs:\n  a:\n    steps:\n      - run: mvn -B test -Dtest=FooTest\n", "TP-08 CRITICAL"},
		{"gradle without tests", ".github/workflows/ci.yml", "jobs:\n  a:\n    steps:\n      - run: ./gradlew build\n", "jobs:\n  a:\n    steps:\n      - run: ./gradlew build -x test\n", "TP-26 HIGH"},
		{"dotnet filter", "build.sh", "#!/bin/sh\ndotnet test\n", "#!/bin/sh\ndotnet test --filter Name!~Sum\n", "TP-08 CRITICAL"},
		{"data of a test", "testdata/package.json", npmScript("test", "jest"), npmScript("test", "true"), ""},
	})
}

// A command that moves to another file, or another job, is not gone.
func TestMovedCommandIsNotGone(t *testing.T) {
	moved := strings.ReplaceAll(workflow, "  test:\n", "  all:\n")
	if got := mostSevere(oneFile(".github/workflows/ci.yml", workflow, none), oneFile(".github/workflows/main.yml", none, moved)); got != "" {
		t.Errorf("workflow renamed: %s", got)
	}
	if got := mostSevere(oneFile(".travis.yml", "script:\n  - pytest\n", none), oneFile(".github/workflows/ci.yml", none, "jobs:\n  t:\n    steps:\n      - run: pytest\n")); got != "" {
		t.Errorf("other service: %s", got)
	}
	if got := mostSevere(oneFile("setup.cfg", "[tool:pytest]\naddopts = --ignore=tests/x.py\ntestpaths = tests\n[coverage:report]\nfail_under = 90\n", none),
		oneFile("pyproject.toml", "[project]\n", "[project]\n[tool.pytest.ini_options]\naddopts = \"--ignore=tests/x.py\"\ntestpaths = [\"tests\"]\n[tool.coverage.report]\nfail_under = 90\n")); got != "" {
		t.Errorf("setup.cfg moved: %s", got)
	}
	if got := mostSevere(oneFile("setup.cfg", "[coverage:report]\nfail_under = 90\n", none), oneFile("pyproject.toml", "[project]\n", "[tool.coverage.report]\nfail_under = 50\n")); got != "TP-27 CRITICAL" {
		t.Errorf("moved and lowered: %q", got)
	}
}
