package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/metric"
	"supervise/parsers"
	"supervise/selector"
	"supervise/snapshot"

	"golang.org/x/sync/errgroup"
)

// Iteration is everything that is known about one iteration; number 0 is the
// baseline.
type Iteration struct {
	Version    int                 `json:"version"`
	LoopID     string              `json:"loop_id"`
	Number     int                 `json:"iteration"`
	StartedAt  time.Time           `json:"started_at"`
	EndedAt    time.Time           `json:"timestamp"`
	Set        metric.Set          `json:"measurements"`
	Score      selector.Score      `json:"score"`
	Assessment detector.Assessment `json:"assessment"`
	Agent      *AgentRun           `json:"agent,omitempty"`
	Start      snapshot.ID         `json:"start_snapshot"` // the tree that the agent started from
	Snapshot   snapshot.ID         `json:"snapshot"`       // the tree that it left
	Tree       string              `json:"tree"`
	Changed    []FileChange        `json:"changed_files"`
	Verified   bool                `json:"verified"`
	Rejected   bool                `json:"rejected"`
	// Interrupted says that the loop was stopped before the iteration could be
	// judged. It is kept and never selected.
	Interrupted bool `json:"interrupted,omitempty"`
	// Resumed says that supervise itself died in this iteration, and went on with
	// it later.
	Resumed bool `json:"resumed,omitempty"`

	Reused bool   `json:"reused_measurement,omitempty"` // the tree had been measured before
	Level  string `json:"reinforcement_level,omitempty"`
	// LevelReason is why the prompt had this level.
	LevelReason string `json:"reinforcement_reason,omitempty"`

	Retry  int        `json:"retry,omitempty"` // which retry of an incident this was
	Checks []CheckRun `json:"checks"`

	// Confirmation is nil where no test failed that had passed before.
	Confirmation *Confirmation `json:"confirmation,omitempty"`

	// Goals is nil where no test had to be run as it was.
	Goals *Goals `json:"goals,omitempty"`
	// ConcealedRun is nil where no code was added that may look for its tests.
	ConcealedRun *ConcealedRun `json:"disguised,omitempty"`

	// MutationCheck is nil where no test was changed, and none is gone.
	MutationCheck *MutationCheck `json:"power,omitempty"`

	// Silenced is nil where no comments came that silence linters.
	Silenced *Silenced `json:"lint_suppressed,omitempty"`

	// Excluded is nil where nothing takes code out of the coverage that did not
	// before the loop. Else the coverage of Set is the lower of both: with it, and
	// without.
	Excluded *Excluded `json:"coverage_excluded,omitempty"`

	// Hidden is nil where the loop has no hidden tests, or runs them at its end.
	Hidden *Hidden `json:"hidden_tests,omitempty"`
	// Review is nil where nobody was asked for a second opinion. In a loop, the selected
	// tree has it, and no iteration.
	Review *Review `json:"review,omitempty"`

	// Open are the findings about integrity, HIGH or CRITICAL, that are not
	// acknowledged: of this iteration, and of those it builds on as long as what they
	// found is still there.
	Open []OpenFinding `json:"open_findings,omitempty"`

	// Decision is what followed from the assessment, nil for the baseline and
	// where it came to none. Best is the best iteration with this one counted in,
	// Regression what this one cost.
	Decision   *Decision      `json:"decision,omitempty"`
	Best       *BestIteration `json:"best_so_far,omitempty"`
	Regression *Regression    `json:"regression,omitempty"`

	// Of the baseline alone: how often it was measured, and the files that the checks
	// themselves left in the tree.
	BaselineRuns int      `json:"baseline_runs,omitempty"`
	CheckOutputs []string `json:"check_outputs,omitempty"`

	OwnTime time.Duration `json:"own_time_ns"` // supervise's own work, agent and checks excluded

	// Evidence is nil for an iteration that was read: see [ReadEvidence].
	Evidence *Evidence `json:"-"`

	Recorded *Reported `json:"recorded,omitempty"` // of an iteration that somebody else ran
}

// OpenFinding is a finding about integrity that a person has to judge.
type OpenFinding struct {
	ID        string            `json:"id"` // of the alert
	Rule      string            `json:"rule"`
	Severity  detector.Severity `json:"severity"`
	Iteration int               `json:"iteration"` // that raised it
	Message   string            `json:"message"`
	Files     []string          `json:"files,omitempty"`
	Tests     []metric.ID       `json:"tests,omitempty"`
}

