package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/mutantrun"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// equalityRE matches the names of functions that say whether two values are the same.
var equalityRE = regexp.MustCompile(`(?i)^(__eq__|__ne__|__cmp__|eq|ne|eql|equals?|is_?equal|==|!=|<=>|operator ?(==|!=|<=>)|compare_?to|is_?close|approx\w*)$`)

// maxGoals is how many tests that pass now are looked at.
const maxGoals = 5

// emptyGoals returns the findings about tests that failed before and pass now, if the change touches how
// values are compared: those that notice no fault in the other code that they run.
func (r *trialRun) emptyGoals(ctx context.Context) ([]detector.Unguarded, error) {
	touches, err := r.touchesEquality(ctx)
	if err != nil || !touches || len(r.green) == 0 {
		return nil, err
	}
	list, err := r.otherMutants(ctx)
	if err != nil || len(list) < MinMutants {
		return nil, err
	}
	goals := &trialRun{Trial: r.Trial, tree: r.tree, runner: mutantrun.New(r.tree, mutantrun.Options{}), mutants: list, others: r.green}
	if err := errors.Join(goals.run(ctx), goals.runner.Close()); err != nil {
		return nil, err
	}
	var out []detector.Unguarded
	for _, t := range r.green[:min(len(r.green), maxGoals)] {
		x, err := goals.emptyGoal(ctx, t)
		if err != nil {
			return nil, err
		}
		if x != nil {
			out = append(out, *x)
		}
	}
	return out, nil
}

// emptyGoal returns the finding about a test, nil if it notices something.
func (r *trialRun) emptyGoal(ctx context.Context, t metric.Test) (*detector.Unguarded, error) {
	candidates, notices := r.unnoticed([]metric.Test{t})
	if notices || len(candidates) < MinMutants {
		return nil, nil //nolint:nilnil // it notices something, or there are too few to tell
	}
	reached, err := r.reachedBy(ctx, []metric.Test{t}, candidates)
	if err != nil || len(reached) < MinMutants {
		return nil, err
	}
	x := &detector.Unguarded{Rule: detector.GoalNoticesNothing, Tests: []metric.ID{t.ID}, Files: filesOf(reached)}
	x.Why = fmt.Sprintf("%s, which failed at the base, passes since the change touches how values are compared, and fails with none of %d faults in the code that it runs", t.ID, len(reached))
	return x, nil
}

// touchesEquality reports whether a changed line is in a function that compares values.
func (r *trialRun) touchesEquality(ctx context.Context) (bool, error) {
	for _, name := range slices.Sorted(maps.Keys(r.Lines)) {
		text, err := r.Store.ReadFile(ctx, r.Current, name)
		if err != nil {
			return false, fmt.Errorf("read changed code: %w", err)
		}
		file, err := source.Scan(name, text)
		if err != nil {
			continue // an unknown language
		}
		for _, f := range file.Functions {
			body := metric.NewLineSet([]metric.Span{{First: f.Line, Last: f.End}})
			if isEquality(f.Name) && r.Lines[name].In(body) != "" {
				return true, nil
			}
		}
	}
	return false, nil
}

// isEquality reports whether a function of that name compares values.
func isEquality(function string) bool { return equalityRE.MatchString(shortName(function)) }

// shortName returns the name of a function without its type: "of" of "Price.of".
func shortName(function string) string {
	return function[strings.LastIndexAny(function, ".:#")+1:]
}

// otherMutants returns mutants of the code that the tests run that pass now, without functions that compare
// values: of the lines that they execute or, if these are unknown, of the changed files.
func (r *trialRun) otherMutants(ctx context.Context) ([]*mutant, error) {
	run, err := r.Meter.CoverageOf(ctx, r.tree.CheckPlan(ctx, r.Meter), r.green)
	if err != nil {
		return nil, err
	}
	t := r.Trial
	t.Lines = map[string]metric.LineSet{}
	for name := range r.Lines {
		t.Lines[name] = metric.NewLineSet([]metric.Span{{First: 1, Last: evidence.MaxText}})
	}
	if run.Why == "" && run.Coverage.NamesLines() {
		if t.Lines, err = r.executedLines(run.Coverage); err != nil {
			return nil, err
		}
	}
	list, err := t.chooseMutants(ctx)
	return slices.DeleteFunc(list, func(m *mutant) bool { return isEquality(m.Function) }), err
}

// executedLines returns the executed lines of the product code, by file.
func (r *trialRun) executedLines(c *metric.Coverage) (map[string]metric.LineSet, error) {
	all, err := r.Store.Files(r.Current)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range all {
		if !source.IsTestFile(f.Path, source.DetectLanguage(f.Path, nil)) && !source.IsVendored(f.Path) {
			files = append(files, f.Path)
		}
	}
	executed := map[string]metric.LineSet{}
	for _, f := range c.Files {
		executed[f.Path] = f.Executed
	}
	out := map[string]metric.LineSet{}
	for file, name := range evidence.NamesOf(files, c) {
		out[file] = executed[name]
	}
	return out, nil
}
