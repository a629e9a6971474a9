package parsers_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"supervise/parsers"
)

// corpusEntry is one report with what its upstream project says it holds.
type corpusEntry struct {
	Format   string
	Files    []string
	Merged   bool `json:"failed_includes_errors"`
	Expected struct {
		ParseError            bool `json:"parse_error"`
		Tests, Failed, Errors *int
		Skipped               *int
	}
}

// divergence is what we count otherwise, and why.
type divergence struct {
	want   parsers.Totals
	reason string
}

// refused are the entries that are not reports here, with the reason.
var refused = map[string]string{
	"tapjs+tap-parser/test/fixtures/die.tap":         "an empty file is no report of no tests",
	"tapjs+tap-parser/test/fixtures/empty.tap":       "an empty file is no report of no tests",
	"tapjs+tap-parser/test/fixtures/out_err_mix.tap": "there is no line of TAP in it",
}

// divergences are the entries where we count otherwise on purpose, with what
// we count and why.
var divergences = map[string]divergence{
	"EnricoMi+publish-unit-test-result-action/python/test/files/junit-xml/no-attributes.xml": {
		parsers.Totals{Tests: 4, Passed: 1, Failed: 1, Errors: 1, Skipped: 1},
		"upstream drops testcases without a name; a test is never lost here",
	},
	"EnricoMi+publish-unit-test-result-action/python/test/files/nunit/nunit3/jenkins/NUnit-issue17521.xml": {
		parsers.Totals{Tests: 2, Passed: 1, Skipped: 1},
		"upstream refuses the null bytes in its messages; single ones are no damage here, since some tools write them",
	},
	"EnricoMi+publish-unit-test-result-action/python/test/files/trx/yami_YAMILEX_2015-10-24_04_18_59.trx": {
		parsers.Totals{Tests: 25, Passed: 2, Failed: 2, Errors: 1, Skipped: 20},
		"upstream counts an aborted test as skipped; it ran and broke off, which is an error here",
	},
	"rwx-research+captain/test/fixtures/phpunit.xml": {
		parsers.Totals{Tests: 14, Passed: 4, Failed: 3, Errors: 3, Skipped: 4},
		"upstream counts PHPUnit's risky test as passed; the report says error, in the case and in its totals",
	},
	"rwx-research+captain/test/fixtures/rwx/v1.json": {
		parsers.Totals{Tests: 3, Passed: 2, Skipped: 1},
		"upstream takes the sums of the summary, which its own three tests deny: none of them failed",
	},
}

// TestCorpora compares the recount of real reports with what the projects they
// come from assert about them. SUPERVISE_CORPORA names a folder with
// expected-tests.json and the unpacked reports.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-tests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []corpusEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	formats := map[string]bool{
		"junit": true, "gotest": true, "trx": true, "nunit": true, "xunit": true,
		"mocha": true, "libtest": true, "cucumber": true, "dart": true, "rspec": true, "playwright": true, "ginkgo": true, "jest": true, "karma": true, "testcafe": true, "vitest": true, "pytest_reportlog": true, "rwx-v1": true,
	}
	formats["tap"] = true
	maps.Copy(divergences, tapDivergences)
	count, good, diverging := 0, 0, 0
	for _, e := range entries {
		if !formats[e.Format] {
			continue
		}
		count++
		name := e.Files[0]
		got, err := e.read(dir)
		if reason, known := refused[name]; known {
			diverging++
			if err == nil {
				t.Errorf("%s: was read as %+v; want an error (%s)", name, got, reason)
			}
			continue
		}
		if d, known := divergences[name]; known {
			diverging++
			if err != nil || got != d.want {
				t.Errorf("%s: got %+v, %v; want the listed divergence %+v (%s)", name, got, err, d.want, d.reason)
			}
			continue
		}
		if why := e.compare(got, err); why != "" {
			t.Errorf("%s: %s", name, why)
			continue
		}
		good++
	}
	t.Logf("%d entries: %d as expected, %d listed divergences", count, good, diverging)
	if count == 0 {
		t.Error("the corpus has no entry of our formats")
	}
}

func (e corpusEntry) read(dir string) (parsers.Totals, error) {
	var sum parsers.Totals
	for _, name := range e.Files {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return sum, err
		}
		r, err := parsers.Parse(f, name)
		_ = f.Close()
		if err != nil {
			return sum, err
		}
		if r.Tests == nil {
			return sum, errors.New("read as " + r.Format + ", which holds no tests")
		}
		sum.Tests += r.Cases.Tests
		sum.Passed += r.Cases.Passed
		sum.Failed += r.Cases.Failed
		sum.Errors += r.Cases.Errors
		sum.Skipped += r.Cases.Skipped
	}
	return sum, nil
}

func (e corpusEntry) compare(got parsers.Totals, err error) string {
	if e.Expected.ParseError {
		if err == nil {
			return "was read although it is damaged"
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if e.Merged {
		got.Failed += got.Errors
	}
	for _, n := range []struct {
		name string
		want *int
		got  int
	}{
		{"tests", e.Expected.Tests, got.Tests},
		{"failed", e.Expected.Failed, got.Failed},
		{"errors", e.Expected.Errors, got.Errors},
		{"skipped", e.Expected.Skipped, got.Skipped},
	} {
		if n.want != nil && *n.want != n.got {
			return n.name + " differ: " + mustJSON(e.Expected) + " expected, got " + mustJSON(got)
		}
	}
	return ""
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
