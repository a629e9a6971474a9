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

// logName is the name of the audit log in the folder of a loop.
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

// computeHash returns the hash of the event: half of the SHA-256 of its other fields, in hexadecimal.
func (e Event) computeHash() string {
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
	file      *os.File
	sum       hash.Hash // of all complete lines
	end       int64     // end of the last complete line
	changedAt time.Time // change time after our last write; zero if unknown
	hashed    int64     // length of the log when it was last hashed entirely
	last      Event
	problems  []string // found by replay
	calls     recentCalls
}

// openLog opens the log for appending and calls each with its events, oldest first. A last
// line that was torn by a crash is removed.
func openLog(path string, each func(Event)) (*eventLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	l := &eventLog{file: f, sum: sha256.New()}
	if err = l.replay(each); err == nil {
		err = l.truncate()
	}
	if err == nil {
		err = syncDir(filepath.Dir(path)) // otherwise the log itself could be lost in a crash
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open audit log %s: %w", path, err)
	}
	return l, nil
}

// replay reads the log to the end of its last complete line.
func (l *eventLog) replay(each func(Event)) error {
	c := chain{}
	torn, err := forEachLine(l.file, func(line []byte) {
		l.end += int64(len(line)) + 1
		l.sum.Write(line)
		l.sum.Write([]byte{'\n'})
		if e, ok := c.parse(line); ok {
			l.last = e
			l.calls.add(e)
			each(e)
		}
	})
	l.problems = c.problems
	if torn > 0 {
		l.problems = append(l.problems, fmt.Sprintf("%s: the last line was torn by a crash; its %d bytes are cut off", logName, torn))
	}
	return err
}

// truncate removes what follows the last complete line.
func (l *eventLog) truncate() error {
	if err := l.file.Truncate(l.end); err != nil {
		return err
	}
	_, err := l.file.Seek(l.end, io.SeekStart)
	return err
}

// append writes one line; [eventLog.sync] makes it durable. The remains of a failed write
// are removed, so that the next line starts on a new line.
func (l *eventLog) append(e Event) error {
	e.Seq, e.Prev = l.last.Seq+1, l.last.Hash
	e.Hash = e.computeHash()
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	b = append(b, '\n')
	if _, err := l.file.Write(b); err != nil {
		return fmt.Errorf("write audit log: %w", errors.Join(err, l.truncate()))
	}
	l.sum.Write(b)
	l.last, l.end = e, l.end+int64(len(b))
	l.recordChangeTime()
	return nil
}

// recordChangeTime records the change time of the file after our own write.
func (l *eventLog) recordChangeTime() {
	l.changedAt = time.Time{}
	if info, err := l.file.Stat(); err == nil {
		l.changedAt = environment.ChangeTime(info)
	}
}

// sync makes all appended lines durable.
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
	l.log.recordChangeTime() // some file systems set the time only when they write
	return nil
}

// LogUnsynced is [Ledger.Log] without the sync: until [Ledger.SyncLog] or the next Log, the
// event survives a crash of this process, but not of the machine.
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
	l.log.calls.add(e)
	return nil
}

// HeadHash returns the hash of the last log entry, which covers all entries before it.
func (l *Ledger) HeadHash() string { return l.log.last.Hash }

// SyncLog makes all written events durable.
func (l *Ledger) SyncLog() error { return l.log.sync() }

// ReadLog reads the log of the loop in dir, calls each with its events and verifies the hash
// chain. The problems name lines that are damaged or were changed; the other events are
// still read. An incomplete last line is ignored: it is still being written, or was torn by
// a crash.
func ReadLog(dir string, each func(Event)) (problems []string, err error) {
	f, err := os.Open(filepath.Join(dir, logName))
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close()
	c := chain{}
	if _, err := forEachLine(f, func(line []byte) {
		if e, ok := c.parse(line); ok {
			each(e)
		}
	}); err != nil {
		return c.problems, fmt.Errorf("read audit log: %w", err)
	}
	return c.problems, nil
}

// forEachLine calls each with every complete line, without its end, and returns the number
// of bytes after the last of them.
func forEachLine(r io.Reader, each func([]byte)) (torn int, err error) {
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

// chain parses the lines of a log and verifies that each entry follows from the one before.
type chain struct {
	line     int
	prev     string
	problems []string
}

// parse parses the next line and reports whether it is an event.
func (c *chain) parse(line []byte) (Event, bool) {
	c.line++
	var e Event
	if json.Unmarshal(line, &e) != nil || e.Hash == "" {
		c.addProblem("not readable")
		return Event{}, false
	}
	switch {
	case e.computeHash() != e.Hash:
		c.addProblem("changed after it was written")
	case e.Prev != c.prev:
		c.addProblem("entries before it are missing or were changed")
	}
	c.prev = e.Hash
	return e, true
}

// addProblem records a problem of the current line.
func (c *chain) addProblem(what string) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", logName, c.line, what))
}
