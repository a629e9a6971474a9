package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

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
