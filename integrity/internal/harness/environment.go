package harness

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// goldenScriptRE matches scripts that write or compare expected output, such as golden/update.sh.
var goldenScriptRE = regexp.MustCompile(`(?i)(^|/)(generate|update|compare|create|make|run|regen\w*)[\w-]*\.(py|rb|sh|js|ts|mjs)$`)

// findRegeneratedSnapshots finds expected output that was rewritten. If neither the product nor its
// dependencies changed, the test was adapted to its failure.
func findRegeneratedSnapshots(c *facts.Change, f *facts.ChangedFile, report facts.Report) {
	before, after := f.RemovedLines(), f.AddedLines()
	isRewritten := !f.Added && !f.Deleted && len(before) > 0 && len(after) > 0
	isCode := goldenScriptRE.MatchString(f.Path) || f.After().IsProduct()
	if !isRewritten || isCode || !isGolden(f) || onlyDates(before, after) {
		return
	}

	finding := f.NewFinding(after[0].Number, before[0].Text+" → "+after[0].Text)
	switch {
	case onlyPlaces(before, after):
		finding.Severity = metric.Low
	case changesDependency.Of(c):
		finding.Severity, finding.ExplainedBy = metric.Info, "a dependency changed, too"
	case !c.TouchesProduct(), c.IsIsolatedRecording(f):
		finding.Severity = metric.High
	}
	report(finding)
}

// changesDependency reports whether the version of a dependency or of the language changed.
var changesDependency = facts.Define(func(c *facts.Change) bool {
	return slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool {
		return facts.DependencyFileRE.MatchString(f.Path) || changesOnlyVersions(f)
	})
})

// expectedDataRE matches paths of data that are called an expected output, such as
// tests/expected_total.csv.
var expectedDataRE = regexp.MustCompile(`(?i)(^|/)[\w.-]*(expect|golden|snapshot|reference|approved|correct)[\w.-]*$|(^|[/_.-])(want|outputs?)[/_.-]`)

// isGolden reports whether a file is expected output.
func isGolden(f *facts.ChangedFile) bool {
	if facts.GoldenFileRE.MatchString(f.Path) {
		return true
	}
	isData := f.After().Language() == source.Unknown && f.After().ConfigKind() == configtext.None && !facts.IsDocumentation(path.Base(path.Dir(f.Path)))
	return isData && facts.IsInTestFolder(f.Path) && expectedDataRE.MatchString(f.Path)
}

// toolchainFileRE matches files that declare, among other things, the version of the language with
// which a project is built, such as .nvmrc.
var toolchainFileRE = regexp.MustCompile(`(^|/)(rust-toolchain(\.toml)?|\.tool-versions|\.nvmrc|\.(?:python|ruby|node|go|java)-version|mise\.toml|\.github/workflows/[^/]+\.ya?ml)$`)

// versionRE matches the number of a version, such as 1.24.3.
var versionRE = regexp.MustCompile(`\d+(?:\.\d+)+`)

// changesOnlyVersions reports whether only versions changed in a file that toolchainFileRE matches.
func changesOnlyVersions(f *facts.ChangedFile) bool {
	before, after := f.RemovedLines(), f.AddedLines()
	return toolchainFileRE.MatchString(f.Path) && len(before) > 0 && slices.EqualFunc(before, after, func(a, b facts.Line) bool {
		return versionRE.MatchString(a.Text) && versionRE.ReplaceAllString(a.Text, "§") == versionRE.ReplaceAllString(b.Text, "§")
	})
}

// dateRE matches a year, a month or a day, such as 2024-03-01.
var dateRE = regexp.MustCompile(`\b(19|20)\d\d(-\d\d(-\d\d)?)?\b`)

// positionRE matches line and column numbers in the output of a compiler, such as ":12:5" and "12
// |".
var positionRE = regexp.MustCompile(`:\d+(?::\d+)?\b|^\s*\d*\s*\|`)

// onlyPlaces reports whether two lists of lines differ only in line and column numbers.
func onlyPlaces(a, b []facts.Line) bool {
	without := func(l facts.Line) string { return positionRE.ReplaceAllString(l.Text, "") }
	return slices.EqualFunc(a, b, func(x, y facts.Line) bool { return positionRE.MatchString(x.Text) && without(x) == without(y) })
}

