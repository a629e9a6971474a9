// Package mockllm is a model server for tests: it answers the Anthropic Messages,
// OpenAI Responses, OpenAI Chat Completions and Gemini APIs from a script, so that
// real agent programs run without any network. It listens on the loopback alone,
// keeps what it was asked, and knows nothing of the program that is tested.
//
// A marker in the prompt, [[mock:NAME]], chooses the [Scenario]. The step in it
// follows from the request: it is the number of answers since the marker. So a
// client may repeat a request, or drop its session, without disturbing anything.
package mockllm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are what a server answers by.
type Options struct {
	Addr      string // of the loopback; "" is a free port of 127.0.0.1
	Scenarios map[string]Scenario
	Default   string // the scenario of prompts without a marker
	// Part finds the number of the part of the scenario in the prompt, in its first
	// group. The default is "Iteration N".
	Part *regexp.Regexp
	Dir  string // where the client works; "" keeps paths as they are
}

// Request is what was asked, and what it was taken for.
type Request struct {
	Time     time.Time
	Method   string
	Path     string
	Header   http.Header // without keys
	Body     []byte      // unpacked
	Scenario string
	Part     int // from 1
	Step     int // from 0
	Side     bool
	Prompt   string   // the turn that carries the marker
	Tools    []string // that the client offers, sorted
	Calls    []string // names of the tools that the answer calls
	Status   int      // of the answer; 0 while there is none
}

// Server is a running server.
type Server struct {
	opts Options
	http *http.Server
	addr net.Addr
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	requests []Request
	failed   map[string]int // how often a step was refused
	well     bool           // nothing fails any more
	changed  chan struct{}  // closed at the next change of requests
}

// Start listens and answers until [Server.Close].
func Start(o Options) (*Server, error) {
	if o.Part == nil {
		o.Part = regexp.MustCompile(`\bIteration (\d+)\b`)
	}
	ln, err := net.Listen("tcp", cmp.Or(o.Addr, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("start the model server: %w", err)
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("start the model server on %s: it listens on the loopback alone, for instance 127.0.0.1:0", ln.Addr())
	}
	s := &Server{opts: o, addr: ln.Addr(), done: make(chan struct{}), failed: map[string]int{}, changed: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(ln) }() // ends with Close, which is its only error
	return s, nil
}

// URL is where the server listens, without a path.
func (s *Server) URL() string { return "http://" + s.addr.String() }

// Close ends all connections, those of requests that hang as well. A second time
// it does nothing.
func (s *Server) Close() error {
	s.once.Do(func() { close(s.done) })
	return s.http.Close()
}

// Requests returns what was asked so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait returns the first request of which ok is true, as soon as there is one.
func (s *Server) Wait(ctx context.Context, ok func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		all, changed := slices.Clone(s.requests), s.changed
		s.mu.Unlock()
		if i := slices.IndexFunc(all, ok); i >= 0 {
			return all[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for a request, after %d others: %w", len(all), context.Cause(ctx))
		}
	}
}

// Recover makes all trouble end: from now on no step fails, hangs or is cut.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.well = true
}

// sound takes the trouble out of a step where it is over.
func (s *Server) sound(st Step) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.well {
		st.Failure, st.Hang, st.Cut, st.Delay = nil, false, false, 0
	}
	return st
}

// note keeps a request, or what became of it.
func (s *Server) note(change func([]Request) []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = change(s.requests)
	close(s.changed)
	s.changed = make(chan struct{})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, failureBody(err.Error()))
		return
	}
	req := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Header: withoutKeys(r.Header), Body: body}
	api := apiOf(r)
	if api == nil {
		s.other(w, r, req)
		return
	}
	talk, err := api.read(body)
	if err != nil {
		req.Status = http.StatusBadRequest
		s.note(func(all []Request) []Request { return append(all, req) })
		writeJSON(w, req.Status, failureBody("mockllm: "+err.Error()))
		return
	}
	talk.dir = s.opts.Dir
	s.answer(w, r, exchange{api: api, talk: talk, req: req})
}

