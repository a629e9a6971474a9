package main

import (
	"context"
	"io"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// analyticsOptions are the options of supervise analytics.
type analyticsOptions struct {
	loop string
	json bool
}

func newAnalyticsCmd(a *app) *cobra.Command {
	var o analyticsOptions
	cmd := &cobra.Command{
		Use: "analytics [LOOP]", Short: "Show the trajectory of a loop: quality, degradation, returns",
		Example: `  supervise analytics
  supervise analytics --json fix-tests`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAnalytics(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

func runAnalytics(ctx context.Context, a *app, o analyticsOptions) error {
	r, err := a.readReport(ctx, o.loop)
	if err != nil {
		return err
	}
	if o.json {
		return a.encode(report.NewAnalytics(r))
	}
	_, err = io.WriteString(a.out, report.CompletionDocument(r).Markdown())
	return err
}

// readReport returns the data of the reports of a loop, with the selection by its own rules.
func (a *app) readReport(ctx context.Context, name string) (report.Loop, error) {
	v, err := a.view(ctx, name)
	if err != nil {
		return report.Loop{}, err
	}
	v, choice, err := v.Choose(record.SelectionRequest{})
	if err != nil {
		return report.Loop{}, err
	}
	return v.Report(choice, reportTime(v.State)), nil
}

// reportTime returns the time of a report about a loop: its end, or now if it has not ended.
func reportTime(s ledger.State) time.Time {
	if s.Status.IsOver() {
		return s.UpdatedAt
	}
	return time.Now()
}
