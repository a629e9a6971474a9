package framework

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// Rerun is how a framework runs selected tests. More tests may run, as only the results of the
// selected ones count, but not fewer.
//
// Selections by regular expression have "." for each character of a name that a shell, a script
// or a report may change.
type Rerun struct {
	Way       Way
	Programs  []string // of which the command must have one; none: any command works
	Own       []string // options by which the command itself selects tests: it is not rerun
	Conflicts []string // options that are removed from the command
	Place     Place    // where Words are added
	Word      string   // to which Place refers
	Words     func(Selection) []string

	// Variable is the environment variable that names the plugin.
	Variable string

	// CoverageLimit is whether a limit of coverage, which cannot be turned off, may fail a run
	// of few tests.
	CoverageLimit bool
}

// Way is how tests are selected.
type Way int

// The ways.
const (
	noWay         Way = iota
	ByWords           // words that are added to the command
	ByPackage         // go test: packages of the command are replaced
	ByPlugin          // pytest: a plugin that the environment names
	ByEnvironment     // RSpec: options in the environment
	ByInitScript      // Gradle: a script that the command loads
)

func (w Way) String() string {
	return [...]string{"", "options", "packages", "a plugin", "the environment", "an init script"}[w]
}

// Place is where words are added to a command.
type Place int

// The places.
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

// Names are the distinct names of the tests, also without the number that a report appends to
// distinguish tests of one name.
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

var numberSuffix = regexp.MustCompile(`\[\d+\]$`)

func (s Selection) joinNames(separator string, name func(metric.Test) string) string {
	return strings.Join(s.Names(name), separator)
}

// repeatOption returns the option with each of the names.
func (s Selection) repeatOption(option string, name func(metric.Test) string) []string {
	var out []string
	for _, n := range s.Names(name) {
		out = append(out, option, n)
	}
	return out
}

// anyNamePattern is a regular expression that matches each of the names.
func (s Selection) anyNamePattern(open, end, space string, name func(metric.Test) string) string {
	return open + s.joinNames("|", func(t metric.Test) string { return namePattern(name(t), space) }) + end
}

// The expressions of JavaScript and Perl, and of CMake, for blanks in a name.
const (
	anySpace = `\s+`
	blanks   = " +"
)

// titleStart matches the start of the title of a test, after those of its groups if the framework
// compares with all of them.
const titleStart = `(^|\s)(`

// namesPattern is a regular expression for the names of tests.
func (s Selection) namesPattern() string { return s.anyNamePattern(titleStart, ")$", anySpace, nameOf) }

// titlesPattern is a regular expression for the titles of tests with those of their groups.
func (s Selection) titlesPattern() string {
	return titleStart + s.joinNames("|", func(t metric.Test) string {
		groups := strings.Split(t.Class, " > ")
		for i, g := range groups {
			groups[i] = namePattern(g, anySpace)
		}
		return strings.TrimSpace(strings.Join(groups, " (. )?") + " " + namePattern(t.Name, anySpace))
	}) + ")$"
}

// filePatterns are the files as regular expressions.
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

var wordRunePattern = regexp.MustCompile(`^[\p{L}\p{Nd}_]$`)

// namePattern is a regular expression that matches the name; space is for blanks in it.
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

func nameOf(t metric.Test) string { return t.Name }

// withoutParameters is a name without the parameters of the case.
func withoutParameters(name string) string {
	if i := strings.IndexAny(name, "([{<"); i > 0 {
		return strings.TrimSpace(name[:i])
	}
	return name
}

// escapeName is a name in which all characters but letters, digits, underscores and colons are
// replaced.
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

// unittestName is a pattern of unittest's -k: the last part of the class, and the method.
func unittestName(t metric.Test) string {
	return "*" + t.Class[strings.LastIndexByte(t.Class, '.')+1:] + "." + withoutParameters(t.Name)
}

// phpName is the name that PHPUnit compares with its filter, "class::name". It has only the last
// part of the class, since reports write namespaces in several ways.
func phpName(t metric.Test) string {
	class := t.Class[strings.LastIndexAny(t.Class, `.\`)+1:]
	if class == "" {
		return t.Name
	}
	return class + "::" + t.Name
}

// cargoFilter are the names of the tests for the test binaries. Names of documentation tests have
// several words, which rustdoc reads as several names, so their file is used.
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

// nextestName is a name in nextest's filter expressions, with special characters
// written as numbers.
func nextestName(t metric.Test) string {
	return "test(=" + escapeName(t.Name, func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }) + ")"
}

// dotnetName is a condition of dotnet test. The full name of a case is that of its
// method; a case with a display name is known by that.
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

var javaNamePattern = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{Nd}_$]*$`)

// JavaMethod is the class and the method of a JVM test, with "*" for the parameters of a
// case. The method is "" if the name may be a display name.
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

// denoName is the name of the test of a step: Deno filters by tests.
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
