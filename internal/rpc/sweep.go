package rpc

import (
	"net"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/regexp"
)

// ownFolder matches the name of a folder that [Listen] made for a socket.
var ownFolder = regexp.MustCompile(`^supervise-[0-9]+$`)

const (
	// startup is how long a supervisor may take to create its socket in its folder.
	startup = time.Minute
	// forgotten is the age at which a folder without a socket counts as abandoned.
	forgotten = 24 * time.Hour
)

// sweep removes from dir the folders of killed supervisors: those of this user whose socket has
// no listener. Errors are ignored.
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

// abandoned reports whether a folder of that age contains nothing, or only a socket without a
// listener.
func abandoned(folder string, age time.Duration) bool {
	inside, err := os.ReadDir(folder)
	switch {
	case err != nil || len(inside) > 1 || age < startup:
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
