// Package seeds_test holds supervise against the documents that it was created from: each
// file of testdata/seeds is one of their examples or tables, with its own numbers, which
// are fed through record, decide and select.
package seeds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/internal/config"
	"supervise/internal/document"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/prompt"
	"supervise/internal/reasoning"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/selector"
	"supervise/test/docs"

	"github.com/goccy/go-yaml"
)

// example is a file of testdata/seeds.
type example struct {
	Section string `yaml:"section"` // of the seed, as the table has it

	Messages      []map[string]any   `yaml:"messages"`
	Scores        []float64          `yaml:"scores"` // in points: iterations from 1, verified
	Failed        []int              `yaml:"failed"` // of them, those that are not
	Select        *wish              `yaml:"select"` // the loop is over
	Calls         []hook.Call        `yaml:"calls"`  // what an agent is about to do
	Levels        []prompt.Situation `yaml:"levels"`
	Configuration string             `yaml:"configuration"` // of aiwg.yml

	Checks []check  `yaml:"checks"`
	Apart  []string `yaml:"apart"` // what differs and cannot be asked of any document
}

// wish is how the best is chosen.
type wish struct {
	Mode      string             `yaml:"mode"`
	Threshold *float64           `yaml:"threshold"` // in points
	Weights   map[string]float64 `yaml:"weights"`
	Use       *selector.Override `yaml:"use"`
}

// check is what the seed says of one value. Where Ours is set, that is the value, for the
// reason in Why.
type check struct {
	Get  string `yaml:"get"` // a path into the documents, see [lookup]
	Want any    `yaml:"want"`
	Says string `yaml:"says"` // a text that the value has
	Ours any    `yaml:"ours"`
	Why  string `yaml:"why"`
}

const folder = "../../testdata/seeds"

var noon = time.Date(2026, 2, 2, 12, 0, 0, 0, time.UTC)

func examples(t *testing.T) map[string]example {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := map[string]example{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var e example
		if err := yaml.UnmarshalWithOptions(text, &e, yaml.Strict(), yaml.UseJSONUnmarshaler()); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[strings.TrimSuffix(filepath.Base(path), ".yaml")] = e
	}
	return out
}

func TestExamplesOfTheSeeds(t *testing.T) {
	checks := 0
	for name, e := range examples(t) {
		checks += len(e.Checks)
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time goes into waiting for the disk
			found := e.documents(t)
			for _, c := range e.Checks {
				c.hold(t, found)
			}
		})
	}
	if checks < 120 {
		t.Errorf("%d checks, want at least 120", checks)
	}
}

// hold compares a value with what the seed says, or with what is right instead.
func (c check) hold(t *testing.T, found map[string]any) {
	t.Helper()
	got, err := lookup(found, c.Get)
	if err != nil {
		t.Errorf("%s: %v", c.Get, err)
		return
	}
	holds := same(got, c.Want)
	if c.Says != "" {
		text, _ := got.(string)
		holds = strings.Contains(text, c.Says)
	}
	switch {
	case c.Why == "" && !holds:
		t.Errorf("%s is %s, want %s", c.Get, shown(got), shown(or(c.Want, c.Says)))
	case c.Why != "" && holds:
		t.Errorf("%s is %s as the seed has it: it does not differ any more", c.Get, shown(got))
	case c.Why != "" && c.Ours != nil && !same(got, c.Ours):
		t.Errorf("%s is %s, want %s: %s", c.Get, shown(got), shown(c.Ours), c.Why)
	}
}

func or(a any, b string) any {
	if b != "" {
		return b
	}
	return a
}

func shown(v any) string {
	text := fmt.Sprintf("%v", v)
	if len(text) > 220 {
		text = text[:220] + "…"
	}
	return text
}

// same compares values of documents: numbers as exactly as the wanted one is written.
func same(got, want any) bool {
	if w, ok := number(want); ok {
		g, ok := number(got)
		_, decimals, _ := strings.Cut(strconv.FormatFloat(w, 'f', -1, 64), ".")
		slack := 1e-9
		if decimals != "" {
			digits := len(decimals)
			if math.Abs(w) < 1 { // a score
				digits = max(digits, 2)
			}
			slack = .5*math.Pow10(-digits) + 1e-9
		}
		return ok && math.Abs(g-w) <= slack
	}
	if list, ok := want.([]any); ok {
		other, ok := got.([]any)
		return ok && slices.EqualFunc(other, list, same)
	}
	return reflect.DeepEqual(got, want)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case uint64:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// lookup follows a path like 3/ProgressReport/alerts/rule=file_deletion/message. A part is
// a key, an index, or KEY=VALUE of an entry of a list; # is how many there are.
func lookup(v any, path string) (any, error) {
	for part := range strings.SplitSeq(path, "/") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[part]
			if !ok && part != "#" {
				return nil, fmt.Errorf("no %s among %v", part, slices.Sorted(maps.Keys(node)))
			}
			if v = next; part == "#" {
				v = len(node)
			}
		case []any:
			i, err := entry(node, part)
			if err != nil {
				return nil, err
			}
			if v = len(node); i < len(node) {
				v = node[i]
			}
		default:
			return nil, fmt.Errorf("no %s in %v", part, v)
		}
	}
	return v, nil
}

