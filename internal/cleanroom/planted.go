package cleanroom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// isSwitchedOff reports whether the files, which goals need, switch the checks off: with them, the
// goals pass whatever the code does. It runs the goals in a new copy of the complete change in which
// faults are planted. This shows nothing for the criterion: its command may just build.
func (r *trialRun) isSwitchedOff(ctx context.Context, g goals, files []string) (bool, error) {
	var plant treecopy.Files
	var err error
	switch {
	case len(files) == 0:
	case len(g.tests) > 0:
		plant, err = r.sabotage(ctx, g.tests, files)
	case len(g.lint) > 0:
		plant, err = r.plantFindings(ctx, g.lint)
	}
	if err != nil || len(plant) == 0 {
		return false, err
	}
	noticed := true
	err = r.WithCopy(ctx, r.Current, func(tree treecopy.Tree) error {
		planted := &trialRun{Trial: r.Trial, tree: tree, out: r.out, limit: r.limitForFaults()}
		if err := planted.useCleanHome(); err != nil {
			return err
		}
		if err := plant.Write(tree.Path); err != nil {
			return err
		}
		if len(g.tests) == 0 {
			noticed, err = planted.findsIn(ctx, plant, g.lint[0].Tool)
			return err
		}
		left, err := planted.failing(ctx, g.tests)
		noticed = len(left) > 0
		return err
	})
	return !noticed, err
}

// limitForFaults returns how long tests may take on code with faults, which may be endless loops.
func (r *trialRun) limitForFaults() time.Duration {
	limit := time.Minute
	for _, run := range r.out.Runs {
		limit = max(limit, 10*run.Duration)
	}
	return limit
}

// maxSabotaged is how many files of code may be changed at once.
const maxSabotaged = 1000

// families map languages whose code calls each other to one of them.
var families = map[source.Language]source.Language{source.TypeScript: source.JavaScript, source.Kotlin: source.Java, source.C: source.CPP}

func familyOf(name string) source.Language {
	lang := source.DetectLanguage(name, nil)
	return cmp.Or(families[lang], lang)
}

// sabotage returns the product code with a fault in each line that can have one. It is empty if code in
// the language of a test has none or that language is not known, or if a test of the base names one of
// the files: they may be what it is about.
func (r *trialRun) sabotage(ctx context.Context, tests []metric.Test, files []string) (treecopy.Files, error) {
	all, err := r.filesWithout(files)
	if err != nil {
		return nil, err
	}
	var out treecopy.Files
	var inline []string
	faulty := map[source.Language]bool{}
	for _, f := range all {
		if !isSource(f.Path) || integrity.BelongsToTests(f.Path) {
			continue
		}
		text, err := r.Store.ReadFile(ctx, r.Current, f.Path)
		if err != nil {
			return nil, err
		}
		if len(source.FindInlineTests(f.Path, text)) > 0 {
			inline = append(inline, f.Path)
		}
		if text, n := mutation.Sabotage(f.Path, text); n > 0 {
			faulty[familyOf(f.Path)], out = true, append(out, treecopy.File{Path: f.Path, Text: text, Executable: f.Mode&0o100 != 0})
		}
	}
	testFiles := filesOf(tests, all)
	if len(testFiles) == 0 {
		testFiles = inline
	}
	notTried := func(name string) bool { return !faulty[familyOf(name)] || r.namesOneOf(ctx, name, files) }
	if len(out) > maxSabotaged || len(testFiles) == 0 || slices.ContainsFunc(testFiles, notTried) {
		return nil, ctx.Err()
	}
	return out, nil
}

// filesWithout returns the current files of the project without some.
func (r *trialRun) filesWithout(some []string) ([]snapshot.File, error) {
	all, err := r.Store.Files(r.Current)
	return slices.DeleteFunc(slices.Clone(all), func(f snapshot.File) bool {
		return source.IsVendored(f.Path) || f.Size > maxText || !f.Mode.IsRegular() || slices.Contains(some, f.Path)
	}), err
}

// namesOneOf reports whether a file of the base names one of others.
func (r *trialRun) namesOneOf(ctx context.Context, name string, others []string) bool {
	text, err := r.Store.ReadFile(ctx, r.Base, name) // a new test has none
	return err == nil && slices.ContainsFunc(others, func(other string) bool { return evidence.Mentions(name, text, other) })
}

