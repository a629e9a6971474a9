package detector

import (
	"fmt"
	"slices"

	"supervise/metric"
)

// ChecksChangedTree is the rule about checks that change the tree that they measure.
const ChecksChangedTree = "checks_changed_tree"

// CheckChange is a file that the checks changed while they measured a tree: what was measured is
// not what is judged.
type CheckChange struct {
	Path     string   `json:"path"`
	Kind     string   `json:"kind"` // added, modified or deleted
	Part     TreePart `json:"part,omitempty"`
	Restored bool     `json:"restored,omitempty"` // the change deletes the file, and it was there after the checks
	AtBase   bool     `json:"at_base,omitempty"`  // the checks of the base changed the file in the same way
	Original bool     `json:"original,omitempty"` // the original of a changed test, when it ran on the new code
}

// TreePart is what a file that the checks changed is for.
type TreePart string

// The parts. Files that were only reformatted, lock files and other data are in none.
const (
	TestPart   TreePart = "tests"         // tests, and what they need
	RunnerPart TreePart = "configuration" // of test runners
	SourcePart TreePart = "code"          // other code, whose meaning changed
)

// Severity returns how severe it is that the checks changed the file. Files that they change at the
// base too, such as generated ones, are no work of the change.
func (c CheckChange) Severity() Severity {
	switch {
	case c.Original:
		return High
	case c.AtBase || c.Part == "":
		return Medium
	case c.Part == SourcePart:
		return High
	}
	return Critical
}

func (c CheckChange) String() string {
	switch {
	case c.Original:
		return c.Path + " (the original, when it ran on the new code)"
	case c.Restored:
		return c.Path + " (deleted by the change, and there when the tests ran)"
	case c.AtBase:
		return c.Path + " (" + c.Kind + ", as at the base)"
	}
	return c.Path + " (" + c.Kind + ")"
}

// checksChangedTree returns a finding for each severity.
func checksChangedTree(j *judge, c comparison, _ appliedRule) (out []finding) {
	changes := append(slices.Clone(j.in.CheckChanges), j.restoredMeanwhile(c.now.Tests)...)
	for _, s := range []Severity{Critical, High, Medium} {
		list := slices.DeleteFunc(slices.Clone(changes), func(c CheckChange) bool { return c.Severity() != s })
		if len(list) == 0 {
			continue
		}
		f := finding{severity: s, action: actionOf(s), values: Values{Why: list[0].String(), N: len(list)}}
		if more := len(list) - 1; more > 0 {
			f.values.Why += fmt.Sprintf(" and %d more", more)
		}
		switch {
		case s > Medium:
			f.values.Why += ": what was measured is not what is judged; commit what the checks write, or keep them from writing it"
		case !list[0].AtBase:
			f.values.Why += ": commit what they write, or let git ignore it"
		}
		for _, c := range list {
			f.files = append(f.files, c.Path)
		}
		out = append(out, f)
	}
	return out
}

// restoredMeanwhile returns the files that the change deletes and from which tests ran nevertheless:
// checks restored and deleted them.
func (j *judge) restoredMeanwhile(now *metric.Tests) (out []CheckChange) {
	if now == nil {
		return nil
	}
	for _, t := range now.Cases {
		isKnown := slices.ContainsFunc(append(slices.Clone(j.in.CheckChanges), out...), func(c CheckChange) bool { return c.Path == t.File })
		if t.Status != metric.NotRun && !isKnown && slices.Contains(j.in.Removed, t.File) && j.in.Renamed[t.File] == "" {
			out = append(out, CheckChange{Path: t.File, Part: TestPart, Restored: true})
		}
	}
	return out
}
