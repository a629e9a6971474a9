package configuration

import (
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// pathKeyRE matches the keys of settings that leave files out by their paths, such as
// test.exclude[]. testNameKeyRE matches those that choose by group, tag or the names of tests.
var (
	pathKeyRE     = regexp.MustCompile(`(ignorepatterns|exclude|excludes?|excludedirs|testexcludes?|testignore|excludespecpattern|ignore|files|collectignore(glob)?|norecursedirs|directory|file)(\[\])*$`)
	testNameKeyRE = regexp.MustCompile(`group|tag|grep|matching`)
)

// excludesNothing reports whether no file that a setting leaves out existed before the change. Then
// no test is lost. It is false if the files are not known.
func excludesNothing(c *facts.Change, s configtext.Setting) bool {
	if !pathKeyRE.MatchString(s.Key) || testNameKeyRE.MatchString(s.Key) {
		return false
	}
	there, known := c.BaseFiles()
	return known && !slices.ContainsFunc(there, mayMatchPath(s.Value, strings.Contains(s.Key, "glob")))
}

// qualifiedClassRE matches the name of a class with its package, such as com.shop.CartTest.
var qualifiedClassRE = regexp.MustCompile(`^[a-z]\w*(?:\.[a-z]\w*)*\.[A-Z]\w*$`)

// mayMatchPath returns a function that reports whether a path may match the pattern, path or
// expression of a setting. If in doubt, it is true. deep says that a star also matches folders.
func mayMatchPath(pattern string, deep bool) func(path string) bool {
	p := strings.NewReplacer("<rootDir>", "", `\.`, ".", `\/`, "/", ".*", "**").Replace(strings.TrimPrefix(pattern, "!"))
	p = strings.Trim(strings.TrimPrefix(p, "./"), "^$/ ")
	if p == "" || strings.ContainsAny(p, `\|()[]{}+^$,;: `) {
		return func(string) bool { return true }
	}
	p = strings.TrimSuffix(p, ".class") // of the file that it is compiled from
	if qualifiedClassRE.MatchString(p) {
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
	// conditionalListREs match a list that is set only under a condition, in one line: "x = ["a"]
	// if fast else []" of Python and "x: fast ? ["a"] : []" of JavaScript. The group is the
	// condition.
	conditionalListREs = []*regexp.Regexp{
		regexp.MustCompile(`[\])"'\w]\s+if\s+(.+?)\s+else\s+(?:\[\s*\]|\(\s*\)|None)`),
		regexp.MustCompile(`[=:(]\s*(.+?)\s*\?\s*\[.+\]\s*:\s*\[\s*\]`),
		regexp.MustCompile(`\.\.\.\(\s*(.+?)\s*\?`),
	}
	ifLineRE = regexp.MustCompile(`^(\s*)(?:el)?if\s+(.+?)\s*:\s*(?:#.*)?$`)
)

// conditionOf returns the condition under which a line of code applies, "" if there is none.
func conditionOf(s *facts.Side, n int) string {
	text := s.LineAt(n)
	for _, re := range conditionalListREs {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	if s.Language() != source.Python {
		return ""
	}
	for above := n - 1; above > 0 && n-above < facts.MaxReasonLines; above-- {
		l := s.LineAt(above)
		switch m := ifLineRE.FindStringSubmatch(l); {
		case m != nil && len(m[1]) < indent(text):
			return m[2]
		case strings.TrimSpace(l) != "" && indent(l) < indent(text):
			return ""
		}
	}
	return ""
}

// indent returns how many blanks and tabs a line begins with.
func indent(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }

// conditionalSeverity returns the severity of a line of code that leaves something out under a
// condition. It is 0 if the line always applies, or the condition is constant.
func conditionalSeverity(s *facts.Side, n int) metric.Severity {
	condition := conditionOf(s, n)
	if _, known := source.ConstantValue(condition); condition == "" || known {
		return 0
	}
	if facts.ConditionSeverity(condition) == metric.Low {
		return metric.Low
	}
	return metric.High
}

// FindExclusions returns the lines of settings and commands that newly exclude code from coverage.
// on has the names of the rules that are enabled.
func FindExclusions(c *facts.Change, on map[string]bool) []facts.Location {
	var out []facts.Location
	if on["coverage_excluded"] {
		out = findExcludingSettings(c)
	}
	if on["coverage_excluded_by_command"] {
		effectRule(framework.HideCode)(c, func(f facts.Finding) {
			out = append(out, facts.Location{Path: f.File, Line: f.Line, After: true})
		})
	}
	return out
}

// findExcludingSettings returns the lines of settings that exclude code from coverage because they
// were added, or removed.
func findExcludingSettings(c *facts.Change) []facts.Location {
	var out []facts.Location
	for _, f := range facts.ConfigFiles.Of(c) {
		tool := configtext.ToolName(f.Path)
		for i := range settingTable {
			if r := &settingTable[i]; r.id == "TP-27" && r.fileRE.MatchString(tool) {
				r.find(c, f, func(found facts.Finding) {
					out = append(out, facts.Location{Path: f.Path, Line: found.Line, After: !r.removed})
				})
			}
		}
	}
	return out
}
