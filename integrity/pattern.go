package integrity

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// Pattern is a rule of the user: lines added to, or removed from, some files.
type Pattern struct {
	// ID and Type are the Rule and Type of its findings. ID must not be one of the
	// catalogue's.
	ID   string `yaml:"id" json:"id"`
	Type string `yaml:"type" json:"type"`
	// Severity is info, low, medium, high or critical; medium if empty.
	Severity string `yaml:"severity" json:"severity,omitempty"`
	// Languages are names of [source.Language], such as "go"; none means all, and
	// files that are not source code, too.
	Languages []string `yaml:"languages" json:"languages,omitempty"`
	// Files are globs of paths, where ** matches any folders; none means all.
	Files []string `yaml:"files" json:"files,omitempty"`
	// Where is test, product or config; empty means anywhere.
	Where string `yaml:"where" json:"where,omitempty"`
	// In is the part of a line that is matched: code, without comments and the
	// bodies of strings; text, as written; comment. Empty means code, and text in
	// files that are not source code.
	In string `yaml:"in" json:"in,omitempty"`
	// Added and Removed are regular expressions (RE2). An added line matches the
	// first, a removed one the second; with both, the file must have both.
	Added   string `yaml:"added" json:"added,omitempty"`
	Removed string `yaml:"removed" json:"removed,omitempty"`
	// Unless is a regular expression. Nothing is found in a file in which it matches an
	// added line, as written.
	Unless string `yaml:"unless" json:"unless,omitempty"`
}

// PatternError is an invalid pattern.
type PatternError struct {
	Index int    // in the list, from 0
	Field string // as in the file
	Err   error  // what is wrong, with the remedy
}

// Error says which pattern, which field, and what is wrong with it.
func (e *PatternError) Error() string {
	return fmt.Sprintf("patterns: number %d: %s: %v", e.Index+1, e.Field, e.Err)
}

// Unwrap returns what is wrong with the field.
func (e *PatternError) Unwrap() error { return e.Err }

// CheckPatterns returns a [PatternError] for the first invalid pattern, nil if all are valid.
func CheckPatterns(list []Pattern) error {
	seen := map[string]bool{}
	for i, p := range list {
		_, field, err := p.compile()
		switch {
		case err != nil:
		case len(UnknownRules([]string{p.ID})) == 0:
			field, err = "id", fmt.Errorf("%s is a rule of the catalogue; choose another", p.ID)
		case len(UnknownRules([]string{p.Type})) == 0:
			field, err = "type", fmt.Errorf("%s is a rule of the catalogue; choose another", p.Type)
		case seen[p.ID]:
			field, err = "id", fmt.Errorf("%s is there twice; give each pattern its own", p.ID)
		}
		if err != nil {
			return &PatternError{i, field, err}
		}
		seen[p.ID] = true
	}
	return nil
}

