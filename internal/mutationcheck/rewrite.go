package mutationcheck

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// rewrite is what the change of a group removed and added, as its text shows it.
type rewrite struct {
	grown         []detector.TestSource // added tests, and changed ones that have something new
	sharedGrown   bool                  // something new is outside of the tests
	before, after map[string]bool       // literals of lost and changed tests, and of new and changed ones
	data          []byte                // texts of changed files that are no code, such as tables
}

// addRewrite adds the texts of a file to what the change of the group removed and added.
func (t *lineReader) addRewrite(ctx context.Context, g *group, f *file) {
	x := &g.text
	if x.before == nil {
		x.before, x.after = map[string]bool{}, map[string]bool{}
	}
	for _, d := range f.gone {
		addAll(x.before, d.Def.Literals)
	}
	for i := 0; i+1 < len(f.changed); i += 2 {
		old, current := f.changed[i], f.changed[i+1]
		addAll(x.before, old.Def.Literals)
		addAll(x.after, current.Def.Literals)
		if !containsTokens(old.Def.Tokens, current.Def.Tokens) {
			x.grown = append(x.grown, current)
		}
	}
	for _, d := range f.added {
		addAll(x.after, d.Def.Literals)
		x.grown = append(x.grown, d)
	}
	name := t.Evidence.OldPath(f.path)
	old := countTokens(linesOutsideTests(t.linesOf(ctx, t.Base, name), name, t.Evidence.Before))
	current := countTokens(linesOutsideTests(t.linesOf(ctx, t.Current, f.path), f.path, t.Evidence.After))
	x.addShared(old, current)
}

// addShared adds the tokens of code outside of the tests, before and after the change.
func (x *rewrite) addShared(old, current map[string]int) {
	addAll(x.before, slices.Collect(maps.Keys(old)))
	addAll(x.after, slices.Collect(maps.Keys(current)))
	x.sharedGrown = x.sharedGrown || !containsTokens(old, current)
}

// addData adds the changed files of tests that are no code.
func (t *lineReader) addData(ctx context.Context, g *group) {
	for _, name := range t.RestoredFiles {
		name = t.Evidence.NewPath(name)
		if text, err := t.Store.ReadFile(ctx, t.Current, name); err == nil && len(text) <= evidence.MaxText && source.DetectLanguage(name, nil) == source.Unknown {
			g.text.data = append(append(g.text.data, '\n'), text...)
		}
	}
}

// judgeRewrite sets in the result whether the change only removes code, and which inputs of the
// original tests are missing. It sets which tests were lost and which replace them. lost are the
// original tests that changed or are gone.
func (t Trial) judgeRewrite(g *group, lost []metric.Test) {
	x, inData := g.text, false
	for _, l := range slices.Sorted(maps.Keys(x.before)) {
		input, ok := g.inputOf(l)
		switch {
		case !ok || x.after[l]:
		case bytes.Contains(x.data, []byte(input)):
			inData = true
		default:
			g.result.MissingInputs = append(g.result.MissingInputs, l)
		}
	}
	g.result.OnlyRemoved = len(x.grown) == 0 && !x.sharedGrown && !inData && !t.HasOtherRunner()
	if g.result.OnlyRemoved {
		return // nothing replaces the lost tests
	}
	g.lost, g.replacing = lost, t.changedTests(x.grown, t.CurrentTests, t.Evidence.After, g.newTests)
	if g.shared || len(g.lost) == 0 {
		g.lost = g.oldTests
	}
	if g.shared || g.generated || len(g.replacing) == 0 {
		g.replacing = g.newTests
	}
}

// inputOf returns the value of a literal that tests may use as an input or an expected result:
// numbers, and texts that are neither titles nor messages. It is false for other literals, and for
// those that nearly every test has.
func (g *group) inputOf(literal string) (string, bool) {
	start := strings.IndexAny(literal, "\"'`")
	if start < 0 || unicode.IsDigit(rune(literal[0])) {
		return literal, unicode.IsDigit(rune(literal[0])) && literal != "0" && literal != "1"
	}
	text := strings.Trim(literal[start:], "\"'`")
	isTitle := slices.ContainsFunc(g.oldTests, func(t metric.Test) bool {
		return t.Name == text || strings.HasSuffix(t.Name, "/"+text) || strings.HasSuffix(t.Name, " "+text)
	})
	return text, text != "" && !isTitle && !strings.ContainsAny(text, " \t\n%{")
}

// tokenRE matches a literal, a word, or an operator.
var tokenRE = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`|[\\w.]+|[^\\s\\w]")

// countTokens counts the tokens of lines.
func countTokens(lines []string) map[string]int {
	out := map[string]int{}
	for _, line := range lines {
		for _, token := range tokenRE.FindAllString(line, -1) {
			out[token]++
		}
	}
	return out
}

// containsTokens reports whether all has at least the tokens of part.
func containsTokens(all, part map[string]int) bool {
	for token, n := range part {
		if all[token] < n {
			return false
		}
	}
	return true
}

func addAll(set map[string]bool, list []string) {
	for _, s := range list {
		set[s] = true
	}
}
