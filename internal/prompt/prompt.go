// Package prompt writes the prompt of an iteration: the task, the measured evidence and,
// by level, the state of the loop, what was rejected and why, and what to avoid. It
// measures nothing, and reads only the texts of a project.
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

// budgets are how many tokens one injection may have, at about four bytes each.
var budgets = [...]int{Off: 0, Minimal: 50, Standard: 150, Aggressive: 300}

// Budget is how many tokens one injection of the level has at most.
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
	Iteration  int
	OnPlateau  bool // the last iteration was a plateau
	Rejected   bool // the last iteration was rejected
	SameErrors int  // how often the last error came in a row
	Setbacks   int  // how many of the last five iterations were rejected or regressions
	Circling   bool // metrics or trees repeat
	Falling    bool // quality fell twice in a row
}

// Threshold is an iteration from which on a level holds.
type Threshold struct {
	From  int   `json:"from"`
	Level Level `json:"level"`
}

// Escalation says how the level rises with the number of the iteration; nil is
// minimal at first, standard from iteration 3 and aggressive from iteration 5.
type Escalation []Threshold

var usual = Escalation{{1, Minimal}, {3, Standard}, {5, Aggressive}}

// at returns the level that the number of an iteration asks for.
func (e Escalation) at(n int) (Level, string) {
	if e == nil {
		e = usual
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

// history are the rules by which what happened raises the level above what the
// number of the iteration asks for; the first that holds decides. It never lowers
// it.
var history = []struct {
	level Level
	why   string
	holds func(Situation) bool
}{
	{Aggressive, "the last iteration was rejected", func(s Situation) bool { return s.Rejected }},
	{Aggressive, "the same error came again", func(s Situation) bool { return s.SameErrors > 1 }},
	{Aggressive, "the loop goes in circles", func(s Situation) bool { return s.Circling }},
	{Aggressive, "the last iteration was a plateau", func(s Situation) bool { return s.OnPlateau }},
	{Aggressive, "two of the last five iterations were setbacks", func(s Situation) bool { return s.Setbacks > 1 }},
	{Aggressive, "quality fell twice in a row", func(s Situation) bool { return s.Falling }},
	{Standard, "an iteration was a setback lately", func(s Situation) bool { return s.Setbacks > 0 }},
}

// LevelFor returns the level for the next iteration and the reason for it.
func (e Escalation) LevelFor(s Situation) (Level, string) {
	level, why := e.at(s.Iteration)
	for _, r := range history {
		if r.holds(s) {
			if r.level > level || r.level == level && level == Aggressive {
				return r.level, r.why
			}
			break
		}
	}
	return level, why
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
	Failed    int
	Failing   []string // names of failing tests, where the task does not tell of them
	Hidden    int      // failing tests whose names are kept from the agent
	Coverage  string   // "81.2%", "" when not measured
	Errors    string   // "3", "" when not measured
	Changes   []Change // that the last iteration made, when it was not rejected
	Rejection *Rejection
	Note      string   // a remark on the last iteration, which was kept
	Worse     []string // what is much worse than at the baseline, by the numbers
	Open      []string // open findings about integrity
	Error     *Failure // what went wrong in the last iteration
	Near      bool     // no test fails: the agent may soon say that it is done
	Last      bool     // no iteration follows
	Risk      *Risk    // what the agent is about to do
	Blocked   string   // the command by which the agent says that it cannot go on; "" where it has none
	Allowed   []string // tests that a person found to be wrong
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
	Files     []string // the files of what was refused
	Advice    string
}

// Failure is an error, and how often it came in a row.
type Failure struct {
	Text  string
	Times int
}

// Risk is a tool call that may do harm.
type Risk struct {
	What   string // in words, "delete a test file"
	Target string // path or command, "" where there is none
	Why    string // it is a risk
}

// Prompt returns the complete prompt of an iteration, and the names of its points.
func (t *Texts) Prompt(level Level, f Facts) (string, []string, error) {
	if level == Off {
		return f.Task, nil, nil
	}
	parts, points := []string{f.Task}, []string(nil)
	for _, p := range due(f) {
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

// due lists the points at the start of an iteration, in their order in the prompt.
func due(f Facts) []Point {
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

// blank are the lines that a part without anything to say leaves.
var blank = regexp.MustCompile(`[ \t]*\n\s*\n`)
