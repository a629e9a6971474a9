package parsers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/metric"
	"supervise/parsers"
)

// levelCounts are the numbers of findings of each level.
type levelCounts struct{ errors, warnings, notes, types int }

// sameLint are the reports that the reporters of one tool wrote about the same
// sources. The first is what the others are compared with; a report that says
// something else is listed with what it says and why.
var sameLint = []struct {
	tool    string
	reports string
	differ  map[string]levelCounts
	reason  string
}{
	{"eslint", "json.json json-with-metadata.json sarif.sarif checkstyle.xml gitlab.json", nil, ""},
	{"eslint", "syntax.json", map[string]levelCounts{"syntax.sarif": {errors: 1}, "syntax-checkstyle.xml": {errors: 1}}, "only the first is about a second file with a warning"},
	{"ruff", "json.json lines.jsonl sarif.sarif gitlab.json", map[string]levelCounts{"rdjson.json": {warnings: 11}}, "ruff gives its rdjson the severity WARNING as a whole"},
	{"ruff", "syntax-json.json syntax-lines.jsonl syntax-sarif.sarif syntax-gitlab.json", map[string]levelCounts{"syntax-rdjson.json": {warnings: 2}}, "ruff gives its rdjson the severity WARNING as a whole"},
	{"biome", "json.json json-pretty.json ci.json sarif.sarif checkstyle.xml gitlab.json rdjson.json", nil, ""},
	{"hadolint", "json.json sarif.sarif checkstyle.xml gitlab_codeclimate.json sonarqube.json codeclimate.txt", nil, ""},
	{"hadolint", "syntax-json.json syntax-sarif.sarif syntax-checkstyle.xml syntax-gitlab_codeclimate.json syntax-sonarqube.json syntax-codeclimate.txt", nil, ""},
	{"shellcheck", "json.json json1.json checkstyle.xml", nil, ""},
	{"shellcheck", "syntax-json.json syntax-json1.json syntax-checkstyle.xml", nil, ""},
	{"pylint", "json.json json2.json reports.json exit-zero.json", nil, ""},
	{"pylint", "syntax-json.json syntax-json2.json", nil, ""},
	{"phpcs", "json.json checkstyle.xml xml.xml", nil, ""},
	{"bandit", "json.json sarif.sarif exit-zero.json", nil, ""},
	{"sqlfluff", "json.json nofail.json sarif.sarif", map[string]levelCounts{"github-annotation.json": {warnings: 7}}, "annotations are warnings unless another level is asked for"},
	{"actionlint", "json.json jsonl.jsonl", nil, ""},
	{"markdownlint", "json.json output-file.json", nil, ""},
	{"cargo", "clippy.jsonl clippy-ansi.jsonl", nil, ""},
	{"semgrep", "json.json sarif.sarif gitlab-sast.json", nil, ""},
	{"java-lint", "checkstyle.xml checkstyle.sarif", nil, ""},
	{"java-lint", "pmd.xml", map[string]levelCounts{"pmd.sarif": {warnings: 7}}, "PMD's SARIF calls the priorities 3 and 4 warnings"},
	{
		"java-lint", "spotbugs.xml",
		map[string]levelCounts{"spotbugs-sarif.json": {errors: 2, warnings: 2, notes: 12}},
		"SpotBugs' SARIF has levels by rank, its XML by priority",
	},
	{
		"staticcheck", "json.jsonl",
		map[string]levelCounts{"sarif.sarif": {errors: 1, warnings: 6}},
		"staticcheck's JSON calls every finding an error that fails the run; its SARIF has the levels of the rules",
	},
	{"staticcheck", "compile-json.jsonl compile-sarif.sarif compile-trimpath.jsonl", nil, ""},
	{"staticcheck", "syntax-json.jsonl syntax-sarif.sarif", nil, ""},
	{
		"golangci-lint-v2", "json.json checkstyle.xml exit-zero.json",
		map[string]levelCounts{"code-climate.json": {errors: 10, notes: 1}, "sarif.sarif": {errors: 5, warnings: 6}},
		"golangci-lint writes a severity that Code Climate does not know as critical, and one that SARIF does not know as error",
	},
	{"golangci-lint-v2", "compile-json.json compile-checkstyle.xml compile-sarif.sarif compile-code-climate.json compile-trimpath.json", nil, ""},
}

// TestSameLint compares the reports of one run with each other.
func TestSameLint(t *testing.T) {
	for _, set := range sameLint {
		reports := strings.Fields(set.reports)
		t.Run(set.tool+" "+reports[0], func(t *testing.T) {
			want := countLevels(t, set.tool, reports[0])
			if want == (levelCounts{}) {
				t.Error("there is no finding to compare")
			}
			for _, name := range reports[1:] {
				if got := countLevels(t, set.tool, name); got != want {
					t.Errorf("%s holds %+v, %s holds %+v", name, got, reports[0], want)
				}
			}
			for name, differs := range set.differ {
				if got := countLevels(t, set.tool, name); got != differs || set.reason == "" {
					t.Errorf("%s holds %+v, want %+v (%s)", name, got, differs, set.reason)
				}
			}
		})
	}
}

func countLevels(t *testing.T, tool, name string) levelCounts {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures, "lint", tool, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := parsers.Parse(f, name)
	if err != nil {
		t.Fatal(err)
	}
	var n levelCounts
	for _, x := range r.Lint.Findings {
		switch x.Level {
		case metric.Error:
			n.errors++
		case metric.Warning:
			n.warnings++
		case metric.Note:
			n.notes++
		}
		if x.Type {
			n.types++
		}
	}
	return n
}
