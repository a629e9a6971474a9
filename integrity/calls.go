package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// trait is how a call differs from one that checks everything.
type trait uint8

const (
	masks     trait = iota // its failure counts for nothing, or it never runs
	focuses                // it selects tests
	excludes               // it leaves tests out
	runsNone               // it runs no test at all
	updates                // it rewrites what is expected
	loosens                // it retries, or waits longer
	hidesCode              // it leaves code out of the coverage
	allows                 // it turns rules of a linter off
)

// call is one call of a program that checks.
type call struct {
	check
	command
	traits []mark
}

// mark is one trait of a call: what shows it, and its value if it has one.
type mark struct {
	trait trait
	name  string // "--ignore", "|| true"
	value string
}

func (c call) has(t trait, name string) bool {
	return slices.ContainsFunc(c.traits, func(m mark) bool { return m.trait == t && m.name == name })
}

// flagRow is a set of arguments, divided by blanks, that make a trait for the
// programs that match.
type flagRow struct {
	trait trait
	heads *regexp.Regexp
	names string
}

// flags are the arguments that make a trait.
var flags = []flagRow{
	{masks, regexp.MustCompile(``), "--passWithNoTests --pass-with-no-tests --exit-zero --no-fail --fail-never -fn --issues-exit-code=0 --failure-exit-code=0 --suppress-tests-exit-code -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -DtestFailureIgnore=true --warn-only --allow-no-tests --no-exit-code --exit-code=0 --force-success --nofail --suppress-no-test-exit-code --fail-on-error=false --fail-on-violations=false --exit-status=0 --no-tests=pass"},
	{runsNone, regexp.MustCompile(``), "--collect-only --co --setup-plan --listTests --list-tests --showConfig --dry-run --no-run --version --help -DskipTests -DskipTests=true -Dmaven.test.skip -Dmaven.test.skip=true -DskipITs=true --skip-tests --print-config"},
	{runsNone, regexp.MustCompile(`^go test`), "-list -exec -c -n"},
	{runsNone, regexp.MustCompile(`^(vitest|mix|pytest)`), "list"},
	{focuses, regexp.MustCompile(`^(jest|vitest)`), "--selectProjects --dir --project"},
	{focuses, regexp.MustCompile(`^(turbo|pnpm|npm|lerna)`), "--filter --scope -F"},
	{focuses, regexp.MustCompile(`^cargo`), "-p --package -E --filterset --filter-expr --test --doc --example --bin"},
	{focuses, regexp.MustCompile(`^mvn`), "-pl --projects"},
	{focuses, regexp.MustCompile(`^(rake|rails)`), "TEST TESTOPTS SPEC SPEC_OPTS TESTS"},
	{focuses, regexp.MustCompile(`^unittest`), "-p --pattern"},
	{focuses, regexp.MustCompile(`^manage\.py`), "-k --tag"},
	{focuses, regexp.MustCompile(`^meson`), "--suite"},
	{excludes, regexp.MustCompile(`^meson`), "--no-suite"},
	{excludes, regexp.MustCompile(`^manage\.py`), "--exclude-tag"},
	{excludes, regexp.MustCompile(`^(nx|lerna|turbo)`), "--exclude --ignore"},
	{excludes, regexp.MustCompile(`^(pytest|py\.test)`), "-c"},
	{focuses, regexp.MustCompile(``), "--gtest_filter --test-case --test-suite --run_test"},
	{runsNone, regexp.MustCompile(`^ctest`), "-N --show-only"},
	{runsNone, regexp.MustCompile(`^make|^gradle`), "-n -m --just-print"},
	{focuses, regexp.MustCompile(`^go test|^gotestsum`), "-run -test.run --run"},
	{focuses, regexp.MustCompile(`^(pytest|py\.test|unittest|nose|trial)`), "-k --lf --last-failed --sw --stepwise"},
	{focuses, regexp.MustCompile(`^(jest|vitest|react-scripts|npm|bun|ava)`), "-t --testNamePattern --testPathPattern --testPathPatterns --onlyChanged -o --changedSince --findRelatedTests --changed --match --runTestsByPath --onlyFailures"},
	{focuses, regexp.MustCompile(`^(_?mocha|playwright|cypress|npm|tap|borp|lab)`), "-g --grep -f --fgrep --only-changed --spec --only --last-failed"},
	{focuses, regexp.MustCompile(`^(rspec|minitest|ruby|rails|rake)`), "-e --example --only-failures -n --name"},
	{focuses, regexp.MustCompile(`^(phpunit|paratest|pest|simple-phpunit|codecept|composer)`), "--filter --group --testsuite --dirty --retry"},
	{focuses, regexp.MustCompile(`^mvn`), "-Dtest -Dit.test -Dgroups"},
	{focuses, regexp.MustCompile(`^gradle`), "--tests -Dtest.single"},
	{focuses, regexp.MustCompile(`^(dotnet|swift|deno|xcodebuild|bats|ward)`), "--filter -only-testing -f --search"},
	{focuses, regexp.MustCompile(`^ctest`), "-R -L --tests-regex --label-regex --rerun-failed"},
	{focuses, regexp.MustCompile(`^mix`), "--only --failed --stale"},
	{focuses, regexp.MustCompile(`^(bazel|ginkgo|node|cargo)`), "--test_filter --focus --test-name-pattern --test-only --ignored"},
	{focuses, regexp.MustCompile(`^(jest|vitest|ava|jasmine|uvu|tape)`), "-g --grep"},
	{excludes, regexp.MustCompile(`^go test|^gotestsum|^ginkgo`), "-skip -short --skip -test.short"},
	{excludes, regexp.MustCompile(`^(pytest|py\.test|nose|unittest)`), "--ignore --ignore-glob --deselect -m"},
	{excludes, regexp.MustCompile(`^(jest|vitest|react-scripts|npm|bun|playwright|_?mocha|ava|karma|cypress|tap|borp)`), "--testPathIgnorePatterns --exclude --ignore -i --invert --grep-invert --modulePathIgnorePatterns"},
	{excludes, regexp.MustCompile(`^(rspec|rake|rails)`), "--exclude-pattern -P --pattern -t --tag"},
	{excludes, regexp.MustCompile(`^(phpunit|paratest|pest|simple-phpunit|codecept|composer)`), "--exclude-group --exclude-filter --exclude-testsuite --skip"},
	{excludes, regexp.MustCompile(`^mvn`), "-Dsurefire.excludes -DexcludedGroups -Dsurefire.excludesFile"},
	{excludes, regexp.MustCompile(`^(gradle|cargo|mix|swift|dotnet|xcodebuild|bats)`), "-x --exclude-task --skip --exclude --lib --bins -skip-testing"},
	{excludes, regexp.MustCompile(`^ctest`), "-E -LE --exclude-regex --label-exclude"},
	{excludes, regexp.MustCompile(`^(bazel|node|deno)`), "--test_tag_filters --test-skip-pattern --ignore"},
	{updates, regexp.MustCompile(``), "-u --updateSnapshot --update-snapshots --snapshot-update --update-goldens --update-golden -update --test-update-snapshots --force-regen --regen-all"},
	{loosens, regexp.MustCompile(``), "--reruns --retries --retry --flaky --testTimeout --test-timeout --rerun-fails --max-runs --only-rerun -Dsurefire.rerunFailingTestsCount"},
	{hidesCode, regexp.MustCompile(`^(nyc|c8|cargo|go test|pytest|coverage|jest|npm|vitest)`), "--no-cov --exclude-files --omit --coverage=false --coveragePathIgnorePatterns --ignore-filename-regex"},
	{allows, regexp.MustCompile(`^(eslint|flake8|pylint|ruff|golangci-lint|mypy|rubocop|tsc|pyright|stylelint|bandit|npm run lint|cargo clippy|phpstan|shellcheck|staticcheck|black|swiftlint|yamllint|markdownlint)`), "--disable --ignore --extend-ignore --ignore-errors --ignore-missing-imports --noCheck --skipLibCheck --except -A --rule --quiet --no-eslintrc --exclude --skip --severity --cap-lints"},
}

