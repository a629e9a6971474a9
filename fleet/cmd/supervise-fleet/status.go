package main

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"supervise/fleet/flow"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status [FLEET]",
		Short: "Show the fleets, or the tasks of one and what runs",
		Args:  cobra.MaximumNArgs(1),
		RunE: a.connected(func(ctx context.Context, c client.Client, args []string) error {
			if len(args) == 0 {
				return a.fleets(ctx, c)
			}
			f, err := a.named(ctx, c, args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.print(f)
			}
			return a.table(f)
		}),
	}
}

// named asks for a fleet by its name.
func (a *app) named(ctx context.Context, c client.Client, name string) (fleetState, error) {
	parts, err := named(name, 1)
	if err != nil {
		return fleetState{}, err
	}
	return a.fleet(ctx, c, parts[0])
}

// fleets lists the fleets, the latest first.
func (a *app) fleets(ctx context.Context, c client.Client) error {
	type row struct {
		Fleet     string    `json:"fleet"`
		StartedAt time.Time `json:"started_at"`
		State     string    `json:"state"`
	}
	rows := []row{}
	err := list(ctx, c, "WorkflowType = '"+flow.FleetName+"'", func(info *workflowpb.WorkflowExecutionInfo) {
		state := "ended"
		if info.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
			state = "running"
		}
		rows = append(rows, row{strings.TrimPrefix(info.Execution.WorkflowId, "fleet/"), info.StartTime.AsTime(), state})
	})
	if err != nil {
		return fmt.Errorf("list the fleets: %w", err)
	}
	if a.json {
		return a.print(rows)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Fleet, r.StartedAt.Local().Format("2006-01-02 15:04"), r.State)
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.out, "no fleet yet: supervise-fleet run tasks.yaml begins one")
	}
	return w.Flush()
}

// table prints the tasks of a fleet.
func (a *app) table(f fleetState) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tSTATE\tTIME\tCOST\tTOKENS\t")
	for _, s := range f.Tasks {
		end := time.Now()
		if s.Ended != nil {
			end = *s.Ended
		}
		cost, tokens := "", ""
		if s.Result != nil {
			cost, tokens = money(s.Result.CostUSD), count(s.Result.Tokens)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Task, s.State, end.Sub(s.StartedAt).Round(time.Second), cost, tokens, s.says())
		for _, c := range s.Candidates {
			fmt.Fprintf(w, "  %d\t\t\t\t\t%s\n", c.Candidate, c.says())
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if b := f.Budget; b != nil && (b.Spent != flow.Amount{}) {
		fmt.Fprintf(a.out, "spent: %s %s tokens\n", money(b.Spent.CostUSD), count(b.Spent.Tokens))
	}
	return nil
}

// says is what there is to say of a task in words.
func (s taskState) says() string {
	switch {
	case s.Waiting != "":
		return flow.Cut(s.Waiting, column)
	case s.Result == nil:
		return ""
	case s.Result.Refused != "":
		return s.Result.Refused
	}
	return flow.Cut(s.Result.Text, column)
}

// column is how much of a text a line of a table has, in characters; --json has it whole.
const column = 120

// says is what a candidate does in words.
func (c candidateState) says() string {
	switch {
	case c.Waiting != "":
		return "waits for a person: " + c.Waiting
	case c.Queued && c.Attempt > 1:
		return fmt.Sprintf("waits for a worker, attempt %d", c.Attempt)
	case c.Queued:
		return "waits for a worker"
	case c.Now == nil:
		return ""
	}
	text := c.Now.Phase
	if c.Now.Iteration > 0 {
		text = fmt.Sprintf("iteration %d: %s", c.Now.Iteration, text)
	}
	if c.Now.Check != "" {
		text += " (" + c.Now.Check + ")"
	}
	text += ", " + time.Since(c.Now.Since).Round(time.Second).String() + ", on " + c.Now.Worker
	if c.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", c.Attempt)
	}
	return text
}

func money(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", v)
}

func count(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func newWatch(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "watch FLEET",
		Short: "Tell what happens until all tasks are over",
		Long: `Tell what happens until all tasks are over: a line whenever something changes.

The exit status is 0 when each task came to a tree, 3 when a person has rejected one, else 4.`,
		Args: cobra.ExactArgs(1),
		RunE: a.connected(func(ctx context.Context, c client.Client, args []string) error {
			parts, err := named(args[0], 1)
			if err != nil {
				return err
			}
			return a.watch(ctx, c, parts[0])
		}),
	}
}

