package configuration

import (
	"cmp"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
)

// settingRow is a setting that is a finding when it is added or removed. The strings are regular
// expressions; "" matches everything, except in the field except.
type settingRow struct {
	id   string // the ID of the rule
	file string // matches the part of the path that identifies the tool, see [configtext.ToolName]
	key  string // matches the end of the key, which is written as in [configtext.Setting]
	// value must match the value, and except must not.
	value, except string
	// removed says that the removal of the setting is the finding. It counts only while the list
	// that contained the value still has elements.
	removed       bool
	evenIfEmpty   bool // with removed: also if the list has no elements any more
	unlessDeleted bool // with removed: not if a file was deleted whose path has the value
	severity      metric.Severity

	// The compiled expressions; exceptRE is nil if except is "".
	fileRE, keyRE, valueRE, exceptRE *regexp.Regexp
}

// settingTable has the rows of [settingRule] by their IDs: TP-08 focuses tests, TP-21 replaces
// parts of the runner, TP-25 ignores failures, TP-26 narrows the search for tests, TP-27 excludes
// code from coverage, TP-31 sets variables that load code, and TP-32 replaces dependencies. The
// first row after narrowingRows, for example, finds the new setting jest.testnamepattern in
// package.json.
var settingTable = compileRows(slices.Concat(narrowingRows, []settingRow{
	{id: "TP-08", file: jsTools, key: `(^|\.)(testnamepattern|grep|fgrep|onlychanged|onlyfailures)|(^|\.)ava\.match\[\]`},
	{id: "TP-08", file: `runsettings$|nextest`, key: `testcasefilter|defaultfilter`},
	{id: "TP-08", file: `pom\.xml|gradle`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(test|groups)|filter\.includetestsmatching(\[\])?|usejunitplatform\.includetags(\[\])?`, severity: metric.High},
	{id: "TP-08", file: `pom\.xml|gradle\.properties|\.props$`, key: `^(properties\.)?(test|it\.test|groups|tests)|vstesttestcasefilter`, severity: metric.High},
	{id: "TP-08", file: `phpunit`, key: `groups\.include\.group`, severity: metric.High},

	{id: "TP-21", key: `testfailureignore|(^|\.)maven\.test\.failure\.ignore`, value: `^true$`, severity: metric.Critical},
	{id: "TP-21", file: jsTools, key: `testrunner|(^|\.)runner|reporters?(\[\])*|testsequencer|(^|\.)(jest|test)\.environment|testenvironment`, value: `^(<rootDir>|\.{0,2}/)`, severity: metric.High},
	{id: "TP-21", file: jsTools, key: `setupfiles(afterenv)?(\[\])?|globalsetup(\[\])?|globalteardown|testenvironment|(mocha|mocharc|^)\.?require(\[\])?|snapshotserializers\[\]`, value: `^(<rootDir>|\.{0,2}/)`, severity: metric.Medium},
	{id: "TP-21", file: jsTools, key: `(^|\.)transform\..*`, value: `^(<rootDir>|\.{1,2}/).*\.[mc]?[jt]s$`, except: `(?i)css|file|style|svg|asset|image|graphql|text|md|ya?ml|raw|html|sql`, severity: metric.High},
	{id: "TP-21", file: `phpunit`, key: `@bootstrap`, severity: metric.High},
	{id: "TP-21", file: `phpunit`, key: `extensions\.(extension|bootstrap)@class|listeners\.listener@class`, severity: metric.Medium},
	{id: "TP-21", file: `runsettings|xunit\.runner`, key: `testadapterspaths|datacollector@assemblyqualifiedname`, severity: metric.Medium},

	{id: "TP-25", key: `ignorefailures?|ignoreexitvalue|(^|\.)passwithnotests|@continueonerror|\w*nofail|continueontestfailure`, value: configtext.AlwaysTrueRE.String(), except: ``},
	{id: "TP-25", key: `(^|\.|@)(failonerror|failonviolation|failsonerror|failbuildonerror|failonerrors|failthebuild|failifnotests|haltonfailure)|(pylint|flake8|checkstyle|spotbugs|pmd|detekt|test)[^.]*\.failonwarnings?`, value: `(?i)^(false|no|0)$`},
	{id: "TP-25", file: `codecov`, key: `informational`, value: `true`, severity: metric.High},
	{id: "TP-25", key: `(^|\.)xfailstrict`, value: `(?i)^false$`, severity: metric.Medium},
	{id: "TP-25", file: `phpunit`, key: `@(failonrisky|failonwarning|failonincomplete|failonskipped|bestrictabouttests\w*)`, value: `false`, severity: metric.Medium},

	{id: "TP-26", file: jsTools, key: `(^|\.)testpathignorepatterns(\[\])*|(^|\.)modulepathignorepatterns(\[\])*|test\.exclude(\[\])*|testignore(\[\])*|excludespecpattern(\[\])*|((mocha|mocharc|^)\.?|^module\.exports\.|^default\.)(ignore|exclude)(\[\])?|^exclude\[\]|(^|\.)grepinvert|config\.set(\[\])?\.exclude(\[\])*`, except: harmlessPaths + `|` + toolConfigExpr},
	{id: "TP-26", file: `ava|package\.json|playwright|karma`, key: `(ava|default)\.files(\[\])*`, value: `^!`, except: harmlessPaths},
	{id: "TP-26", key: `collectignore(glob)?(\[\])*`, file: `conftest\.py|\.py$`, except: harmlessPaths},
	{id: "TP-26", file: pyTools, key: `norecursedirs\[\]`, except: harmlessPaths},
	{id: "TP-26", file: `pom\.xml|build\.xml|\.gradle|\.kts$`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(excludes\.exclude|excludedgroups)|(^|\.)test(\.|\[|.*\.)?exclude(\[\])*|excludetestsmatching(\[\])?|excludetags(\[\])*|(tasks\.)?(test|withtype)(\[\])?\.exclude(\[\])*`, except: harmlessPaths},
	{id: "TP-26", file: `pom\.xml|\.gradle|\.kts$|properties`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(skip|skiptests)|(^|\.)(skiptests|maven\.test\.skip|skipits)`, value: `true`},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|[.\]])test(\[\])?\.(enabled|isenabled|onlyif(\[\])?)`, value: `false`},
	{id: "TP-26", file: `phpunit`, key: `testsuites?(\.testsuite)?\.exclude|groups\.exclude\.group`, except: harmlessPaths},
	{id: "TP-26", file: `proj$|\.props$`, key: `compile@remove`, value: `(?i)test|spec|fact`, severity: metric.Critical},
	{id: "TP-26", file: `proj$|\.props$`, key: `istestproject|isunittestproject`, value: `(?i)^false$`},
	{id: "TP-26", file: `Cargo\.toml`, key: `^(lib|test|bin)\.test|^lib\.doctest|(^|\.)autotests|^test\.harness|^lib\.harness`, value: `false`},
	{id: "TP-26", file: `Cargo\.toml`, key: `workspace\.exclude\[\]`, except: harmlessPaths + `|example|bench|fuzz`, severity: metric.High},
	{id: "TP-26", file: framework.RuntimeConfigStem + `|biome`, key: `test\.exclude\[\]|test\.pathignorepatterns\[\]`, except: harmlessPaths},
	{id: "TP-26", file: `CMakeLists|\.cmake`, key: `buildtesting|disabled`, value: `(?i)^(off|true|on)$`, severity: metric.High},
	{id: "TP-26", file: `test_helper\.exs|mix\.exs`, key: `(^|\.)exclude(\[\])*`, severity: metric.High},
	{id: "TP-26", file: `Package\.swift`, key: `exclude\[\]`, value: `(?i)test|spec`},
	{id: "TP-26", file: `Rakefile|\.rake`, key: `(^|\.)pattern(\[\])*`, except: `(^|/)\W*(test|spec|Test|\*|\w*tests?\W)[^/]*$|\\\.`, severity: metric.High},
	{id: "TP-26", file: `Rakefile|\.rake|mix\.exs|` + jsTools + `|` + pyTools, key: `(^|\.)(t\.)?(testpattern|testmatch|testregex|pythonfiles|pythonfunctions|pythonclasses|testfiles)(\[\])*`, except: `(^|/)\W*(test|spec|Test|\*|\w*tests?\W)[^/]*$|\\\.`, severity: metric.High},
	{id: "TP-26", removed: true, file: `Rakefile|\.rake|mix\.exs`, key: `(^|\.)(pattern|testpattern|testfiles|testpaths)(\[\])*`, severity: metric.High},
	{id: "TP-26", removed: true, file: pyTools, key: `testpaths\[\]|pythonfiles\[\]|pythonclasses\[\]|pythonfunctions\[\]`, severity: metric.Critical},
	{id: "TP-26", removed: true, file: jsTools, key: `(^|\.)(testmatch|testregex|roots|projects|spec|specpattern)(\[\])*|test\.include(\[\])*|(ava|default|module\.exports)\.(files|spec)(\[\])*|(^|\.)specfiles(\[\])*|(^|\.)testdir|(^|\.)testmatch`, severity: metric.High},
	{id: "TP-26", removed: true, file: `phpunit`, key: `testsuite\.(directory|file)`, severity: metric.High},
	{id: "TP-26", removed: true, file: `pom\.xml`, key: `^modules\.module`, unlessDeleted: true, severity: metric.High},
	{id: "TP-26", removed: true, file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.includes\.include`, severity: metric.High},

	{id: "TP-27", file: `coveragerc|pyproject|setup\.cfg|tox\.ini|\.toml`, key: `(^|coverage\.)((coverage\.)?(run|report)\.)?(omit|excludelines|excludealso|partialbranches)\[\]`, except: harmlessCode},
	{id: "TP-27", file: jsTools + `|nycrc|c8rc`, key: `coveragepathignorepatterns(\[\])*|coverage\.exclude(\[\])*|(nyc|c8)\.exclude(\[\])*|^exclude\[\]`, except: harmlessCode},
	{id: "TP-27", file: jsTools, key: `collectcoveragefrom\[\]|coverage\.include\[\]`, value: `^!`, except: harmlessCode},
	{id: "TP-27", file: `codecov`, key: `(^|\.)ignore(\[\])*`, except: harmlessCode},
	{id: "TP-27", file: `pom\.xml|\.gradle|\.kts$|sonar|properties|proj$|runsettings|\.props$|sbt`, key: `jacoco[^.]*\]\.configuration\.excludes\.exclude|jacoco.*exclude(s|classes)?(\[\])*|sonar\.coverage\.exclusions|excludebyfile|excludebyattribute|coverageexcluded(packages|files)|excludedclasses.*|modulepath\.exclude|(coverlet|kover).*exclude.*`, except: harmlessCode},
	{id: "TP-27", file: `phpunit`, key: `(source|coverage|whitelist|filter\.whitelist)\.exclude\.(directory|file)`, except: harmlessCode},
	{id: "TP-27", file: `tarpaulin|Cargo|llvm-cov`, key: `excludefiles\[\]|exclude\[\]|ignorefilenameregex`, except: harmlessCode + `|workspace`},
	{id: "TP-27", file: `simplecov|helper\.rb|coveralls`, key: `addfilter(\[\])?|skipfiles(\[\])?|simplecov\.addfilter\[\]`, except: harmlessCode},
	{id: "TP-27", key: `(^|\.)(checkcoverage|collectcoverage|coverage\.enabled)|(^|\.)(run|coverage\.run)\.branch`, value: `(?i)^false$`, severity: metric.High},
	{id: "TP-27", file: `nycrc|c8rc|package\.json`, key: `^((nyc|c8)\.)?all`, value: `(?i)^false$`, severity: metric.High},
	{id: "TP-27", removed: true, file: `coveragerc|pyproject|setup\.cfg|tox\.ini`, key: `coverage.*source(pkgs)?\[\]|^run\.source\[\]`},
	{id: "TP-27", removed: true, file: jsTools, key: `collectcoveragefrom\[\]|coverage\.include\[\]`, except: `^!`},

	{id: "TP-31", key: variableExpr(`pytestaddopts`), value: `(^|\s)(-k|-m|-p|--ignore|--deselect|--co\b|--collect-only|-c\b|--lf|--rootdir|--confcutdir|--exitfirst|--maxfail|--noconftest)|--override-ini|-o\s`},
	{id: "TP-31", key: variableExpr(`pytestaddopts|pytestplugins`), except: `(^|\s)(-k|-m|-p|--ignore|--deselect|--co\b|--collect-only|-c\b|--lf)|^--(color|durations|tb|verbos|junit|cov|no-header|strict|timeout)|^-[vqrsx]+\b|^-n`, severity: metric.Medium},
	{id: "TP-31", key: variableExpr(`nodeoptions`), value: `(^|\s)(-r\b|--require|--import|--loader|--experimental-loader)`, except: `(ts-node|tsx|dotenv|source-map-support|esm|@swc|@babel|loader-utils|tsconfig-paths)`},
	{id: "TP-31", key: variableExpr(`goflags`), value: `-(run|skip|exec|toolexec|overlay|short|list|vet=off)\b`},
	{id: "TP-31", key: variableExpr(`rubyopt`), value: `-r`, except: `-r\s*(bundler|warning|logger)`},
	{id: "TP-31", key: variableExpr(`javatooloptions|jdkjavaoptions|mavenopts|mavenargs|gradleopts`), value: `-javaagent|skipTests|maven\.test|failure\.ignore|-fn\b|--fail-never|-Xbootclasspath`},
	{id: "TP-31", key: variableExpr(`ldpreload|dyldinsertlibraries|bashenv|pythonstartup|perl5opt`), except: `(?i)jemalloc|tcmalloc|asan|libsegfault|tsan|mimalloc`},
	{id: "TP-31", file: `npmrc|yarnrc|package\.json`, key: `(^|\.)(npmconfig)?scriptshell`, except: `bash(\.exe)?$|^/bin/sh$`},
	{id: "TP-31", file: `npmrc|yarnrc|env|\.ini$`, key: `(^|\.)(nodeoptions|npmconfignodeoptions)`, value: `--require|--import|-r\s`},
	{id: "TP-31", file: `\.cargo/config`, key: `target\.(?:[^.]|\.[^r])*\.?runner(\[\])*|build\.rustc(wrapper|workspacewrapper)`, except: `(?i)wasm|qemu|sccache|cross|probe-rs|wine|espflash|simctl|elf2uf2|sudo`},
	{id: "TP-31", file: `\.ini$`, key: `autoprependfile|autoappendfile`, severity: metric.High},
	{id: "TP-31", file: pyTools, key: `(^|\.)pythonpath\[\]`, value: `(?i)shim|stub|fake|mock|\.hidden|^/`, severity: metric.High},
	{id: "TP-31", key: variableExpr(`path`), value: `(?i)^["']?(\$\(?\{?(pwd|workspace|curdir|github_workspace)\)?\}?|\.{1,2}|\$\{\{\s*github\.workspace\s*\}\})/?(bin|shims?|tools?|fake|\.bin|scripts)?[:"]`, severity: metric.High},

	{id: "TP-32", file: jsTools, key: `modulenamemapper\..*`, value: `(?i)(mock|stub|fake|shim|dummy)`, except: `(?i)(file|style|css|image|asset|svg|font|media|empty)[-_]?(mock|stub)?|identity-obj|\.css`},
	{id: "TP-32", file: jsTools, key: `modulenamemapper\..*|(^|\.)(resolve\.)?alias\.[^.]*`, value: `^(<rootDir>|\./)`, except: `\$1|(?i)(mock|stub|fake|shim|dummy|css|style|asset|image|/src(/|$)|/lib(/|$)|/packages/)`, severity: metric.Medium},
	{id: "TP-32", file: `package\.json|pnpm-workspace`, key: `(^|\.)(overrides|resolutions|pnpm\.overrides)\.[^.]*`, value: `^(file:|link:|portal:|patch:|\.{1,2}/)`},
	{id: "TP-32", file: `package\.json`, key: `^(dependencies|devdependencies)\.[^.]*`, value: `^(file:|link:|portal:)`, except: `^(file|link|portal):(\.\.|\./packages|packages)|^(file|link):\.?/?$`, severity: metric.High},
	{id: "TP-32", file: `Cargo\.toml`, key: `^patch\..*\.path|^replace\..*\.path`, except: `^(\.\.|/)`},
	{id: "TP-32", file: `Cargo\.toml`, key: `^patch\..*\.path|^replace\..*\.path`, value: `^(\.\.|/)`, severity: metric.Medium},
	{id: "TP-32", file: `pyproject|Pipfile`, key: `tool\.(uv\.sources|poetry\.(dev)?dependencies|poetry\.group\.[^.]*\.dependencies)\.[^.]*\.path|packages\.[^.]*\.path`, except: `^\.\.?(/|$)|^/`},
}))

const (
	jsTools = framework.NodeSettings
	pyTools = framework.PythonSettings
)

// toolConfigExpr matches a path of the configuration of a JavaScript tool, such as jest.config.js.
// It contains no tests.
const toolConfigExpr = `(?i)^(<rootDir>|\^|\*\*)?[\\/]*[\w*-]*(\\?\.\w+)?\\?\.(config|conf)\\?\.[mc]?[jt]sx?\$?$`

// variableExpr returns an expression for the key of an environment variable with one of the names,
// wherever it is set.
func variableExpr(names string) string { return `(^|\.|@)(` + names + `)` }

// harmlessPaths matches paths without tests. harmlessCode matches paths without code of the product,
// and lines of code that tests usually do not reach, such as "raise NotImplementedError".
var (
	harmlessPaths = configtext.NoTestsPathRE.String()
	harmlessCode  = configtext.NoTestsPathRE.String() + `|(?i)(?:^|[^y])test|spec\b|conftest|_version|version\.|__main__|migrations|setup\.py|node_modules|vendor|\.d\.ts|stories|mock|generated|\.gen\.|_pb2|\.pb\.|proto|examples?/|docs?/|pragma|^(if|raise|def|class|return|except|assert|@|\\?\.\.\.|pass|\^)|TYPE_CHECKING|NotImplemented|abstract|overload|__repr__|__name__|config|\.config\.|site-packages|/usr|dist|build/|bench|index\.ts`
)

// compileRows compiles the expressions of the rows. It changes and returns rows.
func compileRows(rows []settingRow) []settingRow {
	for i := range rows {
		r := &rows[i]
		r.fileRE, r.keyRE = regexp.MustCompile(r.file), endOfKey(r.key)
		r.valueRE = regexp.MustCompile(r.value)
		if r.except != "" {
			r.exceptRE = regexp.MustCompile(r.except)
		}
	}
	return rows
}

// endOfKey compiles an expression that matches the end of a key.
func endOfKey(expr string) *regexp.Regexp { return regexp.MustCompile(`(?:` + expr + `)$`) }

// matches reports whether the row matches the key and the value of a setting.
func (r *settingRow) matches(s configtext.Setting) bool {
	return r.keyRE.MatchString(s.Key) && r.valueRE.MatchString(s.Value) && (r.exceptRE == nil || !r.exceptRE.MatchString(s.Value))
}

// settingRule returns the function that finds what the rows with an ID look for.
func settingRule(id string) facts.Finder {
	return facts.ForEach(facts.ConfigFiles, func(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
		tool := configtext.ToolName(f.Path)
		for i := range settingTable {
			if r := &settingTable[i]; r.id == id && r.fileRE.MatchString(tool) && !(id == "TP-26" && coverageToolRE.MatchString(tool)) {
				r.find(c, f, report)
			}
		}
	})
}

// coverageToolRE matches files of tools that measure coverage, such as .nycrc. They do not choose
// tests.
var coverageToolRE = regexp.MustCompile(`(?i)nycrc|c8rc|nyc\.config`)

// find reports the settings of a file that the row matches and that were added, or removed if the
// row says so.
func (r *settingRow) find(c *facts.Change, f *facts.ConfigFile, report facts.Report) {
	if r.removed {
		for _, s := range f.RemovedSettings {
			isListed := r.evenIfEmpty && f.After().Exists() || isListLeft(c, f, s)
			isExplained := isWidened(f, s) || r.unlessDeleted && isFileDeleted(c, s.Value)
			if r.matches(s) && isListed && !isExplained {
				report(f.NewFinding(s.Line, s.Key+": "+s.Value+" is gone").WithSeverity(r.severity))
			}
		}
		return
	}
	for _, s := range f.AddedSettings {
		if r.matches(s) && !isNewTarget(c, f, s) && !isInOtherProject(f, s) {
			report(f.NewFinding(s.Line, s.Key+": "+s.Value).WithSeverity(r.severityOf(c, f, s)))
		}
	}
}

// projectExcludeRE and projectIncludeRE match keys that leave out or include tests in one of several
// projects of a configuration, such as test.projects[].test.include[].
var (
	projectExcludeRE = regexp.MustCompile(`\bprojects?\[\].*\bexclude(\[\])*$`)
	projectIncludeRE = regexp.MustCompile(`\bprojects?\[\].*\binclude(\[\])*$`)
)

// isInOtherProject reports whether one project of a configuration leaves out what another includes.
// Then the other project runs it.
func isInOtherProject(f *facts.ConfigFile, s configtext.Setting) bool {
	other := projectIncludeRE
	switch {
	case projectIncludeRE.MatchString(s.Key):
		other = projectExcludeRE
	case !projectExcludeRE.MatchString(s.Key):
		return false
	}
	return slices.ContainsFunc(f.NewConfig.Settings, func(x configtext.Setting) bool { return x.Value == s.Value && other.MatchString(x.Key) })
}

// endToEndRE matches the names of tests that another runner usually runs, such as e2e, so that
// leaving them out here may be right.
var endToEndRE = regexp.MustCompile(`(?i)` + framework.EndToEndNames)

// testFileRE matches the path of one test file, such as e2e/login.spec.ts. Another runner takes a
// folder or a pattern.
var testFileRE = regexp.MustCompile(`^[^*]*/?[\w.-]+[._-](?:spec|test|tests)\.\w+$|^[^*]*(?:^|/)test_\w+\.\w+$`)

// selectionKeyRE matches the keys of settings that say what is run, rather than what is left out,
// such as testmatch[].
var selectionKeyRE = regexp.MustCompile(`(testpattern|testmatch|testregex|pythonfiles|pythonfunctions|pythonclasses|testfiles|testpaths|testloadfilters|pattern|include|specfiles|testdir|directory|suffix|where)(\[\])*$`)

// sourceFileRE matches the path of one file of code, such as src/cart.py, and not a pattern.
var sourceFileRE = regexp.MustCompile(`^[^*]*\w\.(py|js|ts|tsx|jsx|go|rs|rb|php|java|kt|cs)$`)

// placeholderRE matches a value of Maven that is defined in another place: ${skip.tests}.
var placeholderRE = regexp.MustCompile(`^\$\{([\w.-]+)\}$`)

// dependsOnProfile reports whether a value is a property that a profile of Maven leaves empty, for
// example on a newer Java. Then the value depends on where the build runs.
func dependsOnProfile(f *facts.ConfigFile, value string) bool {
	m := placeholderRE.FindStringSubmatch(value)
	text := string(f.After().Text)
	return m != nil && strings.Contains(text, "<activation>") &&
		(strings.Contains(text, "<"+m[1]+"></"+m[1]+">") || strings.Contains(text, "<"+m[1]+"/>") || strings.Contains(text, "<"+m[1]+" />"))
}

// severityOf returns the severity of an added setting. It is lower for tests that run in another
// place or never existed, and higher for a single product file that is excluded from the coverage.
func (r *settingRow) severityOf(c *facts.Change, f *facts.ConfigFile, s configtext.Setting) metric.Severity {
	excludesTests := r.id == "TP-26" && !r.removed && !selectionKeyRE.MatchString(s.Key)
	isEndToEnd := endToEndRE.MatchString(s.Value) && !testFileRE.MatchString(s.Value)
	switch {
	case dependsOnProfile(f, s.Value), excludesTests && (excludesNothing(c, s) || isEndToEnd):
		return metric.Medium
	case r.id == "TP-27" && r.severity == 0 && sourceFileRE.MatchString(s.Value):
		return metric.High
	case r.id == "TP-26" && !r.removed:
		return cmp.Or(conditionalSeverity(f.After(), s.Line), r.severity)
	}
	return r.severity
}

// hasElements reports whether a list from which a value is gone still has elements.
func hasElements(f *facts.ConfigFile, s configtext.Setting) bool {
	return slices.ContainsFunc(f.NewConfig.Settings, func(x configtext.Setting) bool { return x.Key == s.Key })
}

// isListLeft reports whether the list from which a value is gone still has elements, in its file or
// where it moved to.
func isListLeft(c *facts.Change, f *facts.ConfigFile, s configtext.Setting) bool {
	return hasElements(f, s) || f.Deleted && isListMoved(c, s)
}

// isListMoved reports whether the list of a deleted file is in a new one, as a list of pytest.ini
// may be in pytest.toml.
func isListMoved(c *facts.Change, s configtext.Setting) bool {
	return slices.ContainsFunc(facts.ConfigFiles.Of(c), func(g *facts.ConfigFile) bool {
		return g.Added && slices.ContainsFunc(g.NewConfig.Settings, func(x configtext.Setting) bool { return configtext.LastKey(x.Key) == configtext.LastKey(s.Key) })
	})
}

// isWidened reports whether a removed value was replaced by one that covers as much: tests/unit by
// tests, or a.test.js by a pattern.
func isWidened(f *facts.ConfigFile, removed configtext.Setting) bool {
	oldPath := strings.Trim(removed.Value, "./*")
	return slices.ContainsFunc(f.NewConfig.Settings, func(s configtext.Setting) bool {
		if s.Key != removed.Key || s.Value == removed.Value {
			return false
		}
		newPath := strings.Trim(s.Value, "./*")
		isParent := strings.HasPrefix(oldPath, newPath) && newPath != oldPath
		hasMoreStars := strings.Count(s.Value, "*") > strings.Count(removed.Value, "*")
		becamePattern := strings.ContainsAny(s.Value, "{|?[") && !strings.ContainsAny(removed.Value, "{|?[")
		return isParent || hasMoreStars || becamePattern
	})
}

// isNewTarget reports whether a setting belongs to a new target of Cargo with a separate file. Then
// no existing test is lost.
func isNewTarget(c *facts.Change, f *facts.ConfigFile, s configtext.Setting) bool {
	table, name, _ := strings.Cut(s.Key, ".")
	if name == "autotests" {
		return countAddedTargets(f, "test") > 0
	}
	if name != "harness" && name != "test" || table != "test" && table != "bin" {
		return false
	}
	return countAddedTargets(f, table) > 0 && slices.ContainsFunc(c.Files, func(g *facts.ChangedFile) bool {
		return g.Added && strings.HasSuffix(g.Path, ".rs") && strings.HasPrefix(strings.TrimPrefix(g.Path, strings.TrimSuffix(f.Path, "Cargo.toml")), "tests/")
	})
}

// countAddedTargets returns how many more targets of a kind a manifest names than before.
func countAddedTargets(f *facts.ConfigFile, table string) int {
	isTarget := func(s configtext.Setting) bool { return s.Key == table+".name" }
	return facts.Count(f.NewConfig.Settings, isTarget) - facts.Count(f.OldConfig.Settings, isTarget)
}
