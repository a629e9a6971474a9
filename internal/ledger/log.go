package ledger

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/environment"
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
	Hook      string          `json:"hook_name,omitempty"` // the point of the loop, see [HookName]
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
	file     *os.File
	sum      hash.Hash // of all whole lines
	end      int64     // of the last whole line
	written  time.Time // when the file was changed last, by us; zero where that is not known
	hashed   int64     // how long the log was when it was last read whole to be checked
	last     Event
	problems []string // what replay found wrong
	calls    calls
}

// openLog opens the log for appending and passes each event in it to each, oldest
// first. A last line that was torn by a crash is cut off; the lines before it are
// kept.
func openLog(path string, each func(Event)) (*eventLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	l := &eventLog{file: f, sum: sha256.New()}
	if err = l.replay(each); err == nil {
		err = l.cut()
	}
	if err == nil {
		err = syncDir(filepath.Dir(path)) // or the log itself could be gone after a crash
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open audit log %s: %w", path, err)
	}
	return l, nil
}

// replay reads the log to the end of its last whole line.
func (l *eventLog) replay(each func(Event)) error {
	c := chain{}
	torn, err := eachLine(l.file, func(line []byte) {
		l.end += int64(len(line)) + 1
		l.sum.Write(line)
		l.sum.Write([]byte{'\n'})
		if e, ok := c.next(line); ok {
			l.last = e
			l.calls.read(e)
			each(e)
		}
	})
	l.problems = c.problems
	if torn > 0 {
		l.problems = append(l.problems, fmt.Sprintf("%s: the last line was torn by a crash; its %d bytes are cut off", logName, torn))
	}
	return err
}

// cut removes what follows the last whole line.
func (l *eventLog) cut() error {
	if err := l.file.Truncate(l.end); err != nil {
		return err
	}
	_, err := l.file.Seek(l.end, io.SeekStart)
	return err
}

// append writes one line; [eventLog.sync] makes it last. What a failed write left is
// removed, so that the next line does not stick to it.
func (l *eventLog) append(e Event) error {
	e.Seq, e.Prev = l.last.Seq+1, l.last.Hash
	e.Hash = e.sum()
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	b = append(b, '\n')
	if _, err := l.file.Write(b); err != nil {
		return fmt.Errorf("write audit log: %w", errors.Join(err, l.cut()))
	}
	l.sum.Write(b)
	l.last, l.end = e, l.end+int64(len(b))
	l.clock()
	return nil
}

// clock remembers when the file was changed by us.
func (l *eventLog) clock() {
	l.written = time.Time{}
	if info, err := l.file.Stat(); err == nil {
		l.written = environment.ChangeTime(info)
	}
}

func (l *eventLog) sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func (l *eventLog) close() error { return l.file.Close() }

// Log appends an event to the audit log and syncs it. data may be nil.
func (l *Ledger) Log(at time.Time, name string, iteration int, took time.Duration, data any) error {
	if err := l.LogUnsynced(at, name, iteration, took, data); err != nil {
		return err
	}
	if err := l.log.sync(); err != nil {
		return err
	}
	l.log.clock() // some file systems set the time only when they write
	return nil
}

// LogUnsynced is [Ledger.Log] without the sync: the event outlives this process, but not
// the machine, until [Ledger.Sync] or the next Log.
func (l *Ledger) LogUnsynced(at time.Time, name string, iteration int, took time.Duration, data any) error {
	e := Event{Time: at.UTC(), Name: name, Iteration: iteration, Duration: took.Milliseconds()}
	if data != nil {
		b, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("write audit log: %w", err)
		}
		e.Data = b
	}
	e.Hook = HookName(name, e.Data)
	if err := l.log.append(e); err != nil {
		return err
	}
	l.log.calls.read(e)
	return nil
}

// HeadHash is the hash of the last entry of the log, which covers all before it.
func (l *Ledger) HeadHash() string { return l.log.last.Hash }

// SyncLog makes what was written last.
func (l *Ledger) SyncLog() error { return l.log.sync() }

// ReadLog reads the log of the loop in dir, calls each with its events and checks its
// chain. The problems name the lines that are damaged or were changed; the events before
// and after them are read all the same. A line that is being written, or that a crash
// cut off, is not an event yet.
func ReadLog(dir string, each func(Event)) (problems []string, err error) {
	f, err := os.Open(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close()
	c := chain{}
	if _, err := eachLine(f, func(line []byte) {
		if e, ok := c.next(line); ok {
			each(e)
		}
	}); err != nil {
		return c.problems, fmt.Errorf("read audit log: %w", err)
	}
	return c.problems, nil
}

// eachLine passes on every whole line without its end, and returns how many bytes
// follow the last of them.
func eachLine(r io.Reader, each func([]byte)) (torn int, err error) {
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return len(line), nil
		}
		if err != nil {
			return 0, err
		}
		each(line[:len(line)-1])
	}
}

// chain reads lines of a log one after another and checks that each follows from
// the one before.
type chain struct {
	line     int
	prev     string
	problems []string
}

// next reads a line; false when it is none of ours.
func (c *chain) next(line []byte) (Event, bool) {
	c.line++
	var e Event
	if json.Unmarshal(line, &e) != nil || e.Hash == "" {
		c.problem("not readable")
		return Event{}, false
	}
	switch {
	case e.sum() != e.Hash:
		c.problem("changed after it was written")
	case e.Prev != c.prev:
		c.problem("entries before it are missing or were changed")
	}
	c.prev = e.Hash
	return e, true
}

func (c *chain) problem(what string) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", logName, c.line, what))
}
