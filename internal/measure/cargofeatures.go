package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// missingLibrary matches the errors of cargo about what is missing on the machine: a
// library that the build script of a dependency looks for, or one for the linker. The
// folder of a package of the project itself is in brackets.
var missingLibrary = regexp.MustCompile("(?m)^error: (failed to run custom build command for `[^`(]+`)|(?:unable to find library|cannot find) (-l[\\w.+-]+)")

// withDefaultFeatures returns the check with the default features, if it failed because a
// library is missing that other features may need; otherwise nil. The features are from
// the workflows, whose machines have more installed.
func (m *measurement) withDefaultFeatures(r Run) *Check {
	c := r.Check
	missing := missingLibrary.FindStringSubmatch(r.Output)
	if !m.plan.Recognised || c.Command[0] != "cargo" || missing == nil {
		return nil
	}
	plain := slices.DeleteFunc(slices.Clone(c.Command), ofFeatures)
	if len(plain) == len(c.Command) {
		return nil
	}
	c.PlannedID, c.Command, c.Inventory = c.ID(), plain, slices.DeleteFunc(slices.Clone(c.Inventory), ofFeatures)
	c.FallbackReason = fmt.Sprintf("%s: cannot be built here with the features of the workflows (%s): measured with the default features; install the missing library", c.Name, missing[1]+missing[2])
	return &c
}

func ofFeatures(word string) bool {
	return word == "--all-features" || strings.HasPrefix(word, "--features=")
}
