package snapshot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/restore"
)

// Other file systems below the tree, sockets and devices are named, and nothing below or in them is touched.
func TestMountPointsAndSpecialFiles(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir := repository(t)
	mount(t, filepath.Join(dir, "cache"), "1m")
	write(t, dir, "cache/inside", "not ours\n")
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "unix", filepath.Join(dir, "s"))
	must(t, err)
	defer l.Close()
	want := []Skip{{Path: "cache", Reason: MountPoint, Size: 0}, {Path: "s", Reason: Special, Size: 0}}
	if err := unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err == nil {
		want = []Skip{want[0], {Path: "null", Reason: Special, Size: 0}, want[1]}
	}
	s := open(t, dir, Options{})
	first := take(t, s)
	if d := cmp.Diff(want, first.Skipped, untimed); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	write(t, dir, "cache/inside", "changed\n")
	write(t, dir, "cache/more", "more\n")
	write(t, dir, "a.txt", "changed\n")
	r := mustRestore(t, s, first.ID)
	if read(t, dir, "a.txt") != "a\n" || read(t, dir, "cache/inside") != "changed\n" || !exists(dir, "cache/more") || !exists(dir, "s") || len(r.Gone) > 0 {
		t.Errorf("restored beside a mounted file system: %+v", r)
	}
	must(t, unix.Unmount(filepath.Join(dir, "cache"), unix.MNT_DETACH))
	must(t, os.Remove(filepath.Join(dir, "cache")))
	if mustRestore(t, s, first.ID); !exists(dir, "cache") {
		t.Error("the folder to mount on did not come back")
	}
}

// A disk that fills up makes the snapshot fail with an error that says where, and leaves the store as it was.
func TestDiskFullWhileAPackIsWritten(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir, full := repository(t), filepath.Join(t.TempDir(), "disk")
	mount(t, full, "1m")
	s, err := Open(context.Background(), dir, filepath.Join(full, "store"), Options{MinFree: -1})
	must(t, err)
	defer s.Close()
	before, first := picture(t, dir), take(t, s)
	kept := sizes(t, full)
	noise(t, dir, "large", 3<<20)
	after := picture(t, dir)
	for range 2 {
		if info, err := s.Take(context.Background(), ""); !errors.Is(err, unix.ENOSPC) || !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), full) {
			t.Errorf("on a full disk: %+v, %v", info, err)
		}
	}
	if _, err := s.Restore(context.Background(), first.ID); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("restore that cannot take the present first: %v", err)
	}
	same(t, "after the refused restore", after, picture(t, dir))
	if d := cmp.Diff(kept, sizes(t, full)); d != "" {
		t.Errorf("left in the store (-want +got):\n%s", d)
	}
	must(t, os.Remove(filepath.Join(dir, "large")))
	write(t, dir, "a.txt", "changed\n")
	s = reopen(t, s)
	take(t, s)
	mustRestore(t, s, first.ID)
	same(t, "restored", before, picture(t, dir))
	storeIsSound(t, s)
}

// The working tree may be on the disk that fills up while files are restored: what was there is not lost, and what is
// missing comes when there is space.
func TestDiskFullWhileATreeIsRestored(t *testing.T) {
	if !mounting(t) {
		return
	}
	full := filepath.Join(t.TempDir(), "disk")
	mount(t, full, "2m")
	dir := filepath.Join(full, "work")
	noise(t, dir, "large", 1280<<10)
	write(t, dir, "small", "s\n")
	s, err := Open(context.Background(), dir, filepath.Join(t.TempDir(), "store"), Options{})
	must(t, err)
	defer s.Close()
	before, first := picture(t, dir), take(t, s)
	must(t, os.Remove(filepath.Join(dir, "large")))
	noise(t, dir, "other", 512<<10)
	noise(t, full, "somebody else's", 640<<10)
	after := picture(t, dir)
	noise(t, full, "more", 512<<10)
	_, err = s.Restore(context.Background(), first.ID)
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	must(t, os.Remove(filepath.Join(full, "more")))
	must(t, os.Remove(filepath.Join(full, "somebody else's")))
	s = reopen(t, s)
	same(t, "finished when there was room", before, picture(t, dir))
	mustRestore(t, s, s.Recovered().Safety)
	same(t, "undone", after, picture(t, dir))
}

// Some of the disk stays free for others, also while a pack grows.
func TestSomeOfTheDiskStaysFree(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir, full := repository(t), filepath.Join(t.TempDir(), "disk")
	mount(t, full, "32m")
	s, err := Open(context.Background(), dir, filepath.Join(full, "store"), Options{MinFree: 12 << 20})
	must(t, err)
	defer s.Close()
	take(t, s)
	kept := sizes(t, full)
	noise(t, dir, "large", 30<<20)
	for i := range 300 {
		noise(t, dir, fmt.Sprint("small/", i), 100<<10)
	}
	least := lowest(t, full, func() { _, err = s.Take(context.Background(), "") })
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "12 MB must stay free") {
		t.Errorf("take: %v", err)
	}
	if least < 12<<20-disk.SpaceStep/2 {
		t.Errorf("%d bytes were free at the lowest", least)
	}
	if d := cmp.Diff(kept, sizes(t, full)); d != "" {
		t.Errorf("left in the store (-want +got):\n%s", d)
	}
}

// lowest is the least free space of a disk that was seen while do ran.
func lowest(t *testing.T, full string, do func()) int64 {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	least := int64(1 << 62)
	for {
		free, _, err := disk.FreeSpace(full)
		must(t, err)
		least = min(least, free)
		select {
		case <-done:
			return least
		default:
		}
	}
}

// What cannot be moved into a store on another disk is moved away within the tree, where nothing deletes it.
func TestDisplacedWithStoreOnAnotherDisk(t *testing.T) {
	if !mounting(t) {
		return
	}
	dir, full := repository(t), filepath.Join(t.TempDir(), "disk")
	mount(t, full, "4m")
	s, err := Open(context.Background(), dir, filepath.Join(full, "store"), Options{MaxFile: 1000, MinFree: -1})
	must(t, err)
	defer s.Close()
	first := take(t, s)
	must(t, os.RemoveAll(filepath.Join(dir, "a.txt")))
	noise(t, dir, "a.txt/deep/huge", 6<<20)
	must(t, os.RemoveAll(filepath.Join(dir, "sub")))
	noise(t, dir, "sub", 6<<20)
	for round := range 2 {
		r := mustRestore(t, s, first.ID)
		if d := cmp.Diff([]string{"a.txt", "sub"}, r.Displaced); round == 0 && d != "" {
			t.Fatalf("displaced (-want +got):\n%s", d)
		}
		for _, name := range []string{"a.txt/deep/huge", "sub"} {
			if text := read(t, dir, restore.DisplacedDirInTree+"/"+"2"+"/"+name); len(text) != 6<<20 {
				t.Errorf("%s: %d bytes are kept", name, len(text))
			}
		}
		if status := git(t, dir, "status", "--porcelain"); status != "" || read(t, dir, "a.txt") != "a\n" || read(t, dir, "sub/b.txt") != "b\n" {
			t.Errorf("not restored: %s", status)
		}
		if again := take(t, s); again.Tree != first.Tree || len(again.Skipped) > 0 {
			t.Errorf("what was moved aside is in a snapshot: %+v", again)
		}
	}
}
