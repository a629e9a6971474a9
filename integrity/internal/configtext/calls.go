package configtext

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// Trait is how a call differs from one that checks everything.
type Trait uint8

// The traits of a call.
const (
	Masks     Trait = iota // its failure counts for nothing, or it never runs
	Focuses                // it selects tests
	Excludes               // it leaves tests out
	RunsNone               // it runs no test at all
	Updates                // it rewrites what is expected
	Loosens                // it retries, or waits longer
	HidesCode              // it leaves code out of the coverage
	Allows                 // it turns rules of a linter off
)

// Call is one call of a program that checks.
type Call struct {
	check
	Command
	Traits []Mark
}

// Mark is one trait of a call: what shows it, and its value if it has one.
type Mark struct {
	Trait Trait
	Name  string // "--ignore", "|| true"
	Value string
}

// Has reports whether a call has a trait by the argument or operator with that name.
func (c Call) Has(t Trait, name string) bool {
	return slices.ContainsFunc(c.Traits, func(m Mark) bool { return m.Trait == t && m.Name == name })
}

// flagRow is a list of arguments, separated by blanks, with the trait that they give to
// calls of the programs that match.
type flagRow struct {
	trait Trait
	heads *regexp.Regexp
	names string
}

// flags are the arguments that give a call a trait.
var flags = []flagRow{
	{Masks, regexp.MustCompile(``), "--passWithNoTests --pass-with-no-tests --exit-zero --no-fail --fail-never -fn --issues-exit-code=0 --failure-exit-code=0 --suppress-tests-exit-code -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -DtestFailureIgnore=true --warn-only --allow-no-tests --no-exit-code --exit-code=0 --force-success --nofail --suppress-no-test-exit-code --fail-on-error=false --fail-on-violations=false --exit-status=0 --no-tests=pass"},
	{RunsNone, regexp.MustCompile(``), "--collect-only --co --setup-plan --listTests --list-tests --showConfig --dry-run --no-run --version --help -DskipTests -DskipTests=true -Dmaven.test.skip -Dmaven.test.skip=true -DskipITs=true --skip-tests --print-config"},
	{RunsNone, regexp.MustCompile(`^go test`), "-list -exec -c -n"},
	{RunsNone, regexp.MustCompile(`^(vitest|mix|pytest)`), "list"},
	{Focuses, regexp.MustCompile(`^(jest|vitest)`), "--selectProjects --dir --project"},
	{Focuses, regexp.MustCompile(`^(turbo|pnpm|npm|lerna)`), "--filter --scope -F"},
	{Focuses, regexp.MustCompile(`^cargo`), "-p --package -E --filterset --filter-expr --test --doc --example --bin"},
	{Focuses, regexp.MustCompile(`^mvn`), "-pl --projects"},
	{Focuses, regexp.MustCompile(`^(rake|rails)`), "TEST TESTOPTS SPEC SPEC_OPTS TESTS"},
	{Focuses, regexp.MustCompile(`^unittest`), "-p --pattern"},
	{Focuses, regexp.MustCompile(`^manage\.py`), "-k --tag"},
	{Focuses, regexp.MustCompile(`^meson`), "--suite"},
	{Excludes, regexp.MustCompile(`^meson`), "--no-suite"},
	{Excludes, regexp.MustCompile(`^manage\.py`), "--exclude-tag"},
	{Excludes, regexp.MustCompile(`^(nx|lerna|turbo)`), "--exclude --ignore"},
	{Excludes, regexp.MustCompile(`^(pytest|py\.test)`), "-c"},
	{Focuses, regexp.MustCompile(``), "--gtest_filter --test-case --test-suite --run_test"},
	{RunsNone, regexp.MustCompile(`^ctest`), "-N --show-only"},
	{RunsNone, regexp.MustCompile(`^make|^gradle`), "-n -m --just-print"},
	{Focuses, regexp.MustCompile(`^go test|^gotestsum`), "-run -test.run --run"},
	{Focuses, regexp.MustCompile(`^(pytest|py\.test|unittest|nose|trial)`), "-k --lf --last-failed --sw --stepwise"},
	{Focuses, regexp.MustCompile(`^(jest|vitest|react-scripts|npm|bun|ava)`), "-t --testNamePattern --testPathPattern --testPathPatterns --onlyChanged -o --changedSince --findRelatedTests --changed --match --runTestsByPath --onlyFailures"},
	{Focuses, regexp.MustCompile(`^(_?mocha|playwright|cypress|npm|tap|borp|lab)`), "-g --grep -f --fgrep --only-changed --spec --only --last-failed"},
	{Focuses, regexp.MustCompile(`^(rspec|minitest|ruby|rails|rake)`), "-e --example --only-failures -n --name"},
	{Focuses, regexp.MustCompile(`^(phpunit|paratest|pest|simple-phpunit|codecept|composer)`), "--filter --group --testsuite --dirty --retry"},
	{Focuses, regexp.MustCompile(`^mvn`), "-Dtest -Dit.test -Dgroups"},
	{Focuses, regexp.MustCompile(`^gradle`), "--tests -Dtest.single"},
	{Focuses, regexp.MustCompile(`^(dotnet|swift|deno|xcodebuild|bats|ward)`), "--filter -only-testing -f --search"},
	{Focuses, regexp.MustCompile(`^ctest`), "-R -L --tests-regex --label-regex --rerun-failed"},
	{Focuses, regexp.MustCompile(`^mix`), "--only --failed --stale"},
	{Focuses, regexp.MustCompile(`^(bazel|ginkgo|node|cargo)`), "--test_filter --focus --test-name-pattern --test-only --ignored"},
	{Focuses, regexp.MustCompile(`^(jest|vitest|ava|jasmine|uvu|tape)`), "-g --grep"},
	{Excludes, regexp.MustCompile(`^go test|^gotestsum|^ginkgo`), "-skip -short --skip -test.short"},
	{Excludes, regexp.MustCompile(`^(pytest|py\.test|nose|unittest)`), "--ignore --ignore-glob --deselect -m"},
	{Excludes, regexp.MustCompile(`^(jest|vitest|react-scripts|npm|bun|playwright|_?mocha|ava|karma|cypress|tap|borp)`), "--testPathIgnorePatterns --exclude --ignore -i --invert --grep-invert --modulePathIgnorePatterns"},
	{Excludes, regexp.MustCompile(`^(rspec|rake|rails)`), "--exclude-pattern -P --pattern -t --tag"},
	{Excludes, regexp.MustCompile(`^(phpunit|paratest|pest|simple-phpunit|codecept|composer)`), "--exclude-group --exclude-filter --exclude-testsuite --skip"},
	{Excludes, regexp.MustCompile(`^mvn`), "-Dsurefire.excludes -DexcludedGroups -Dsurefire.excludesFile"},
	{Excludes, regexp.MustCompile(`^(gradle|cargo|mix|swift|dotnet|xcodebuild|bats)`), "-x --exclude-task --skip --exclude --lib --bins -skip-testing"},
	{Excludes, regexp.MustCompile(`^ctest`), "-E -LE --exclude-regex --label-exclude"},
	{Excludes, regexp.MustCompile(`^(bazel|node|deno)`), "--test_tag_filters --test-skip-pattern --ignore"},
	{Updates, regexp.MustCompile(``), "-u --updateSnapshot --update-snapshots --snapshot-update --update-goldens --update-golden -update --test-update-snapshots --force-regen --regen-all"},
	{Loosens, regexp.MustCompile(``), "--reruns --retries --retry --flaky --testTimeout --test-timeout --rerun-fails --max-runs --only-rerun -Dsurefire.rerunFailingTestsCount"},
	{HidesCode, regexp.MustCompile(`^(nyc|c8|cargo|go test|pytest|coverage|jest|npm|vitest)`), "--no-cov --exclude-files --omit --coverage=false --coveragePathIgnorePatterns --ignore-filename-regex"},
	{Allows, regexp.MustCompile(`^(eslint|flake8|pylint|ruff|golangci-lint|mypy|rubocop|tsc|pyright|stylelint|bandit|npm run lint|cargo clippy|phpstan|shellcheck|staticcheck|black|swiftlint|yamllint|markdownlint)`), "--disable --ignore --extend-ignore --ignore-errors --ignore-missing-imports --noCheck --skipLibCheck --except -A --rule --quiet --no-eslintrc --exclude --skip --severity --cap-lints"},
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

// CallsOf finds the calls in the commands of a file, each with its traits.
func CallsOf(r *Reading) []Call {
	var out []Call
	for from := 0; from < len(r.Commands); {
		to := from + 1
		for to < len(r.Commands) && r.Commands[to].Key == r.Commands[from].Key {
			to++
		}
		out = append(out, block(r.Commands[from:to])...)
		from = to
	}
	return out
}

// shellState is the state while reading a block of lines.
type shellState struct {
	forgiving bool // set +e holds
	over      bool // exit 0 was passed
	depth     int  // of if, for, while, case and functions
	dead      int  // the depth of an "if false", 0 for none
	script    bool // a file of its own, which no option ends at the first failure
}

// Unchecked is the mark of a call in a script that goes on when it fails, so that
// the exit status of the script does not show it.
const Unchecked = "the script goes on"

// scriptKeys are the keys of commands of a script that is a file of its own.
const (
	shellKey      = ""
	powerShellKey = "powershell"
)

var strictLine = regexp.MustCompile(`^\s*set\s+(-\w*e\w*|-o errexit|-\w+ -o errexit)|\bErrorActionPreference\b|PSNativeCommandUseErrorActionPreference|^#!.*\s-\w*e`)

// watch finds out whether the lines are a script that does not end at a failure.
func (s *shellState) watch(lines []Command) {
	key := lines[0].Key
	s.script = key == powerShellKey || key == shellKey && !slices.ContainsFunc(lines, func(l Command) bool { return strictLine.MatchString(l.Text) })
}

// loose reports whether the exit status of a call is lost: other commands follow, and
// none checks it.
func (s *shellState) loose(lines []Command, i int, list []simple, n int) bool {
	if !s.script || n != len(list)-1 || s.depth > 0 && lines[0].Key == shellKey {
		return false
	}
	rest := lines[i+1:]
	if lines[0].Key == powerShellKey {
		return !statusRead(rest)
	}
	return len(rest) > 0 && !statusRead(rest) && !slices.ContainsFunc(rest, func(l Command) bool { return strings.Contains(l.Text, "exit 1") })
}

var opens, closes = []string{"if", "for", "while", "until", "case", "select", "{"}, []string{"fi", "done", "esac", "}"}

func block(lines []Command) []Call {
	var out []Call
	var s shellState
	s.watch(lines)
	for i, l := range lines {
		list := SimpleCommands(l.Text)
		for n, cmd := range list {
			s.enter(cmd, list, n)
			c, ok := checkOf(cmd.Words)
			if !ok {
				c, ok = checkByKey(l.Key, cmd.Words)
			}
			if ok {
				found := Call{check: c, Command: l, Traits: marksOf(c)}
				if why := s.mask(l, list, n); why != "" {
					found.Traits = append(found.Traits, Mark{Masks, why, ""})
				} else if s.forgiving && !statusRead(lines[i:]) {
					found.Traits = append(found.Traits, Mark{Masks, "set +e", ""})
				} else if s.loose(lines, i, list, n) {
					found.Traits = append(found.Traits, Mark{Masks, Unchecked, ""})
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

// checkByKey treats an unknown program as a check if the script, or the step, is named
// like one.
func checkByKey(key string, words []string) (check, bool) {
	p := purposeOf(key)
	words = unwrap(words)
	if p == noCheck || len(words) == 0 || DoesNothing(words) || slices.Contains(preparation, words[0]) || strings.ContainsAny(words[0], "={") {
		return check{}, false
	}
	return check{Head: programName(words[0]), Purpose: p, Args: words[1:], Guessed: true}, true
}

func (s *shellState) enter(cmd simple, list []simple, n int) {
	w := cmd.Words
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
	if len(cmd.Words) > 0 && slices.Contains(closes, cmd.Words[0]) {
		if s.dead == s.depth {
			s.dead = 0
		}
		s.depth = max(0, s.depth-1)
	}
}

// endsWell reports whether a command ends the script with status 0.
func endsWell(w []string) bool {
	return len(w) == 2 && (w[0] == "exit" || w[0] == "return") && w[1] == "0"
}

var (
	idle         = strings.Fields("true : echo printf /bin/true @echo @true @: sleep date cat pwd")
	interpreters = regexp.MustCompile(`^(node|python[\d.]*|ruby|php|perl)$`)
)

// DoesNothing reports whether a command always succeeds and does nothing.
func DoesNothing(w []string) bool {
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
		return !slices.ContainsFunc(SimpleCommands(w[2]), func(s simple) bool { return !DoesNothing(s.Words) })
	}
	return false
}

// mask says why the failure of the n-th command of a line is ignored, "" if it is not.
func (s *shellState) mask(l Command, list []simple, n int) string {
	switch {
	case l.excused != "":
		return l.excused
	case s.over:
		return "exit 0 before it"
	case s.dead > 0:
		return "if false"
	case n == 0 && l.dashed():
		return "- before it"
	case len(list[n].Words) > 1 && list[n].Words[0] == "!":
		return "! before it"
	}
	if n > 0 && len(list[n-1].Words) > 0 {
		switch last := list[n-1].Words[len(list[n-1].Words)-1]; {
		case last == "false" && list[n-1].op == "&&":
			return "false && before it"
		case (last == "true" || last == ":") && list[n-1].op == "||":
			return "true || before it"
		}
	}
	return maskBehind(list, n)
}

// dashed reports whether a recipe ignores the failure of the line.
func (l Command) dashed() bool {
	return strings.HasPrefix(strings.TrimPrefix(l.Text, "@"), "-") && !AddsArguments(l.Key)
}

// maskBehind looks at what follows a command.
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
	case op == "||" && DoesNothing(first.Words):
		return "|| " + start(first.Words)
	case op == ";" && DoesNothing(last.Words) && !slices.ContainsFunc(rest, statusUsed):
		return "; " + start(last.Words)
	case op == "&" && DoesNothing(last.Words):
		return "&"
	}
	return ""
}

func start(words []string) string { return strings.Join(words[:min(2, len(words))], " ") }

// failing reports whether a command may end the script with a failure.
func failing(s simple) bool {
	return !endsWell(s.Words) && slices.ContainsFunc(s.Words, func(w string) bool { return w == "exit" || w == "false" || w == "return" })
}

// statusUsed reports whether the status of the preceding command is checked.
func statusUsed(s simple) bool {
	if len(s.Words) > 0 && (s.Words[0] == "done" || s.Words[0] == "fi" || s.Words[0] == "then") {
		return true
	}
	return slices.ContainsFunc(s.Words, func(w string) bool {
		return strings.Contains(w, "$?") || strings.Contains(w, "PIPESTATUS")
	})
}

func statusRead(lines []Command) bool {
	return slices.ContainsFunc(lines, func(l Command) bool {
		return strings.Contains(l.Text, "$?") || strings.Contains(l.Text, "PIPESTATUS") || strings.Contains(l.Text, "LASTEXITCODE")
	})
}

// marksOf finds the traits that the arguments of a call give it.
func marksOf(c check) []Mark {
	var out []Mark
	for i, arg := range c.Args {
		name, value, given := strings.Cut(arg, "=")
		rows := flagsByName[name]
		if given {
			rows = slices.Concat(rows, flagsByName[arg])
		}
		if !given && i+1 < len(c.Args) && !strings.HasPrefix(c.Args[i+1], "-") {
			value = c.Args[i+1]
			rows = slices.Concat(rows, flagsByName[name+"="+value])
		}
		for _, row := range rows {
			if m := (Mark{row.trait, name, value}); row.heads.MatchString(c.Head) && !m.harmless(c) {
				out = append(out, m)
			}
		}
	}
	return out
}

// NoTestsThere matches paths without tests: to leave them out leaves no test out.
var NoTestsThere = regexp.MustCompile(`(?i)^["'(]*(\*\*/|\./|/|\^|\\/|<rootdir>/?|%\w+%/)*\.?(node_modules|dist|build|lib|out|output|git|hg|svn|vendor|target|docs?|website|examples?|samples?|demos?|coverage|v?env|venv|tox|nox|eggs?|cache|idea|vscode|next|nuxt|yarn|third_?party|benches|bench(mark)?s?|fixtures?|__fixtures__|test_?data|__pycache__|generated|gen|types|typings|public|static|assets|templates?|tmp|temp|\.?claude|worktrees|bin|obj|bazel-\w+|site-packages|conftest\.py|setup\.py|__snapshots__|__mocks__|mocks?|utils?|helpers?|cypress|playwright|e2e|storybook(-static)?|scripts|tools|packaging)(\\?\.\w+)?(\\?/|\\?\\|/?\*\*?|\$|\.\*)*["')]*$`)

// harmless reports whether an argument takes nothing away, because of its value or the
// program.
func (m Mark) harmless(c check) bool {
	switch m.Trait {
	case Excludes:
		return m.leavesAll(c)
	case Focuses:
		return m.takesAll(c)
	case Masks, HidesCode:
		return m.switchedOn()
	case RunsNone:
		return m.Value == "false" || m.Name == "-exec" && strings.Contains(m.Value, "wasm") || m.Name == "--dry-run" && c.Purpose != RunsTests
	case Updates:
		return !snapshotTools.MatchString(c.Head) && (m.Name == "-u" || c.Head == "cargo test")
	case Loosens, Allows:
	}
	return false
}

// takesAll reports whether an argument that selects tests selects all of them, or none
// are run anyway.
func (m Mark) takesAll(c check) bool {
	return everyName.MatchString(m.Value) || c.Head != "go test" && slices.ContainsFunc(c.Args, testless) || c.Head == "go test" && slices.ContainsFunc(c.Args, benchmarks)
}

// testless matches the arguments of Maven with which it runs no tests.
func testless(arg string) bool {
	return strings.HasPrefix(arg, "-DskipTests") || strings.HasPrefix(arg, "-Dmaven.test.skip")
}

// leavesAll reports whether what is left out holds no tests.
func (m Mark) leavesAll(c check) bool {
	switch m.Name {
	case "-m":
		return strings.HasPrefix(c.Head, "unittest")
	case "-t", "--tag": // of rspec: ~ leaves out
		return !strings.HasPrefix(m.Value, "~")
	}
	return NoTestsThere.MatchString(m.Value)
}

// switchedOn reports whether an argument that may turn a check off leaves it on.
func (m Mark) switchedOn() bool {
	switch {
	case strings.HasSuffix(m.Name, "exit-code"):
		return m.Value != "" && m.Value != "0"
	case strings.HasPrefix(m.Name, "--fail-on"), m.Name == "--coverage":
		return m.Value != "false"
	}
	return false
}

var everyName = regexp.MustCompile(`^\.\*?$`)

var snapshotTools = regexp.MustCompile(`^(jest|vitest|playwright|npm)`)

func benchmarks(arg string) bool {
	return strings.HasPrefix(arg, "-bench") || strings.HasPrefix(arg, "-fuzz")
}

// AddsArguments reports whether the value of a key is added to every call of a program,
// rather than being a call.
func AddsArguments(key string) bool { return argumentKeys.MatchString(key) || key == "args" }

// Follows reports whether another call checks at least as much in the same place.
func (c Call) Follows(x Call) bool {
	return x.Key == c.Key && (x.Purpose == c.Purpose || x.Purpose == RunsTests) && (c.Guessed || !x.Guessed)
}
