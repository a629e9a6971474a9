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

// testNames matches usual patterns of tests: a wildcard, or a name that says only that
// it is a test.
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

// deeperGlobs finds the Rakefiles that take their tests only from a folder within the
// one they took them from.
func deeperGlobs(f *facts.ConfigFile) []facts.Finding {
	if base := path.Base(f.Path); base != "Rakefile" && !strings.HasSuffix(base, ".rake") {
		return nil
	}
	if was, is := wentDeeper(f); is != nil {
		return []facts.Finding{{File: f.Path, Line: is.Line, Severity: metric.High, Evidence: facts.Evidence(was.Value + " → " + is.Value)}}
	}
	return nil
}

// wentDeeper returns the first list of tests that begins further down than one
// that is gone, and that one; nil for none.
func wentDeeper(f *facts.ConfigFile) (was, is *configtext.Setting) {
	for i := range f.Gone {
		was := &f.Gone[i]
		if !rakeGlobs.MatchString(was.Key) || takesFrom(f, fixedFolder(was.Value)) {
			continue
		}
		for j := range f.Came {
			if is := &f.Came[j]; rakeGlobs.MatchString(is.Key) && strings.HasPrefix(fixedFolder(is.Value), fixedFolder(was.Value)+"/") {
				return was, is
			}
		}
	}
	return nil, nil
}

// takesFrom reports whether a list of tests still begins in a folder.
func takesFrom(f *facts.ConfigFile, folder string) bool {
	return slices.ContainsFunc(f.Is.Settings, func(s configtext.Setting) bool {
		return rakeGlobs.MatchString(s.Key) && fixedFolder(s.Value) == folder
	})
}

// fixedFolder is the folder of a pattern up to its first wildcard.
func fixedFolder(pattern string) string {
	if at := strings.IndexAny(pattern, "*?[{"); at >= 0 {
		pattern = pattern[:at] + "x"
	}
	return path.Dir(strings.TrimPrefix(pattern, "./"))
}

// aboutTests is a target that tests; aims are those that people and CI call.
var (
	aboutTests = regexp.MustCompile(`(?i)^(unit|integration|run|go|py|js|e2e)?[-_]?(tests?|spec|check|` + framework.TargetNames + `)([-_]\w+)?$`)
	aims       = regexp.MustCompile(`^(all|ci|check|test|tests|default|verify|build|validate|precommit|tests_?)(\.needs)?$|^(check|x)?(tests|checkprograms)$`)
)

// needsGone finds the targets that people call and that no longer need a test
// target which is still there, and lists of tests that are shorter.
func needsGone(c *facts.Set) []facts.Finding {
	var out []facts.Finding
	for _, f := range facts.ConfigFiles.Of(c) {
		for _, was := range f.Was.Settings {
			is := valueAt(f.Is.Settings, was.Key)
			if !aims.MatchString(was.Key) || is == nil || len(strings.Fields(is.Value)) >= len(strings.Fields(was.Value)) {
				continue
			}
			for _, need := range strings.Fields(was.Value) {
				if !slices.Contains(strings.Fields(is.Value), need) && matters(c, f, was.Key, need) {
					out = append(out, facts.Finding{File: f.Path, Line: is.Line, Evidence: facts.Evidence(was.Key + " no longer needs " + need)})
				}
			}
		}
	}
	return out
}

// matters reports whether what was removed from a target, or from the list of tests of
// automake, is a test that still exists.
func matters(c *facts.Set, f *facts.ConfigFile, key, need string) bool {
	switch {
	case strings.HasSuffix(key, ".needs"):
		return aboutTests.MatchString(need) && !emptyTarget(f, need)
	case strings.HasSuffix(key, "tests") && strings.HasSuffix(f.Path, ".am"):
		return !deletedLike(c, need)
	}
	return false
}

// emptyTarget reports whether a target of a Makefile is gone: its commands are judged by
// themselves.
func emptyTarget(f *facts.ConfigFile, name string) bool {
	return strings.Contains(strings.ToLower(f.Path), "makefile") && len(commandsAt(f, configtext.PlainKey(name))) == 0
}

func valueAt(list []configtext.Setting, key string) *configtext.Setting {
	for i := range list {
		if list[i].Key == key {
			return &list[i]
		}
	}
	return nil
}

// testScript is the key of a script or target that tests.
var testScript = regexp.MustCompile(`(^|\.)(scripts|tasks)\.tests?(\[\])?$`)

// bornQuiet finds new test scripts that succeed without doing anything.
func bornQuiet(f *facts.ConfigFile) []facts.Finding {
	var out []facts.Finding
	for _, x := range f.Is.Commands {
		words := strings.Fields(x.Text)
		idle := len(words) > 0 && (words[0] == "true" || words[0] == ":" || words[0] == "exit" && len(words) == 2 && words[1] == "0")
		if idle && testScript.MatchString(x.Key) && len(commandsAt(f, x.Key)) == 1 &&
			!slices.ContainsFunc(f.Was.Commands, func(y configtext.Command) bool { return y.Key == x.Key }) {
			out = append(out, facts.Finding{File: f.Path, Line: x.Line, Evidence: facts.Evidence(x.Key + ": " + x.Text)})
		}
	}
	return out
}

// triggers are the events at which the checks of a workflow should run.
var triggers = regexp.MustCompile(`^(push|pullrequest|pullrequesttarget|mergegroup)$`)

// untriggered finds the workflows of GitHub with tests that no longer run for changes.
func untriggered(f *facts.ConfigFile) []facts.Finding {
	if strings.Contains(f.Path, ".github/workflows/") && f.After().Exists() && countTests(f.CallsIs) > 0 && triggered(f.Was.Settings) && len(f.Is.Settings) > 0 && !triggered(f.Is.Settings) {
		return []facts.Finding{{File: f.Path, Line: 1, Evidence: "the workflow runs for no push and no pull request any more"}}
	}
	return nil
}

func triggered(list []configtext.Setting) bool {
	return slices.ContainsFunc(list, func(s configtext.Setting) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(s.Key, "on."), ".")
		switch {
		case s.Key == "on", s.Key == "on[]":
			return triggers.MatchString(configtext.PlainKey(s.Value))
		case strings.HasPrefix(s.Key, "on."):
			return triggers.MatchString(strings.TrimSuffix(name, "[]"))
		}
		return s.Key == "true" || strings.HasPrefix(s.Key, "true.") // "on" is true in YAML
	})
}