func entry(list []any, part string) (int, error) {
	key, value, named := strings.Cut(part, "=")
	if part == "#" {
		return len(list), nil
	}
	if !named {
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(list) {
			return 0, fmt.Errorf("no %s in a list of %d", part, len(list))
		}
		return i, nil
	}
	i := slices.IndexFunc(list, func(v any) bool {
		m, ok := v.(map[string]any)
		return ok && fmt.Sprint(m[key]) == value
	})
	if i < 0 {
		return 0, fmt.Errorf("no %s in %s", part, shown(list))
	}
	return i, nil
}

// plain is v as a document of maps and lists.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// documents are all that comes of an example: the answers to its messages by their number,
// and what is in the folder of the loop.
func (e example) documents(t *testing.T) map[string]any {
	t.Helper()
	found := map[string]any{}
	e.decided(t, found)
	e.configured(t, found)
	if messages := e.stream(t); len(messages) > 0 {
		f := &feed{t: t, found: found, place: place(t)}
		for i, m := range messages {
			f.send(strconv.Itoa(i+1), m)
		}
		f.end(e.Select)
	}
	return found
}

func place(t *testing.T) record.Service {
	t.Helper()
	return record.Service{
		Home: t.TempDir(), Root: t.TempDir(), By: "ann", Now: func() time.Time { return noon },
		Settings: func() (record.Settings, any, error) {
			o, err := config.Default().LoopOptions(t.TempDir())
			return record.Settings{Settings: o.Settings.Settings}, o.Settings, err
		},
	}
}

// stream are the messages of the example, with those of its scores.
func (e example) stream(t *testing.T) []string {
	t.Helper()
	list := e.Messages
	for i, points := range e.Scores {
		status := ledger.VerifyPassed
		if slices.Contains(e.Failed, i+1) {
			status = ledger.VerifyFailed
		}
		list = append(list, map[string]any{"type": record.KindIteration, "loop_id": "l", "iteration": i + 1, "quality_score": points / 100, "verification_status": status})
	}
	out := make([]string, len(list))
	for i, m := range list {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(text)
	}
	return out
}

// feed is a loop that is fed.
type feed struct {
	t     *testing.T
	found map[string]any
	place record.Service
	loop  string
}

// send sends one message, and files the answers by their types.
func (f *feed) send(name, text string) {
	f.t.Helper()
	m, err := record.NewMessages(strings.NewReader(text)).Next()
	if err != nil {
		f.found[name] = map[string]any{"error": err.Error()}
		return
	}
	f.loop = m.LoopID
	answers, err := f.place.Answer(context.Background(), "", m)
	if err != nil {
		f.found[name] = map[string]any{"error": err.Error()}
		return
	}
	filed := map[string]any{}
	for _, a := range answers {
		doc := plain(f.t, a).(map[string]any)
		kind, _ := doc["type"].(string)
		if data, ok := doc["metadata"].(map[string]any); ok {
			kind = "reply to " + data["type"].(string)
		}
		filed[kind] = doc
	}
	f.found[name] = filed
}

// end chooses, if that is asked for, and files what is in the folder of the loop.
func (f *feed) end(w *wish) {
	f.t.Helper()
	dir, state, err := ledger.FindLoop(f.place.Home, f.place.Root, f.loop)
	if err != nil {
		f.t.Fatal(err)
	}
	if w != nil {
		f.choose(*w)
	}
	v, err := record.ReadView(dir, state)
	if err != nil {
		f.t.Fatal(err)
	}
	f.explain(v)
	f.folder(dir)
	var paint document.Paint = func(_ document.Style, s string) string { return s }
	f.found["status"] = map[string]any{
		"persistence": report.PersistenceText(state, v.Iterations, nil, paint),
		"regressions": report.RegressionText(state, paint),
		"quality":     report.QualityChart(v.Iterations, -1, paint),
	}
}

