package rpc

import (
	"net"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/regexp"
)

// socketFolderPattern matches the name of a folder that [Listen] creates for a socket, such
// as supervise-123456.
var socketFolderPattern = regexp.MustCompile(`^supervise-[0-9]+$`)

const (
	// maxStartup is how long a supervisor may take to create its socket in its folder.
	maxStartup = time.Minute
	// maxEmptyAge is the age above which a folder without a socket counts as abandoned.
	maxEmptyAge = 24 * time.Hour
)

// removeAbandonedFolders removes from dir the folders of killed supervisors: those of this
// user whose socket has no listener. Errors are ignored.
func removeAbandonedFolders(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if !e.IsDir() || !socketFolderPattern.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && own(info) && isAbandoned(folder, now.Sub(info.ModTime())) {
			_ = os.Remove(filepath.Join(folder, socketName))
			_ = os.Remove(folder)
		}
	}
}

// isAbandoned reports whether a folder of that age contains nothing, or only a socket without a
// listener.
func isAbandoned(folder string, age time.Duration) bool {
	inside, err := os.ReadDir(folder)
	switch {
	case err != nil || len(inside) > 1 || age < maxStartup:
		return false
	case len(inside) == 0:
		return age > maxEmptyAge
	case inside[0].Name() != socketName || inside[0].Type() != os.ModeSocket:
		return false
	}
	conn, err := net.DialTimeout("unix", filepath.Join(folder, socketName), connectTimeout)
	if err == nil {
		conn.Close()
		return false
	}
	return refused(err)
}
