package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/mutantrun"
	"supervise/internal/mutation"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// MinMutants is the number of mutants without which tests are not said to notice nothing.
const MinMutants = 5

// maxShown is how many survivors a finding names.
const maxShown = 3

// findings returns what the results say about the change and its tests.
func (r *trialRun) findings(ctx context.Context) ([]detector.Unguarded, error) {
	var out []detector.Unguarded
	for _, group := range r.addedByFile() {
		x, err := r.emptyTests(ctx, group)
		if err != nil {
			return nil, err
		}
		if x != nil {
			out = append(out, *x)
		}
	}
	goals, err := r.emptyGoals(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, goals...)
	if x := unguarded(r.record()); x != nil {
		out = append(out, *x)
	}
	return out, nil
}

// unguarded returns the finding about survivors, nil if there is none.
func unguarded(m *ledger.ChangeMutants) *detector.Unguarded {
	if len(m.Survivors) == 0 {
		return nil
	}
	x := &detector.Unguarded{Rule: detector.ChangeUnguarded}
	var shown []string
	for i, s := range m.Survivors {
		if !slices.Contains(x.Files, s.File) {
			x.Files = append(x.Files, s.File)
		}
		if i < maxShown {
			shown = append(shown, s.String())
		}
	}
	if more := len(m.Survivors) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	x.Why = fmt.Sprintf("No test notices %d of %d mutants of changed lines: %s", len(m.Survivors), m.Mutants, strings.Join(shown, "; "))
	return x
}

// addedByFile returns the added tests, those of one file together.
func (r *trialRun) addedByFile() [][]metric.Test {
	homes := detector.DefinitionsOf(r.CurrentTests, r.Defined)
	byFile := map[string][]metric.Test{}
	var order []string
	for _, t := range r.added {
		file := cmp.Or(homes[t.ID].File, t.File, t.ID.Suite)
		if byFile[file] == nil {
			order = append(order, file)
		}
		byFile[file] = append(byFile[file], t)
	}
	var out [][]metric.Test
	for _, file := range order {
		out = append(out, byFile[file])
	}
	return out
}

// emptyTests returns the finding about added tests that notice nothing, nil if there is none. Faults that
// other tests notice do not count.
func (r *trialRun) emptyTests(ctx context.Context, tests []metric.Test) (*detector.Unguarded, error) {
	candidates, notice := r.unnoticed(tests)
	candidates = slices.DeleteFunc(candidates, (*mutant).noticed)
	if notice || len(candidates) < MinMutants {
		return nil, nil //nolint:nilnil // they notice something, or there are too few to tell
	}
	reached, err := r.reachedBy(ctx, tests, candidates)
	if err != nil || len(reached) < MinMutants {
		return nil, err
	}
	x := &detector.Unguarded{Rule: detector.TestsNoticeNothing, Files: filesOf(reached)}
	n := len(reached)
	for _, t := range tests {
		x.Tests = append(x.Tests, t.ID)
	}
	what := fmt.Sprintf("%s runs", tests[0].ID)
	if len(tests) > 1 {
		what = fmt.Sprintf("%s and %d more added tests run", tests[0].ID, len(tests)-1)
	}
	x.Why = fmt.Sprintf("%s changed lines, and fails with none of %d faults in them unless the code crashes or returns nothing", what, n)
	if len(tests) > 1 {
		x.Why = fmt.Sprintf("%s changed lines, and fail with none of %d faults in them unless the code crashes or returns nothing", what, n)
	}
	return x, nil
}

// frameRE matches a line of a stack trace: price.go:6, price.py", line 6, or (Price.java:6).
var frameRE = regexp.MustCompile(`([\w.-]+)(?::(?:line )?|", line )(\d+)`)

// unnoticed returns the mutants with which none of the tests fails, and whether they notice any other. A
// crash of the code, or that it returns nothing, is not noticed by a check.
func (r *trialRun) unnoticed(tests []metric.Test) (list []*mutant, notice bool) {
	for _, m := range r.mutants {
		failed := slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return !m.noticedBy[t.ID] })
		if m.decided && !m.aborted && len(failed) == 0 {
			list = append(list, m)
		}
		if !m.ReturnsNothing() && slices.ContainsFunc(failed, func(t metric.Test) bool { return !m.crashed[t.ID] }) {
			return nil, true
		}
	}
	return list, false
}

// filesOf returns the files of mutants.
func filesOf(list []*mutant) []string {
	var out []string
	for _, m := range list {
		if !slices.Contains(out, m.File) {
			out = append(out, m.File)
		}
	}
	return out
}

// isCrash reports whether a failure on a mutant comes from the changed code and not from a check of the
// test: its message has a stack trace with a line of that code. Without any check a test fails so too.
func (r *trialRun) isCrash(m *mutant, message string) bool {
	inline := source.FindInlineTests(m.File, m.Source)
	for _, frame := range frameRE.FindAllStringSubmatch(message, -1) {
		n, _ := strconv.Atoi(frame[2])
		for file := range r.Lines {
			isTest := file == m.File && slices.ContainsFunc(inline, func(t source.InlineTests) bool { return t.ContainsLine(n) })
			if path.Base(file) == frame[1] && !isTest {
				return true
			}
		}
	}
	return false
}

// reachedBy returns the mutants whose line tests run: by their coverage or, if that cannot be measured, by
// a crash that is planted there, with which one of them has to fail.
func (r *trialRun) reachedBy(ctx context.Context, tests []metric.Test, list []*mutant) (out []*mutant, err error) {
	run, err := r.Meter.CoverageOf(ctx, r.tree.CheckPlan(ctx, r.Meter), tests)
	if err != nil || run.Why != "" || !run.Coverage.NamesLines() {
		return r.crashedBy(ctx, tests, list)
	}
	files := slices.Collect(maps.Keys(r.Lines))
	names := evidence.NamesOf(files, run.Coverage)
	executed, missed := map[string]map[int]bool{}, map[string]map[int]bool{}
	for _, f := range run.Coverage.Files {
		executed[f.Path], missed[f.Path] = numbers(f.Executed), numbers(f.NotExecuted)
	}
	for _, m := range list {
		file := names[m.File]
		n := m.Line // a line that is no statement belongs to the one before it
		for n > 0 && !executed[file][n] && !missed[file][n] {
			n--
		}
		if executed[file][n] {
			out = append(out, m)
		}
	}
	return out, nil
}

// crashedBy returns the mutants with whose line replaced by a crash one of the tests fails, as many as are
// needed.
func (r *trialRun) crashedBy(ctx context.Context, tests []metric.Test, list []*mutant) (out []*mutant, err error) {
	runner := mutantrun.New(r.tree, mutantrun.Options{OneAtATime: true})
	defer func() { err = errors.Join(err, runner.Close()) }()
	control, err := runner.Control(ctx, tests)
	for _, m := range list {
		crash := m.Mutant
		var ok bool
		if crash.Mutant, ok = mutation.Crash(m.File, m.Source, m.Line); !ok || err != nil || len(out) == MinMutants {
			continue
		}
		var result mutantrun.Result
		result, err = runner.Run(ctx, crash, control.Keep(tests))
		if len(result.Killers) > 0 && !result.Unbuilt {
			out = append(out, m)
		}
	}
	return out, err
}