func (f *feed) choose(w wish) {
	f.t.Helper()
	asked := record.SelectionRequest{Mode: selector.Mode(w.Mode), Weights: w.Weights, Override: w.Use}
	if w.Threshold != nil {
		asked.Threshold = new(*w.Threshold / 100)
	}
	sel, err := record.Select(context.Background(), f.place.Home, f.loop, asked, "ann", noon)
	if err != nil {
		f.found["selection"] = map[string]any{"error": err.Error()}
		return
	}
	doc, err := sel.View.SelectionMessage(sel.Choice, sel.Path, sel.Files)
	if err != nil {
		f.t.Fatal(err)
	}
	var csv bytes.Buffer
	if err := report.WriteCSV(&csv, sel.View.Report(sel.Choice, noon)); err != nil {
		f.t.Fatal(err)
	}
	f.found["selection"], f.found["csv"] = plain(f.t, doc), csv.String()
}

// explain files the chains of reasoning by their iterations.
func (f *feed) explain(v record.View) {
	chains := map[string]any{}
	for _, it := range v.Iterations {
		in := reasoning.Input{Iteration: it, Criterion: v.State.Criterion, Rules: v.Settings.Rules}
		if before, err := v.Iteration(reasoning.PreviousIteration(v.Iterations, it.Number)); err == nil {
			in.Previous = &before
		}
		in.Baseline, _ = v.Iteration(0)
		chains[strconv.Itoa(it.Number)] = report.ReasoningDocument(reasoning.NewChain(in)).Terminal(document.NoPaint)
	}
	f.found["explain"] = chains
}

// folder files the documents in the folder of the loop.
func (f *feed) folder(dir string) {
	files := map[string]any{}
	for _, name := range []string{"state.json", "best-output-tracking.json", "progress/trajectory.json", "analytics/analytics.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			f.found[filepath.Base(name)] = plain(f.t, json.RawMessage(text))
		}
	}
	var log []any
	if _, err := ledger.ReadLog(dir, func(e ledger.Event) { log = append(log, plain(f.t, e)) }); err != nil {
		f.t.Fatal(err)
	}
	f.found["log"] = log
	reports := map[string]any{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		files[strings.ReplaceAll(filepath.ToSlash(rel), "/", "|")] = true
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			reports[filepath.Base(path)] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.found["files"], f.found["reports"] = files, reports
}

// decided files what hooks answer, and the levels of reinforcement.
func (e example) decided(t *testing.T, found map[string]any) {
	t.Helper()
	var calls []any
	read := func(rel string) ([]byte, bool) {
		return []byte("it('validates', () => { expect(valid('a@b.c')).toBe(true) })\n"), rel == "test/auth/login.test.ts"
	}
	for _, c := range e.Calls {
		c.Client, c.Event, c.Dir = hook.Claude, hook.PreTool, "/project"
		tree := hook.Tree{Root: "/project", Read: read, Files: func() []string { return []string{"src/auth.ts", "test/auth/login.test.ts"} }}
		calls = append(calls, plain(t, hook.Judge(c, hook.Options{Tree: tree})))
	}
	var levels []any
	for _, s := range e.Levels {
		level, why := prompt.Escalation(nil).LevelFor(s)
		levels = append(levels, map[string]any{"level": level.String(), "why": why})
	}
	found["calls"], found["levels"] = calls, levels
}

// configured files what a configuration means.
func (e example) configured(t *testing.T, found map[string]any) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "aiwg.yml"), []byte(e.Configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(config.Path(dir), false)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.LoopOptions(dir)
	if err != nil {
		t.Fatal(err)
	}
	found["settings"], found["options"] = plain(t, s), plain(t, o.Settings)
}

// TestTableOfTheSeeds writes the table of docs/features.md: what holds in full in one row
// for each seed, what differs in rows of their own.
func TestTableOfTheSeeds(t *testing.T) {
	all := examples(t)
	sections, holding, rows := map[string][]string{}, map[string]int{}, ""
	holds, others := 0, 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e, seed := all[name], name[:3]
		reasons, good := slices.Clone(e.Apart), 0
		for _, c := range e.Checks {
			if c.Why == "" {
				good++
			} else {
				reasons = append(reasons, c.Why)
			}
		}
		holds, others = holds+good, others+len(reasons)
		if len(reasons) == 0 {
			sections[seed], holding[seed] = append(sections[seed], e.Section), holding[seed]+good
			continue
		}
		slices.Sort(reasons)
		rows += fmt.Sprintf("| %s %s | %d | %d: %s |\n", seed, e.Section, good, len(reasons), strings.Join(slices.Compact(reasons), "; "))
	}
	for _, seed := range slices.Sorted(maps.Keys(sections)) {
		rows += fmt.Sprintf("| %s %s | %d | |\n", seed, strings.Join(sections[seed], "; "), holding[seed])
	}
	docs.Block(t, "features.md", "seeds", "./test/seeds", fmt.Sprintf("| example | holds | differs |\n|---|---|---|\n%s| all | %d | %d |\n", rows, holds, others))
}
