package approval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrUnanswered is returned for a question without an answer.
var ErrUnanswered = errors.New("no answer yet")

// isSameAs reports whether two questions are about the same decision. Metrics may differ, since they
// are measured again before a question is asked again.
func (q Question) isSameAs(p Question) bool {
	return q.LoopID == p.LoopID && q.Iteration == p.Iteration && q.Kind == p.Kind
}

// earlierAnswer returns the answer to a question that an earlier process left open, nil if there is no
// such question, or no answer in time.
func earlierAnswer(q Question, o Options) (*Answer, error) {
	p, err := readQuestion(o.Dir)
	if err != nil || !q.isSameAs(p.Question) {
		return nil, nil //nolint:nilerr,nilnil // ask again
	}
	b := mailbox{o.Dir, p.Secret}
	a, why := b.readAnswer()
	switch {
	case why != "":
		if o.OnRefused != nil {
			o.OnRefused(why)
		}
		return nil, os.Remove(b.path(answerName))
	case a == nil && o.Deferred && o.Timeout > 0 && time.Since(p.Question.AskedAt) > o.Timeout:
		return &Answer{Choice: Reject, Channel: ByTimeout, At: time.Now()}, nil
	}
	return a, nil
}

// postOnce posts a question, unless it is posted already.
func postOnce(q Question, o Options) error {
	if p, err := readQuestion(o.Dir); err == nil && q.isSameAs(p.Question) {
		return nil
	}
	if _, err := postQuestion(o.Dir, q); err != nil || o.OnOpen == nil {
		return err
	}
	return o.OnOpen()
}

// ReplyLater answers the open question of the loop in dir; the process that resumes the loop takes the
// answer. The error wraps [ErrNoQuestion] if there is none.
func ReplyLater(dir string, a Answer) (Question, error) {
	if err := a.Validate(); err != nil {
		return Question{}, err
	}
	p, err := readQuestion(dir)
	if err != nil {
		return p.Question, err
	}
	if err := writePrivate(filepath.Join(dir, answerName), postedAnswer{p.Secret, a}); err != nil {
		return p.Question, fmt.Errorf("answer: %w", err)
	}
	return p.Question, nil
}

// CloseQuestion removes the question of the loop in dir, and its answer, which is recorded by then.
func CloseQuestion(dir string) { mailbox{dir: dir}.close() }
