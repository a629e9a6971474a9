//go:build !linux && !darwin

package snapshot

import (
	"errors"
	"os"
)

// dirFD is an open folder. Names in it are looked up from there.
type dirFD struct{ root *os.Root }

// openDir opens the folder of a root.
func openDir(root *os.Root) (dirFD, stat, error) { return dirFD{root}.sub(".") }

func (d dirFD) close() { d.root.Close() }

// sub opens a folder in d.
func (d dirFD) sub(name string) (dirFD, stat, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return dirFD{}, stat{}, err
	}
	fi, err := root.Stat(".")
	if err != nil {
		root.Close()
		return dirFD{}, stat{}, err
	}
	return dirFD{root}, statOf(fi), nil
}

func (d dirFD) readlink(name string) (string, error) { return d.root.Readlink(name) }

var errNotPlain = errors.New("not a file")

// file opens a regular file in d for reading.
func (d dirFD) file(name string) (fileFD, error) {
	fi, err := d.root.Lstat(name)
	if err == nil && !fi.Mode().IsRegular() {
		err = errNotPlain
	}
	if err != nil {
		return fileFD{}, err
	}
	f, err := d.root.Open(name)
	return fileFD{f}, err
}

type fileFD struct{ *os.File }

func (f fileFD) stat() (kind, stat, error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, stat{}, err
	}
	return kindOf(fi), statOf(fi), nil
}

// lister reads folders.
type lister struct{}

func (*lister) names(d dirFD) ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (*lister) lstat(d dirFD, name string) (kind, stat, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return 0, stat{}, err
	}
	return kindOf(fi), statOf(fi), nil
}
