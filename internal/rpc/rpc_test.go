package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const long = time.Minute

func TestAsk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no hooks there")
	}
	var after atomic.Int32
	s, err := Listen(short(t), noFolder, func(q Request) (Reply, func()) {
		return Reply{Output: fmt.Appendf(nil, "%s %s %s", q.Client, q.Event, q.Input)}, func() { after.Add(1) }
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			input := fmt.Sprint(i, strings.Repeat("x", 100_000))
			r, err := Ask(s.Path(), Request{Client: "claude", Event: "Stop", Input: []byte(input)}, long)
			if err != nil || string(r.Output) != "claude Stop "+input {
				t.Errorf("got %.80q, %v", r.Output, err)
			}
		})
	}
	all.Wait()
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v: others can reach it", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := after.Load(); n != 20 {
		t.Errorf("%d of 20 answers were followed up before the server was closed", n)
	}
	if _, err := os.Stat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := Ask(s.Path(), Request{}, long); err == nil {
		t.Error("a closed server answered")
	}
}

// noFolder is for sockets whose path is short enough.
func noFolder() (string, func() error, error) { return "", nil, errors.New("no folder is needed") }

// newFolder makes a folder for a socket whose path would be too long.
func newFolder() (string, func() error, error) {
	dir, err := os.MkdirTemp("", "w")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// short is a folder whose path is short enough for a socket.
func short(t *testing.T) string {
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestLongPath(t *testing.T) {
	dir := filepath.Join(short(t), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Listen(dir, newFolder, func(Request) (Reply, func()) { return Reply{Error: "no"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Ask(s.Path(), Request{}, long); err != nil || r.Error != "no" {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.Path())); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the short folder is still there")
	}
}

// A supervisor that was killed leaves its socket, and what connects may say
// nothing that makes sense.
func TestLeftovers(t *testing.T) {
	dir := short(t)
	if err := os.WriteFile(filepath.Join(dir, "hook.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Listen(dir, noFolder, func(Request) (Reply, func()) { return Reply{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("nonsense\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("nonsense was answered")
	}
	conn.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
