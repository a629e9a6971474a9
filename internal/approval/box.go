package approval

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The files of an open question, in the loop's folder. Only the user can read them.
const (
	questionName = "question.json"
	answerName   = "answer.json"
)

// ErrNoQuestion is returned for an answer if no question is open.
var ErrNoQuestion = errors.New("no open question")

// postedQuestion is the content of the file of a question.
type postedQuestion struct {
	Question Question `json:"question"`
	Secret   string   `json:"secret"` // an answer needs it
}

// postedAnswer is the content of the file of an answer.
type postedAnswer struct {
	Secret string `json:"secret"`
	Answer Answer `json:"answer"`
}

// mailbox receives the answer to one question.
type mailbox struct {
	dir    string
	secret string
}

// postQuestion writes the question with a new secret, so that an old answer, or one to another question,
// is refused.
func postQuestion(dir string, q Question) (mailbox, error) {
	b := mailbox{dir: dir, secret: rand.Text()}
	if err := os.Remove(b.path(answerName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return b, fmt.Errorf("ask: %w", err)
	}
	if err := writePrivate(b.path(questionName), postedQuestion{q, b.secret}); err != nil {
		return b, fmt.Errorf("ask: %w", err)
	}
	return b, nil
}

func (b mailbox) path(name string) string { return filepath.Join(b.dir, name) }

// takeAnswer removes an answer and returns it, nil if there is none. why is the reason if the answer
// is refused.
func (b mailbox) takeAnswer() (a *Answer, why string) {
	if a, why = b.readAnswer(); a != nil || why != "" {
		_ = os.Remove(b.path(answerName)) // a leftover answer must not count for another question
	}
	return a, why
}

// readAnswer is answer without removing anything.
func (b mailbox) readAnswer() (a *Answer, why string) {
	text, err := os.ReadFile(b.path(answerName))
	if err != nil {
		return nil, "" // it appears complete, by a rename
	}
	var g postedAnswer
	switch err := json.Unmarshal(text, &g); {
	case err != nil:
		return nil, "it cannot be read: " + err.Error()
	case subtle.ConstantTimeCompare([]byte(g.Secret), []byte(b.secret)) != 1:
		return nil, "it has the wrong secret"
	}
	if err := g.Answer.Validate(); err != nil {
		return nil, err.Error()
	}
	g.Answer.Channel = ByCommand
	return &g.Answer, ""
}

func (b mailbox) close() {
	_ = os.Remove(b.path(questionName)) // the file has no reader any more
	_ = os.Remove(b.path(answerName))
}

// OpenQuestion returns the open question of the loop in dir. The error wraps [ErrNoQuestion]
// if there is none.
func OpenQuestion(dir string) (Question, error) {
	p, err := readQuestion(dir)
	return p.Question, err
}

func readQuestion(dir string) (p postedQuestion, err error) {
	text, err := os.ReadFile(filepath.Join(dir, questionName))
	if errors.Is(err, os.ErrNotExist) {
		return p, ErrNoQuestion
	}
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the question in %s: %w", dir, err)
	}
	return p, nil
}

// replyTimeout is the time that the supervisor has to take an answer.
const replyTimeout = 10 * time.Second

// Reply answers the open question of the loop in dir, and waits until the supervisor
// takes the answer. The error wraps [ErrNoQuestion] if there is none, or if
// no supervisor takes the answer.
func Reply(dir string, a Answer) (Question, error) {
	q, err := ReplyLater(dir, a)
	if err != nil {
		return q, err
	}
	path := filepath.Join(dir, answerName)
	tick := time.NewTicker(pollInterval / 2)
	defer tick.Stop()
	for until := time.Now().Add(replyTimeout); time.Now().Before(until); <-tick.C {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return q, nil
		}
	}
	return q, errors.Join(fmt.Errorf("%w: no supervisor took the answer", ErrNoQuestion), os.Remove(path))
}

// writePrivate writes a file that only the user can read, atomically.
func writePrivate(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // CreateTemp uses mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
