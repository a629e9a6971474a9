package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// ErrBusy is returned when another process holds a lock.
var ErrBusy = errors.New("snapshot store is in use by another process")

// Staged is a file of the store that was written under a temporary name, and is not durable
// yet. Name is its final path.
type Staged struct {
	File *os.File
	Name string
}

// Stage writes a file of the store to a temporary name in the same folder.
func Stage(name string, data []byte, perm os.FileMode) (*Staged, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "tmp_")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	t := &Staged{f, name}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(perm)); err != nil {
		t.Abort()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return t, nil
}

// Abort removes the file unless it was published.
func (t *Staged) Abort() {
	if t != nil && t.File != nil {
		t.File.Close()
		_ = os.Remove(t.File.Name()) // a failure is repeated by Sweep
		t.File = nil
	}
}

// Publish syncs all files in parallel and then renames them in order. Before a rename in another folder, the earlier renames
// are synced. After an error some files may be renamed.
func Publish(list ...*Staged) error {
	var g errgroup.Group
	for _, t := range list {
		g.Go(t.File.Sync)
		defer t.Abort()
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("write snapshot store: %w", err)
	}
	for i, t := range list {
		if err := errors.Join(t.File.Close(), os.Rename(t.File.Name(), t.Name)); err != nil {
			return fmt.Errorf("write %s: %w", t.Name, err)
		}
		t.File = nil
		dir := filepath.Dir(t.Name)
		if i+1 < len(list) && filepath.Dir(list[i+1].Name) == dir {
			continue
		}
		if err := SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile replaces a file of the store atomically: after a crash it has either the old or the new content.
func WriteFile(name string, data []byte) error {
	t, err := Stage(name, data, 0o600)
	if err != nil {
		return err
	}
	return Publish(t)
}

// WriteJSON replaces a file of the store atomically with v as JSON. Each level has the given indent; "" writes one line.
func WriteJSON(name, indent string, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return WriteFile(name, b.Bytes())
}

// ReadJSON decodes a file of the store into v, and reports whether the file exists.
func ReadJSON(name string, v any) (exists bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	return true, err
}

// Sweep removes temporary files that a crash left in a folder of the store.
func Sweep(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, "tmp_*"))
	for _, f := range list {
		_ = os.Remove(f) // a failure is repeated next time
	}
}

// IgnoreMissing returns nil if the error is that a file does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TempPrefix is the prefix of temporary files in the working tree.
const TempPrefix = ".supervise-"

// LinkOrCopy makes a hard link to a regular file, or a copy if that is impossible.
func LinkOrCopy(from, to string) error { return duplicate(from, to, true) }

// Copy copies a regular file, sharing its blocks if the file system supports that. The copy is not synced.
func Copy(from, to string) error { return duplicate(from, to, false) }

// duplicate makes a copy of a regular file, or with link a hard link. If that is impossible, it makes a durable copy.
func duplicate(from, to string, link bool) error {
	fi, err := os.Lstat(from)
	if err != nil || !fi.Mode().IsRegular() {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if link {
		if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	return copyFile(from, to, fi, link)
}

// copyFile copies a file with the information fi. It writes a temporary file and renames it.
// sync makes the content durable first.
func copyFile(from, to string, fi fs.FileInfo, sync bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), TempObject)
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // it was renamed, or is removed
	_, err = io.Copy(out, in)   // by copy_file_range, which shares blocks
	if sync && err == nil {
		err = out.Sync()
	}
	if os.Geteuid() == 0 {
		_ = out.Chown(int(StatOf(fi).Owner.UID), int(StatOf(fi).Owner.GID)) // the owner is irrelevant in the store
	}
	if err = errors.Join(err, out.Chmod(fi.Mode().Perm()), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// TempObject is the prefix of temporary copies; git removes such files.
const TempObject = "tmp_obj_"

// IsEmptyDir reports whether a folder exists and is empty.
func IsEmptyDir(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	return len(names) == 0 && errors.Is(err, io.EOF)
}
