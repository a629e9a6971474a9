package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// lacksLibrary matches the errors of cargo about what the machine lacks: a dependency's
// build script, which looks for a library, or the linker. A package of the project itself
// has its folder in brackets.
var missingLibrary = regexp.MustCompile("(?m)^error: (failed to run custom build command for `[^`(]+`)|(?:unable to find library|cannot find) (-l[\\w.+-]+)")

// byDefault returns the check with the default features, if it failed for what the machine
// lacks, and a dependency that only other features need may be what lacks it. Those are from
// the workflows, whose machines have more. Else nil.
func (m *measurement) withDefaultFeatures(r Run) *Check {
	c := r.Check
	lacks := missingLibrary.FindStringSubmatch(r.Output)
	if !m.plan.Recognised || c.Command[0] != "cargo" || lacks == nil {
		return nil
	}
	plain := slices.DeleteFunc(slices.Clone(c.Command), ofFeatures)
	if len(plain) == len(c.Command) {
		return nil
	}
	c.PlannedID, c.Command, c.Inventory = c.ID(), plain, slices.DeleteFunc(slices.Clone(c.Inventory), ofFeatures)
	c.FallbackReason = fmt.Sprintf("%s: with the features that the workflows name it cannot be built here (%s): measured with the default ones; install what that needs", c.Name, lacks[1]+lacks[2])
	return &c
}

func ofFeatures(word string) bool {
	return word == "--all-features" || strings.HasPrefix(word, "--features=")
}
