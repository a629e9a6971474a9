package report

import (
	"bufio"
	"bytes"
	"cmp"
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

// HTML is the content of the page about a loop. The page has a chart of the metrics, a matrix of
// the tests, and for each iteration its report, its diff and a player for the transcript.
type HTML struct {
	Dir        string // the loop's folder: patches and transcripts are read from there
	State      ledger.State
	Iterations []ledger.Iteration
	Ranking    []ledger.Rank // candidates, the best first; nil for other loops
	Rules      detector.Options
	Version    string // version of supervise
	Now        time.Time
}

// Limits of what the page shows of one iteration, in bytes. The files in the folder have the rest.
const (
	maxPatchBytes = 512 << 10
	maxCastBytes  = 1 << 20
)

// maxMatrixTests is the maximum number of tests in the matrix.
const maxMatrixTests = 500

var (
	//go:embed web/page.html
	pageText string
	//go:embed web/style.css
	styleText string
	//go:embed web/app.js
	scriptText string
)

// The data of the page, as the script web/app.js reads it.
type (
	htmlData struct {
		Selected   int             `json:"selected"` // -1 for none
		Metrics    []htmlMetric    `json:"metrics"`
		Matrix     htmlMatrix      `json:"matrix"`
		Iterations []htmlIteration `json:"iterations"`
	}
	htmlMetric struct {
		Name   string     `json:"name"`
		Unit   string     `json:"unit"`
		Values []*float64 `json:"values"` // values by iteration, nil if not measured
	}
	htmlMatrix struct {
		Note  string    `json:"note"`
		Tests []htmlRow `json:"tests"`
	}
	htmlRow struct {
		Name   string `json:"name"`
		States string `json:"states"` // a letter for each iteration, see statusLetter; x means that the test is missing
	}
	htmlIteration struct {
		Number   int         `json:"number"`
		Class    string      `json:"class"`
		Score    *float64    `json:"score"`
		Rejected bool        `json:"rejected"`
		Alerts   []htmlAlert `json:"alerts"`
		Report   string      `json:"report"` // HTML
		Diff     string      `json:"diff"`   // HTML
		Cast     *htmlCast   `json:"cast"`
		CastNote string      `json:"cast_note"`
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

// Write writes the page as one self-contained file.
func (v HTML) Write(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("read the template of the page: %w", err)
	}
	data, err := json.Marshal(v.pageData()) // < and > are escaped by it
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	visible := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "##[", `##\u005b`, "##vso[", `##vso\u005b`).Replace(textstream.EscapeHidden(string(data)))
	return t.Execute(w, map[string]any{ // the texts are our own, JSON, and what document escapes
		"Title": v.State.LoopID, "Style": template.CSS(styleText), "Script": template.JS(scriptText), "Data": template.JS(visible), //nolint:gosec // see above
		"Facts": template.HTML(v.factsDocument().HTML()), "Candidates": template.HTML(RankingDocument(v.Ranking).HTML()), //nolint:gosec // see above
		"Task": textstream.EscapeHidden(v.State.Task), "Footer": fmt.Sprintf("supervise %s, %s", v.Version, v.Now.Format(time.DateTime)),
	})
}

// Page returns a page with a document.
func Page(title string, d document.Document) string {
	return fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%[1]s</title>\n<style>%[2]s</style>\n</head>\n<body>\n<main>\n<header><h1>%[1]s</h1></header>\n%[3]s</main>\n</body>\n</html>\n",
		template.HTMLEscapeString(title), styleText, d.HTML())
}

// factsDocument returns the named values at the head of the page.
func (v HTML) factsDocument() document.Document {
	s := v.State
	return nonEmptyFields([][2]string{
		{"status", string(s.Status)},
		{"stopped", s.StopText},
		{"criterion", s.Criterion},
		{"agent", strings.Join(s.Agent, " ")},
		{"tree", s.Workspace},
		{"started", s.StartedAt.Format(time.DateTime) + ", " + FormatDuration(s.UpdatedAt.Sub(s.StartedAt)) + " to the last change"},
		{"regressions", regressionCounts(s.Regressions)},
	})
}

// nonEmptyFields returns the named values that are not empty.
func nonEmptyFields(list [][2]string) (d document.Document) {
	for _, f := range list {
		if f[1] != "" {
			d.Field(f[0], "%s", f[1])
		}
	}
	return d
}