// String returns the finding in one line.
func (o OpenFinding) String() string {
	return fmt.Sprintf("%s %s (finding %s of iteration %d): %s", o.Severity, o.Rule, o.ID, o.Iteration, o.Message)
}

// OpenFindingsAt returns the findings that are open at the end of a loop: against the
// tree of the selected iteration, else against the last that was accepted.
func OpenFindingsAt(its []Iteration, selected int) []OpenFinding {
	if selected < len(its) && len(its[selected].Open) > 0 {
		return its[selected].Open
	}
	for _, it := range slices.Backward(its) {
		if !it.Rejected && !it.Interrupted {
			return it.Open
		}
	}
	return nil
}

// Reported is what an orchestrator reported of an iteration that it ran itself. A
// number that it did not give is nil.
type Reported struct {
	Tokens       *int64   `json:"tokens_used,omitempty"`
	CostUSD      *float64 `json:"token_cost_usd,omitempty"`
	TimeMS       *int64   `json:"execution_time_ms,omitempty"`
	Verification string   `json:"verification_status,omitempty"` // passed, failed, skipped; "" when not given
	Reflections  []string `json:"reflections,omitempty"`
	Artifacts    []string `json:"artifacts,omitempty"` // paths that were copied, as given
	Error        string   `json:"error,omitempty"`     // what went wrong
	StartedFrom  *int     `json:"started_from,omitempty"`
	Unchanged    bool     `json:"unchanged,omitempty"` // the agent changed nothing
	ExitCode     int      `json:"exit_code,omitempty"` // of the agent
}

// Confirmation is the result of running the tests again that failed although they had
// passed before.
type Confirmation struct {
	Suspects     []metric.ID `json:"suspects"`
	Flaky        []metric.ID `json:"flaky,omitempty"`   // those that passed when they were run again
	Runs         []CheckRun  `json:"runs,omitempty"`    // in order
	NotRunReason string      `json:"refused,omitempty"` // why nothing was run again
}

// Goals is the result of running tests as they were in one tree, with all that they
// leaned on, over the product code of another.
type Goals struct {
	TestsSnapshot snapshot.ID                 `json:"tests_snapshot"`
	CodeSnapshot  snapshot.ID                 `json:"code_snapshot"`
	Key           string                      `json:"key,omitempty"` // names what was run: the same again ends the same
	Results       []detector.Goal             `json:"results"`       // of those that passed only the ones that the change touches
	Passed        int                         `json:"passed"`
	Dependencies  []detector.DependencyResult `json:"places,omitempty"` // changed files that tests lean on
	FullSuite     bool                        `json:"full_suite,omitempty"`
	// ProductSame says that nothing but tests, and what they lean on, differs.
	ProductSame         bool          `json:"product_same,omitempty"`
	RestoredFiles       []string      `json:"restored_files,omitempty"`        // tests and what they lean on
	RestoredInlineTests []string      `json:"restored_inline_tests,omitempty"` // files of code whose test modules were restored
	Runs                []CheckRun    `json:"runs,omitempty"`                  // in order
	Took                time.Duration `json:"took_ns,omitempty"`
	Reused              bool          `json:"reused,omitempty"`  // nothing was run: the results are those of an earlier run
	NotRunReason        string        `json:"refused,omitempty"` // why nothing was run
	// Alerts, over the selected tree, are about tests that were weakened, and that no
	// iteration was found to have changed so.
	Alerts []detector.Alert `json:"alerts,omitempty"`
}

// Weakened are the alerts at the end of a loop about tests that were weakened.
func (g *Goals) Weakened() []detector.Alert {
	if g == nil {
		return nil
	}
	return g.Alerts
}

// ConcealedRun is the result of running tests so that the code cannot see that it is under
// test.
type ConcealedRun struct {
	Signs        []Sign              `json:"signs"`          // in the added code, that it may look
	Tests        int                 `json:"tests"`          // that were run
	Results      []detector.TestOnly `json:"results"`        // those that fail only then
	Runs         []CheckRun          `json:"runs,omitempty"` // in order
	Took         time.Duration       `json:"took_ns,omitempty"`
	NotRunReason string              `json:"refused,omitempty"` // why nothing was run
}

// Sign is an added line by which code may find out that it runs in a test.
type Sign struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Strong bool   `json:"strong,omitempty"` // it seldom has another purpose
	Stack  bool   `json:"stack,omitempty"`  // it looks at callers
}

