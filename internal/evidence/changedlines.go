package evidence

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"supervise/detector"
	"supervise/integrity"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// ChangedLines returns the lines of product code that the change added or changed and that can be
// executed, by file, and which of them tests execute. Lines that moved within a file or with it,
// comments, tests, and generated and vendored files do not count. It reads Before (its missing
// suites), Now, Changes, Read and Base. Errors are those of Read.
func (c CoverageChange) ChangedLines() ([]detector.ChangedLines, error) {
	files, err := readFiles(c.Changes, c.Read)
	if err != nil {
		return nil, err
	}
	var moved movedFiles
	var paths []string
	for _, f := range files {
		moved.add(f)
		if !f.Deleted {
			paths = append(paths, f.Path)
		}
	}
	files = joinRenamed(files, moved.renames())
	roles := integrity.Roles(files, c.Base)
	report, texts := c.report(paths), &integrity.InspectionCache{}

	var out []detector.ChangedLines
	for _, f := range files {
		if f.Deleted || roles[f.Path] != integrity.Product || source.DetectLanguage(f.Path, f.After) == source.Unknown || source.IsVendored(f.Path) || source.IsGenerated(f.Path, f.After) {
			continue
		}
		if lines := changedLines(f, texts); lines != "" {
			if l := report.linesOf(f, lines, texts.Inspect(f.Path, f.After).File); l.Lines != "" || l.Unknown != "" {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b detector.ChangedLines) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// changedLines returns the lines of the new text that are neither in the old one nor blank, comments or
// inline tests.
func changedLines(f integrity.File, texts *integrity.InspectionCache) metric.LineSet {
	before, after := texts.Inspect(f.Path, f.Before).Plain, texts.Inspect(f.Path, f.After).Plain
	old := map[int]bool{}
	for _, n := range keptLines(before, after) {
		old[n] = true
	}
	inline := source.FindInlineTests(f.Path, f.After)
	var out []metric.Span
	for i, l := range trimmedLines(after) {
		n := i + 1
		isTest := slices.ContainsFunc(inline, func(t source.InlineTests) bool { return t.ContainsLine(n) })
		if !old[n] && !isTest && hasLetter(l) {
			out = append(out, metric.Span{First: n, Last: n})
		}
	}
	return metric.NewLineSet(metric.UnionSpans(nil, out))
}

// hasLetter reports whether a line has a letter or a digit.
func hasLetter(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// lineReport is a report of the lines that tests execute.
type lineReport struct {
	why    string                         // see [CoverageChange.UnknownLines]
	files  map[string]metric.FileCoverage // by the path in the project, of changed files
	listed map[string]bool                // folders and extensions of files in the report, as in "web/*.ts"
}

// report returns what is known of files that exist. A name in the report that fits another file of the
// project as well is not theirs.
func (c CoverageChange) report(paths []string) lineReport {
	r := lineReport{why: c.UnknownLines(), files: map[string]metric.FileCoverage{}, listed: map[string]bool{}}
	if r.why != "" {
		return r
	}
	byName := make(map[string]metric.FileCoverage, len(c.Now.Files))
	for _, f := range c.Now.Files {
		byName[f.Path] = f
		r.listed[siblings(f.Path)] = true
	}
	isDeleted := func(p string) bool {
		return slices.ContainsFunc(c.Changes, func(d snapshot.Change) bool { return d.Path == p && d.Kind == snapshot.Deleted })
	}
	project := map[string][]string{} // by base name
	for _, p := range slices.Concat(paths, c.basePaths()) {
		project[path.Base(p)] = append(project[path.Base(p)], p)
	}
	for p, name := range NamesOf(paths, c.Now) {
		fit := func(file string) int { return similarity(file, name, c.Now.Format == "go") }
		fitsAsWell := func(other string) bool { return other != p && fit(other) >= fit(p) && !isDeleted(other) }
		if !slices.ContainsFunc(project[path.Base(p)], fitsAsWell) {
			r.files[p] = byName[name]
		}
	}
	return r
}

// UnknownLines says why no lines are known that tests execute now, "" if they are. Suites that did not run
// before the change either miss nothing.
func (c CoverageChange) UnknownLines() string {
	ranBefore := func(suite string) bool { return c.Before == nil || !slices.Contains(c.Before.MissingSuites, suite) }
	switch {
	case c.Now == nil:
		return "coverage is not measured"
	case !c.Now.NamesLines():
		return "the coverage report names no lines"
	case slices.ContainsFunc(c.Now.Files, isPartial) && !slices.ContainsFunc(c.Now.Files, namesMissed): // an older record
		return "lines that are not executed are not recorded"
	case slices.ContainsFunc(c.Now.MissingSuites, ranBefore):
		return "not all suites ran"
	}
	return ""
}

func isPartial(f metric.FileCoverage) bool   { return f.Covered < f.Total }
func namesMissed(f metric.FileCoverage) bool { return f.NotExecuted != "" }

// basePaths returns the files before the change, as far as they are known.
func (c CoverageChange) basePaths() []string {
	if c.Base.Paths == nil {
		return nil
	}
	return c.Base.Paths()
}

// siblings returns the pattern of files of the same folder and kind.
func siblings(name string) string { return path.Join(path.Dir(name), "*"+path.Ext(name)) }

// linesOf returns which of the changed lines of a file can be executed, and which are. A new file that
// is not in the report is untested if it is in a language whose tools list only files that tests
// load, it defines functions, and the report has other files of its folder.
func (r lineReport) linesOf(f integrity.File, changed metric.LineSet, in source.File) detector.ChangedLines {
	out := detector.ChangedLines{Path: f.Path, Changed: changed}
	have, listed := r.files[f.Path]
	isLoaded, hasFunctions := slices.Contains(loadedLanguages, in.Language), len(in.Functions) > 0 && in.Functions[0].Name != source.FileScope
	switch {
	case r.why != "":
		out.Unknown = r.why
	case listed:
		out.Lines, out.Executed = changed.In(have.Executed.Plus(have.NotExecuted)), changed.In(have.Executed)
	case !hasFunctions && !isLoaded: // nothing can be executed
	case f.Added && hasFunctions && isLoaded && r.listed[siblings(f.Path)]:
		out.Lines = changed
	default:
		out.Unknown = "not in the coverage report"
	}
	return out
}

// loadedLanguages are those whose files are loaded when they are used, and then execute their code
// outside of functions.
var loadedLanguages = []source.Language{source.Python, source.JavaScript, source.TypeScript, source.Ruby, source.PHP, source.Shell}
