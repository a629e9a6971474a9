package integrity

import (
	"cmp"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// settingRules are the rows about values of configuration files.
var settingRules = []rule{
	{"TP-08", "focus_by_setting", metric.Critical, settingRule("TP-08")},
	{"TP-15", "limits_loosened", metric.Medium, loosened},
	{"TP-21", "runner_replaced", metric.Medium, settingRule("TP-21")},
	{"TP-25", "failure_ignored_by_setting", metric.Critical, settingRule("TP-25")},
	{"TP-26", "discovery_narrowed", metric.Critical, settingRule("TP-26")},
	{"TP-26", "discovery_narrowed", metric.High, deeperGlobs},
	{"TP-27", "threshold_lowered", metric.Critical, lowered},
	{"TP-27", "coverage_excluded", metric.Medium, settingRule("TP-27")},
	{"TP-28", "rule_off", metric.Medium, rulesOff},
	{"TP-31", "environment_of_runner", metric.Critical, settingRule("TP-31")},
	{"TP-32", "dependency_shadowed_by_setting", metric.High, settingRule("TP-32")},
}

// settingRow is a value whose coming, or going, is a finding.
type settingRow struct {
	id   string
	file string // expression for the file, "" for every one
	key  string // expression for the end of the key
	// value must match and but must not; gone looks at what is no longer there,
	// while something is left of the list.
	value, but string
	gone       bool
	all        bool // with gone: also where nothing is left
	folder     bool // with gone: not where files below a folder of that name were deleted
	severity   metric.Severity

	files, keys, values, buts *regexp.Regexp
}

// settingTable is what settingRule looks through. Keys are written as setting has
// them, and match at their end.
var settingTable = compiled(slices.Concat(narrowRows, []settingRow{
	{id: "TP-08", file: jsTools, key: `(^|\.)(testnamepattern|grep|fgrep|onlychanged|onlyfailures)|(^|\.)ava\.match\[\]`},
	{id: "TP-08", file: `runsettings$|nextest`, key: `testcasefilter|defaultfilter`},
	{id: "TP-08", file: `pom\.xml|gradle`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(test|groups)|filter\.includetestsmatching(\[\])?|usejunitplatform\.includetags(\[\])?`, severity: metric.High},
	{id: "TP-08", file: `pom\.xml|gradle\.properties|\.props$`, key: `^(properties\.)?(test|it\.test|groups|tests)|vstesttestcasefilter`, severity: metric.High},
	{id: "TP-08", file: `phpunit`, key: `groups\.include\.group`, severity: metric.High},

	{id: "TP-21", key: `testfailureignore|(^|\.)maven\.test\.failure\.ignore`, value: `^true$`, severity: metric.Critical},
	{id: "TP-21", file: jsTools, key: `testrunner|(^|\.)runner|reporters?(\[\])*|testsequencer|(^|\.)(jest|test)\.environment|testenvironment`, value: `^(<rootDir>|\.{0,2}/)`, severity: metric.High},
	{id: "TP-21", file: jsTools, key: `setupfiles(afterenv)?(\[\])?|globalsetup(\[\])?|globalteardown|testenvironment|(mocha|mocharc|^)\.?require(\[\])?|snapshotserializers\[\]`, value: `^(<rootDir>|\.{0,2}/)`, severity: metric.Medium},
	{id: "TP-21", file: `phpunit`, key: `@bootstrap`, severity: metric.High},
	{id: "TP-21", file: `phpunit`, key: `extensions\.(extension|bootstrap)@class|listeners\.listener@class`, severity: metric.Medium},
	{id: "TP-21", file: `runsettings|xunit\.runner`, key: `testadapterspaths|datacollector@assemblyqualifiedname`, severity: metric.Medium},

	{id: "TP-25", key: `ignorefailures?|ignoreexitvalue|(^|\.)passwithnotests|@continueonerror|\w*nofail|continueontestfailure`, value: always.String(), but: ``},
	{id: "TP-25", key: `(^|\.|@)(failonerror|failonviolation|failsonerror|failbuildonerror|failonerrors|failthebuild|failifnotests|haltonfailure)|(pylint|flake8|checkstyle|spotbugs|pmd|detekt|test)[^.]*\.failonwarnings?`, value: `(?i)^(false|no|0)$`},
	{id: "TP-25", file: `codecov`, key: `informational`, value: `true`, severity: metric.High},
	{id: "TP-25", key: `(^|\.)xfailstrict`, value: `(?i)^false$`, severity: metric.Medium},
	{id: "TP-25", file: `phpunit`, key: `@(failonrisky|failonwarning|failonincomplete|failonskipped|bestrictabouttests\w*)`, value: `false`, severity: metric.Medium},

	{id: "TP-26", file: jsTools, key: `(^|\.)testpathignorepatterns(\[\])*|(^|\.)modulepathignorepatterns(\[\])*|test\.exclude(\[\])*|testignore(\[\])*|excludespecpattern(\[\])*|((mocha|mocharc|^)\.?|^module\.exports\.|^default\.)(ignore|exclude)(\[\])?|^exclude\[\]|(^|\.)grepinvert|config\.set(\[\])?\.exclude(\[\])*`, but: harmlessPaths},
	{id: "TP-26", file: `ava|package\.json|playwright|karma`, key: `(ava|default)\.files(\[\])*`, value: `^!`, but: harmlessPaths},
	{id: "TP-26", key: `collectignore(glob)?(\[\])*`, file: `conftest\.py|\.py$`, but: harmlessPaths},
	{id: "TP-26", file: pyTools, key: `norecursedirs\[\]`, but: harmlessPaths},
	{id: "TP-26", file: `pom\.xml|build\.xml|\.gradle|\.kts$`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(excludes\.exclude|excludedgroups)|(^|\.)test(\.|\[|.*\.)?exclude(\[\])*|excludetestsmatching(\[\])?|excludetags(\[\])*|(tasks\.)?(test|withtype)(\[\])?\.exclude(\[\])*`, but: harmlessPaths},
	{id: "TP-26", file: `pom\.xml|\.gradle|\.kts$|properties`, key: `(surefire|failsafe)[^.]*\]\.configuration\.(skip|skiptests)|(^|\.)(skiptests|maven\.test\.skip|skipits)`, value: `true`},
	{id: "TP-26", file: `\.gradle|\.kts$`, key: `(^|[.\]])test(\[\])?\.(enabled|isenabled|onlyif(\[\])?)`, value: `false`},
	{id: "TP-26", file: `phpunit`, key: `testsuites?(\.testsuite)?\.exclude|groups\.exclude\.group`, but: harmlessPaths},
	{id: "TP-26", file: `proj$|\.props$`, key: `compile@remove`, value: `(?i)test|spec|fact`, severity: metric.Critical},
	{id: "TP-26", file: `proj$|\.props$`, key: `istestproject|isunittestproject`, value: `(?i)^false$`},
	{id: "TP-26", file: `Cargo\.toml`, key: `^(lib|test|bin)\.test|^lib\.doctest|(^|\.)autotests|^test\.harness|^lib\.harness`, value: `false`},
	{id: "TP-26", file: `Cargo\.toml`, key: `workspace\.exclude\[\]`, but: harmlessPaths + `|example|bench|fuzz`, severity: metric.High},
	{id: "TP-26", file: `deno|bunfig|biome`, key: `test\.exclude\[\]|test\.pathignorepatterns\[\]`, but: harmlessPaths},
	{id: "TP-26", file: `CMakeLists|\.cmake`, key: `buildtesting|disabled`, value: `(?i)^(off|true|on)$`, severity: metric.High},
	{id: "TP-26", file: `test_helper\.exs|mix\.exs`, key: `(^|\.)exclude(\[\])*`, severity: metric.High},
	{id: "TP-26", file: `Package\.swift`, key: `exclude\[\]`, value: `(?i)test|spec`},
	{id: "TP-26", file: `Rakefile|\.rake`, key: `(^|\.)pattern(\[\])*`, but: `(^|/)\W*(test|spec|Test|\*|\w*tests?\W)[^/]*$|\\\.`, severity: metric.High},
	{id: "TP-26", file: `Rakefile|\.rake|mix\.exs|` + jsTools + `|` + pyTools, key: `(^|\.)(t\.)?(testpattern|testmatch|testregex|pythonfiles|pythonfunctions|pythonclasses|testfiles)(\[\])*`, but: `(^|/)\W*(test|spec|Test|\*|\w*tests?\W)[^/]*$|\\\.`, severity: metric.High},
	{id: "TP-26", gone: true, file: `Rakefile|\.rake|mix\.exs`, key: `(^|\.)(pattern|testpattern|testfiles|testpaths)(\[\])*`, severity: metric.High},
	{id: "TP-26", gone: true, file: pyTools, key: `testpaths\[\]|pythonfiles\[\]|pythonclasses\[\]|pythonfunctions\[\]`, severity: metric.Critical},
	{id: "TP-26", gone: true, file: jsTools, key: `(^|\.)(testmatch|testregex|roots|projects|spec|specpattern)(\[\])*|test\.include(\[\])*|(ava|default|module\.exports)\.(files|spec)(\[\])*|(^|\.)specfiles(\[\])*|(^|\.)testdir|(^|\.)testmatch`, severity: metric.High},
	{id: "TP-26", gone: true, file: `phpunit`, key: `testsuite\.(directory|file)`, severity: metric.High},
	{id: "TP-26", gone: true, file: `pom\.xml`, key: `^modules\.module`, folder: true, severity: metric.High},
	{id: "TP-26", gone: true, file: `pom\.xml`, key: `(surefire|failsafe)[^.]*\]\.configuration\.includes\.include`, severity: metric.High},

	{id: "TP-27", file: `coveragerc|pyproject|setup\.cfg|tox\.ini|\.toml`, key: `(^|coverage\.)((coverage\.)?(run|report)\.)?(omit|excludelines|excludealso|partialbranches)\[\]`, but: harmlessCode},
	{id: "TP-27", file: jsTools + `|nycrc|c8rc`, key: `coveragepathignorepatterns(\[\])*|coverage\.exclude(\[\])*|(nyc|c8)\.exclude(\[\])*|^exclude\[\]`, but: harmlessCode},
	{id: "TP-27", file: jsTools, key: `collectcoveragefrom\[\]|coverage\.include\[\]`, value: `^!`, but: harmlessCode},
	{id: "TP-27", file: `codecov`, key: `(^|\.)ignore(\[\])*`, but: harmlessCode},
	{id: "TP-27", file: `pom\.xml|\.gradle|\.kts$|sonar|properties|proj$|runsettings|\.props$|sbt`, key: `jacoco[^.]*\]\.configuration\.excludes\.exclude|jacoco.*exclude(s|classes)?(\[\])*|sonar\.coverage\.exclusions|excludebyfile|excludebyattribute|coverageexcluded(packages|files)|excludedclasses.*|modulepath\.exclude|(coverlet|kover).*exclude.*`, but: harmlessCode},
	{id: "TP-27", file: `phpunit`, key: `(source|coverage|whitelist|filter\.whitelist)\.exclude\.(directory|file)`, but: harmlessCode},
	{id: "TP-27", file: `tarpaulin|Cargo|llvm-cov`, key: `excludefiles\[\]|exclude\[\]|ignorefilenameregex`, but: harmlessCode + `|workspace`},
	{id: "TP-27", file: `simplecov|helper\.rb|coveralls`, key: `addfilter(\[\])?|skipfiles(\[\])?|simplecov\.addfilter\[\]`, but: harmlessCode},
	{id: "TP-27", key: `(^|\.)(checkcoverage|collectcoverage|coverage\.enabled)|(^|\.)(run|coverage\.run)\.branch`, value: `(?i)^false$`, severity: metric.High},
	{id: "TP-27", file: `nycrc|c8rc|package\.json`, key: `^((nyc|c8)\.)?all`, value: `(?i)^false$`, severity: metric.High},
	{id: "TP-27", gone: true, file: `coveragerc|pyproject|setup\.cfg|tox\.ini`, key: `coverage.*source(pkgs)?\[\]|^run\.source\[\]`},
	{id: "TP-27", gone: true, file: jsTools, key: `collectcoveragefrom\[\]|coverage\.include\[\]`, but: `^!`},

	{id: "TP-31", key: env(`pytestaddopts`), value: `(^|\s)(-k|-m|-p|--ignore|--deselect|--co\b|--collect-only|-c\b|--lf|--rootdir|--confcutdir|--exitfirst|--maxfail|--noconftest)|--override-ini|-o\s`},
	{id: "TP-31", key: env(`pytestaddopts|pytestplugins`), but: `(^|\s)(-k|-m|-p|--ignore|--deselect|--co\b|--collect-only|-c\b|--lf)|^--(color|durations|tb|verbos|junit|cov|no-header|strict|timeout)|^-[vqrsx]+\b|^-n`, severity: metric.Medium},
	{id: "TP-31", key: env(`nodeoptions`), value: `(^|\s)(-r\b|--require|--import|--loader|--experimental-loader)`, but: `(ts-node|tsx|dotenv|source-map-support|esm|@swc|@babel|loader-utils|tsconfig-paths)`},
	{id: "TP-31", key: env(`goflags`), value: `-(run|skip|exec|toolexec|overlay|short|list|vet=off)\b`},
	{id: "TP-31", key: env(`rubyopt`), value: `-r`, but: `-r\s*(bundler|warning|logger)`},
	{id: "TP-31", key: env(`javatooloptions|jdkjavaoptions|mavenopts|mavenargs|gradleopts`), value: `-javaagent|skipTests|maven\.test|failure\.ignore|-fn\b|--fail-never|-Xbootclasspath`},
	{id: "TP-31", key: env(`ldpreload|dyldinsertlibraries|bashenv|pythonstartup|perl5opt`), but: `(?i)jemalloc|tcmalloc|asan|libsegfault|tsan|mimalloc`},
	{id: "TP-31", file: `npmrc|yarnrc|package\.json`, key: `(^|\.)(npmconfig)?scriptshell`, but: `bash(\.exe)?$|^/bin/sh$`},
	{id: "TP-31", file: `npmrc|yarnrc|env|\.ini$`, key: `(^|\.)(nodeoptions|npmconfignodeoptions)`, value: `--require|--import|-r\s`},
	{id: "TP-31", file: `\.cargo/config`, key: `target\.(?:[^.]|\.[^r])*\.?runner(\[\])*|build\.rustc(wrapper|workspacewrapper)`, but: `(?i)wasm|qemu|sccache|cross|probe-rs|wine|espflash|simctl|elf2uf2|sudo`},
	{id: "TP-31", file: `\.ini$`, key: `autoprependfile|autoappendfile`, severity: metric.High},
	{id: "TP-31", file: pyTools, key: `(^|\.)pythonpath\[\]`, value: `(?i)shim|stub|fake|mock|\.hidden|^/`, severity: metric.High},
	{id: "TP-31", key: env(`path`), value: `(?i)^["']?(\$\(?\{?(pwd|workspace|curdir|github_workspace)\)?\}?|\.{1,2}|\$\{\{\s*github\.workspace\s*\}\})/?(bin|shims?|tools?|fake|\.bin|scripts)?[:"]`, severity: metric.High},

	{id: "TP-32", file: jsTools, key: `modulenamemapper\..*`, value: `(?i)(mock|stub|fake|shim|dummy)`, but: `(?i)(file|style|css|image|asset|svg|font|media|empty)[-_]?(mock|stub)?|identity-obj|\.css`},
	{id: "TP-32", file: jsTools, key: `modulenamemapper\..*|(^|\.)(resolve\.)?alias\.[^.]*`, value: `^(<rootDir>|\./)`, but: `\$1|(?i)(mock|stub|fake|shim|dummy|css|style|asset|image|/src(/|$)|/lib(/|$)|/packages/)`, severity: metric.Medium},
	{id: "TP-32", file: `package\.json|pnpm-workspace`, key: `(^|\.)(overrides|resolutions|pnpm\.overrides)\.[^.]*`, value: `^(file:|link:|portal:|patch:|\.{1,2}/)`},
	{id: "TP-32", file: `package\.json`, key: `^(dependencies|devdependencies)\.[^.]*`, value: `^(file:|link:|portal:)`, but: `^(file|link|portal):(\.\.|\./packages|packages)|^(file|link):\.?/?$`, severity: metric.High},
	{id: "TP-32", file: `Cargo\.toml`, key: `^patch\..*\.path|^replace\..*\.path`, but: `^(\.\.|/)`},
	{id: "TP-32", file: `Cargo\.toml`, key: `^patch\..*\.path|^replace\..*\.path`, value: `^(\.\.|/)`, severity: metric.Medium},
	{id: "TP-32", file: `pyproject|Pipfile`, key: `tool\.(uv\.sources|poetry\.(dev)?dependencies|poetry\.group\.[^.]*\.dependencies)\.[^.]*\.path|packages\.[^.]*\.path`, but: `^\.\.?(/|$)|^/`},
}))

const (
	jsTools = `(?i)(jest|vitest|vite|playwright|karma|mocha|ava|cypress|wdio|nyc|c8|package\.json|jasmine)`
	pyTools = `(pytest|pyproject|setup\.cfg|tox)\.?(ini|toml|cfg)?$|^pytest\.ini$`
)

// env matches a variable of the environment, wherever it is set.
func env(names string) string { return `(^|\.|@)(` + names + `)` }

// harmlessPaths hold no tests; harmlessCode is no code of the product's own, or
// are lines that cannot be reached.
var (
	harmlessPaths = besideTests.String()
	harmlessCode  = besideTests.String() + `|(?i)(?:^|[^y])test|spec\b|conftest|_version|version\.|__main__|migrations|setup\.py|node_modules|vendor|\.d\.ts|stories|mock|generated|\.gen\.|_pb2|\.pb\.|proto|examples?/|docs?/|pragma|^(if|raise|def|class|return|except|assert|@|\\?\.\.\.|pass|\^)|TYPE_CHECKING|NotImplemented|abstract|overload|__repr__|__name__|config|\.config\.|site-packages|/usr|dist|build/|bench|index\.ts`
)

func compiled(rows []settingRow) []settingRow {
	for i := range rows {
		r := &rows[i]
		r.files, r.keys = regexp.MustCompile(r.file), regexp.MustCompile(`(?:`+r.key+`)$`)
		r.values = regexp.MustCompile(r.value)
		if r.but != "" {
			r.buts = regexp.MustCompile(r.but)
		}
	}
	return rows
}

func (r *settingRow) matches(s setting) bool {
	return r.keys.MatchString(s.key) && r.values.MatchString(s.value) && (r.buts == nil || !r.buts.MatchString(s.value))
}

// settingRule finds what the rows with an id look for.
func settingRule(id string) func(*change) []Finding {
	return func(c *change) []Finding {
		var out []Finding
		for _, f := range c.configs() {
			tool := toolOf(f.Path)
			for i := range settingTable {
				if r := &settingTable[i]; r.id == id && r.files.MatchString(tool) && !(id == "TP-26" && coverageTool.MatchString(tool)) {
					out = append(out, r.findings(c, f)...)
				}
			}
		}
		return out
	}
}

// coverageTool are files of tools that measure, and choose no tests.
var coverageTool = regexp.MustCompile(`(?i)nycrc|c8rc|nyc\.config`)

func (r *settingRow) findings(c *change, f *configFile) []Finding {
	var out []Finding
	if r.gone {
		for _, s := range f.gone {
			if r.matches(s) && (r.all && f.after().there() || f.left(s)) && !f.widened(s) && !(r.folder && c.deletedLike(s.value)) {
				out = append(out, Finding{File: f.Path, Line: s.line, Severity: r.severity, Evidence: evidence(s.key + ": " + s.value + " is gone")})
			}
		}
		return out
	}
	for _, s := range f.came {
		if r.matches(s) && !c.newTarget(f, s) && !f.handedOver(s) {
			out = append(out, Finding{File: f.Path, Line: s.line, Severity: r.weight(c, f, s), Evidence: evidence(s.key + ": " + s.value)})
		}
	}
	return out
}

// leavesOut and takesIn match the keys of the tests of one of several projects in a
// configuration.
var (
	leavesOut = regexp.MustCompile(`\bprojects?\[\].*\bexclude(\[\])*$`)
	takesIn   = regexp.MustCompile(`\bprojects?\[\].*\binclude(\[\])*$`)
)

// handedOver reports whether one project of a configuration leaves out what another
// takes in: it is run there.
func (f *configFile) handedOver(s setting) bool {
	other := takesIn
	switch {
	case takesIn.MatchString(s.key):
		other = leavesOut
	case !leavesOut.MatchString(s.key):
		return false
	}
	return slices.ContainsFunc(f.is.settings, func(x setting) bool { return x.value == s.value && other.MatchString(x.key) })
}

// endToEnd are tests that another runner runs, so that leaving them out of this
// one may be right.
var endToEnd = regexp.MustCompile(`(?i)e2e|integration|playwright|cypress|browser|slow|perf|smoke|acceptance|network|manual|online`)

// oneTest is the file of one suite: another runner takes a folder or a pattern.
var oneTest = regexp.MustCompile(`^[^*]*/?[\w.-]+[._-](?:spec|test|tests)\.\w+$|^[^*]*(?:^|/)test_\w+\.\w+$`)

// selects are settings that say what is run, not what is left out.
var selects = regexp.MustCompile(`(testpattern|testmatch|testregex|pythonfiles|pythonfunctions|pythonclasses|testfiles|testpaths|testloadfilters|pattern|include|specfiles|testdir|directory|suffix|where)(\[\])*$`)

// sourceFile is the name of one file of code, not a pattern.
var sourceFile = regexp.MustCompile(`^[^*]*\w\.(py|js|ts|tsx|jsx|go|rs|rb|php|java|kt|cs)$`)

// placeholder matches a value of Maven that stands elsewhere.
var placeholder = regexp.MustCompile(`^\$\{([\w.-]+)\}$`)

// byProfile reports whether a value is a property that a profile leaves empty, as
// on a newer Java: then it depends on where it runs.
func (f *configFile) byProfile(value string) bool {
	m := placeholder.FindStringSubmatch(value)
	text := string(f.after().text)
	return m != nil && strings.Contains(text, "<activation>") &&
		(strings.Contains(text, "<"+m[1]+"></"+m[1]+">") || strings.Contains(text, "<"+m[1]+"/>") || strings.Contains(text, "<"+m[1]+" />"))
}

// weight is the severity of the row, less for tests that run elsewhere, or were
// never there, and more for a single file of the product that is left out of the
// coverage.
func (r *settingRow) weight(c *change, f *configFile, s setting) metric.Severity {
	switch {
	case f.byProfile(s.value), r.id == "TP-26" && !r.gone && !selects.MatchString(s.key) && c.leavesOutNothing(s):
		return metric.Medium
	case r.id == "TP-26" && !r.gone && !selects.MatchString(s.key) && endToEnd.MatchString(s.value) && !oneTest.MatchString(s.value):
		return metric.Medium
	case r.id == "TP-27" && r.severity == 0 && sourceFile.MatchString(s.value):
		return metric.High
	case r.id == "TP-26" && !r.gone:
		return cmp.Or(f.after().underCondition(s.line), r.severity)
	}
	return r.severity
}

// leaf is the last name of a key, or the last two where the last is an element.
func leaf(key string) string {
	return key[strings.LastIndexByte(key, '.')+1:]
}

// news sets, for each file, the settings that are more often in the change after
// it than before, and the other way round: what moved, even to another file, is
// in neither.
func news(files []*configFile) {
	was, is := map[string]int{}, map[string]int{}
	for _, f := range files {
		tally(was, f.was.settings, leafOf)
		tally(is, f.is.settings, leafOf)
	}
	for _, f := range files {
		f.came = more(f.was.settings, f.is.settings, func(s setting) bool { return is[leafOf(s)] > was[leafOf(s)] })
		f.gone = more(f.is.settings, f.was.settings, func(s setting) bool { return was[leafOf(s)] > is[leafOf(s)] })
	}
}

// leafOf and whole tell settings apart by the end of their key, or all of it.
func leafOf(s setting) string { return leaf(s.key) + "\x00" + s.value }
func whole(s setting) string  { return s.key + "\x00" + s.value }

func tally(count map[string]int, list []setting, name func(setting) string) {
	for _, s := range list {
		count[name(s)]++
	}
}

// more returns what is more often in b than in a and satisfies a condition.
func more(a, b []setting, ok func(setting) bool) []setting {
	own := make(map[string]int, len(a))
	tally(own, a, whole)
	var out []setting
	for _, s := range b {
		if own[whole(s)]--; own[whole(s)] < 0 && ok(s) {
			out = append(out, s)
		}
	}
	return out
}

// left reports whether something is left of the list that a value is gone from.
func (f *configFile) left(s setting) bool {
	for _, x := range f.is.settings {
		if x.key == s.key {
			return true
		}
	}
	return false
}

// widened reports whether a value that is gone was replaced by one that takes in
// as much: tests/unit by tests, or a.test.js by a pattern.
func (f *configFile) widened(s setting) bool {
	for _, x := range f.is.settings {
		short := strings.Trim(x.value, "./*")
		if x.key == s.key && x.value != s.value && (strings.HasPrefix(strings.Trim(s.value, "./*"), short) && short != strings.Trim(s.value, "./*") ||
			strings.Count(x.value, "*") > strings.Count(s.value, "*") || strings.ContainsAny(x.value, "{|?[") && !strings.ContainsAny(s.value, "{|?[")) {
			return true
		}
	}
	return false
}

// newTarget reports whether a target of Cargo that is run in its own way is a new
// one, with a file of its own: then no test of before is lost.
func (c *change) newTarget(f *configFile, s setting) bool {
	table, name, _ := strings.Cut(s.key, ".")
	if name == "autotests" {
		return f.names("test") > 0
	}
	if name != "harness" && name != "test" || table != "test" && table != "bin" {
		return false
	}
	return f.names(table) > 0 && slices.ContainsFunc(c.files, func(g *file) bool {
		return g.Added && strings.HasSuffix(g.Path, ".rs") && strings.HasPrefix(strings.TrimPrefix(g.Path, strings.TrimSuffix(f.Path, "Cargo.toml")), "tests/")
	})
}

// names counts how many more targets a manifest names than before.
func (f *configFile) names(table string) int {
	n := 0
	for _, x := range f.is.settings {
		if x.key == table+".name" {
			n++
		}
	}
	for _, x := range f.was.settings {
		if x.key == table+".name" {
			n--
		}
	}
	return n
}
