package configuration

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// testNamesExpr matches usual patterns of tests: a wildcard, or a name that says only that it is a
// test, such as "**/*Test.java".
const testNamesExpr = `(^|[/\\])\*?(_?[Tt]ests?|TestCase|IT|[Ss]pec)s?\*?(\.\w+)?$|(^|[/\\])(Abstract)?\*(Tests?|TestCase|IT|Spec)\*?(\.\w+)?$|(^|[/\\])\*\*?(\.\w+)?$|\(`

// narrowingRows are further rows of settingTable about tests that are no longer run.
var narrowingRows = []settingRow{
	{id: "TP-25", file: `\.gradle|\.kts$`, key: `setignorefailures(\[\])?`, value: `true`},
	{id: "TP-25", file: `tox|pyproject`, key: `commands(pre|post)?\[\]\[\]`, value: `^-$`},
	{id: "TP-26", file: `(?i)tests?[^/]*proj$`, key: `compile@remove`, except: harmlessPaths + `|^(bin|obj)\b|\.Designer\.|AssemblyInfo`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.includes\.include`, except: testNamesExpr, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(excludesfile|includesfile)`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.skipexec`, value: `true`},
	{id: "TP-26", file: `pom\.xml|gradle\.properties|\.mvn/`, key: `(^|\.)(surefire\.excludes(file)?|surefire\.includes|excludedgroups|testexclude)`, except: harmlessPaths, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `build\.testsourcedirectory`, except: `src/test/\w+$|(^|/)tests?$|\$\{`, severity: metric.High},
	{id: "TP-26", file: `pom\.xml`, key: `testexcludes\.testexclude`, except: harmlessPaths},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|\.)test(\[\])?\.include(\[\])?`, except: testNamesExpr, severity: metric.High},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|\.)test(\[\])?\.onlyif\..*`, severity: metric.High},
	{id: "TP-26", file: jsTools, key: `test\.include(\[\])*|(^|\.)testmatch(\[\])*`, value: `^[^*{(]+\.[a-z]+$`, severity: metric.High},
	{id: "TP-26", file: pyTools, key: `testpaths\[\]`, value: `\.py$|/`, except: `(^|/)tests?/?$|^src/?$|\*`, severity: metric.High},
	{id: "TP-26", file: `mix\.exs`, key: `(^|\.)(testloadfilters|testignorefilters)\[\]`, except: `^r$|fixtures?|support|^String|^\d+$`, severity: metric.High},
	{id: "TP-26", file: `mix\.exs`, key: `(^|\.)testpaths\[\]`, except: `^(test|apps|lib)$`, severity: metric.High},
	{id: "TP-26", file: `xctestplan`, key: `(^|\.)(skippedtests|selectedtests)\[\]`, severity: metric.High},
	{id: "TP-26", file: `CMake(User)?Presets`, key: `testpresets.*\.filter\.(exclude|include)\..*`, severity: metric.High},
	{id: "TP-26", file: `phpunit`, key: `directory@suffix`, except: `^(\.?[Tt]ests?|Spec|Cest)?\.(php|phpt)$`, severity: metric.High},
	{id: "TP-26", file: `runsettings`, key: `nunit\.where|(mstest|xunit)\..*filter`, severity: metric.High},
	{id: "TP-26", removed: true, evenIfEmpty: true, file: `phpunit`, key: `testsuite\.directory`, unlessDeleted: true, severity: metric.High},
	{id: "TP-26", removed: true, file: `Cargo\.toml`, key: `^workspace\.members\[\]`, unlessDeleted: true, severity: metric.High},
	{id: "TP-26", removed: true, file: `testng`, key: `classes\.class@name|packages\.package@name`, unlessDeleted: true, severity: metric.High},
}

// rakeGlobKeyRE matches the keys under which a Rakefile lists its tests.
var rakeGlobKeyRE = regexp.MustCompile(`(^|\.)(pattern|testpattern|testfiles)(\[\])*$`)

// findDeeperGlobs finds Rakefiles that now take their tests only from a folder within the one that
// they took them from.
func findDeeperGlobs(f *facts.ConfigFile, report facts.Report) {
	if base := path.Base(f.Path); base != "Rakefile" && !strings.HasSuffix(base, ".rake") {
		return
	}
	if before, after := deeperList(f); after != nil {
		report(f.NewFinding(after.Line, before.Value+" → "+after.Value).WithSeverity(metric.High))
	}
}

// deeperList returns a list of tests that is gone, and the first one in its place that begins in a
// folder further down. Both are nil if there is none.
func deeperList(f *facts.ConfigFile) (before, after *configtext.Setting) {
	for i := range f.RemovedSettings {
		before := &f.RemovedSettings[i]
		if !rakeGlobKeyRE.MatchString(before.Key) || hasListIn(f, fixedFolder(before.Value)) {
			continue
		}
		for j := range f.AddedSettings {
			if after := &f.AddedSettings[j]; rakeGlobKeyRE.MatchString(after.Key) && strings.HasPrefix(fixedFolder(after.Value), fixedFolder(before.Value)+"/") {
				return before, after
			}
		}
	}
	return nil, nil
}

// hasListIn reports whether a list of tests still begins in a folder.
func hasListIn(f *facts.ConfigFile, folder string) bool {
	return slices.ContainsFunc(f.NewConfig.Settings, func(s configtext.Setting) bool {
		return rakeGlobKeyRE.MatchString(s.Key) && fixedFolder(s.Value) == folder
	})
}

// fixedFolder returns the folder of a pattern up to its first wildcard: "test/unit" for
// test/unit/*_test.rb.
func fixedFolder(pattern string) string {
	if at := strings.IndexAny(pattern, "*?[{"); at >= 0 {
		pattern = pattern[:at] + "x"
	}
	return path.Dir(strings.TrimPrefix(pattern, "./"))
}

// testTargetRE matches the name of a target that tests, such as unit-tests. mainTargetRE matches the
// keys of targets that people and CI call, such as all.needs.
var (
	testTargetRE = regexp.MustCompile(`(?i)^(unit|integration|run|go|py|js|e2e)?[-_]?(tests?|spec|check|` + framework.TargetNames + `)([-_]\w+)?$`)
	mainTargetRE = regexp.MustCompile(`^(all|ci|check|test|tests|default|verify|build|validate|precommit|tests_?)(\.needs)?$|^(check|x)?(tests|checkprograms)$`)
)

// findRemovedNeeds finds targets that people call and that no longer need a test target which still
// exists. It also finds lists of tests of automake that lost a test.
func findRemovedNeeds(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
	for _, before := range f.OldConfig.Settings {
		after := findSetting(f.NewConfig.Settings, before.Key)
		if !mainTargetRE.MatchString(before.Key) || after == nil || len(strings.Fields(after.Value)) >= len(strings.Fields(before.Value)) {
			continue
		}
		for _, need := range strings.Fields(before.Value) {
			if !slices.Contains(strings.Fields(after.Value), need) && isExistingTest(c, f, before.Key, need) {
				report(f.NewFinding(after.Line, before.Key+" no longer needs "+need))
			}
		}
	}
}

// isExistingTest reports whether what was removed from a target, or from the list of tests of
// automake, is a test that still exists.
func isExistingTest(c *facts.Change, f *facts.ConfigFile, key, need string) bool {
	switch {
	case strings.HasSuffix(key, ".needs"):
		return testTargetRE.MatchString(need) && !isTargetRemoved(f, need)
	case strings.HasSuffix(key, "tests") && strings.HasSuffix(f.Path, ".am"):
		return !isFileDeleted(c, need)
	}
	return false
}

// isTargetRemoved reports whether a target of a Makefile is gone. Its commands are judged by
// themselves.
func isTargetRemoved(f *facts.ConfigFile, name string) bool {
	return strings.Contains(strings.ToLower(f.Path), "makefile") && len(commandsAt(f, configtext.NormalizeKey(name))) == 0
}

// findSetting returns the first setting with a key, nil if there is none.
func findSetting(list []configtext.Setting, key string) *configtext.Setting {
	for i := range list {
		if list[i].Key == key {
			return &list[i]
		}
	}
	return nil
}

// testScriptRE matches the key of a script that tests: scripts.test.
var testScriptRE = regexp.MustCompile(`(^|\.)(scripts|tasks)\.tests?(\[\])?$`)

// findNoOpTestScripts finds new test scripts that succeed without doing anything.
func findNoOpTestScripts(f *facts.ConfigFile, report facts.Report) {
	for _, x := range f.NewConfig.Commands {
		words := strings.Fields(x.Text)
		idle := len(words) > 0 && (words[0] == "true" || words[0] == ":" || words[0] == "exit" && len(words) == 2 && words[1] == "0")
		if idle && testScriptRE.MatchString(x.Key) && len(commandsAt(f, x.Key)) == 1 &&
			!slices.ContainsFunc(f.OldConfig.Commands, func(y configtext.Command) bool { return y.Key == x.Key }) {
			report(f.NewFinding(x.Line, x.Key+": "+x.Text))
		}
	}
}

// triggerRE matches the events for which the checks of a workflow should run, such as pullrequest.
var triggerRE = regexp.MustCompile(`^(push|pullrequest|pullrequesttarget|mergegroup)$`)

// findUntriggeredWorkflow finds the workflows of GitHub with tests that no longer run for changes.
func findUntriggeredWorkflow(f *facts.ConfigFile, report facts.Report) {
	isTestWorkflow := strings.Contains(f.Path, ".github/workflows/") && f.After().Exists() && countTestCalls(f.NewCalls) > 0
	losesTriggers := runsForChanges(f.OldConfig.Settings) && len(f.NewConfig.Settings) > 0 && !runsForChanges(f.NewConfig.Settings)
	if isTestWorkflow && losesTriggers {
		report(facts.Finding{File: f.Path, Line: 1, Evidence: "the workflow runs for no push and no pull request any more"})
	}
}

// runsForChanges reports whether a workflow runs for pushes or pull requests.
func runsForChanges(list []configtext.Setting) bool {
	return slices.ContainsFunc(list, func(s configtext.Setting) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.Key, "on."), ".")
		switch {
		case s.Key == "on", s.Key == "on[]":
			return triggerRE.MatchString(configtext.NormalizeKey(s.Value))
		case strings.HasPrefix(s.Key, "on."):
			return triggerRE.MatchString(strings.TrimSuffix(name, "[]"))
		}
		return s.Key == "true" || strings.HasPrefix(s.Key, "true.") // "on" is true in YAML
	})
}
