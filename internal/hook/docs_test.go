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
	names := slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules[b].severity, rules[a].severity), strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("| rule | severity | the agent reads | what to do instead |\n|---|---|---|---|\n")
	for _, name := range names {
		r := rules[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, r.severity, r.why, r.instead)
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
			t.Errorf("client %s has no row in settingsLocations, in internal/hook/settings.go", c)
		}
		if runInstallers[c] == nil {
			t.Errorf("client %s has no row in runInstallers, in internal/hook/install.go", c)
		}
		if !strings.Contains(page, string(c)) {
			t.Errorf("client %s is not described in docs/hooks.md: say there how its hooks are installed", c)
		}
	}
}
