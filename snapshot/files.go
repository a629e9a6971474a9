package snapshot

import (
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

// staged is a file of the store that is written, and neither durable nor under its name.
type staged struct {
	f    *os.File
	name string
}

// stage writes a file of the store beside its place.
func stage(name string, data []byte, perm os.FileMode) (*staged, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "tmp_")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	t := &staged{f, name}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(perm)); err != nil {
		t.abort()
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return t, nil
}

// abort removes what was not published. It may be called afterwards.
func (t *staged) abort() {
	if t != nil && t.f != nil {
		t.f.Close()
		_ = os.Remove(t.f.Name()) // sweepTemps will try again
		t.f = nil
	}
}

// publish makes files durable, all at once, and then gives them their names in their order. A name in another folder
// comes only when those before it are durable. On error some may have their names.
func publish(list ...*staged) error {
	var g errgroup.Group
	for _, t := range list {
		g.Go(t.f.Sync)
		defer t.abort()
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("write snapshot store: %w", err)
	}
	for i, t := range list {
		if err := errors.Join(t.f.Close(), os.Rename(t.f.Name(), t.name)); err != nil {
			return fmt.Errorf("write %s: %w", t.name, err)
		}
		t.f = nil
		dir := filepath.Dir(t.name)
		if i+1 < len(list) && filepath.Dir(list[i+1].name) == dir {
			continue
		}
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// writeFileSync replaces a file of the store so that after a crash either the old or the new content is there.
func writeFileSync(name string, data []byte) error {
	t, err := stage(name, data, 0o600)
	if err != nil {
		return err
	}
	return publish(t)
}

// sweepTemps removes what a crash left of writeFileSync and packWriter in a folder of the store.
func sweepTemps(dir string) {
	list, _ := filepath.Glob(filepath.Join(dir, "tmp_*"))
	for _, f := range list {
		_ = os.Remove(f) // it will be tried again next time
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// tempPrefix begins the names under which files are written before they are renamed.
const tempPrefix = ".supervise-"

// linkOrCopy makes a second name for a regular file, or a copy where that is impossible.
func linkOrCopy(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), tempObject)
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // it has its final name by then, or is garbage that git sweeps
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Chmod(fi.Mode().Perm()), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// tempObject begins the names under which copies are made; git sweeps them.
const tempObject = "tmp_obj_"
