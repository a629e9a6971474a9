// Package facts holds what the rules know about a change: the files before and after, the tests in
// them and how they match, the configuration, and what is derived from these. A [Fact] is computed
// at first use and is the same for every rule. Nothing here judges, and nothing here knows a rule.
//
// A [Change] has one [ChangedFile] for each file, and that has two [Side] values: the text before
// and after, with what is read from it. From the sides, matcher.go pairs the tests before the
// change with those after it; [Tests] has the result. A test without a counterpart is a [Loss].
// inventory.go finds what explains a loss for certain, and retired.go and successor.go what may
// explain it. configs.go pairs the settings of configuration files. discovery.go knows the names of
// files that runners find. finding.go has what rules return.
package facts

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"supervise/internal/regexp"
	"supervise/source"
)

// Change is the input of the rules: the changed files, and the facts that are derived from
// them. Each [Fact] is computed once, and only if a rule needs it.
type Change struct {
	Files  []*ChangedFile
	Base   Tree     // the project before the change, see [Change.BaseTests]
	values sync.Map // functions that return what was derived so far, by their *Fact
}

// New returns the facts about a change of files in a project. texts, unless nil, is a cache that
// may have some of the texts already.
func New(files []File, base Tree, texts *InspectionCache) *Change {
	files = joinTranslated(files)
	c := &Change{Files: make([]*ChangedFile, len(files)), Base: base}
	for i, f := range files {
		c.Files[i] = &ChangedFile{File: f, sides: [2]Side{
			{Path: cmp.Or(f.OldPath, f.Path), Text: f.Before, texts: texts},
			{Path: f.Path, Text: f.After, texts: texts},
		}}
	}
	return c
}

// Fact is a value that is derived from a change. It is computed at first use, and then kept for
// every rule that asks for it.
type Fact[T any] struct {
	derive func(*Change) T
}

// Define makes a fact of the function that derives it.
func Define[T any](derive func(*Change) T) *Fact[T] { return &Fact[T]{derive} }

// Of returns the value for a change. It may be called from several goroutines.
func (f *Fact[T]) Of(c *Change) T {
	value, ok := c.values.Load(f)
	if !ok {
		value, _ = c.values.LoadOrStore(f, sync.OnceValue(func() T { return f.derive(c) }))
	}
	return value.(func() T)()
}

// lazy is a value that is computed at first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

// get returns the value, which the first call computes.
func (l *lazy[T]) get(compute func() T) T {
	l.once.Do(func() { l.value = compute() })
	return l.value
}

// ReadAhead reads what every audit asks for, several files at a time.
func (c *Change) ReadAhead() {
	Parallel(len(c.Files), func(i int) {
		f := c.Files[i]
		f.AddedLines()
		for _, s := range []*Side{f.Before(), f.After()} {
			s.ConfigKind()
			if s.MayHoldTests() {
				s.Inspection()
			}
		}
	})
}

// TouchesProduct reports whether product code changed, except for the tests in its files.
func (c *Change) TouchesProduct() bool {
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		isProduct := f.Before().IsProduct() || f.After().IsProduct()
		return isProduct && !f.changesOnlyInlineTests() && f.HasChangedLines()
	})
}

// TouchesSource reports whether anything but tests and documentation changed. Such a change may be
// the reason why an expected value changed.
var TouchesSource = Define(func(c *Change) bool {
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		return !f.BelongsToTests() && !IsDocumentation(f.Path)
	})
})

// HasMergeConflict reports whether a file contains the markers of an unresolved merge.
func (c *Change) HasMergeConflict(name string) bool {
	marker := []byte("\n<<<<<<< ")
	return slices.ContainsFunc(c.Files, func(f *ChangedFile) bool {
		if f.Path != name || !bytes.Contains(f.After().Text, marker) {
			return false
		}
		return f.After().Language() != source.Unknown && bytes.Contains(f.After().WithoutStrings(), marker)
	})
}

// IsDocumentation reports whether a file is documentation, by its name.
func IsDocumentation(name string) bool {
	if slices.Contains([]string{".md", ".rst", ".txt", ".adoc", ".markdown"}, strings.ToLower(path.Ext(name))) {
		return true
	}
	return slices.ContainsFunc([]string{"CHANGELOG", "CHANGES", "LICENSE", "AUTHORS"}, func(prefix string) bool {
		return strings.HasPrefix(strings.ToUpper(path.Base(name)), prefix)
	})
}

// GoldenFileRE matches files with expected output that the test runner writes itself, such as
// __snapshots__/app.test.js.snap and want.golden.
var GoldenFileRE = regexp.MustCompile(`(?i)\.(snap|ambr|golden|approved\.\w+|verified\.\w+|want|expected|expect|exp|snapshot|stdout|stderr)$|(^|/)(__snapshots__|__image_snapshots__|snapshots?|goldens?|golden[-_]?files?|expected|approvals|cassettes)/[^/]+|\.golden\.\w+$|\.snap\.\w+$|-snapshots/`)

