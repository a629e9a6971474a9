// Package projectfile opens the files of an untrusted project. It opens only regular files, never
// waits for a pipe, reads no more than the limit for the kind of file, and follows no link out of
// the project. Its errors name the file, the problem and the remedy, and never contain any of the
// content.
package projectfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Limit is the size above which a file is refused, in bytes.
type Limit int64

// The limits by kind of file.
const (
	Settings Limit = 1 << 20  // files for supervise: configuration, acknowledgements, prompts
	Manifest Limit = 4 << 20  // files for tools: package.json, lock files
	Source   Limit = 16 << 20 // source files and patches
	Git      Limit = 64 << 20 // files in .git: packed references
	Report   Limit = 1 << 30  // reports of tests, linters and coverage, read as a stream
	Any      Limit = 1 << 62  // programs and packs, which are compared or hashed
)

func (l Limit) String() string {
	if l >= 1<<30 {
		return fmt.Sprintf("%d GiB", l>>30)
	}
	return fmt.Sprintf("%d MiB", l>>20)
}

// Refusal is an error about a file that exists and is not opened.
type Refusal struct {
	Path    string
	Why     string // "is a named pipe"
	Remedy  string
	Special bool // a pipe, socket or device: other programs may wait for it forever
}

func (r *Refusal) Error() string { return r.Path + " " + r.Why + ": " + r.Remedy }

// Tree is an open project.
type Tree struct {
	root *os.Root
	top  string // absolute; links must not lead out of it
	dir  string // relative to top; names are relative to it
}

// Open opens the project in a folder. Links may lead to anything in the git checkout that
// contains the folder, or, outside a checkout, to anything in the folder.
func Open(dir string) (*Tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top, _ := FindCheckout(abs)
	at, err := filepath.Rel(top, abs)
	if err != nil {
		return nil, err
	}
	root, err := OpenFolder(top)
	if err != nil {
		return nil, err
	}
	return &Tree{root, top, at}, nil
}

// OpenFolder is like [os.OpenRoot], and does not wait for a pipe.
func OpenFolder(path string) (*os.Root, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(path)
}

// FindCheckout is the nearest folder with a .git, from dir upwards; dir if there is none.
func FindCheckout(dir string) (top string, found bool) {
	for top = dir; ; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top, true
		}
		if top == filepath.Dir(top) {
			return dir, false
		}
	}
}

// Close closes the project.
func (t *Tree) Close() { _ = t.root.Close() } // nothing was written

// Open opens a file by its path relative to the folder of the project. The error is a
// [Refusal], wraps [fs.ErrNotExist], or is that of the system.
func (t *Tree) Open(name string, limit Limit) (*os.File, error) {
	rel := filepath.Join(t.dir, filepath.FromSlash(name))
	path := filepath.Join(t.top, rel)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		rel, err = t.resolve(rel)
		if err == nil {
			info, err = t.root.Stat(rel)
		}
	}
	if err == nil {
		err = CheckFile(path, info, limit)
	}
	if err != nil {
		return nil, err
	}
	f, err := t.root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil { // a parent folder may be a link
		if rel, err = t.resolve(rel); err == nil {
			f, err = t.root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
		}
	}
	return checkOpened(f, err, path, limit)
}

// resolve returns the target of a path, relative to the top.
func (t *Tree) resolve(rel string) (string, error) {
	path := filepath.Join(t.top, rel)
	switch _, err := t.root.Stat(rel); {
	case err == nil:
		return rel, nil
	case errors.Is(err, syscall.ELOOP):
		return "", &Refusal{Path: path, Why: "is a loop of links", Remedy: "put the file itself there, or delete it"}
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Refusal{Path: path, Why: "is a link to nothing", Remedy: "put the file itself there, or delete the link"}
	case err != nil:
		return "", err
	}
	top, err := filepath.EvalSymlinks(t.top)
	if err != nil {
		return "", err
	}
	if to, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(to) {
		return to, nil // an absolute link, which os.Root does not follow
	}
	return "", &Refusal{Path: path, Why: "leads out of " + t.top, Remedy: "put the file itself there, or delete the link"}
}