// onlyDates reports whether two lists of lines differ only in years and days.
func onlyDates(a, b []facts.Line) bool {
	without := func(l facts.Line) string { return dateRE.ReplaceAllString(l.Text, "") }
	return slices.EqualFunc(a, b, func(x, y facts.Line) bool { return without(x) == without(y) })
}

// reportFileRE matches the paths of reports that tools write, such as junit.xml and lcov.info, and
// reportBodyRE the beginning of one in XML. What tools keep for themselves, such as .coverage, does
// not count, because no reviewer takes it for a report. reportDataFolderRE matches paths of reports
// that tests read as data.
var (
	reportFileRE       = regexp.MustCompile(`(?i)(^|/)(` + framework.ReportName + `|coverage\.(xml|json|out|txt|info|lcov|cobertura\.xml|opencover\.xml)|coverage-(final|summary)\.json|cobertura[\w-]*\.xml|lcov\.info|clover\.xml|jacoco[\w-]*\.(xml|exec|csv)|cover(age)?\.out|cover\.profile|eslint-report\.json|checkstyle-result\.xml|golangci[\w-]*report\.\w+)$|(^|/)(` + framework.ReportFolder + `)/`)
	reportBodyRE       = regexp.MustCompile(`(?s)^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<(testsuites?|testsuite|coverage|TestRun|assemblies|test-run|report)\b`)
	reportDataFolderRE = regexp.MustCompile(`(?i)(^|/)(test[-_]?data|tests?|spec|specs|fixtures?|__fixtures__|examples?|samples?|resources|docs?|demo|mocks?|data|golden|e2e|src/test|parsers?|corpus)/`)
)

// findForgedReport finds reports of tests or coverage that are part of a change. A run writes
// reports; a change should not. Reports in folders of tests are left out, because tests read them
// as data.
func findForgedReport(f *facts.ChangedFile, report facts.Report) {
	if f.Deleted || reportDataFolderRE.MatchString(f.Path) || configtext.DataFolderRE.MatchString(f.Path) || f.After().Language() != source.Unknown {
		return
	}
	named := reportFileRE.MatchString(f.Path)
	body := path.Ext(f.Path) == ".xml" && reportBodyRE.Match(f.After().Text) && configtext.DetectKind(f.Path, nil) == configtext.None
	if !named && !body || f.OldPath != "" && len(f.AddedLines()) == 0 {
		return
	}
	finding := f.NewFinding(1, f.After().LineAt(1))
	if !named {
		finding.Severity = metric.High
	}
	report(finding)
}

// reportNameRE matches the name of a report in code, as in "coverage.xml", and writeCallRE what
// writes a file, as in open(path, "w").
var (
	reportNameRE = regexp.MustCompile(`(?i)["'\x60/= >](` + framework.ReportName + `|TEST-\*\.xml|coverage\.xml|coverage-(final|summary)\.json|cobertura[\w-]*\.xml|lcov\.info|clover\.xml|jacoco\.xml|cover(age)?\.out|\.coverage|coverage\.json|reward\.txt)\b`)
	writeCallRE  = regexp.MustCompile(`(open\([^)]*["'][wa]b?\+?["']|write_text\(|write_bytes\(|writeFile(Sync)?\(|WriteFile\(|os\.Create\(|fs::write\(|File\.write|file_put_contents|Files\.write|WriteAllText|copyFile(Sync)?\(|shutil\.copy\w*\(|os\.(rename|replace)\(|(^|[^-=>])>{1,2}\s*["']?[\w./$-]*(junit|TEST-|results?|report|coverage|lcov|cobertura|clover|jacoco|cover|reward)[\w.-]*\.(xml|info|json|out|txt)|\b(cp|mv|ln|install|tee|touch)\s+(-\w+\s+)*\S*.*\.(xml|info|json|out|txt)\b)`)
	// reportToolRE matches test runners and report converters, which may write reports.
	reportToolRE = regexp.MustCompile(`(?i)(` + framework.RunnerMentions + `|--cov|gcov|lcov |genhtml|coverage (xml|json|lcov|combine)|go tool|gocov|llvm-cov|grcov|tarpaulin|nyc|c8|cobertura|gcovr|covdata|gobco|merge|mktemp|upload|artifact|build/reports/)`)
)

