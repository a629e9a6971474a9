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

// makesGolden matches scripts next to expected output.
var makesGolden = regexp.MustCompile(`(?i)(^|/)(generate|update|compare|create|make|run|regen\w*)[\w-]*\.(py|rb|sh|js|ts|mjs)$`)

// regenerated finds expected output that was rewritten: without a change of the product
// or its dependencies, the test was adapted to the failure.
func regenerated(c *facts.Set) []facts.Finding {
	bump := slices.ContainsFunc(c.Files, func(f *facts.ChangedFile) bool { return facts.Dependencies.MatchString(f.Path) || onlyVersions(f) })
	var out []facts.Finding
	for _, f := range c.Files {
		if !golden(f) || makesGolden.MatchString(f.Path) || f.Added || f.Deleted || f.After().Product() || len(f.RemovedLines()) == 0 || len(f.AddedLines()) == 0 {
			continue
		}
		finding := facts.Finding{File: f.Path, Line: f.AddedLines()[0].Number, Evidence: facts.Evidence(f.RemovedLines()[0].Text + " → " + f.AddedLines()[0].Text)}
		switch {
		case onlyDates(f.RemovedLines(), f.AddedLines()):
			continue
		case onlyPlaces(f.RemovedLines(), f.AddedLines()):
			finding.Severity = metric.Low
		case bump:
			finding.Severity, finding.ExplainedBy = metric.Info, "a dependency changed, too"
		case !c.TouchesProduct(), c.RecordedAlone(f):
			finding.Severity = metric.High
		}
		out = append(out, finding)
	}
	return out
}

// expectedData matches data of tests that is called an expected output.
var expectedData = regexp.MustCompile(`(?i)(^|/)[\w.-]*(expect|golden|snapshot|reference|approved|correct)[\w.-]*$|(^|[/_.-])(want|outputs?)[/_.-]`)

// golden reports whether a file is expected output.
func golden(f *facts.ChangedFile) bool {
	return facts.GoldenFile.MatchString(f.Path) ||
		f.After().Language() == source.Unknown && facts.InTestFolder(f.Path) && expectedData.MatchString(f.Path) && !facts.IsDocumentation(path.Base(path.Dir(f.Path))) && f.After().ConfigKind() == configtext.None
}

// toolchains are files that declare, among other things, the version of the language
// that a project is built with.
var toolchains = regexp.MustCompile(`(^|/)(rust-toolchain(\.toml)?|\.tool-versions|\.nvmrc|\.(?:python|ruby|node|go|java)-version|mise\.toml|\.github/workflows/[^/]+\.ya?ml)$`)

// version matches the number of a version.
var version = regexp.MustCompile(`\d+(?:\.\d+)+`)

// onlyVersions reports whether versions are all that changed in such a file.
func onlyVersions(f *facts.ChangedFile) bool {
	was, now := f.RemovedLines(), f.AddedLines()
	return toolchains.MatchString(f.Path) && len(was) > 0 && slices.EqualFunc(was, now, func(a, b facts.Line) bool {
		return version.MatchString(a.Text) && version.ReplaceAllString(a.Text, "§") == version.ReplaceAllString(b.Text, "§")
	})
}

var dates = regexp.MustCompile(`\b(19|20)\d\d(-\d\d(-\d\d)?)?\b`)

// places matches line and column numbers in the output of a compiler.
var places = regexp.MustCompile(`:\d+(?::\d+)?\b|^\s*\d*\s*\|`)

// onlyPlaces reports whether two lists of lines differ only in such numbers.
func onlyPlaces(a, b []facts.Line) bool {
	without := func(l facts.Line) string { return places.ReplaceAllString(l.Text, "") }
	return slices.EqualFunc(a, b, func(x, y facts.Line) bool { return places.MatchString(x.Text) && without(x) == without(y) })
}

// onlyDates reports whether two lists of lines differ in years and days alone.
func onlyDates(a, b []facts.Line) bool {
	without := func(l facts.Line) string { return dates.ReplaceAllString(l.Text, "") }
	return slices.EqualFunc(a, b, func(x, y facts.Line) bool { return without(x) == without(y) })
}