// Read reads a file. See [Tree.Open].
func (t *Tree) Read(name string, limit Limit) ([]byte, error) {
	f, err := t.Open(name, limit)
	return readAll(f, err, limit)
}

// FS is a folder of the project. Its links do not lead out of it. A folder that is a link out of
// the project is refused.
func (t *Tree) FS(name string) (fs.FS, error) {
	rel := filepath.Join(t.dir, filepath.FromSlash(name))
	if _, err := os.Lstat(filepath.Join(t.top, rel)); err != nil {
		return nil, err
	}
	rel, err := t.resolve(rel)
	if err != nil {
		return nil, err
	}
	if info, err := t.root.Stat(rel); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, error(&Refusal{Path: filepath.Join(t.top, rel), Why: "is not a folder", Remedy: "make it one, or delete it"}))
	}
	root, err := t.root.OpenRoot(rel)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil // closed when it is garbage
}

// List lists a folder, sorted by name. See [Tree.FS].
func (t *Tree) List(name string) ([]fs.DirEntry, error) {
	folder, err := t.FS(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(folder, ".")
}

// Read reads a file by its path. The project is that of its folder, see [Open].
func Read(path string, limit Limit) ([]byte, error) {
	f, err := OpenFile(path, limit)
	return readAll(f, err, limit)
}

// OpenFile opens a file by its path. The project is that of its folder, see [Open].
func OpenFile(path string, limit Limit) (*os.File, error) {
	t, err := Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Open(filepath.Base(path), limit)
}

// OpenAnywhere opens a file that may be anywhere, even through links, and whose content is never
// shown: files in .git, installed packages, programs.
func OpenAnywhere(path string, limit Limit) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if err := CheckFile(path, info, limit); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	return checkOpened(f, err, path, limit)
}

// ReadAnywhere reads a file. See [OpenAnywhere].
func ReadAnywhere(path string, limit Limit) ([]byte, error) {
	f, err := OpenAnywhere(path, limit)
	return readAll(f, err, limit)
}

// ReadNamed reads a file that a person named on the command line. In a checkout it works like
// [Read]; outside a checkout the file may be anything, such as a pipe from a shell.
func ReadNamed(path string, limit Limit) ([]byte, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, inside := FindCheckout(filepath.Dir(abs)); inside {
		return Read(abs, limit)
	}
	f, err := os.Open(path)
	return readAll(f, err, limit)
}

// CheckFile refuses a file that is not regular, or too large.
func CheckFile(path string, info fs.FileInfo, limit Limit) error {
	r := &Refusal{Path: path, Remedy: "put a regular file there, or delete it"}
	switch mode := info.Mode(); {
	case mode.IsRegular() && info.Size() <= int64(limit):
		return nil
	case mode.IsRegular():
		return TooLarge(path, limit)
	case mode.IsDir():
		r.Why = "is a folder"
	case mode&fs.ModeNamedPipe != 0:
		r.Why, r.Special = "is a named pipe", true
	case mode&fs.ModeDevice != 0:
		r.Why, r.Special = "is a device", true
	default:
		r.Why, r.Special = "is a socket or another special file", true
	}
	return r
}

// TooLarge is the refusal of a file that exceeds a limit.
func TooLarge(path string, limit Limit) *Refusal {
	return &Refusal{Path: path, Why: "is larger than " + limit.String(), Remedy: "make it shorter, ignore or delete it"}
}

// openError is an error of the system with the full path.
func openError(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "open", Path: path, Err: at.Err}
	}
	return err
}

// checkOpened checks an open file, since the file at its path may have been replaced.
func checkOpened(f *os.File, err error, path string, limit Limit) (*os.File, error) {
	if err != nil {
		return nil, openError(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = CheckFile(path, info, limit)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

// readAll reads a file that may be growing, and closes it.
func readAll(f *os.File, err error, limit Limit) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(info.Size()) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > int64(limit) {
		return nil, TooLarge(f.Name(), limit)
	}
	return b.Bytes(), nil
}
