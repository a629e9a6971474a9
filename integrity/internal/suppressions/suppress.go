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

// directiveHintRE matches lines that may have a directive, such as "# noqa". It is a fast check
// before the file is read completely.
var directiveHintRE = regexp.MustCompile(`(?i)no-?lint|nosec|noqa|ignore|disable|no\s*(cover|branch)|suppress|allow\(|nocov|_EXCL|noinspection|NOSONAR|as any|@ts-|coverage|diagnostic|fmt:|todo|pylint|detekt`)

// directiveChange has the directives that a change added to one file, and those that it removed.
type directiveChange struct {
	*facts.ChangedFile
	added, removed []source.Directive
}

// maxLinesPerDirective is the largest number of added lines for each directive in a change that is
// mainly about directives.
const maxLinesPerDirective = 10

// directiveRule returns the function that finds directives of which the change has more than
// before; one that moved does not count. coverage selects those that exclude code from coverage,
// otherwise all others. At least three more without a reason, in existing product files, are severe
// if little else was added. One that silences all rules in a file is severe, too.
func directiveRule(coverage bool) facts.Finder {
	return func(c *facts.Change, report facts.Report) {
		changes := directiveChanges(c, coverage)
		net, known, added := 0, 0, 0
		for _, f := range changes {
			net += len(f.added) - len(f.removed)
			added += len(f.AddedLines())
			if f.isInProduct() {
				known += len(f.added) - len(f.removed) - f.countJustified()
			}
		}

		isSevere := !coverage && min(net, known) >= 3 && min(net, known)*maxLinesPerDirective >= added
		for _, f := range changes {
			if len(f.added) <= len(f.removed) {
				continue
			}
			finding := f.finding()
			if isSevere {
				finding.Severity = metric.High
			}
			if net > 0 || finding.Severity == metric.High {
				report(finding)
			}
		}
	}
}

// isInProduct reports whether the file is an existing file of the product.
func (f *directiveChange) isInProduct() bool {
	return !f.Added && !f.BelongsToTests() && !auxiliaryFolderRE.MatchString(f.Path)
}

// auxiliaryFolderRE matches folders that are not part of the product: build tools, documentation,
// examples.
var auxiliaryFolderRE = regexp.MustCompile(`(?i)(?:^|/)(?:scripts?|tools?|docs?|codemods?|examples?|samples?|demos?|bench\w*|website|playgrounds?|misc|contrib)/`)

// reasonRE matches a directive with a reason of at least three words, as in "// eslint-disable-line
// -- the link is long".
var reasonRE = regexp.MustCompile(`(?:(?:\s|^)(?://|#|-+|;)|\*/|:)\s*(?:[^\s/#-]\S*\s+){2,}\S+`)

// castRE matches the cast that takes a value out of the checks of types. It affects one value, not
// a rule.
var castRE = regexp.MustCompile(`\bas any\b`)

// countJustified counts the new directives that state a reason, or are casts.
func (f *directiveChange) countJustified() int {
	return facts.Count(f.added, func(d source.Directive) bool {
		return !d.Blanket && reasonRE.MatchString(d.Text) || castRE.MatchString(d.Text)
	})
}

// singleRuleRE matches a directive that silences single rules in a complete file, as in
// #![allow(dead_code)].
var singleRuleRE = regexp.MustCompile(`@file:Suppress(?:Warnings)?\("[\w:-]+"(?:,\s*"[\w:-]+")*\)|#!\[allow\(`)

// silencesAll reports whether a directive silences all rules in a file.
func silencesAll(d source.Directive) bool {
	return d.Blanket && !d.Coverage && (!singleRuleRE.MatchString(d.Text) || allRulesRE.MatchString(d.Text))
}

// allRulesRE matches a name for all rules, such as clippy::all.
var allRulesRE = regexp.MustCompile(`"all"|\bwarnings\b|clippy::(?:all|pedantic)`)

