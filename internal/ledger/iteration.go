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
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/metric"
	"supervise/parsers"
	"supervise/selector"
	"supervise/snapshot"

	"golang.org/x/sync/errgroup"
)

// Iteration is the record of one iteration; number 0 is the baseline.
type Iteration struct {
	Version int    `json:"version"`
	LoopID  string `json:"loop_id"`
	Number  int    `json:"iteration"`

	// The time and the trees of the iteration.
	StartedAt time.Time     `json:"started_at"`
	EndedAt   time.Time     `json:"timestamp"`
	Agent     *AgentRun     `json:"agent,omitempty"` // what the agent did; nil for the baseline
	Start     snapshot.ID   `json:"start_snapshot"`  // the tree that the agent started from
	Snapshot  snapshot.ID   `json:"snapshot"`        // the tree when it ended
	Tree      string        `json:"tree"`            // content identity of that tree
	Changed   []FileChange  `json:"changed_files"`
	Resumed   bool          `json:"resumed,omitempty"` // supervise itself was killed in it, and continued it later
	OwnTime   time.Duration `json:"own_time_ns"`       // supervise's own work, agent and checks excluded

	// The prompt.
	Level       string `json:"reinforcement_level,omitempty"`
	LevelReason string `json:"reinforcement_reason,omitempty"` // why the prompt had this level
	Retry       int    `json:"retry,omitempty"`                // which retry of an incident this was

	// The measurements, and the corrections of them.
	Set    metric.Set `json:"measurements"`
	Checks []CheckRun `json:"checks"`
	Reused bool       `json:"reused_measurement,omitempty"` // the tree was measured before
	// CheckChanges are the files that the checks changed in the tree.
	CheckChanges []detector.CheckChange `json:"check_changes,omitempty"`
	// Confirmation is nil if no test failed that passed before.
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	// Silenced is nil if no comments that suppress linters were added.
	Silenced *Silenced `json:"lint_suppressed,omitempty"`
	// Excluded is nil if the loop added no coverage exclusions. Otherwise the coverage of
	// Set is the lower of the coverage with and without them.
	Excluded *Excluded `json:"coverage_excluded,omitempty"`
	// CoverageLosses are the lines that lost their coverage, since each iteration with which this one
	// is compared and for which they are known.
	CoverageLosses []detector.CoverageLoss `json:"coverage_losses,omitempty"`
	// ChangeCoverage is nil if no lines of product code differ from the base.
	ChangeCoverage *ChangeCoverage `json:"change_coverage,omitempty"`

	// The trials, which run tests again. RunTimes has how long they took, by the stage of the judge.
	RunTimes      map[string]time.Duration `json:"run_times_ns,omitempty"`
	Goals         *Goals                   `json:"goals,omitempty"`          // nil if no original test had to be run
	MutationCheck *MutationCheck           `json:"power,omitempty"`          // nil if no test was changed or removed
	CleanRoom     *CleanRoom               `json:"clean_room,omitempty"`     // nil if nothing became green, or only product code changed
	ConcealedRun  *ConcealedRun            `json:"concealed,omitempty"`      // nil if no code was added that may detect a test run
	ChangeMutants *ChangeMutants           `json:"change_mutants,omitempty"` // nil if no product code was changed, or tests fail
	Hidden        *Hidden                  `json:"hidden_tests,omitempty"`   // nil if the loop has no hidden tests, or runs them at its end

	// The verdict.
	Score      selector.Score      `json:"score"`
	Assessment detector.Assessment `json:"assessment"`
	// Review is nil if no reviewer was asked. In a loop only the selected tree is
	// reviewed, and State.Review holds the result.
	Review   *Review   `json:"review,omitempty"`
	Evidence *Evidence `json:"-"`        // nil after reading: see [ReadEvidence]
	Verified bool      `json:"verified"` // proven good by its tests and the criterion
	// Open are the integrity findings of severity HIGH or CRITICAL that are not
	// acknowledged: those of this iteration, and those of earlier ones that still apply.
	Open []OpenFinding `json:"open_findings,omitempty"`
	// Acknowledged are findings that a person accepted after the previous iteration. They apply
	// from this one on.
	Acknowledged []detector.Acknowledgement `json:"acknowledged,omitempty"`

	// What followed.
	Decision *Decision `json:"decision,omitempty"` // nil for the baseline and if there was none
	Rejected bool      `json:"rejected"`
	// Interrupted reports whether the loop was stopped before the iteration could be
	// judged. Such an iteration is kept and never selected.
	Interrupted bool           `json:"interrupted,omitempty"`
	Best        *BestIteration `json:"best_so_far,omitempty"` // including this one
	Regression  *Regression    `json:"regression,omitempty"`  // the finding that rejected it

	// Baseline only: how often it was measured, and the files that the checks themselves
	// wrote to the tree.
	BaselineRuns int      `json:"baseline_runs,omitempty"`
	CheckOutputs []string `json:"check_outputs,omitempty"`
	// Uncommitted is nil if the tests were those of HEAD before the loop started.
	Uncommitted *Uncommitted `json:"uncommitted_tests,omitempty"`

	Recorded *Reported `json:"recorded,omitempty"` // of an iteration that another orchestrator ran
}