// pageData collects the data for the script.
func (v HTML) pageData() htmlData {
	d := htmlData{Selected: -1, Metrics: []htmlMetric{}, Iterations: []htmlIteration{}}
	if best := v.State.SelectedOrBest(); best != nil {
		d.Selected = best.Iteration
	}
	for _, r := range metricRows {
		m := htmlMetric{Name: r.name, Unit: r.unit}
		for _, it := range v.Iterations {
			m.Values = append(m.Values, valueOf(&it.Set, r.field))
		}
		d.Metrics = append(d.Metrics, m)
	}
	d.Matrix = v.testMatrix()
	for _, it := range v.Iterations {
		d.Iterations = append(d.Iterations, v.iterationData(it))
	}
	return d
}

// statusLetter returns the letter of a test in the matrix: p for passed, f for failed, s for
// skipped, and n for not run.
func statusLetter(t metric.Test) byte {
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

// testMatrix returns the matrix of tests. If there are more than a few tests, those that passed in
// all iterations are left out.
func (v HTML) testMatrix() htmlMatrix {
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
			rows[t.ID][n] = statusLetter(t)
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
		if len(m.Tests) < maxMatrixTests {
			m.Tests = append(m.Tests, htmlRow{id.String(), states})
		}
	}

	m.Note = Pluralize(len(order), "test", "tests")
	if steady > 0 {
		m.Note += fmt.Sprintf("; %d that always passed are left out", steady)
	}
	if more := len(order) - steady - len(m.Tests); more > 0 {
		m.Note += fmt.Sprintf("; and %d more, see results.xml of the iterations", more)
	}
	return m
}

// iterationData returns the report, the diff and the transcript of an iteration.
func (v HTML) iterationData(it ledger.Iteration) htmlIteration {
	h := htmlIteration{Number: it.Number, Class: it.Assessment.Class.String(), Score: it.Quality(), Rejected: it.Rejected, Alerts: []htmlAlert{}}
	for _, a := range it.Assessment.Alerts {
		h.Alerts = append(h.Alerts, htmlAlert{a.Severity.String(), a.Rule, a.Message(), TestNames(a.Tests)})
	}

	data := Iteration{Iteration: it, Best: it.Best, Criterion: v.State.Criterion, Rules: v.Rules}
	data.Baseline = *cmp.Or(findIteration(v.Iterations, 0), &ledger.Iteration{})
	data.Previous = findIteration(v.Iterations, reasoning.PreviousIteration(v.Iterations, it.Number))

	h.Report = append(runFacts(it), IterationDocument(data)[1:]...).HTML() // the page has its title
	dir := filepath.Join(v.Dir, "iterations", ledger.IterationName(it.Number))
	h.Diff = readPatch(filepath.Join(dir, "changes.patch")).HTML()
	h.Cast, h.CastNote = readCast(filepath.Join(dir, "transcript.cast"))
	return h
}

// runFacts returns fields about the run of an iteration: how the agent ended, and the time.
func runFacts(it ledger.Iteration) document.Document {
	var agent, lastOutput, took string
	if it.Agent != nil {
		agent, lastOutput = AgentEnding(it.Agent), it.Agent.LastOutput
	}
	switch {
	case it.Recorded == nil:
		took = FormatDuration(it.EndedAt.Sub(it.StartedAt)) + ", of which supervise's own " + FormatDuration(it.OwnTime)
	case it.Recorded.TimeMS != nil:
		took = FormatDuration(it.EndedAt.Sub(it.StartedAt))
	}
	return nonEmptyFields([][2]string{{"agent", agent}, {"last output", lastOutput}, {"reminder level", it.Level}, {"time", took}})
}

// readPatch returns the patch in a file as a diff, up to [maxPatchBytes].
func readPatch(path string) (d document.Document) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		d.Paragraph("It changed nothing.")
		return d
	}
	d.Add(document.Diff(strings.ToValidUTF8(string(b[:min(len(b), maxPatchBytes)]), "\uFFFD")))
	if len(b) > maxPatchBytes {
		d.Paragraph("Cut off after %d of %d KiB; the complete diff is `%s`", maxPatchBytes>>10, len(b)>>10, path)
	}
	return d
}

// readCast reads a transcript in the format asciicast v3, up to [maxCastBytes]. Its first line is a
// header, and every other one an event, as in [0.25, "o", "text"]: the seconds since the previous
// event, the kind, and the text. The result has the seconds since the start instead.
//
// cast is nil if there is no transcript. note says if it is incomplete or cannot be read.
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
		case size > maxCastBytes:
			return cast, "The transcript continues; the complete file is " + path
		}
	}
}
