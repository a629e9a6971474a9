package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"supervise/internal/environment"
)

// keep remembers what was written into one of the loop's files.
func (l *Ledger) keep(name string, data []byte) {
	if l.own == nil {
		l.own = map[string][]byte{}
	}
	l.own[name] = data
}

// MoveBack moves the folder of the loop back to its place if it, or a folder above it, was moved: a mount that can only be
// read does not prevent that. What is in its place goes where it was. Check names it.
func (l *Ledger) MoveBack() error {
	for range 4 { // folders above one another may have been moved
		was := filepath.Join(l.dir, "lock")
		lock := l.locks[len(l.locks)-1]
		ours, err := lock.Stat()
		if err != nil {
			return fmt.Errorf("find the folder of the loop: %w", err)
		}
		if there, err := os.Stat(was); err == nil && os.SameFile(ours, there) {
			return nil
		}
		now, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", lock.Fd()))
		if _, gone := os.Stat(now); err != nil || gone != nil {
			return nil //nolint:nilerr // it was deleted, or this system cannot tell where it is
		}
		for filepath.Base(was) == filepath.Base(now) && was != now {
			was, now = filepath.Dir(was), filepath.Dir(now)
		}
		if err := swap(now, was); err != nil {
			return fmt.Errorf("move the state back, which is in %s: %w", now, err)
		}
		l.moved = append(l.moved, was+" (it was moved to "+now+")")
	}
	return nil
}

// swap moves a folder, and what is in its place to where it was.
func swap(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	aside := from + ".moved"
	if err := os.Rename(to, aside); err != nil {
		return err
	}
	return errors.Join(os.Rename(from, to), os.Rename(aside, from))
}

// RepairChanged compares the loop's log, state and settings with what this process has
// written. It puts back what is not the same, as far as it can, and names it. A
// log that was changed in place stays as it is: its chain shows where.
func (l *Ledger) RepairChanged() (changed []string, err error) {
	changed, l.moved = l.moved, nil
	same, err := l.log.same(filepath.Join(l.dir, logName))
	if err != nil {
		return nil, err
	}
	if !same {
		changed = append(changed, logName)
		if err := l.log.putBack(filepath.Join(l.dir, logName)); err != nil {
			return changed, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.own)) {
		path := filepath.Join(l.dir, name)
		is, err := os.ReadFile(path)
		if err == nil && bytes.Equal(is, l.own[name]) {
			continue
		}
		changed = append(changed, name)
		if err := WriteFile(path, l.own[name]); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// same reports whether the log at path is the one that was written.
func (l *eventLog) same(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check the audit log: %w", err)
	}
	defer f.Close()
	ours, err := l.file.Stat()
	if err != nil {
		return false, fmt.Errorf("check the audit log: %w", err)
	}
	theirs, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("check the audit log: %w", err)
	}
	switch {
	case !os.SameFile(ours, theirs) || theirs.Size() != l.end:
		return false, nil
	case l.end > wholeLog && l.end-l.hashed < l.hashed/4 && !l.written.IsZero() && environment.ChangeTime(theirs).Equal(l.written):
		return true, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false, fmt.Errorf("check the audit log: %w", err)
	}
	l.hashed = l.end
	return bytes.Equal(sum.Sum(nil), l.sum.Sum(nil)), nil
}

// wholeLog is the length, in bytes, up to which a log is read whole at each check.
// A longer one is read whole when it has grown by a quarter, else only where the
// system says that somebody wrote to it after we did: what all checks of a loop
// read grows with its log, not with its square.
const wholeLog = 1 << 20

// putBack writes the log again where another file took its place; what was written
// can still be read from the open file.
func (l *eventLog) putBack(path string) error {
	text := make([]byte, l.end)
	n, err := l.file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("put the audit log back: %w", err)
	}
	text = text[:bytes.LastIndexByte(text[:n], '\n')+1] // of whole lines
	if err := WriteFile(path, text); err != nil {
		return fmt.Errorf("put the audit log back: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("put the audit log back: %w", err)
	}
	l.file.Close()
	l.file, l.end = f, int64(len(text))
	l.sum.Reset()
	l.sum.Write(text)
	_, err = f.Seek(l.end, io.SeekStart)
	return err
}
