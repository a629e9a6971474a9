package main

import (
	"fmt"
	"strings"

	"supervise/internal/event"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/metric"
	"supervise/selector"

	"github.com/spf13/cobra"
)

func (a *app) measureCmd() *cobra.Command {
	f := &checkFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "measure",
		Short: "Measure the working tree once",
		Long: `Measure runs the checks of the project once and prints what they say. It changes
nothing in the tree but what the checks change themselves.`,
		Example: `  supervise measure
  supervise measure --json --test-cmd 'pytest --junitxml=report.xml' --test-report report.xml`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.measure(cmd, f, asJSON) },
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the metric set as JSON")
	return cmd
}

// measurement is what measure --json prints.
type measurement struct {
	metric.Record
	Derived struct {
		ErrorCount   *float64         `json:"error_count"`
		QualityScore *float64         `json:"quality_score"`
		Signature    metric.Signature `json:"signature"`
	} `json:"derived"`
	Projects []projectRecord   `json:"projects,omitempty"` // where there are several
	Checks   []ledger.CheckRun `json:"checks"`
}

// projectRecord is what the checks of one project of several said.
type projectRecord struct {
	Dir string `json:"dir"`
	metric.Record
}

func (a *app) measure(cmd *cobra.Command, f *checkFlags, asJSON bool) error {
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	_, plan, err := a.plan(at.project, *f)
	if err != nil {
		return err
	}
	res, err := a.measureOnce(cmd.Context(), plan)
	if err != nil {
		return err
	}
	if res.Set.Tests == nil {
		a.code = event.Unmeasurable.ExitCode()
	}
	if asJSON {
		return a.printMeasurement(res)
	}
	a.showMeasurement(res)
	return nil
}

func (a *app) printMeasurement(res measure.Result) error {
	m := measurement{Record: res.Set.Record(), Checks: holdout.Runs(res.Runs)}
	for _, p := range res.Parts {
		m.Projects = append(m.Projects, projectRecord{p.Dir, p.Set.Record()})
	}
	m.Derived.Signature = res.Set.Signature()
	if m.Quality != nil {
		m.Derived.ErrorCount = m.Quality.ErrorCount
	}
	if score := selector.Grade(res.Set, res.Set, selector.DefaultWeights()); score.Measured {
		m.Derived.QualityScore = &score.Value
	}
	return a.encode(m)
}

func (a *app) showMeasurement(res measure.Result) {
	paint := a.paint(a.out)
	for _, f := range metric.Fields() {
		if v, ok := res.Set.Value(f); ok {
			fmt.Fprintf(a.out, "%-24s %s\n", f, report.Number(v))
		}
	}
	if res.Set.Build != nil {
		fmt.Fprintf(a.out, "%-24s %s\n", "build_status", res.Set.Build.Status)
	}
	for _, g := range res.Set.Gaps {
		fmt.Fprintf(a.out, "%s\n", paint(report.Warn, fmt.Sprintf("%s not measured: %s", g.Section, g.Why)))
	}
	for _, r := range holdout.Runs(res.Runs) {
		fmt.Fprintf(a.out, "%s\n", paint(report.Faint, fmt.Sprintf("%s: status %d, read %s", r.Name, r.ExitCode, orNothing(strings.Join(r.Read, ", ")))))
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
