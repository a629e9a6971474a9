package environment

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// An unchanged program is read once. A changed one is read again, even if its length
// and its time are the same.
func TestUnchangedProgramsAreReadOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("every program is read each time")
	}
	path := filepath.Join(t.TempDir(), "program")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("good")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sums := Sums{}
	var first string
	for len(sums) == 0 { // until the file is old enough to be remembered
		if first, err = sums.sumOf(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range sums {
		k.sum = "remembered"
		sums[path] = k
	}
	if got, err := sums.sumOf(path); err != nil || got != "remembered" {
		t.Errorf("the file was read again: %s, %v", got, err)
	}
	write("evil")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	got, err := sums.sumOf(path)
	if want, _ := hashFile(path); err != nil || got != want || got == first {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}
