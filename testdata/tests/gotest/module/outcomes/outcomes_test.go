package outcomes

import (
	"fmt"
	"testing"
	"time"
)

func TestPasses(t *testing.T) { t.Log("nobody asks for this"); time.Sleep(20 * time.Millisecond) }

func TestFails(t *testing.T) {
	fmt.Println("printed before the failure")
	t.Errorf("got %d, want %d\nand a second line", 1, 2)
}

func TestSkips(t *testing.T) { t.Skip("needs a database") }

func TestSubtests(t *testing.T) {
	for _, name := range []string{"one", "two words", "slash/inside", "\x1b[31mred"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "two words" {
				t.Error("only this one fails")
			}
		})
	}
	t.Run("skipped", func(t *testing.T) { t.Skip() })
}

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}

func Example_outcome() {
	fmt.Println("shown")
	// Output: shown
}

func BenchmarkNothing(b *testing.B) {
	for b.Loop() {
	}
}
