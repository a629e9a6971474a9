package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"supervise/internal/config"
	"supervise/internal/document"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/report"

	"github.com/spf13/pflag"
)

// checkFlags are the flags that replace the detected checks.
type checkFlags struct {
	buildCmd           string
	testCmds, lintCmds []string
	testReports        []string
	tests              []string // values of --tests
}

// register adds the flags to the command.
func (f *checkFlags) register(flags *pflag.FlagSet) {
	addFlagSection(flags, "Checks", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.buildCmd, "build-cmd", "", "`command` that builds the project")
		flags.StringArrayVar(&f.testCmds, "test-cmd", nil, "`command` that runs the tests (repeatable)")
		flags.StringArrayVar(&f.testReports, "test-report", nil, "`file` or pattern that the test command writes, in any known format (repeatable)")
		flags.StringArrayVar(&f.lintCmds, "lint-cmd", nil, "`command` that lints the project (repeatable)")
	})
}

// registerIntent adds the flag --tests.
func (f *checkFlags) registerIntent(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.tests, "tests", nil, "what may be done to the tests: free, append, frozen, or `change` (expectations may change, and a person reads which); change=PATTERN: only those of the tests or files that match (repeatable)")
}

// override replaces settings of the configuration by the flags that were given.
func (f *checkFlags) override(s *config.Settings) error {
	if len(f.testReports) > 0 && len(f.testCmds) == 0 {
		return usageError{errors.New("--test-report needs --test-cmd: a recognised test command writes its own reports")}
	}
	s.Tests = s.Tests.Override(f.tests)
	if f.buildCmd != "" {
		s.Checks.Build = shellChecks([]string{f.buildCmd}, nil)
	}
	if len(f.testCmds) > 0 {
		s.Checks.Test = shellChecks(f.testCmds, f.testReports)
	}
	if len(f.lintCmds) > 0 {
		s.Checks.Lint = shellChecks(f.lintCmds, nil)
	}
	return nil
}

// shellChecks returns a check for each shell command. Every check may write any of the reports.
func shellChecks(lines, reports []string) config.List {
	var out config.List
	for _, line := range lines {
		out = append(out, config.Check{Command: config.Shell(line), Reports: reports})
	}
	return out
}

// planInput says where the settings of a command come from, and what is measured.
type planInput struct {
	at      workspace
	base    string // folder of the configuration; "" is the project
	project string // folder for which the plan is made; "" is the project
	checks  checkFlags
	// register adds flags for settings to a flag set. Those that are set in flags take precedence,
	// see [overlay]. It is nil if the command has none.
	register func(*pflag.FlagSet, *config.Settings)
	flags    *pflag.FlagSet
}

// loadPlan returns the settings and the plan, and notes about what is missing. Flags override the
// configuration, which overrides the detected checks.
func (a *app) loadPlan(in planInput) (s config.Settings, plan measure.Plan, notes []string, err error) {
	if s, err = a.loadSettingsFor(cmp.Or(in.base, in.at.project), in.at.project); err == nil {
		err = in.checks.override(&s)
	}
	if err == nil && in.register != nil {
		err = overlay(&s, in.flags, in.register)
	}
	if err == nil {
		plan, notes, err = s.Plan(cmp.Or(in.project, in.at.project), lookPath)
	}
	return s, plan, notes, err
}

// loopOptions returns the settings and the options of a loop, and prints the notes of [app.loadPlan].
func (a *app) loopOptions(in planInput) (config.Settings, loop.Options, error) {
	s, plan, notes, err := a.loadPlan(in)
	a.printNotes(notes...)
	if err != nil {
		return s, loop.Options{}, err
	}
	opts, err := s.LoopOptions(in.at.root)
	opts.Plan = plan
	return s, opts, err
}

// showPlan prints the checks of the plan.
func (a *app) showPlan(plan measure.Plan, asJSON bool) error {
	if asJSON {
		return a.encode(plan)
	}
	paint := a.paint(a.out)
	fmt.Fprintf(a.out, "%s %s\n", paint(document.Faint, "tree "), plan.Root)
	for _, c := range plan.Checks {
		fmt.Fprintf(a.out, "%s %s\n", paint(document.Faint, fmt.Sprintf("%-5s", c.Kind)), report.CheckCommand(c, paint))
	}
	return nil
}

// printNotes prints notes to standard error, each only once in this process. It skips empty ones.
func (a *app) printNotes(list ...string) {
	for _, n := range list {
		if n != "" && !slices.Contains(a.noted, n) {
			fmt.Fprintf(a.err, "note: %s\n", n)
			a.noted = append(a.noted, n)
		}
	}
}

// lookPath returns the path of a program.
func lookPath(name string) (string, error) { return exec.LookPath(name) }
