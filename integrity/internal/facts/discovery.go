package facts

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// isRenamedOut reports whether a file was renamed so that its runner no longer finds it, judged by
// the usual names of test files.
func isRenamedOut(before, after *Side) bool {
	if !before.Exists() || !after.Exists() || before.Path == after.Path {
		return false
	}
	lostTestName := hasTestName(path.Base(before.Path)) && !hasTestName(path.Base(after.Path))
	isUndiscovered := isDiscovered(before) && !isDiscovered(after)
	movedToUnused := IsInUnusedFolder(after.Path) && !IsInUnusedFolder(before.Path)
	return lostTestName && before.Language() != source.Rust || isUndiscovered || movedToUnused
}

// DiscoversByName reports whether the usual runners of a language recognize test files by their
// names. The runners of other languages build all files of a folder, or of a list.
func DiscoversByName(lang source.Language) bool {
	switch lang {
	case source.CSharp, source.Swift, source.C, source.CPP, source.Kotlin, source.Scala:
		return false
	default:
		return true
	}
}

// unusedFolderRE matches the names of folders for files that are no longer used, such as _old,
// archive and tests_disabled.
var unusedFolderRE = regexp.MustCompile(`(?i)^(?:[._].+|(?:old|archived?|attic|disabled|backups?|bak|tmp|temp|unused|legacy|skip(?:ped)?|quarantined?|graveyard|deprecated|obsolete|trash|parked|ignored?|build|dist|out|target|docs?|misc|notes|scratch|wip|later)(?:[._-].*)?|.*[._-](?:old|bak|disabled|off|tests?_?disabled|archive|unused))$`)

// IsInUnusedFolder reports whether a path is in a folder for files that are no longer used.
func IsInUnusedFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir != ".." && dir != "__tests__" && unusedFolderRE.MatchString(dir)
	})
}

// isDiscovered reports whether the name of a file is one that runners look for. It is true where
// runners take any name.
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

// undiscoveredSuffixes are parts of file names that take a file out of the usual globs, as in
// a.test.skip.js.
var undiscoveredSuffixes = []string{".disabled.", ".bak.", ".skip.", ".old.", ".orig."}

// hasTestName reports whether the name of a file says that it holds tests.
func hasTestName(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	name := strings.TrimSuffix(base, path.Ext(base))
	return !strings.HasPrefix(base, "_") && (testSuffixRE.MatchString(name) || testPrefixRE.MatchString(stem))
}

var (
	// testSuffixRE matches the end of the name of a test file without its extension, such as
	// calc_test, calc.spec and CalcTest. testPrefixRE matches the beginning, such as test_calc and
	// TestCalc.
	testSuffixRE = regexp.MustCompile(`(?:^|[._-])(?:tests?|specs?|unittests?|cy|e2e|it)$|[a-z0-9](?:Tests?|Specs?|TestCase|IT)(?:\d+|\+\w+)?$`)
	testPrefixRE = regexp.MustCompile(`^test|^spec_|^Tests?(?:[A-Z_]|$)`)
)

// isInHiddenFolder reports whether a path is in a folder that runners ignore.
func isInHiddenFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return len(dir) > 1 && dir[0] == '.' && dir != ".." || dir == "__pycache__"
	})
}

// movedWithProduct reports whether product code moved to the same folder as a test file. Then the
// folder is not one for unused files.
func (c *Change) movedWithProduct(f *ChangedFile) bool {
	if f.OldPath == "" || path.Base(f.Path) != path.Base(f.OldPath) {
		return false
	}
	return slices.ContainsFunc(c.Files, func(g *ChangedFile) bool {
		isNewThere := path.Dir(g.Path) == path.Dir(f.Path) && (g.Added || g.OldPath != "")
		return g != f && isNewThere && !g.Before().IsTestFile() && g.After().IsProduct()
	})
}

// minSuiteFiles is how many new test files a folder must have, in addition to one that was
// moved there, to count as a test suite.
const minSuiteFiles = 3

// MovedToNewSuite reports whether a test file moved to a folder with other new tests that a changed
// configuration names. Such a folder is a suite with a separate runner.
func (c *Change) MovedToNewSuite(f *ChangedFile) bool {
	dir := path.Dir(f.Path)
	if IsInUnusedFolder(f.Path) || len(path.Base(dir)) < 4 || !c.isConfigured(path.Base(dir)) {
		return false
	}
	return minSuiteFiles <= Count(c.Files, func(g *ChangedFile) bool {
		isNewThere := g.Added && path.Dir(g.Path) == dir && g.After().Language() == f.Before().Language()
		return isNewThere && slices.ContainsFunc(g.After().Inspection().Functions, func(fn source.Function) bool {
			return strings.HasPrefix(strings.ToLower(LastName(fn.Name)), "test")
		})
	})
}

// isConfigured reports whether a line that was added to a configuration file has a word.
func (c *Change) isConfigured(word string) bool {
	return slices.ContainsFunc(ConfigFiles.Of(c), func(f *ConfigFile) bool {
		return slices.ContainsFunc(f.AddedLines(), func(l Line) bool { return slices.Contains(WordRE.FindAllString(l.Text, -1), word) })
	})
}

// LeavesDiscovery reports whether a file was renamed so that its tests are not found.
func (c *Change) LeavesDiscovery(f *ChangedFile) bool {
	return isRenamedOut(f.Before(), f.After()) && !c.movedWithProduct(f) && !c.isDiscoveredByFolder(f)
}

// isDiscoveredByFolder reports whether a JavaScript file moved within the folders of tests to a
// place where other new tests do not have the names of tests either. Then the runner takes all
// files there.
func (c *Change) isDiscoveredByFolder(f *ChangedFile) bool {
	movedWithinTests := IsInTestFolder(f.Path) && !IsInUnusedFolder(f.Path) && path.Dir(f.Path) != path.Dir(f.OldPath)
	if !f.After().IsScript() || !movedWithinTests {
		return false
	}
	return minSuiteFiles <= Count(c.Files, func(g *ChangedFile) bool {
		isUnnamedTest := IsInTestFolder(g.Path) && !hasTestName(path.Base(g.Path)) && len(g.After().Inspection().Tests) > 0
		return g.Added && g.After().Language() == f.After().Language() && isUnnamedTest
	})
}