// finding returns the finding about the new directives of a file.
func (f *directiveChange) finding() facts.Finding {
	first := f.added[0]
	finding := f.NewFinding(first.Line, first.Text)
	if n := len(f.added) - len(f.removed); n > 1 {
		finding.Evidence = facts.ShortenEvidence(fmt.Sprintf("%s (and %d more)", first.Text, n-1))
	}
	if i := slices.IndexFunc(f.added, silencesAll); i >= 0 && f.isInProduct() {
		return f.NewFinding(f.added[i].Line, f.added[i].Text).WithSeverity(metric.High)
	}
	return finding
}

// candidateFiles are the files with a changed line that looks like a directive. Comments and
// strings count as well.
var candidateFiles = facts.Define(func(c *facts.Change) []*facts.ChangedFile {
	var out []*facts.ChangedFile
	for _, f := range c.Files {
		if f.After().Language() == source.Unknown && f.Before().Language() == source.Unknown || source.IsVendored(f.Path) || configtext.DataFolderRE.MatchString(f.Path) {
			continue
		}
		_, came := facts.FirstMatchingLine(f.AddedLines(), directiveHintRE)
		if !came {
			_, came = facts.FirstMatchingLine(f.RemovedLines(), directiveHintRE)
		}
		if came && !source.IsGenerated(f.Path, f.After().Text) {
			out = append(out, f)
		}
	}
	return out
})

// directiveChanges returns the files whose directives changed.
func directiveChanges(c *facts.Change, coverage bool) []directiveChange {
	var out []directiveChange
	for _, f := range candidateFiles.Of(c) {
		before, after := findDirectives(f.Before(), coverage), findDirectives(f.After(), coverage)
		s := directiveChange{f, surplusDirectives(after, before), surplusDirectives(before, after)}
		if len(s.added)+len(s.removed) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// findDirectives returns the directives of a file that exclude code from coverage, or all others.
// An expected error in a test of types is left out, because it is the purpose of that test.
func findDirectives(s *facts.Side, coverage bool) []source.Directive {
	if !s.Exists() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Inspection().Directives), func(d source.Directive) bool {
		return d.Coverage != coverage || s.IsTestFile() && strings.Contains(d.Text, "@ts-expect-error")
	})
}

// surplusDirectives returns the directives that occur more often in a than in b.
func surplusDirectives(a, b []source.Directive) []source.Directive {
	return facts.Surplus(a, b, func(d source.Directive) string { return d.Text })
}

// baselineFileRE matches the files in which tools keep accepted findings, such as
// .rubocop_todo.yml.
var baselineFileRE = regexp.MustCompile(`(?i)(^|/)(\.rubocop_todo\.yml|phpstan-baseline\.(neon|php)|psalm-baseline\.xml|detekt-baseline\.xml|lint-baseline\.xml|\.?baseline\.json|\.secrets\.baseline|eslint-suppressions\.json|\.betterer\.results|\.eslint-todo\.\w+|mypy-baseline\.txt|\.mypy-baseline|\.basedpyright/baseline\.json|\.eslintignore|\.prettierignore|\.stylelintignore|\.semgrepignore|\.sonarcloud\.properties|\.trivyignore|\.snyk|checkstyle-suppressions\.xml|spotbugs-exclude\.xml|\.gometalinter\.json|suppressions\.(txt|xml))$`)

// findGrownBaseline finds a file of accepted findings that has more lines than before.
func findGrownBaseline(f *facts.ChangedFile, report facts.Report) {
	if !baselineFileRE.MatchString(f.Path) || configtext.DataFolderRE.MatchString(f.Path) {
		return
	}
	added := facts.Filter(f.AddedLines(), func(l facts.Line) bool {
		return !strings.HasPrefix(strings.TrimSpace(l.Text), "#") && !configtext.NoTestsPathRE.MatchString(strings.TrimSpace(l.Text))
	})
	if len(added) > len(f.RemovedLines()) {
		report(f.NewFinding(added[0].Number, added[0].Text))
	}
}
