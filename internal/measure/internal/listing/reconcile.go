package listing

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/textstream"
	"supervise/metric"
)

// Reconcile adds the listed tests that did not run: as not run, or as skipped if the framework
// lists them as ignored. A test that is listed only by its file is missing if nothing in the
// file ran.
func Reconcile(t *metric.Tests, list []Test) *metric.Tests {
	ran := ListedNames(t)
	var notRun []metric.Test
	out := *t
	out.Broken, out.Problems = slices.Clone(t.Broken), slices.Clone(t.Problems)
	firstMissing, missing := "", 0
	changing := findChangingNames(t, list)
	for _, l := range list {
		known := slices.ContainsFunc(t.Broken, func(b metric.Suite) bool { return b.Name == l.Suite || l.Suite == "" })
		if known || ran[NormalizedName(l.Suite, l.Name)] || changing.matchListed(l) {
			continue // it ran, or is already known not to have run
		}
		test := metric.Test{ID: metric.ID{Suite: l.Suite, Name: l.Name}, Status: metric.NotRun, Message: "is listed by the framework and did not run"}
		switch {
		case l.Ignored:
			test.Status, test.Message = metric.Skipped, "ignored"
			notRun = append(notRun, test)
			continue
		case l.Name == "":
			out.Broken = append(out.Broken, metric.Suite{Name: l.Suite, Why: test.Message})
		default:
			notRun = append(notRun, test)
		}
		if missing++; firstMissing == "" {
			firstMissing = strings.TrimSpace(l.Suite + " " + l.Name)
		}
	}

	cases := append(notRun, t.Cases...)
	changing.markMatched(cases[len(notRun):], &out.Problems)
	out.Cases = metric.NewTests(cases).Cases
	if missing > 0 {
		out.Problems = append(out.Problems, fmt.Sprintf("%d of the %d tests or files that the framework lists did not run, the first: %s", missing, len(list), firstMissing))
	}
	return &out
}

// ListedNames returns all names by which a list may refer to the tests that ran, and to their
// files.
func ListedNames(t *metric.Tests) map[Test]bool {
	names := map[Test]bool{}
	for _, c := range t.Cases {
		for _, suite := range []string{c.Suite, c.File, ""} {
			names[NormalizedName(suite, "")] = suite != ""
		}
		for _, name := range Aliases(c) {
			names[name] = true
		}
	}
	return names
}

// Aliases returns the names by which a list may refer to a test.
func Aliases(c metric.Test) []Test {
	var out []Test
	name := c.Name
	if strings.HasPrefix(name, "(unnamed ") && c.Class != "" { // readers of reports number tests without a name
		name = ""
	}
	for _, suite := range []string{c.Suite, c.File, ""} {
		out = append(out, NormalizedName(suite, name), NormalizedName(suite, c.Class+" "+name), NormalizedName(suite, LastWord(c.Class)+" "+name))
	}
	return out
}

// NormalizedName makes names comparable that are joined differently or contain unprintable
// characters.
func NormalizedName(suite, name string) Test {
	words := strings.FieldsFunc(textstream.CleanName(name), func(r rune) bool { return r == ' ' || r == '>' || r == ':' || r == '›' })
	return Test{Suite: suite, Name: strings.Join(words, " ")}
}

// LastWord returns the innermost part of a dotted class name.
func LastWord(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
