package framework

import (
	"fmt"
	"strings"
	"testing"
)

// The calls of each framework, with the effects of their options.
func TestUses(t *testing.T) {
	for _, c := range []struct{ call, want string }{
		{"jasmine --grep=x", "focus --grep x"},
		{"jasmine --filter=x", "focus --filter x"},
		{"lab -g x", "focus -g x"},
		{"lab --id 1", "focus --id 1"},
		{"jest --onlyChanged", "focus --onlyChanged"},
		{"jest --only-changed", "focus --only-changed"},
		{"jest --lastCommit", "focus --lastCommit"},
		{"jest -f", "focus -f"},
		{"mocha --bail", "stop early --bail"},
		{"mocha -bR dot", "stop early -b"},
		{"mocha -u tdd", ""},
		{"vitest --bail 1", "stop early --bail 1"},
		{"playwright test --max-failures=1", "stop early --max-failures 1"},
		{"playwright test -x", "stop early -x"},
		{"pytest -x", "stop early -x"},
		{"pytest -xvs", "stop early -x"},
		{"pytest -rx", ""},
		{"pytest -kslow", "focus -k slow"},
		{"pytest --maxfail 1 tests", "stop early --maxfail 1"},
		{"pytest --lfnf=none", "mask --lfnf none"},
		{"pytest --lfnf=all", ""},
		{"pytest -n 4 --tb=short -q", ""},
		{"go test -failfast ./...", "stop early -failfast"},
		{"go test --run TestX -test.short ./...", "focus --run TestX, exclude -test.short"},
		{"go test -coverprofile=c.out -bench . ./...", ""},
		{"go -C sub test -skip X", "exclude -skip X"},
		{"cargo +nightly test --no-run", "run none --no-run"},
		{"cargo nextest run --max-fail 1 --retries=3", "stop early --max-fail 1, loosen --retries 3"},
		{"rspec --fail-fast", "stop early --fail-fast"},
		{"rspec --fail-fast=3", "stop early --fail-fast 3"},
		{"rspec --tag slow", "focus --tag slow"},
		{"rspec --tag ~slow", "exclude --tag ~slow"},
		{"phpunit --stop-on-failure", "stop early --stop-on-failure"},
		{"pest --bail", "stop early --bail"},
		{"pest --exclude-group slow", "exclude --exclude-group slow"},
		{"paratest --filter x", "focus --filter x"},
		{"mvn clean test -DskipTests", "run none -DskipTests"},
		{"mvn test -DskipTests=false", ""},
		{"mvn test -Dtest=A", "focus -Dtest A"},
		{"xcodebuild test -only-testing:App/T", "focus -only-testing App/T"},
		{"deno test --fail-fast=1 --junit-path=x.xml", "stop early --fail-fast 1"},
		{"bun test --bail --update-snapshots", "stop early --bail, update --update-snapshots"},
		{"node --test --test-name-pattern=x", "focus --test-name-pattern x"},
		{"manage.py test --failfast --exclude-tag slow", "stop early --failfast, exclude --exclude-tag slow"},
		{"ctest -LE slow --stop-on-failure", "exclude -LE slow, stop early --stop-on-failure"},
	} {
		call, _ := InvocationOf(strings.Fields(c.call))
		f, args := call.Framework, call.Args
		if f == nil {
			t.Errorf("%s: no framework", c.call)
			continue
		}
		var got []string
		for _, u := range f.index.findUses(args) {
			got = append(got, strings.TrimSpace(fmt.Sprint(u.Effect, " ", u.Name, " ", u.Value)))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.call, f.Name, strings.Join(got, ", "), c.want)
		}
	}
}

func TestOf(t *testing.T) {
	for call, want := range map[string]string{
		"go test ./...": "go", "go build": "", "cargo nextest run": "nextest", "cargo llvm-cov nextest": "nextest", "cargo llvm-cov": "cargo",
		"rake spec": "rspec", "rake test": "minitest", "node --test": "node", "node x.js": "", "react-scripts test": "react-scripts", "bun test": "bun",
		"gradle :app:clean test": "gradle", "": "",
	} {
		c, _ := InvocationOf(strings.Fields(call))
		f := c.Framework
		got := ""
		if f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", call, got, want)
		}
	}
}

func TestLinterUses(t *testing.T) {
	c, ok := InvocationOf(strings.Fields("eslint --rule no-x --fix ."))
	if uses := c.Uses(); !ok || c.Purpose != RunsLint || len(uses) != 1 || uses[0].Effect != Allow {
		t.Errorf("got %v", uses)
	}
}
