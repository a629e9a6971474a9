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

// DefaultTranscriptLimit is the default limit of a transcript, in bytes.
const DefaultTranscriptLimit = 64 << 20

// transcriptParts is the number of files that hold the end of a recording. A full set drops
// its oldest file, so with more files less of the limit is unused.
const transcriptParts = 8

// minTranscript is the minimum limit, in bytes: each part has to hold some events.
const minTranscript = 1 << 20

// Transcript is the file of a [Cast], or of any writer of a header line and further lines
// of at most 100 KiB. Of a longer recording it keeps the first eighth and the end, with a
// marker event between them that counts the omitted bytes.
//
// Until Close joins the files, the end is kept in separate files next to the transcript.
// Each of them is a complete recording, which can be played if this process dies.
type Transcript struct {
	path   string
	limit  int64
	header []byte
	head   *os.File // the start of the recording
	size   int64    // bytes in head
	parts  []*part  // the end of the recording, the oldest part first
	gap    gap      // what was dropped between head and parts
}

// part is one of the files with the end.
type part struct {
	file     *os.File
	size     int64
	duration time.Duration // the sum of its intervals
}

// gap is the omitted part.
type gap struct {
	bytes    int64
	duration time.Duration
}

// CreateTranscript creates or empties the file at path for a recording of at most limit
// bytes. A limit below 1 means the default; the minimum is 1 MiB.
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

// createFile creates or empties a file.
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

// headLimit returns the limit of the start of the recording, in bytes. It and the limits of
// all parts add up to the limit, minus the marker.
func (t *Transcript) headLimit() int64 { return t.limit / 8 }

// partLimit returns the limit of each part of the end, in bytes.
func (t *Transcript) partLimit() int64 { return (t.limit - t.headLimit() - 256) / transcriptParts }

// Write writes one line to the start of the recording, or to the newest part.
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

// startPart starts a new part. It drops the oldest one if there are already enough.
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

// seek sets the position in a file.
func seek(f *os.File, offset int64) error {
	_, err := f.Seek(offset, io.SeekStart)
	return err
}

// interval returns the time at the start of an event line, 0 if there is none.
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

// appendPart appends a part to the transcript and removes its file.
func (t *Transcript) appendPart(p *part) error {
	if err := seek(p.file, int64(len(t.header))); err != nil {
		return err
	}
	if _, err := io.Copy(t.head, p.file); err != nil {
		return errors.Join(err, p.file.Close())
	}
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}

// defaultTail is the limit of a Tail without one, in bytes.
const defaultTail = 64 << 10

// Tail is a writer that keeps the last bytes written to it. The zero value
// keeps 64 KiB. It may be used from several goroutines.
type Tail struct {
	mu    sync.Mutex
	limit int
	buf   []byte // ends with the kept bytes; at most twice as long as the limit
}

// NewTail returns a Tail that keeps the last limit bytes. A limit below 1 means the
// default.
func NewTail(limit int) *Tail { return &Tail{limit: limit} }

// Write keeps the end of p; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit < 1 {
		t.limit = defaultTail
	}
	t.buf = append(t.buf, lastBytes(p, t.limit)...)
	if len(t.buf) > 2*t.limit {
		t.buf = append(t.buf[:0], lastBytes(t.buf, t.limit)...)
	}
	return len(p), nil
}

// lastBytes returns the last n bytes of b, or all if there are fewer.
func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// Bytes returns a copy of the kept bytes.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(lastBytes(t.buf, t.limit))
}

// String returns the kept bytes as a string.
func (t *Tail) String() string { return string(t.Bytes()) }
