package framework

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Rerun is how a framework runs selected tests. A rerun may run more tests than are selected,
// because only the results of the selected ones count, but not fewer.
//
// A selection by a regular expression has "." for each character of a name that a shell, a script
// or a report may change.
type Rerun struct {
	// Way is how tests are selected; the zero value means that they cannot be.
	Way       Way
	Programs  []string                 // the command must have one of these words; if there are none, any command works
	Own       []string                 // options by which the command selects tests itself; such a command is not rerun
	Conflicts []string                 // options that are removed from the command
	Place     Place                    // where Words are added to the command
	Word      string                   // the word of the command to which Place refers
	Words     func(Selection) []string // the words that select tests, for [ByWords]

	// Variable is the environment variable that names the plugin.
	Variable string

	// CoverageLimit is whether a limit of coverage, which cannot be turned off, may fail a run
	// of few tests.
	CoverageLimit bool
}

// Way is how tests are selected.
type Way int

// The ways to select tests. ByWords works for most frameworks.
const (
	noWay         Way = iota
	ByWords           // words that are added to the command
	ByPackage         // go test: packages of the command are replaced
	ByPlugin          // pytest: a plugin that the environment names
	ByEnvironment     // RSpec: options in the environment
	ByInitScript      // Gradle: a script that the command loads
)

// String returns a description for the documentation, "" if tests cannot be selected.
func (w Way) String() string {
	return [...]string{"", "options", "packages", "a plugin", "the environment", "an init script"}[w]
}

// Place is where words are added to a command.
type Place int

// The places in a command where words are added.
const (
	AtEnd      Place = iota
	BeforeWord       // before the word, or at the end
	AfterWord        // after the word, which must be there
)

// Selection is a list of tests to run.
type Selection struct {
	Tests []metric.Test
	Files []string // their files relative to where the command runs; nil if one is unknown
	Dash  bool     // the command has "--" already
}

