package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"supervise/internal/projectfile"
	"supervise/internal/record"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// recordOptions are the options of supervise record.
type recordOptions struct {
	flags                     *pflag.FlagSet
	loop                      string
	messages                  bool // read them from standard input
	message                   record.Message
	iteration, from, exitCode int
	dimensions                []string
	metrics                   string
	score, cost               float64
	tokens                    int64
	took                      time.Duration
	json                      bool
}

func newRecordCmd(a *app) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record LOOP --iteration N | record [LOOP] --json -",
		Short: "Record and judge an iteration that another orchestrator ran",
		Long: `The input is its metrics, its score, or the scores of its dimensions. It is compared
with the iteration that it started from and with the baseline, and the answer says
what should follow. The first record creates the loop, with iteration 0 (the baseline)
or 1. A number is recorded once, unless --replace; the log keeps what was replaced.

With "-" the command reads JSON messages from standard input (BaselineRequest,
IterationComplete, LoopDecisionRequest) and answers each with ProgressReport,
RegressionAlert and BestIterationSelection: see docs/record.md. Exits with 2 if a
message was refused.`,
		Example: `  supervise measure --json | supervise record nightly --iteration 0 --metrics -
  supervise record nightly --iteration 1 --metrics metrics.json --tokens 5000 --cost 0.05 --time 30s
  supervise record --json - < messages.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = cmd.Flags()
			if o.messages = args[len(args)-1] == "-"; o.messages {
				args = args[:len(args)-1]
			}
			if len(args) > 1 {
				return usageError{fmt.Errorf("unexpected argument %q; see '%s --help'", args[1], cmd.CommandPath())}
			}
			o.loop = firstArg(args)
			return runRecord(cmd.Context(), a, o)
		},
	}

	o.register(cmd.Flags())
	return cmd
}

// register adds the flags to the command.
func (o *recordOptions) register(flags *pflag.FlagSet) {
	m := &o.message
	addFlagSection(flags, "Measurements", func(f *pflag.FlagSet) {
		f.IntVar(&o.iteration, "iteration", 0, "number of the iteration, 0 for the baseline")
		f.StringVar(&o.metrics, "metrics", "", "JSON or YAML `file` with testing, quality and codebase, as supervise measure --json prints them; - for standard input")
		f.StringSliceVar(&o.dimensions, "dimensions", nil, "`scores` of dimensions in [0,1], like validation=.9,completeness=.8")
		f.Float64Var(&o.score, "score", 0, "quality score in [0,1] (default: from dimensions or metrics)")
		f.StringVar(&m.Verification, "verification", "", "whether the iteration is proven good: passed, failed, skipped (default: by the metrics)")
		f.StringVar(&m.Tree, "tree", "", "identity of the contents, to detect that the tree returns to an earlier state")
		f.IntVar(&o.from, "from", 0, "iteration that it started from (default: the last one that was not rejected)")
	})

	addFlagSection(flags, "Run of the agent", func(f *pflag.FlagSet) {
		f.Int64Var(&o.tokens, "tokens", 0, "tokens that the iteration used")
		f.Float64Var(&o.cost, "cost", 0, "its cost in US dollars")
		f.DurationVar(&o.took, "time", 0, "how long it took, for example 90s")
		f.StringVar(&m.Error, "error", "", "what went wrong; the same error three times in a row is a stuck loop")
		f.IntVar(&o.exitCode, "exit-code", 0, "exit status of the agent")
		f.BoolVar(&m.Unchanged, "unchanged", false, "the agent changed nothing")
	})

	addFlagSection(flags, "What is kept", func(f *pflag.FlagSet) {
		f.StringArrayVar(&m.Artifacts, "artifacts", nil, "`path` of a folder or file to keep a copy of (repeatable)")
		f.StringArrayVar(&m.Reflections, "reflection", nil, "`remark` to keep (repeatable)")
		f.BoolVar(&m.Snapshot, "snapshot", false, "keep the current working tree, so that rollback and select --apply can restore it")
		f.BoolVar(&m.Replace, "replace", false, "replace the record of this number; later iterations are judged again")
		f.StringVar(&m.Reason, "reason", "", "why it is replaced, for the log")
		f.BoolVar(&o.json, "json", false, "print the answers as JSON, one per line")
	})
}

// buildMessage returns the message that the flags describe. They override the file of --metrics,
// which may be standard input, in.
func (o recordOptions) buildMessage(in io.Reader) (m record.Message, err error) {
	given, flags := o.flags.Changed, o.message
	if o.metrics != "" {
		if m, err = readMetrics(o.metrics, in); err != nil {
			return m, err
		}
	}

	if given("dimensions") {
		if m.Dimensions, err = parsePairs("--dimensions", o.dimensions); err != nil {
			return m, err
		}
	}

	for name, set := range map[string]func(){
		"iteration": func() { m.Iteration, m.Number = &o.iteration, nil },
		"score":     func() { m.Score = &o.score }, "tokens": func() { m.Tokens = &o.tokens }, "cost": func() { m.CostUSD = &o.cost },
		"from":         func() { m.StartedFrom = &o.from },
		"time":         func() { ms := o.took.Milliseconds(); m.TimeMS = &ms },
		"verification": func() { m.Verification = flags.Verification }, "tree": func() { m.Tree = flags.Tree },
		"error": func() { m.Error = flags.Error }, "exit-code": func() { m.ExitCode = o.exitCode }, "unchanged": func() { m.Unchanged = flags.Unchanged },
		"artifacts": func() { m.Artifacts = flags.Artifacts }, "reflection": func() { m.Reflections = flags.Reflections },
		"snapshot": func() { m.Snapshot = flags.Snapshot }, "replace": func() { m.Replace = flags.Replace }, "reason": func() { m.Reason = flags.Reason },
	} {
		if given(name) {
			set()
		}
	}

	m.LoopID, m.Type = o.loop, record.KindIteration
	if m.Iteration == nil {
		m.Iteration = m.Number
	}
	if m.Iteration == nil {
		return m, errors.New("give --iteration N, 0 for the baseline")
	}
	if *m.Iteration == 0 {
		m.Type = record.KindBaseline
	}
	return m, nil
}

// readMetrics reads the file of --metrics, "-" for standard input.
func readMetrics(path string, in io.Reader) (record.Message, error) {
	text, err := io.ReadAll(in)
	if path != "-" {
		text, err = projectfile.ReadNamed(path, projectfile.Source)
	}
	if err != nil {
		return record.Message{}, fmt.Errorf("read metrics: %w", err)
	}
	m, err := record.ReadMetrics(text)
	if err != nil {
		err = fmt.Errorf("read metrics from %s: %w", path, err)
	}
	return m, err
}

func runRecord(ctx context.Context, a *app, o recordOptions) error {
	if o.messages {
		return a.answerMessages(ctx, o.loop, o.json)
	}
	var in io.Reader = strings.NewReader("")
	if o.metrics == "-" {
		in = a.in
	}

	m, err := o.buildMessage(in)
	if err != nil {
		return usageError{err}
	}

	p, err := a.recordTarget(ctx)
	if err != nil {
		return err
	}

	rec, err := record.Record(ctx, p, m)
	if err != nil {
		return err
	}
	if o.json {
		return a.encodeLines(rec.Answer()...)
	}

	a.text().PrintRecorded(rec)
	return nil
}

// recordTarget returns the service that records iterations in the working tree.
func (a *app) recordTarget(ctx context.Context) (record.Service, error) {
	at, err := a.workspaceAndHome(ctx)
	return record.Service{
		Home: at.home, Root: at.root, By: userName(), Now: time.Now,
		Settings: func() (record.Settings, any, error) {
			s, err := a.loadSettings(at.project)
			if err != nil {
				return record.Settings{}, nil, err
			}
			o, err := s.LoopOptions(at.root)
			return record.Settings{Settings: o.Settings.Settings, Snapshot: o.Snapshot}, o.Settings, err
		},
	}, err
}

// errorAnswer is the answer to an invalid message.
type errorAnswer struct {
	Type   record.Kind `json:"type"`
	LoopID string      `json:"loop_id,omitempty"`
	Error  string      `json:"error"`
}

// answerMessages answers messages from standard input until its end. The answer to an invalid
// message is an Error, and the exit status becomes 2.
func (a *app) answerMessages(ctx context.Context, id string, asJSON bool) error {
	if !asJSON {
		return usageError{errors.New("messages are JSON: give --json with -")}
	}
	p, err := a.recordTarget(ctx)
	if err != nil {
		return err
	}

	messages := record.NewMessages(a.in)
	for {
		var out []any
		m, err := messages.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil:
			out, err = p.Answer(ctx, id, m)
		case !errors.Is(err, record.ErrInvalidMessage):
			return usageError{err}
		}
		switch {
		case err != nil && exitCode(err) != 2:
			return err
		case err != nil:
			a.code = 2
			out = append(out, errorAnswer{record.KindError, m.LoopID, err.Error()})
		}
		if err := a.encodeLines(out...); err != nil {
			return err
		}
	}
}
