package integrity

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"supervise/integrity/internal/assertions"
	"supervise/integrity/internal/configuration"
	"supervise/integrity/internal/facts"
	"supervise/integrity/internal/harness"
	"supervise/integrity/internal/product"
	"supervise/integrity/internal/suppressions"
	"supervise/integrity/internal/tests"
	"supervise/test/docs"
)

// pages are the pages of the documentation with the rules that each describes.
var pages = []struct {
	file, block string
	rules       []facts.Rule
}{
	{"integrity.md", "patterns", slices.Concat(tests.Rules, assertions.Rules, product.Rules)},
	{"integrity-harness.md", "harness patterns", slices.Concat(configuration.Rules, harness.RunnerRules, suppressions.Rules, harness.EnvironmentRules)},
}

// TestEveryRuleHasExamplesAndDocs holds each row of the table to a case in which the rule
// fires, a similar one in which it does not, and a description on its page.
func TestEveryRuleHasExamplesAndDocs(t *testing.T) {
	described := 0
	for _, page := range pages {
		text := docs.Page(t, page.file)
		for _, r := range page.rules {
			described++
			missing := lacking(t, r)
			if r.Fires == "" {
				missing = append(missing, "what it fires on, for the documentation (the field Fires of its row)")
			}
			if !strings.Contains(text, fmt.Sprintf("\n| %s `%s` |", r.ID, r.Name)) {
				missing = append(missing, fmt.Sprintf("a row in docs/%s (run go test ./integrity -update-docs)", page.file))
			}
			if len(missing) > 0 {
				t.Errorf("the rule %s %s lacks:\n\t- %s", r.ID, r.Name, strings.Join(missing, "\n\t- "))
			}
		}
	}
	if described != len(rules) {
		t.Errorf("%d of %d rules are on a page: add their room to the list of pages in this file", described, len(rules))
	}
}

// lacking lists what is wrong with the examples of a rule.
func lacking(t *testing.T, r facts.Rule) []string {
	t.Helper()
	name := filepath.Join("testdata", "rules", r.Name+".txtar")
	archive, err := os.ReadFile(name)
	if err != nil {
		return []string{"a case that fires and a twin that does not (the files fires/… and spares/… in integrity/" + filepath.ToSlash(name) + ")"}
	}
	states := map[string]texts{"base": {}, "before": {}, "fires": {}, "spares": {}}
	for _, f := range txtar.Parse(archive).Files {
		state, path, _ := strings.Cut(f.Name, "/")
		if states[state] == nil {
			t.Fatalf("%s: %s is below none of base/, before/, fires/ and spares/", name, f.Name)
		}
		states[state][path] = string(f.Data)
	}
	var missing []string
	if !fires(r, states, "fires") {
		missing = append(missing, "a case that fires (fires/… in integrity/"+filepath.ToSlash(name)+")")
	}
	if len(states["spares"]) == 0 || fires(r, states, "spares") {
		missing = append(missing, "a twin that does not fire (spares/… in integrity/"+filepath.ToSlash(name)+")")
	}
	return missing
}

// fires reports whether a rule finds something in the change to a state that nothing
// explains.
func fires(r facts.Rule, states map[string]texts, after string) bool {
	project := texts{}
	for _, state := range []string{"base", "before"} {
		for path, text := range states[state] {
			project[path] = text
		}
	}
	found := Audit(changed(states["before"], states[after]), Options{Base: treeFrom(project), Enabled: []string{r.Name}})
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Type == r.Name && f.ExplainedBy == "" })
}

// TestRulesAreDocumented compares the tables of the pages with the table of the rules.
func TestRulesAreDocumented(t *testing.T) {
	for _, page := range pages {
		list := slices.Clone(page.rules)
		slices.SortStableFunc(list, func(a, b facts.Rule) int { return strings.Compare(a.ID, b.ID) })
		var b strings.Builder
		b.WriteString("| rule | fires on | severity | does not fire on |\n|---|---|---|---|\n")
		for _, r := range list {
			grades := r.Grades
			if grades == "" {
				grades = r.Severity.String()
			}
			row := fmt.Sprintf("| %s `%s` | %s | %s | %s |", r.ID, r.Name, cell(r.Fires), cell(grades), cell(r.Spares))
			b.WriteString(strings.Replace(row, "|  |", "| |", 1) + "\n")
		}
		docs.Block(t, page.file, page.block, "./integrity", b.String())
	}
}

// cell writes a text so that it stays in one cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
