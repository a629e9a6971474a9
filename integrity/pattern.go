package integrity

import (
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

// Pattern is a rule of the user's own: lines added to, or removed from, some files.
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
	// Unless is a regular expression: where an added line of the file matches it,
	// as written, nothing is found there.
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

func (e *PatternError) Unwrap() error { return e.Err }

// CheckPatterns returns a [PatternError] for the first invalid pattern.
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

// ReadPatterns reads a file of patterns: YAML with a list under "patterns". An
// error names the file, the line and the remedy.
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
	if err := CheckPatterns(doc.Patterns); err != nil {
		var at *PatternError
		if line := 0; errors.As(err, &at) {
			if line = patternLine(text, at); line > 0 {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc.Patterns, nil
}

// patternLine returns the line of a field of a pattern, of the pattern, or 0.
func patternLine(text []byte, at *PatternError) int {
	for _, end := range []string{"." + at.Field, ""} {
		path, err := yaml.PathString(fmt.Sprintf("$.patterns[%d]%s", at.Index, end))
		if err != nil {
			continue
		}
		if node, err := path.ReadNode(strings.NewReader(string(text))); err == nil && node != nil && node.GetToken() != nil {
			return node.GetToken().Position.Line
		}
	}
	return 0
}

// userRule is a pattern that is ready to be used.
type userRule struct {
	Pattern
	severity               metric.Severity
	languages              []source.Language
	added, removed, unless *regexp.Regexp
}

// compile makes a pattern ready, or returns the field that is wrong and what is
// wrong with it.
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

// checkFields returns the first field without a value, or with one that is not allowed.
func (p Pattern) checkFields() (field string, err error) {
	switch {
	case p.ID == "":
		return "id", errors.New("it is missing; give the pattern a name of its own, such as ACME-01")
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

// find looks through the changed files.
func (m *userRule) find(c *facts.Change) []Finding {
	var out []Finding
	for _, f := range c.Files {
		if !m.appliesTo(f) {
			continue
		}
		added, came := m.firstMatch(f.After(), f.AddedLines(), m.added)
		removed, gone := m.firstMatch(f.Before(), f.RemovedLines(), m.removed)
		if m.added != nil && !came || m.removed != nil && !gone {
			continue
		}
		if m.unless != nil {
			if _, excused := facts.FirstMatchingLine(f.AddedLines(), m.unless); excused {
				continue
			}
		}
		finding := Finding{File: f.Path, Line: added.Number, Evidence: facts.ShortenEvidence(added.Text)}
		if !came {
			finding.Evidence = facts.ShortenEvidence(removed.Text)
			if f.Deleted {
				finding.Line = removed.Number
			}
		}
		out = append(out, finding)
	}
	return out
}

// appliesTo reports whether the pattern applies to a file.
func (m *userRule) appliesTo(f *facts.ChangedFile) bool {
	side := f.After()
	if f.Deleted {
		side = f.Before()
	}
	if len(m.languages) > 0 && !slices.Contains(m.languages, side.Language()) {
		return false
	}
	if len(m.Files) > 0 && !slices.ContainsFunc(m.Files, func(glob string) bool { return doublestar.MatchUnvalidated(glob, side.Path) }) {
		return false
	}
	switch m.Where {
	case "test":
		return side.IsTestFile() || facts.IsInTestFolder(side.Path)
	case "product":
		return side.IsProduct()
	case "config":
		return side.ConfigKind() != configtext.None
	}
	return true
}

// firstMatch returns the first line of which the expression matches the part in question.
func (m *userRule) firstMatch(s *facts.Side, list []facts.Line, re *regexp.Regexp) (facts.Line, bool) {
	if re == nil || len(list) == 0 {
		return facts.Line{}, false
	}
	part := m.matchedText(s)
	for _, l := range list {
		if l.Number <= len(part) && re.MatchString(part[l.Number-1]) {
			return l, true
		}
	}
	return facts.Line{}, false
}

// matchedText returns the lines of a text, reduced to what the pattern matches.
func (m *userRule) matchedText(s *facts.Side) []string {
	texts := func(list []facts.Line) []string {
		out := make([]string, len(list))
		for i, l := range list {
			out[i] = l.Text
		}
		return out
	}
	known := s.Language() != source.Unknown
	switch {
	case m.In == "text" || !known && m.In != "comment":
		return texts(s.Lines())
	case m.In != "comment":
		return texts(facts.SplitLines(s.WithoutStrings()))
	case !known:
		return nil
	}
	plain := s.WithoutComments()
	comments := make([]byte, len(s.Text))
	for i, b := range s.Text {
		comments[i] = ' '
		if b == '\n' || b != plain[i] {
			comments[i] = b
		}
	}
	return texts(facts.SplitLines(comments))
}
