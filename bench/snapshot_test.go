package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"supervise/snapshot"
)

// BenchmarkSnapshot compares snapshots with plain git, on a repository with one packed commit, a .gitignore and an
// ignored folder, in files of 3.6 KB in the mean, twelve a folder. Both sides see the same changes, turn by turn, and
// what counts is the median of at least five rounds; x-git is ours divided by git's. Changed means 80 % modified,
// 10 % created and 10 % deleted.
//
// The rival is git with a private index (GIT_INDEX_FILE) and a private object database (GIT_OBJECT_DIRECTORY) that holds
// nothing at first:
//
//   - cold: ours is Open of a new store, Take and Close; git is add -A and write-tree with neither index nor objects.
//   - warm: ours is Take; git is add -A and write-tree. Ours keeps the state of .git as well, and syncs what it writes.
//   - restore: ours is Restore, with the snapshot of the present that it takes first and the look at the result; git is
//     add -A, write-tree and read-tree --reset -u. x-read-tree compares with the read-tree alone.
func BenchmarkSnapshot(b *testing.B) {
	for _, size := range []struct {
		name  string
		files int
	}{{"1k", 1_000}, {"10k", 10_000}, {"100k", 100_000}} {
		b.Run(size.name, func(b *testing.B) {
			r := newRace(b, size.files)
			b.Run("cold", r.cold)
			for _, n := range []int{0, 10, 1000} {
				b.Run(fmt.Sprintf("warm-%d", n), func(b *testing.B) { r.warm(b, n) })
			}
			for _, n := range []int{10, 1000} {
				b.Run(fmt.Sprintf("restore-%d", n), func(b *testing.B) { r.restore(b, n) })
			}
		})
	}
}

// race is one tree with a store of ours and an index of git's.
type race struct {
	dir   string // of all that follows
	work  *workTree
	store *snapshot.Store
	git   private
}

func newRace(b *testing.B, files int) *race {
	b.Helper()
	dir := b.TempDir()
	r := &race{dir: dir, work: newWorkTree(b, filepath.Join(dir, "work"), files)}
	r.git = newPrivate(b, r.work.dir, filepath.Join(dir, "git"))
	store, err := snapshot.Open(context.Background(), r.work.dir, filepath.Join(dir, "store"), snapshot.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	r.store = store
	r.take(b)
	r.git.add(b)
	return r
}

func (r *race) take(b *testing.B) snapshot.ID {
	b.Helper()
	info, err := r.store.Take(context.Background(), "")
	if err != nil {
		b.Fatal(err)
	}
	return info.ID
}

func (r *race) cold(b *testing.B) {
	n := 0
	r.run(b, func() {}, func() time.Duration {
		n++
		dir := filepath.Join(r.dir, fmt.Sprintf("cold-store-%d", n))
		start := time.Now()
		s, err := snapshot.Open(context.Background(), r.work.dir, dir, snapshot.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Take(context.Background(), ""); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		s.Close()
		remove(b, dir)
		return took
	}, func() time.Duration {
		n++
		git := newPrivate(b, r.work.dir, filepath.Join(r.dir, fmt.Sprintf("cold-git-%d", n)))
		start := time.Now()
		git.add(b)
		took := time.Since(start)
		remove(b, git.dir)
		return took
	})
}

func (r *race) warm(b *testing.B, changed int) {
	r.run(b, func() { r.work.change(b, changed) }, func() time.Duration {
		start := time.Now()
		r.take(b)
		return time.Since(start)
	}, func() time.Duration {
		start := time.Now()
		r.git.add(b)
		return time.Since(start)
	})
	b.ReportMetric(peak(func() any { return r.take(b) }), "peakMB")
}

func (r *race) restore(b *testing.B, changed int) {
	id, tree := r.take(b), r.git.add(b)
	var alone []time.Duration
	ours, _ := r.run(b, func() {}, func() time.Duration {
		r.work.change(b, changed)
		start := time.Now()
		done, err := r.store.Restore(context.Background(), id)
		if took := time.Since(start); err == nil && len(done.Mismatches) == 0 {
			return took
		}
		b.Fatal(err, done.Mismatches)
		return 0
	}, func() time.Duration {
		r.work.change(b, changed)
		start := time.Now()
		r.git.add(b)
		between := time.Now()
		r.git.run(b, "read-tree", "--reset", "-u", tree)
		alone = append(alone, time.Since(between))
		return time.Since(start)
	})
	b.ReportMetric(float64(ours)/float64(median(alone)), "x-read-tree")
}

// run lets both sides go turn by turn, the one first and then the other, and reports the medians. What is left to be
// written is written in between.
func (r *race) run(b *testing.B, prepare func(), ours, git func() time.Duration) (oursMedian, gitMedian time.Duration) {
	const rounds = 5
	var times [2][]time.Duration
	round := func() {
		prepare()
		first := len(times[0]) % 2
		for _, who := range []int{first, 1 - first} {
			run(b, r.dir, "sync")
			side := []func() time.Duration{ours, git}[who]
			times[who] = append(times[who], side())
		}
	}
	for b.Loop() {
		round()
	}
	for len(times[1]) < rounds {
		round()
	}
	oursMedian, gitMedian = median(times[0]), median(times[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(oursMedian), "ours-ms")
	b.ReportMetric(milliseconds(gitMedian), "git-ms")
	b.ReportMetric(float64(oursMedian)/float64(gitMedian), "x-git")
	return oursMedian, gitMedian
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func remove(b *testing.B, dir string) {
	b.Helper()
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
}
