package metric

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Level is the severity of a finding of a linter or compiler.
type Level uint8

// The levels of a finding, in ascending order.
const (
	Note Level = iota + 1
	Warning
	Error
)

var levelNames = Names{Note: "note", Warning: "warning", Error: "error"}

// String returns the level as it is written in files.
func (l Level) String() string { return levelNames.Name(int(l)) }

// MarshalText writes the level by name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level by name. An unknown name is an error.
func (l *Level) UnmarshalText(text []byte) error {
	return levelNames.Parse("finding level", text, (*uint8)(l))
}

// Finding is one remark of a linter, type checker or compiler.
type Finding struct {
	Tool    string `json:"tool,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Level   Level  `json:"level"`
	Type    bool   `json:"type,omitempty"` // a type or compiler error, not a lint rule
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1, 0 unknown
	Column  int    `json:"column,omitempty"` // from 1, 0 unknown
	Message string `json:"message"`
	Text    string `json:"text,omitempty"` // the source line, where the report gives it
}

// Diagnostic returns the finding as compilers print it: file, line and message.
func (f Finding) Diagnostic() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// Fingerprint identifies the finding across edits that only move it: rule,
// path and normalised text (the source line where it is known, else the
// message), never a line number.
func (f Finding) Fingerprint() string {
	text := cmp.Or(f.Text, f.Message)
	sum := sha256.Sum256([]byte(f.Rule + "\x00" + f.File + "\x00" + strings.Join(strings.Fields(text), " ")))
	return hex.EncodeToString(sum[:8])
}

// Lint is what the linters, type checkers and compilers found.
type Lint struct {
	Findings []Finding `json:"findings"`
	Tools    []string  `json:"tools,omitempty"` // which tools were heard, those without findings too
	// ErrorFields are those of [ErrorFields] that make up error_count; none means all
	// of them.
	ErrorFields []Field `json:"error_fields,omitempty"`
}

// ErrorFields returns the numbers that can be part of error_count.
func ErrorFields() []Field { return []Field{LintErrors, LintWarnings, TypeErrors} }

// LintCounts are the sums of a set of findings; notes count as none of them.
type LintCounts struct {
	Errors, Warnings, TypeErrors int
}

// Counts returns the sums of l. Type and compiler errors count as type errors
// alone, whatever their level.
func (l *Lint) Counts() LintCounts {
	var n LintCounts
	if l == nil {
		return n
	}
	for _, f := range l.Findings {
		switch {
		case f.Type:
			n.TypeErrors++
		case f.Level == Error:
			n.Errors++
		case f.Level == Warning:
			n.Warnings++
		}
	}
	return n
}

// ErrorCount returns the sum that counts as the errors of l.
func (l *Lint) ErrorCount() int {
	n := l.Counts()
	if l == nil || len(l.ErrorFields) == 0 {
		return n.Errors + n.Warnings + n.TypeErrors
	}
	sum := 0
	for f, v := range map[Field]int{LintErrors: n.Errors, LintWarnings: n.Warnings, TypeErrors: n.TypeErrors} {
		if slices.Contains(l.ErrorFields, f) {
			sum += v
		}
	}
	return sum
}

// WithErrorFields returns l with the numbers named that make up error_count. A nil l
// stays nil.
func (l *Lint) WithErrorFields(fields []Field) *Lint {
	if l == nil {
		return nil
	}
	out := *l
	out.ErrorFields = fields
	return &out
}

// Merge returns the findings and tools of both, with the error fields of l. Either
// may be nil.
func (l *Lint) Merge(m *Lint) *Lint {
	if l == nil || m == nil {
		return cmp.Or(l, m)
	}
	tools := slices.Concat(l.Tools, m.Tools)
	slices.Sort(tools)
	return &Lint{Findings: slices.Concat(l.Findings, m.Findings), Tools: slices.Compact(tools), ErrorFields: l.ErrorFields}
}
