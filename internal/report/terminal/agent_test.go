package terminal

import (
	"os"
	"strings"
	"testing"

	"supervise/internal/agent"
)

// TestMessagesAreShownOnce checks that of an agent that prints events each message is
// shown, and shown once.
func TestMessagesAreShownOnce(t *testing.T) {
	for _, tt := range []struct {
		sample string
		agent  string
		want   string
	}{
		{"claude-edit-ok.jsonl", "claude", "I will add Mul and a test for it.|Now a note file.|Running the tests.|All tests pass. Work finished.|"},
		{"gemini-edit-ok.pty", "gemini", "I will add Mul and a test for it.|Now a note file.|Running the tests.|All tests pass. Work finished.|"},
		{"gemini-bad-key.stderr", "gemini", "Warning: True color"},
	} {
		text, err := os.ReadFile("../../agent/testdata/samples/" + tt.sample)
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		p, err := agent.ByName(tt.agent)
		if err != nil {
			t.Fatal(err)
		}
		s := newMessages(p, &lineWriter{to: &shown})
		for part := range strings.SplitAfterSeq(string(text), "}") {
			_, _ = s.Write([]byte(part))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(shown.String(), "\n", "|"); !strings.HasPrefix(got, tt.want) || strings.HasSuffix(tt.want, "|") && got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.sample, got, tt.want)
		}
	}
}
