package measure

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/commandline"
	"supervise/internal/measure/internal/listing"
	"supervise/internal/regexp"
	"supervise/metric"
)

// rerunner is how one framework runs selected tests. More tests than those may run, but
// not fewer: only their results count.
type rerunner struct {
	programs []string // one of them must be in the command; none: any command works
	own      []string // options by which a command selects tests itself, which override ours
	drop     []string // options that conflict with ours
	after    string   // the word that ends the framework's own options, or begins them: see at
	at       place
	args     func(selection) []string // what is added to the command; nil: change changes the check
	change   func(selection) (Check, bool)

	// limited reports that the run may fail by a coverage limit, which a few tests
	// cannot reach and which cannot be turned off.
	limited bool
}

// place is where words are added to a command.
type place int

const (
	atEnd      place = iota
	beforeWord       // before the word after, or at the end
	behindWord       // after the word after, which must be there
)

// rerunners are the frameworks by the names that a check gives as its runner. In
// regular expressions, characters of a name that a shell, a script or a report may
// change are "any character".
var rerunners = map[string]rerunner{
	"go":     {change: goAgain},
	"pytest": {change: pytestAgain},
	"rspec":  {change: rspecAgain, limited: true},
	"gradle": {change: gradleAgain},
	"unittest": {
		programs: []string{"unittest", "manage.py", "runtests.py", "django"}, args: func(s selection) []string {
			return s.each("-k", func(t metric.Test) string { return "*" + listing.LastWord(t.Class) + "." + beforeParameters(t.Name) })
		},
	},
	"jest": {
		programs: []string{"jest", "react-scripts"}, own: []string{"-t", "--testNamePattern"}, drop: []string{"--coverage", "--collectCoverage"}, args: func(s selection) []string {
			return slices.Concat([]string{"--coverage=false", "--testNamePattern=" + s.titles(javaScript)}, s.patterns())
		},
	},
	"vitest": {
		programs: []string{"vitest"}, own: []string{"-t", "--testNamePattern"}, drop: []string{"--coverage", "--coverage.enabled"}, args: func(s selection) []string {
			return slices.Concat([]string{"--coverage.enabled=false", "--testNamePattern=" + s.titles(javaScript)}, s.files())
		},
	},
	"mocha": {
		programs: []string{"mocha"}, own: []string{"-g", "--grep", "-f", "--fgrep"},
		args: func(s selection) []string { return []string{"--grep=" + s.titles(javaScript)} },
	},
	"lab": {
		programs: []string{"lab"}, own: []string{"-g", "--grep", "-i", "--id"},
		args: func(s selection) []string {
			return []string{"--grep", s.alternatives(javaScript, begins, ")$", nameOf)}
		},
	},
	"jasmine": {
		programs: []string{"jasmine"}, own: []string{"--filter"},
		args: func(s selection) []string { return []string{"--filter=" + s.titles(javaScript)} },
	},
	"playwright": {
		programs: []string{"playwright"}, own: []string{"-g", "--grep"},
		args: func(s selection) []string { return []string{"--grep=" + s.alternatives(javaScript, "(", ")", nameOf)} },
	},
	"node": {
		programs: []string{"node", "tsx"}, own: []string{"--test-name-pattern"}, after: "--test", at: behindWord,
		args: func(s selection) []string {
			return []string{"--test-name-pattern=" + s.alternatives(javaScript, begins, ")$", nameOf)}
		},
	},
	"phpunit": {
		programs: []string{"phpunit", "pest", "simple-phpunit"}, own: []string{"--filter"},
		args: func(s selection) []string { return []string{"--filter=" + s.alternatives(perl, "/(", ")$/s", phpName)} },
	},
	"cargo": {programs: []string{"cargo"}, args: cargoArgs},
	"nextest": {
		programs: []string{"nextest", "cargo-nextest"}, after: "--", at: beforeWord,
		args: func(s selection) []string { return []string{"-E", s.joined(" + ", nextestName)} },
	},
	"ctest": {
		programs: []string{"ctest"},
		args:     func(s selection) []string { return []string{"-R", s.alternatives(cmake, "^(", ")$", s.ctestName)} },
	},
	"dotnet": {
		programs: []string{"dotnet"}, own: []string{"--filter", "--report-trx"}, after: "--", at: beforeWord,
		args: func(s selection) []string { return []string{"--filter", s.joined("|", dotnetName)} },
	},
	"maven": {
		programs: []string{"mvn", "mvnw", "mvnd"}, own: []string{"-Dtest", "-Dit.test"},
		args: func(s selection) []string {
			list := s.joined(",", mavenName)
			return []string{"-Dtest=" + list, "-Dit.test=" + list, "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false", "-Dfailsafe.failIfNoSpecifiedTests=false"}
		},
	},
}

// otherRunners are known by their reports; they cannot run selected tests.
var otherRunners = []string{"meson", "minitest", "mix"}

// Runners lists the valid names for [Check].Runner, sorted.
func Runners() []string {
	list := slices.Concat(slices.Collect(maps.Keys(rerunners)), listing.Frameworks(), otherRunners)
	slices.Sort(list)
	return slices.Compact(list)
}

// selection is a check, and the tests of it that shall run.
type selection struct {
	check      Check
	root, base string // the tree, and where the check runs
	env        []string
	tests      []metric.Test
	line       commandline.Command
	plain      bool // the words of line are known
	apart      bool // in a copy, of which nothing but the results of tests counts
}

