// Package printed keeps what a command prints: its standard output and its standard error
// in files, up to a limit, and the end of both in memory.
package printed

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"supervise/runner"
)

// tailBytes is how much of the output is kept in memory to explain a failure.
const tailBytes = 16 << 10

// Output is what one command prints.
type Output struct {
	// Stream is one of the two outputs. Both may be written concurrently.
	Stream
	Errors *Stream // standard error; the embedded stream is standard output
}

// Stream is one of its two outputs. It may be written to while the other is.
type Stream struct {
	mu      sync.Mutex
	changed *sync.Cond // is signaled when bytes are added or the stream ends
	file    *os.File
	limit   int64 // how many bytes are kept
	size    int64 // how many bytes the file has
	isEnded bool
	err     error // why the stream is incomplete

	tail    *runner.Tail // the end of both streams
	watcher io.Writer    // gets a copy of the output; nil if there is none
}

// Open creates the files in dir. limit is how many bytes of each output are kept.
func Open(dir string, limit int64) (*Output, error) {
	tail := runner.NewTail(tailBytes)
	var o Output
	o.Errors = &Stream{limit: limit, tail: tail}
	o.limit, o.tail = limit, tail
	for name, s := range map[string]*Stream{".output": &o.Stream, ".errors": o.Errors} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:forbidigo // it is made
		if err != nil {
			o.Close()
			return nil, fmt.Errorf("keep output: %w", err)
		}
		s.file, s.changed = f, sync.NewCond(&s.mu)
	}
	return &o, nil
}

// CopyTo copies both outputs to w as well.
func (o *Output) CopyTo(w io.Writer) { o.watcher, o.Errors.watcher = w, w }

// Close closes the files. Its errors do not matter after reading.
func (o *Output) Close() {
	for _, s := range []*Stream{&o.Stream, o.Errors} {
		if s.file != nil {
			s.end()
			_ = s.file.Close()
		}
	}
}

// Rewind prepares to read the outputs. Nothing may be written afterwards.
func (o *Output) Rewind() error {
	o.end()
	o.Errors.end()
	_, err := o.file.Seek(0, io.SeekStart)
	_, err2 := o.Errors.file.Seek(0, io.SeekStart)
	return errors.Join(err, err2)
}

// Err returns why some of the output is missing, nil if it is complete.
func (o *Output) Err() error {
	if o.err != nil {
		return o.err
	}
	return o.Errors.err
}

// Tail returns the end of both outputs as text.
func (o *Output) Tail() string { return strings.ToValidUTF8(o.tail.String(), "\uFFFD") }

// File returns the file with the stream.
func (s *Stream) File() *os.File { return s.file }

// Write stores p. Above the limit, the output is dropped and the stream is marked as
// incomplete. Write never fails, so that the command is not disturbed.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.tail.Write(p) // keeps it in memory, cannot fail
	if s.watcher != nil {
		_, _ = s.watcher.Write(p)
	}
	if s.err != nil {
		return len(p), nil
	}
	if s.size+int64(len(p)) > s.limit {
		s.err = fmt.Errorf("printed more than %d MB; have it write a report file instead", s.limit>>20)
	} else if _, err := s.file.Write(p); err != nil {
		s.err = fmt.Errorf("keep output: %w", err)
	}
	if s.err != nil {
		_ = s.file.Truncate(0) // it will not be read, so it need not fill the disk
	} else {
		s.size += int64(len(p))
	}
	s.changed.Broadcast()
	return len(p), nil
}

// end marks the stream as ended, and wakes up its readers.
func (s *Stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isEnded = true
	s.changed.Broadcast()
}

// Follow returns a reader of the stream from its start. It waits for output that is not
// written yet, and ends with the stream.
func (s *Stream) Follow() io.Reader { return &follower{stream: s} }

// follower reads a stream from its start while it is written.
type follower struct {
	stream *Stream
	offset int64
}

func (f *follower) Read(p []byte) (int, error) {
	more, err := f.stream.waitForBytes(f.offset)
	if err != nil {
		return 0, err
	}
	n, err := f.stream.file.ReadAt(p[:min(int64(len(p)), more)], f.offset)
	f.offset += int64(n)
	return n, err //nolint:wrapcheck // io.Reader
}

// waitForBytes waits until the stream has bytes after offset at, and returns how many.
func (s *Stream) waitForBytes(at int64) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at == s.size && !s.isEnded && s.err == nil {
		s.changed.Wait()
	}
	switch {
	case s.err != nil:
		return 0, s.err
	case at == s.size:
		return 0, io.EOF
	}
	return s.size - at, nil
}