// OpenFinding is an integrity finding that the user has to judge.
type OpenFinding struct {
	ID        string            `json:"id"` // of the alert
	Rule      string            `json:"rule"`
	Severity  detector.Severity `json:"severity"`
	Iteration int               `json:"iteration"` // the iteration that raised it
	Message   string            `json:"message"`
	Files     []string          `json:"files,omitempty"`
	Tests     []metric.ID       `json:"tests,omitempty"`
}

// String returns the finding in one line.
func (o OpenFinding) String() string {
	return fmt.Sprintf("%s %s (finding %s of iteration %d): %s", o.Severity, o.Rule, o.ID, o.Iteration, o.Message)
}

// OpenFindingsAt returns the findings that are open at the end of a loop: those of the
// selected iteration, or else those of the last accepted one.
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

// Reported is what another orchestrator reported about an iteration that it ran. Values
// that it did not report are nil.
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

// Confirmation is the result of rerunning the tests that failed although they passed
// before.
type Confirmation struct {
	Suspects     []metric.ID `json:"suspects"`
	Flaky        []metric.ID `json:"flaky,omitempty"`   // those that passed in the rerun
	Runs         []CheckRun  `json:"runs,omitempty"`    // in order
	NotRunReason string      `json:"refused,omitempty"` // why nothing was rerun
}

// Goals is the result of running the original tests of one tree, with all files they
// depend on, on the product code of another.
type Goals struct {
	TestsSnapshot snapshot.ID                 `json:"tests_snapshot"`
	CodeSnapshot  snapshot.ID                 `json:"code_snapshot"`
	Key           string                      `json:"key,omitempty"` // names what was run: the same again ends the same
	Results       []detector.Goal             `json:"results"`       // of the passing tests only those that the change touches
	Passed        int                         `json:"passed"`
	Dependencies  []detector.DependencyResult `json:"places,omitempty"` // changed files that tests depend on
	FullSuite     bool                        `json:"full_suite,omitempty"`
	// ProductSame reports whether only tests, and files they depend on, differ.
	ProductSame         bool          `json:"product_same,omitempty"`
	RestoredFiles       []string      `json:"restored_files,omitempty"`        // tests and files they depend on
	RestoredInlineTests []string      `json:"restored_inline_tests,omitempty"` // product files whose test modules were restored
	Rewritten           string        `json:"rewritten,omitempty"`             // a test file that the checks changed after it was restored
	Runs                []CheckRun    `json:"runs,omitempty"`                  // in order
	Took                time.Duration `json:"took_ns,omitempty"`
	Reused              bool          `json:"reused,omitempty"`  // nothing was run: the results are those of an earlier run
	NotRunReason        string        `json:"refused,omitempty"` // why nothing was run
	// Alerts, set for the selected tree only, are about weakened tests that were not
	// found in any single iteration.
	Alerts []detector.Alert `json:"alerts,omitempty"`
}

// Weakened returns the alerts at the end of a loop about weakened tests.
func (g *Goals) Weakened() []detector.Alert {
	if g == nil {
		return nil
	}
	return g.Alerts
}

// CleanRoom is the result of running what became green in a clean copy of the base with only the
// product code and the tests of the change.
type CleanRoom struct {
	Tests         int                 `json:"tests"`                     // that failed at the base, pass in the working tree, and were run
	Criterion     string              `json:"criterion,omitempty"`       // the command that was run
	Reliances     []detector.Reliance `json:"relies_on"`                 // what else they need to pass
	PassedAtStart []metric.ID         `json:"passed_at_start,omitempty"` // of the baseline: tests that fail in the working tree only
	FailedAtStart []metric.ID         `json:"failed_at_start,omitempty"` // of the baseline: tests that pass in the working tree only
	Runs          []CheckRun          `json:"runs,omitempty"`
	Took          time.Duration       `json:"took_ns,omitempty"`
	NotRunReason  string              `json:"refused,omitempty"`
}

