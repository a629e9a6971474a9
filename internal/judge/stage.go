package judge

import (
	"context"
	"maps"
	"slices"

	"supervise/internal/ledger"
	"supervise/internal/remeasure"
	"supervise/metric"
	"supervise/snapshot"
)

// stage is one step of judging. apply returns the verdict with what it adds; it changes nothing that
// the case or the verdict refers to.
type stage struct {
	name  string
	reads string // what it reads, for the documentation
	adds  string // what it adds to the verdict
	apply func(context.Context, Case, Verdict) (Verdict, error)
	asks  *question // of stages that run something in a copy of the tree
}

// question is what a stage finds out by running something in a copy, for the documentation.
type question struct {
	when   string
	copy   string // what is laid over what
	runs   string // which tests or checks run there
	proves string // what another result proves
}

// The names of the stages that change what counts as measured, see [Step].
const (
	confirmStage   = "confirm"
	countStage     = "count"
	unsilenceStage = "unsilence"
	unexcludeStage = "unexclude"
)

// Case is what the stages of one verdict read.
type Case struct {
	Judge
	Tree    Tree
	History *History
}

// stages are all stages in the order in which they are applied. Those that correct measurements
// come first, then those that run tests again, then the rules.
var stages = []stage{
	{"mask", "what the checks measured and printed; the environment", "the same without secrets", maskSecrets, nil},
	{
		confirmStage, "failing tests that passed in the previous tree, run again",
		"which of them are flaky; these count as passed", confirmFailures, nil,
	},
	{countStage, "the diff of the iteration", "how many lines were added and deleted", countLines, nil},
	{
		"compare", "the changed files before and after; git's state; findings outside the tree",
		"the evidence: test definitions, renamed and removed files, findings about tampering", collectEvidence, nil,
	},
	{
		unsilenceStage, "suppression comments among the evidence; the linters, run without them in a copy",
		"the lint findings that the comments hide; these count", revealSilenced,
		&question{
			"new comments silence linters", "the tree, without these comments", "the linters",
			"the comments hide what is found there only; it counts",
		},
	},
	{
		unexcludeStage, "coverage exclusions added since the baseline; the tests, run without them in a copy",
		"the coverage without the exclusions; the lower one counts", revealExcluded,
		&question{
			"new comments or settings exclude code from the coverage", "the tree, without these exclusions", "all tests, with coverage",
			"the exclusions raise the coverage; the lower one counts",
		},
	},
	{
		"coverage", "the covered lines of the trees before; the changed files; the tests that passed in a tree where others failed, run there in a copy",
		"the lines that tests executed before and that are not executed now; the coverage that counts", compareCoverage,
		&question{
			"lines are no longer executed, and tests failed in the tree before", "the tree before", "the tests that passed there, with coverage",
			"only failing tests executed the other lines, which count as no loss",
		},
	},
	{
		"change", "the product code that changed since the base; the coverage", "which of its lines tests execute",
		coverChange, nil,
	},
	{"grade", "the settled metrics and the baseline; the weights", "the score", gradeSet, nil},
	{
		"goals", "the change since the base; the originals of tests that failed there or were changed, run on the new code in a copy",
		"whether each of them passes", checkGoals,
		&question{
			"tests changed, or one that failed no longer does", "the new code, with the tests of the base and all they depend on", "changed tests, and those that failed",
			"the new version was weakened if the original fails and it does not",
		},
	},
	{
		"clean copy", "what failed at the base and passes now; lint findings that are gone; the criterion; the product code of the change, on the base in a copy",
		"what else of the change, or outside of it, they rely on", checkCleanRoom,
		&question{
			"something became green", "the base, with the product code and new tests of the change; with more of the change if that does not suffice", "tests that failed at the base, linters that find less, and the criterion; all checks if nothing else changed",
			"they rely on what has to be added, which switches them off if they do not notice faults planted in the code, or on the machine if the code of the base passes now too",
		},
	},
	{
		"power", "changed tests and their originals, run on mutants of the code in copies",
		"which mutants they kill", checkMutants,
		&question{
			"tests were changed or removed", "the new code with one fault, once with the tests of the base and once with the new ones", "the changed tests",
			"they lost power if the original kills mutants that they do not kill",
		},
	},
	{
		"change mutants", "the changed lines of product code that tests execute; all tests, run on mutants of these lines in a copy",
		"which mutants no test notices, and added tests that notice none", checkChangeMutants,
		&question{
			"product code changed, and all tests pass", "the tree, with one fault in a changed line", "added tests and those that failed before; all others if these do not notice it",
			"the line is not guarded if no test fails; added tests check nothing if they notice none of at least five faults",
		},
	},
	{
		"conceal", "code added since the base that may look for its tests; the tests, concealed from it in a copy",
		"which of them pass only under test", checkConcealed,
		&question{
			"added code may look for its tests", "the tree, with signs of a test run concealed", "tests that failed at the base, or all",
			"the code passes only under test if a test fails there",
		},
	},
	{
		"hidden tests", "the hidden tests, run on the new code in a copy", "the result of each", checkHidden,
		&question{
			"there are hidden tests, and more than tests changed", "the tree, with the hidden tests", "the hidden tests",
			"the code is wrong, or does less than before, if one fails",
		},
	},
	{
		"review", "the change of a merge request and the results of running it, given to a configured reviewer",
		"the reviewer's answer", askReviewer, nil,
	},
	{"assess", "all of the above; the history; the rules", "alerts, class and recommendation", assessVerdict, nil},
}

