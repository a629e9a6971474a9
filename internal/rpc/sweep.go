package rpc

import (
	"net"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/regexp"
)

// ownFolder is the name of a folder that [Listen] made for a socket.
var ownFolder = regexp.MustCompile(`^supervise-[0-9]+$`)

const (
	// beginning is how long a supervisor may take from its folder to its socket.
	beginning = time.Minute
	// forgotten is the age of a folder without a socket that nobody will put one into.
	forgotten = 24 * time.Hour
)

// sweep removes from dir the folders of supervisors that were killed: those of this
// user in which nobody answers. What cannot be removed stays.
func sweep(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if !e.IsDir() || !ownFolder.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && own(info) && abandoned(folder, now.Sub(info.ModTime())) {
			_ = os.Remove(filepath.Join(folder, socketName))
			_ = os.Remove(folder)
		}
	}
}

// abandoned reports whether a folder, so old, holds nothing but a socket without a
// listener, or nothing at all.
func abandoned(folder string, age time.Duration) bool {
	inside, err := os.ReadDir(folder)
	switch {
	case err != nil || len(inside) > 1 || age < beginning:
		return false
	case len(inside) == 0:
		return age > forgotten
	case inside[0].Name() != socketName || inside[0].Type() != os.ModeSocket:
		return false
	}
	conn, err := net.DialTimeout("unix", filepath.Join(folder, socketName), slow)
	if err == nil {
		conn.Close()
		return false
	}
	return refused(err)
}
