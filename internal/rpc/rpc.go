// Package rpc carries the input of a hook to the supervisor of its loop, and the
// answer back, over a socket that only this user can reach. One connection is one
// question.
package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Request is the input of a hook, or what an agent itself says.
type Request struct {
	Client string `json:"client"`
	Event  string `json:"event"`
	Dir    string `json:"dir"`   // where the hook was started
	Input  []byte `json:"input"` // on its standard input
	// Blocked is nil for a hook.
	Blocked *Blocked `json:"blocked,omitempty"`
}

// Blocked says that an agent cannot go on: tests are wrong, or the task cannot be done.
type Blocked struct {
	Tests  []string `json:"tests,omitempty"` // none: the whole task
	Reason string   `json:"reason"`
}

// Reply is what the hook is to print. Error says why there is nothing.
type Reply struct {
	Output []byte `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// maxRequest bounds what is read of one question, in bytes.
const maxRequest = 32 << 20

// socketName is the name of a socket in a folder of its own.
const socketName = "s"

// maxPath is how long the path of a socket may be on Linux and macOS, in bytes.
const maxPath = 100

// slow is how long a connection may take to say what it wants.
const slow = 10 * time.Second

// Answer answers a question. What it returns besides is done when the hook has its
// reply; nil is nothing.
type Answer func(Request) (Reply, func())

// Server answers questions until it is closed.
type Server struct {
	path, folder string // the folder is removed with it; "" for none
	listener     net.Listener
	answer       Answer
	done         sync.WaitGroup
}

// Listen opens a socket in dir, or in a short folder of its own where the path
// would be too long, and answers what comes, several at the same time. What dead
// supervisors left of such folders is removed.
func Listen(dir string, answer Answer) (*Server, error) {
	sweep(os.TempDir(), time.Now())
	s := &Server{path: filepath.Join(dir, "hook.sock"), answer: answer}
	if len(s.path) > maxPath {
		short, err := os.MkdirTemp("", "supervise-")
		if err != nil {
			return nil, fmt.Errorf("make a folder for the socket of the hooks: %w", err)
		}
		s.folder, s.path = short, filepath.Join(short, socketName)
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a supervisor that was killed
		return nil, fmt.Errorf("open the socket of the hooks: %w", err)
	}
	var err error
	if s.listener, err = net.Listen("unix", s.path); err == nil {
		err = os.Chmod(s.path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the socket of the hooks: %w", err), s.Close())
	}
	s.done.Go(s.accept)
	return s, nil
}

// Path is where the socket is.
func (s *Server) Path() string { return s.path }

// Close ends the server when the questions that it has are answered.
func (s *Server) Close() error {
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	s.done.Wait()
	if s.folder != "" {
		err = errors.Join(err, os.RemoveAll(s.folder))
	}
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.done.Go(func() { s.serve(conn) })
	}
}

func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(slow)); err != nil {
		return
	}
	var q Request
	if err := json.NewDecoder(io.LimitReader(conn, maxRequest)).Decode(&q); err != nil {
		return // the hook went away, or was none
	}
	reply, after := s.answer(q)
	if b, err := json.Marshal(reply); err == nil {
		_, _ = conn.Write(b) // a hook that went away asks for nothing
	}
	conn.Close()
	if after != nil {
		after()
	}
}

// Ask asks the supervisor at a socket and waits for its answer, at most so long.
func Ask(path string, q Request, limit time.Duration) (Reply, error) {
	conn, err := net.DialTimeout("unix", path, min(limit, slow))
	if err != nil {
		return Reply{}, fmt.Errorf("ask the supervisor: %w", err)
	}
	defer conn.Close()
	var r Reply
	err = conn.SetDeadline(time.Now().Add(limit))
	if err == nil {
		err = json.NewEncoder(conn).Encode(q)
	}
	if err == nil {
		err = json.NewDecoder(conn).Decode(&r)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("ask the supervisor: %w", err)
	}
	return r, nil
}
