package selector

import (
	"fmt"
	"strings"
	"testing"

	"supervise/test/docs"
)

// TestModesAreDocumented compares the reference of the selection modes with their
// table.
func TestModesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| mode | what it chooses |\n|---|---|\n")
	for i, m := range modes {
		name := fmt.Sprintf("`%s`", m.mode)
		if i == 0 {
			name += " (default)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, m.chooses)
	}
	docs.Block(t, "rules.md", "selection modes", "./selector", b.String())
}
