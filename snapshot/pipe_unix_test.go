//go:build linux || darwin

package snapshot

import (
	"testing"

	"golang.org/x/sys/unix"
)

func makePipe(t *testing.T, name string) {
	t.Helper()
	must(t, unix.Mkfifo(name, 0o600))
}
