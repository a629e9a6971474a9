package report

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/textstream"
	"supervise/metric"
)

// HTML is what the page about a whole loop shows.
type HTML struct {
	Dir        string // the loop's folder: patches and transcripts are read from there
	State      ledger.State
	Iterations []ledger.Iteration
	Standings  []ledger.Standing // of candidates, the best first; none in other loops
	Rules      detector.Options
	Version    string // of supervise
	Now        time.Time
}

// What of one iteration is put into the page, in bytes; the files have the rest.
const (
	maxPatch = 512 << 10
	maxCast  = 1 << 20
)

// maxMatrix is how many tests the matrix shows.
const maxMatrix = 500

var (
	//go:embed web/page.html
	pageText string
	//go:embed web/style.css
	styleText string
	//go:embed web/app.js
	scriptText string
)

// The data of the page, as the script reads it.
type (
	htmlData struct {
		Loop       string          `json:"loop"`
		Task       string          `json:"task"`
		Facts      [][2]string     `json:"facts"`
		Selected   int             `json:"selected"` // -1 for none
		Metrics    []htmlMetric    `json:"metrics"`
		Matrix     htmlMatrix      `json:"matrix"`
		Iterations []htmlIteration `json:"iterations"`
	}
	htmlMetric struct {
		Name   string     `json:"name"`
		Unit   string     `json:"unit"`
		Values []*float64 `json:"values"` // by iteration, nil where it was not measured
	}
	htmlMatrix struct {
		Note  string    `json:"note"`
		Tests []htmlRow `json:"tests"`
	}
	htmlRow struct {
		Name   string `json:"name"`
		States string `json:"states"` // a letter for each iteration
	}
	htmlIteration struct {
		Number    int         `json:"number"`
		Class     string      `json:"class"`
		Score     *float64    `json:"score"`
		Rejected  bool        `json:"rejected"`
		Alerts    []htmlAlert `json:"alerts"`
		Facts     [][2]string `json:"facts"`
		Numbers   [][4]string `json:"numbers"`
		Reasoning string      `json:"reasoning"`
		Patch     string      `json:"patch"`
		PatchNote string      `json:"patch_note"`
		Cast      *htmlCast   `json:"cast"`
		CastNote  string      `json:"cast_note"`
	}
	htmlAlert struct {
		Severity string   `json:"severity"`
		Rule     string   `json:"rule"`
		Message  string   `json:"message"`
		Tests    []string `json:"tests"`
	}
	htmlCast struct {
		Cols   int      `json:"cols"`
		Rows   int      `json:"rows"`
		Events [][3]any `json:"events"` // seconds since the start, kind, text
	}
)

// Write writes the page: one file that needs nothing else.
func (v HTML) Write(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	data, err := json.Marshal(v.data()) // < and > are escaped by it
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	visible := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "##[", `##\u005b`, "##vso[", `##vso\u005b`).Replace(textstream.Visible(string(data)))
	return t.Execute(w, map[string]any{
		"Title": v.State.LoopID, "Style": template.CSS(styleText), "Script": template.JS(scriptText), "Data": template.JS(visible), //nolint:gosec // our own texts, and JSON
		"Candidates": v.candidates(), "Footer": fmt.Sprintf("supervise %s, %s", v.Version, v.Now.Format(time.DateTime)),
	})
}

// candidates are the rows of the comparison, with what is to be known of each, nil where
// there is none.
func (v HTML) candidates() [][]string {
	if len(v.Standings) == 0 {
		return nil
	}
	rows := standingRows(v.Standings)
	rows[0] = append(rows[0], "why")
	for i, s := range v.Standings {
		if s.Chosen {
			rows[i+1][1] += ", chosen"
		}
		rows[i+1] = append(rows[i+1], textstream.Visible(strings.Join(append([]string{s.Why}, Remarks(s)...), "; ")))
	}
	return rows
}

func (v HTML) data() htmlData {
	d := htmlData{Loop: v.State.LoopID, Task: v.State.Task, Selected: -1, Metrics: []htmlMetric{}, Iterations: []htmlIteration{}}
	if best := v.State.Chosen(); best != nil {
		d.Selected = best.Iteration
	}
	add := func(name, text string) {
		if text != "" {
			d.Facts = append(d.Facts, [2]string{name, text})
		}
	}
	add("status", string(v.State.Status))
	add("stopped", v.State.StopText)
	add("criterion", v.State.Criterion)
	add("agent", strings.Join(v.State.Agent, " "))
	add("tree", v.State.Workspace)
	add("started", v.State.StartedAt.Format(time.DateTime)+", "+Duration(v.State.UpdatedAt.Sub(v.State.StartedAt))+" to the last change")
	add("regressions", events(v.State.Regressions))
	for _, r := range metricRows {
		d.Metrics = append(d.Metrics, v.metric(r.name, r.unit, r.field))
	}
	d.Matrix = v.matrix()
	for _, it := range v.Iterations {
		d.Iterations = append(d.Iterations, v.iteration(it))
	}
	return d
}

func (v HTML) metric(name, unit string, f metric.Field) htmlMetric {
	m := htmlMetric{Name: name, Unit: unit}
	for _, it := range v.Iterations {
		var at *float64
		if n, ok := it.Set.Value(f); ok {
			at = &n
		}
		m.Values = append(m.Values, at)
	}
	return m
}

// letterOf is the state of a test in the matrix.
func letterOf(t metric.Test) byte {
	switch {
	case t.Status == metric.NotRun:
		return 'n'
	case t.Failed():
		return 'f'
	case t.Status == metric.Skipped:
		return 's'
	}
	return 'p'
}