// flagsByName are the rows of flags for each argument.
var flagsByName = func() map[string][]flagRow {
	out := map[string][]flagRow{}
	for _, row := range flags {
		for _, name := range strings.Fields(row.names) {
			out[name] = append(out[name], row)
		}
	}
	return out
}()

// callsOf finds the calls in the commands of a file, each with its traits.
func callsOf(r *reading) []call {
	var out []call
	for from := 0; from < len(r.commands); {
		to := from + 1
		for to < len(r.commands) && r.commands[to].key == r.commands[from].key {
			to++
		}
		out = append(out, block(r.commands[from:to])...)
		from = to
	}
	return out
}

// shellState is where the reading of a block of lines has come to.
type shellState struct {
	forgiving bool // set +e holds
	over      bool // exit 0 was passed
	depth     int  // of if, for, while, case and functions
	dead      int  // the depth of an "if false", 0 for none
	script    bool // a file of its own, which no option ends at the first failure
}

// unwatched is the mark of a call in a script that goes on when it fails, so that
// the end of the script tells nothing of it.
const unwatched = "the script goes on"

// scriptKeys are the keys of commands of a script that is a file of its own.
const (
	shellKey      = ""
	powerShellKey = "powershell"
)

var strictLine = regexp.MustCompile(`^\s*set\s+(-\w*e\w*|-o errexit|-\w+ -o errexit)|\bErrorActionPreference\b|PSNativeCommandUseErrorActionPreference|^#!.*\s-\w*e`)

