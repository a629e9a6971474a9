package work

import (
	"context"
	"encoding/json"
	"time"

	"supervise/fleet/flow"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// spans are an iteration for a tracing system, by the conventions of OpenTelemetry for
// generative AI: one for the iteration, and in it one for the agent, the checks and the
// verdict. They cost nothing if tracing is off.
type spans struct {
	ctx       context.Context //nolint:containedctx // that of the iteration's span, for those in it
	iteration trace.Span
	phase     trace.Span // nil between two
}

var tracer = otel.Tracer("supervise/fleet")

func startSpans(ctx context.Context, in flow.IterateInput) *spans {
	ctx, span := tracer.Start(ctx, "iteration", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("supervise.fleet", in.Fleet), attribute.String("supervise.task", in.Task),
		attribute.Int("supervise.candidate", in.Candidate), attribute.Int("supervise.iteration", in.Iteration),
	))
	return &spans{ctx: ctx, iteration: span}
}

// phaseOfEvent names the phase that an event of supervise starts; "" ends the current one.
var phaseOfEvent = map[string]string{"iteration_started": "agent", "agent_finished": "checks", "iteration_finished": "verdict", "iteration_interrupted": "", "loop_finished": ""}

// record starts or ends a phase with an event.
func (s *spans) record(e line) {
	if e.Type == "agent_finished" {
		s.used(e.Data)
	}
	name, known := phaseOfEvent[e.Type]
	if !known {
		return
	}
	at := trace.WithTimestamp(e.Time)
	if s.phase != nil {
		s.phase.End(at)
		s.phase = nil
	}
	if name != "" {
		_, s.phase = tracer.Start(s.ctx, name, at)
	}
}

// used tells what the agent has consumed.
func (s *spans) used(data json.RawMessage) {
	var run struct {
		Usage struct {
			Input  *int64 `json:"input_tokens"`
			Output *int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(data, &run) != nil {
		return
	}
	for name, n := range map[string]*int64{"gen_ai.usage.input_tokens": run.Usage.Input, "gen_ai.usage.output_tokens": run.Usage.Output} {
		if n != nil {
			s.iteration.SetAttributes(attribute.Int64(name, *n))
		}
	}
}

// end ends what has not ended.
func (s *spans) end(it flow.Iteration, err error) {
	if s.phase != nil {
		s.phase.End(trace.WithTimestamp(time.Now()))
	}
	s.iteration.SetAttributes(attribute.Float64("supervise.score", it.Score), attribute.Int("supervise.tests.passed", it.Passed), attribute.Int("supervise.tests.failed", it.Failed))
	if err != nil {
		s.iteration.SetStatus(codes.Error, "the iteration was not done")
	}
	s.iteration.End()
}
