package gateway

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestAllows(t *testing.T) {
	g := Proxy{Hosts: []string{"api.test", "*.wide.test", "ported.test:8443", "[2001:db8::1]", "10.0.0.1:11434"}}
	for host, want := range map[string]bool{
		"api.test:443": true, "API.test.:443": true, "api.test:80": true, "api.test:22": false, "sub.api.test:443": false, "xapi.test:443": false,
		"a.wide.test:443": true, "a.b.wide.test:443": true, "wide.test:443": false, "awide.test:443": false,
		"ported.test:8443": true, "ported.test:443": false, "[2001:db8::1]:443": true, "10.0.0.1:11434": true, "10.0.0.1:443": false, "api.test": false, "": false,
	} {
		if got := g.Allows(host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

// Requests and tunnels reach allowed hosts alone, and by the user's own proxy where there
// is one.
func TestProxy(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.URL.Path) })
	plain, tls, other := httptest.NewServer(hello), httptest.NewTLSServer(hello), httptest.NewServer(hello)
	defer plain.Close()
	defer tls.Close()
	defer other.Close()
	var mu sync.Mutex
	var refused []string
	gate := &Proxy{Hosts: []string{plain.Listener.Addr().String(), tls.Listener.Addr().String()}, OnRefused: func(host string) {
		mu.Lock()
		defer mu.Unlock()
		refused = append(refused, host)
	}}
	proxy := httptest.NewServer(gate)
	defer proxy.Close()
	at, _ := url.Parse(proxy.URL)
	client := tls.Client()
	client.Transport.(*http.Transport).Proxy = http.ProxyURL(at)
	for _, tc := range []struct {
		url  string
		want string
	}{
		{plain.URL + "/a", "200 hello /a"},
		{tls.URL + "/b", "200 hello /b"},
		{other.URL + "/c", "403 supervise: the sandbox does not allow " + other.Listener.Addr().String() + "\n"},
	} {
		res, err := client.Get(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := res.Status[:4] + string(text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.url, got, tc.want)
		}
	}
	if c, err := dialThroughProxy(t.Context(), at, other.Listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("a tunnel to another host: %v, %v", c, err)
	}
	c, err := dialThroughProxy(t.Context(), at, plain.Listener.Addr().String())
	if err != nil {
		t.Fatalf("a tunnel by another proxy: %v", err)
	}
	_ = c.Close()
	if want := []string{other.Listener.Addr().String(), other.Listener.Addr().String()}; !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
}

// What connects to a port that is passed on reaches the same port of this machine.
func TestPass(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	if got := (&Proxy{Hosts: []string{"localhost:" + port, "127.0.0.1:" + port, "10.0.0.1:5", "localhost"}}).localPorts(); !slices.Equal(got, []string{port}) {
		t.Errorf("ports %q, want %q", got, port)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go forwardPort(l, port)
	res, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "hello" {
		t.Errorf("got %q, %v", text, err)
	}
}
