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

// Point is an occasion to write to the agent.
type Point string

// The points. All but RiskyTool are part of the prompt of an iteration.
const (
	LoopStart        Point = "loop_start"
	RiskyTool        Point = "risky_tool" // before a tool call that may do harm
	AfterError       Point = "error"
	Boundary         Point = "boundary" // between two iterations
	AfterRegression  Point = "regression"
	WayOut           Point = "blocked" // how to say that a test is wrong, or the task cannot be done
	Allowance        Point = "allowed" // which tests a person has found to be wrong
	BeforeCompletion Point = "completion"
)

// Points returns all points, in the order of a loop.
func Points() []Point {
	return []Point{LoopStart, RiskyTool, AfterError, Boundary, AfterRegression, WayOut, Allowance, BeforeCompletion}
}

//go:embed templates/*.md
var embedded embed.FS

// extension is that of the files of texts.
const extension = ".md"

// Texts are the templates of all points.
type Texts struct {
	root *template.Template
}

// Read reads the user's texts in a folder of a project, by their names without
// extension. Where there is no such folder, it returns none and no error.
func Read(project, folder string) (map[string]string, error) {
	tree, err := projectfile.Open(project)
	if err != nil {
		return nil, fmt.Errorf("read the texts of prompts: %w", err)
	}
	defer tree.Close()
	entries, err := tree.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none is what there is
	}
	if err != nil {
		return nil, fmt.Errorf("read the texts of prompts: %w", err)
	}
	out := map[string]string{}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), extension)
		if !is || e.IsDir() {
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

// Parse returns the built-in texts with the user's own in place of those of the same
// name. dir is their folder, for errors, which name the file and the line.
func Parse(own map[string]string, dir string) (*Texts, error) {
	at := Minimal
	root := template.New("").Option("missingkey=error").Funcs(functions(&at))
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
	for _, p := range Points() { // what is wrong with a field shows only here
		for level := Minimal; level <= Aggressive; level++ {
			if _, err := t.Reminder(p, level, sample); err != nil {
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

// functions are what the texts can call. at is the level they are written at.
func functions(at *Level) template.FuncMap {
	return template.FuncMap{
		"join": strings.Join,
		"atLeast": func(name string) (bool, error) {
			level, err := ParseLevel(name)
			return *at >= level, err
		},
	}
}

// sample has something of everything, so that no text is left untried.
var sample = Facts{
	Task: "t", Iteration: 2, Max: 3, Criterion: "c", Measured: true, Passed: 1, Count: 2, Failing: []string{"a"}, Hidden: 1, Coverage: "1%", Errors: "1",
	Changes: []Change{{"newly failing", []string{"a"}}}, Rejection: &Rejection{1, []string{"r"}, []string{"a"}, []string{"f"}, "advice"}, Note: "n", Open: []string{"o"},
	Error: &Failure{"e", 2}, Near: true, Last: true, Risk: &Risk{"w", "t", "y"}, Blocked: "b", Allowed: []string{"a"},
}

// names caps how many tests are named, and changed those of each kind of change;
// the minimal text names none of the latter.
var (
	names   = [...]int{Off: 0, Minimal: 2, Standard: 6, Aggressive: 10}
	changed = [...]int{Off: 0, Minimal: 0, Standard: 1, Aggressive: 3}
)

// openNamed caps the open findings, which every level names.
const openNamed = 2

// tries are how the lists are made shorter until a text is within its budget: how
// many names of those that the level allows are left, and how long each may be.
var tries = []struct{ divide, length int }{{1, 400}, {1, 120}, {2, 120}, {4, 80}, {16, 60}}

// Reminder returns the text of a point, "" for none. It keeps to the budget of the
// level: names are left out first, then the end.
func (t *Texts) Reminder(p Point, level Level, f Facts) (string, error) {
	if level == Off {
		return "", nil
	}
	root, err := t.root.Clone()
	if err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	root.Funcs(functions(&level))
	text, budget := "", level.Budget()
	if p == WayOut {
		budget += tokens(f.Blocked) // a command that is cut is worth nothing
	}
	for _, try := range tries {
		var b strings.Builder
		if err := root.ExecuteTemplate(&b, string(p)+extension, f.within(level, try.divide, try.length)); err != nil {
			return "", fmt.Errorf("write prompt: %w", err)
		}
		text = strings.TrimSpace(blank.ReplaceAllString(b.String(), "\n"))
		if tokens(text) <= budget {
			return text, nil
		}
	}
	return textstream.Truncate(text, bytesPerToken*budget), nil
}

const bytesPerToken = 4

func tokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// within returns the facts with shorter lists. The facts themselves stay as they
// are.
func (f Facts) within(level Level, divide, length int) Facts {
	cut := func(list []string, limit int) []string { return shorten(list, limit, length) }
	f.Failing, f.Open = cut(f.Failing, names[level]/divide), cut(f.Open, max(1, openNamed/divide))
	f.Worse = cut(f.Worse, max(1, openNamed/divide))
	f.Allowed = cut(f.Allowed, max(1, names[level]/divide))
	f.Changes = slices.Clone(f.Changes)
	for i, c := range f.Changes {
		f.Changes[i].Tests = cut(c.Tests, changed[level]/divide)
	}
	if f.Rejection != nil {
		r := *f.Rejection
		r.Tests, r.Reasons = cut(r.Tests, names[level]/divide), cut(r.Reasons, max(1, names[level]/divide))
		r.Files = cut(r.Files, names[level]/divide)
		f.Rejection = &r
	}
	if f.Error != nil {
		e := *f.Error
		e.Text = textstream.Truncate(e.Text, length)
		f.Error = &e
	}
	return f
}

func shorten(list []string, limit, length int) []string {
	left := max(0, len(list)-limit)
	out := slices.Clone(list[:len(list)-left])
	for i, text := range out {
		out[i] = textstream.Truncate(text, length)
	}
	if left > 0 && limit > 0 {
		out = append(out, fmt.Sprintf("and %d more", left))
	} else if left > 0 {
		out = append(out, fmt.Sprintf("%d in all", left))
	}
	return out
}