// watch prints changes until the fleet is over.
func (a *app) watch(ctx context.Context, c client.Client, fleet string) error {
	last := map[string]string{}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		f, err := a.fleet(ctx, c, fleet)
		if err != nil {
			return err
		}
		if missing := f.Total - len(f.Tasks); missing > 0 {
			a.printChange(last, fleet, fmt.Sprintf("%d of %d tasks have started", len(f.Tasks), f.Total))
		}
		for _, s := range f.Tasks {
			text := s.State + suffix(s.says())
			if s.State == "waiting" {
				text += fmt.Sprintf(" (supervise-fleet approve %s/%s, or reject)", fleet, s.Task)
			}
			a.printChange(last, s.Task, text)
			for _, k := range s.Candidates {
				if k.Now != nil && !k.Queued && k.Now.Iteration > 0 {
					a.printChange(last, fmt.Sprintf("%s/%d", s.Task, k.Candidate), fmt.Sprintf("iteration %d: %s on %s", k.Now.Iteration, k.Now.Phase, k.Now.Worker))
				}
			}
		}
		if f.isOver() {
			a.status = exitOf(f)
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func suffix(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// printChange prints a line if it differs from the last one.
func (a *app) printChange(last map[string]string, who, text string) {
	if last[who] == text {
		return
	}
	last[who] = text
	fmt.Fprintf(a.out, "%s  %s  %s\n", time.Now().Format("15:04:05"), who, text)
}

// exitOf is the exit status for a fleet that is over.
func exitOf(f fleetState) (status int) {
	for _, s := range f.Tasks {
		switch s.State {
		case "done":
		case "rejected":
			status = max(status, 3)
		default:
			status = max(status, 4)
		}
	}
	return status
}

func newResults(a *app) *cobra.Command {
	var html bool
	cmd := &cobra.Command{
		Use:   "results FLEET",
		Short: "Show what the tasks came to",
		Args:  cobra.ExactArgs(1),
		RunE: a.connected(func(ctx context.Context, c client.Client, args []string) error {
			f, err := a.named(ctx, c, args[0])
			if err != nil {
				return err
			}
			a.status = exitOf(f)
			switch {
			case a.json:
				return a.print(f)
			case html:
				return page.Execute(a.out, f)
			}
			return printResults(a.out, f)
		}),
	}
	cmd.Flags().BoolVar(&html, "html", false, "print a page")
	return cmd
}

// printResults prints a table with a line a candidate.
func printResults(out io.Writer, f fleetState) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tSTATE\tCANDIDATE\tITERATIONS\tSCORE\tCOST\tTOKENS\t")
	for _, s := range f.Tasks {
		if s.Result == nil {
			fmt.Fprintf(w, "%s\t%s\t\t\t\t\t\t%s\n", s.Task, s.State, s.says())
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t\t\t\t%s\t%s\t%s\n", s.Task, s.State, money(s.Result.CostUSD), count(s.Result.Tokens), s.says())
		for _, k := range s.Result.Candidates {
			mark := " "
			if k.Chosen {
				mark = "*"
			}
			fmt.Fprintf(w, "\t\t%s %d\t%d\t%.1f\t%s\t%s\t%s\n", mark, k.Candidate, k.Iterations, 100*k.Score, money(k.CostUSD), count(k.Tokens), k.Reason)
		}
	}
	return w.Flush()
}

// page is the results for a browser.
var page = template.Must(template.New("results").Funcs(template.FuncMap{
	"percent": func(v float64) string { return fmt.Sprintf("%.1f", 100*v) }, "money": money, "count": count,
}).Parse(`<!doctype html>
<meta charset="utf-8">
<title>{{.Fleet}}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.2rem .6rem;border-bottom:1px solid #8884}.chosen{font-weight:bold}</style>
<h1>{{.Fleet}}</h1>
{{range .Tasks}}<h2>{{.Task}}: {{.State}}</h2>
{{with .Result}}<p>{{if .Refused}}{{.Refused}}{{else}}{{.Text}}{{end}}</p>
<table><tr><th>candidate<th>iterations<th>score<th>cost<th>tokens<th>ended by</tr>
{{range .Candidates}}<tr{{if .Chosen}} class="chosen"{{end}}><td>{{.Candidate}}<td>{{.Iterations}}<td>{{percent .Score}}<td>{{money .CostUSD}}<td>{{count .Tokens}}<td>{{.Reason}}</tr>
{{end}}</table>{{end}}
{{end}}`))
