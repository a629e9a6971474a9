package integrity

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// namesFiles matches the keys of settings that leave files out by their paths;
// those that choose by group, tag or the names of tests do not.
var (
	namesFiles = regexp.MustCompile(`(ignorepatterns|exclude|excludes?|excludedirs|testexcludes?|testignore|excludespecpattern|ignore|files|collectignore(glob)?|norecursedirs|directory|file)(\[\])*$`)
	namesTests = regexp.MustCompile(`group|tag|grep|matching`)
)

// leavesOutNothing reports whether a setting leaves out files of which none was
// there before the change: what is new, or was never there, is no test that is lost.
func (c *change) leavesOutNothing(s setting) bool {
	if !namesFiles.MatchString(s.key) || namesTests.MatchString(s.key) {
		return false
	}
	there, known := c.filesBefore()
	return known && !slices.ContainsFunc(there, mayName(s.value, strings.Contains(s.key, "glob")))
}

// filesBefore returns the paths of the project before the change, and whether they
// are known.
func (c *change) filesBefore() (paths []string, known bool) {
	if c.base.Paths == nil {
		return nil, false
	}
	paths = c.base.Paths()
	// A project without any file is one that begins; else its files could not be read.
	return paths, len(paths) > 0 || !slices.ContainsFunc(c.files, func(f *file) bool { return !f.Added })
}

// begins reports whether the project had no code before the change.
func (c *change) begins() bool {
	there, known := c.filesBefore()
	return known && !slices.ContainsFunc(there, func(name string) bool { return source.LanguageOf(name, nil) != source.Unknown })
}

// qualified matches the name of a class with its package.
var qualified = regexp.MustCompile(`^[a-z]\w*(?:\.[a-z]\w*)*\.[A-Z]\w*$`)

// mayName returns whether a path may be meant by what a setting gives as a pattern,
// a path or an expression. In doubt it is. deep says that a star stands for folders,
// too.
func mayName(pattern string, deep bool) func(path string) bool {
	p := strings.NewReplacer("<rootDir>", "", `\.`, ".", `\/`, "/", ".*", "**").Replace(strings.TrimPrefix(pattern, "!"))
	p = strings.Trim(strings.TrimPrefix(p, "./"), "^$/ ")
	if p == "" || strings.ContainsAny(p, `\|()[]{}+^$,;: `) {
		return func(string) bool { return true }
	}
	p = strings.TrimSuffix(p, ".class") // of the file that it is compiled from
	if qualified.MatchString(p) {
		p = strings.ReplaceAll(p, ".", "/")
	}
	star := `[^/]*`
	if deep {
		star = `.*`
	}
	p = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, star, `\?`, `.`).Replace(regexp.QuoteMeta(p))
	return regexp.MustCompile(`(?i)` + p).MatchString
}

var (
	// chosenList is a list that is only set under a condition, in one line: Python's
	// and JavaScript's way.
	chosenList = []*regexp.Regexp{
		regexp.MustCompile(`[\])"'\w]\s+if\s+(.+?)\s+else\s+(?:\[\s*\]|\(\s*\)|None)`),
		regexp.MustCompile(`[=:(]\s*(.+?)\s*\?\s*\[.+\]\s*:\s*\[\s*\]`),
		regexp.MustCompile(`\.\.\.\(\s*(.+?)\s*\?`),
	}
	ifLine = regexp.MustCompile(`^(\s*)(?:el)?if\s+(.+?)\s*:\s*(?:#.*)?$`)
)

// conditionOf returns under what condition a line of code counts, "" for any.
func (s *side) conditionOf(n int) string {
	text := s.lineAt(n)
	for _, re := range chosenList {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	if s.language() != source.Python {
		return ""
	}
	for above := n - 1; above > 0 && n-above < maxReason; above-- {
		l := s.lineAt(above)
		switch m := ifLine.FindStringSubmatch(l); {
		case m != nil && len(m[1]) < indent(text):
			return m[2]
		case strings.TrimSpace(l) != "" && indent(l) < indent(text):
			return ""
		}
	}
	return ""
}

func indent(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }

// underCondition reports how grave it is that something is left out by a line of
// code that counts only under a condition; 0 where it counts anywhere, or nobody
// knows where.
func (s *side) underCondition(n int) metric.Severity {
	cond := s.conditionOf(n)
	if _, known := source.Constant(cond); cond == "" || known {
		return 0
	}
	if conditionSeverity(cond) == metric.Low {
		return metric.Low
	}
	return metric.High
}
