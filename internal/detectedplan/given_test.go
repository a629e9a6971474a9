package detectedplan_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/internal/detectedplan"
	"supervise/internal/measure"
)

// A single call of a known framework gets its report. Whatever else may read the words that are added
// stays unchanged.
func TestAddReport(t *testing.T) {
	for _, tt := range []struct {
		line, runner string // runner: "" if the check stays as it is
		contains     string
	}{
		{"pytest -q", "pytest", "pytest --junitxml={{report_dir}}/pytest.xml"},
		{"PYTHONPATH=. .venv/bin/pytest tests/unit", "pytest", "pytest.xml"},
		{"python3 -m pytest -k 'a or b'", "pytest", "-k 'a or b'"},
		{"uv run pytest", "pytest", "pytest.xml"},
		{"python -m unittest discover", "unittest", "unittest -v discover"},
		{"go test ./...", "go", "go test -json ./..."},
		{"go test -race ./... -run X", "go", "go test -json -race"},
		{"node --test test/a.js", "node", "node.xml"},
		{"npx vitest run", "vitest", "vitest.json"},
		{"yarn jest --runInBand", "jest", "jest.json"},
		{"./mvnw test -q", "maven", "test -Dmaven.test.failure.ignore=true -q"},
		{"bundle exec rspec spec/models", "rspec", "rspec.json"},
		{"ruby -Itest test/all.rb", "minitest", "test/all.rb --verbose"},
		{"bundle exec ruby -Itest test/test_a.rb", "minitest", "test/test_a.rb --verbose"},
		{"ruby script.rb", "", ""},
		{"vendor/bin/phpunit", "phpunit", "--log-junit"},

		{"pytest --junitxml=out.xml", "", ""},
		{"go test -json ./...", "", ""},
		{"go test ./... -args -x", "", ""},
		{"pytest | tee log", "", ""},
		{"pytest > log", "", ""},
		{"cd a && pytest", "", ""},
		{"docker exec app pytest", "", ""},
		{"tox -e py -- pytest", "", ""},
		{"make test", "", ""},
		{"npm test", "", ""},
		{"./run.sh pytest", "", ""},
	} {
		argv := []string{"/bin/sh", "-c", tt.line}
		got := detectedplan.AddReport(measure.Check{Kind: measure.Test, Command: argv})
		line := strings.ReplaceAll(got.Command[2], "'", "")
		if got.Runner != tt.runner || !strings.Contains(line, strings.ReplaceAll(tt.contains, "'", "")) {
			t.Errorf("%q: runner %q, command %q; want %q with %q", tt.line, got.Runner, got.Command, tt.runner, tt.contains)
		}
		if tt.runner == "" && !slices.Equal(got.Command, argv) {
			t.Errorf("%q became %q", argv, got.Command)
		}
	}
	got := detectedplan.AddReport(measure.Check{Kind: measure.Test, Command: []string{"go", "test", "./..."}})
	if want := []string{"go", "test", "-json", "./..."}; !slices.Equal(got.Command, want) {
		t.Errorf("command %q, want %q", got.Command, want)
	}
	for _, given := range []measure.Check{
		{Kind: measure.Test, Command: []string{"pytest"}, Reports: []string{"a.xml"}},
		{Kind: measure.Test, Command: []string{"pytest"}, Runner: "pytest"},
		{Kind: measure.Lint, Command: []string{"pytest"}},
	} {
		if got := detectedplan.AddReport(given); !slices.Equal(got.Command, given.Command) {
			t.Errorf("%+v became %q", given, got.Command)
		}
	}
}
