package approval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/internal/approval"
)

var question = approval.Question{
	LoopID: "ralph-fix-1a2b3c4d", Iteration: 7, Kind: approval.Regression, Why: "a test was deleted",
	Findings: []string{"Test count decreased from 150 to 148"},
	Tests:    []string{"auth: should validate email format"},
	Numbers:  []approval.Number{{"tests", "150", "148"}, {"coverage", "85.0%", ""}},
	Target:   6, Diagnosis: "reward_hacking (confidence 0.95)",
}

// posted waits until the question of the loop in dir can be answered.
func posted(t *testing.T, dir string) {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		if _, err := approval.OpenQuestion(dir); err == nil {
			return
		}
	}
	t.Error("nobody asked within a minute")
}

func TestTheQuestionNamesNumbersAndTests(t *testing.T) {
	q := question
	q.Tests = append(q.Tests, "\x1b]0;evil\x07name")
	text := q.Text()
	for _, want := range []string{
		"REGRESSION DETECTED", "iteration 7 of ralph-fix-1a2b3c4d", "Test count decreased from 150 to 148",
		"auth: should validate email format", "tests     150 → 148", "coverage  85.0% → not measured",
		"reward_hacking", "asked because a test was deleted", "]0;evilname",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the question lacks %q:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("the agent's text would steer the terminal: %q", text)
	}
}

