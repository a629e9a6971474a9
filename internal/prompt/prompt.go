// Package prompt writes what an agent is told at the start of an iteration: the
// task, and, by level, where the loop stands and what was rejected and why.
package prompt

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// Level is how much is said beside the task.
type Level uint8

// The levels of reinforcement, from nothing to everything.
const (
	Off Level = iota
	Minimal
	Standard
	Aggressive
)

var levelNames = [...]string{"OFF", "MINIMAL", "STANDARD", "AGGRESSIVE"}

// String returns the level as it is written in files.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level by name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level by name.
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

// ParseLevel reads a level by name, in any case. "ADAPTIVE" is no level but the
// rule [For], and is refused here.
func ParseLevel(name string) (Level, error) {
	i := slices.Index(levelNames[:], strings.ToUpper(name))
	if i < 0 {
		return Off, fmt.Errorf("unknown reinforcement level %q: want off, minimal, standard or aggressive", name)
	}
	return Level(i), nil
}

// Situation is what the level follows from.
type Situation struct {
	Iteration int
	Plateau   bool // the last iteration was a plateau
	Rejected  bool // the last iteration was rejected
}

// For returns the level for the next iteration and the reason for it:
// aggressive after a rejection or on a plateau and from iteration 5, standard
// from iteration 3, minimal before.
func For(s Situation) (Level, string) {
	switch {
	case s.Rejected:
		return Aggressive, "the last iteration was rejected"
	case s.Plateau:
		return Aggressive, "the last iteration was a plateau"
	case s.Iteration >= 5:
		return Aggressive, "iteration 5 or later"
	case s.Iteration >= 3:
		return Standard, "iteration 3 or 4"
	}
	return Minimal, "iteration 1 or 2"
}

// Facts are the numbers of this loop that the text names.
type Facts struct {
	Task      string
	Iteration int
	Max       int // 0: no limit
	Criterion string
	Measured  bool // tests were measured
	Passed    int
	Count     int
	Failing   []string // names of failing tests
	Hidden    int      // failing tests whose names the agent is not told
	Coverage  string   // "81.2%", "" when not measured
	Errors    string   // "3", "" when not measured
	Changes   []Change // that the last iteration made, when it was not rejected
	Rejection *Rejection
	Open      []string // findings about integrity that stand against the tree
}

// Change are tests to which the same thing happened.
type Change struct {
	What  string
	Tests []string
}

// Rejection is what was done with the last iteration, and why.
type Rejection struct {
	Iteration int
	Reasons   []string
	Tests     []string // the tests it is about
	Advice    string
}

//go:embed templates
var embedded embed.FS

// names caps how many tests are named, so that the text stays within its
// budget of about 50, 150 or 300 tokens.
var names = [...]int{Off: 0, Minimal: 2, Standard: 6, Aggressive: 10}

// changed caps the tests of each kind of change; the minimal text names none.
var changed = [...]int{Off: 0, Minimal: 0, Standard: 1, Aggressive: 3}

// openNamed caps the open findings, which are told at every level.
const openNamed = 2

// Text returns the whole prompt of an iteration.
func Text(level Level, f Facts) (string, error) {
	if level == Off {
		return f.Task, nil
	}
	f.Failing = shorten(f.Failing, names[level])
	f.Open = shorten(f.Open, openNamed)
	f.Changes = slices.Clone(f.Changes)
	for i, c := range f.Changes {
		f.Changes[i].Tests = shorten(c.Tests, changed[level])
	}
	if f.Rejection != nil {
		r := *f.Rejection
		r.Tests = shorten(r.Tests, names[level])
		f.Rejection = &r
	}
	t, err := template.New("").Funcs(template.FuncMap{"join": strings.Join}).ParseFS(embedded, "templates/*.md")
	if err != nil {
		return "", fmt.Errorf("read prompt templates: %w", err)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, strings.ToLower(level.String())+".md", f); err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	return strings.TrimSpace(f.Task+"\n\n"+strings.TrimSpace(blank.ReplaceAllString(b.String(), "\n"))) + "\n", nil
}

// blank are the lines that a part without anything to say leaves.
var blank = regexp.MustCompile(`[ \t]*\n\s*\n`)

func shorten(list []string, limit int) []string {
	if len(list) <= limit {
		return list
	}
	return append(slices.Clone(list[:limit]), fmt.Sprintf("and %d more", len(list)-limit))
}
