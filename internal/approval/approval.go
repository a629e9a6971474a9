// Package approval asks a person what happens to an iteration, and waits for the answer. The
// person types it at a terminal, or another process that knows the secret of the question gives
// it.
//
// Only a person can approve. A timeout, a lost terminal or a policy can reject, or end the
// loop, but never approve.
package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Choice is what happens to an iteration.
type Choice string

// The possible choices.
const (
	Reject  Choice = "reject"  // revert it; the loop continues
	Approve Choice = "approve" // keep it; the loop continues. It needs a reason
	Abort   Choice = "abort"   // revert it and end the loop
)

// Valid reports whether c is one of the choices.
func (c Choice) Valid() bool { return slices.Contains([]Choice{Reject, Approve, Abort}, c) }

// Policy is what happens if there is no terminal to ask at.
type Policy string

// The policies. The empty one is PolicyReject.
const (
	PolicyReject Policy = "reject" // as the rules decide: roll back, retry while retries are left
	PolicyAbort  Policy = "abort"  // roll back and end the loop
	PolicyWait   Policy = "wait"   // until a person answers from another terminal
)

// Valid reports whether p is one of the policies; empty is PolicyReject.
func (p Policy) Valid() bool {
	return slices.Contains([]Policy{"", PolicyReject, PolicyAbort, PolicyWait}, p)
}

// Kind is why a person is asked.
type Kind string

// The kinds of questions.
const (
	Regression Kind = "regression" // the rules roll the iteration back
	Suspicion  Kind = "suspicion"  // nothing rolls it back, but it looks like cheating
	Standstill Kind = "standstill" // the loop makes no progress: stuck, cycling or stalled
	Blocked    Kind = "blocked"    // the agent says that a test is wrong, or the task cannot be done
)

var titles = map[Kind]string{
	Regression: "REGRESSION DETECTED", Suspicion: "SUSPICIOUS CHANGE", Standstill: "NO PROGRESS", Blocked: "THE AGENT IS BLOCKED",
}

// Number is a measured number before and after the iteration, as text. An empty text
// means not measured.
type Number struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Question is what a person is asked.
type Question struct {
	LoopID    string    `json:"loop_id"`
	Iteration int       `json:"iteration"`
	Kind      Kind      `json:"kind"`
	Why       string    `json:"why"` // why a person decides, not a rule
	Findings  []string  `json:"findings"`
	Tests     []string  `json:"tests,omitempty"`
	Numbers   []Number  `json:"numbers,omitempty"`
	Diagnosis string    `json:"diagnosis,omitempty"`
	Target    int       `json:"target_iteration"` // the iteration whose tree is restored on Reject
	Patch     string    `json:"patch,omitempty"`  // file with what the iteration changed
	AskedAt   time.Time `json:"asked_at"`
}

// Channel is the way that an answer came.
type Channel string

// The ways of answering.
const (
	ByTerminal Channel = "terminal"
	ByCommand  Channel = "command" // from another process
	ByPolicy   Channel = "policy"  // without asking a person
	ByTimeout  Channel = "timeout" // no answer in time
)

// Answer is what was decided, by whom and why.
type Answer struct {
	Choice  Choice    `json:"choice"`
	Reason  string    `json:"reason,omitempty"`
	User    string    `json:"by,omitempty"` // user name
	Channel Channel   `json:"via"`
	At      time.Time `json:"at"`
}

// ErrNoReason is returned for an approval without a reason.
var ErrNoReason = errors.New("an approval needs a reason, which is recorded: give --reason")

// Validate returns what is wrong with an answer.
func (a Answer) Validate() error {
	switch {
	case !a.Choice.Valid():
		return fmt.Errorf("invalid answer %q: approve, reject or abort", a.Choice)
	case a.Choice == Approve && strings.TrimSpace(a.Reason) == "":
		return ErrNoReason
	}
	return nil
}

// String returns the answer as a sentence.
func (a Answer) String() string {
	text := map[Choice]string{Reject: "rejected", Approve: "approved", Abort: "aborted"}[a.Choice]
	switch {
	case a.Channel == ByTimeout:
		text += ": no answer in time"
	case a.User != "":
		text += " by " + a.User
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}

// Options configure how a question is asked.
type Options struct {
	Dir         string        // the loop's folder, in which question and answer are exchanged
	Terminal    string        // path of the terminal, like /dev/tty; "" for none
	User        string        // name of the user at the terminal
	SelfCommand string        // command line of supervise, for an answer from another process
	Timeout     time.Duration // after which the question counts as rejected; 0: none
	// Deferred leaves the question open; a later call of Ask returns the answer.
	Deferred bool
	// OnOpen is called once another process can answer, before the terminal shows the
	// question. Ask returns its error.
	OnOpen func() error
	// OnRefused is called for an answer without the secret, or an invalid one.
	OnRefused func(why string)
}

// pollInterval is how often the folder and the terminal are checked for an answer.
const pollInterval = 100 * time.Millisecond

// Ask asks and returns the answer. It returns the error of ctx if that ends first, the
// error of OnOpen, and otherwise an error only if the folder cannot be used. If the
// terminal goes away, Ask waits for an answer from another process.
//
// A question that was left open and has been answered is not asked again. With Later the error
// wraps [ErrUnanswered] if there is no answer. Then, and after such an answer, the question
// stays until [Close].
func Ask(ctx context.Context, q Question, o Options) (Answer, error) {
	answer, err := earlierAnswer(q, o)
	switch {
	case answer != nil:
		return *answer, nil
	case o.Deferred:
		return Answer{}, cmp.Or(err, postOnce(q, o), ErrUnanswered)
	}
	return waitForAnswer(ctx, q, o)
}

// waitForAnswer asks and waits for the answer.
func waitForAnswer(ctx context.Context, q Question, o Options) (Answer, error) {
	t, err := openTerminal(o.Terminal)
	if err != nil {
		return Answer{}, err
	}
	defer t.close()
	b, err := postQuestion(o.Dir, q)
	if err != nil {
		return Answer{}, err
	}
	defer b.close()
	if o.OnOpen != nil {
		if err := o.OnOpen(); err != nil {
			return Answer{}, err
		}
	}
	d := &dialogue{q: q, out: t, selfCommand: o.SelfCommand, user: o.User}
	d.showQuestion()
	var late <-chan time.Time
	if o.Timeout > 0 {
		late = time.After(o.Timeout)
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for line, ok := t.line(); ok; line, ok = t.line() {
			if a, done := d.handleLine(line); done {
				return a, nil
			}
		}
		switch a, why := b.takeAnswer(); {
		case why != "" && o.OnRefused != nil:
			o.OnRefused(why)
		case a != nil:
			d.showAnswer(*a)
			return *a, nil
		}
		select {
		case <-ctx.Done():
			return Answer{}, context.Cause(ctx)
		case <-late:
			a := Answer{Choice: Reject, Channel: ByTimeout, At: time.Now()}
			d.showAnswer(a)
			return a, nil
		case <-tick.C:
		}
	}
}