// Names returns the distinct names of the tests, as name returns them. A test whose name ends in a
// number that a report appended to tell equal names apart also has its name without the number.
func (s Selection) Names(name func(metric.Test) string) []string {
	var out []string
	for _, t := range s.Tests {
		plain := t
		plain.Name = numberSuffix.ReplaceAllString(t.Name, "")
		for _, t := range []metric.Test{t, plain} {
			if n := name(t); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// numberSuffix matches the number that a report appends to a name: the end of "adds[2]".
var numberSuffix = regexp.MustCompile(`\[\d+\]$`)

// joinNames returns the names of the tests with a separator between them.
func (s Selection) joinNames(separator string, name func(metric.Test) string) string {
	return strings.Join(s.Names(name), separator)
}

// repeatOption returns an option before each of the names: "-k", "a", "-k", "b".
func (s Selection) repeatOption(option string, name func(metric.Test) string) []string {
	var out []string
	for _, n := range s.Names(name) {
		out = append(out, option, n)
	}
	return out
}

// anyNamePattern returns a regular expression that matches each of the names. It begins with open
// and ends with end, and matches each run of blanks in a name with space.
func (s Selection) anyNamePattern(open, end, space string, name func(metric.Test) string) string {
	return open + s.joinNames("|", func(t metric.Test) string { return namePattern(name(t), space) }) + end
}

// The expressions of JavaScript and Perl, and of CMake, for blanks in a name.
const (
	anySpace = `\s+`
	blanks   = " +"
)

// titleStart is the start of an expression for the title of a test. Before the title may be those
// of its groups, if the framework compares with all of them.
const titleStart = `(^|\s)(`

// namesPattern returns a regular expression for the names of the tests.
func (s Selection) namesPattern() string { return s.anyNamePattern(titleStart, ")$", anySpace, nameOf) }

// titlesPattern returns a regular expression for the titles of the tests, each after the titles of
// its groups.
func (s Selection) titlesPattern() string {
	return titleStart + s.joinNames("|", func(t metric.Test) string {
		groups := strings.Split(t.Class, " > ")
		for i, g := range groups {
			groups[i] = namePattern(g, anySpace)
		}

		return strings.TrimSpace(strings.Join(groups, " (. )?") + " " + namePattern(t.Name, anySpace))
	}) + ")$"
}

// filePatterns returns a regular expression for the path of each file.
func (s Selection) filePatterns() []string {
	var out []string
	for _, f := range s.Files {
		parts := strings.Split(f, "/")
		for j, p := range parts {
			parts[j] = namePattern(p, anySpace)
		}
		out = append(out, strings.Join(parts, "/")+"$")
	}
	return out
}

// wordRunePattern matches a letter, a digit or an underscore.
var wordRunePattern = regexp.MustCompile(`^[\p{L}\p{Nd}_]$`)

// namePattern returns a regular expression that matches a name, with space for each run of blanks
// in it: "adds\s+1[+]1" for "adds 1+1".
func namePattern(name, space string) string {
	var b strings.Builder
	blank := false
	for _, r := range name {
		if isSpace := r == ' ' || r == '\t' || r == '\u00A0'; isSpace || blank && r == '\uFFFD' {
			if !blank {
				b.WriteString(space)
			}
			blank = true
			continue
		}

		blank = false
		switch {
		case wordRunePattern.MatchString(string(r)):
			b.WriteRune(r)
		case strings.ContainsRune("&|;<>()*+?.,:#@=~{}", r):
			b.WriteString("[" + string(r) + "]")
		case r < 0x80:
			b.WriteString(".")
		case r == '\uFFFD': // one or more control characters, for example a line feed
			b.WriteString(`[^a-zA-Z0-9]+`)
		default:
			b.WriteString(".+")
		}
	}

	return b.String()
}

// nameOf returns the name of a test as it is recorded.
func nameOf(t metric.Test) string { return t.Name }

// withoutParameters returns a name without the parameters of its case: "adds" for "adds(1, 2)".
func withoutParameters(name string) string {
	if i := strings.IndexAny(name, "([{<"); i > 0 {
		return strings.TrimSpace(name[:i])
	}
	return name
}

// escapeName returns a name in which by replaces each character that is not a letter, a digit, an
// underscore or a colon.
func escapeName(name string, by func(rune) string) string {
	var b strings.Builder
	for _, r := range name {
		if r == ':' || wordRunePattern.MatchString(string(r)) {
			b.WriteRune(r)
		} else {
			b.WriteString(by(r))
		}
	}
	return b.String()
}

// unittestName returns a pattern for the option -k of unittest: "*TestAdd.test_one", from the last
// part of the class and the method.
func unittestName(t metric.Test) string {
	return "*" + t.Class[strings.LastIndexByte(t.Class, '.')+1:] + "." + withoutParameters(t.Name)
}

// phpName returns the name that PHPUnit compares with its filter: "AddTest::testOne". It has only
// the last part of the class, because reports write namespaces in several ways.
func phpName(t metric.Test) string {
	class := t.Class[strings.LastIndexAny(t.Class, `.\`)+1:]
	if class == "" {
		return t.Name
	}
	return class + "::" + t.Name
}

// cargoFilter returns the arguments with which the test binaries of cargo run only the selected
// tests: "--", "--exact", and the names. Names of documentation tests have several words, which
// rustdoc reads as several names, so their file is used instead.
func cargoFilter(s Selection) []string {
	words, exact := []string{"--"}, "--exact"
	if s.Dash {
		words = nil
	}
	names := s.Names(func(t metric.Test) string {
		if strings.Contains(t.Suite, "doc-tests ") {
			exact = ""
			return strings.Fields(t.Name)[0]
		}
		return t.Name
	})
	if exact != "" {
		words = append(words, exact)
	}
	return append(words, names...)
}

// nextestName returns a condition for the filter expressions of nextest: "test(=add::one)". Special
// characters are written as numbers.
func nextestName(t metric.Test) string {
	return "test(=" + escapeName(t.Name, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }) + ")"
}

// dotnetName returns a condition for the filter of dotnet test:
// "FullyQualifiedName~Calc.Adds|DisplayName~Adds". The full name of a case is that of its method; a
// case with a display name is known by that name.
func dotnetName(t metric.Test) string {
	name := withoutParameters(t.Name)
	full := strings.TrimPrefix(t.Class+"."+name, ".")
	backslash := func(r rune) string {
		if strings.ContainsRune(`\()&|=!~`, r) {
			return `\` + string(r)
		}
		return string(r)
	}
	return "FullyQualifiedName~" + escapeName(full, backslash) + "|DisplayName~" + escapeName(name, backslash)
}

// javaNamePattern matches an identifier of Java.
var javaNamePattern = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{Nd}_$]*$`)

// JavaMethod returns the class and the method of a JVM test. The method ends in "*" if the case has
// parameters, and is "" if the name may be a display name.
func JavaMethod(t metric.Test) (class, name string) {
	class = t.Class
	if class == "" {
		class = t.Suite[strings.LastIndexByte(t.Suite, '/')+1:]
	}

	switch name = withoutParameters(t.Name); {
	case !javaNamePattern.MatchString(name):
		return class, ""
	case name != t.Name && strings.TrimSuffix(t.Name, "()") != name:
		name += "*"
	}
	return class, name
}

// mavenFilter returns the properties with which Surefire and Failsafe run only the selected tests,
// and do not fail in modules that have none of them.
func mavenFilter(s Selection) []string {
	list := s.joinNames(",", func(t metric.Test) string {
		class, name := JavaMethod(t)
		if name == "" {
			return class
		}
		return class + "#" + name
	})
	return []string{"-Dtest=" + list, "-Dit.test=" + list, "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dfailsafe.failIfNoSpecifiedTests=false"}
}

// denoName returns the name of the test that a step belongs to, because Deno filters by tests.
func denoName(t metric.Test) string {
	name, _, _ := strings.Cut(t.Name, " > ")
	return name
}

// withReversedGroups adds each test with its groups in reverse order: Bun's report has the
// innermost group first, its filter the outermost. Both orders are needed, since the name of one
// group may look like two.
func (s Selection) withReversedGroups() Selection {
	for _, t := range slices.Clone(s.Tests) {
		groups := strings.Split(t.Class, " > ")
		slices.Reverse(groups)
		t.Class = strings.Join(groups, " > ")
		s.Tests = append(slices.Clip(s.Tests), t)
	}
	return s
}
