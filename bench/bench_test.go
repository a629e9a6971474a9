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

// compare runs each reader on the report: MB/s; MB/cpu-s, which a busy machine does not
// change, for each second of all processors, the garbage collector's too; and as peakMB
// the most that one reading added to the heap, garbage included.
func compare(b *testing.B, report []byte, readers ...reader) {
	b.Helper()
	compareFrom(b, len(report), func() io.Reader { return bytes.NewReader(report) }, readers...)
}

// compareFrom is compare for a report that is not held in memory, where the garbage
// collector would wait for the more.
func compareFrom(b *testing.B, size int, open func() io.Reader, readers ...reader) {
	b.Helper()
	for _, r := range readers {
		b.Run(r.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			before := processorTime()
			for b.Loop() {
				if _, err := r.read(open()); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if used := processorTime() - before; used > 0 {
				b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
			}
			b.ReportMetric(peak(func() any {
				v, _ := r.read(open()) // it was read before
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
