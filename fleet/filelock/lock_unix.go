//go:build unix

package work

import (
	"context"
	"os"
	"syscall"
	"time"
)

// lock waits until this process alone holds a file.
func lock(ctx context.Context, path string) (unlock func(), err error) {
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

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