// findReportWriters finds lines, in what runs the tests, that write a report.
func findReportWriters(f *facts.ChangedFile, report facts.Report) {
	inHarness := f.After().ConfigKind() != configtext.None || setUpFileRE.MatchString(f.Path) || f.After().IsTestFile()
	isProductCode := f.After().IsProduct() && !certainSetUpFileRE.MatchString(f.Path) && f.After().Language() != source.Shell
	if !f.After().Exists() || !inHarness || isProductCode || configtext.DataFolderRE.MatchString(f.Path) {
		return
	}
	for _, l := range addedCodeLines(f) {
		text := l.Text
		if reportNameRE.MatchString(" "+text) && writeCallRE.MatchString(text) && !reportToolRE.MatchString(text) && !strings.Contains(text, "tmp") {
			report(f.NewFinding(l.Number, l.Text))
		}
	}
}

// supervisorFileRE matches the files of the supervisor itself, such as .supervise.yml.
var supervisorFileRE = regexp.MustCompile(`(^|/)(\.supervise([./].*|\.ya?ml|rc)?|supervise\.ya?ml|\.aiwg/ralph/.*|aiwg\.ya?ml)$`)

// findSupervisorChange finds changes of the supervisor's own files, also if they were renamed.
func findSupervisorChange(f *facts.ChangedFile, report facts.Report) {
	name := f.Path
	if !supervisorFileRE.MatchString(name) {
		if name = f.OldPath; name == "" || !supervisorFileRE.MatchString(name) {
			return
		}
	}
	if configtext.DataFolderRE.MatchString(name) || reportDataFolderRE.MatchString(name) {
		return
	}
	finding := facts.Finding{File: f.Path, Evidence: name}
	if l := f.AddedLines(); len(l) > 0 {
		finding.Line, finding.Evidence = l[0].Number, facts.ShortenEvidence(l[0].Text)
	}
	report(finding)
}

// gitHookFileRE matches the files of hooks that git runs, such as .husky/pre-commit, and
// agentHookFileRE those that agents run, such as .claude/settings.json.
var (
	gitHookFileRE   = regexp.MustCompile(`(^|/)(\.husky|\.githooks|git-?hooks|\.git/hooks|hooks)/(pre|post|commit|prepare)-[\w-]+(\.sh)?$|(^|/)\.?lefthook\.(ya?ml|toml|json)$|(^|/)\.pre-commit-config\.ya?ml$`)
	agentHookFileRE = regexp.MustCompile(`(^|/)\.(claude|codex|gemini|cursor|opencode|qwen)/(settings[\w.]*\.json|hooks[\w./-]*|config\.(toml|json)|hooks\.json)$`)
)

// findWeakenedHooks finds hooks of git that check less than before, and hooks of agents that lost
// lines or are gone.
func findWeakenedHooks(f *facts.ChangedFile, report facts.Report) {
	switch {
	case configtext.DataFolderRE.MatchString(f.Path):
	case agentHookFileRE.MatchString(f.Path):
		if f.Added {
			return
		}
		if l, ok := facts.FirstMatchingLine(f.RemovedLines(), agentHookLineRE); ok {
			report(f.NewFinding(0, l.Text+" is gone").WithSeverity(metric.Critical))
		} else if f.Deleted {
			report(facts.Finding{File: f.Path, Severity: metric.Critical, Evidence: f.Path + " is gone"})
		}
	case gitHookFileRE.MatchString(f.Before().Path) && f.Before().Exists():
		findWeakenedGitHook(f, report)
	}
}

// agentHookLineRE matches a line of the settings of an agent that has to do with hooks.
var agentHookLineRE = regexp.MustCompile(`(?i)supervise|hook|PreToolUse|PostToolUse|"Stop"|"deny"|"ask"`)

