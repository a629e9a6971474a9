package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/record"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// recordFlags are the flags of record.
type recordFlags struct {
	message                   record.Message
	iteration, from, exitCode int
	dimensions                []string
	metrics                   string
	score, cost               float64
	tokens                    int64
	took                      time.Duration
	json                      bool
}

func (a *app) recordCmd() *cobra.Command {
	f := &recordFlags{}
	cmd := &cobra.Command{
		Use:   "record LOOP --iteration N | record [LOOP] --json -",
		Short: "Record an iteration that another orchestrator ran, and judge it",
		Long: `Record takes in an iteration that supervise did not run itself: its metrics, its
score, or the scores of its dimensions. The rules judge it against the iteration
that it started from and the baseline, and the answer says what should follow. The
first record makes the loop, with iteration 0, the baseline, or with 1. A number is
recorded once, unless --replace; what stood there is kept in the log.

With - it reads messages from standard input, a JSON object each: BaselineRequest,
IterationComplete and LoopDecisionRequest, and answers each with ProgressReport,
RegressionAlert and BestIterationSelection. docs/record.md has every field.`,
		Example: `  supervise measure --json | supervise record nightly --iteration 0 --metrics -
  supervise record nightly --iteration 1 --metrics metrics.json --tokens 5000 --cost 0.05 --time 30s
  supervise record drafts --iteration 1 --dimensions validation=.7,completeness=.8,correctness=.75 --artifacts out/
  supervise record --json - < messages.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[len(args)-1] == "-" {
				return a.serve(cmd, first(args[:len(args)-1]), f.json)
			}
			if len(args) > 1 {
				return usageError{fmt.Errorf("unexpected argument %q; see '%s --help'", args[1], cmd.CommandPath())}
			}
			return a.record(cmd, args[0], f)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *recordFlags) register(cmd *cobra.Command) {
	flags, m := cmd.Flags(), &f.message
	flags.SortFlags = false
	flags.IntVar(&f.iteration, "iteration", 0, "number of the iteration, 0 for the baseline")
	flags.StringVar(&f.metrics, "metrics", "", "JSON file with testing, quality and codebase, as supervise measure --json prints them; - for standard input")
	flags.StringSliceVar(&f.dimensions, "dimensions", nil, "scores of dimensions in [0,1], like validation=.9,completeness=.8")
	flags.Float64Var(&f.score, "score", 0, "quality score in [0,1]; else it follows from dimensions or metrics")
	flags.Int64Var(&f.tokens, "tokens", 0, "tokens that the iteration used")
	flags.Float64Var(&f.cost, "cost", 0, "what it cost, in US dollars")
	flags.DurationVar(&f.took, "time", 0, "how long it took, for instance 90s")
	flags.StringVar(&m.Verification, "verification", "", "whether it is proven good: passed, failed, skipped (default by the metrics)")
	flags.StringArrayVar(&m.Artifacts, "artifacts", nil, "folder or file to keep a copy of (repeatable)")
	flags.StringArrayVar(&m.Reflections, "reflection", nil, "remark to keep (repeatable)")
	flags.BoolVar(&m.Snapshot, "snapshot", false, "keep the working tree as it is now, so that rollback and select --apply can put it back")
	flags.StringVar(&m.Tree, "tree", "", "identity of the contents, to find out that the same ones come back")
	flags.IntVar(&f.from, "from", 0, "iteration whose tree it started from (default the last that was not rejected)")
	flags.StringVar(&m.Error, "error", "", "what went wrong; the same three times in a row is a stuck loop")
	flags.IntVar(&f.exitCode, "exit-code", 0, "exit status of the agent")
	flags.BoolVar(&m.Unchanged, "unchanged", false, "the agent changed nothing")
	flags.BoolVar(&m.Replace, "replace", false, "replace what is recorded under this number; later iterations are judged again")
	flags.StringVar(&m.Reason, "reason", "", "why it is replaced, for the log")
	flags.BoolVar(&f.json, "json", false, "print the answers as JSON, a line each")
}

// told is the message that the flags stand for.
func (f *recordFlags) told(cmd *cobra.Command, id string, in io.Reader) (record.Message, error) {
	m, given := f.message, cmd.Flags().Changed
	if f.metrics != "" {
		file, err := readMetrics(f.metrics, in)
		if err != nil {
			return m, err
		}
		m.Testing, m.Quality, m.Codebase, m.Missing = file.Testing, file.Quality, file.Codebase, file.Missing
		if m.Dimensions = file.Dimensions; file.Score != nil {
			m.Score = file.Score
		}
	}
	m.LoopID, m.Type = id, record.KindIteration
	if !given("iteration") {
		return m, errors.New("give --iteration N, 0 for the baseline")
	}
	m.Iteration, m.ExitCode = &f.iteration, f.exitCode
	if f.iteration == 0 {
		m.Type = record.KindBaseline
	}
	if given("dimensions") {
		var err error
		if m.Dimensions, err = named("--dimensions", f.dimensions); err != nil {
			return m, err
		}
	}
	for name, set := range map[string]func(){
		"score": func() { m.Score = &f.score }, "tokens": func() { m.Tokens = &f.tokens }, "cost": func() { m.CostUSD = &f.cost },
		"from": func() { m.From = &f.from },
		"time": func() { ms := f.took.Milliseconds(); m.TimeMS = &ms },
	} {
		if given(name) {
			set()
		}
	}
	return m, nil
}

func readMetrics(path string, in io.Reader) (record.Message, error) {
	text, err := io.ReadAll(in)
	if path != "-" {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return record.Message{}, fmt.Errorf("read metrics: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return record.Message{}, fmt.Errorf("read metrics from %s: %w", path, err)
	}
	m, err := record.ParseMessage(raw)
	if err != nil {
		err = fmt.Errorf("read metrics from %s: %w", path, err)
	}
	return m, err
}

func (a *app) record(cmd *cobra.Command, id string, f *recordFlags) error {
	var in io.Reader = strings.NewReader("")
	if f.metrics == "-" {
		in = a.in
	}
	m, err := f.told(cmd, id, in)
	if err != nil {
		return usageError{err}
	}
	p, err := a.recordPlace(cmd)
	if err != nil {
		return err
	}
	rec, err := record.Record(cmd.Context(), p, m)
	if err != nil {
		return recordError(err)
	}
	if f.json {
		return a.lines(rec.Answer())
	}
	a.showRecorded(rec)
	return nil
}

// recordPlace is where iterations are recorded, and how a new loop judges.
func (a *app) recordPlace(cmd *cobra.Command) (record.Place, error) {
	at, err := a.place(cmd.Context())
	if err != nil {
		return record.Place{}, err
	}
	home, err := a.home(at.root)
	return record.Place{
		Home: home, Root: at.root, By: userName(), Now: time.Now,
		Settings: func() (loop.Settings, error) {
			s, err := a.settings(at.project)
			if err != nil {
				return loop.Settings{}, err
			}
			o, err := s.Loop(at.root)
			return o.Settings, err
		},
	}, err
}

// recordError marks what another message or command line would mend.
func recordError(err error) error {
	for _, usage := range []error{record.ErrMessage, record.ErrExists, record.ErrNotRecorded} {
		if errors.Is(err, usage) {
			return usageError{err}
		}
	}
	return selectError(err)
}

// lines prints values as JSON, a line each.
func (a *app) lines(values []any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showRecorded(rec record.Recorded) {
	it, paint := rec.Iteration, a.paint(a.out)
	if rec.Created {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "new loop"), rec.View.Dir)
	}
	fmt.Fprintf(a.out, "%s\n%s\n", report.LineHead(paint), report.Line(it, paint))
	for _, alert := range it.Assessment.Alerts {
		if alert.Severity >= detector.Medium {
			fmt.Fprintf(a.out, "     %s\n", paint(report.Bad, fmt.Sprintf("%s %s", alert.Severity, alert.Message())))
		}
	}
	if b := rec.View.State.Best; b != nil {
		fmt.Fprintf(a.out, "%s iteration %d (%.1f%%)\n", paint(report.Faint, "best    "), b.Iteration, 100*b.QualityScore)
	}
	if len(rec.Rejudged) > 0 {
		fmt.Fprintf(a.out, "%s %v have another verdict now\n", paint(report.Warn, "iterations"), rec.Rejudged)
	}
	a.showAdvice(rec.View.Decide(record.Question{}))
}

func (a *app) showAdvice(r record.Recommendation) {
	paint := a.paint(a.out)
	what := string(r.Action)
	if r.Target != nil {
		what += " to " + iterationWords(*r.Target)
	}
	fmt.Fprintf(a.out, "%s %s: %s (confidence %.2f)\n", paint(report.Faint, "advice  "), paint(report.Strong, what), r.Reason, r.Confidence)
	for _, line := range append([]string{r.Advice}, r.Alternatives...) {
		if line != "" {
			fmt.Fprintf(a.out, "         %s\n", line)
		}
	}
	if r.Retry > 0 {
		fmt.Fprintf(a.out, "         retry %d of %d\n", r.Retry, r.MaxRetries)
	}
	if d := r.Diminishing; d != nil {
		fmt.Fprintf(a.out, "%s diminishing returns since iteration %d\n", paint(report.Faint, "note    "), d.Since)
	}
}

// complaint answers a message that was not understood.
type complaint struct {
	Type   record.Kind `json:"type"`
	LoopID string      `json:"loop_id,omitempty"`
	Error  string      `json:"error"`
}

// serve answers messages until there are no more. One that is refused is answered
// by an Error, and the status is 2 in the end.
func (a *app) serve(cmd *cobra.Command, id string, asJSON bool) error {
	if !asJSON {
		return usageError{errors.New("messages are JSON: give --json with -")}
	}
	p, err := a.recordPlace(cmd)
	if err != nil {
		return err
	}
	messages := record.NewMessages(a.in)
	for {
		m, err := messages.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, record.ErrMessage):
			return usageError{err}
		}
		var out []any
		if err == nil {
			out, err = a.answer(cmd, p, id, m)
		}
		if err != nil {
			if exitCode(recordError(err)) != 2 {
				return err
			}
			a.code = 2
			out = append(out, complaint{record.KindError, m.LoopID, err.Error()})
		}
		if err := a.lines(out); err != nil {
			return err
		}
	}
}

// answer does what one message asks for.
func (a *app) answer(cmd *cobra.Command, p record.Place, id string, m record.Message) ([]any, error) {
	switch {
	case m.LoopID == "":
		m.LoopID = id
	case id != "" && m.LoopID != id:
		return nil, fmt.Errorf("%w: the message is about loop %s, the command about %s", record.ErrMessage, m.LoopID, id)
	}
	switch m.Type {
	case record.KindBaseline, record.KindIteration:
		rec, err := record.Record(cmd.Context(), p, m)
		if err != nil {
			return nil, err
		}
		return rec.Answer(), nil
	case record.KindDecision:
		dir, state, err := ledger.Find(p.Home, p.Root, m.LoopID)
		if err != nil {
			return nil, err
		}
		v, err := record.Read(dir, state)
		if err != nil {
			return nil, err
		}
		return v.Answer(m)
	default:
		return nil, fmt.Errorf("%w: type is %q; give BaselineRequest, IterationComplete or LoopDecisionRequest", record.ErrMessage, m.Type)
	}
}
