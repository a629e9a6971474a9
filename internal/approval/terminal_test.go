//go:build linux || darwin

package approval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/approval"

	"github.com/creack/pty"
)

func TestAnswerAtTheTerminal(t *testing.T) {
	patch := filepath.Join(t.TempDir(), "changes.patch")
	if err := os.WriteFile(patch, []byte("-TestEmail() {\x1b[2J\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, typed string
		want        approval.Answer
		shown       string
	}{
		{"reject", "1\n", approval.Answer{Choice: approval.Reject}, "[1] reject and revert to iteration 6"},
		{"abort", "3\n", approval.Answer{Choice: approval.Abort}, "[3] abort the loop"},
		{"approve", "2\nthe feature is gone\n", approval.Answer{Choice: approval.Approve, Reason: "the feature is gone"}, "Reason (will be recorded)"},
		{"no reason, no approval", "2\n\n1\n", approval.Answer{Choice: approval.Reject}, "An approval needs a reason"},
		{"the changes first", "d\n1\n", approval.Answer{Choice: approval.Reject}, "-TestEmail() {[2J"},
		{"nonsense", "yes\n1\n", approval.Answer{Choice: approval.Reject}, "Answer 1, 2, 3 or d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user, tty, err := pty.Open()
			if err != nil {
				t.Skip(err)
			}
			defer user.Close()
			dir, q := t.TempDir(), question
			q.Patch = patch
			typed := make(chan error, 1)
			screen := &screen{waiting: map[string]func(){"Your choice: ": func() {
				_, err := user.WriteString(tt.typed)
				typed <- err
			}}}
			shown := drain(screen.of(user))
			a, err := approval.Ask(t.Context(), q, approval.Options{Dir: dir, Terminal: tty.Name(), User: "ann", SelfCommand: "supervise"})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-typed; err != nil {
				t.Fatal(err)
			}
			tty.Close()
			if text := <-shown; !strings.Contains(text, tt.shown) {
				t.Errorf("the terminal lacks %q:\n%s", tt.shown, text)
			}
			if a.Choice != tt.want.Choice || a.Reason != tt.want.Reason || a.Channel != approval.ByTerminal || a.User != "ann" {
				t.Errorf("the answer is %+v, want %+v", a, tt.want)
			}
		})
	}
}

// If the terminal hangs up, an answer from another process still counts.
func TestTheTerminalGoesAway(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	name, dir := tty.Name(), t.TempDir()
	done := make(chan approval.Answer, 1)
	go func() {
		a, err := approval.Ask(t.Context(), question, approval.Options{Dir: dir, Terminal: name})
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	posted(t, dir)
	tty.Close()
	user.Close()
	if _, err := approval.Reply(dir, approval.Answer{Choice: approval.Abort}); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.Choice != approval.Abort {
		t.Errorf("the answer is %v", a)
	}
}

// screen does something once when a text is shown.
type screen struct {
	from    *os.File
	text    strings.Builder
	waiting map[string]func()
}

func (s *screen) of(f *os.File) *screen {
	s.from = f
	return s
}

func (s *screen) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	s.text.Write(p[:n])
	for text, do := range s.waiting {
		if strings.Contains(s.text.String(), text) {
			delete(s.waiting, text)
			do()
		}
	}
	return n, err
}