// matrix shows the tests whose state changed, or that ever failed; all of them where
// they are few.
func (v HTML) matrix() htmlMatrix {
	rows := map[metric.ID][]byte{}
	var order []metric.ID
	for n, it := range v.Iterations {
		if it.Set.Tests == nil {
			continue
		}
		for _, t := range it.Set.Tests.Cases {
			if rows[t.ID] == nil {
				rows[t.ID] = bytes.Repeat([]byte{'x'}, len(v.Iterations))
				order = append(order, t.ID)
			}
			rows[t.ID][n] = letterOf(t)
		}
	}
	slices.SortFunc(order, metric.ID.Compare)
	m := htmlMatrix{Tests: []htmlRow{}}
	steady := 0
	for _, id := range order {
		states := string(rows[id])
		if len(order) > 40 && strings.Count(states, "p") == len(states) {
			steady++
			continue
		}
		if len(m.Tests) < maxMatrix {
			m.Tests = append(m.Tests, htmlRow{id.String(), states})
		}
	}
	m.Note = Count(len(order), "test", "tests")
	if steady > 0 {
		m.Note += fmt.Sprintf("; %d that always passed are left out", steady)
	}
	if more := len(order) - steady - len(m.Tests); more > 0 {
		m.Note += fmt.Sprintf("; and %d more, see results.xml of the iterations", more)
	}
	return m
}

func (v HTML) iteration(it ledger.Iteration) htmlIteration {
	h := htmlIteration{Number: it.Number, Class: it.Assessment.Class.String(), Score: it.Quality(), Rejected: it.Rejected, Alerts: []htmlAlert{}, Numbers: [][4]string{}}
	for _, a := range it.Assessment.Alerts {
		alert := htmlAlert{Severity: a.Severity.String(), Rule: a.Rule, Message: a.Message(), Tests: []string{}}
		for _, id := range a.Tests {
			alert.Tests = append(alert.Tests, id.String())
		}
		h.Alerts = append(h.Alerts, alert)
	}
	h.Facts = v.facts(it)
	for _, r := range metricRows {
		row := [4]string{r.name, value(&it.Set, r.field, r.unit), change(it.Assessment.FromPrevious, r.field), change(it.Assessment.FromBaseline, r.field)}
		h.Numbers = append(h.Numbers, row)
	}
	in := reasoning.Input{It: it, Criterion: v.State.Criterion, Rules: v.Rules}
	if first := v.Iterations[0]; first.Number == 0 {
		in.Baseline = first
	}
	if n := reasoning.Previous(v.Iterations, it.Number); n >= 0 {
		if i := slices.IndexFunc(v.Iterations, func(x ledger.Iteration) bool { return x.Number == n }); i >= 0 {
			in.Previous = &v.Iterations[i]
		}
	}
	h.Reasoning = Chain(reasoning.Of(in)).Terminal(document.NoPaint)
	dir := filepath.Join(v.Dir, "iterations", ledger.Name(it.Number))
	h.Patch, h.PatchNote = readPatch(filepath.Join(dir, "changes.patch"))
	h.Cast, h.CastNote = readCast(filepath.Join(dir, "transcript.cast"))
	return h
}

// change is the difference of a number, "" where it was not measured on both sides.
func change(d metric.Delta, f metric.Field) string {
	if v, ok := d[f]; ok && v != 0 {
		return fmt.Sprintf("%+.4g", v)
	}
	return ""
}

func (v HTML) facts(it ledger.Iteration) [][2]string {
	var out [][2]string
	add := func(name, text string) {
		if text != "" {
			out = append(out, [2]string{name, text})
		}
	}
	add("class", it.Assessment.Class.String())
	add("quality", share(it.Quality()))
	if d := it.Decision; d != nil {
		text := d.Move
		switch {
		case it.Rejected && it.Recorded != nil:
			text = advised(d)
		case it.Rejected:
			text = fmt.Sprintf("rejected, the tree was restored to iteration %d", d.Target)
		}
		add("decision", text+": "+d.Reason)
		add("diagnosis", d.Diagnosis)
	}
	if it.Agent != nil {
		add("agent", Ending(it.Agent))
		add("last words", it.Agent.LastWords)
	}
	add("level", it.Level)
	if n := len(it.Changed); n > 0 {
		add("changed", Count(n, "file", "files"))
	}
	took := Duration(it.EndedAt.Sub(it.StartedAt))
	switch {
	case it.Recorded == nil:
		add("time", took+", of which supervise's own "+Duration(it.OwnTime))
	case it.Recorded.TimeMS != nil:
		add("time", took)
	}
	return out
}

// readPatch reads what an iteration changed, as far as the page takes it.
func readPatch(path string) (text, note string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", ""
	}
	if len(b) > maxPatch {
		b, note = b[:maxPatch], fmt.Sprintf("Cut off after %d KiB of %d; the whole is %s", maxPatch>>10, len(b)>>10, path)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), note
}

// readCast reads a transcript, as far as the page takes it.
func readCast(path string) (cast *htmlCast, note string) {
	f, err := os.Open(path)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var head struct {
		Term struct {
			Cols int `json:"cols"`
			Rows int `json:"rows"`
		} `json:"term"`
	}
	line, err := in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &head) != nil {
		return nil, "The transcript cannot be read: " + path
	}
	cast = &htmlCast{Cols: head.Term.Cols, Rows: head.Term.Rows, Events: [][3]any{}}
	at, size := 0.0, 0
	for {
		line, err := in.ReadBytes('\n')
		var e [3]any
		if json.Unmarshal(line, &e) == nil {
			if after, ok := e[0].(float64); ok { // since the event before
				at += after
			}
			e[0] = at
			cast.Events = append(cast.Events, e)
			size += len(line)
		}
		switch {
		case err != nil:
			return cast, ""
		case size > maxCast:
			return cast, "The transcript goes on; the whole is " + path
		}
	}
}