// watch finds out whether the lines are a script that ends at no failure.
func (s *shellState) watch(lines []command) {
	key := lines[0].key
	s.script = key == powerShellKey || key == shellKey && !slices.ContainsFunc(lines, func(l command) bool { return strictLine.MatchString(l.text) })
}

// loose reports whether nobody looks at how a call ends: other commands follow and
// nothing asks.
func (s *shellState) loose(lines []command, i int, list []simple, n int) bool {
	if !s.script || n != len(list)-1 || s.depth > 0 && lines[0].key == shellKey {
		return false
	}
	rest := lines[i+1:]
	if lines[0].key == powerShellKey {
		return !statusRead(rest)
	}
	return len(rest) > 0 && !statusRead(rest) && !slices.ContainsFunc(rest, func(l command) bool { return strings.Contains(l.text, "exit 1") })
}

var opens, closes = []string{"if", "for", "while", "until", "case", "select", "{"}, []string{"fi", "done", "esac", "}"}

func block(lines []command) []call {
	var out []call
	var s shellState
	s.watch(lines)
	for i, l := range lines {
		list := simples(l.text)
		for n, cmd := range list {
			s.enter(cmd, list, n)
			c, ok := checkOf(cmd.words)
			if !ok {
				c, ok = checkByKey(l.key, cmd.words)
			}
			if ok {
				found := call{check: c, command: l, traits: marksOf(c)}
				if why := s.mask(l, list, n); why != "" {
					found.traits = append(found.traits, mark{masks, why, ""})
				} else if s.forgiving && !statusRead(lines[i:]) {
					found.traits = append(found.traits, mark{masks, "set +e", ""})
				} else if s.loose(lines, i, list, n) {
					found.traits = append(found.traits, mark{masks, unwatched, ""})
				}
				out = append(out, found)
			}
			s.leave(cmd)
		}
	}
	return out
}

// preparation are programs that check nothing, even in a script named test.
var preparation = strings.Fields("cd rm mkdir cp mv ln export set unset source . npm npx yarn pnpm pip pip3 apt apt-get brew curl wget git chmod touch tar unzip docker docker-compose " +
	"if then else elif fi for while do done case esac exit return trap wait kill test [ [[ local declare readonly cat sed awk grep find xargs tee which command eval exec read shift $ rimraf cross-env-shell tsc webpack rollup babel esbuild lessc sass")

// checkByKey takes a program that is not known for a check where the script, or
// the step, is named for one.
func checkByKey(key string, words []string) (check, bool) {
	p := purposeOf(key)
	words = unwrap(words)
	if p == noCheck || len(words) == 0 || quiet(words) || slices.Contains(preparation, words[0]) || strings.ContainsAny(words[0], "={") {
		return check{}, false
	}
	return check{head: programName(words[0]), purpose: p, args: words[1:], guessed: true}, true
}

func (s *shellState) enter(cmd simple, list []simple, n int) {
	w := cmd.words
	if len(w) == 0 {
		return
	}
	switch {
	case slices.Contains(opens, w[0]) || strings.HasSuffix(w[len(w)-1], "{"):
		s.depth++
		if w[0] == "if" && neverTrue(w[1:]) && s.dead == 0 {
			s.dead = s.depth
		}
	case w[0] == "set" && len(w) > 1:
		s.set(w[1:])
	case s.depth == 0 && endsWell(w) && (n == 0 || list[n-1].op == ";"):
		s.over = true
	}
}

