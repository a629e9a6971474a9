// Package gateway is an HTTP proxy through which processes in a separate network namespace
// reach some hosts, and some ports of this machine.
package gateway

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Port is the port of the proxy on the loopback device of the namespace.
const Port = "3128"

// Proxy is an HTTP proxy to some hosts.
type Proxy struct {
	// Hosts are names or addresses, with a port or for the ports 80 and 443. *.NAME means
	// all hosts of a domain.
	Hosts []string
	// OnRefused is called, concurrently, with each refused host and port.
	OnRefused func(host string)
}

// Listen starts the proxy on the loopback device of this thread's network namespace. It
// runs until the process ends. Connections to the ports of this machine that are among the
// hosts are forwarded as well.
func (g *Proxy) Listen() error {
	for _, port := range g.localPorts() {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			return fmt.Errorf("listen in the network namespace: %w", err)
		}
		go forwardPort(l, port)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+Port)
	if err != nil {
		return fmt.Errorf("listen in the network namespace: %w", err)
	}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until the process ends
	return nil
}

// localPorts returns the ports of this machine that are among the hosts.
func (g *Proxy) localPorts() []string {
	var out []string
	for _, h := range g.Hosts {
		host, port, err := net.SplitHostPort(h)
		if err == nil && port != Port && (host == "localhost" || host == "127.0.0.1" || host == "::1") && !slices.Contains(out, port) {
			out = append(out, port)
		}
	}
	return out
}

// forwardPort forwards the connections of a listener to the same port of this machine.
func forwardPort(l net.Listener, port string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			out, err := net.DialTimeout("tcp", net.JoinHostPort("localhost", port), dialLimit)
			if err != nil {
				_ = in.Close()
				return
			}
			copyBoth(in, in, out)
		}()
	}
}

// Allows reports whether the hosts allow connections to a host and port, like example.com:443.
// A host without a port allows the ports 80 and 443.
func (g *Proxy) Allows(hostport string) bool {
	host, port, err := net.SplitHostPort(strings.ToLower(hostport))
	if err != nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	return slices.ContainsFunc(g.Hosts, func(rule string) bool {
		name, only, err := net.SplitHostPort(strings.ToLower(rule))
		if err != nil {
			name, only = strings.Trim(strings.ToLower(rule), "[]"), ""
		}
		if only != port && (only != "" || port != "443" && port != "80") {
			return false
		}
		domain, wild := strings.CutPrefix(name, "*.")
		return host == name || wild && strings.HasSuffix(host, "."+domain)
	})
}

// dialLimit is how long a connection to a host may take.
const dialLimit = 30 * time.Second

// ServeHTTP answers one request to the proxy.
func (g *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if r.Method != http.MethodConnect {
		if host = r.URL.Host; r.URL.Port() == "" {
			host = net.JoinHostPort(r.URL.Hostname(), "80")
		}
	}
	switch {
	case !g.Allows(host):
		g.OnRefused(host)
		http.Error(w, "supervise: the sandbox does not allow "+host, http.StatusForbidden)
	case r.Method == http.MethodConnect:
		tunnel(w, r)
	case r.URL.Scheme == "http":
		(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1}).ServeHTTP(w, r)
	default:
		http.Error(w, "supervise: not a request to a proxy", http.StatusBadRequest)
	}
}

// tunnel answers a CONNECT request: it connects to the host, and copies bytes in both
// directions.
func tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := dial(r.Context(), r.Host)
	if err != nil {
		http.Error(w, "supervise: "+err.Error(), http.StatusBadGateway)
		return
	}
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = out.Close()
		return
	}
	_, _ = in.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
	copyBoth(in, buffered, out)
}

// copyBoth copies between two connections until both directions have ended, and closes them.
// read is used to read from in, because it may have buffered bytes.
func copyBoth(in net.Conn, read io.Reader, out net.Conn) {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, read)
		closeWrite(out)
		close(done)
	}()
	_, _ = io.Copy(in, out)
	closeWrite(in)
	<-done
	_, _ = in.Close(), out.Close()
}

// closeWrite closes the sending side of a connection, if it has sides.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// dial connects to a host and port, through the proxy that the environment names if there is
// one.
func dial(ctx context.Context, host string) (net.Conn, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: host}})
	if err != nil {
		return nil, err
	}
	if proxy == nil {
		return (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "tcp", host)
	}
	return dialThroughProxy(ctx, proxy, host)
}

// dialThroughProxy connects to a host through an HTTP proxy.
func dialThroughProxy(ctx context.Context, proxy *url.URL, host string) (net.Conn, error) {
	if proxy.Scheme != "http" {
		return nil, errors.New("HTTPS_PROXY is no http:// proxy")
	}
	addr := proxy.Host
	if proxy.Port() == "" {
		addr = net.JoinHostPort(proxy.Hostname(), "80")
	}

	c, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}

	ask := "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n"
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		ask += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)) + "\r\n"
	}

	var answer *http.Response
	if _, err = io.WriteString(c, ask+"\r\n"); err == nil {
		answer, err = http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // the tunnel is what follows
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New("the proxy of HTTPS_PROXY says " + answer.Status)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}
