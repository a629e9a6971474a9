//go:build !unix

package ledger

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile refuses: without locks two supervisors could work in one tree.
func lockFile(string) (*os.File, error) { return nil, errNoLocks }

func lockDir(string) (*os.File, error) { return nil, errNoLocks }

func isLocked(string) (bool, error) { return false, errNoLocks }

func isOwnFile(fs.FileInfo) bool { return false }

var errNoLocks = errors.New("supervise needs Linux or macOS to hold a loop; on Windows use WSL")
