//go:build unix

package projectfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// project makes a checkout with a folder "sub", and a file with a secret next to it.
func project(t *testing.T) (dir, outside string) {
	t.Helper()
	base := t.TempDir()
	dir, outside = filepath.Join(base, "project"), filepath.Join(base, "secret")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub"), 0o700),
		os.Mkdir(filepath.Join(dir, ".git"), 0o700),
		os.WriteFile(outside, []byte("SECRET"), 0o600),
		os.WriteFile(filepath.Join(dir, "real"), []byte("text"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

// within fails a test that hangs.
func within[T any](t *testing.T, do func() (T, error)) (T, error) {
	t.Helper()
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() { v, err := do(); done <- result{v, err} }()
	select {
	case r := <-done:
		return r.v, r.err
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
		panic("unreachable")
	}
}

func TestRefusesWhatIsNoFileOfTheProject(t *testing.T) {
	socket := func(path string) error {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
		return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
	}
	dir, outside := project(t)
	cases := []struct {
		name, want string
		special    bool
		make       func(path string) error
	}{
		{"pipe", "is a named pipe", true, func(p string) error { return syscall.Mkfifo(p, 0o600) }},
		{"socket", "is a socket or another special file", true, socket},
		{"folder", "is a folder", false, func(p string) error { return os.Mkdir(p, 0o700) }},
		{"device", "leads out of " + dir, false, func(p string) error { return os.Symlink("/dev/zero", p) }},
		{"long", "is larger than 1 MiB", false, func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, 3<<30)) }},
		{"out", "leads out of " + dir, false, func(p string) error { return os.Symlink(outside, p) }},
		{"outward", "leads out of " + dir, false, func(p string) error { return os.Symlink("../../secret", p) }},
		{"dangling", "is a link to nothing", false, func(p string) error { return os.Symlink("nowhere", p) }},
		{"loop", "is a loop of links", false, func(p string) error { return os.Symlink(filepath.Base(p), p) }},
		{"linkedpipe", "is a named pipe", true, func(p string) error { return os.Symlink("pipe", p) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "sub", c.name)
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			text, err := within(t, func() ([]byte, error) { return Read(path, Settings) })
			r, ok := errors.AsType[*Refusal](err)
			if !ok || r.Path != path || r.Why != c.want || r.Special != c.special {
				t.Fatalf("got %q, %v (%+v), want one that %s", text, err, r, c.want)
			}
			if strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line without content: %q", err)
			}
		})
	}
}

func TestFollowsLinksWithinTheProject(t *testing.T) {
	dir, _ := project(t)
	for name, to := range map[string]string{"relative": "../real", "absolute": filepath.Join(dir, "real"), "twice": "relative"} {
		if err := os.Symlink(to, filepath.Join(dir, "sub", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "sub"), filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, name := range []string{"real", "sub/relative", "sub/absolute", "sub/twice", "folder/relative"} {
		if text, err := tree.Read(name, Settings); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if list, err := tree.List("folder"); err != nil || len(list) != 3 {
		t.Errorf("list a linked folder: %v, %v", list, err)
	}
}

func TestAFolderThatLeadsOutHoldsNothing(t *testing.T) {
	dir, outside := project(t)
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	tree, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if text, err := tree.Read("up/secret", Settings); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("read %q, %v", text, err)
	}
	if list, err := tree.List("up"); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("listed %v, %v", list, err)
	}
	if _, err := tree.Read("../secret", Settings); err == nil {
		t.Error("read a file by a name that leads out")
	}
}

func TestAMissingFileIsNotThere(t *testing.T) {
	dir, _ := project(t)
	for _, name := range []string{"none", "none/at/all"} {
		if _, err := Read(filepath.Join(dir, name), Settings); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnywhereFollowsLinksToRegularFilesAlone(t *testing.T) {
	dir, outside := project(t)
	link, pipe, zero := filepath.Join(dir, "out"), filepath.Join(dir, "pipe"), filepath.Join(dir, "zero")
	if err := errors.Join(os.Symlink(outside, link), syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", zero)); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadAnywhere(link, Settings); err != nil || string(text) != "SECRET" {
		t.Errorf("%q, %v", text, err)
	}
	for _, path := range []string{pipe, zero} {
		_, err := within(t, func() ([]byte, error) { return ReadAnywhere(path, Settings) })
		if r, ok := errors.AsType[*Refusal](err); !ok || !r.Special {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A pipe put in the place of a file between the look and the opening is refused as well.
func TestWhatWasOpenedIsChecked(t *testing.T) {
	dir, _ := project(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := within(t, func() (*os.File, error) {
		f, err := os.OpenFile(pipe, os.O_RDONLY|nonblock, 0)
		return checkOpened(f, err, pipe, Settings)
	})
	if r, ok := errors.AsType[*Refusal](err); !ok || !r.Special {
		t.Error(err)
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	if err := errors.Join(os.MkdirAll(deep, 0o700), os.WriteFile(filepath.Join(deep, "file"), []byte(strings.Repeat("x", 4096)), 0o600)); err != nil {
		b.Fatal(err)
	}
	b.Run("os", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.ReadFile(filepath.Join(deep, "file")); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tree", func(b *testing.B) {
		tree, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		defer tree.Close()
		for b.Loop() {
			if _, err := tree.Read("a/b/c/file", Settings); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("path", func(b *testing.B) {
		for b.Loop() {
			if _, err := Read(filepath.Join(deep, "file"), Settings); err != nil {
				b.Fatal(err)
			}
		}
	})
}
