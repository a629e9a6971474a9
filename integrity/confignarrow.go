package integrity

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// testNames end what honest patterns of tests look like: a pattern, or a name that
// says no more than that it is a test.
const testNames = `(^|[/\\])\*?(_?[Tt]ests?|TestCase|IT|[Ss]pec)s?\*?(\.\w+)?$|(^|[/\\])(Abstract)?\*(Tests?|TestCase|IT|Spec)\*?(\.\w+)?$|(^|[/\\])\*\*?(\.\w+)?$|\(`

// narrowRows are further rows of settingTable about tests that are no longer run.
var narrowRows = []settingRow{
	{id: "TP-25", file: `\.gradle|\.kts$`, key: `setignorefailures(\[\])?`, value: `true`},
	{id: "TP-25", file: `tox|pyproject`, key: `commands(pre|post)?\[\]\[\]`, value: `^-$`},
	{id: "TP-26", file: `(?i)tests?[^/]*proj$`, key: `compile@remove`, but: harmlessPaths + `|^(bin|obj)\b|\.Designer\.|AssemblyInfo`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.includes\.include`, but: testNames, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(excludesfile|includesfile)`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.skipexec`, value: `true`},
	{id: "TP-26", file: `pom\.xml|gradle\.properties|\.mvn/`, key: `(^|\.)(surefire\.excludes(file)?|surefire\.includes|excludedgroups|testexclude)`, but: harmlessPaths, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `build\.testsourcedirectory`, but: `src/test/\w+$|(^|/)tests?$|\$\{`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `testexcludes\.testexclude`, but: harmlessPaths},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|\.)test(\[\])?\.include(\[\])?`, but: testNames, severity: metric.High},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|\.)test(\[\])?\.onlyif\..*`, severity: metric.High},
	{id: "TP-26", file: jsTools, key: `test\.include(\[\])*|(^|\.)testmatch(\[\])*`, value: `^[^*{(]+\.[a-z]+$`, severity: metric.High},
	{id: "TP-26", file: pyTools, key: `testpaths\[\]`, value: `\.py$|/`, but: `(^|/)tests?/?$|^src/?$|\*`, severity: metric.High},
	{id: "TP-26", file: `mix\.exs`, key: `(^|\.)(testloadfilters|testignorefilters)\[\]`, but: `^r$|fixtures?|support|^String|^\d+$`, severity: metric.High},
	{id: "TP-26", file: `mix\.exs`, key: `(^|\.)testpaths\[\]`, but: `^(test|apps|lib)$`, severity: metric.High},
	{id: "TP-26", file: `xctestplan`, key: `(^|\.)(skippedtests|selectedtests)\[\]`, severity: metric.High},
	{id: "TP-26", file: `CMake(User)?Presets`, key: `testpresets.*\.filter\.(exclude|include)\..*`, severity: metric.High},
	{id: "TP-26", file: `phpunit`, key: `directory@suffix`, but: `^(\.?[Tt]ests?|Spec|Cest)?\.(php|phpt)$`, severity: metric.High},
	{id: "TP-26", file: `runsettings`, key: `nunit\.where|(mstest|xunit)\..*filter`, severity: metric.High},
	{id: "TP-26", gone: true, all: true, file: `phpunit`, key: `testsuite\.directory`, folder: true, severity: metric.High},
	{id: "TP-26", gone: true, file: `Cargo\.toml`, key: `^workspace\.members\[\]`, folder: true, severity: metric.High},
	{id: "TP-26", gone: true, file: `testng`, key: `classes\.class@name|packages\.package@name`, folder: true, severity: metric.High},
}

// rakeGlobs are the keys under which a Rakefile lists its tests.
var rakeGlobs = regexp.MustCompile(`(^|\.)(pattern|testpattern|testfiles)(\[\])*$`)

// deeperGlobs finds the Rakefiles that take their tests from a folder within the
// one they took them from, and from that one no more.
func deeperGlobs(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		if base := path.Base(f.Path); base != "Rakefile" && !strings.HasSuffix(base, ".rake") {
			continue
		}
		if was, is := f.wentDeeper(); is != nil {
			out = append(out, Finding{File: f.Path, Line: is.line, Evidence: evidence(was.value + " → " + is.value)})
		}
	}
	return out
}

// wentDeeper returns the first list of tests that begins further down than one
// that is gone, and that one; nil for none.
func (f *configFile) wentDeeper() (was, is *setting) {
	for i := range f.gone {
		was := &f.gone[i]
		if !rakeGlobs.MatchString(was.key) || f.takesFrom(fixedFolder(was.value)) {
			continue
		}
		for j := range f.came {
			if is := &f.came[j]; rakeGlobs.MatchString(is.key) && strings.HasPrefix(fixedFolder(is.value), fixedFolder(was.value)+"/") {
				return was, is
			}
		}
	}
	return nil, nil
}

// takesFrom reports whether a list of tests still begins in a folder.
func (f *configFile) takesFrom(folder string) bool {
	return slices.ContainsFunc(f.is.settings, func(s setting) bool {
		return rakeGlobs.MatchString(s.key) && fixedFolder(s.value) == folder
	})
}

// fixedFolder is the folder of a pattern up to its first wildcard.
func fixedFolder(pattern string) string {
	if at := strings.IndexAny(pattern, "*?[{"); at >= 0 {
		pattern = pattern[:at] + "x"
	}
	return path.Dir(strings.TrimPrefix(pattern, "./"))
}

// needRules are the rows about what a target consists of.
var needRules = []rule{
	{"TP-24", "test_need_removed", metric.High, needsGone},
	{"TP-24", "test_command_empty", metric.High, bornQuiet},
	{"TP-25", "checks_not_triggered", metric.High, untriggered},
}

// aboutTests is a target that tests; aims are those that people and CI call.
var (
	aboutTests = regexp.MustCompile(`(?i)^(unit|integration|run|go|py|js|e2e)?[-_]?(tests?|spec|check|rspec|cucumber)([-_]\w+)?$`)
	aims       = regexp.MustCompile(`^(all|ci|check|test|tests|default|verify|build|validate|precommit|tests_?)(\.needs)?$|^(check|x)?(tests|checkprograms)$`)
)

// needsGone finds the targets that people call and that no longer need a test
// target which is still there, and lists of tests that are shorter.
func needsGone(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		for _, was := range f.was.settings {
			is := valueAt(f.is.settings, was.key)
			if !aims.MatchString(was.key) || is == nil || len(strings.Fields(is.value)) >= len(strings.Fields(was.value)) {
				continue
			}
			for _, need := range strings.Fields(was.value) {
				if !slices.Contains(strings.Fields(is.value), need) && c.matters(f, was.key, need) {
					out = append(out, Finding{File: f.Path, Line: is.line, Evidence: evidence(was.key + " no longer needs " + need)})
				}
			}
		}
	}
	return out
}

// matters reports whether what a target, or the list of tests of automake, has no
// longer is a test that is still there.
func (c *change) matters(f *configFile, key, need string) bool {
	switch {
	case strings.HasSuffix(key, ".needs"):
		return aboutTests.MatchString(need) && !f.emptyTarget(need)
	case strings.HasSuffix(key, "tests") && strings.HasSuffix(f.Path, ".am"):
		return !c.deletedLike(need)
	}
	return false
}

// emptyTarget reports whether a target of a Makefile is not there any more, so that
// its commands are judged by themselves.
func (f *configFile) emptyTarget(name string) bool {
	return strings.Contains(strings.ToLower(f.Path), "makefile") && len(f.commandsAt(plainKey(name))) == 0
}

func valueAt(list []setting, key string) *setting {
	for i := range list {
		if list[i].key == key {
			return &list[i]
		}
	}
	return nil
}

// testScript is the key of a script or target that tests.
var testScript = regexp.MustCompile(`(^|\.)(scripts|tasks)\.tests?(\[\])?$`)

// bornQuiet finds new test scripts that succeed without doing anything.
func bornQuiet(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		for _, x := range f.is.commands {
			words := strings.Fields(x.text)
			idle := len(words) > 0 && (words[0] == "true" || words[0] == ":" || words[0] == "exit" && len(words) == 2 && words[1] == "0")
			if idle && testScript.MatchString(x.key) && len(f.commandsAt(x.key)) == 1 &&
				!slices.ContainsFunc(f.was.commands, func(y command) bool { return y.key == x.key }) {
				out = append(out, Finding{File: f.Path, Line: x.line, Evidence: evidence(x.key + ": " + x.text)})
			}
		}
	}
	return out
}

// triggers are the events at which the checks of a workflow should run.
var triggers = regexp.MustCompile(`^(push|pullrequest|pullrequesttarget|mergegroup)$`)

// untriggered finds the workflows of GitHub that ran tests for changes, and run
// them for none any more.
func untriggered(c *change) []Finding {
	var out []Finding
	for _, f := range c.configs() {
		if strings.Contains(f.Path, ".github/workflows/") && f.after().there() && countTests(f.callsIs) > 0 && triggered(f.was.settings) && len(f.is.settings) > 0 && !triggered(f.is.settings) {
			out = append(out, Finding{File: f.Path, Line: 1, Evidence: "the workflow runs for no push and no pull request any more"})
		}
	}
	return out
}

func triggered(list []setting) bool {
	return slices.ContainsFunc(list, func(s setting) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.key, "on."), ".")
		switch {
		case s.key == "on", s.key == "on[]":
			return triggers.MatchString(plainKey(s.value))
		case strings.HasPrefix(s.key, "on."):
			return triggers.MatchString(strings.TrimSuffix(name, "[]"))
		}
		return s.key == "true" || strings.HasPrefix(s.key, "true.") // "on" is true in YAML
	})
}