// DependencyFileRE matches files that declare dependencies, such as go.mod and package-lock.json. A
// new version of a dependency may rightly change what is expected.
var DependencyFileRE = regexp.MustCompile(`(^|/)(package\.json|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|go\.(mod|sum)|Cargo\.(toml|lock)|requirements[\w.-]*\.txt|pyproject\.toml|poetry\.lock|uv\.lock|Gemfile(\.lock)?|composer\.(json|lock)|pom\.xml|build\.gradle(\.kts)?|mix\.(exs|lock)|[\w.-]+proj)$`)

// BaseFiles returns the paths of the project before the change, and whether they
// are known.
func (c *Change) BaseFiles() (paths []string, known bool) {
	if c.Base.Paths == nil {
		return nil, false
	}
	paths = c.Base.Paths()
	// A project without any file is a new one; otherwise its files could not be read.
	return paths, len(paths) > 0 || !slices.ContainsFunc(c.Files, func(f *ChangedFile) bool { return !f.Added })
}

// IsNewProject reports whether the project had no code before the change.
func (c *Change) IsNewProject() bool {
	there, known := c.BaseFiles()
	return known && !slices.ContainsFunc(there, func(name string) bool { return source.DetectLanguage(name, nil) != source.Unknown })
}

// FragmentRE matches the words of at least three letters, and the numbers, that show what a line is
// about.
var FragmentRE = regexp.MustCompile(`[A-Za-z]{3,}|\d+`)

// ChangedWords are the words of all lines that were added to, or removed from, files that are
// neither tests nor documentation, in lower case.
var ChangedWords = Define(func(c *Change) map[string]bool {
	out := map[string]bool{}
	for _, f := range c.Files {
		if f.BelongsToTests() || IsDocumentation(f.Path) {
			continue
		}
		for _, l := range slices.Concat(f.AddedLines(), f.RemovedLines()) {
			addFragments(out, l.Text)
		}
	}
	return out
})

// addFragments adds the fragments of a text, in lower case.
func addFragments(into map[string]bool, text string) {
	for _, w := range FragmentRE.FindAllString(text, -1) {
		into[strings.ToLower(w)] = true
	}
}

// IsUnrelated reports whether no word that differs between two texts occurs in the changed lines of
// the other files, so that these do not explain the difference.
func (c *Change) IsUnrelated(before, after string) bool {
	old, added := map[string]bool{}, map[string]bool{}
	addFragments(old, before)
	addFragments(added, after)
	for word := range ChangedWords.Of(c) {
		if old[word] != added[word] {
			return false
		}
	}
	return true
}

// MaxIsolatedRewrites is the largest number of rewritten expected values at which each value is
// judged by itself. A change of behavior usually rewrites more.
const MaxIsolatedRewrites = 2

// IsIsolatedRecording reports whether a few lines of a recorded output changed that have
// nothing to do with the rest of the change.
func (c *Change) IsIsolatedRecording(f *ChangedFile) bool {
	if n := len(f.RemovedLines()); n > MaxIsolatedRewrites || n != len(f.AddedLines()) {
		return false
	}
	before, after := joinLines(f.RemovedLines()), joinLines(f.AddedLines())
	sameFragments := slices.Equal(FragmentRE.FindAllString(before, -1), FragmentRE.FindAllString(after, -1))
	return !sameFragments && c.IsUnrelated(before, after)
}

// joinLines returns the texts of lines, each with a line feed.
func joinLines(list []Line) string {
	return strings.Join(Map(list, func(l Line) string { return l.Text + "\n" }), "")
}

// AddedTestCode is the text that was added to test files which runners find, without comments and
// white space.
var AddedTestCode = Define(func(c *Change) string {
	isSkipped := func(*ChangedFile, Line) bool { return false }
	return c.addedCode(func(f *ChangedFile) bool { return f.After().MayHoldTests() && !c.LeavesDiscovery(f) }, isSkipped)
})

// addedCode returns the lines that were added to the files for which isIncluded is true, without
// those for which isSkipped is true. Comments and white space are removed, so each file is one
// line.
func (c *Change) addedCode(isIncluded func(*ChangedFile) bool, isSkipped func(*ChangedFile, Line) bool) string {
	var b strings.Builder
	for _, f := range Filter(c.Files, isIncluded) {
		for _, l := range f.AddedLinesOfCode() {
			if !isSkipped(f, l) {
				b.WriteString(RemoveSpace(l.Text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
