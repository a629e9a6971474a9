package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Occasion is the reason for a notification.
type Occasion string

// The occasions.
const (
	OnApproval Occasion = "approval" // a question waits for an answer
	OnCritical Occasion = "critical" // an iteration has a CRITICAL finding
	OnEnd      Occasion = "end"      // the loop is over
)

// Notification informs a person who is away. Chats such as Slack show Text.
type Notification struct {
	Event     Occasion  `json:"event"`
	LoopID    string    `json:"loop_id"`
	Iteration int       `json:"iteration"`
	Text      string    `json:"text"`
	Question  *Question `json:"question,omitempty"`
}

// Notifier sends notifications. The zero value sends nothing.
type Notifier struct {
	Webhook string        // URL that receives them as JSON by POST; "" for none
	Command string        // for the shell, receives them as JSON on standard input; "" for none
	Limit   time.Duration // of sending one; 0: ten seconds
	// OnError is called with a failure to send, from any goroutine.
	OnError func(error)

	sending sync.WaitGroup
}

// Send sends in the background.
func (n *Notifier) Send(note Notification) {
	if n == nil || n.Webhook == "" && n.Command == "" {
		return
	}
	text, err := json.Marshal(note)
	if err != nil {
		n.reportError(err)
		return
	}
	for _, way := range []struct {
		target string
		send   func(context.Context, Notification, []byte) error
	}{{n.Webhook, n.post}, {n.Command, n.run}} {
		if way.target == "" {
			continue
		}
		n.sending.Go(func() {
			limit := n.Limit
			if limit <= 0 {
				limit = 10 * time.Second
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			if err := way.send(ctx, note, text); err != nil {
				n.reportError(err)
			}
		})
	}
}

// Close waits until everything is sent or has failed.
func (n *Notifier) Close() {
	if n != nil {
		n.sending.Wait()
	}
}

func (n *Notifier) reportError(err error) {
	if n.OnError != nil {
		n.OnError(err)
	}
}

// post sends to the webhook. Errors do not contain the full address, which often contains
// a secret.
func (n *Notifier) post(ctx context.Context, _ Notification, text []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.Webhook, bytes.NewReader(text))
	if err != nil {
		return errors.New("notify by webhook: invalid address")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return fmt.Errorf("notify by webhook at %s: %w", req.URL.Host, err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 200)) // best effort
		return fmt.Errorf("notify by webhook at %s: %s: %s", req.URL.Host, res.Status, stripControl(string(body)))
	}
	return nil
}

// run runs the command.
func (n *Notifier) run(ctx context.Context, note Notification, text []byte) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", n.Command)
	cmd.Env = append(os.Environ(), "SUPERVISE_NOTIFY="+string(note.Event), "SUPERVISE_NOTIFY_TEXT="+note.Text)
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(text), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("notify by command: %w: %s", err, stripControl(string(out[:min(len(out), 200)])))
	}
	return nil
}
