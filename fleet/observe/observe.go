// Package observe tells tracing and monitoring systems what a fleet does.
package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
)

// Observer adds what observes to the options of a client.
type Observer struct {
	interceptors []interceptor.ClientInterceptor
	metrics      client.MetricsHandler
	stops        []func(context.Context) error
}

// Start begins to observe. Traces go where the variables OTEL_EXPORTER_OTLP_… say; without
// them there are none. Metrics are served at the address, for Prometheus, under /metrics; ""
// for none.
func Start(ctx context.Context, address string, getenv func(string) string) (*Observer, error) {
	o := &Observer{}
	if getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" {
		if err := o.trace(ctx); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	if address != "" {
		if err := o.serve(address); err != nil {
			return nil, errors.Join(fmt.Errorf("serve metrics at %s: %w", address, err), o.Stop(ctx))
		}
	}
	return o, nil
}

func (o *Observer) trace(ctx context.Context) error {
	out, err := otlptracehttp.New(ctx)
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(out))
	otel.SetTracerProvider(provider)
	o.stops = append(o.stops, provider.Shutdown)
	traced, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{Tracer: provider.Tracer("supervise/fleet"), DisableQueryTracing: true})
	if err != nil {
		return err
	}
	o.interceptors = append(o.interceptors, traced)
	return nil
}

func (o *Observer) serve(address string) error {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return err
	}
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	o.stops = append(o.stops, server.Shutdown, provider.Shutdown)
	o.metrics = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: provider.Meter("supervise/fleet"), OnError: otel.Handle, UseMonotonicCounters: true,
	})
	return nil
}

// Add adds it to the options of a client.
func (o *Observer) Add(c *client.Options) {
	c.Interceptors = append(c.Interceptors, o.interceptors...)
	if o.metrics != nil {
		c.MetricsHandler = o.metrics
	}
}

// Stop sends what is not sent yet.
func (o *Observer) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	var errs []error
	for _, stop := range o.stops {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}