// selected returns the check that runs only the tests, and false if its framework is
// unknown or its command not understood.
func (m *Meter) selected(c Check, tests []metric.Test) (Check, bool) {
	r, known := rerunners[c.Runner]
	if !known {
		return c, false
	}
	s := selection{check: c, root: m.plan.Root, base: m.base(c), env: m.environment(), tests: tests, apart: m.inCopy}
	s.line, s.plain = commandline.Of(c.Command)
	if r.change != nil {
		return r.change(s)
	}
	at, ok := r.room(s)
	if !ok {
		return c, false
	}
	c.Command = s.line.With(at, s.separated(r, r.args(s)), s.line.Places(r.drop...))
	return c, true
}

// room is the place in the command for the selecting words, and false if there is none.
func (r rerunner) room(s selection) (int, bool) {
	if !s.plain || s.line.Index(r.programs...) < 0 && !s.script() || s.line.Has(r.own...) {
		return 0, false
	}
	end := len(s.line.Words)
	switch at := s.line.Before(r.after); r.at {
	case behindWord:
		return at + 1, at < end
	case beforeWord:
		return at, true
	case atEnd:
	}
	return end, true
}

// scriptRunners run a script of package.json and pass later arguments to it.
var scriptRunners = []string{"npm", "pnpm", "yarn", "bun"}

func (s selection) script() bool {
	return s.line.Index(scriptRunners...) == 0 && s.line.Has("test", "t", "run", "run-script")
}

// separated puts "--" before words for a script that npm runs; npm would read them
// itself otherwise.
func (s selection) separated(r rerunner, words []string) []string {
	if s.line.Index("npm") == 0 && s.line.Index(r.programs...) < 0 && !s.line.Has("--") {
		return append([]string{"--"}, words...)
	}
	return words
}

// each returns the option once for every name.
func (s selection) each(option string, name func(metric.Test) string) []string {
	var out []string
	for _, n := range s.names(name) {
		out = append(out, option, n)
	}
	return out
}

// names are the distinct names of the tests.
func (s selection) names(name func(metric.Test) string) []string {
	var out []string
	for _, t := range s.tests {
		for _, t := range []metric.Test{t, unnumbered(t)} {
			if n := name(t); !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// unnumbered is a test under the name that its runner knows: the second of one name has
// a number in its report's set.
func unnumbered(t metric.Test) metric.Test {
	t.Name = numbered.ReplaceAllString(t.Name, "")
	return t
}

var numbered = regexp.MustCompile(`\[\d+\]$`)

func (s selection) joined(separator string, name func(metric.Test) string) string {
	return strings.Join(s.names(name), separator)
}

// alternatives is a regular expression that matches any of the names.
func (s selection) alternatives(d dialect, open, end string, name func(metric.Test) string) string {
	return open + s.joined("|", func(t metric.Test) string { return d.pattern(name(t)) }) + end
}

// titles is a regular expression for the titles of tests, after those of the groups
// around them.
func (s selection) titles(d dialect) string {
	return begins + s.joined("|", func(t metric.Test) string {
		groups := strings.Split(t.Class, " > ")
		for i, g := range groups {
			groups[i] = d.pattern(g)
		}
		return strings.TrimSpace(strings.Join(groups, " (. )?") + " " + d.pattern(t.Name))
	}) + ")$"
}

// files are the files of the tests relative to where the check runs, none if one of
// them is unknown.
func (s selection) files() []string {
	var out []string
	for _, t := range s.tests {
		file, ok := s.file(t)
		if !ok {
			return nil
		}
		if !slices.Contains(out, file) {
			out = append(out, file)
		}
	}
	return out
}

// patterns are the files as regular expressions.
func (s selection) patterns() []string {
	out := s.files()
	for i, f := range out {
		parts := strings.Split(f, "/")
		for j, p := range parts {
			parts[j] = javaScript.pattern(p)
		}
		out[i] = strings.Join(parts, "/") + "$"
	}
	return out
}

// file is the file of a test. Reports are read with names relative to the root; the
// framework needs those relative to its folder.
func (s selection) file(t metric.Test) (string, bool) {
	name := cmp.Or(t.File, t.Suite)
	if name == "" || filepath.IsAbs(name) {
		return name, false
	}
	if below, ok := strings.CutPrefix(name, s.check.Dir+"/"); ok && s.check.Dir != "" && exists(filepath.Join(s.base, below)) {
		return below, true
	}
	full := filepath.Join(s.root, filepath.FromSlash(name))
	rel, err := filepath.Rel(s.base, full)
	return filepath.ToSlash(rel), err == nil && exists(full)
}

// dialect is the syntax of a regular expression.
type dialect struct{ space string }

var (
	javaScript = dialect{`\s+`}
	perl       = dialect{`\s+`}
	cmake      = dialect{" +"}
)

// begins is where the title of a test begins in the expression, after those of the
// groups around it if the framework matches against them all.
const begins = `(^|\s)(`

var wordRune = regexp.MustCompile(`^[\p{L}\p{Nd}_]$`)

// pattern is a regular expression that matches the name.
func (d dialect) pattern(name string) string {
	var b strings.Builder
	space := false
	for _, r := range name {
		if isSpace := r == ' ' || r == '\t' || r == '\u00A0'; isSpace || space && r == '\uFFFD' {
			if !space {
				b.WriteString(d.space)
			}
			space = true
			continue
		}
		space = false
		switch {
		case wordRune.MatchString(string(r)):
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

// withFiles returns the check with additional files and environment variables.
func (c Check) withFiles(files map[string]string, env ...string) Check {
	all := map[string]string{}
	maps.Copy(all, c.Files)
	maps.Copy(all, files)
	c.Files, c.Env = all, append(slices.Clone(c.Env), env...)
	return c
}
