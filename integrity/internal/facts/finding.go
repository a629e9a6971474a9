package facts

import (
	"strings"

	"supervise/metric"
)

// ShortenEvidence returns a text for a finding: on one line, with single blanks, and at most 160
// characters long.
func ShortenEvidence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const limit = 160
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// File is one changed file, before and after. Paths are slash separated and relative to the root of
// the project.
type File struct {
	Path    string // the path after the change, or before it if the file is gone
	OldPath string // the path before the change if the file was renamed, otherwise ""
	// Before and After are its text; nil if the file does not exist, or is not read
	// because it is binary or too long.
	Before, After []byte
	// Added and Deleted say that the file is new, or gone.
	Added, Deleted bool
}

// Finding is one place where a rule fires.
type Finding struct {
	// Rule is the pattern of the catalogue, "TP-05".
	Rule string `json:"rule"`
	// Type is its name in words, "unconditional_skip".
	Type string `json:"type"`
	// Severity is Critical for what may be rolled back automatically, High for what
	// needs a person's review, and Medium, Low or Info for what is only reported.
	Severity metric.Severity `json:"severity"`
	// SeverityIfRan is the severity if the test is known to have run before the change and not
	// after it, whatever reason the text gives; 0 means Severity. It is for callers that
	// ran the tests.
	SeverityIfRan metric.Severity `json:"-"`
	File          string          `json:"file"`
	// Line is where, from 1, in the file after the change, or before it where it
	// is gone; 0 is the entire file.
	Line int `json:"line,omitempty"`
	// Test is the name of the test concerned, as its runner prints it.
	Test string `json:"test,omitempty"`
	// Evidence are the lines that show it, as written, shortened.
	Evidence string `json:"evidence,omitempty"`
	// ExplainedBy says what makes it harmless, "" for nothing: what is explained
	// is at most Info.
	ExplainedBy string `json:"explained_by,omitempty"`
}

// NewFinding returns a finding in a changed file. line is 0 for the entire file.
func (f *ChangedFile) NewFinding(line int, evidence string) Finding {
	return Finding{File: f.Path, Line: line, Evidence: ShortenEvidence(evidence)}
}

// NewFinding returns a finding about a test.
func (t *Test) NewFinding(line int, evidence string) Finding {
	return Finding{File: t.Side.Path, Line: line, Test: t.Name, Evidence: ShortenEvidence(evidence)}
}

// WithSeverity returns the finding with a severity, 0 for that of its rule.
func (f Finding) WithSeverity(s metric.Severity) Finding {
	f.Severity = s
	return f
}

// Report receives the findings of a rule one by one. Rule, Type and, where it is 0, Severity are
// filled in from the row of the rule.
type Report func(Finding)

// Finder reports what one rule finds in a change.
type Finder func(*Change, Report)

// Rule is a row of the table: one pattern of the catalogue.
type Rule struct {
	ID       string // "TP-05"
	Name     string // "unconditional_skip"
	Severity metric.Severity
	Find     Finder
	// Fires, Grades and Spares are the row of the documentation, in Markdown: what the
	// rule fires on, its severities where Severity is not the only one, and what it
	// does not fire on.
	Fires, Grades, Spares string
}

// Combine reports what several functions find, one after another.
func Combine(list ...Finder) Finder {
	return func(c *Change, report Report) {
		for _, find := range list {
			find(c, report)
		}
	}
}

// ForEach reports what a function finds in each element of a list that is derived from the change.
func ForEach[T any](list *Fact[[]T], find func(*Change, T, Report)) Finder {
	return func(c *Change, report Report) {
		for _, x := range list.Of(c) {
			find(c, x, report)
		}
	}
}

// PerFile reports what a function finds in each of the changed files.
func PerFile(find func(*ChangedFile, Report)) Finder {
	return ForEach(Files, func(_ *Change, f *ChangedFile, report Report) { find(f, report) })
}

// PerConfigFile reports what a function finds in each of the changed configuration files.
func PerConfigFile(find func(*ConfigFile, Report)) Finder {
	return ForEach(ConfigFiles, func(_ *Change, f *ConfigFile, report Report) { find(f, report) })
}

// Files and Pairs are the changed files, and the tests that exist before and after the change.
var (
	Files = Define(func(c *Change) []*ChangedFile { return c.Files })
	Pairs = Define(func(c *Change) []Pair { return Tests.Of(c).Pairs })
)
