package mutantrun

import (
	"bytes"
	"context"
	_ "embed" // a plugin of pytest
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"supervise/internal/framework"
	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/metric"
)

//go:embed supervise_mutants.py
var pytestPlugin []byte

// pytestEngine runs tests on mutants in one process of pytest that forks for each of them.
type pytestEngine struct {
	*Runner
	row     *framework.Framework
	plan    measure.Plan
	dir     string // the folder of the plugin and of what it reads and writes
	mutants []Mutant
	states  map[int]pytestLine   // by number
	items   map[metric.ID]int    // the number of a test in the session
	alone   []pytestLine         // how the tests of the session run alone; Entered is nil for those that fail
	results map[int]pytestResult // of the mutants that ran
	broken  bool                 // the tests do not pass in a fork
}

// pytestLine is one line that the plugin writes: about a mutant, about a test of a run, or about
// the end of a run.
type pytestLine struct {
	Refused string   `json:"refused"`
	Entered []string `json:"entered"` // the functions that the mutant changes, or that the test enters
	Mutant  int      `json:"mutant"`
	State   string   `json:"state"` // ready, alone: it cannot be switched, unbuilt, or equivalent: it changes no code
	Run     *int     `json:"run"`   // the mutant, -1 for a test alone, 0 for tests without a mutant
	Item    int      `json:"item"`
	Failed  bool     `json:"failed"`
	Message string   `json:"message"`
	Took    float64  `json:"took"` // seconds
	Ended   string   `json:"ended"`
	Again   bool     `json:"again"` // what was written of the run does not count
}

// pytestFile is a file with mutants, or the mutant of one.
type pytestFile struct {
	Number int    `json:"number,omitempty"`
	Path   string `json:"path,omitempty"`
	File   string `json:"file,omitempty"`
	Text   []byte `json:"text"`
}

// pytestRun is a run that the plugin starts.
type pytestRun struct {
	Number int     `json:"number"`
	Items  []int   `json:"items"`
	Limit  float64 `json:"limit"` // seconds
}

// pytestJob is what the plugin reads.
type pytestJob struct {
	Step    string       `json:"step"`
	Files   []pytestFile `json:"files"`
	Mutants []pytestFile `json:"mutants"`
	Runs    []pytestRun  `json:"runs"`
	Limit   float64      `json:"limit"` // of the step "look", in seconds
	First   bool         `json:"first"`
	Factor  float64      `json:"factor"`
	Slack   float64      `json:"slack"`
}

// pytestResult is how tests ended on a mutant.
type pytestResult struct {
	tests  []metric.Test // that were chosen
	ended  string
	failed map[int]string // the messages of tests that failed
}

// loadPytest prepares Python mutants, if that is possible.
func (r *Runner) loadPytest(ctx context.Context, mutants []Mutant) error {
	c, ok := r.onlyCheck()
	isPython := func(m Mutant) bool { return filepath.Ext(m.File) == ".py" }
	row := framework.Named(c.Runner)
	if runtime.GOOS == "windows" || !ok || row == nil || row.Rerun.Way != framework.ByPlugin || !slices.ContainsFunc(mutants, isPython) {
		return nil
	}
	e := &pytestEngine{
		Runner: r, row: row, plan: r.tree.CheckPlan(ctx, r.meter), dir: r.scratch(), mutants: mutants,
		states: map[int]pytestLine{}, items: map[metric.ID]int{}, results: map[int]pytestResult{},
	}
	job := e.job("look")
	job.Limit = r.reachLimit(len(mutants)).Seconds()
	ends, lines, err := e.run(ctx, job)
	if err != nil || len(lines) == 0 || lines[0].Refused != "" {
		return err
	}
	if e.readItems(ends.ByTest) {
		e.readLook(lines)
		r.engine = e
	}
	return nil
}

// readItems reads which test has which number, which the plugin reported as its time. It is false if
// a test has none.
func (e *pytestEngine) readItems(ends map[metric.ID]measure.TestResult) bool {
	for id, t := range ends {
		number := int(math.Round(t.Test.Duration.Seconds())) - 1
		if t.Test.Status != metric.Passed || number < 0 {
			return false
		}
		e.items[id] = number
	}
	return true
}