// reports are names under which tools leave their reports. What they keep for themselves,
// such as .coverage and .pytest_cache, no reviewer reads as one.
var (
	reports     = regexp.MustCompile(`(?i)(^|/)(` + framework.ReportName + `|coverage\.(xml|json|out|txt|info|lcov|cobertura\.xml|opencover\.xml)|coverage-(final|summary)\.json|cobertura[\w-]*\.xml|lcov\.info|clover\.xml|jacoco[\w-]*\.(xml|exec|csv)|cover(age)?\.out|cover\.profile|eslint-report\.json|checkstyle-result\.xml|golangci[\w-]*report\.\w+)$|(^|/)(` + framework.ReportFolder + `)/`)
	reportBody  = regexp.MustCompile(`(?s)^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<(testsuites?|testsuite|coverage|TestRun|assemblies|test-run|report)\b`)
	keptReports = regexp.MustCompile(`(?i)(^|/)(test[-_]?data|tests?|spec|specs|fixtures?|__fixtures__|examples?|samples?|resources|docs?|demo|mocks?|data|golden|e2e|src/test|parsers?|corpus)/`)
)

// reportForged finds reports of tests or coverage among the files: they are written by
// a run, never manually. Those that tests read as data are in folders of tests.
func reportForged(f *facts.ChangedFile) []facts.Finding {
	if f.Deleted || keptReports.MatchString(f.Path) || configtext.DataFolders.MatchString(f.Path) || f.After().Language() != source.Unknown {
		return nil
	}
	named := reports.MatchString(f.Path)
	body := path.Ext(f.Path) == ".xml" && reportBody.Match(f.After().Text) && configtext.KindOf(f.Path, nil) == configtext.None
	if !named && !body || f.OldPath != "" && len(f.AddedLines()) == 0 {
		return nil
	}
	finding := facts.Finding{File: f.Path, Line: 1, Evidence: facts.Evidence(f.After().LineAt(1))}
	if !named {
		finding.Severity = metric.High
	}
	return []facts.Finding{finding}
}

// reportName is a report named in code; writes are the ways to write it.
var (
	reportName = regexp.MustCompile(`(?i)["'\x60/= >](` + framework.ReportName + `|TEST-\*\.xml|coverage\.xml|coverage-(final|summary)\.json|cobertura[\w-]*\.xml|lcov\.info|clover\.xml|jacoco\.xml|cover(age)?\.out|\.coverage|coverage\.json|reward\.txt)\b`)
	writes     = regexp.MustCompile(`(open\([^)]*["'][wa]b?\+?["']|write_text\(|write_bytes\(|writeFile(Sync)?\(|WriteFile\(|os\.Create\(|fs::write\(|File\.write|file_put_contents|Files\.write|WriteAllText|copyFile(Sync)?\(|shutil\.copy\w*\(|os\.(rename|replace)\(|(^|[^-=>])>{1,2}\s*["']?[\w./$-]*(junit|TEST-|results?|report|coverage|lcov|cobertura|clover|jacoco|cover|reward)[\w.-]*\.(xml|info|json|out|txt)|\b(cp|mv|ln|install|tee|touch)\s+(-\w+\s+)*\S*.*\.(xml|info|json|out|txt)\b)`)
	// byRunner matches test runners and report converters, which may write reports.
	byRunner = regexp.MustCompile(`(?i)(` + framework.RunnerMentions + `|--cov|gcov|lcov |genhtml|coverage (xml|json|lcov|combine)|go tool|gocov|llvm-cov|grcov|tarpaulin|nyc|c8|cobertura|gcovr|covdata|gobco|merge|mktemp|upload|artifact|build/reports/)`)
)

// reportWritten finds lines, in what runs the tests, that write a report.
func reportWritten(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	inHarness := f.After().ConfigKind() != configtext.None || setUp.MatchString(f.Path) || f.After().IsTest()
	if !f.After().Exists() || !inHarness || configtext.DataFolders.MatchString(f.Path) || f.After().Product() && !surelySetUp.MatchString(f.Path) && f.After().Language() != source.Shell {
		return nil
	}
	for _, l := range addedCode(f) {
		text := l.Text
		if reportName.MatchString(" "+text) && writes.MatchString(text) && !byRunner.MatchString(text) && !strings.Contains(text, "tmp") {
			out = append(out, facts.Finding{File: f.Path, Line: l.Number, Evidence: facts.Evidence(l.Text)})
		}
	}
	return out
}

// supervisorFiles are the supervisor's own.
var supervisorFiles = regexp.MustCompile(`(^|/)(\.supervise([./].*|\.ya?ml|rc)?|supervise\.ya?ml|\.aiwg/ralph/.*|aiwg\.ya?ml)$`)