// filesOf returns the files of tests, and those of all tests if some are not known.
func filesOf(tests []metric.Test, all []snapshot.File) (out []string) {
	for _, t := range tests {
		if t.File != "" {
			out = append(out, t.File)
		}
	}
	if len(out) == len(tests) {
		return out
	}
	for _, f := range all {
		if integrity.RoleOf(f.Path) == integrity.TestCode && !isScript(f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// LintGoal is that a linter finds less of a rule in a file than at the base.
type LintGoal struct {
	Tool, Rule, File string
	Type             bool // it is about types
	Before, Now      int  // how many findings there are
}

// LintGoals returns what linters find less than before.
func LintGoals(before, now *metric.Lint) []LintGoal {
	if now == nil || before.ErrorCount() <= now.ErrorCount() {
		return nil
	}
	type key struct{ tool, rule, file string }
	keyOf := func(f metric.Finding) key { return key{f.Tool, f.Rule, f.File} }
	index := map[key]int{}
	var out []LintGoal
	for _, f := range before.Findings {
		i, known := index[keyOf(f)]
		if !known {
			i = len(out)
			index[keyOf(f)], out = i, append(out, LintGoal{Tool: f.Tool, Rule: f.Rule, File: f.File, Type: f.Type})
		}
		out[i].Before++
	}
	for _, f := range now.Findings {
		if i, known := index[keyOf(f)]; known {
			out[i].Now++
		}
	}
	return slices.DeleteFunc(out, func(g LintGoal) bool { return g.Now >= g.Before })
}

// stillFound runs the linters, and returns the goals that are not reached. What linters find that
// cannot run is not known, so that these goals count as reached.
func (r *trialRun) stillFound(ctx context.Context, list []LintGoal) ([]LintGoal, error) {
	lint, err := r.lint(ctx)
	if lint == nil || err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(g LintGoal) bool {
		n := 0
		for _, f := range lint.Findings {
			if f.Tool == g.Tool && f.Rule == g.Rule && f.File == g.File {
				n++
			}
		}
		return n <= g.Now
	}), nil
}

// lint runs the linters in the copy; nil: what they find is not known.
func (r *trialRun) lint(ctx context.Context) (*metric.Lint, error) {
	out, err := r.Meter.LintInTree(ctx, planFor(ctx, r.tree, r.env))
	r.out.Runs = append(r.out.Runs, treecopy.CheckRuns(out.Runs)...)
	if out.Why != "" {
		return nil, err
	}
	return out.Lint, err
}

// restoredTypes returns changed files of code with types as at the base that are weaker now. There are
// none if linters do not find less than before.
func (t Trial) restoredTypes(ctx context.Context) (treecopy.Files, error) {
	if !slices.ContainsFunc(t.Lint, func(g LintGoal) bool { return g.Type }) {
		return nil, nil
	}
	files, err := evidence.ReadChangedFiles(t.Changes, evidence.NewSnapshotReader(ctx, t.Store, t.Base, t.Current))
	var out treecopy.Files
	for name, text := range integrity.RestoreTypes(files) {
		out = append(out, treecopy.File{Path: name, Text: text})
	}
	slices.SortFunc(out, func(a, b treecopy.File) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// tryTypes runs the linters with the types of the base in product code, and records what they find then.
func (r *trialRun) tryTypes(ctx context.Context, list []LintGoal) error {
	list = slices.DeleteFunc(slices.Clone(list), func(g LintGoal) bool { return !g.Type })
	texts, err := r.restoredTypes(ctx)
	texts = slices.DeleteFunc(texts, func(f treecopy.File) bool { return !slices.Contains(r.parts[""], f.Path) })
	if err != nil || len(list) == 0 || len(texts) == 0 {
		return err
	}
	if err := errors.Join(texts.Write(r.tree.Path), r.touch()); err != nil {
		return err
	}
	left, err := r.stillFound(ctx, list)
	if err != nil {
		return err
	}
	x := detector.Reliance{On: detector.OnTypes}
	for _, f := range texts {
		x.Files = append(x.Files, f.Path)
	}
	if len(left) > 0 {
		r.record(x, goals{lint: left})
	}
	return r.put(ctx, r.Current, x.Files...)
}

// wrongTypes are lines that a checker of types must report, by language.
var wrongTypes = map[source.Language]string{
	source.Python:     "supervise_planted: int = 'text'\n",
	source.TypeScript: "export const supervisePlanted: number = 'text';\n",
	source.PHP:        "function supervise_planted(): int { return 'text'; }\n",
}

// plantFindings returns the files in which a linter found something, each with a fault at its end that
// it must report: a value of a wrong type, or an error of syntax.
func (r *trialRun) plantFindings(ctx context.Context, list []LintGoal) (treecopy.Files, error) {
	var out treecopy.Files
	for _, g := range list {
		text, err := r.Store.ReadFile(ctx, r.Current, r.inTree(g.File))
		lang := source.DetectLanguage(g.File, text)
		fault := ")\n"
		if g.Type {
			fault = wrongTypes[lang]
		}
		switch {
		case g.Tool != list[0].Tool, fault == "", lang == source.Unknown, slices.ContainsFunc(out, func(f treecopy.File) bool { return f.Path == r.inTree(g.File) }):
		case err == nil && !source.IsGenerated(g.File, text[:min(len(text), 8192)]):
			out = append(out, treecopy.File{Path: r.inTree(g.File), Text: fmt.Append(text, "\n", fault)})
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// inTree returns the path in the tree of a file that a linter named.
func (r *trialRun) inTree(name string) string {
	below, err := filepath.Rel(r.Root, filepath.Join(r.Plan.Root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(below)
}

// findsIn reports whether a linter finds something in the planted lines of each file.
func (r *trialRun) findsIn(ctx context.Context, plant treecopy.Files, tool string) (bool, error) {
	lint, err := r.lint(ctx)
	if lint == nil || err != nil {
		return true, err // it is not known
	}
	for _, p := range plant {
		last := strings.Count(string(p.Text), "\n")
		if !slices.ContainsFunc(lint.Findings, func(f metric.Finding) bool {
			return f.Tool == tool && r.inTree(f.File) == p.Path && (f.Line >= last || f.Line == 0)
		}) {
			return false, nil
		}
	}
	return true, nil
}

// touch makes the files of the copy look as if they had just been written. Otherwise tools would reuse
// what they built of them with other settings.
func (r *trialRun) touch() error {
	files, err := r.Store.Files(r.Current)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		if f.Mode.IsRegular() {
			names = append(names, f.Path)
		}
	}
	return r.tree.Touch(names...)
}