// readLook reads what the step "look" found.
func (e *pytestEngine) readLook(lines []pytestLine) {
	for _, line := range lines {
		switch {
		case line.Run == nil:
			e.states[line.Mutant] = line
		case line.Item >= 0:
			for line.Item >= len(e.alone) {
				e.alone = append(e.alone, pytestLine{})
			}
			if line.Failed {
				line.Entered = nil
			}
			e.alone[line.Item] = line
		}
	}
}

// job returns a job for the plugin with all mutants in Python.
func (e *pytestEngine) job(step string) pytestJob {
	job := pytestJob{Step: step, First: e.FirstKiller, Factor: timeoutFactor, Slack: switchedSlack.Seconds(), Mutants: []pytestFile{}, Runs: []pytestRun{}}
	texts := map[string][]byte{}
	for i, m := range e.mutants {
		name := filepath.Join(e.tree.Path, filepath.FromSlash(m.File))
		if filepath.Ext(name) != ".py" || texts[name] != nil && !bytes.Equal(texts[name], m.Source) {
			continue
		}
		texts[name] = m.Source
		job.Mutants = append(job.Mutants, pytestFile{Number: i + 1, File: name, Text: m.ApplyTo(m.Source)})
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		job.Files = append(job.Files, pytestFile{Path: name, Text: texts[name]})
	}
	return job
}

// run starts pytest with the plugin, and returns what the plugin wrote.
func (e *pytestEngine) run(ctx context.Context, job pytestJob) (measure.TreeResults, []pytestLine, error) {
	text, err := json.Marshal(job)
	if err != nil {
		return measure.TreeResults{}, nil, err
	}
	if err := e.writeScratch(map[string][]byte{"supervise_mutants.py": pytestPlugin, "job.json": text, "results.jsonl": nil}); err != nil {
		return measure.TreeResults{}, nil, err
	}
	adapt := func(c measure.Check) (measure.Check, bool) {
		c.PlannedID = c.ID()
		c.Env = append(slices.Clone(c.Env), e.extendVariable(c, "PYTHONPATH", string(os.PathListSeparator), e.dir), e.extendVariable(c, e.row.Rerun.Variable, ",", "supervise_mutants"))
		return c, true
	}
	ends, err := e.meter.RunInTree(ctx, measure.TreeRun{Plan: e.plan, Tests: e.passing, Full: e.fullRun || len(e.passing) > measure.MaxSelected, NoRetry: true, Limit: e.limit(0), Adapt: adapt})
	if err != nil {
		return ends, nil, err
	}
	output, err := projectfile.Read(filepath.Join(e.dir, "results.jsonl"), projectfile.Report)
	if err != nil {
		return ends, nil, nil //nolint:nilerr // the tests replaced it
	}
	var lines []pytestLine
	for line := range bytes.Lines(output) {
		l := pytestLine{Item: -1}
		if json.Unmarshal(line, &l) != nil {
			break // it was stopped
		}
		lines = append(lines, l)
	}
	return ends, lines, nil
}

// extendVariable returns an environment variable with a value before that of the check.
func (e *pytestEngine) extendVariable(c measure.Check, name, separator, value string) string {
	old := e.meter.Getenv(name)
	for _, v := range c.Env {
		if text, ok := strings.CutPrefix(v, name+"="); ok {
			old = text
		}
	}
	if old != "" {
		value += separator + old
	}
	return name + "=" + value
}

