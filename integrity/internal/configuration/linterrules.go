package configuration

import (
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// lintConfigRE matches the files that say what linters and type checkers look for, such as
// .eslintrc and pyproject.toml.
var lintConfigRE = regexp.MustCompile(`(?i)` + framework.NodeLintConfig + `|pyproject|setup\.cfg|tox\.ini|\.flake8|pylintrc|mypy|ruff|pyright|bandit|golangci|rubocop|phpstan|psalm|phpcs|phpmd|detekt|checkstyle|pmd|spotbugs|lint|Cargo\.toml|clippy|proj$|\.props$|editorconfig|ruleset|swiftlint|credo|sorbet|clang-tidy|shellcheck|yamllint|Makefile`)

// ruleOffRows are the settings that turn rules off. key matches the end of the key, and value the
// value; "" matches any. gone says that the removal of the setting turns rules off, not its
// addition. The comment above a row has a setting that it matches.
var ruleOffRows = []ruleOffRow{
	// rules.noconsole: off
	{endOfKey(`(^|\.)rules?\.[^.]+(\[\])?`), regexp.MustCompile(`^(off|0|false|none|disable|warn|1)$`), false},
	// lints.clippy.unwrapused: allow
	{endOfKey(`(^|\.)(linter|lints?|clippy|rust|checks)\.[^.]+(\.level)?`), regexp.MustCompile(`^(off|allow|none|false)$`), false},
	// lint.ignore[]: E501
	{endOfKey(`(^|\.|\.\w+)(ignore|extendignore|disable|perfileignores(\.[^.]+)?|skips|disabledrules|excluderules(\[\])*\.\w+|exclusions\.rules(\[\])*\.\w+|ignoreerrors(\[\])*(\.message)?|disableerrorcode|unfixable|nowarn|msgdisable|warningsnotaserrors|ignorepatterns|exclude|excludepatterns|globalignores(\[\])?|ignoredpaths)(\[\])?`), regexp.MustCompile(``), false},
	// compileroptions.strict: false
	{endOfKey(`(^|\.)(strict\w*|noimplicit\w+|nounused\w+|nouncheckedindexedaccess|exactoptionalpropertytypes|nofallthroughcasesinswitch|alwaysstrict|disallow\w+|checkuntypeddefs|warnreturnany|warnunused\w+|warnredundantcasts|warnunreachable|treatwarningsaserrors|enforcecodestyleinbuild|nullable|enablenetanalyzers|typecheck|checkjs)`), regexp.MustCompile(`(?i)^(false|disable|off|no)$`), false},
	// compileroptions.skiplibcheck: true
	{endOfKey(`(^|\.)(ignoreerrors|ignoremissingimports|skiplibcheck|nocheck|allowjs|allowunreachablecode|allowuntyped\w*|suppresswarnings|implicitreexport)`), regexp.MustCompile(`(?i)^true$`), false},
	// rules.enabled: false
	{endOfKey(`(^|\.)[a-z0-9]+/[a-z0-9/]+\.enabled|(^|\.)enabled|(^|\.)active`), regexp.MustCompile(`(?i)^false$`), false},
	// lint.select[]: E501
	{endOfKey(`(^|\.)(select|extendselect|enable|enableerrorcode|extends|linters\.enable|pluginsenabled|optinrules)\[\]`), regexp.MustCompile(``), true},
	// dotnetdiagnostic.ca1822.severity: none
	{endOfKey(`dotnetdiagnostic\.\w+\.severity`), regexp.MustCompile(`^(none|silent)$`), false},
	// module@name: LineLength
	{endOfKey(`module@name`), regexp.MustCompile(``), true},
	// parameters.level: 2
	{endOfKey(`(^|\.)level`), regexp.MustCompile(`^[0-3]$`), false},
}

// ruleOffRow is a setting that turns rules off.
type ruleOffRow struct {
	key, value *regexp.Regexp
	gone       bool
}

// allRulesRE matches a value that means all rules or all code, such as "all" and "src/**".
var allRulesRE = regexp.MustCompile(`(?i)^(all|\*|\*\*|\*\*/\*|\./?|e,\s?w.*|src/?(\*\*)?(/\*)?|lib/?|pkg/?|app/?)$`)

// findDisabledRules finds rules of linters and type checkers that were turned off. It is severe if
// at least three more were turned off than on. In a file that is new or gone, the rules of the
// other side are not known, so the number does not count.
func findDisabledRules(c *facts.Change, report facts.Report) {
	var out []facts.Finding
	net, known := 0, true
	for _, f := range facts.ConfigFiles.Of(c) {
		if !lintConfigRE.MatchString(configtext.ToolName(f.Path)) {
			continue
		}
		known = known && f.Before().Exists() && f.After().Exists()
		found := findDisabledRulesIn(f)
		net += len(found) - countEnabledRules(f)
		out = slices.Concat(out, found, findRaisedLimits(f))
	}

	if net >= 3 && known && len(out) > 0 && !isLinterUpdated(c) {
		out[0].Severity = metric.High
	}
	for _, f := range out {
		report(f)
	}
}

// linterNameRE matches the name of a linter, and revisionKeyRE the line with its version in the
// configuration of pre-commit, as in "rev: v1.2.0".
var (
	linterNameRE  = regexp.MustCompile(`(?i)eslint|rubocop|ruff|golangci|pylint|flake8|mypy|pyright|detekt|checkstyle|spotbugs|phpstan|psalm|phpcs|stylelint|biome|oxlint|swiftlint|credo|clippy|rust-toolchain`)
	revisionKeyRE = regexp.MustCompile(`^\s*-?\s*(?:rev|version)\s*:`)
)

// isLinterUpdated reports whether a linter is new or its version changed. A new version has more
// rules, and those that were turned off may be the new ones.
func isLinterUpdated(c *facts.Change) bool {
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		if f.BelongsToTests() || facts.IsDocumentation(f.Path) {
			return false
		}
		return slices.ContainsFunc(f.AddedLines(), func(l facts.Line) bool {
			about := linterNameRE.MatchString(l.Text) || revisionKeyRE.MatchString(l.Text) && (linterNameRE.MatchString(f.After().LineAt(l.Number-1)) || linterNameRE.MatchString(f.Path))
			if about && facts.DependencyFileRE.MatchString(f.Path) && !slices.ContainsFunc(f.RemovedLines(), func(before facts.Line) bool { return linterNameRE.MatchString(before.Text) }) {
				return true // it came with the change
			}
			return about && versionRE.MatchString(l.Text) && slices.ContainsFunc(f.RemovedLines(), func(before facts.Line) bool {
				return versionRE.MatchString(before.Text) && facts.RemoveSpace(versionRE.ReplaceAllString(before.Text, "")) == facts.RemoveSpace(versionRE.ReplaceAllString(l.Text, ""))
			})
		})
	})
}