func supervisorTouched(f *facts.ChangedFile) []facts.Finding {
	name := f.Path
	if !supervisorFiles.MatchString(name) {
		if name = f.OldPath; name == "" || !supervisorFiles.MatchString(name) {
			return nil
		}
	}
	if configtext.DataFolders.MatchString(name) || keptReports.MatchString(name) {
		return nil
	}
	finding := facts.Finding{File: f.Path, Evidence: name}
	if l := f.AddedLines(); len(l) > 0 {
		finding.Line, finding.Evidence = l[0].Number, facts.Evidence(l[0].Text)
	}
	return []facts.Finding{finding}
}

// hookFiles are the hooks that git and agents run.
var (
	hookFiles  = regexp.MustCompile(`(^|/)(\.husky|\.githooks|git-?hooks|\.git/hooks|hooks)/(pre|post|commit|prepare)-[\w-]+(\.sh)?$|(^|/)\.?lefthook\.(ya?ml|toml|json)$|(^|/)\.pre-commit-config\.ya?ml$`)
	agentHooks = regexp.MustCompile(`(^|/)\.(claude|codex|gemini|cursor|opencode|qwen)/(settings[\w.]*\.json|hooks[\w./-]*|config\.(toml|json)|hooks\.json)$`)
)

// hookWeakened finds hooks that check less than before, and hooks of agents that
// are gone or were changed.
func hookWeakened(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	switch {
	case configtext.DataFolders.MatchString(f.Path):
	case agentHooks.MatchString(f.Path):
		if f.Added {
			return nil
		}
		if l, ok := facts.FirstMatch(f.RemovedLines(), agentHookLine); ok {
			out = append(out, facts.Finding{File: f.Path, Severity: metric.Critical, Evidence: facts.Evidence(l.Text + " is gone")})
		} else if f.Deleted {
			out = append(out, facts.Finding{File: f.Path, Severity: metric.Critical, Evidence: f.Path + " is gone"})
		}
	case hookFiles.MatchString(f.Before().Path) && f.Before().Exists():
		out = append(out, weakerHook(f)...)
	}
	return out
}

var agentHookLine = regexp.MustCompile(`(?i)supervise|hook|PreToolUse|PostToolUse|"Stop"|"deny"|"ask"`)

// hookLead is what does not count as the work of a hook.
var hookLead = regexp.MustCompile(`^\s*(#|$|\. |set |cd |export |fi\b|done\b|then\b|else\b|if |source )`)

func weakerHook(f *facts.ChangedFile) []facts.Finding {
	gone, left := work(f.RemovedLines()), work(f.After().Lines())
	yaml := strings.HasPrefix(path.Ext(f.Path), ".y")
	if l, ok := facts.FirstMatch(f.AddedLines(), endsHook); ok && !yaml {
		return []facts.Finding{{File: f.Path, Severity: metric.Critical, Line: l.Number, Evidence: facts.Evidence(l.Text)}}
	}
	if gone == 0 || f.OldPath != "" && left > 0 {
		return nil
	}
	finding := facts.Finding{File: f.Path, Evidence: facts.Evidence(f.RemovedLines()[0].Text + " is gone")}
	switch {
	case f.Deleted:
	case left == 0:
		finding.Severity = metric.Critical
	case !yaml && gone > 1 && len(f.AddedLines()) < gone/2+1:
		finding.Severity = metric.Medium
	default:
		return nil
	}
	return []facts.Finding{finding}
}

var endsHook = regexp.MustCompile(`^\s*exit\s+0\s*$|\|\|\s*true`)

// work counts the lines of a hook that do something.
func work(list []facts.Line) int {
	n := 0
	for _, l := range list {
		if !hookLead.MatchString(l.Text) {
			n++
		}
	}
	return n
}

