//go:build linux || darwin

package snapshot

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"supervise/snapshot/internal/scan"
)

// A snapshot for which there is no space leaves nothing behind, and the store works on.
func TestNoRoomForASnapshot(t *testing.T) {
	dir := repository(t)
	s := open(t, dir, Options{})
	first, before := take(t, s), sizes(t, s.dir)
	write(t, dir, "a.txt", "changed\n")
	after := picture(t, dir)
	for _, keep := range []int64{1 << 60, 1 << 61} {
		s.opts.MinFree = keep
		if _, err := s.Take(context.Background(), ""); !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), s.dir) || !strings.Contains(err.Error(), "min_free_mb") {
			t.Errorf("take without room: %v", err)
		}
		if _, err := s.Restore(context.Background(), first.ID); !errors.Is(err, ErrNoSpace) {
			t.Errorf("restore without room for the present: %v", err)
		}
	}
	same(t, "after the refused restore", after, picture(t, dir))
	if d := cmp.Diff(before, sizes(t, s.dir)); d != "" {
		t.Errorf("left in the store (-want +got):\n%s", d)
	}
	s.opts.MinFree = -1
	mustRestore(t, s, mustRestore(t, s, first.ID).Safety)
	same(t, "undone", after, picture(t, dir))
}

// The system may refuse to let a file of the store grow, for a quota or a limit of the process.
func TestFilesOfTheStoreMayNotGrow(t *testing.T) {
	if os.Getenv(insideEnv) != t.Name() {
		again(t, t.TempDir(), &syscall.SysProcAttr{})
		return
	}
	dir := repository(t)
	s := open(t, dir, Options{})
	first, before := take(t, s), sizes(t, s.dir)
	noise(t, dir, "large", 3<<20)
	noise(t, dir, "streamed", scan.StreamFrom+1)
	after := picture(t, dir)
	signal.Ignore(unix.SIGXFSZ)
	var was unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &was))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: was.Max}))
	_, errTake := s.Take(context.Background(), "")
	_, errRestore := s.Restore(context.Background(), first.ID)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &was))
	if !errors.Is(errTake, unix.EFBIG) || !errors.Is(errRestore, unix.EFBIG) {
		t.Errorf("take: %v\nrestore: %v", errTake, errRestore)
	}
	if d := cmp.Diff(before, sizes(t, s.dir)); d != "" {
		t.Errorf("left in the store (-want +got):\n%s", d)
	}
	same(t, "after the refused restore", after, picture(t, dir))
	mustRestore(t, s, mustRestore(t, s, first.ID).Safety)
	same(t, "undone", after, picture(t, dir))
	storeIsSound(t, s)
}
