//go:build unix

package rpc

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// listening makes a folder with a socket that is as old as that, and closes the
// listener without a word, as kill -9 does, unless it is to live on.
func listening(t *testing.T, folder string, age time.Duration, live bool) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, socketName)})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if live {
		t.Cleanup(func() { l.Close() })
	} else {
		l.Close()
	}
	aged(t, folder, age)
}

func aged(t *testing.T, path string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	dir := short(t)
	for name, tt := range map[string]struct {
		make func(folder string)
		stay bool
	}{
		"supervise-1": {func(f string) { listening(t, f, time.Hour, false) }, false},
		"supervise-2": {func(f string) { listening(t, f, 48*time.Hour, true) }, true},
		"supervise-3": {func(f string) { listening(t, f, 0, false) }, true},
		"supervise-x": {func(f string) { listening(t, f, 48*time.Hour, false) }, true},
		"supervise-4": {func(f string) {
			listening(t, f, 48*time.Hour, false)
			if err := os.WriteFile(filepath.Join(f, "mine"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			aged(t, f, 48*time.Hour)
		}, true},
		"supervise-5": {func(f string) {
			if err := os.Mkdir(f, 0o700); err != nil {
				t.Fatal(err)
			}
			aged(t, f, time.Hour)
		}, true},
		"supervise-6": {func(f string) {
			if err := os.Mkdir(f, 0o700); err != nil {
				t.Fatal(err)
			}
			aged(t, f, 48*time.Hour)
		}, false},
	} {
		folder := filepath.Join(dir, name)
		tt.make(folder)
		removeAbandonedFolders(dir, time.Now())
		if _, err := os.Stat(folder); (err == nil) != tt.stay {
			t.Errorf("%s: %v after the sweep, want it to stay: %t", name, err, tt.stay)
		}
	}
}

// Listen sweeps what others have left before it begins.
func TestListenSweeps(t *testing.T) {
	dir := short(t)
	t.Setenv("TMPDIR", dir)
	left := filepath.Join(dir, "supervise-7")
	listening(t, left, time.Hour, false)
	s, err := Listen(dir, func(Request) (Reply, func()) { return Reply{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Stat(left); err == nil {
		t.Error("the folder of a dead supervisor is still there")
	}
}
