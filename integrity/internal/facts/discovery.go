package facts

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// isRenamedOut reports whether a file was renamed so that its runner no longer finds
// it, going by the usual names.
func isRenamedOut(before, after *Side) bool {
	if !before.Exists() || !after.Exists() || before.Path == after.Path {
		return false
	}
	if hasTestName(path.Base(before.Path)) && !hasTestName(path.Base(after.Path)) && before.Language() != source.Rust {
		return true
	}
	return isDiscovered(before) && !isDiscovered(after) || IsInUnusedFolder(after.Path) && !IsInUnusedFolder(before.Path)
}

// DiscoversByName reports whether the usual runners of a language recognise test files by
// their names. Others build all files of a folder, or of a list.
func DiscoversByName(lang source.Language) bool {
	switch lang {
	case source.CSharp, source.Swift, source.C, source.CPP, source.Kotlin, source.Scala:
		return false
	default:
		return true
	}
}

// unusedFolderRE matches folders for files that are no longer used.
var unusedFolderRE = regexp.MustCompile(`(?i)^(?:[._].+|(?:old|archived?|attic|disabled|backups?|bak|tmp|temp|unused|legacy|skip(?:ped)?|quarantined?|graveyard|deprecated|obsolete|trash|parked|ignored?|build|dist|out|target|docs?|misc|notes|scratch|wip|later)(?:[._-].*)?|.*[._-](?:old|bak|disabled|off|tests?_?disabled|archive|unused))$`)

// IsInUnusedFolder reports whether a path is in such a folder.
func IsInUnusedFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir != ".." && dir != "__tests__" && unusedFolderRE.MatchString(dir)
	})
}

// isDiscovered reports whether the name of a file is one that runners look for.
// Where they take any name it is true.
func isDiscovered(s *Side) bool {
	base := path.Base(s.Path)
	if source.IsVendored(s.Path) || isInHiddenFolder(s.Path) || strings.Contains("/"+s.Path, "/old/") {
		return false
	}
	switch lang := s.Language(); lang {
	case source.Unknown:
		return false
	case source.Go:
		return strings.HasSuffix(base, "_test.go") && base[0] != '_' && !strings.Contains("/"+s.Path, "/testdata/")
	case source.Python:
		stem := strings.TrimSuffix(base, path.Ext(base))
		return strings.HasPrefix(stem, "test") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests")
	case source.Ruby, source.PHP, source.JavaScript, source.TypeScript, source.Elixir:
		return hasTestName(base) || s.IsTestFile() && !slices.ContainsFunc(undiscoveredSuffixes, func(n string) bool { return strings.Contains(base, n) })
	default:
		return s.IsTestFile()
	}
}

// undiscoveredSuffixes are endings that take a file out of the usual globs.
var undiscoveredSuffixes = []string{".disabled.", ".bak.", ".skip.", ".old.", ".orig."}

// hasTestName reports whether the name of a file says that it holds tests.
func hasTestName(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	name := strings.TrimSuffix(base, path.Ext(base))
	return !strings.HasPrefix(base, "_") && (testSuffixRE.MatchString(name) || testPrefixRE.MatchString(stem))
}

var (
	testSuffixRE = regexp.MustCompile(`(?:^|[._-])(?:tests?|specs?|unittests?|cy|e2e|it)$|[a-z0-9](?:Tests?|Specs?|TestCase|IT)(?:\d+|\+\w+)?$`)
	testPrefixRE = regexp.MustCompile(`^test|^spec_|^Tests?(?:[A-Z_]|$)`)
)

// isInHiddenFolder reports whether a path is in a folder that runners ignore.
func isInHiddenFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir[0] == '.' && dir != ".." || dir == "__pycache__"
	})
}

// movedWithProduct reports whether product code moved to the folder to which a test
// was moved, so that this is not a folder for unused files.
func (c *Change) movedWithProduct(f *ChangedFile) bool {
	dir := path.Dir(f.Path)
	return f.OldPath != "" && path.Base(f.Path) == path.Base(f.OldPath) && slices.ContainsFunc(c.Files, func(g *ChangedFile) bool {
		return g != f && !g.Before().IsTestFile() && path.Dir(g.Path) == dir && (g.Added || g.OldPath != "") && g.After().IsProduct()
	})
}

// minSuiteFiles is how many new files with tests, in addition to one that was moved, make a
// suite of a folder.
const minSuiteFiles = 3

// MovedToNewSuite reports whether a file of tests was moved into a folder with others
// that are new, and a changed configuration names that folder: a suite with a runner
// of its own.
func (c *Change) MovedToNewSuite(f *ChangedFile) bool {
	dir := path.Dir(f.Path)
	if IsInUnusedFolder(f.Path) || len(path.Base(dir)) < 4 || !slices.ContainsFunc(ConfigFiles.Of(c), func(g *ConfigFile) bool {
		return slices.ContainsFunc(g.AddedLines(), func(l Line) bool { return slices.Contains(WordRE.FindAllString(l.Text, -1), path.Base(dir)) })
	}) {
		return false
	}
	n := 0
	for _, g := range c.Files {
		if g.Added && path.Dir(g.Path) == dir && g.After().Language() == f.Before().Language() && slices.ContainsFunc(g.After().Inspection().Functions, func(fn source.Function) bool {
			return strings.HasPrefix(strings.ToLower(LastName(fn.Name)), "test")
		}) {
			n++
		}
	}
	return n >= minSuiteFiles
}

// LeavesDiscovery reports whether a file was renamed so that its tests are not
// found.
func (c *Change) LeavesDiscovery(f *ChangedFile) bool {
	return isRenamedOut(f.Before(), f.After()) && !c.movedWithProduct(f) && !c.isDiscoveredByFolder(f)
}

// isDiscoveredByFolder reports whether a file of JavaScript was moved within the folder of
// tests, where other new tests are not named as such either: the runner takes all files
// there.
func (c *Change) isDiscoveredByFolder(f *ChangedFile) bool {
	lang := f.After().Language()
	if lang != source.JavaScript && lang != source.TypeScript || IsInUnusedFolder(f.Path) || !IsInTestFolder(f.Path) || path.Dir(f.Path) == path.Dir(f.OldPath) {
		return false
	}
	n := 0
	for _, g := range c.Files {
		if g.Added && g.After().Language() == lang && IsInTestFolder(g.Path) && !hasTestName(path.Base(g.Path)) && len(g.After().Inspection().Tests) > 0 {
			n++
		}
	}
	return n >= minSuiteFiles
}
