package prompt

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"supervise/internal/projectfile"
	"supervise/internal/textstream"
)

// Point is an occasion for a reminder to the agent.
type Point string

// The points. All but RiskyTool are part of the prompt of an iteration.
const (
	LoopStart        Point = "loop_start"
	RiskyTool        Point = "risky_tool" // before a tool call that may do harm
	AfterError       Point = "error"
	Boundary         Point = "boundary" // between two iterations
	AfterRegression  Point = "regression"
	WayOut           Point = "blocked" // how to report that a test is wrong or the task impossible
	Allowance        Point = "allowed" // which tests a person confirmed to be wrong
	BeforeCompletion Point = "completion"
)

// Points returns all points, in the order of a loop.
func Points() []Point {
	return []Point{LoopStart, RiskyTool, AfterError, Boundary, AfterRegression, WayOut, Allowance, BeforeCompletion}
}

//go:embed templates/*.md
var embedded embed.FS

// extension is the file name extension of texts.
const extension = ".md"

// Texts are the templates of all points.
type Texts struct {
	root *template.Template
}

// Read reads the user's texts in a folder of a project, by name without extension. If there
// is no such folder, it returns nil and no error.
func Read(project, folder string) (map[string]string, error) {
	tree, err := projectfile.Open(project)
	if err != nil {
		return nil, fmt.Errorf("read the texts of prompts: %w", err)
	}
	defer tree.Close()
	entries, err := tree.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there are no texts
	}
	if err != nil {
		return nil, fmt.Errorf("read the texts of prompts: %w", err)
	}
	out := map[string]string{}
	for _, e := range entries {
		name, isText := strings.CutSuffix(e.Name(), extension)
		if !isText || e.IsDir() {
			continue
		}
		text, err := tree.Read(filepath.Join(folder, e.Name()), projectfile.Settings)
		if err != nil {
			return nil, fmt.Errorf("read the texts of prompts: %w", err)
		}
		out[name] = string(text)
	}
	return out, nil
}

