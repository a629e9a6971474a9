package measure

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// missingLibraryRE matches the errors of cargo about missing libraries on the machine. One kind is
// from the build script of a dependency: "error: failed to run custom build command for
// `openssl-sys v0.9.1`". It excludes packages of the project, after whose version cargo writes a
// folder in parentheses. The other kind is from the linker: "cannot find -lpq".
var missingLibraryRE = regexp.MustCompile("(?m)^error: (failed to run custom build command for `[^`(]+`)|(?:unable to find library|cannot find) (-l[\\w.+-]+)")

// withDefaultFeatures returns the check with the default features if it failed because of a
// missing library that only other features may need, otherwise nil. Detected features come
// from CI workflows, whose machines have more libraries installed.
func (m *measurement) withDefaultFeatures(r Run) *Check {
	c := r.Check
	missing := missingLibraryRE.FindStringSubmatch(r.Output)
	if !m.plan.Recognised || c.Command[0] != "cargo" || missing == nil {
		return nil
	}
	plain := slices.DeleteFunc(slices.Clone(c.Command), isFeatureOption)
	if len(plain) == len(c.Command) {
		return nil
	}
	c.PlannedID, c.Command, c.Inventory = c.ID(), plain, slices.DeleteFunc(slices.Clone(c.Inventory), isFeatureOption)
	c.FallbackReason = fmt.Sprintf("%s: cannot be built here with the features of the workflows (%s): measured with the default features; install the missing library", c.Name, missing[1]+missing[2])
	return &c
}

// isFeatureOption reports whether a word of a cargo command selects features.
func isFeatureOption(word string) bool {
	return word == "--all-features" || strings.HasPrefix(word, "--features=")
}