// ReadPatterns reads a file of patterns: YAML with a list under "patterns". An error names the
// file, the line and the remedy.
func ReadPatterns(name string, text []byte) ([]Pattern, error) {
	var doc struct {
		Patterns []Pattern `yaml:"patterns"`
	}
	if err := yaml.UnmarshalWithOptions(text, &doc, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, true))
	}
	if len(doc.Patterns) == 0 {
		return nil, fmt.Errorf("%s: no pattern in it; write a list under \"patterns:\"", name)
	}
	err := CheckPatterns(doc.Patterns)
	var invalid *PatternError
	if errors.As(err, &invalid) {
		if line := patternLine(text, invalid); line > 0 {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc.Patterns, nil
}

// patternLine returns the line of an invalid field in a file of patterns, or that of its pattern if
// the field is missing. It returns 0 if neither is found.
func patternLine(text []byte, invalid *PatternError) int {
	for _, suffix := range []string{"." + invalid.Field, ""} {
		path, err := yaml.PathString(fmt.Sprintf("$.patterns[%d]%s", invalid.Index, suffix))
		if err != nil {
			continue
		}
		if node, err := path.ReadNode(bytes.NewReader(text)); err == nil && node != nil && node.GetToken() != nil {
			return node.GetToken().Position.Line
		}
	}
	return 0
}

// userRule is a compiled pattern. An expression is nil if the pattern does not have it.
type userRule struct {
	Pattern
	severity               metric.Severity
	languages              []source.Language
	added, removed, unless *regexp.Regexp
}

// compile returns the pattern with its expressions compiled. If a field is invalid, it returns the
// name of the field and what is wrong with it.
func (p Pattern) compile() (m userRule, field string, err error) {
	m = userRule{Pattern: p, severity: metric.Medium}
	if field, err = p.checkFields(); err != nil {
		return m, field, err
	}

	if p.Severity != "" {
		if err := m.severity.UnmarshalText([]byte(strings.ToUpper(p.Severity))); err != nil {
			return m, "severity", fmt.Errorf("%q is not known; write info, low, medium, high or critical", p.Severity)
		}
	}

	for _, name := range p.Languages {
		var lang source.Language
		if err := lang.UnmarshalText([]byte(strings.ToLower(name))); err != nil {
			return m, "languages", err
		}
		m.languages = append(m.languages, lang)
	}

	for _, re := range []struct {
		field, text string
		to          **regexp.Regexp
	}{{"added", p.Added, &m.added}, {"removed", p.Removed, &m.removed}, {"unless", p.Unless, &m.unless}} {
		if re.text == "" {
			continue
		}
		if *re.to, err = regexp.Compile(re.text); err != nil {
			return m, re.field, fmt.Errorf("%w; the syntax is that of https://golang.org/s/re2syntax, write it in single quotes", err)
		}
	}
	return m, "", nil
}

// checkFields returns the first field that lacks a value or has one that is not allowed, and what
// is wrong with it.
func (p Pattern) checkFields() (field string, err error) {
	switch {
	case p.ID == "":
		return "id", errors.New("it is missing; give the pattern a unique name, such as ACME-01")
	case p.Type == "":
		return "type", errors.New("it is missing; say what was found, such as feature_flag_off")
	case p.Added == "" && p.Removed == "":
		return "added", errors.New("it is missing, and so is removed; give a regular expression for at least one")
	case !slices.Contains([]string{"", "test", "product", "config"}, p.Where):
		return "where", fmt.Errorf("%q is not known; write test, product or config, or leave it out", p.Where)
	case !slices.Contains([]string{"", "code", "text", "comment"}, p.In):
		return "in", fmt.Errorf("%q is not known; write code, text or comment, or leave it out", p.In)
	}
	for _, glob := range p.Files {
		if !doublestar.ValidatePattern(glob) {
			return "files", fmt.Errorf("%q is no glob; write one such as src/**/*.go", glob)
		}
	}
	return "", nil
}

// find reports at most one finding for each changed file.
func (r *userRule) find(c *facts.Change, report facts.Report) {
	for _, f := range facts.Filter(c.Files, r.appliesTo) {
		added, isAdded := r.firstMatch(f.After(), f.AddedLines(), r.added)
		removed, isRemoved := r.firstMatch(f.Before(), f.RemovedLines(), r.removed)
		isExcluded := r.unless != nil && len(facts.MatchingLines(f.AddedLines(), r.unless)) > 0
		if isExcluded || r.added != nil && !isAdded || r.removed != nil && !isRemoved {
			continue
		}
		switch {
		case isAdded:
			report(f.NewFinding(added.Number, added.Text))
		case f.Deleted:
			report(f.NewFinding(removed.Number, removed.Text))
		default:
			report(f.NewFinding(0, removed.Text))
		}
	}
}

// appliesTo reports whether the pattern applies to a file.
func (r *userRule) appliesTo(f *facts.ChangedFile) bool {
	side := f.After()
	if f.Deleted {
		side = f.Before()
	}
	if len(r.languages) > 0 && !slices.Contains(r.languages, side.Language()) {
		return false
	}
	if len(r.Files) > 0 && !slices.ContainsFunc(r.Files, func(glob string) bool { return doublestar.MatchUnvalidated(glob, side.Path) }) {
		return false
	}
	switch r.Where {
	case "test":
		return side.IsTestFile() || facts.IsInTestFolder(side.Path)
	case "product":
		return side.IsProduct()
	case "config":
		return side.ConfigKind() != configtext.None
	}
	return true
}

// firstMatch returns the first of some lines of a text whose relevant part an expression matches.
// It is false if there is none, or no expression.
func (r *userRule) firstMatch(s *facts.Side, lines []facts.Line, re *regexp.Regexp) (facts.Line, bool) {
	if re == nil || len(lines) == 0 {
		return facts.Line{}, false
	}
	text := r.matchedText(s)
	i := slices.IndexFunc(lines, func(l facts.Line) bool { return l.Number <= len(text) && re.MatchString(text[l.Number-1].Text) })
	if i < 0 {
		return facts.Line{}, false
	}
	return lines[i], true
}

// matchedText returns the lines of a text, reduced to the part that the pattern matches: code,
// comments or all. The lines keep their numbers. It returns nil for comments of a file that is not
// source code.
func (r *userRule) matchedText(s *facts.Side) []facts.Line {
	isSource := s.Language() != source.Unknown
	switch {
	case r.In == "text" || !isSource && r.In != "comment":
		return s.Lines()
	case r.In != "comment":
		return facts.SplitLines(s.WithoutStrings())
	case !isSource:
		return nil
	}

	plain := s.WithoutComments()
	comments := bytes.Repeat([]byte(" "), len(s.Text))
	for i, b := range s.Text {
		if b == '\n' || b != plain[i] {
			comments[i] = b
		}
	}
	return facts.SplitLines(comments)
}