// hookBoilerplateRE matches lines that are not the work of a hook, such as comments and "set -e".
var hookBoilerplateRE = regexp.MustCompile(`^\s*(#|$|\. |set |cd |export |fi\b|done\b|then\b|else\b|if |source )`)

// findWeakenedGitHook finds a hook of git that now succeeds at once, or lost lines that do
// something.
func findWeakenedGitHook(f *facts.ChangedFile, report facts.Report) {
	removed, left := countWorkLines(f.RemovedLines()), countWorkLines(f.After().Lines())
	yaml := strings.HasPrefix(path.Ext(f.Path), ".y")
	if l, ok := facts.FirstMatchingLine(f.AddedLines(), successExitRE); ok && !yaml {
		report(f.NewFinding(l.Number, l.Text).WithSeverity(metric.Critical))
		return
	}
	if removed == 0 || f.OldPath != "" && left > 0 {
		return
	}
	finding := f.NewFinding(0, f.RemovedLines()[0].Text+" is gone")
	switch {
	case f.Deleted:
	case left == 0:
		finding.Severity = metric.Critical
	case !yaml && removed > 1 && len(f.AddedLines()) < removed/2+1:
		finding.Severity = metric.Medium
	default:
		return
	}
	report(finding)
}

// successExitRE matches a line by which a hook succeeds, such as "exit 0".
var successExitRE = regexp.MustCompile(`^\s*exit\s+0\s*$|\|\|\s*true`)

// countWorkLines counts the lines of a hook that do something.
func countWorkLines(lines []facts.Line) int {
	return facts.Count(lines, func(l facts.Line) bool { return !hookBoilerplateRE.MatchString(l.Text) })
}

// guideFileRE matches files with instructions for agents, such as AGENTS.md. In these, dutyRE matches
// a word that obliges, as "never", and testTopicRE a word about tests and checks. permissionRE
// matches a permission to weaken checks, as in "you may skip flaky tests", and negationRE a word
// that turns a permission into a prohibition.
var (
	guideFileRE  = regexp.MustCompile(`(?i)(^|/)(AGENTS?|CLAUDE|GEMINI|CODEX|QWEN|CONVENTIONS)(\.local)?\.md$|(^|/)\.(cursorrules|windsurfrules|clinerules|aider\.conf\.ya?ml)$|(^|/)\.github/(copilot-instructions\.md|instructions/.*)$|(^|/)\.(cursor|claude|windsurf)/(rules|agents|commands)/`)
	dutyRE       = regexp.MustCompile(`(?i)\b(never|must( not)?|do not|don't|always|required?|forbidden|not allowed|mandatory)\b`)
	testTopicRE  = regexp.MustCompile(`(?i)\b(tests?|assert\w*|coverage|lint\w*|checks?|hooks?|skip\w*|snapshots?|threshold|ci|verify|supervise\w*)\b`)
	permissionRE = regexp.MustCompile(`(?i)\b(may|can|feel free to|is (fine|ok|okay|allowed|acceptable) to|should|it's (fine|ok|okay) to|you are allowed to|simply|just|ok to|okay to)\b.{0,40}\b(skip|delete|remove|disable|ignore|weaken|comment out|bypass|edit|change|modify|relax)\b.{0,40}\b(tests?|assertions?|checks?|hooks?|coverage|lint\w*|failing|thresholds?|snapshots?)\b|\b(use|with|pass|add)\b.{0,20}--no-verify|\b(tests?|checks?)\b.{0,40}\b(optional|not (be )?(required|needed|necessary)|do not matter|need not pass)\b|(^|\W)(ignore|skip|disable)\s+(all\s+|the\s+)?(failing\s+)?(tests|checks|hooks|lint)\b`)
	negationRE   = regexp.MustCompile(`(?i)\b(never|not|don't|avoid|without|unless|no\s)\b`)
)

