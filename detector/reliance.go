package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// ReliesOn is the rule about what became green by something else than product code.
const ReliesOn = "relies_on"

// RelianceKind is what a result relies on, besides product code.
type RelianceKind string

// The kinds: parts of the change, and what is outside of it.
const (
	OnManifest    RelianceKind = "manifest"    // the packages that the project declares
	OnSources     RelianceKind = "sources"     // the configuration of the build, for names of new source files
	OnBuild       RelianceKind = "build"       // the configuration of the build
	OnRunner      RelianceKind = "runner"      // the configuration of the test runner
	OnScript      RelianceKind = "script"      // a script
	OnCriterion   RelianceKind = "criterion"   // what the command of the criterion runs or reads
	OnData        RelianceKind = "data"        // data, or documents
	OnTypes       RelianceKind = "types"       // types in product code that checkers accept everything for
	OnIgnored     RelianceKind = "ignored"     // ignored files
	OnHome        RelianceKind = "home"        // the home folder
	OnPlace       RelianceKind = "place"       // the folder of the working tree, or one above it
	OnEnvironment RelianceKind = "environment" // the machine: the code of the base passes as well now
)

// Reliance is what tests, or the criterion, need to pass besides the product code of the change.
type Reliance struct {
	On        RelianceKind `json:"on"`
	Files     []string     `json:"files,omitempty"`         // outside the change: those that changed since the loop began
	Tests     []metric.ID  `json:"tests,omitempty"`         // that failed at the base
	Findings  int          `json:"lint_findings,omitempty"` // of linters at the base, that are gone
	Criterion string       `json:"criterion,omitempty"`
	Recent    bool         `json:"recent,omitempty"` // it is known that it changed since the loop began
	// SwitchesOff says that the checks pass with it whatever the code does: faults that were planted in
	// the code were not noticed.
	SwitchesOff bool `json:"switches_off,omitempty"`
	// AcceptedBefore says that an earlier, accepted iteration relies on the same: the finding is open.
	AcceptedBefore bool `json:"known,omitempty"`
}

// isOutside reports whether what is relied on is in no commit.
func (r Reliance) isOutside() bool {
	return slices.Contains([]RelianceKind{OnIgnored, OnHome, OnPlace, OnEnvironment}, r.On)
}

// severity returns how severe a reliance is. What changed outside the tree passes on no other
// machine. If nothing is known to have changed there, the clean copy may just lack something.
func (r Reliance) severity() Severity {
	switch {
	case r.isOutside() && r.Recent, r.SwitchesOff:
		return Critical
	case r.isOutside(), r.On == OnSources:
		return Medium
	case r.On == OnManifest:
		return Info
	}
	return High
}

// String returns what is relied on in words, as in "pytest.ini (configuration of the test runner)".
func (r Reliance) String() string {
	what := map[RelianceKind]string{
		OnManifest: "declared packages", OnBuild: "configuration of the build", OnSources: "names new source files", OnRunner: "configuration of the test runner", OnScript: "script",
		OnCriterion: "used by the criterion", OnData: "data", OnTypes: "types that became Any, or are gone", OnIgnored: "ignored by git", OnHome: "in the home folder", OnPlace: "above the working tree",
	}[r.On]
	switch {
	case r.On == OnEnvironment:
		return "something outside the tree, because the code from before the change passes now too"
	case len(r.Files) > 0:
		return strings.Join(r.Files, ", ") + " (" + what + ")"
	case r.On == OnIgnored:
		return "ignored files that a clean copy lacks"
	case r.On == OnHome:
		return "the home folder"
	case r.On == OnPlace:
		return "the folder of the working tree"
	}
	return what
}

// reliesOn makes a finding of each reliance that is new.
func reliesOn(j *judge, _ comparison, _ appliedRule) []finding {
	var out []finding
	for _, x := range j.in.Reliances {
		if x.AcceptedBefore {
			continue
		}
		f := finding{tests: x.Tests, files: x.Files, severity: x.severity(), action: actionOf(x.severity())}
		switch n := len(x.Tests); {
		case n == 0 && x.Findings == 1:
			f.values.Why = fmt.Sprintf("1 lint finding of the base is gone only with %s", x)
		case n == 0 && x.Findings > 1:
			f.values.Why = fmt.Sprintf("%d lint findings of the base are gone only with %s", x.Findings, x)
		case n == 0:
			f.values.Why = fmt.Sprintf("The criterion %q is met only with %s", x.Criterion, x)
		case n == 1:
			f.values.Why = fmt.Sprintf("%s, which failed at the base, passes only with %s", x.Tests[0], x)
		default:
			f.values.Why = fmt.Sprintf("%s and %d more tests that failed at the base pass only with %s", x.Tests[0], n-1, x)
		}
		if x.SwitchesOff {
			f.values.Why += ", which switches the check off: it does not notice faults planted in the code"
		}
		out = append(out, f)
	}
	return out
}
