package listing

import (
	"testing"

	"supervise/internal/framework"
)

// Every format in which a framework lists its tests has a reader.
func TestEveryListHasAReader(t *testing.T) {
	t.Parallel()
	for _, f := range framework.All() {
		if want := f.List.Format != framework.NoList; CanRead(f.Name) != want {
			t.Errorf("%s: its list can be read: %t, want %t", f.Name, !want, want)
		}
	}
}