// ConcealedRun is the result of running tests in a way that conceals the test run from
// the code.
type ConcealedRun struct {
	Signs        []Sign              `json:"signs"`          // added code that may detect a test run
	Tests        int                 `json:"tests"`          // number of tests that were run
	Results      []detector.TestOnly `json:"results"`        // tests that fail only in the concealed run
	Runs         []CheckRun          `json:"runs,omitempty"` // in order
	Took         time.Duration       `json:"took_ns,omitempty"`
	NotRunReason string              `json:"refused,omitempty"` // why nothing was run
}

// Sign is an added line that may detect a test run.
type Sign struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Strong bool   `json:"strong,omitempty"` // it rarely has another purpose
	Stack  bool   `json:"stack,omitempty"`  // it inspects the call stack
}

// MutationCheck compares how many mutants of the product code the original and the changed
// tests kill.
type MutationCheck struct {
	TestsSnapshot snapshot.ID               `json:"tests_snapshot"` // of the original tests
	CodeSnapshot  snapshot.ID               `json:"code_snapshot"`
	Key           string                    `json:"key,omitempty"` // names what was run: the same again ends the same
	Results       []detector.MutationResult `json:"results"`
	Mutants       []Mutant                  `json:"mutants,omitempty"` // in the order in which they were run
	Invalid       int                       `json:"invalid,omitempty"` // mutants that do not build
	Runs          int                       `json:"runs"`
	Budget        time.Duration             `json:"allowed_ns,omitempty"` // time limit, set before the check started; 0: not run, or no time was left
	Took          time.Duration             `json:"took_ns,omitempty"`
	Reused        bool                      `json:"reused,omitempty"`  // the results are those of an earlier check
	NotRunReason  string                    `json:"refused,omitempty"` // why nothing was run
}

// BudgetExceeded reports whether the time limit was too short for any mutant.
func (p MutationCheck) BudgetExceeded() bool {
	return len(p.Mutants) == 0 && slices.ContainsFunc(p.Results, func(r detector.MutationResult) bool { return r.OutOfTime })
}

// Mutant is a fault in the product code, with the tests that kill it.
type Mutant struct {
	detector.Survivor
	KilledByOld bool `json:"killed_by_old"`
	KilledByNew bool `json:"killed_by_new"`
}

// Silenced holds the lint findings that newly added comments suppress.
type Silenced struct {
	Files    []string         `json:"files"`          // files with such comments
	Findings []metric.Finding `json:"findings"`       // suppressed findings
	Runs     []CheckRun       `json:"runs,omitempty"` // in order
	Why      string           `json:"why,omitempty"`  // why the findings are not known
}

// Excluded is the coverage without the exclusions that were added in the loop.
type Excluded struct {
	Files    []string        `json:"files"`    // files with exclusions
	Measured metric.Coverage `json:"reported"` // coverage with the exclusions, without the list of files
	Runs     []CheckRun      `json:"runs,omitempty"`
	Why      string          `json:"why,omitempty"` // why it is not known; coverage then counts as not improved

	// Hidden is the excluded part of each file if only that part is known, otherwise nil.
	Hidden []metric.FileCoverage `json:"excluded,omitempty"`
	// Reused reports whether an earlier result was reused, because none of the files or
	// not even the tree has changed.
	Reused bool `json:"reused,omitempty"`
}

// JudgedSet returns the set that the iteration is judged by. It includes the lint findings
// that new comments suppress.
func (it Iteration) JudgedSet() metric.Set {
	set := it.Set
	if it.Silenced != nil && set.Lint != nil && len(it.Silenced.Findings) > 0 {
		set.Lint = set.Lint.Merge(&metric.Lint{Findings: it.Silenced.Findings})
	}
	return set
}

