package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/measure/internal/memory"
	"supervise/metric"

	"github.com/google/go-cmp/cmp"
)

// The command that runs only some tests of a check; "" if there is none. Words of an
// argv are separated by blanks here.
func TestSelected(t *testing.T) {
	unit := metric.Test{ID: metric.ID{Suite: "web/src/a.test.js", Class: "sum > of", Name: "adds 1+1"}, File: "web/src/a.test.js"}
	for _, tt := range []struct {
		runner, command, want string
		test                  metric.Test
	}{
		{"jest", "npx jest --coverage src", `npx jest src --coverage=false --testNamePattern=(^|\s)(sum (. )?of adds\s+1[+]1)$ src/a[.]test[.]js$`, unit},
		{"jest", "npx jest -t sum", "", unit},
		{"jest", "npx jest --testNamePattern=sum", "", unit},
		{"jest", "npm test", `npm test -- --coverage=false --testNamePattern=(^|\s)(sum (. )?of adds\s+1[+]1)$ src/a[.]test[.]js$`, unit},
		{"jest", "npm run unit -- --ci", `npm run unit -- --ci --coverage=false --testNamePattern=(^|\s)(sum (. )?of adds\s+1[+]1)$ src/a[.]test[.]js$`, unit},
		{"jest", "yarn test", `yarn test --coverage=false --testNamePattern=(^|\s)(sum (. )?of adds\s+1[+]1)$ src/a[.]test[.]js$`, unit},
		{"jest", "make test", "", unit},
		{"jest", "./run jest.config.js", "", unit},
		{"vitest", "npx vitest run --coverage.enabled=true", `npx vitest run --coverage.enabled=false --testNamePattern=(^|\s)(sum (. )?of adds\s+1[+]1)$ src/a.test.js`, unit},
		{"mocha", "npx c8 mocha", `npx c8 mocha --grep=(^|\s)(sum (. )?of adds\s+1[+]1)$`, unit},
		{"mocha", "npx mocha -g sum", "", unit},
		{"jasmine", "npx nyc jasmine --random=false", `npx nyc jasmine --random=false --filter=(^|\s)(sum (. )?of adds\s+1[+]1)$`, unit},
		{"jasmine", "npx jasmine --filter=sum", "", unit},
		{"playwright", "npx playwright test", `npx playwright test --grep=(adds\s+1[+]1)`, unit},
		{"lab", "npx lab -c", `npx lab -c --grep (^|\s)(adds\s+1[+]1)$`, unit},
		{"node", "node --test src/", `node --test --test-name-pattern=(^|\s)(adds\s+1[+]1)$ src/`, unit},
		{"node", "node run.js", "", unit},
		{"phpunit", "php vendor/bin/phpunit tests", `php vendor/bin/phpunit tests --filter=/(ATest[:][:]testB\s+with\s+data\s+set\s+.x.)$/s`, metric.Test{ID: metric.ID{Class: `N\ATest`, Name: `testB with data set "x"`}}},
		{"cargo", "cargo test --workspace", "cargo test --workspace -- --exact tests::a", metric.Test{ID: metric.ID{Suite: "x", Name: "tests::a"}}},
		{"cargo", "cargo test -- --test-threads=1", "cargo test -- --test-threads=1 --exact tests::a", metric.Test{ID: metric.ID{Suite: "x", Name: "tests::a"}}},
		{"nextest", "cargo nextest run", `cargo nextest run -E test(=a::b\u{28}\u{29})`, metric.Test{ID: metric.ID{Suite: "x", Name: "a::b()"}}},
		{"ctest", "ctest --test-dir build", `ctest --test-dir build -R ^(a[+]b +c)$`, metric.Test{ID: metric.ID{Name: "a+b c"}}},
		{"ctest", "ctest --test-dir build", `ctest --test-dir build -R ^(unit +tests)$`, metric.Test{ID: metric.ID{Suite: "web/unit tests", Class: "A", Name: "one"}}},
		{"dotnet", "dotnet test --nologo", `dotnet test --nologo --filter FullyQualifiedName~N.C.Adds|DisplayName~Adds`, metric.Test{ID: metric.ID{Suite: "calc.dll", Class: "N.C", Name: "Adds(a: 1)"}}},
		{"dotnet", "dotnet test --report-trx", "", metric.Test{ID: metric.ID{Class: "N.C", Name: "Adds"}}},
		{"maven", "./mvnw test", "./mvnw test -Dtest=a.B#c* -Dit.test=a.B#c* -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false", metric.Test{ID: metric.ID{Suite: "web/a.B", Name: "c(int)[1]"}}},
		{"maven", "mvn test", "mvn test -Dtest=a.B -Dit.test=a.B -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false", metric.Test{ID: metric.ID{Class: "a.B", Name: "adds two numbers"}}},
		{"maven", "mvn test -Dtest=X", "", unit},
		{"gradle", "./gradlew test", "./gradlew --init-script={{report_dir}}/.rerun.gradle test", unit},
		{"unittest", "python -m unittest -v", "python -m unittest -v -k *T.test_a", metric.Test{ID: metric.ID{Suite: "tests.test_a", Class: "tests.test_a.T", Name: "test_a"}}},
		{"unittest", "python -m django test shop", "python -m django test shop -k *T.test_a", metric.Test{ID: metric.ID{Suite: "tests.test_a", Class: "tests.test_a.T", Name: "test_a"}}},
		{"go", "go test -race -tags a,b -run X ./... -timeout 5m", "go test -race -tags a,b -run X -timeout 5m -count=1 -run=^(TestA)$ m/p", metric.Test{ID: metric.ID{Suite: "m/p", Name: "TestA/x"}}},
		{"go", "go test -json ./... -args -x", "go test -json -count=1 -run=^(TestA)$ m/p", metric.Test{ID: metric.ID{Suite: "m/p", Name: "TestA"}}},
		{"go", "make test", "go test -json -count=1 -run=^(TestA)$ m/p", metric.Test{ID: metric.ID{Suite: "m/p", Name: "TestA"}}},
		{"go", "gotestsum --junitfile x -- -short ./...", "gotestsum --junitfile x -- -short -count=1 -run=^(TestA)$ m/p", metric.Test{ID: metric.ID{Suite: "m/p", Name: "TestA"}}},
		{"bun", "bun test --coverage --reporter=junit", `bun test --reporter=junit --test-name-pattern=(^|\s)(sum (. )?of adds\s+1[+]1|of (. )?sum adds\s+1[+]1)$ src/a.test.js`, unit},
		{"bun", "bun test -t sum", "", unit},
		{"deno", "deno test --allow-read", `deno test --filter=/^(adds\s+1[+]1)$/ --allow-read`, unit},
		{"deno", "deno test", `deno test --filter=/^(steps)$/`, metric.Test{ID: metric.ID{Suite: "./a_test.ts", Name: "steps > first"}}},
		{"deno", `sh -c "$@";status=$? sh deno test --coverage=c`, `sh -c "$@";status=$? sh deno test --filter=/^(adds\s+1[+]1)$/`, unit},
		{"deno", "deno test --filter=x", "", unit},
		{"deno", "deno task test", `deno task test --filter=/^(adds\s+1[+]1)$/`, unit},
		{"mix", "mix test", "", unit},
		{"", "make test", "", unit},
	} {
		root := t.TempDir()
		writeFile(t, root+"/web/src/a.test.js")
		m := New(Plan{Root: root}, Options{})
		got, ok := m.selectTests(Check{Kind: Test, Runner: tt.runner, Dir: "web", Command: strings.Fields(tt.command)}, []metric.Test{tt.test})
		if !ok {
			got.Command = nil
		}
		if diff := cmp.Diff(tt.want, strings.Join(got.Command, " ")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.runner, tt.command, diff)
		}
	}
}