// versionRE matches a version of one number or more, such as ^9.1.0.
var versionRE = regexp.MustCompile(`[v^~><=]*\d+(?:\.[\dx]+)*`)

// findDisabledRulesIn finds the rules of one file that were turned off.
func findDisabledRulesIn(f *facts.ConfigFile) []facts.Finding {
	var out []facts.Finding
	for _, s := range f.AddedSettings {
		if !disablesRule(s, false) || configtext.NoTestsPathRE.MatchString(s.Value) {
			continue
		}
		finding := f.NewFinding(s.Line, s.Key+": "+s.Value)
		if allRulesRE.MatchString(s.Value) || strings.HasSuffix(s.Key, "strict") && !strings.EqualFold(s.Value, "true") {
			finding.Severity = metric.High
		}
		out = append(out, finding)
	}
	for _, s := range f.RemovedSettings {
		if disablesRule(s, true) && hasElements(f, s) {
			out = append(out, f.NewFinding(0, s.Key+": "+s.Value+" is gone").WithSeverity(metric.Medium))
		}
	}
	return out
}

// countEnabledRules counts the rules of one file that were turned on.
func countEnabledRules(f *facts.ConfigFile) int {
	return facts.Count(f.RemovedSettings, func(s configtext.Setting) bool { return disablesRule(s, false) }) +
		facts.Count(f.AddedSettings, func(s configtext.Setting) bool { return disablesRule(s, true) })
}

// disablesRule reports whether the addition of a setting turns a rule off, or its removal if
// removed.
func disablesRule(s configtext.Setting, removed bool) bool {
	return slices.ContainsFunc(ruleOffRows, func(r ruleOffRow) bool {
		return r.gone == removed && r.key.MatchString(s.Key) && r.value.MatchString(s.Value)
	})
}

// findRaisedLimits finds the limits of linters that allow more than before.
func findRaisedLimits(f *facts.ConfigFile) []facts.Finding {
	var out []facts.Finding
	for _, l := range limitChanges(f) {
		if l.before.kind != softCeiling || !l.isLooser() {
			continue
		}
		finding := l.finding(f)
		if l.after.number >= 2*l.before.number {
			finding.Severity = metric.High
		}
		out = append(out, finding)
	}
	return out
}
