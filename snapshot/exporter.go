package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// exporter writes files into a folder.
type exporter struct {
	objects *objects
	work    string // links that lead into this folder lead into dir instead
	root    *os.Root
	dir     string
}

// some brings single paths to what the manifest holds.
func (x exporter) some(m *manifest, paths []string) error {
	for _, p := range paths {
		i := lookup(m.work, p)
		if i < 0 {
			if err := ignoreMissing(x.root.RemoveAll(filepath.FromSlash(p))); err != nil {
				return err
			}
			continue
		}
		if err := x.write(m.work[i]); err != nil {
			return err
		}
	}
	return nil
}

// all writes every entry: the folders first, then the files several at a time,
// and the links last, so that nothing is written through one.
func (x exporter) all(ctx context.Context, work []entry) error {
	var files, links []entry
	for _, e := range work {
		switch e.kind {
		case kindFile:
			files = append(files, e)
		case kindLink:
			links = append(links, e)
		case kindDir:
			if err := x.root.MkdirAll(filepath.FromSlash(e.path), 0o700); err != nil {
				return err
			}
		}
	}
	var group errgroup.Group
	n := max(1, (len(files)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for some := range slices.Chunk(files, n) {
		group.Go(func() error {
			for _, e := range some {
				if err := errors.Join(ctx.Err(), x.write(e)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, e := range links {
		if err := x.write(e); err != nil {
			return err
		}
	}
	return nil
}

// write writes one file or link. Its owner can always read and delete it.
func (x exporter) write(e entry) error {
	name := filepath.FromSlash(e.path)
	if e.kind == kindDir {
		return x.root.MkdirAll(name, 0o700)
	}
	put := x.file
	if e.kind == kindLink {
		put = x.link
	}
	err := put(name, e)
	if errors.Is(err, fs.ErrNotExist) { // seldom: the folders are made first
		if err := x.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		err = put(name, e)
	}
	if errors.Is(err, fs.ErrExist) {
		if err := x.root.RemoveAll(name); err != nil {
			return err
		}
		err = put(name, e)
	}
	return err
}

func (x exporter) file(name string, e entry) error {
	mode := goMode(e.st.mode)&fs.ModePerm | 0o600
	f, err := x.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = x.objects.copyTo(f, e.oid)
	if mode&^0o755 != 0 { // the usual umask takes these away
		err = errors.Join(err, f.Chmod(mode))
	}
	return errors.Join(err, f.Close())
}

func (x exporter) link(name string, e entry) error {
	target, err := x.objects.content(e.oid)
	if err != nil {
		return err
	}
	to := string(target)
	if below, ok := strings.CutPrefix(to, x.work+string(filepath.Separator)); ok {
		to = filepath.Join(x.dir, below)
	} else if to == x.work {
		to = x.dir
	}
	return x.root.Symlink(to, name)
}
