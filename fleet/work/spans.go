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
// verdict. Where nobody traces they cost nothing.
type spans struct {
	ctx   context.Context //nolint:containedctx // that of the iteration's span, for those in it
	whole trace.Span
	part  trace.Span // nil between two
}

var tracer = otel.Tracer("supervise/fleet")

func startSpans(ctx context.Context, in flow.IterateInput) *spans {
	ctx, whole := tracer.Start(ctx, "iteration", trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("supervise.fleet", in.Fleet), attribute.String("supervise.task", in.Task),
		attribute.Int("supervise.candidate", in.Candidate), attribute.Int("supervise.iteration", in.Iteration),
	))
	return &spans{ctx: ctx, whole: whole}
}

// parts are what begins with an event of supervise; "" ends what was.
var parts = map[string]string{"iteration_started": "agent", "agent_finished": "checks", "iteration_finished": "verdict", "iteration_interrupted": "", "loop_finished": ""}

// hear hears an event.
func (s *spans) hear(e line) {
	if e.Type == "agent_finished" {
		s.used(e.Data)
	}
	name, known := parts[e.Type]
	if !known {
		return
	}
	at := trace.WithTimestamp(e.Time)
	if s.part != nil {
		s.part.End(at)
		s.part = nil
	}
	if name != "" {
		_, s.part = tracer.Start(s.ctx, name, at)
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
			s.whole.SetAttributes(attribute.Int64(name, *n))
		}
	}
}

// end ends what has not ended.
func (s *spans) end(it flow.Iteration, err error) {
	if s.part != nil {
		s.part.End(trace.WithTimestamp(time.Now()))
	}
	s.whole.SetAttributes(attribute.Float64("supervise.score", it.Score), attribute.Int("supervise.tests.passed", it.Passed), attribute.Int("supervise.tests.failed", it.Failed))
	if err != nil {
		s.whole.SetStatus(codes.Error, "the iteration was not done")
	}
	s.whole.End()
}
