// Package prompt writes the prompt of an iteration: the task, the measured evidence, and
// reminders about the state of the loop, rejected changes and what to avoid.
//
// [Texts] are the templates of the reminders; a project may replace them. An [Escalation]
// determines the [Level], which limits their length. [Evidence] has the measured facts.
package prompt

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// Level is how much the prompt adds to the task.
type Level uint8

// The levels of reinforcement, from nothing to everything.
const (
	Off Level = iota
	Minimal
	Standard
	Aggressive
)

var levelNames = [...]string{"OFF", "MINIMAL", "STANDARD", "AGGRESSIVE"}

// budgets are the maximum sizes of one reminder in tokens, at about four bytes each.
var budgets = [...]int{Off: 0, Minimal: 50, Standard: 150, Aggressive: 300}

// Budget returns the maximum size of one reminder in tokens.
func (l Level) Budget() int { return budgets[l] }

// String returns the level as it is written in files.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the level by name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level by name.
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

// ParseLevel reads a level by name, in any case. "ADAPTIVE" is not a level: it stands for
// [Escalation.LevelFor].
func ParseLevel(name string) (Level, error) {
	i := slices.Index(levelNames[:], strings.ToUpper(name))
	if i < 0 {
		return Off, fmt.Errorf("unknown reinforcement level %q: want off, minimal, standard or aggressive", name)
	}
	return Level(i), nil
}

// Situation is the input of [Escalation.LevelFor].
type Situation struct {
	Iteration  int
	OnPlateau  bool // the last iteration was a plateau
	Rejected   bool // the last iteration was rejected
	SameErrors int  // how often the last error occurred in a row
	Setbacks   int  // how many of the last five iterations were rejected or regressions
	Circling   bool // metrics or trees repeat
	Falling    bool // quality fell twice in a row
}

// Threshold is the first iteration with a level.
type Threshold struct {
	From  int   `json:"from"`
	Level Level `json:"level"`
}

// Escalation is how the level rises with the number of the iteration. Nil means minimal at
// first, standard from iteration 3 and aggressive from iteration 5.
type Escalation []Threshold

var defaultEscalation = Escalation{{1, Minimal}, {3, Standard}, {5, Aggressive}}

// levelAt returns the level for the number of an iteration, with the reason.
func (e Escalation) levelAt(n int) (Level, string) {
	if e == nil {
		e = defaultEscalation
	}
	level, why := Minimal, "the first iterations"
	if len(e) > 0 {
		level = e[0].Level
	}
	for _, t := range e {
		if n >= t.From && t.From > 1 {
			level, why = t.Level, fmt.Sprintf("iteration %d or later", t.From)
		}
	}
	return level, why
}

// levelRules raise the level above that of [Escalation.levelAt]. The first rule that matches
// decides. No rule lowers the level.
var levelRules = []struct {
	level   Level
	why     string
	matches func(Situation) bool
}{
	{Aggressive, "the last iteration was rejected", func(s Situation) bool { return s.Rejected }},
	{Aggressive, "the same error occurred again", func(s Situation) bool { return s.SameErrors > 1 }},
	{Aggressive, "the loop goes in circles", func(s Situation) bool { return s.Circling }},
	{Aggressive, "the last iteration was a plateau", func(s Situation) bool { return s.OnPlateau }},
	{Aggressive, "two of the last five iterations were setbacks", func(s Situation) bool { return s.Setbacks > 1 }},
	{Aggressive, "quality fell twice in a row", func(s Situation) bool { return s.Falling }},
	{Standard, "an iteration was a setback lately", func(s Situation) bool { return s.Setbacks > 0 }},
}

// LevelFor returns the level for the next iteration, with the reason.
func (e Escalation) LevelFor(s Situation) (Level, string) {
	level, why := e.levelAt(s.Iteration)
	for _, r := range levelRules {
		if !r.matches(s) {
			continue
		}
		if r.level > level || r.level == Aggressive {
			return r.level, r.why
		}
		break
	}
	return level, why
}

// Facts are the values that the templates can use.
type Facts struct {
	Task      string
	Iteration int
	Max       int // 0: no limit
	Criterion string
	Measured  bool // tests were measured
	Passed    int
	Count     int
	Failed    int
	Failing   []string // names of failing tests, unless the evidence names them
	Hidden    int      // number of failing hidden tests
	Sealed    int      // number of sealed tests
	SealedIn  []string // files of failing sealed tests
	Coverage  string   // "81.2%", "" when not measured
	Errors    string   // "3", "" when not measured
	Changes   []Change // of tests in the last iteration, unless it was rejected
	Rejection *Rejection
	Note      string   // a remark on the last iteration, if it was kept
	Worse     []string // metrics that are much worse than at the baseline
	Open      []string // open integrity findings
	Error     *Failure // of the last iteration
	Near      bool     // no test fails: the agent may soon report that it is done
	Last      bool     // no iteration follows
	Risk      *Risk    // what the agent is about to do
	Blocked   string   // the command with which the agent reports that it cannot continue; "" if there is none
	Allowed   []string // tests that a person confirmed to be wrong
}

// Change is a kind of change with the tests that it applies to.
type Change struct {
	What  string
	Tests []string
}

// Rejection describes the rejected last iteration.
type Rejection struct {
	Iteration int
	Reasons   []string
	Tests     []string // tests of the findings
	Files     []string // files of the findings
	Advice    string
}

// Failure is an error, and how often it occurred in a row.
type Failure struct {
	Text  string
	Times int
}

// Risk is a tool call that may do harm.
type Risk struct {
	What   string // in words, "delete a test file"
	Target string // path or command, "" if there is none
	Why    string // the reason of the risk
}

// Prompt returns the complete prompt of an iteration, and the names of its points.
func (t *Texts) Prompt(level Level, f Facts) (string, []string, error) {
	if level == Off {
		return f.Task, nil, nil
	}
	parts, points := []string{f.Task}, []string(nil)
	for _, p := range pointsFor(f) {
		text, err := t.Reminder(p, level, f)
		if err != nil {
			return "", nil, err
		}
		if text != "" {
			points = append(points, string(p))
			if len(points) > 1 {
				parts[len(parts)-1] += "\n" + text
				continue
			}
			parts = append(parts, text)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n")) + "\n", points, nil
}

// pointsFor returns the points of a prompt, in their order.
func pointsFor(f Facts) []Point {
	out := []Point{Boundary}
	if f.Iteration <= 1 {
		out[0] = LoopStart
	}
	if f.Error != nil {
		out = append(out, AfterError)
	}
	if f.Rejection != nil || f.Note != "" || len(f.Open)+len(f.Worse) > 0 {
		out = append(out, AfterRegression)
	}
	if f.Blocked != "" {
		out = append(out, WayOut)
	}
	if len(f.Allowed) > 0 {
		out = append(out, Allowance)
	}
	return append(out, BeforeCompletion)
}

// blankLinesPattern matches the empty lines that empty parts of a template leave.
var blankLinesPattern = regexp.MustCompile(`[ \t]*\n\s*\n`)
