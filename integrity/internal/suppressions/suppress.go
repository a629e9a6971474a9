package suppressions

import (
	"fmt"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// silencing is a quick look at a line, before the file is read completely.
var silencing = regexp.MustCompile(`(?i)no-?lint|nosec|noqa|ignore|disable|no\s*(cover|branch)|suppress|allow\(|nocov|_EXCL|noinspection|NOSONAR|as any|@ts-|coverage|diagnostic|fmt:|todo|pylint|detekt`)

// silenced is what a change does to the directives of one file.
type silenced struct {
	*facts.ChangedFile
	came, gone []source.Directive
}

// linesEach is the largest number of added lines for each directive in a change that is
// mainly about directives.
const linesEach = 10

// inlineRule finds directives that became more in the entire change: one that moved does
// not count. Three more without a reason in existing product files are severe if little
// else was added; so is one that silences all rules in a file.
func inlineRule(coverage bool) func(*facts.Set) []facts.Finding {
	return func(c *facts.Set) []facts.Finding {
		var out []facts.Finding
		net, known, added := 0, 0, 0
		for _, f := range silencedFiles(c, coverage) {
			net += len(f.came) - len(f.gone)
			added += len(f.AddedLines())
			if !f.Added && !f.BelongsToTests() && !besides.MatchString(f.Path) {
				known += len(f.came) - len(f.gone) - f.justified()
			}
			if len(f.came) > len(f.gone) {
				out = append(out, f.finding())
			}
		}
		for i := range out {
			if !coverage && min(net, known) >= 3 && min(net, known)*linesEach >= added {
				out[i].Severity = metric.High
			}
		}
		if net <= 0 {
			return slices.DeleteFunc(out, func(f facts.Finding) bool { return f.Severity != metric.High })
		}
		return out
	}
}

// besides matches folders that are not part of the product: build tools, documentation,
// examples.
var besides = regexp.MustCompile(`(?i)(?:^|/)(?:scripts?|tools?|docs?|codemods?|examples?|samples?|demos?|bench\w*|website|playgrounds?|misc|contrib)/`)

// reasoned matches a directive with a reason of at least three words.
var reasoned = regexp.MustCompile(`(?:(?:\s|^)(?://|#|-+|;)|\*/|:)\s*(?:[^\s/#-]\S*\s+){2,}\S+`)

// aCast matches the cast that takes a value out of the checks: one value, not a rule.
var aCast = regexp.MustCompile(`\bas any\b`)

// justified counts the new directives that say why they are there, or are casts.
func (f *silenced) justified() int {
	n := 0
	for _, d := range f.came {
		if !d.Blanket && reasoned.MatchString(d.Text) || aCast.MatchString(d.Text) {
			n++
		}
	}
	return n
}

// ofOneKind matches what silences a single rule in a complete file.
var ofOneKind = regexp.MustCompile(`@file:Suppress(?:Warnings)?\("[\w:-]+"(?:,\s*"[\w:-]+")*\)|#!\[allow\(`)

// silencesAll reports whether a directive silences all rules in a file.
func silencesAll(d source.Directive) bool {
	return d.Blanket && !d.Coverage && (!ofOneKind.MatchString(d.Text) || allKinds.MatchString(d.Text))
}

// allKinds matches the names for all rules.
var allKinds = regexp.MustCompile(`"all"|\bwarnings\b|clippy::(?:all|pedantic)`)

func (f *silenced) finding() facts.Finding {
	first := f.came[0]
	finding := facts.Finding{File: f.Path, Line: first.Line, Evidence: facts.Evidence(first.Text)}
	if n := len(f.came) - len(f.gone); n > 1 {
		finding.Evidence = facts.Evidence(fmt.Sprintf("%s (and %d more)", first.Text, n-1))
	}
	i := slices.IndexFunc(f.came, silencesAll)
	if i >= 0 && !f.Added && !f.BelongsToTests() && !besides.MatchString(f.Path) {
		finding.Severity, finding.Line, finding.Evidence = metric.High, f.came[i].Line, facts.Evidence(f.came[i].Text)
	}
	return finding
}

// maySilence are the files with a changed line that looks like a directive, comments and
// strings included.
var maySilence = facts.Define(func(c *facts.Set) []*facts.ChangedFile {
	var out []*facts.ChangedFile
	for _, f := range c.Files {
		if f.After().Language() == source.Unknown && f.Before().Language() == source.Unknown || source.IsVendored(f.Path) || configtext.DataFolders.MatchString(f.Path) {
			continue
		}
		_, came := facts.FirstMatch(f.AddedLines(), silencing)
		if !came {
			_, came = facts.FirstMatch(f.RemovedLines(), silencing)
		}
		if came && !source.IsGenerated(f.Path, f.After().Text) {
			out = append(out, f)
		}
	}
	return out
})

// silencedFiles returns the files whose directives changed.
func silencedFiles(c *facts.Set, coverage bool) []silenced {
	var out []silenced
	for _, f := range maySilence.Of(c) {
		was, is := directives(f.Before(), coverage), directives(f.After(), coverage)
		s := silenced{f, surplusDirectives(is, was), surplusDirectives(was, is)}
		if len(s.came)+len(s.gone) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// directives returns those that exclude from coverage, or all others. An expected error
// in a test of types is the purpose of that test.
func directives(s *facts.Side, coverage bool) []source.Directive {
	if !s.Exists() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Source().Directives), func(d source.Directive) bool {
		return d.Coverage != coverage || s.IsTest() && strings.Contains(d.Text, "@ts-expect-error")
	})
}

// surplusDirectives returns those that occur more often in a than in b.
func surplusDirectives(a, b []source.Directive) []source.Directive {
	count := map[string]int{}
	for _, d := range b {
		count[d.Text]++
	}
	var out []source.Directive
	for _, d := range a {
		if count[d.Text]--; count[d.Text] < 0 {
			out = append(out, d)
		}
	}
	return out
}

// baselines are the files in which tools keep accepted findings.
var baselines = regexp.MustCompile(`(?i)(^|/)(\.rubocop_todo\.yml|phpstan-baseline\.(neon|php)|psalm-baseline\.xml|detekt-baseline\.xml|lint-baseline\.xml|\.?baseline\.json|\.secrets\.baseline|eslint-suppressions\.json|\.betterer\.results|\.eslint-todo\.\w+|mypy-baseline\.txt|\.mypy-baseline|\.basedpyright/baseline\.json|\.eslintignore|\.prettierignore|\.stylelintignore|\.semgrepignore|\.sonarcloud\.properties|\.trivyignore|\.snyk|checkstyle-suppressions\.xml|spotbugs-exclude\.xml|\.gometalinter\.json|suppressions\.(txt|xml))$`)

func baselineGrown(f *facts.ChangedFile) []facts.Finding {
	if !baselines.MatchString(f.Path) || configtext.DataFolders.MatchString(f.Path) {
		return nil
	}
	added := slices.DeleteFunc(slices.Clone(f.AddedLines()), func(l facts.Line) bool {
		return strings.HasPrefix(strings.TrimSpace(l.Text), "#") || configtext.NoTestsThere.MatchString(strings.TrimSpace(l.Text))
	})
	if len(added) <= len(f.RemovedLines()) {
		return nil
	}
	return []facts.Finding{{File: f.Path, Line: added[0].Number, Evidence: facts.Evidence(added[0].Text)}}
}
