package cast

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DefaultTranscriptLimit is the size that a transcript may reach, in bytes.
const DefaultTranscriptLimit = 64 << 20

// transcriptParts is in how many files the end is kept. The oldest is given up as
// a whole, so this is how exactly the limit is made use of.
const transcriptParts = 8

// minTranscript is the least limit: each part has to hold some events.
const minTranscript = 1 << 20

// Transcript is the file of a [Cast], or of anything that writes a header line
// and then lines of which none is longer than 100 KiB. Of one that passes its
// limit the first eighth and the end are kept, with a marker event between them
// that counts the bytes of the recording which are left out.
//
// While it is written the end is kept in some files beside it, each of which is a
// recording of its own, so that what the death of this process leaves can be
// played. Close joins them.
type Transcript struct {
	path   string
	limit  int64
	header []byte
	head   *os.File
	size   int64   // of head
	parts  []*part // of the end, the oldest first
	gap    gap     // between head and parts
}

// part is one of the files that hold the end.
type part struct {
	file     *os.File
	size     int64
	duration time.Duration // the sum of its intervals
}

// gap is what is left out.
type gap struct {
	bytes    int64
	duration time.Duration
}

// CreateTranscript creates the file at path, or empties it, for a recording of
// at most limit bytes. A limit below 1 means the default, and 1 MiB is the least.
func CreateTranscript(path string, limit int64) (*Transcript, error) {
	if limit < 1 {
		limit = DefaultTranscriptLimit
	}
	t := &Transcript{path: path, limit: max(limit, minTranscript)}
	for i := range transcriptParts {
		if err := os.Remove(t.partPath(i + 1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("keep the transcript: %w", err)
		}
	}
	var err error
	if t.head, err = createFile(path); err != nil {
		return nil, err
	}
	return t, nil
}

func createFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the transcript: %w", err)
	}
	return f, nil
}

// partPath returns the name of a file for the end, like transcript.end1.cast.
func (t *Transcript) partPath(i int) string {
	base, found := strings.CutSuffix(t.path, ".cast")
	name := base + ".end" + strconv.Itoa(i)
	if found {
		name += ".cast"
	}
	return name
}

// headLimit and partLimit add up to the limit, less what the marker takes.
func (t *Transcript) headLimit() int64 { return t.limit / 8 }

func (t *Transcript) partLimit() int64 { return (t.limit - t.headLimit() - 256) / transcriptParts }

// Write takes one line.
func (t *Transcript) Write(line []byte) (int, error) {
	if t.header == nil {
		t.header = bytes.Clone(line)
	}
	if len(t.parts) == 0 && t.size+int64(len(line)) <= t.headLimit() {
		n, err := t.head.Write(line)
		t.size += int64(n)
		return n, err
	}
	if len(t.parts) == 0 || t.parts[len(t.parts)-1].size+int64(len(line)) > t.partLimit() {
		if err := t.startPart(); err != nil {
			return 0, err
		}
	}
	p := t.parts[len(t.parts)-1]
	n, err := p.file.Write(line)
	p.size, p.duration = p.size+int64(n), p.duration+interval(line)
	return n, err
}

// startPart begins a part, for which the oldest one is given up once there are all.
func (t *Transcript) startPart() (err error) {
	fresh := &part{}
	if len(t.parts) < transcriptParts {
		fresh.file, err = createFile(t.partPath(len(t.parts) + 1))
	} else {
		oldest := t.parts[0]
		t.parts = slices.Delete(t.parts, 0, 1)
		t.gap.bytes += oldest.size - int64(len(t.header))
		t.gap.duration += oldest.duration
		fresh.file = oldest.file
		err = errors.Join(fresh.file.Truncate(0), seek(fresh.file, 0))
	}
	if err != nil {
		return err
	}
	t.parts = append(t.parts, fresh)
	n, err := fresh.file.Write(t.header)
	fresh.size = int64(n)
	return err
}

func seek(f *os.File, offset int64) error {
	_, err := f.Seek(offset, io.SeekStart)
	return err
}

// interval returns the time at the beginning of an event line.
func interval(line []byte) time.Duration {
	number, _, _ := strings.Cut(strings.TrimPrefix(string(line[:min(len(line), 32)]), "["), ",")
	seconds, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
}

// Close joins the files and closes them.
func (t *Transcript) Close() error {
	var errs []error
	if t.gap.bytes > 0 {
		line := append(appendInterval([]byte("["), t.gap.duration), `,"m",`...)
		line = append(appendJSON(line, fmt.Appendf(nil, "%d bytes of the recording left out", t.gap.bytes)), ']', '\n')
		_, err := t.head.Write(line)
		errs = append(errs, err)
	}
	for _, p := range t.parts {
		if errors.Join(errs...) == nil {
			errs = append(errs, t.appendPart(p))
		}
	}
	if err := errors.Join(append(errs, t.head.Close())...); err != nil {
		return fmt.Errorf("keep the transcript: %w", err)
	}
	return nil
}

// appendPart moves a part to the end of the file.
func (t *Transcript) appendPart(p *part) error {
	if err := seek(p.file, int64(len(t.header))); err != nil {
		return err
	}
	if _, err := io.Copy(t.head, p.file); err != nil {
		return errors.Join(err, p.file.Close())
	}
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}

// defaultTail is what a Tail keeps without a limit, in bytes.
const defaultTail = 64 << 10

// Tail is a writer that keeps the last bytes written to it. The zero value
// keeps 64 KiB. It may be used from several goroutines.
type Tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte
	next  int // where the oldest byte is, once buf is full
}

// NewTail returns a Tail that keeps the last limit bytes; a limit below 1 means
// the default.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write keeps the end of p; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit < 1 {
		t.limit = defaultTail
	}
	n := len(p)
	if n >= t.limit {
		t.buf, t.next = append(t.buf[:0], p[n-t.limit:]...), 0
		return n, nil
	}
	room := min(t.limit-len(t.buf), n)
	t.buf = append(t.buf, p[:room]...)
	for p = p[room:]; len(p) > 0; {
		k := copy(t.buf[t.next:], p)
		p, t.next = p[k:], (t.next+k)%t.limit
	}
	return n, nil
}

// Bytes returns a copy of what is kept.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(append(make([]byte, 0, len(t.buf)), t.buf[t.next:]...), t.buf[:t.next]...)
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.Bytes()) }
