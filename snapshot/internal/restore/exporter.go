package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Exporter writes files of a snapshot to another folder.
type Exporter struct {
	Objects *pack.Objects
	Work    string   // links into this folder are changed to Dir
	Root    *os.Root // the folder Dir, opened
	Dir     string   // path of the folder to write to
}

// ExportPaths writes single paths, and removes those that are not in the manifest.
func (x Exporter) ExportPaths(m *manifest.Manifest, paths []string) error {
	for _, p := range paths {
		i := manifest.Lookup(m.Work, p)
		if i < 0 {
			if err := disk.IgnoreMissing(x.Root.RemoveAll(filepath.FromSlash(p))); err != nil {
				return err
			}
			continue
		}
		if err := x.writeOver(m.Work[i]); err != nil {
			return err
		}
	}
	return nil
}

// ExportAll writes all entries. It makes the folders first, then writes the files in parallel,
// and makes the links last, so that nothing is written through a link.
func (x Exporter) ExportAll(ctx context.Context, work []manifest.Entry) error {
	var files, links []manifest.Entry
	for _, e := range work {
		switch e.Kind {
		case disk.KindFile:
			files = append(files, e)
		case disk.KindLink:
			links = append(links, e)
		case disk.KindDir:
			if err := x.Root.MkdirAll(filepath.FromSlash(e.Path), 0o700); err != nil {
				return err
			}
		}
	}

	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, e := range files {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return x.writeOver(e)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}

	for _, e := range links {
		if err := x.writeOver(e); err != nil {
			return err
		}
	}
	return nil
}

// writeOver writes one entry, replacing an existing one. The owner gets read and write permission.
func (x Exporter) writeOver(e manifest.Entry) error {
	name := filepath.FromSlash(e.Path)
	if e.Kind == disk.KindDir {
		return x.Root.MkdirAll(name, 0o700)
	}

	writeEntry := x.writeFile
	if e.Kind == disk.KindLink {
		writeEntry = x.writeLink
	}
	err := writeEntry(name, e)
	if errors.Is(err, fs.ErrNotExist) { // rare: folders are created first
		if err := x.Root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		err = writeEntry(name, e)
	}

	if errors.Is(err, fs.ErrExist) {
		if err := x.Root.RemoveAll(name); err != nil {
			return err
		}
		err = writeEntry(name, e)
	}
	return err
}

// writeFile writes a file that does not exist.
func (x Exporter) writeFile(name string, e manifest.Entry) error {
	mode := disk.Mode(e.Stat.Mode)&fs.ModePerm | 0o600
	f, err := x.Root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = x.Objects.CopyTo(f, e.OID)
	if mode&^0o755 != 0 { // the umask usually clears these bits
		err = errors.Join(err, f.Chmod(mode))
	}
	return errors.Join(err, f.Close())
}

// writeLink makes a link that does not exist. A link into the working tree leads into the new
// folder instead.
func (x Exporter) writeLink(name string, e manifest.Entry) error {
	target, err := x.Objects.Content(e.OID)
	if err != nil {
		return err
	}
	to := string(target)
	if below, ok := strings.CutPrefix(to, x.Work+string(filepath.Separator)); ok {
		to = filepath.Join(x.Dir, below)
	} else if to == x.Work {
		to = x.Dir
	}
	return x.Root.Symlink(to, name)
}
