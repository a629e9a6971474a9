package review

import (
	"strings"
	"testing"

	"supervise/internal/ledger"

	"github.com/google/go-cmp/cmp"
)

func TestAnswersAreReadStrictly(t *testing.T) {
	one := []ledger.ReviewFinding{{File: "a/b.go", Line: 3, Reason: "the test asserts nothing"}}
	const finding = `{"file": "a/b.go", "line": 3, "reason": "the test asserts nothing"}`
	for _, tt := range []struct {
		name, message string
		want          Answer
		refused       string // a part of the error
	}{
		{"alone", `{"verdict": "ok", "findings": []}`, Answer{Verdict: ledger.ReviewOK}, ""},
		{"behind prose, in a fence", "I looked at it.\n\n```json\n{\"verdict\": \"gaming\",\n \"findings\": [" + finding + "]}\n```\n", Answer{ledger.ReviewGaming, one}, ""},
		{"indented", "  {\"verdict\": \"concerns\", \"findings\": [" + finding + "]}", Answer{ledger.ReviewConcerns, one}, ""},
		{"twice the same", "{\"verdict\": \"ok\", \"findings\": []}\n{\"verdict\": \"ok\", \"findings\": []}", Answer{Verdict: ledger.ReviewOK}, ""},
		{"besides other objects", "{\"a\": 1}\n{ broken\n{\"verdict\": \"ok\", \"findings\": []}", Answer{Verdict: ledger.ReviewOK}, ""},

		{"nothing", "", Answer{}, "no JSON object"},
		{"prose", `I say {"verdict": "ok", "findings": []}`, Answer{}, "no JSON object"},
		{"two answers", "{\"verdict\": \"ok\", \"findings\": []}\n{\"verdict\": \"gaming\", \"findings\": [" + finding + "]}", Answer{}, "several answers"},
		{"cut off", `{"verdict": "ok", "findings": [`, Answer{}, "no JSON object"},
		{"another verdict", `{"verdict": "fine", "findings": []}`, Answer{}, `the verdict is "fine"`},
		{"no verdict", `{"verdict": null, "findings": []}`, Answer{}, "verdict and findings are needed"},
		{"no findings", `{"verdict": "ok"}`, Answer{}, "verdict and findings are needed"},
		{"ok with findings", `{"verdict": "ok", "findings": [` + finding + `]}`, Answer{}, "the verdict is ok, and there are findings"},
		{"concerns without", `{"verdict": "concerns", "findings": []}`, Answer{}, "there is no finding"},
		{"another field", `{"verdict": "ok", "findings": [], "severity": "none"}`, Answer{}, "unknown field"},
		{"a line in words", `{"verdict": "gaming", "findings": [{"file": "a", "line": "3", "reason": "x"}]}`, Answer{}, "cannot unmarshal string"},
		{"no line", `{"verdict": "gaming", "findings": [{"file": "a", "reason": "x"}]}`, Answer{}, "needs a file, a line and a reason"},
		{"no reason", `{"verdict": "gaming", "findings": [{"file": "a", "line": 1, "reason": " "}]}`, Answer{}, "needs a file, a line and a reason"},
		{"outside of the project", `{"verdict": "gaming", "findings": [{"file": "../a", "line": 1, "reason": "x"}]}`, Answer{}, "is not in the project"},
		{"too many", `{"verdict": "gaming", "findings": [` + strings.Repeat(finding+",", maxFindings) + finding + `]}`, Answer{}, "more than 50 findings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAnswer(tt.message)
			switch {
			case tt.refused == "" && err != nil:
				t.Fatal(err)
			case tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)):
				t.Fatalf("got %+v and error %v, want an error with %q", got, err, tt.refused)
			}
			if diff := cmp.Diff(tt.want, got); tt.refused == "" && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzRead: whatever a reviewer says, what is read has the form of an answer.
func FuzzRead(f *testing.F) {
	f.Add(`{"verdict": "ok", "findings": []}`)
	f.Add("x\n{\"verdict\": \"gaming\", \"findings\": [{\"file\": \"a\", \"line\": 1, \"reason\": \"b\"}]}\n```")
	f.Fuzz(func(t *testing.T, message string) {
		a, err := ParseAnswer(message)
		if err != nil {
			return
		}
		if (a.Verdict == ledger.ReviewOK) != (len(a.Findings) == 0) {
			t.Errorf("%q is read as %+v", message, a)
		}
	})
}