// neverTrue reports whether a condition of the shell is never met.
func neverTrue(w []string) bool {
	return len(w) > 0 && (w[0] == "false" || w[0] == "[" && len(w) > 1 && w[1] == "0" && len(w) < 4)
}

// set follows the options of the shell: whether a failure ends the script.
func (s *shellState) set(options []string) {
	switch o := options[0]; {
	case o == "+e", o == "+o" && slices.Contains(options, "errexit"):
		s.forgiving = true
	case strings.HasPrefix(o, "-") && strings.Contains(o, "e"):
		s.forgiving = false
	}
}

func (s *shellState) leave(cmd simple) {
	if len(cmd.words) > 0 && slices.Contains(closes, cmd.words[0]) {
		if s.dead == s.depth {
			s.dead = 0
		}
		s.depth = max(0, s.depth-1)
	}
}

// endsWell reports whether a command ends the script as a success.
func endsWell(w []string) bool {
	return len(w) == 2 && (w[0] == "exit" || w[0] == "return") && w[1] == "0"
}

var (
	idle         = strings.Fields("true : echo printf /bin/true @echo @true @: sleep date cat pwd")
	interpreters = regexp.MustCompile(`^(node|python[\d.]*|ruby|php|perl)$`)
)

// quiet reports whether a command always succeeds and does nothing.
func quiet(w []string) bool {
	switch {
	case len(w) == 0:
		return false
	case slices.Contains(idle, w[0]), endsWell(w):
		return true
	case w[0] == "$":
		return len(w) > 1 && (w[1] == "info" || w[1] == "warning")
	case len(w) > 2 && interpreters.MatchString(w[0]):
		return w[1] == "-e" || w[1] == "-c" || w[1] == "-r"
	case len(w) > 2 && (w[0] == "sh" || w[0] == "bash") && w[1] == "-c":
		return !slices.ContainsFunc(simples(w[2]), func(s simple) bool { return !quiet(s.words) })
	}
	return false
}

// mask says why the failure of the n-th command of a line counts for nothing,
// "" if it counts.
func (s *shellState) mask(l command, list []simple, n int) string {
	switch {
	case l.excused != "":
		return l.excused
	case s.over:
		return "exit 0 before it"
	case s.dead > 0:
		return "if false"
	case n == 0 && l.dashed():
		return "- before it"
	case len(list[n].words) > 1 && list[n].words[0] == "!":
		return "! before it"
	}
	if n > 0 && len(list[n-1].words) > 0 {
		switch last := list[n-1].words[len(list[n-1].words)-1]; {
		case last == "false" && list[n-1].op == "&&":
			return "false && before it"
		case (last == "true" || last == ":") && list[n-1].op == "||":
			return "true || before it"
		}
	}
	return maskBehind(list, n)
}

// dashed reports whether a recipe says that a failure of the line counts for nothing.
func (l command) dashed() bool {
	return strings.HasPrefix(strings.TrimPrefix(l.text, "@"), "-") && !standing(l.key)
}

// maskBehind looks at what stands behind a command.
func maskBehind(list []simple, n int) string {
	end := n
	for end < len(list)-1 && (list[end].op == "|" || list[end].op == "&&") {
		end++
	}
	op, rest := list[end].op, list[min(end+1, len(list)):]
	if op == "&" && len(rest) == 0 {
		return "&"
	}
	if len(rest) == 0 || slices.ContainsFunc(rest, failing) {
		return ""
	}
	first, last := rest[0], rest[len(rest)-1]
	switch {
	case op == "||" && quiet(first.words):
		return "|| " + start(first.words)
	case op == ";" && quiet(last.words) && !slices.ContainsFunc(rest, statusUsed):
		return "; " + start(last.words)
	case op == "&" && quiet(last.words):
		return "&"
	}
	return ""
}

func start(words []string) string { return strings.Join(words[:min(2, len(words))], " ") }

// failing reports whether a command may end the script as a failure.
func failing(s simple) bool {
	return !endsWell(s.words) && slices.ContainsFunc(s.words, func(w string) bool { return w == "exit" || w == "false" || w == "return" })
}

// statusUsed reports whether the status of a command before is looked at.
func statusUsed(s simple) bool {
	if len(s.words) > 0 && (s.words[0] == "done" || s.words[0] == "fi" || s.words[0] == "then") {
		return true
	}
	return slices.ContainsFunc(s.words, func(w string) bool {
		return strings.Contains(w, "$?") || strings.Contains(w, "PIPESTATUS")
	})
}

