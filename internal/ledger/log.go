package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const logName = "hook-log.jsonl"

// Event is one entry of the audit log. Hash covers the entry and, through Prev,
// everything before it.
type Event struct {
	Seq       int             `json:"seq"`
	Time      time.Time       `json:"time"`
	Name      string          `json:"event"`
	Iteration int             `json:"iteration"`
	Duration  int64           `json:"duration_ms"`
	Data      json.RawMessage `json:"data,omitempty"`
	Prev      string          `json:"prev"`
	Hash      string          `json:"hash"`
}

func (e Event) sum() string {
	e.Hash = ""
	b, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:16])
}

// eventLog appends to the audit log of a loop.
type eventLog struct {
	file *os.File
	last Event
}

// openLog opens the log for appending. A last line that was torn by a crash is
// cut off; what stands before it is kept.
func openLog(path string) (*eventLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	l := &eventLog{file: f}
	end, err := l.replay()
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open audit log %s: %w", path, err)
	}
	return l, nil
}

// replay finds the end of the last whole line.
func (l *eventLog) replay() (int64, error) {
	r := bufio.NewReader(l.file)
	var end int64
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		end += int64(len(line))
		var e Event
		if json.Unmarshal(line, &e) == nil {
			l.last = e
		}
	}
}

func (l *eventLog) append(e Event) error {
	e.Seq, e.Prev = l.last.Seq+1, l.last.Hash
	e.Hash = e.sum()
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	if _, err := l.file.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	l.last = e
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func (l *eventLog) close() error { return l.file.Close() }

// Log appends an event to the audit log and syncs it. data may be nil.
func (l *Ledger) Log(at time.Time, name string, iteration int, took time.Duration, data any) error {
	e := Event{Time: at.UTC(), Name: name, Iteration: iteration, Duration: took.Milliseconds()}
	if data != nil {
		b, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("write audit log: %w", err)
		}
		e.Data = b
	}
	return l.log.append(e)
}

// Audit reads the log of the loop in dir and checks its chain. The problems
// name the lines that are damaged or were changed; the events before and after
// them are returned all the same.
func Audit(dir string) (events []Event, problems []string, err error) {
	b, err := os.ReadFile(dir + "/" + logName)
	if err != nil {
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	prev := ""
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		var e Event
		switch {
		case json.Unmarshal(line, &e) != nil:
			problems = append(problems, fmt.Sprintf("%s:%d: not readable", logName, i+1))
			continue
		case e.sum() != e.Hash:
			problems = append(problems, fmt.Sprintf("%s:%d: changed after it was written", logName, i+1))
		case e.Prev != prev:
			problems = append(problems, fmt.Sprintf("%s:%d: entries before it are missing or were changed", logName, i+1))
		}
		prev = e.Hash
		events = append(events, e)
	}
	return events, problems, nil
}
