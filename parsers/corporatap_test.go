package parsers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/parsers"
)

const tapCorpus = "tapjs+tap-parser/test/fixtures/"

var tapDivergences = map[string]divergence{
	tapCorpus + "out_of_order.tap": {
		parsers.Totals{Tests: 15, Passed: 15},
		"upstream stops at a plan behind a test point; a test is never lost here",
	},
	tapCorpus + "skip-all-with-assert.tap": {
		parsers.Totals{Tests: 1, Passed: 1},
		"upstream passes over the point behind a plan of none; a test is never lost here",
	},
}

// tapSuccesses are the streams that are a success here and none upstream, or the
// other way round, without a word about it in the problems.
var tapSuccesses = map[string]string{
	"offset-mismatch.tap":         "the numbers need not begin with that of the plan",
	"zero_valid.tap":              "the numbers need not begin with that of the plan",
	"outside-plan-start.tap":      "the numbers need not begin with that of the plan",
	"pragma-mid-child-strict.tap": "the pragma +strict forbids other text; it is tolerated here",
	"version_old-strict.tap":      "the pragma +strict forbids other text; it is tolerated here",
	"space_after_plan.tap":        "a space behind the plan is no harm",
	"with_comments.tap":           "tests that are to do by the plan are skipped, as Test.pm means it",
	"todo_misparse.tap":           "TODOORNOTTODO is not the word TODO",
	"plan-in-bad-places-pre.tap":  "a second plan without tests is a stream that broke off",
}

// TestCorporaTAP compares whether the entire stream is a success. Plans and
// numbers that contradict the points are not failures here, but a problem.
func TestCorporaTAP(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-tests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Format   string
		Files    []string
		Expected struct {
			OverallOK bool `json:"overall_ok"`
		}
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Format != "tap" || refused[e.Files[0]] != "" {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Files[0]))
		if err != nil {
			t.Fatal(err)
		}
		r, err := parsers.Parse(f, e.Files[0])
		_ = f.Close()
		if err != nil {
			t.Error(err)
			continue
		}
		ok := r.Tests.Counts().Failed+r.Cases.Failed+len(r.Tests.Broken) == 0
		name := strings.TrimPrefix(e.Files[0], tapCorpus)
		reported := ok && len(r.Problems) > 0
		if ok != e.Expected.OverallOK && !reported && tapSuccesses[name] == "" {
			t.Errorf("%s: ok is %v, %+v %v %q", name, ok, r.Cases, r.Tests.Broken, r.Problems)
		}
	}
}
