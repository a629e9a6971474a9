package integrity

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// leftDiscovery reports whether a file was renamed so that its runner does not
// find it any more, by the usual names.
func leftDiscovery(before, after *side) bool {
	if !before.there() || !after.there() || before.path == after.path {
		return false
	}
	if namedTest(path.Base(before.path)) && !namedTest(path.Base(after.path)) && before.language() != source.Rust {
		return true
	}
	return discovered(before) && !discovered(after) || putAway(after.path) && !putAway(before.path)
}

// toldByName reports whether the usual runners of a language tell files of tests by
// their names. Others build what lies in a folder, or what a list names.
func toldByName(lang source.Language) bool {
	switch lang {
	case source.CSharp, source.Swift, source.C, source.CPP, source.Kotlin, source.Scala:
		return false
	default:
		return true
	}
}

// away matches folders for what is not used any more.
var away = regexp.MustCompile(`(?i)^(?:[._].+|(?:old|archived?|attic|disabled|backups?|bak|tmp|temp|unused|legacy|skip(?:ped)?|quarantined?|graveyard|deprecated|obsolete|trash|parked|ignored?|build|dist|out|target|docs?|misc|notes|scratch|wip|later)(?:[._-].*)?|.*[._-](?:old|bak|disabled|off|tests?_?disabled|archive|unused))$`)

// putAway reports whether a path lies in such a folder.
func putAway(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir != ".." && dir != "__tests__" && away.MatchString(dir)
	})
}

// discovered reports whether the name of a file is one that runners look for.
// Where they take any name it is true.
func discovered(s *side) bool {
	base := path.Base(s.path)
	if source.Vendored(s.path) || hidden(s.path) || strings.Contains("/"+s.path, "/old/") {
		return false
	}
	switch lang := s.language(); lang {
	case source.Unknown:
		return false
	case source.Go:
		return strings.HasSuffix(base, "_test.go") && base[0] != '_' && !strings.Contains("/"+s.path, "/testdata/")
	case source.Python:
		stem := strings.TrimSuffix(base, path.Ext(base))
		return strings.HasPrefix(stem, "test") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests")
	case source.Ruby, source.PHP, source.JavaScript, source.TypeScript, source.Elixir:
		return namedTest(base) || s.isTest() && !slices.ContainsFunc(suffixedNames, func(n string) bool { return strings.Contains(base, n) })
	default:
		return s.isTest()
	}
}

// suffixedNames are endings that take a file out of the usual globs.
var suffixedNames = []string{".disabled.", ".bak.", ".skip.", ".old.", ".orig."}

// namedTest reports whether the name of a file says that it holds tests.
func namedTest(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	whole := strings.TrimSuffix(base, path.Ext(base))
	return !strings.HasPrefix(base, "_") && (testEnd.MatchString(whole) || testStart.MatchString(stem))
}

var (
	testEnd   = regexp.MustCompile(`(?:^|[._-])(?:tests?|specs?|unittests?|cy|e2e|it)$|[a-z0-9](?:Tests?|Specs?|TestCase|IT)(?:\d+|\+\w+)?$`)
	testStart = regexp.MustCompile(`^test|^spec_|^Tests?(?:[A-Z_]|$)`)
)

// hidden reports whether a path lies in a folder that runners do not look into.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir[0] == '.' && dir != ".." || dir == "__pycache__"
	})
}

// leftWithProduct reports whether product code moved to the folder to which a test
// was moved, so that the folder is not one for what is put away.
func (c *change) leftWithProduct(f *file) bool {
	dir := path.Dir(f.Path)
	return f.OldPath != "" && path.Base(f.Path) == path.Base(f.OldPath) && slices.ContainsFunc(c.files, func(g *file) bool {
		return g != f && !g.before().isTest() && path.Dir(g.Path) == dir && (g.Added || g.OldPath != "") && g.after().product()
	})
}

// splitSuite is how many new files with tests, beside one that was moved, make a
// suite of a folder.
const splitSuite = 3

// suiteMoved reports whether a file of tests was moved into a folder with others
// that are new, which a configuration that changed names: a suite that brings its
// own way to be run.
func (c *change) suiteMoved(f *file) bool {
	dir := path.Dir(f.Path)
	if putAway(f.Path) || len(path.Base(dir)) < 4 || !slices.ContainsFunc(c.configs(), func(g *configFile) bool {
		return slices.ContainsFunc(g.addedLines(), func(l line) bool { return slices.Contains(word.FindAllString(l.text, -1), path.Base(dir)) })
	}) {
		return false
	}
	n := 0
	for _, g := range c.files {
		if g.Added && path.Dir(g.Path) == dir && g.after().language() == f.before().language() && slices.ContainsFunc(g.after().source().Functions, func(fn source.Function) bool {
			return strings.HasPrefix(strings.ToLower(lastName(fn.Name)), "test")
		}) {
			n++
		}
	}
	return n >= splitSuite
}

// leavesDiscovery reports whether a file was renamed so that its tests are not
// found.
func (c *change) leavesDiscovery(f *file) bool {
	return leftDiscovery(f.before(), f.after()) && !c.leftWithProduct(f) && !c.namedByFolder(f)
}

// namedByFolder reports whether a file of JavaScript was moved within the folder of
// tests, where others that are new are called no tests either: the runner takes all
// that lies there.
func (c *change) namedByFolder(f *file) bool {
	lang := f.after().language()
	if lang != source.JavaScript && lang != source.TypeScript || putAway(f.Path) || !inTestFolder(f.Path) || path.Dir(f.Path) == path.Dir(f.OldPath) {
		return false
	}
	n := 0
	for _, g := range c.files {
		if g.Added && g.after().language() == lang && inTestFolder(g.Path) && !namedTest(path.Base(g.Path)) && len(g.after().source().Tests) > 0 {
			n++
		}
	}
	return n >= splitSuite
}
