package hook

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

// TestRulesAreDocumented compares the reference of risky calls with the table of
// rules, the most severe first.
func TestRulesAreDocumented(t *testing.T) {
	list := slices.SortedFunc(maps.Values(rules), func(a, b rule) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), strings.Compare(a.name, b.name))
	})
	var b strings.Builder
	b.WriteString("| rule | severity | the agent reads | what to do instead |\n|---|---|---|---|\n")
	for _, r := range list {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.name, r.severity, r.why, r.instead)
	}
	docs.Block(t, "hooks.md", "risky calls", "./internal/hook", b.String())
}

// TestEveryClientIsComplete asks for everything that belongs to a client whose hooks
// are installed.
func TestEveryClientIsComplete(t *testing.T) {
	page := docs.Page(t, "hooks.md")
	for c := range clientConfigs {
		for _, name := range []string{string(c) + ".jsonl", string(c) + ".golden", "install-" + string(c) + ".golden"} {
			if _, err := os.Stat(filepath.Join("testdata", name)); err != nil {
				t.Errorf("client %s lacks internal/hook/testdata/%s: the README there says how it is recorded", c, name)
			}
		}
		if _, ok := settingsLocations[c]; !ok {
			t.Errorf("client %s has no row in settingsPlaces, in internal/hook/settings.go", c)
		}
		if runInstallers[c] == nil {
			t.Errorf("client %s has no row in perRun, in internal/hook/install.go", c)
		}
		if !strings.Contains(page, string(c)) {
			t.Errorf("client %s is not described in docs/hooks.md: say there how its hooks are installed", c)
		}
	}
}
