package observe

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.temporal.io/sdk/client"
)

// TestObserved sends spans to a collector, and serves metrics.
func TestObserved(t *testing.T) {
	got := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		got <- r.URL.Path + " " + string(text)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	o, err := Start(t.Context(), address, func(string) string { return collector.URL })
	if err != nil {
		t.Fatal(err)
	}
	var c client.Options
	o.Add(&c)
	if len(c.Interceptors) != 1 || c.MetricsHandler == nil {
		t.Errorf("%+v", c)
	}
	c.MetricsHandler.Counter("fleet_test_iterations").Inc(3)
	res, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	_ = res.Body.Close()
	if err != nil || !strings.Contains(string(text), "fleet_test_iterations") {
		t.Errorf("%v\n%s", err, text)
	}
	_, span := otel.Tracer("supervise/fleet").Start(t.Context(), "iteration")
	span.End()
	if err := o.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent := <-got; !strings.HasPrefix(sent, "/v1/traces ") || !strings.Contains(sent, "iteration") {
		t.Errorf("sent %q", sent)
	}
}

// TestNothing observes nothing unless it is switched on.
func TestNothing(t *testing.T) {
	t.Parallel()
	o, err := Start(t.Context(), "", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	var c client.Options
	if o.Add(&c); len(c.Interceptors) != 0 || c.MetricsHandler != nil || o.Stop(t.Context()) != nil {
		t.Errorf("%+v", c)
	}
	if _, err := Start(t.Context(), "256.0.0.1:x", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "serve metrics at 256.0.0.1:x") {
		t.Error(err)
	}
}
