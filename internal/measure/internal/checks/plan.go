// Package checks is the vocabulary of measuring: a plan with its checks, and a run of one
// check with what was read of it.
package checks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/metric"
)

// ReportDir is replaced, in commands and report paths, by the private folder that each
// run of a check gets for its reports.
const ReportDir = "{{report_dir}}"

// Kind is the purpose of a check.
type Kind string

// The kinds of checks.
const (
	Build Kind = "build"
	Test  Kind = "test"
	Lint  Kind = "lint"
)

// Check is one command of a project.
type Check struct {
	Kind           Kind              `json:"kind" yaml:"-"`
	Name           string            `json:"name" yaml:"name,omitempty"`
	Dir            string            `json:"dir,omitempty" yaml:"dir,omitempty"`                  // slash path of its project below Root, in which it runs; "" for Root itself
	Command        []string          `json:"command" yaml:"command,flow"`                         // argv
	Env            []string          `json:"env,omitempty" yaml:"env,omitempty,flow"`             // NAME=value added to the environment; may hold ReportDir
	Files          map[string]string `json:"files,omitempty" yaml:"files,omitempty"`              // files written into the private folder before the run: name to text
	Reports        []string          `json:"reports,omitempty" yaml:"reports,omitempty,flow"`     // files or patterns, relative to Dir; ** matches any folders; without any the output is read
	Stderr         bool              `json:"stderr,omitempty" yaml:"stderr,omitempty"`            // standard error is read with standard output, as one text
	Coverage       bool              `json:"coverage,omitempty" yaml:"coverage,omitempty"`        // the reports contain coverage as well
	Runner         string            `json:"runner,omitempty" yaml:"runner,omitempty"`            // the test framework, for running single tests again and for reading Inventory
	Inventory      []string          `json:"inventory,omitempty" yaml:"inventory,omitempty,flow"` // argv that lists the tests without running them
	Timeout        time.Duration     `json:"timeout_ns,omitempty" yaml:"-"`
	PlannedID      string            `json:"-" yaml:"-"` // ID of the check in the plan that this one is a form of; "" for itself
	Extra          bool              `json:"-" yaml:"-"` // it runs for judging, and not to measure the tree
	CoveredByBuild string            `json:"-" yaml:"-"` // see [project.Check]; "" if it always runs
	UnitOnly       bool              `json:"-" yaml:"-"` // it runs no integration tests
	Fallback       *Check            `json:"-" yaml:"-"` // runs if this one fails; nil: nothing
	FallbackReason string            `json:"-" yaml:"-"` // why it runs instead of the planned one, "" if that is not reported
}

// CommandLine returns the command as a user would type it.
func (c Check) CommandLine() string {
	if len(c.Command) == 3 && c.Command[1] == "-c" {
		return c.Command[2]
	}
	return strings.Join(c.Command, " ")
}

// ID identifies the check in its plan, since several projects may have the same command.
func (c Check) ID() string { return cmp.Or(c.PlannedID, c.Dir+": "+c.CommandLine()) }

// Plan is all checks that measure one tree.
type Plan struct {
	Language string  `json:"language"`
	Root     string  `json:"root"` // absolute path of the working tree
	Checks   []Check `json:"checks"`
	// Recognised reports that the tests were detected in the tree, so that another tree may
	// have others. Otherwise the user configured them.
	Recognised bool `json:"recognised,omitempty"`
	// Parallel is how many checks run at the same time, or 0: automatic. From 2 on, every
	// linter that reports in private runs in parallel with the tests.
	Parallel int `json:"parallel,omitempty"`
	// ErrorFields are the fields that count as errors, see [metric.Lint]; by default
	// all.
	ErrorFields []metric.Field `json:"error_fields,omitempty"`
}

// Hash identifies the plan: two measurements can be compared if their plans have the same
// hash. Parallel does not change results, so it is not part of the hash.
func (p Plan) Hash() string {
	p.Parallel = 0
	b, err := json.Marshal(p)
	if err != nil {
		return "" // cannot happen: it has only strings and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// WantsCoverage reports whether a check of the plan reports coverage.
func (p Plan) WantsCoverage() bool {
	return slices.ContainsFunc(p.Checks, func(c Check) bool { return c.Coverage })
}

// Section returns the section of a set that checks of the kind measure.
func (k Kind) Section() metric.Section {
	switch k {
	case Build:
		return metric.SectionBuild
	case Test:
		return metric.SectionTests
	case Lint:
		return metric.SectionLint
	}
	return ""
}

// Dir returns the folder that a check of the plan runs in.
func (p Plan) Dir(c Check) string { return filepath.Join(p.Root, filepath.FromSlash(c.Dir)) }