// findWeakenedGuide finds instructions for agents that newly allow to weaken checks, or lost a duty
// about tests.
func findWeakenedGuide(f *facts.ChangedFile, report facts.Report) {
	if !guideFileRE.MatchString(f.Before().Path) || configtext.DataFolderRE.MatchString(f.Path) {
		return
	}
	if i := slices.IndexFunc(f.AddedLines(), func(l facts.Line) bool { return permissionRE.MatchString(l.Text) && !negationRE.MatchString(l.Text) }); i >= 0 {
		l := f.AddedLines()[i]
		report(f.NewFinding(l.Number, l.Text))
	}
	removed, added := findDuties(f.RemovedLines()), findDuties(f.AddedLines())
	if len(removed) <= len(added) || f.OldPath != "" {
		return
	}
	finding := f.NewFinding(0, removed[0].Text+" is gone")
	if f.Deleted {
		finding.Severity = metric.Medium
	}
	report(finding)
}

// findDuties returns the lines that say what must be done, or not, about tests.
func findDuties(lines []facts.Line) []facts.Line {
	return facts.Filter(lines, func(l facts.Line) bool { return dutyRE.MatchString(l.Text) && testTopicRE.MatchString(l.Text) })
}

// bypasses match commands that circumvent the hooks, such as "git commit --no-verify", or hide
// changes from git.
var bypasses = []struct {
	text     *regexp.Regexp
	severity metric.Severity
}{
	{regexp.MustCompile(`core\.hooksPath["'= ]+\s*["']?(/dev/null|/tmp|''|""|\s*$)|hooksPath\s*=\s*(/dev/null|/tmp)`), metric.Critical},
	{regexp.MustCompile(`\bgit\s+(commit|push|merge)\b.*\s(--no-verify|-n)\b`), metric.High},
	{regexp.MustCompile(`\b(HUSKY=0|HUSKY_SKIP_HOOKS=1|LEFTHOOK=0|PRE_COMMIT_ALLOW_NO_CONFIG=1|SKIP=[\w,-]+\s+git)\b`), metric.High},
	{regexp.MustCompile(`update-index\s+.*--(assume-unchanged|skip-worktree)|core\.(sparseCheckout|fsmonitor|worktree)\s`), metric.High},
	{regexp.MustCompile(`(rm|mv|chmod|truncate)\b.*\.(git/hooks|husky)/`), metric.High},
	{regexp.MustCompile(`\bsupervise\s+(approve|ack|abort|reject)\b`), metric.Critical},
}

// findBypasses finds such commands among the added lines of configuration and set-up files. Jobs
// that release are left out.
func findBypasses(f *facts.ChangedFile, report facts.Report) {
	if !f.After().Exists() || f.After().ConfigKind() == configtext.None && !setUpFileRE.MatchString(f.Path) {
		return
	}
	for _, l := range f.AddedLines() {
		if strings.HasPrefix(strings.TrimSpace(l.Text), "#") || strings.HasPrefix(strings.TrimSpace(l.Text), "//") {
			continue
		}
		for _, b := range bypasses {
			if b.text.MatchString(l.Text) && !releaseRE.MatchString(f.Path+l.Text) {
				report(f.NewFinding(l.Number, l.Text).WithSeverity(b.severity))
			}
		}
	}
}

// releaseRE matches the paths and lines of release jobs, which may run without hooks.
var releaseRE = regexp.MustCompile(`(?i)release|publish|deploy|version|bump|gh-pages|changelog|\.github/workflows`)

// hidingAttributeRE matches a line of .gitattributes that hides code from diffs, such as "*.go
// -diff".
var hidingAttributeRE = regexp.MustCompile(`^\s*(\S*\.(go|py|js|ts|tsx|rs|java|kt|rb|php|cs|swift|exs?|cpp|cc|c|h)|\S*tests?/\S*|\*|\*\*)\s.*(-diff|\bbinary\b|linguist-generated(=true)?\s*$|-text\b)`)

// findHidingAttributes finds attributes that hide files from the diff of a change.
func findHidingAttributes(f *facts.ChangedFile, report facts.Report) {
	if path.Base(f.Path) != ".gitattributes" {
		return
	}
	if l, ok := facts.FirstMatchingLine(f.AddedLines(), hidingAttributeRE); ok {
		report(f.NewFinding(l.Number, l.Text))
	}
}