// MutationCheck is the result of running changed tests over mutants of the product code, as they
// were and as they are.
type MutationCheck struct {
	TestsSnapshot snapshot.ID               `json:"tests_snapshot"` // as they were
	CodeSnapshot  snapshot.ID               `json:"code_snapshot"`
	Key           string                    `json:"key,omitempty"` // names what was run: the same again ends the same
	Results       []detector.MutationResult `json:"results"`
	Mutants       []Mutant                  `json:"mutants,omitempty"` // in the order in which they were run
	Invalid       int                       `json:"invalid,omitempty"` // mutants that do not build
	Runs          int                       `json:"runs"`
	Budget        time.Duration             `json:"allowed_ns,omitempty"` // what it might take, known before it began; 0: not run, or nothing was left
	Took          time.Duration             `json:"took_ns,omitempty"`
	Reused        bool                      `json:"reused,omitempty"`  // nothing was run: the results are those of an earlier trial
	NotRunReason  string                    `json:"refused,omitempty"` // why nothing was run
}

// BudgetExceeded reports whether the time did not suffice for any mutant.
func (p MutationCheck) BudgetExceeded() bool {
	return len(p.Mutants) == 0 && slices.ContainsFunc(p.Results, func(r detector.MutationResult) bool { return r.OutOfTime })
}

// Mutant is a fault in the product code, and which tests noticed it.
type Mutant struct {
	detector.Survivor
	KilledByOld bool `json:"killed_by_old"`
	KilledByNew bool `json:"killed_by_new"`
}

// Silenced is what the linters find that new comments suppress.
type Silenced struct {
	Files    []string         `json:"files"`          // in which such comments came
	Findings []metric.Finding `json:"findings"`       // that they hide
	Runs     []CheckRun       `json:"runs,omitempty"` // in order
	Why      string           `json:"why,omitempty"`  // it is not known
}

// Excluded is the coverage without the exclusions that are new in the loop.
type Excluded struct {
	Files    []string        `json:"files"`    // with what takes code out
	Measured metric.Coverage `json:"reported"` // with that, without its files
	Runs     []CheckRun      `json:"runs,omitempty"`
	Why      string          `json:"why,omitempty"` // it is not known: then coverage counts as no better than before

	// Hidden is the excluded part of each file, where only that part is known;
	// otherwise nil.
	Hidden []metric.FileCoverage `json:"excluded,omitempty"`
	// Reused says that nothing was run: none of the files changed since it was
	// counted, or the same tree was.
	Reused bool `json:"reused,omitempty"`
}

// JudgedSet is the set that the iteration is judged by: what new comments hide from
// the linters counts in it.
func (it Iteration) JudgedSet() metric.Set {
	set := it.Set
	if it.Silenced != nil && set.Lint != nil && len(it.Silenced.Findings) > 0 {
		set.Lint = set.Lint.Merge(&metric.Lint{Findings: it.Silenced.Findings})
	}
	return set
}

// Hidden are the outcomes of the tests that the agent does not see.
type Hidden struct {
	Tests        *metric.Tests `json:"tests,omitempty"` // nil where they were not run, or could not be read
	Why          string        `json:"why,omitempty"`   // they could not be read
	Flaky        []metric.ID   `json:"flaky,omitempty"` // failed first and passed when run again
	Runs         []CheckRun    `json:"runs,omitempty"`  // in order
	Files        string        `json:"files_sha256,omitempty"`
	NotRunReason string        `json:"refused,omitempty"`  // why they were not run
	Reused       bool          `json:"reused,omitempty"`   // no code changed, or the same tree was judged before
	Deferred     bool          `json:"deferred,omitempty"` // they are run at the end alone
}

// AllPass reports whether no hidden test fails and all could be run, as far as they
// are to be run by now. Nil is green: there are none.
func (h *Hidden) AllPass() bool {
	return h == nil || h.Deferred || h.Tests != nil && h.Tests.Counts().Failed == 0 && len(h.Tests.Broken) == 0 && h.Tests.Failure == ""
}

// Failing is how many hidden tests are known to fail or not to run.
func (h *Hidden) Failing() int {
	if h == nil {
		return 0
	}
	return h.Tests.Counts().Failed
}

