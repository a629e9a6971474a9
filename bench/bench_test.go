package bench

import (
	"bytes"
	"io"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"supervise/parsers"
)

// reader is one way to read a report: what it returns stays alive until the
// peak of the heap was taken.
type reader struct {
	name string
	read func(io.Reader) (any, error)
}

// compare runs each reader on the report: MB/s, and as peakMB the most that
// one reading added to the heap, garbage included.
func compare(b *testing.B, report []byte, readers ...reader) {
	b.Helper()
	for _, r := range readers {
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(int64(len(report)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.read(bytes.NewReader(report)); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(peak(func() any {
				v, _ := r.read(bytes.NewReader(report)) // it was read before
				return v
			}), "peakMB")
		})
	}
}

// ours reads a report as the program does: the format is recognised.
func ours(format string) reader {
	return reader{"ours", func(r io.Reader) (any, error) {
		report, err := parsers.Parse(r, format)
		return report, err
	}}
}

// peak returns by how many megabytes the heap grows while f runs.
func peak(f func() any) float64 {
	runtime.GC()
	base, most := heap(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	result := f()
	close(stop)
	<-done
	most = max(most, heap())
	runtime.KeepAlive(result)
	return float64(most-min(base, most)) / 1e6
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// middle is the median.
func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
