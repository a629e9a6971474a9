package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// readAttempts is how often a file is read that changes meanwhile.
const readAttempts = 3

// StreamFrom is the size in bytes from which files are streamed instead of read into memory.
const StreamFrom = 4 << 20

// readContents hashes and stores the contents of the entries with the indexes in todo. The
// kind of an entry that cannot be read becomes 0. Consecutive entries of the same folder are
// read by one goroutine.
func (sc *scanner) readContents(ctx context.Context, part manifest.Part, entries []manifest.Entry, todo []int) error {
	if len(todo) == 0 {
		return nil
	}
	rootPath := sc.Work
	if part == manifest.PartExt {
		rootPath = sc.External.GitDir
	}
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return fmt.Errorf("open %s: %w", rootPath, err)
	}
	defer root.Close()
	top, _, err := disk.OpenDir(root)
	if err != nil {
		return fmt.Errorf("open %s: %w", rootPath, err)
	}
	defer top.Close()

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.NumCPU()))

	for len(todo) > 0 {
		dir, n := manifest.Dir(entries[todo[0]].Path), 1
		for n < len(todo) && manifest.Dir(entries[todo[n]].Path) == dir {
			n++
		}
		list := todo[:n]
		todo = todo[n:]
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return sc.readFolder(top, dir, part, entries, list)
		})
	}
	return g.Wait()
}

// openBelow opens a folder below top. dir is its path, "" for top itself.
func openBelow(top disk.Dir, dir string) (disk.Dir, error) {
	at, _, err := top.Sub(".")
	for name := range strings.SplitSeq(dir, "/") {
		if err != nil {
			return at, err
		}
		if name == "" {
			break // the folder itself
		}
		next, _, errNext := at.Sub(name)
		at.Close()
		at, err = next, errNext
	}
	return at, err
}

// readFolder reads the entries of one folder whose indexes are in list. It returns only errors
// of the store; entries that cannot be read are skipped.
func (sc *scanner) readFolder(top disk.Dir, dir string, part manifest.Part, entries []manifest.Entry, list []int) error {
	sub, err := openBelow(top, dir)
	if err != nil {
		for _, i := range list {
			sc.skipEntry(&entries[i], part, manifest.Unreadable)
		}
		return nil // recorded as skipped
	}
	defer sub.Close()
	var buf []byte
	for _, i := range list {
		e := &entries[i]
		if e.Kind == disk.KindLink {
			if e.OID, err = sc.storeContent([]byte(sc.links[linkKey(part, e.Path)])); err != nil {
				return err
			}
			continue
		}
		err := sc.readFile(sub, e, &buf)
		switch {
		case err == nil:
		case errors.Is(err, pack.ErrChanged):
			sc.skipEntry(e, part, manifest.Unstable)
		case errors.Is(err, errStore):
			return err
		case errors.Is(err, fs.ErrNotExist):
			e.Kind = 0 // gone since the walk
		default:
			sc.skipEntry(e, part, manifest.Unreadable)
		}
	}
	return nil
}

// errStore marks errors of the store, as opposed to errors of the file.
var errStore = errors.New("store content")

// skipEntry clears an entry that cannot be captured, and records it as skipped unless it is in
// the git folder outside the tree.
func (sc *scanner) skipEntry(e *manifest.Entry, part manifest.Part, reason manifest.Reason) {
	if part != manifest.PartExt {
		sc.addSkip(manifest.Skip{Path: e.Path, Reason: reason, Size: e.Stat.Size, Mtime: e.Stat.Mtime})
	}
	e.Kind = 0
}

// storeContent returns the id of a content, and stores it if there is a pack.
func (sc *scanner) storeContent(data []byte) (pack.OID, error) {
	if sc.Pack == nil {
		return pack.Hash(pack.Blob, data), nil
	}
	id, err := sc.Pack.Add(pack.Blob, data)
	if err != nil {
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

// readFile reads a file. If the file changes meanwhile, it tries again, and finally returns
// ErrChanged. The entry gets the id and the Stat of the content.
func (sc *scanner) readFile(dir disk.Dir, e *manifest.Entry, buf *[]byte) error {
	err := pack.ErrChanged
	for try := 0; try < readAttempts && errors.Is(err, pack.ErrChanged); try++ {
		err = sc.readOnce(dir, e, buf)
	}
	return err
}

// readOnce makes one attempt of readFile.
func (sc *scanner) readOnce(dir disk.Dir, e *manifest.Entry, buf *[]byte) error {
	f, err := dir.File(path.Base(e.Path))
	if err != nil {
		return err
	}
	defer f.Close()

	k, st, err := f.Stat()
	if err != nil {
		return err
	}
	if k != disk.KindFile || st.Ino != e.Stat.Ino || st.Dev != e.Stat.Dev {
		e.Stat = st
		return pack.ErrChanged
	}

	id, err := sc.hashContent(f, st.Size, buf)
	if err != nil {
		return err
	}

	_, after, err := f.Stat()
	if err != nil {
		return err
	}
	if after != st {
		return pack.ErrChanged
	}

	e.OID, e.Stat = id, st
	return nil
}

// hashContent returns the id of a file's content, and stores the content if there is a pack.
// It reads a small file into buf, and streams a large one.
func (sc *scanner) hashContent(f disk.File, size int64, buf *[]byte) (pack.OID, error) {
	if size < StreamFrom {
		if int64(cap(*buf)) <= size {
			*buf = make([]byte, size+size/2+1)
		}
		data := (*buf)[:size+1] // one more byte, to notice growth
		n, err := io.ReadFull(f, data)
		if err := ignoreEOF(err); err != nil {
			return pack.OID{}, err
		}
		if int64(n) != size {
			return pack.OID{}, pack.ErrChanged
		}
		return sc.storeContent(data[:n])
	}

	h := pack.NewHash(pack.Blob, size)
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = pack.ErrChanged
	}
	id := pack.Sum(h)
	if err != nil || sc.Pack == nil {
		return id, err
	}
	if err := sc.Pack.Stream(io.NewSectionReader(f, 0, size), size, id); err != nil {
		if errors.Is(err, pack.ErrChanged) {
			return id, err
		}
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

// ignoreEOF returns nil for the errors of a file that is shorter than expected.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// removeCleared removes the entries whose kind is 0.
func removeCleared(entries []manifest.Entry) []manifest.Entry {
	return slices.DeleteFunc(entries, func(e manifest.Entry) bool { return e.Kind == 0 })
}