// restore restores the files with mutants, which a stopped run may have left.
func (e *pytestEngine) restore() error {
	written := map[string]bool{}
	for _, m := range e.mutants {
		if !written[m.File] {
			written[m.File] = true
			if err := e.writeFile(m, m.Source); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *pytestEngine) isUnbuilt(number int) bool { return e.states[number].State == "unbuilt" }

func (e *pytestEngine) isTogether(number int) bool { return e.states[number].State == "ready" }

func (e *pytestEngine) runMutant(ctx context.Context, number int, tests []metric.Test) (Result, bool, error) {
	switch e.states[number].State {
	case "unbuilt":
		return Result{Unbuilt: true}, true, nil
	case "equivalent":
		return Result{Killers: map[metric.ID]bool{}, Equivalent: true}, true, nil
	case "ready":
		if !e.broken {
			break
		}
		fallthrough
	default:
		return Result{}, false, nil
	}
	reaching := e.reaching(number, tests)
	if len(reaching) == 0 {
		return Result{Killers: map[metric.ID]bool{}}, true, nil
	}
	done, known := e.results[number]
	if !known || !slices.EqualFunc(done.tests, tests, func(a, b metric.Test) bool { return a.ID == b.ID }) {
		if err := e.runBatch(ctx, number, tests); err != nil || e.broken {
			return Result{}, false, err
		}
		if done, known = e.results[number]; !known {
			return Result{}, false, nil
		}
	}
	result := Result{Killers: map[metric.ID]bool{}, Said: map[metric.ID]string{}, Ran: reaching, Aborted: done.ended != "done"}
	for _, t := range reaching {
		if message, failed := done.failed[e.items[t.ID]]; failed {
			result.Killers[t.ID], result.Said[t.ID] = true, message
		}
	}
	return result, true, nil
}

// reaching returns the tests that may enter a function that a mutant changes. A test that fails
// alone needs others of its file.
func (e *pytestEngine) reaching(number int, tests []metric.Test) []metric.Test {
	unknown := map[string]bool{}
	for _, t := range tests {
		if e.entered(t) == nil {
			unknown[t.File+" "+t.Suite] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool {
		return !unknown[t.File+" "+t.Suite] && !slices.ContainsFunc(e.states[number].Entered, func(f string) bool { return slices.Contains(e.entered(t), f) })
	})
}

// entered returns the functions that a test enters alone, nil if that is unknown.
func (e *pytestEngine) entered(t metric.Test) []string {
	if i := e.items[t.ID]; i < len(e.alone) {
		return e.alone[i].Entered
	}
	return nil
}

// runBatch runs tests on a mutant and on all that did not run yet.
func (e *pytestEngine) runBatch(ctx context.Context, number int, tests []metric.Test) error {
	job := e.job("run")
	if slices.ContainsFunc(tests, func(t metric.Test) bool { return e.entered(t) == nil }) {
		job.Runs = append(job.Runs, pytestRun{Items: e.itemsOf(tests)})
	}
	for k := range e.mutants {
		if k++; k == number || e.isTogether(k) && e.results[k].tests == nil {
			if list := e.reaching(k, tests); len(list) > 0 {
				run := pytestRun{Number: k, Items: e.itemsOf(list), Limit: switchedSlack.Seconds()}
				for _, i := range run.Items {
					if i < len(e.alone) {
						run.Limit += timeoutFactor * e.alone[i].Took
					}
				}
				job.Runs = append(job.Runs, run)
			}
		}
	}
	_, lines, err := e.run(ctx, job)
	if err == nil {
		e.readResults(lines, tests)
	}
	return err
}

// readResults reads what the step "run" found about the runs that ended.
func (e *pytestEngine) readResults(lines []pytestLine, tests []metric.Test) {
	running := pytestResult{tests: tests, failed: map[int]string{}}
	for _, line := range lines {
		if line.Run == nil || *line.Run < 0 {
			continue
		}
		if line.Item >= 0 {
			if line.Failed {
				running.failed[line.Item] = line.Message
			}
			continue
		}
		running.ended = line.Ended
		switch {
		case line.Again:
		case *line.Run > 0:
			e.results[*line.Run] = running
		default:
			e.broken = e.broken || line.Ended != "done" || len(running.failed) > 0
		}
		running = pytestResult{tests: tests, failed: map[int]string{}}
	}
}

// itemsOf returns the numbers of tests, in the order of the session.
func (e *pytestEngine) itemsOf(tests []metric.Test) []int {
	out := []int{}
	for _, t := range tests {
		out = append(out, e.items[t.ID])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// switchedSlack is [timeoutSlack] for a mutant that is not built and started alone.
const switchedSlack = time.Second