// Hidden holds the results of the hidden tests, which the agent does not see.
type Hidden struct {
	Tests        *metric.Tests `json:"tests,omitempty"` // nil if they were not run or could not be read
	Why          string        `json:"why,omitempty"`   // why they could not be read
	Flaky        []metric.ID   `json:"flaky,omitempty"` // failed first and passed when rerun
	Runs         []CheckRun    `json:"runs,omitempty"`  // in order
	Files        string        `json:"files_sha256,omitempty"`
	NotRunReason string        `json:"refused,omitempty"`  // why they were not run
	Reused       bool          `json:"reused,omitempty"`   // no code changed, or the same tree was judged before
	Deferred     bool          `json:"deferred,omitempty"` // they run only at the end of the loop
	Sealed       bool          `json:"sealed,omitempty"`   // they were taken out of the tree
}

// AllPass reports whether all hidden tests that have to run by now could be run and pass.
// It is true for nil: there are none.
func (h *Hidden) AllPass() bool {
	return h == nil || h.Deferred || h.Tests != nil && h.Tests.Counts().Failed == 0 && len(h.Tests.Broken) == 0 && h.Tests.Failure == ""
}

// Failing returns how many hidden tests are known to fail or not to run.
func (h *Hidden) Failing() int {
	if h == nil {
		return 0
	}
	return h.Tests.Counts().Failed
}

// Kind returns hidden or sealed.
func (h *Hidden) Kind() string {
	if h != nil && h.Sealed {
		return "sealed"
	}
	return "hidden"
}

// FailingFiles returns the files of the sealed tests that fail or do not run.
func (h *Hidden) FailingFiles() (out []string) {
	if h == nil || h.Tests == nil || !h.Sealed {
		return nil
	}
	for _, t := range h.Tests.Cases {
		if t.Failed() && !slices.Contains(out, t.File) {
			out = append(out, t.File)
		}
	}
	return out
}

// Decision is what the loop did after an iteration.
type Decision struct {
	Move      string      `json:"move"`                       // continue, retry, stop, escalate
	Target    int         `json:"target_iteration,omitempty"` // of a rejected one: the iteration whose tree was restored
	Restore   snapshot.ID `json:"restore_snapshot,omitempty"` // of a rejected one: the snapshot that was restored
	Retry     int         `json:"retry,omitempty"`            // which retry follows, from 1
	Reason    string      `json:"reason"`
	Diagnosis string      `json:"diagnosis,omitempty"`
	Advice    string      `json:"advice,omitempty"` // for the next prompt
	Criterion *bool       `json:"criterion_met,omitempty"`
	// CriterionOutput is the last output of the command of an unmet criterion.
	CriterionOutput string `json:"criterion_output,omitempty"`
	Retries         int    `json:"retries"`                // in the incident that is open after this iteration
	Attempts        int    `json:"attempts"`               // in the whole loop
	SameFinding     int    `json:"same_finding,omitempty"` // consecutive retries rejected for the finding they had to fix

	Strategy     string    `json:"strategy,omitempty"`      // how the next attempt should differ
	Phases       []Phase   `json:"phases,omitempty"`        // of the recovery, in order
	QuestionKind string    `json:"question_kind,omitempty"` // why the user is asked
	Approval     *Approval `json:"approval,omitempty"`      // nil if the user was not asked
	// UnblockApproval is the question to the user after the agent reported that it cannot
	// continue, nil if no user was there.
	UnblockApproval *Approval `json:"blocked_approval,omitempty"`
}

// FileChange is a file that the agent changed. Kind is added, modified, deleted, or mode
// if only the permissions changed.
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
	Read     []string      `json:"read"` // reports that were read: "FORMAT from PATH"
	Problems []string      `json:"problems,omitempty"`
	Why      string        `json:"why,omitempty"` // why it counts as not measured
	Output   string        `json:"output,omitempty"`
	Cached   int           `json:"cached,omitempty"` // tests not run because their tool cached the result

	Leftovers []string `json:"leftovers,omitempty"` // processes it left behind, which were killed
}

// Progress is the document progress/iteration-NNN-metrics.json.
type Progress struct {
	Iteration int            `json:"iteration"`
	Timestamp time.Time      `json:"timestamp"`
	Class     detector.Class `json:"classification"`
	metric.Record
	Derived Derived          `json:"derived"`
	Change  *ChangeCoverage  `json:"change_coverage,omitempty"`
	Alerts  []detector.Alert `json:"alerts"`
	// Changes lists the changes of individual tests since the previous iteration.
	Changes detector.TestChanges `json:"test_changes,omitzero"`
	IsBest  bool                 `json:"is_best_iteration"`
}

