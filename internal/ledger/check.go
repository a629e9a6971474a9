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

// rememberWritten records what was last written to one of the files of the loop, so that
// [Ledger.RepairChanged] can compare and restore it.
func (l *Ledger) rememberWritten(name string, data []byte) {
	if l.written == nil {
		l.written = map[string][]byte{}
	}
	l.written[name] = data
}

// MoveBack moves the folder of the loop back if it, or a folder above it, was moved: a
// read-only mount does not prevent moving it. What has taken its place is moved to where
// the folder was found. [Ledger.RepairChanged] reports the move.
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
		if err := exchange(now, was); err != nil {
			return fmt.Errorf("move the state back, which is in %s: %w", now, err)
		}
		l.movedBack = append(l.movedBack, was+" (it was moved to "+now+")")
	}

	return nil
}

// exchange moves the folder from to the path to. If something exists at to, it is moved
// to from.
func exchange(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	temporary := from + ".moved"
	if err := os.Rename(to, temporary); err != nil {
		return err
	}
	return errors.Join(os.Rename(from, to), os.Rename(temporary, from))
}

// RepairChanged compares the log, state and settings of the loop with what this process
// has written. It restores files that differ, as far as possible, and returns their
// names. A log that was changed in place is not modified: its hash chain shows where it
// was changed.
func (l *Ledger) RepairChanged() (changed []string, err error) {
	changed, l.movedBack = l.movedBack, nil
	isUnchanged, err := l.log.isUnchanged(filepath.Join(l.dir, logName))
	if err != nil {
		return nil, fmt.Errorf("check the audit log: %w", err)
	}
	if !isUnchanged {
		changed = append(changed, logName)
		if err := l.log.restore(filepath.Join(l.dir, logName)); err != nil {
			return changed, fmt.Errorf("restore the audit log: %w", err)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(l.written)) {
		path := filepath.Join(l.dir, name)
		is, err := os.ReadFile(path)
		if err == nil && bytes.Equal(is, l.written[name]) {
			continue
		}
		changed = append(changed, name)
		if err := WriteFile(path, l.written[name]); err != nil {
			return changed, err
		}
	}

	return changed, nil
}

// isUnchanged reports whether the file at path is the log that this process has written.
func (l *eventLog) isUnchanged(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	logInfo, logErr := l.file.Stat()
	fileInfo, fileErr := f.Stat()
	if err := errors.Join(logErr, fileErr); err != nil {
		return false, err
	}

	hasOwnTime := !l.changedAt.IsZero() && environment.ChangeTime(fileInfo).Equal(l.changedAt)
	hasGrownLittle := l.end > alwaysHashed && l.end-l.hashed < l.hashed/4
	switch {
	case !os.SameFile(logInfo, fileInfo) || fileInfo.Size() != l.end:
		return false, nil
	case hasOwnTime && hasGrownLittle:
		return true, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false, err
	}
	l.hashed = l.end
	return bytes.Equal(sum.Sum(nil), l.sum.Sum(nil)), nil
}

// alwaysHashed is the length in bytes up to which each check hashes the entire log. A
// longer log is hashed again after it has grown by a quarter, or if its change time shows
// that another process wrote to it. So the total work of all checks of a loop grows
// linearly with its log.
const alwaysHashed = 1 << 20

// restore writes the log to path again after another file has taken its place. The log
// can still be read from the open file.
func (l *eventLog) restore(path string) error {
	text := make([]byte, l.end)
	n, err := l.file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	text = text[:bytes.LastIndexByte(text[:n], '\n')+1] // complete lines only
	if err := WriteFile(path, text); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	l.file.Close()
	l.file, l.end = f, int64(len(text))
	l.sum.Reset()
	l.sum.Write(text)
	_, err = f.Seek(l.end, io.SeekStart)
	return err
}
