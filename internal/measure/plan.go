// Package measure runs the checks of a plan in a working tree and gathers what
// they report into one [metric.Set].
//
// A report counts only if the check wrote it in this run, it is a regular file,
// it could be read completely, and it agrees with the exit status. Anything else is a gap
// with a reason; it is never zero.
//
// A [Meter] measures one tree by one plan, stage by stage (schedule.go). An attempt runs the
// command of a check (internal/command); then its reports are found and read (internal/read),
// compared with the tests that the framework lists (inventory.go), and joined with those of the
// other checks (internal/sections). A [Memory] keeps what later measurements need to know, such
// as the suites of a check. [Meter.RunQuick] saves time in an iteration (deferred.go,
// recordbuild.go). Reruns of single tests confirm failures (confirm.go, rerun.go) and run
// tests in copies of the tree (intree.go).
package measure

import (
	"io"

	"supervise/internal/measure/internal/checks"
	"supervise/internal/measure/internal/memory"
	"supervise/internal/measure/internal/read"
)

// The vocabulary of a plan and of what was read of its checks.
type (
	// Kind is the purpose of a check.
	Kind = checks.Kind
	// Check is one command of a project.
	Check = checks.Check
	// Plan is all checks that measure one tree.
	Plan = checks.Plan
	// Run is the result of one check: what ran, and what was read from where.
	Run = checks.Run
	// Source is one report that was read.
	Source = checks.Source
	// Memory is what a meter has learnt.
	Memory = memory.Memory
)

// The kinds of checks.
const (
	Build = checks.Build
	Test  = checks.Test
	Lint  = checks.Lint
)

// ReportDir is replaced, in commands and report paths, by the private folder that each
// run of a check gets for its reports.
const ReportDir = checks.ReportDir

// Report is what was read from one file, see [read.Report].
type Report = read.Report

// Read detects the kind of report in r and reads it, see [read.Read].
func Read(r io.Reader, name, format string) (Report, error) { return read.Read(r, name, format) }

// Formats lists the names of all formats that [Read] knows.
func Formats() []string { return read.Formats() }