// Decision is what the loop did after an iteration.
type Decision struct {
	Move      string      `json:"move"`                       // continue, retry, stop, escalate
	Target    int         `json:"target_iteration,omitempty"` // of a rejected one: whose tree was put back
	Restore   snapshot.ID `json:"restore_snapshot,omitempty"` // of a rejected one: the tree itself
	Retry     int         `json:"retry,omitempty"`            // which retry follows, from 1
	Reason    string      `json:"reason"`
	Diagnosis string      `json:"diagnosis,omitempty"`
	Advice    string      `json:"advice,omitempty"` // for the next prompt
	Criterion *bool       `json:"criterion_met,omitempty"`
	// CriterionOutput is the end of what the command of a criterion printed that is not met.
	CriterionOutput string `json:"criterion_output,omitempty"`
	Retries         int    `json:"retries"`                // of the incident that is open after this iteration
	Attempts        int    `json:"attempts"`               // in the whole loop
	SameFinding     int    `json:"same_finding,omitempty"` // retries in a row that were undone for the finding that they were to mend

	Strategy     string    `json:"strategy,omitempty"`      // how the next attempt is to differ
	Phases       []Phase   `json:"phases,omitempty"`        // of the recovery, in order
	QuestionKind string    `json:"question_kind,omitempty"` // why a person is to judge
	Approval     *Approval `json:"approval,omitempty"`      // nil where no person was asked
	// UnblockApproval is what a person answered to the agent's word that it cannot go on, nil
	// where nobody was there.
	UnblockApproval *Approval `json:"blocked_approval,omitempty"`
}

// FileChange is a file that the agent changed: added, modified, deleted, or mode
// when only its permissions are others.
type FileChange struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

// CheckRun is what one check did in an iteration.
type CheckRun struct {
	Name     string        `json:"name"`
	Command  string        `json:"command"`
	ExitCode int           `json:"exit_code"`
	Duration time.Duration `json:"duration_ns"`
	Read     []string      `json:"read"` // what was read: "FORMAT from PATH"
	Problems []string      `json:"problems,omitempty"`
	Why      string        `json:"why,omitempty"` // why it counts as not measured
	Output   string        `json:"output,omitempty"`
	Cached   int           `json:"cached,omitempty"` // tests that were not run, since their tool knows their last verdict

	Leftovers []string `json:"leftovers,omitempty"` // processes it left behind, which were ended
}

// Progress is the document progress/iteration-NNN-metrics.json.
type Progress struct {
	Iteration int            `json:"iteration"`
	Timestamp time.Time      `json:"timestamp"`
	Class     detector.Class `json:"classification"`
	metric.Record
	Derived Derived          `json:"derived"`
	Alerts  []detector.Alert `json:"alerts"`
	// Changes says test by test what happened since the previous iteration.
	Changes detector.TestChanges `json:"test_changes,omitzero"`
	IsBest  bool                 `json:"is_best_iteration"`
}

// Derived holds the numbers that follow from the measured ones.
type Derived struct {
	ErrorCount   *float64         `json:"error_count"`
	QualityScore *float64         `json:"quality_score"`
	Class        detector.Class   `json:"classification"`
	Signature    metric.Signature `json:"signature"`
	Deltas       Deltas           `json:"deltas"`
}

// Deltas are the changes of every number that was measured on both sides.
type Deltas struct {
	FromPrevious metric.Delta `json:"from_previous"`
	FromBaseline metric.Delta `json:"from_baseline"`
}

// Progress returns the iteration as the progress document shows it.
func (it Iteration) Progress(best bool) Progress {
	r := it.Set.Record()
	p := Progress{
		Iteration: it.Number, Timestamp: it.EndedAt, Class: it.Assessment.Class, Record: r,
		Alerts: it.Assessment.Alerts, Changes: it.Assessment.Changes, IsBest: best,
		Derived: Derived{
			QualityScore: it.Quality(), Class: it.Assessment.Class, Signature: it.Set.Signature(),
			Deltas: Deltas{it.Assessment.FromPrevious, it.Assessment.FromBaseline},
		},
	}
	if r.Quality != nil {
		p.Derived.ErrorCount = r.Quality.ErrorCount
	}
	return p
}

// Quality returns the score in [0,1], nil when nothing was measured.
func (it Iteration) Quality() *float64 {
	if !it.Score.Measured {
		return nil
	}
	return new(it.Score.Value)
}

// Files are changed files by path, as the agent left them.
type Files map[string][]byte

// IterationName returns iteration-NNN, as the files of an iteration are called.
func IterationName(n int) string { return fmt.Sprintf("iteration-%03d", n) }

// PromptName is the file of a prompt in the folder of its iteration.
const PromptName = "prompt.md"

