// Package rpc connects the hooks of an agent with the supervisor of their loop.
//
// The supervisor listens on a Unix socket that only this user can access ([Listen]); a hook
// sends its input and waits for the reply ([Ask]). Each connection carries one request.
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

// Request is the input of a hook, or a message from the agent itself.
type Request struct {
	Client string `json:"client"`
	Event  string `json:"event"`
	Dir    string `json:"dir"`   // the working directory of the hook
	Input  []byte `json:"input"` // its standard input
	// Blocked is set for a message of the agent, and nil for a hook.
	Blocked *Blocked `json:"blocked,omitempty"`
}

// Blocked reports that an agent cannot continue: tests are wrong, or the task cannot be done.
type Blocked struct {
	Tests  []string `json:"tests,omitempty"` // none: the entire task
	Reason string   `json:"reason"`
}

// Reply is what the hook prints. Error is why there is nothing to print.
type Reply struct {
	Output []byte `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// maxRequest is the maximum size of a request, in bytes.
const maxRequest = 32 << 20

// socketName is the file name of a socket.
const socketName = "hook.sock"

// maxPath is the maximum length of a socket's path on Linux and macOS, in bytes.
const maxPath = 100

// connectTimeout is how long a client may take to connect and to send its request.
const connectTimeout = 10 * time.Second

// Answer answers a request. The returned function, if not nil, runs after the reply was sent.
type Answer func(Request) (Reply, func())

// Server answers requests until it is closed.
type Server struct {
	path         string
	removeFolder func() error // removes the separate folder of the socket; nil if there is none
	listener     net.Listener
	answer       Answer
	connections  sync.WaitGroup
}

// MakeFolder creates a temporary folder with a short path, and returns a function that removes it.
type MakeFolder func() (dir string, remove func() error, err error)

// Listen opens a socket in dir, or in a separate folder if the path would be too long, and answers
// requests in parallel.
func Listen(dir string, separate MakeFolder, answer Answer) (*Server, error) {
	s := &Server{path: filepath.Join(dir, socketName), answer: answer}
	if len(s.path) > maxPath {
		short, remove, err := separate()
		if err != nil {
			return nil, fmt.Errorf("make a folder for the socket of the hooks: %w", err)
		}
		s.removeFolder, s.path = remove, filepath.Join(short, socketName)
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a killed supervisor
		return nil, fmt.Errorf("open the socket of the hooks: %w", err)
	}
	var err error
	if s.listener, err = net.Listen("unix", s.path); err == nil {
		err = os.Chmod(s.path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the socket of the hooks: %w", err), s.Close())
	}
	s.connections.Go(s.accept)
	return s, nil
}

// Path returns the path of the socket.
func (s *Server) Path() string { return s.path }

// Close stops the server after it has answered the open requests.
func (s *Server) Close() error {
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	s.connections.Wait()
	if s.removeFolder != nil {
		err = errors.Join(err, s.removeFolder())
	}
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.connections.Go(func() { s.serve(conn) })
	}
}

func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(connectTimeout)); err != nil {
		return
	}
	var q Request
	if err := json.NewDecoder(io.LimitReader(conn, maxRequest)).Decode(&q); err != nil {
		return // the hook has ended, or the client is not a hook
	}
	reply, after := s.answer(q)
	if b, err := json.Marshal(reply); err == nil {
		_, _ = conn.Write(b) // the hook may have ended
	}
	conn.Close()
	if after != nil {
		after()
	}
}

// Ask sends a request to the supervisor at a socket and waits for the reply, at most for the
// given time.
func Ask(path string, q Request, limit time.Duration) (Reply, error) {
	conn, err := net.DialTimeout("unix", path, min(limit, connectTimeout))
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
