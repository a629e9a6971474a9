//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// checkSwitchUser returns an error if this process cannot start children as another user.
func checkSwitchUser() error {
	if os.Geteuid() != 0 {
		return ErrNotRoot
	}
	return nil
}

// credential returns the user for the start of a process.
func (u User) credential() *syscall.Credential {
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
}

// CanAccess reports whether the user can read, write or enter a file or folder. The error
// means that the test could not run.
func (u User) CanAccess(ctx context.Context, path string) (bool, error) {
	return u.runTest(ctx, `[ -r "$1" ] || [ -w "$1" ] || [ -x "$1" ]`, path)
}

// CanWriteIn reports whether the user can enter a folder and create files there.
func (u User) CanWriteIn(ctx context.Context, dir string) (bool, error) {
	return u.runTest(ctx, `cd "$1" && [ -w . ] && [ -r . ]`, dir)
}

// runTest runs a shell test about a path as the user.
func (u User) runTest(ctx context.Context, test, path string) (bool, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", test, "sh", path)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential()}
	err := cmd.Run()
	if cmd.ProcessState != nil && cmd.ProcessState.Exited() {
		return err == nil, nil
	}
	return false, fmt.Errorf("try what %s can do with %s: %w", u.Name, path, err)
}

// FindForeignFile returns the first file or folder in a tree, relative to it, that does not
// belong to the user, or "". It does not follow links.
func (u User) FindForeignFile(root string) (string, error) {
	found := ""
	err := u.walk(root, func(_ *os.Root, name string, st *syscall.Stat_t) error {
		if st.Uid != u.UID {
			found = name
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// Chown changes the owner of everything in a tree from root to the user. It skips files with
// several hard links, since another tree may have them too.
func (u User) Chown(root string) error {
	return u.walk(root, func(in *os.Root, name string, st *syscall.Stat_t) error {
		if st.Uid != 0 || st.Nlink > 1 && st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
			return nil
		}
		if err := in.Lchown(name, int(u.UID), int(u.GID)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// walk calls look with each file and folder in a tree. It does not follow links, and skips
// files that were just removed.
func (u User) walk(root string, look func(*os.Root, string, *syscall.Stat_t) error) error {
	in, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("look whose %s is: %w", root, err)
	}
	defer in.Close()
	err = fs.WalkDir(in.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) && name != "." { // it was just removed
			return nil
		}
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		return look(in, name, st)
	})
	if err != nil {
		return fmt.Errorf("look whose %s is: %w", root, err)
	}
	return nil
}