// ReadPrompt reads what the agent was told in iteration n of the loop in dir. The error wraps
// [fs.ErrNotExist] where it was told nothing.
func ReadPrompt(dir string, n int) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "iterations", IterationName(n), PromptName))
	if err != nil {
		return "", fmt.Errorf("read the prompt of iteration %d: %w", n, err)
	}
	return string(text), nil
}

// MakeIterationDir returns the folder of iteration n and makes it.
func (l *Ledger) MakeIterationDir(n int) (string, error) {
	dir := filepath.Join(l.dir, "iterations", IterationName(n))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), syncDir(filepath.Dir(dir))); err != nil {
		return "", fmt.Errorf("make iteration folder: %w", err)
	}
	return dir, nil
}

// Append writes the iteration into its folder. Writing it again replaces it.
func (l *Ledger) Append(it Iteration, files Files, best bool) error {
	it.Version = Version
	dir, err := l.MakeIterationDir(it.Number)
	if err != nil {
		return err
	}
	progress := IterationName(it.Number) + "-metrics.json"
	if it.Number == 0 {
		progress = IterationName(0) + "-baseline.json"
	}
	var metrics []byte
	var all errgroup.Group // side by side: with many tests each takes a while
	all.Go(func() error { return writeResults(dir, it.Set) })
	all.Go(func() error { return writeEvidence(dir, it.Evidence) })
	all.Go(func() error { return writeArtifacts(filepath.Join(dir, "artifacts"), files) })
	all.Go(func() error { return WriteJSON(filepath.Join(l.dir, "progress", progress), it.Progress(best)) })
	all.Go(func() (err error) {
		if metrics, err = encoded(it, ""); err != nil {
			return fmt.Errorf("write iteration %d: %w", it.Number, err)
		}
		return l.checkpoint(it.Number, metrics)
	})
	if err := all.Wait(); err != nil {
		return err //nolint:wrapcheck // each says what it wrote
	}
	return WriteFile(filepath.Join(dir, "metrics.json"), readable(metrics)) // last: it is what readers look for
}

func writeResults(dir string, s metric.Set) error {
	if s.Tests != nil {
		var b bytes.Buffer
		if err := parsers.WriteJUnit(&b, s.Tests); err != nil {
			return fmt.Errorf("write test results: %w", err)
		}
		if err := WriteFile(filepath.Join(dir, "results.xml"), b.Bytes()); err != nil {
			return err
		}
	}
	if s.Coverage != nil {
		if err := WriteJSON(filepath.Join(dir, "coverage.json"), s.Coverage); err != nil {
			return err
		}
	}
	if s.Lint != nil {
		return WriteJSON(filepath.Join(dir, "lint.json"), s.Lint)
	}
	return nil
}

// WriteReport writes a report of the loop, for instance reports/….md.
func (l *Ledger) WriteReport(name string, d document.Document) error {
	return WriteFile(filepath.Join(l.dir, "reports", name), []byte(d.Markdown()))
}

// ReadIterations reads all iterations of the loop in dir, by number. One that was
// begun and never finished is left out.
func ReadIterations(dir string) ([]Iteration, error) {
	var out []Iteration
	entries, err := os.ReadDir(filepath.Join(dir, "iterations"))
	if err != nil {
		return nil, fmt.Errorf("read iterations: %w", err)
	}
	read, errs := make([]Iteration, len(entries)), make([]error, len(entries))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(entries)) { // most of the time goes into decoding
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(entries); i = int(next.Add(1)) - 1 {
				read[i], errs[i] = readIteration(dir, entries[i].Name())
			}
		})
	}
	readers.Wait()
	for i, err := range errs {
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, read[i])
	}
	slices.SortFunc(out, func(a, b Iteration) int { return a.Number - b.Number })
	return out, nil
}

// readIteration reads the record of an iteration; from its checkpoint where the
// record is damaged.
func readIteration(dir, name string) (it Iteration, err error) {
	path := filepath.Join(dir, "iterations", name, "metrics.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return it, fmt.Errorf("read iteration: %w", err)
	}
	switch err = json.Unmarshal(b, &it); {
	case err == nil && it.Version != Version:
		return it, versionError(path, it.Version)
	case err == nil:
		return it, nil
	}
	if again, spare := readCheckpoint(dir, name); spare == nil {
		return again, nil
	}
	return it, fmt.Errorf("read %s: %w; its checkpoint cannot be read either", path, err)
}