func TestAnswerFromAnotherProcess(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given approval.Answer
		want  string
	}{
		{"reject", approval.Answer{Choice: approval.Reject, User: "ann"}, "rejected by ann"},
		{"approve", approval.Answer{Choice: approval.Approve, User: "ann", Reason: "the feature is gone"}, "approved by ann: the feature is gone"},
		{"abort", approval.Answer{Choice: approval.Abort, User: "ann", Reason: "wrong task"}, "aborted by ann: wrong task"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			errs := make(chan error, 1)
			go func() {
				posted(t, dir)
				q, err := approval.Reply(dir, tt.given)
				if err == nil && q.Iteration != 7 {
					err = fmt.Errorf("the question was about iteration %d", q.Iteration)
				}
				errs <- err
			}()
			a, err := approval.Ask(t.Context(), question, approval.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-errs; err != nil {
				t.Error(err)
			}
			if a.Choice != tt.given.Choice || a.Channel != approval.ByCommand || a.String() != tt.want {
				t.Errorf("the answer is %+v (%s), want %s", a, a, tt.want)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// An agent can neither leave an answer before the question, nor give one without the
// secret.
func TestAnswersThatDoNotCount(t *testing.T) {
	dir := t.TempDir()
	write := func(text []byte) { // at once: a part of an answer would be refused, too
		t.Helper()
		path := filepath.Join(t.TempDir(), "answer.json")
		if err := errors.Join(os.WriteFile(path, text, 0o600), os.Rename(path, filepath.Join(dir, "answer.json"))); err != nil {
			t.Error(err)
		}
	}
	leave := func(secret string, a approval.Answer) {
		t.Helper()
		text, _ := json.Marshal(map[string]any{"secret": secret, "answer": a})
		write(text)
	}
	approve := approval.Answer{Choice: approval.Approve, Reason: "trust me"}
	leave("", approve)
	refused := make(chan string, 8)
	done := make(chan approval.Answer, 1)
	go func() {
		a, err := approval.Ask(t.Context(), question, approval.Options{Dir: dir, OnRefused: func(why string) { refused <- why }})
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	posted(t, dir)
	if info, err := os.Stat(filepath.Join(dir, "question.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret can be read by others: %v, %v", info.Mode(), err)
	}
	leave("guess", approve)
	if why := <-refused; !strings.Contains(why, "secret") {
		t.Errorf("refused because %q", why)
	}
	write([]byte("approve"))
	if why := <-refused; !strings.Contains(why, "cannot be read") {
		t.Errorf("refused because %q", why)
	}
	if _, err := approval.Reply(dir, approval.Answer{Choice: approval.Approve}); !errors.Is(err, approval.ErrNoReason) {
		t.Errorf("an approval without a reason: %v", err)
	}
	if _, err := approval.Reply(dir, approval.Answer{Choice: approval.Reject}); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.Choice != approval.Reject {
		t.Errorf("the answer is %v", a)
	}
	if _, err := approval.Reply(dir, approval.Answer{Choice: approval.Reject}); !errors.Is(err, approval.ErrNoQuestion) {
		t.Errorf("an answer to nothing: %v", err)
	}
}

func TestTimeoutNeverApproves(t *testing.T) {
	a, err := approval.Ask(t.Context(), question, approval.Options{Dir: t.TempDir(), Timeout: time.Nanosecond})
	if err != nil || a.Choice != approval.Reject || a.Channel != approval.ByTimeout {
		t.Errorf("Ask = %+v, %v, want a rejection by the time", a, err)
	}
}

func TestAQuestionLeftOpen(t *testing.T) {
	dir, opened, refused := t.TempDir(), 0, ""
	ask := func(q approval.Question, timeout time.Duration) (approval.Answer, error) {
		return approval.Ask(t.Context(), q, approval.Options{
			Dir: dir, Deferred: true, Timeout: timeout, OnRefused: func(why string) { refused = why },
			OnOpen: func() error { opened++; return nil },
		})
	}
	asked := question
	asked.AskedAt = time.Now().Add(-time.Hour)
	for range 2 { // the second process finds the question of the first
		if _, err := ask(asked, 0); !errors.Is(err, approval.ErrUnanswered) || opened != 1 {
			t.Fatalf("Ask = %v, opened %d times", err, opened)
		}
	}
	if a, err := ask(asked, time.Minute); err != nil || a.Choice != approval.Reject || a.Channel != approval.ByTimeout {
		t.Errorf("an hour later Ask = %+v, %v, want a rejection by the time", a, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "answer.json"), []byte(`{"secret": "guess", "answer": {"choice": "reject"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(asked, 0); !errors.Is(err, approval.ErrUnanswered) || !strings.Contains(refused, "secret") {
		t.Errorf("an answer without the secret: %v, refused because %q", err, refused)
	}
	if q, err := approval.ReplyLater(dir, approval.Answer{Choice: approval.Reject, User: "ann"}); err != nil || q.Iteration != 7 {
		t.Fatalf("Leave = %+v, %v", q, err)
	}
	for range 2 { // one that is killed before it has written the answer down is given it again
		if a, err := ask(asked, 0); err != nil || a.String() != "rejected by ann" {
			t.Errorf("Ask = %s, %v", a, err)
		}
	}
	next := asked
	next.Iteration++
	if _, err := ask(next, 0); !errors.Is(err, approval.ErrUnanswered) || opened != 2 {
		t.Errorf("the answer counts for another question: %v", err)
	}
	approval.CloseQuestion(dir)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	dir, stop := t.TempDir(), errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := approval.Ask(ctx, question, approval.Options{Dir: dir}); !errors.Is(err, stop) {
		t.Errorf("Ask = %v", err)
	}
	if _, err := approval.OpenQuestion(dir); !errors.Is(err, approval.ErrNoQuestion) {
		t.Errorf("the question still stands: %v", err)
	}
}

func TestNotifyByWebhook(t *testing.T) {
	got := make(chan map[string]any, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/secret-refused" {
			http.Error(w, "no such channel", http.StatusNotFound)
			return
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, r.Header, err)
		}
		got <- body
	}))
	defer srv.Close()
	note := approval.Notification{Event: approval.OnApproval, LoopID: "l", Iteration: 7, Text: "iteration 7 waits", Question: &question}
	n := &approval.Notifier{Webhook: srv.URL + "/secret", OnError: func(err error) { t.Error(err) }}
	n.Send(note)
	n.Close()
	if body := <-got; body["text"] != "iteration 7 waits" || body["event"] != "approval" || body["question"] == nil {
		t.Errorf("the webhook got %v", body)
	}
	var complaint error
	n = &approval.Notifier{Webhook: srv.URL + "/secret-refused", OnError: func(err error) { complaint = err }}
	n.Send(note)
	n.Close()
	if complaint == nil || !strings.Contains(complaint.Error(), "no such channel") || strings.Contains(complaint.Error(), "secret-refused") {
		t.Errorf("the error is %v", complaint)
	}
	srv.Close()
	n.Send(note)
	n.Close()
	if complaint == nil || strings.Contains(complaint.Error(), "secret") {
		t.Errorf("the error names the address: %v", complaint)
	}
}

func TestNotifyByCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "said")
	n := &approval.Notifier{Command: `{ echo "$SUPERVISE_NOTIFY: $SUPERVISE_NOTIFY_TEXT"; cat; } >'` + path + `'`, OnError: func(err error) { t.Error(err) }}
	n.Send(approval.Notification{Event: approval.OnEnd, LoopID: "l", Text: "it is $(over)"})
	n.Close()
	said, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(said, []byte("end: it is $(over)\n{")) || !bytes.Contains(said, []byte(`"text":"it is $(over)"`)) {
		t.Errorf("the command got %s, %v", said, err)
	}
	var complaint error
	n = &approval.Notifier{Command: "echo broken; exit 3", OnError: func(err error) { complaint = err }}
	n.Send(approval.Notification{})
	n.Close()
	if complaint == nil || !strings.Contains(complaint.Error(), "broken") {
		t.Errorf("the error is %v", complaint)
	}
	(*approval.Notifier)(nil).Send(approval.Notification{})
	(&approval.Notifier{}).Send(approval.Notification{})
}

// drain reads what is shown on a terminal until it is closed.
func drain(r io.Reader) <-chan string {
	out := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(r) // a terminal ends with an error
		out <- string(text)
	}()
	return out
}
