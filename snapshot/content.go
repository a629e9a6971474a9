package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	readAttempts = 3
	streamFrom   = 4 << 20 // larger files are hashed and stored without being held in memory
)

// read hashes, and stores, the contents of the entries with the given indexes. What cannot be read becomes kind 0.
func (sc *scanner) read(ctx context.Context, of part, entries []entry, todo []int) error {
	if len(todo) == 0 {
		return nil
	}
	rootPath := sc.work
	if of == partExt {
		rootPath = sc.external.GitDir
	}
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return fmt.Errorf("open %s: %w", rootPath, err)
	}
	defer root.Close()
	top, _, err := openDir(root)
	if err != nil {
		return fmt.Errorf("open %s: %w", rootPath, err)
	}
	defer top.close()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.NumCPU()))
	for len(todo) > 0 {
		dir, n := dirOf(entries[todo[0]].path), 1
		for n < len(todo) && dirOf(entries[todo[n]].path) == dir {
			n++
		}
		list := todo[:n]
		todo = todo[n:]
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return sc.readDir(top, dir, of, entries, list)
		})
	}
	return g.Wait()
}

// openBelow opens a folder that lies any number of levels below another.
func openBelow(top dirFD, dir string) (dirFD, error) {
	at, _, err := top.sub(".")
	for name := range strings.SplitSeq(dir, "/") {
		if err != nil {
			return at, err
		}
		if name == "" {
			break // the folder itself
		}
		next, _, errNext := at.sub(name)
		at.close()
		at, err = next, errNext
	}
	return at, err
}

func (sc *scanner) readDir(top dirFD, dir string, of part, entries []entry, list []int) error {
	sub, err := openBelow(top, dir)
	if err != nil {
		for _, i := range list {
			sc.unread(&entries[i], of, Unreadable)
		}
		return nil // recorded, never fatal
	}
	defer sub.close()
	var buf []byte
	for _, i := range list {
		e := &entries[i]
		if e.kind == kindLink {
			if e.oid, err = sc.store([]byte(sc.links[linkKey(of, e.path)])); err != nil {
				return err
			}
			continue
		}
		err := sc.readFile(sub, e, &buf)
		switch {
		case err == nil:
		case errors.Is(err, errContentChanged):
			sc.unread(e, of, Unstable)
		case errors.Is(err, errStore):
			return err
		case errors.Is(err, fs.ErrNotExist):
			e.kind = 0 // gone since the walk
		default:
			sc.unread(e, of, Unreadable)
		}
	}
	return nil
}

// errStore marks errors of our own store, which are not the file's fault.
var errStore = errors.New("store content")

func (sc *scanner) unread(e *entry, of part, r Reason) {
	if of != partExt {
		sc.skip(Skip{e.path, r, e.st.size})
	}
	e.kind = 0
}

func (sc *scanner) store(data []byte) (oid, error) {
	if sc.pack == nil {
		return hashObject(objBlob, data), nil
	}
	id, err := sc.pack.add(objBlob, data)
	if err != nil {
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

// readFile reads a file that holds still while it is read. The entry's stat becomes that of the content.
func (sc *scanner) readFile(dir dirFD, e *entry, buf *[]byte) error {
	err := errContentChanged
	for try := 0; try < readAttempts && errors.Is(err, errContentChanged); try++ {
		err = sc.readOnce(dir, e, buf)
	}
	return err
}

func (sc *scanner) readOnce(dir dirFD, e *entry, buf *[]byte) error {
	f, err := dir.file(path.Base(e.path))
	if err != nil {
		return err
	}
	defer f.Close()
	k, st, err := f.stat()
	if err != nil {
		return err
	}
	if k != kindFile || st.ino != e.st.ino || st.dev != e.st.dev {
		e.st = st
		return errContentChanged
	}
	id, err := sc.content(f, st.size, buf)
	if err != nil {
		return err
	}
	_, after, err := f.stat()
	if err != nil {
		return err
	}
	if after != st {
		return errContentChanged
	}
	e.oid, e.st = id, st
	return nil
}

func (sc *scanner) content(f fileFD, size int64, buf *[]byte) (oid, error) {
	if size < streamFrom {
		if int64(cap(*buf)) <= size {
			*buf = make([]byte, size+size/2+1)
		}
		data := (*buf)[:size+1] // one more than there should be
		n, err := io.ReadFull(f, data)
		if err := otherThanEnd(err); err != nil {
			return oid{}, err
		}
		if int64(n) != size {
			return oid{}, errContentChanged
		}
		return sc.store(data[:n])
	}
	h := newHash(objBlob, size)
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = errContentChanged
	}
	id := sumOf(h)
	if err != nil || sc.pack == nil {
		return id, err
	}
	if err := sc.pack.stream(io.NewSectionReader(f, 0, size), size, id); err != nil {
		if errors.Is(err, errContentChanged) {
			return id, err
		}
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

func otherThanEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// dropUnread removes the entries whose kind was cleared.
func dropUnread(entries []entry) []entry {
	out := entries[:0]
	for _, e := range entries {
		if e.kind != 0 {
			out = append(out, e)
		}
	}
	return out
}