// Parse returns the built-in texts, replaced by the user's texts of the same names. Errors name
// the file in dir, and the line.
func Parse(own map[string]string, dir string) (*Texts, error) {
	level := Minimal
	root := template.New("").Option("missingkey=error").Funcs(templateFuncs(&level))
	if _, err := root.ParseFS(embedded, "templates/*.md"); err != nil {
		return nil, fmt.Errorf("read prompt templates: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		path := filepath.Join(dir, name+extension)
		if root.Lookup(name+extension) == nil {
			return nil, fmt.Errorf("%s: there is no text of that name; the texts are %s", path, strings.Join(textNames(), ", "))
		}
		if _, err := root.New(name + extension).Parse(own[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	t := &Texts{root}
	for _, p := range Points() { // only executing a template shows a wrong field
		for level := Minimal; level <= Aggressive; level++ {
			if _, err := t.Reminder(p, level, sampleFacts); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, string(p)+extension), err)
			}
		}
	}
	return t, nil
}

func textNames() []string {
	out := []string{"parts" + extension}
	for _, p := range Points() {
		out = append(out, string(p)+extension)
	}
	return out
}

// templateFuncs returns the functions for templates. current is the level of the prompt.
func templateFuncs(current *Level) template.FuncMap {
	return template.FuncMap{
		"join": strings.Join,
		"atLeast": func(name string) (bool, error) {
			level, err := ParseLevel(name)
			return *current >= level, err
		},
	}
}

// sampleFacts sets every field, so that [Parse] executes all parts of the templates.
var sampleFacts = Facts{
	Task: "t", Iteration: 2, Max: 3, Criterion: "c", Measured: true, Passed: 1, Count: 2, Failing: []string{"a"}, Hidden: 1, Sealed: 1, SealedIn: []string{"f"}, Coverage: "1%", Errors: "1",
	Changes: []Change{{"newly failing", []string{"a"}}}, Rejection: &Rejection{1, []string{"r"}, []string{"a"}, []string{"f"}, "advice"}, Note: "n", Open: []string{"o"},
	Error: &Failure{"e", 2}, Near: true, Last: true, Risk: &Risk{"w", "t", "y"}, Blocked: "b", Allowed: []string{"a"},
}

// maxNamedTests is how many tests a list names, by level. maxChangedTests is the same for each
// kind of change.
var (
	maxNamedTests   = [...]int{Off: 0, Minimal: 2, Standard: 6, Aggressive: 10}
	maxChangedTests = [...]int{Off: 0, Minimal: 0, Standard: 1, Aggressive: 3}
)

// maxOpenFindings is how many open findings are named, at every level.
const maxOpenFindings = 2

// shortenings are applied one after another until a text fits into its budget. A shortening
// divides the numbers of names that the level allows, and limits the bytes of each.
var shortenings = []struct{ divide, length int }{{1, 400}, {1, 120}, {2, 120}, {4, 80}, {16, 60}}

// Reminder returns the text of a point, "" if it has none. If the text exceeds the budget of
// the level, names are left out; as a last resort, its end is cut off.
func (t *Texts) Reminder(p Point, level Level, f Facts) (string, error) {
	if level == Off {
		return "", nil
	}
	root, err := t.root.Clone()
	if err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	root.Funcs(templateFuncs(&level))
	text, budget := "", level.Budget()
	if p == WayOut {
		budget += tokenCount(f.Blocked) // the command must not be cut off
	}
	for _, s := range shortenings {
		var b strings.Builder
		if err := root.ExecuteTemplate(&b, string(p)+extension, f.shortened(level, s.divide, s.length)); err != nil {
			return "", fmt.Errorf("write prompt: %w", err)
		}
		text = strings.TrimSpace(blankLinesPattern.ReplaceAllString(b.String(), "\n"))
		if tokenCount(text) <= budget {
			return text, nil
		}
	}
	return textstream.Truncate(text, bytesPerToken*budget), nil
}

const bytesPerToken = 4

// tokenCount estimates the tokens of a text.
func tokenCount(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// shortened returns a copy of the facts with shorter lists.
func (f Facts) shortened(level Level, divide, length int) Facts {
	cut := func(list []string, limit int) []string { return shortenList(list, limit, length) }
	f.Failing, f.Open = cut(f.Failing, maxNamedTests[level]/divide), cut(f.Open, max(1, maxOpenFindings/divide))
	f.Worse = cut(f.Worse, max(1, maxOpenFindings/divide))
	f.Allowed = cut(f.Allowed, max(1, maxNamedTests[level]/divide))
	f.Changes = slices.Clone(f.Changes)
	for i, c := range f.Changes {
		f.Changes[i].Tests = cut(c.Tests, maxChangedTests[level]/divide)
	}
	if f.Rejection != nil {
		r := *f.Rejection
		r.Tests, r.Reasons = cut(r.Tests, maxNamedTests[level]/divide), cut(r.Reasons, max(1, maxNamedTests[level]/divide))
		r.Files = cut(r.Files, maxNamedTests[level]/divide)
		f.Rejection = &r
	}
	if f.Error != nil {
		e := *f.Error
		e.Text = textstream.Truncate(e.Text, length)
		f.Error = &e
	}
	return f
}

// shortenList keeps limit entries of at most length bytes, and counts the others.
func shortenList(list []string, limit, length int) []string {
	omitted := max(0, len(list)-limit)
	out := slices.Clone(list[:len(list)-omitted])
	for i, text := range out {
		out[i] = textstream.Truncate(text, length)
	}
	switch {
	case omitted > 0 && limit > 0:
		out = append(out, fmt.Sprintf("and %d more", omitted))
	case omitted > 0:
		out = append(out, fmt.Sprintf("%d in all", omitted))
	}
	return out
}