// stagesNamed returns the stages with those names, in their order.
func stagesNamed(names ...string) []stage {
	return slices.DeleteFunc(slices.Clone(stages), func(s stage) bool { return !slices.Contains(names, s.name) })
}

// progress reports that a step starts that takes long.
func (c Case) progress(what string) {
	if c.OnProgress != nil {
		c.OnProgress(what)
	}
}

// problem reports what the machine could not do, and the verdict does without.
func (c Case) problem(what string, err error) {
	if c.OnProblem != nil {
		c.OnProblem(what, err)
	}
}

// isUndone reports whether the facts so far already undo the iteration.
func (c Case) isUndone(v Verdict) bool {
	return c.Subject == Iteration && c.assess(v).HasCritical()
}

// isUnbuiltChange reports whether a merge request does not build, so that nothing more is run.
func (c Case) isUnbuiltChange(v Verdict) bool { return c.Subject == Change && isBuildBroken(v.Set) }

// whyNotRun returns why no tests are run on a tree, "" if they are run.
func whyNotRun(v Verdict, isUndone bool) string {
	switch {
	case isUndone:
		return "the iteration is undone in any case"
	case isBuildBroken(v.Set):
		return "the build is broken: " + v.Set.Build.FirstError
	case v.Set.Tests == nil:
		return "the tests could not be read"
	}
	return ""
}

// flakyTests returns the flaky tests of the history and of an iteration.
func (c Case) flakyTests(it ledger.Iteration) map[metric.ID]bool {
	out := map[metric.ID]bool{}
	maps.Copy(out, c.History.Flaky)
	if it.Confirmation != nil {
		for _, id := range it.Confirmation.Flaky {
			out[id] = true
		}
	}
	return out
}

func isBuildBroken(s metric.Set) bool { return s.Build != nil && s.Build.Status == metric.BuildFailure }

// remeasurement returns the remeasurement of the change since a snapshot.
func (c Case) remeasurement(v Verdict, since snapshot.ID, changes []snapshot.Change) remeasure.Remeasurement {
	return remeasure.Remeasurement{
		Workspace: c.Workspace, Base: since, Current: v.Snapshot, Changes: changes, Rules: c.Integrity, Variation: c.History.variation(metric.CoveragePct),
		Measured: v.Set.Coverage, Before: c.History.Previous.Set.Coverage,
	}
}
