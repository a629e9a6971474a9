//go:build unix

// Package filelock keeps processes of a machine from doing the same at the same time.
package filelock

import (
	"context"
	"os"
	"syscall"
	"time"
)

// Lock waits until no other process holds the lock of a file, and creates the file if it does
// not exist. The lock ends with the process as well.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return func() { _ = f.Close() }, nil
}