// In a copy, only the results of tests count.
func TestSelectedInCopy(t *testing.T) {
	one := metric.Test{ID: metric.ID{Suite: "m/p", Name: "TestA"}}
	for command, want := range map[string]string{
		"go test -json -count=1 -coverprofile=c.out ./...":              "go test -json -count=1 -vet=off -count=1 -run=^(TestA)$ m/p",
		"go test -cover -coverpkg ./... -covermode=atomic -short ./...": "go test -short -vet=off -count=1 -run=^(TestA)$ m/p",
		"make test": "go test -json -vet=off -count=1 -run=^(TestA)$ m/p",
	} {
		m := New(Plan{Root: t.TempDir()}, Options{})
		m.inCopy = true
		got, ok := m.selectTests(Check{Kind: Test, Runner: "go", Command: strings.Fields(command)}, []metric.Test{one})
		if diff := cmp.Diff(want, strings.Join(got.Command, " ")); diff != "" || !ok {
			t.Errorf("%s: %t (-want +got):\n%s", command, ok, diff)
		}
	}
}

func writeFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A suite that no check has run, such as a file that the change moved, belongs to the checks of its
// language.
func TestTestsOfASuiteThatNoCheckRan(t *testing.T) {
	python, node := Check{Name: "pytest", Kind: Test, Command: []string{"pytest"}}, Check{Name: "node", Kind: Test, Command: []string{"node", "--test"}}
	m := New(Plan{Checks: []Check{python, node}}, Options{})
	m.memory.Suites = map[string]memory.Names{python.ID(): {"tests/test_shop.py"}, node.ID(): {"shop.test.js"}}
	for _, tt := range []struct {
		suite string
		check Check
		want  int
	}{
		{"tests/test_shop.py", python, 1}, {"tests/test_shop.py", node, 0}, {"test_old.py", python, 1}, {"test_old.py", node, 0}, {"old.test.js", node, 1},
	} {
		if got := m.testsOf(tt.check, []metric.Test{{ID: metric.ID{Suite: tt.suite, Name: "a"}}}); len(got) != tt.want {
			t.Errorf("%s: %s runs %d tests, want %d", tt.suite, tt.check.Name, len(got), tt.want)
		}
	}
}
