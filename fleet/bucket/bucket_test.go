package bucket_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"supervise/fleet/bucket"
)

// address is the bucket of the tests: a folder, or what SUPERVISE_FLEET_BUCKET names.
func address(t *testing.T) string {
	if a := os.Getenv("SUPERVISE_FLEET_BUCKET"); a != "" {
		return a
	}
	return "file://" + t.TempDir()
}

// TestOneOfMany has several open buckets write each number at the same time.
func TestOneOfMany(t *testing.T) {
	at, name := address(t), "test/"+filepath.Base(t.TempDir())
	const writers, numbers = 8, 20
	var buckets []*bucket.Bucket
	var files []string
	for i := range writers {
		b, err := bucket.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, fmt.Appendf(nil, "of writer %d", i), 0o600); err != nil {
			t.Fatal(err)
		}
		buckets, files = append(buckets, b), append(files, file)
	}
	for n := 1; n <= numbers; n++ {
		var won atomic.Int32
		winner := atomic.Int32{}
		var all sync.WaitGroup
		for i, b := range buckets {
			all.Go(func() {
				err := b.Put(t.Context(), name, n, files[i])
				switch {
				case err == nil:
					won.Add(1)
					winner.Store(int32(i))
				case !errors.Is(err, bucket.ErrMoved):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("number %d: %d writers have written it, want 1", n, won.Load())
		}
		b := buckets[0]
		if last, err := b.Last(t.Context(), name); err != nil || last != n {
			t.Fatalf("last %d, %v, want %d", last, err, n)
		}
		got := filepath.Join(t.TempDir(), "got")
		if err := b.Get(t.Context(), name, n, got); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(got)
		if want := fmt.Sprintf("of writer %d", winner.Load()); err != nil || string(text) != want {
			t.Fatalf("number %d: %q, %v, want %q", n, text, err, want)
		}
		if head, err := b.Head(t.Context(), name, n, 2); err != nil || string(head) != "of" {
			t.Fatalf("head %q, %v", head, err)
		}
	}
	if err := buckets[0].Remove(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if last, err := buckets[1].Last(t.Context(), name); err != nil || last != 0 {
		t.Errorf("after removal: last %d, %v", last, err)
	}
}

// TestLeftOver has what a process left that died while it wrote.
func TestLeftOver(t *testing.T) {
	dir := t.TempDir()
	b, err := bucket.Open(t.Context(), "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), "a/b", 1, file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "000000021234"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if last, err := b.Last(t.Context(), "a/b"); err != nil || last != 1 {
		t.Errorf("last %d, %v, want 1", last, err)
	}
}

func TestNoBucket(t *testing.T) {
	for _, at := range []string{"ftp://x", "file://" + string([]byte{0x7f}), ":"} {
		if b, err := bucket.Open(t.Context(), at); err == nil {
			t.Errorf("%q is open: %v", at, b)
		}
	}
}