// guides are instructions for agents.
var (
	guides  = regexp.MustCompile(`(?i)(^|/)(AGENTS?|CLAUDE|GEMINI|CODEX|QWEN|CONVENTIONS)(\.local)?\.md$|(^|/)\.(cursorrules|windsurfrules|clinerules|aider\.conf\.ya?ml)$|(^|/)\.github/(copilot-instructions\.md|instructions/.*)$|(^|/)\.(cursor|claude|windsurf)/(rules|agents|commands)/`)
	duty    = regexp.MustCompile(`(?i)\b(never|must( not)?|do not|don't|always|required?|forbidden|not allowed|mandatory)\b`)
	ofTests = regexp.MustCompile(`(?i)\b(tests?|assert\w*|coverage|lint\w*|checks?|hooks?|skip\w*|snapshots?|threshold|ci|verify|supervise\w*)\b`)
	licence = regexp.MustCompile(`(?i)\b(may|can|feel free to|is (fine|ok|okay|allowed|acceptable) to|should|it's (fine|ok|okay) to|you are allowed to|simply|just|ok to|okay to)\b.{0,40}\b(skip|delete|remove|disable|ignore|weaken|comment out|bypass|edit|change|modify|relax)\b.{0,40}\b(tests?|assertions?|checks?|hooks?|coverage|lint\w*|failing|thresholds?|snapshots?)\b|\b(use|with|pass|add)\b.{0,20}--no-verify|\b(tests?|checks?)\b.{0,40}\b(optional|not (be )?(required|needed|necessary)|do not matter|need not pass)\b|(^|\W)(ignore|skip|disable)\s+(all\s+|the\s+)?(failing\s+)?(tests|checks|hooks|lint)\b`)
	negated = regexp.MustCompile(`(?i)\b(never|not|don't|avoid|without|unless|no\s)\b`)
)

// guideWeakened finds instructions for agents that allow what they forbade.
func guideWeakened(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	if !guides.MatchString(f.Before().Path) || configtext.DataFolders.MatchString(f.Path) {
		return nil
	}
	if i := slices.IndexFunc(f.AddedLines(), func(l facts.Line) bool { return licence.MatchString(l.Text) && !negated.MatchString(l.Text) }); i >= 0 {
		l := f.AddedLines()[i]
		out = append(out, facts.Finding{File: f.Path, Line: l.Number, Evidence: facts.Evidence(l.Text)})
	}
	gone, came := duties(f.RemovedLines()), duties(f.AddedLines())
	if len(gone) <= len(came) || f.OldPath != "" {
		return out
	}
	finding := facts.Finding{File: f.Path, Evidence: facts.Evidence(gone[0].Text + " is gone")}
	if f.Deleted {
		finding.Severity = metric.Medium
	}
	return append(out, finding)
}

// duties returns the lines that say what must be done, or not, about tests.
func duties(list []facts.Line) []facts.Line {
	var out []facts.Line
	for _, l := range list {
		if duty.MatchString(l.Text) && ofTests.MatchString(l.Text) {
			out = append(out, l)
		}
	}
	return out
}

// bypasses are commands that circumvent the hooks, or hide changes from git.
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

func bypassed(f *facts.ChangedFile) []facts.Finding {
	var out []facts.Finding
	if !f.After().Exists() || f.After().ConfigKind() == configtext.None && !setUp.MatchString(f.Path) {
		return nil
	}
	for _, l := range f.AddedLines() {
		if strings.HasPrefix(strings.TrimSpace(l.Text), "#") || strings.HasPrefix(strings.TrimSpace(l.Text), "//") {
			continue
		}
		for _, b := range bypasses {
			if b.text.MatchString(l.Text) && !releases.MatchString(f.Path+l.Text) {
				out = append(out, facts.Finding{File: f.Path, Line: l.Number, Severity: b.severity, Evidence: facts.Evidence(l.Text)})
			}
		}
	}
	return out
}

// releases matches release jobs, which run without hooks.
var releases = regexp.MustCompile(`(?i)release|publish|deploy|version|bump|gh-pages|changelog|\.github/workflows`)

var hiding = regexp.MustCompile(`^\s*(\S*\.(go|py|js|ts|tsx|rs|java|kt|rb|php|cs|swift|exs?|cpp|cc|c|h)|\S*tests?/\S*|\*|\*\*)\s.*(-diff|\bbinary\b|linguist-generated(=true)?\s*$|-text\b)`)

// changeHidden finds attributes that hide files from the diff of a change.
func changeHidden(f *facts.ChangedFile) []facts.Finding {
	if path.Base(f.Path) != ".gitattributes" {
		return nil
	}
	if l, ok := facts.FirstMatch(f.AddedLines(), hiding); ok {
		return []facts.Finding{{File: f.Path, Line: l.Number, Evidence: facts.Evidence(l.Text)}}
	}
	return nil
}
