package framework

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"supervise/test/docs"
)

// Every framework fills in every capability, or says why it does not support it.
func TestMatrix(t *testing.T) {
	var reasons, known []string
	var b strings.Builder
	b.WriteString("| framework |")
	for _, c := range capabilities {
		fmt.Fprintf(&b, " %s |", c.name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(capabilities)+1) + "\n")
	for _, f := range All() {
		row := "| " + f.Name + " |"
		for _, c := range capabilities {
			has, why := c.describe(f), f.unsupportedReasons()[c.name]
			switch {
			case has == "" && why == "" && c.name == Narrows:
				t.Errorf("%s leaves out options that %v: fill in Options, or write none if it has none", f.Name, f.Options.missingEffects())
			case has == "" && why == "":
				t.Errorf("%s leaves out %s: fill it in, or add a reason to Unsupported", f.Name, c.name)
			case has != "" && why != "":
				t.Errorf("%s has %s, and says that it is not supported: %s", f.Name, c.name, why)
			case has == "":
				row += " –" + note(&reasons, why) + " |"
			case slices.Contains([]Capability{Call, Reports, Covers, Reruns}, c.name):
				row += " " + has + " |"
			default:
				row += " yes |"
			}
		}
		if f.unsupportedReasons()[Reports] == notMeasured {
			known = append(known, f.Name)
		} else {
			b.WriteString(row + "\n")
		}
	}
	b.WriteString("\nWhy not:\n\n")
	for i, why := range reasons {
		if why != notMeasured {
			fmt.Fprintf(&b, "%d. %s\n", i+1, why)
		}
	}
	fmt.Fprintf(&b, "\nThe calls and options of these are known, and they are not measured: %s.\n", strings.Join(known, ", "))
	docs.Block(t, "projects.md", "frameworks", "./internal/framework", b.String())
}

// note is the number of a reason, as a raised number.
func note(reasons *[]string, why string) string {
	if why == notMeasured {
		return ""
	}
	i := slices.Index(*reasons, why)
	if i < 0 {
		i = len(*reasons)
		*reasons = append(*reasons, why)
	}
	return fmt.Sprintf("<sup>%d</sup>", i+1)
}

// Names, programs and packages belong to one framework each.
func TestUnambiguous(t *testing.T) {
	seen := map[string]string{}
	for _, f := range All() {
		if f.Like != "" && Named(f.Like) == nil {
			t.Errorf("%s is like %q, which is no framework", f.Name, f.Like)
		}
		for _, key := range slices.Concat([]string{"name " + f.Name}, prefixed("program ", f.Programs), prefixed("package ", f.Packages)) {
			if other := seen[key]; other != "" {
				t.Errorf("%s and %s both have %s", other, f.Name, key)
			}
			seen[key] = f.Name
		}
		for why := range f.unsupportedReasons() {
			if !slices.ContainsFunc(capabilities, func(c capability) bool { return c.name == why }) {
				t.Errorf("%s gives a reason for %q, which is no capability", f.Name, why)
			}
		}
	}
	for _, l := range linters {
		for _, key := range prefixed("program ", l.Programs) {
			if other := seen[key]; other != "" {
				t.Errorf("%s and %s both have %s", other, l.Name, key)
			}
			seen[key] = l.Name
		}
	}
}

func prefixed(prefix string, list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, prefix+s)
	}
	return out
}