// Derived holds the values computed from the measurements.
type Derived struct {
	ErrorCount   *float64         `json:"error_count"`
	QualityScore *float64         `json:"quality_score"`
	Class        detector.Class   `json:"classification"`
	Signature    metric.Signature `json:"signature"`
	Deltas       Deltas           `json:"deltas"`
}

// Deltas are the changes of all metrics that were measured on both sides.
type Deltas struct {
	FromPrevious metric.Delta `json:"from_previous"`
	FromBaseline metric.Delta `json:"from_baseline"`
}

// Progress returns the iteration as the progress document shows it.
func (it Iteration) Progress(best bool) Progress {
	r := it.Set.Record()
	p := Progress{
		Iteration: it.Number, Timestamp: it.EndedAt, Class: it.Assessment.Class, Record: r,
		Change: it.ChangeCoverage, Alerts: it.Assessment.Alerts, Changes: it.Assessment.Changes, IsBest: best,
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

// Quality returns the score in [0,1], nil if nothing was measured.
func (it Iteration) Quality() *float64 {
	if !it.Score.Measured {
		return nil
	}
	return new(it.Score.Value)
}

// Files holds the contents of changed files by path.
type Files map[string][]byte

// IterationName returns iteration-NNN, the prefix of the files of an iteration.
func IterationName(n int) string { return fmt.Sprintf("iteration-%03d", n) }

// PromptName is the name of the prompt file in the folder of an iteration.
const PromptName = "prompt.md"

// ReadPrompt reads the prompt of iteration n of the loop in dir. The error wraps
// [fs.ErrNotExist] if it had no prompt.
func ReadPrompt(dir string, n int) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "iterations", IterationName(n), PromptName))
	if err != nil {
		return "", fmt.Errorf("read the prompt of iteration %d: %w", n, err)
	}
	return string(text), nil
}

// MakeIterationDir returns the folder of iteration n and creates it if it is missing.
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
	var writers errgroup.Group // in parallel: with many tests each takes a while
	writers.Go(func() error { return writeResults(dir, it.Set) })
	writers.Go(func() error { return writeEvidence(dir, it.Evidence) })
	writers.Go(func() error { return writeArtifacts(filepath.Join(dir, "artifacts"), files) })
	writers.Go(func() error { return WriteJSON(filepath.Join(l.dir, "progress", progress), it.Progress(best)) })
	writers.Go(func() (err error) {
		if metrics, err = encodeJSON(it, ""); err != nil {
			return fmt.Errorf("write iteration %d: %w", it.Number, err)
		}
		return writeGzip(checkpointPath(l.dir, IterationName(it.Number)), metrics)
	})
	if err := writers.Wait(); err != nil {
		return err //nolint:wrapcheck // each error names the file
	}
	return WriteFile(filepath.Join(dir, "metrics.json"), indentUnlessLarge(metrics)) // last, because readers look for this file
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

// WriteReport writes a report of the loop to reports/name.
func (l *Ledger) WriteReport(name string, d document.Document) error {
	return WriteFile(filepath.Join(l.dir, "reports", name), []byte(d.Markdown()))
}

// ReadIterations reads all iterations of the loop in dir, ordered by number. Iterations
// that were started and never finished are omitted.
func ReadIterations(dir string) ([]Iteration, error) {
	var out []Iteration
	entries, err := os.ReadDir(filepath.Join(dir, "iterations"))
	if err != nil {
		return nil, fmt.Errorf("read iterations: %w", err)
	}

	read, errs := make([]Iteration, len(entries)), make([]error, len(entries))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0)) // most of the time goes into decoding
	for i, e := range entries {
		readers.Go(func() error {
			read[i], errs[i] = readIteration(dir, e.Name())
			return nil
		})
	}
	_ = readers.Wait()
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

// checkpointPath returns the path of the second, compressed copy of the record of an iteration.
func checkpointPath(dir, name string) string {
	return filepath.Join(dir, "checkpoints", name+".json.gz")
}

// readIteration reads the record of an iteration, or its checkpoint if the record is
// damaged.
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
	var checkpoint Iteration
	if readGzipJSON(checkpointPath(dir, name), &checkpoint) == nil {
		return checkpoint, nil
	}
	return it, fmt.Errorf("read %s: %w; its checkpoint cannot be read either", path, err)
}