// exchange is a request that a scenario answers.
type exchange struct {
	api  api
	talk conversation
	req  Request
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, x exchange) {
	at := x.talk.find(s.opts.Part)
	x.req.Scenario, x.req.Part, x.req.Step = cmp.Or(at.scenario, s.opts.Default), at.part, at.step
	x.req.Side, x.req.Prompt, x.req.Tools = at.side, at.prompt, slices.Sorted(maps.Keys(x.talk.tools))
	scenario, known := s.opts.Scenarios[x.req.Scenario]
	st := s.sound(scenario.step(at.part, at.step))
	switch {
	case !known:
		st = Step{Failure: &Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf("mockllm: there is no scenario %q", x.req.Scenario)}}
	case at.side && (st.Failure == nil || st.Failure.Times > 0):
		st = Step{Text: "Title", Usage: &Usage{}} // a request outside the task takes nothing from the script, and costs nothing
	}
	prefix := fmt.Sprintf("call_%d_%d", at.part, at.step)
	calls, text := x.talk.calls(st, prefix)
	if x.talk.object != nil {
		calls, text = nil, x.talk.object.example()
	}
	for _, c := range calls {
		x.req.Calls = append(x.req.Calls, c.name)
	}
	refused := s.refuses(x.req, st)
	if refused {
		x.req.Status, x.req.Calls = st.Failure.Status, nil
	} else if !st.Hang {
		x.req.Status = http.StatusOK
	}
	s.note(func(all []Request) []Request { return append(all, x.req) })
	if !s.pause(r.Context(), st) {
		panic(http.ErrAbortHandler) // the client is gone, or the server ends
	}
	if refused {
		setHeaders(w, st.Failure.Headers)
		x.api.fail(w, *st.Failure)
		return
	}
	setHeaders(w, st.Headers)
	usage := DefaultUsage(at.step)
	if st.Usage != nil {
		usage = *st.Usage
	}
	x.api.reply(w, x.talk, reply{id: fmt.Sprintf("mock_%d_%d", at.part, at.step), text: text, calls: calls, cut: st.Cut, usage: usage})
}

func setHeaders(w http.ResponseWriter, headers map[string]string) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
}

// refuses says whether a step fails now, and counts it.
func (s *Server) refuses(req Request, st Step) bool {
	if st.Failure == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%s/%d/%d", req.Scenario, req.Part, req.Step)
	if st.Failure.Times > 0 && s.failed[key] >= st.Failure.Times {
		return false
	}
	s.failed[key]++
	return true
}

// pause waits as the step says; false means that the client has gone.
func (s *Server) pause(ctx context.Context, st Step) bool {
	if st.Delay <= 0 && !st.Hang {
		return true
	}
	var over <-chan time.Time
	if !st.Hang {
		timer := time.NewTimer(time.Duration(st.Delay))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

// other answers what no scenario is about: lists of models, and counts of tokens.
func (s *Server) other(w http.ResponseWriter, r *http.Request, req Request) {
	req.Status = http.StatusOK
	var out any
	switch path := r.URL.Path; {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/count_tokens"):
		out = fields{"input_tokens": len(req.Body) / 4}
	case r.Method == http.MethodPost && strings.HasSuffix(path, ":countTokens"):
		out = fields{"totalTokens": len(req.Body) / 4}
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		out = fields{"object": "list", "has_more": false, "models": []any{}, "data": []any{
			fields{"id": "mock-model", "object": "model", "type": "model", "display_name": "mock-model", "created": 1, "owned_by": "mock"},
		}}
	case path == "/":
		out = fields{"ok": true}
	default:
		req.Status, out = http.StatusNotFound, failureBody("mockllm: there is no "+path)
	}
	s.note(func(all []Request) []Request { return append(all, req) })
	writeJSON(w, req.Status, out)
}

func readBody(r *http.Request) ([]byte, error) {
	from := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("unpack the request: %w", err)
		}
		from = z
	}
	body, err := io.ReadAll(from)
	return bytes.TrimSpace(body), err
}

// withoutKeys leaves out what a client proves itself by.
func withoutKeys(h http.Header) http.Header {
	out := h.Clone()
	for name := range out {
		if lower := strings.ToLower(name); lower == "authorization" || lower == "cookie" || strings.Contains(lower, "key") {
			out.Set(name, "[masked]")
		}
	}
	return out
}

// fields is a JSON object that is written.
type fields map[string]any

func failureBody(message string) fields {
	return fields{"error": fields{"type": "invalid_request_error", "message": message}}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