func statusRead(lines []command) bool {
	return slices.ContainsFunc(lines, func(l command) bool {
		return strings.Contains(l.text, "$?") || strings.Contains(l.text, "PIPESTATUS") || strings.Contains(l.text, "LASTEXITCODE")
	})
}

// marksOf finds the traits that the arguments of a call show.
func marksOf(c check) []mark {
	var out []mark
	for i, arg := range c.args {
		name, value, given := strings.Cut(arg, "=")
		rows := flagsByName[name]
		if given {
			rows = slices.Concat(rows, flagsByName[arg])
		}
		if !given && i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1], "-") {
			value = c.args[i+1]
			rows = slices.Concat(rows, flagsByName[name+"="+value])
		}
		for _, row := range rows {
			if m := (mark{row.trait, name, value}); row.heads.MatchString(c.head) && !m.harmless(c) {
				out = append(out, m)
			}
		}
	}
	return out
}

// besideTests are things that tests are not in, so that leaving them out leaves
// no test out.
var besideTests = regexp.MustCompile(`(?i)^["'(]*(\*\*/|\./|/|\^|\\/|<rootdir>/?|%\w+%/)*\.?(node_modules|dist|build|lib|out|output|git|hg|svn|vendor|target|docs?|website|examples?|samples?|demos?|coverage|v?env|venv|tox|nox|eggs?|cache|idea|vscode|next|nuxt|yarn|third_?party|benches|bench(mark)?s?|fixtures?|__fixtures__|test_?data|__pycache__|generated|gen|types|typings|public|static|assets|templates?|tmp|temp|\.?claude|worktrees|bin|obj|bazel-\w+|site-packages|conftest\.py|setup\.py|__snapshots__|__mocks__|mocks?|utils?|helpers?|cypress|playwright|e2e|storybook(-static)?|scripts|tools|packaging)(\\?\.\w+)?(\\?/|\\?\\|/?\*\*?|\$|\.\*)*["')]*$`)

// harmless reports whether an argument has a meaning, with its value or for the
// program, that takes nothing away.
func (m mark) harmless(c check) bool {
	switch m.trait {
	case excludes:
		return m.leavesAll(c)
	case focuses:
		return m.takesAll(c)
	case masks, hidesCode:
		return m.switchedOn()
	case runsNone:
		return m.value == "false" || m.name == "-exec" && strings.Contains(m.value, "wasm") || m.name == "--dry-run" && c.purpose != runsTests
	case updates:
		return !snapshotTools.MatchString(c.head) && (m.name == "-u" || c.head == "cargo test")
	case loosens, allows:
	}
	return false
}

// takesAll reports whether an argument that chooses tests chooses all of them, or
// none are run.
func (m mark) takesAll(c check) bool {
	return everyName.MatchString(m.value) || c.head != "go test" && slices.ContainsFunc(c.args, testless) || c.head == "go test" && slices.ContainsFunc(c.args, benchmarks)
}

// testless matches the arguments of Maven with which it runs no tests at all, so
// that there is none to choose.
func testless(arg string) bool {
	return strings.HasPrefix(arg, "-DskipTests") || strings.HasPrefix(arg, "-Dmaven.test.skip")
}

// leavesAll reports whether what is left out holds no tests.
func (m mark) leavesAll(c check) bool {
	switch m.name {
	case "-m":
		return strings.HasPrefix(c.head, "unittest")
	case "-t", "--tag": // of rspec: ~ leaves out
		return !strings.HasPrefix(m.value, "~")
	}
	return besideTests.MatchString(m.value)
}

// switchedOn reports whether an argument that may turn a check off leaves it on.
func (m mark) switchedOn() bool {
	switch {
	case strings.HasSuffix(m.name, "exit-code"):
		return m.value != "" && m.value != "0"
	case strings.HasPrefix(m.name, "--fail-on"), m.name == "--coverage":
		return m.value != "false"
	}
	return false
}

var everyName = regexp.MustCompile(`^\.\*?$`)

var snapshotTools = regexp.MustCompile(`^(jest|vitest|playwright|npm)`)

func benchmarks(arg string) bool {
	return strings.HasPrefix(arg, "-bench") || strings.HasPrefix(arg, "-fuzz")
}
