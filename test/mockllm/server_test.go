package mockllm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// post sends a body and returns the answer, whole.
func post(t *testing.T, url, body string) (int, http.Header, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v, after %q", err, data)
	}
	return res.StatusCode, res.Header, string(data)
}

// client is how a request is written for an API, and what is read from its answers.
type client struct {
	name string
	path string // %s is the part that says whether it is a stream
	ways [2]string
	// body takes the prompt, the answers so far (as many pairs of a call and its
	// result), and whether a stream is wanted.
	body func(prompt string, answered int, stream bool) string
	want answer
}

// answer is the answer of an API.
type answer struct {
	text, call, args string
	tokens           []int // prompt, cached, output
}

const toolSchema = `{"type":"object","properties":{"command":{"type":"string"},"anything":true}}`

func pairs(n int, pair string) string { return strings.Repeat(","+pair, n) }

var clients = []client{
	{
		name: "anthropic", path: "/v1/messages",
		body: func(prompt string, n int, stream bool) string {
			return fmt.Sprintf(`{"model":"m","stream":%v,"system":[{"type":"text","text":"be good"}],"messages":[{"role":"user","content":%q}%s],"tools":[{"name":"Bash","input_schema":%s}]}`,
				stream, prompt, pairs(n, `{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"ok"}]}`), toolSchema)
		},
		want: answer{"I look at it, with more than twelve characters.", "Bash", `{"command":"go test"}`, []int{7, 3, 5}},
	},
	{
		name: "chat", path: "/v1/chat/completions",
		body: func(prompt string, n int, stream bool) string {
			return fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"system","content":"be good"},{"role":"user","content":[{"type":"text","text":%q}]}%s],"tools":[{"type":"function","function":{"name":"bash","parameters":%s}}]}`,
				stream, prompt, pairs(n, `{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]},{"role":"tool","tool_call_id":"x","content":"ok"}`), toolSchema)
		},
		want: answer{"I look at it, with more than twelve characters.", "bash", `{"command":"go test"}`, []int{12, 3, 5}},
	},
	{
		name: "responses", path: "/v1/responses",
		body: func(prompt string, n int, stream bool) string {
			return fmt.Sprintf(`{"model":"m","stream":%v,"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"be good"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}%s],"tools":[{"type":"function","name":"exec_command","parameters":%s},{"type":"web_search"}]}`,
				stream, prompt, pairs(n, `{"type":"reasoning"},{"type":"function_call","call_id":"x","name":"exec_command","arguments":"{}"},{"type":"function_call","call_id":"y","name":"exec_command","arguments":"{}"},{"type":"function_call_output","call_id":"x","output":"ok"},{"type":"function_call_output","call_id":"y","output":"ok"}`), toolSchema)
		},
		want: answer{"I look at it, with more than twelve characters.", "exec_command", `{"cmd":"go test"}`, []int{12, 3, 5}},
	},
	{
		name: "gemini", path: "/v1beta/models/m:%s", ways: [2]string{"generateContent", "streamGenerateContent"},
		body: func(prompt string, n int, _ bool) string {
			return fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":%q}]}%s],"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":%s}]}]}`,
				prompt, pairs(n, `{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{}}}]}`), toolSchema)
		},
		want: answer{"I look at it, with more than twelve characters.", "run_shell_command", `{"command":"go test"}`, []int{12, 3, 5}},
	},
}

func (c client) url(s *Server, stream bool) string {
	if c.ways[0] == "" {
		return s.URL() + c.path
	}
	way := c.ways[0]
	if stream {
		way = c.ways[1]
	}
	return s.URL() + fmt.Sprintf(c.path, way)
}

// collect walks through everything that was sent and adds up what a client sees.
func collect(t *testing.T, name, body string) answer {
	t.Helper()
	var a answer
	var objects []string
	if strings.HasPrefix(body, "{") {
		objects = []string{body}
	}
	for sc := bufio.NewScanner(strings.NewReader(body)); sc.Scan(); {
		if data, ok := strings.CutPrefix(sc.Text(), "data: "); ok && data != "[DONE]" {
			objects = append(objects, data)
		}
	}
	for _, data := range objects {
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		readers[name](&a, v)
	}
	return a
}

// at walks into a JSON value; a number is an index.
func at(v any, path ...any) any {
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			l, _ := v.([]any)
			if key >= len(l) {
				return nil
			}
			v = l[key]
		}
	}
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func compact(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func (a *answer) count(v ...any) {
	if v[0] == nil {
		return
	}
	a.tokens = nil
	for _, n := range v {
		f, _ := n.(float64)
		a.tokens = append(a.tokens, int(f))
	}
}

// readers read an object as the clients of an API do.
var readers = map[string]func(*answer, any){
	"anthropic": func(a *answer, v any) {
		blocks := list(at(v, "content"))
		if b := at(v, "content_block"); b != nil {
			blocks = []any{b}
		}
		for _, b := range blocks {
			a.text += text(at(b, "text"))
			if at(b, "type") == "tool_use" {
				a.call = text(at(b, "name"))
				if in := compact(at(b, "input")); in != "{}" {
					a.args = in
				}
			}
		}
		a.text += text(at(v, "delta", "text"))
		a.args += text(at(v, "delta", "partial_json"))
		u := at(v, "usage")
		a.count(at(u, "input_tokens"), at(u, "cache_read_input_tokens"), at(u, "output_tokens"))
	},
	"chat": func(a *answer, v any) {
		for _, way := range []string{"message", "delta"} {
			m := at(v, "choices", 0, way)
			a.text += text(at(m, "content"))
			a.call += text(at(m, "tool_calls", 0, "function", "name"))
			a.args += text(at(m, "tool_calls", 0, "function", "arguments"))
		}
		u := at(v, "usage")
		a.count(at(u, "prompt_tokens"), at(u, "prompt_tokens_details", "cached_tokens"), at(u, "completion_tokens"))
	},
	"responses": func(a *answer, v any) {
		response := v
		if r := at(v, "response"); r != nil {
			response = r
		}
		for _, item := range list(at(response, "output")) {
			if at(v, "type") == nil {
				a.text += text(at(item, "content", 0, "text"))
			}
			a.call += text(at(item, "name"))
			a.args += text(at(item, "arguments"))
		}
		a.text += text(at(v, "delta"))
		if at(v, "type") == "response.function_call_arguments.delta" {
			a.text = strings.TrimSuffix(a.text, text(at(v, "delta")))
		}
		u := at(response, "usage")
		a.count(at(u, "input_tokens"), at(u, "input_tokens_details", "cached_tokens"), at(u, "output_tokens"))
	},
	"gemini": func(a *answer, v any) {
		for _, p := range list(at(v, "candidates", 0, "content", "parts")) {
			a.text += text(at(p, "text"))
			if c := at(p, "functionCall"); c != nil {
				a.call, a.args = text(at(c, "name")), compact(at(c, "args"))
			}
		}
		u := at(v, "usageMetadata")
		a.count(at(u, "promptTokenCount"), at(u, "cachedContentTokenCount"), at(u, "candidatesTokenCount"))
	},
}

// each runs a test for every API, with a stream and without.
func each(t *testing.T, test func(t *testing.T, c client, stream bool)) {
	for _, c := range clients {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", c.name, stream), func(t *testing.T) { test(t, c, stream) })
		}
	}
}

func TestAnswers(t *testing.T) {
	step := Step{
		Text: "I look at it, with more than twelve characters.", Do: []Action{{Sh: "go test"}},
		Usage: &Usage{Input: 7, CacheRead: 3, CacheWrite: 2, Output: 5},
	}
	s := start(t, Options{Scenarios: map[string]Scenario{"look": {Parts: [][]Step{{{Text: "first part"}}, {{Text: "first step"}, step}}}}})
	each(t, func(t *testing.T, c client, stream bool) {
		code, _, body := post(t, c.url(s, stream), c.body("[[mock:look]] Iteration 2 of 3.", 1, stream))
		if code != http.StatusOK {
			t.Fatalf("status %d: %s", code, body)
		}
		if got := collect(t, c.name, body); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("answer\n%v, want\n%v, in\n%s", got, c.want, body)
		}
		if streamed := strings.HasPrefix(body, "event:") || strings.HasPrefix(body, "data:"); streamed != stream {
			t.Errorf("a stream: %v, want %v", streamed, stream)
		}
	})
	last := s.Requests()[len(s.Requests())-1]
	got := []any{last.Scenario, last.Part, last.Step, last.Side, last.Status, last.Tools, last.Calls, strings.TrimSpace(last.Prompt)}
	want := []any{"look", 2, 1, false, 200, []string{"run_shell_command"}, []string{"run_shell_command"}, "[[mock:look]] Iteration 2 of 3."}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

func TestRefusesTheFirstTimes(t *testing.T) {
	for _, tt := range []struct {
		status int
		kinds  map[string]string // a word of the error by API
	}{
		{http.StatusTooManyRequests, map[string]string{"anthropic": "rate_limit_error", "chat": "rate_limit_exceeded", "responses": "rate_limit_exceeded", "gemini": "RESOURCE_EXHAUSTED"}},
		{http.StatusUnauthorized, map[string]string{"anthropic": "authentication_error", "chat": "invalid_api_key", "responses": "invalid_api_key", "gemini": "UNAUTHENTICATED"}},
		{http.StatusInternalServerError, map[string]string{"anthropic": "api_error", "chat": "server_error", "responses": "server_error", "gemini": "INTERNAL"}},
	} {
		each(t, func(t *testing.T, c client, stream bool) {
			f := &Failure{Status: tt.status, Times: 2, Headers: map[string]string{"Retry-After": "1"}, Message: "not now"}
			s := start(t, Options{Default: "no", Scenarios: map[string]Scenario{"no": {Parts: [][]Step{{{Text: "now", Failure: f}}}}}})
			var got []int
			for range 3 {
				code, header, body := post(t, c.url(s, stream), c.body("do it", 0, stream))
				got = append(got, code)
				if code != tt.status {
					continue
				}
				if header.Get("Retry-After") != "1" || !strings.Contains(body, "not now") || !strings.Contains(body, tt.kinds[c.name]) {
					t.Errorf("refused by %v %s, want Retry-After, %q and %q", header, body, "not now", tt.kinds[c.name])
				}
			}
			if want := []int{tt.status, tt.status, 200}; !slices.Equal(got, want) {
				t.Errorf("status %v, want %v", got, want)
			}
		})
	}
}

func TestRecovers(t *testing.T) {
	s := start(t, Options{Default: "ill", Scenarios: map[string]Scenario{"ill": {Parts: [][]Step{{
		{Text: "well", Hang: true, Cut: true, Failure: &Failure{Status: 500}},
	}}}}})
	s.Recover()
	each(t, func(t *testing.T, c client, stream bool) {
		code, _, body := post(t, c.url(s, stream), c.body("do it", 0, stream))
		if got := collect(t, c.name, body).text; code != http.StatusOK || got != "well" {
			t.Errorf("status %d, %q, want 200, well", code, got)
		}
	})
}

func TestCutsStreams(t *testing.T) {
	s := start(t, Options{Default: "cut", Scenarios: map[string]Scenario{"cut": {Parts: [][]Step{{{Text: "half of", Cut: true}}}}}})
	each(t, func(t *testing.T, c client, stream bool) {
		res, err := http.Post(c.url(s, stream), "application/json", strings.NewReader(c.body("do it", 0, stream)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if errors.Is(err, io.ErrUnexpectedEOF) != stream {
			t.Errorf("reading ended with %v; a stream breaks and nothing else", err)
		}
		if !bytes.Contains(data, []byte("half")) {
			t.Errorf("no text came before: %s", data)
		}
	})
}

func TestHangsUntilTheClientGoesOrTheServerEnds(t *testing.T) {
	s := start(t, Options{Default: "hang", Scenarios: map[string]Scenario{"hang": {Parts: [][]Step{{{Hang: true}}}}}})
	ask := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/v1/messages", strings.NewReader(clients[0].body("do it", 0, true)))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				res.Body.Close()
			}
			done <- err
		}()
		return done
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, leave := context.WithCancel(ctx)
	first := ask(client)
	if _, err := s.Wait(ctx, func(r Request) bool { return r.Scenario == "hang" && r.Status == 0 }); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that left got %v", err)
	}
	second := ask(ctx)
	if _, err := s.Wait(ctx, func(Request) bool { return len(s.Requests()) == 2 }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err == nil || ctx.Err() != nil {
		t.Errorf("the client that stayed got %v", err)
	}
}

func TestWaitGivesUp(t *testing.T) {
	s := start(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Wait(ctx, func(Request) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait ended with %v", err)
	}
}

func TestWhatNoScenarioIsAbout(t *testing.T) {
	s := start(t, Options{Scenarios: map[string]Scenario{"a": {}}})
	for _, tt := range []struct {
		name, method, path, body string
		code                     int
		want                     string
	}{
		{"models", http.MethodGet, "/v1/models", "", 200, "mock-model"},
		{"tokens", http.MethodPost, "/v1/messages/count_tokens", `{"a":"bcdefghi"}`, 200, `"input_tokens":4`},
		{"gemini's tokens", http.MethodPost, "/v1beta/models/m:countTokens", `{"a":"bcdefghi"}`, 200, `"totalTokens":4`},
		{"alive", http.MethodHead, "/", "", 200, ""},
		{"elsewhere", http.MethodGet, "/v1/account", "", 404, "/v1/account"},
		{"no JSON", http.MethodPost, "/v1/messages", "hello", 400, "read a Messages request"},
		{"no scenario", http.MethodPost, "/v1/messages", clients[0].body("[[mock:b]]", 0, false), 400, `there is no scenario \"b\"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, s.URL()+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "hush")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			data, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.code || !strings.Contains(string(data), tt.want) {
				t.Errorf("status %d, %s; want %d, %s", res.StatusCode, data, tt.code, tt.want)
			}
			last := s.Requests()[len(s.Requests())-1]
			if last.Status != tt.code || last.Header.Get("X-Api-Key") != "[masked]" {
				t.Errorf("kept status %d and key %q, want %d and none", last.Status, last.Header.Get("X-Api-Key"), tt.code)
			}
		})
	}
}

func TestSideRequestsTakeNothingOfTheScript(t *testing.T) {
	once := &Failure{Status: 429, Times: 1}
	s := start(t, Options{Default: "a", Scenarios: map[string]Scenario{
		"a": {Parts: [][]Step{{{Text: "the task", Failure: once}}}}, "dead": {Parts: [][]Step{{{Failure: &Failure{Status: 500}}}}},
	}})
	ask := func(prompt, tools string) (int, string) {
		code, _, body := post(t, s.URL()+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]%s}`, prompt, tools))
		return code, collect(t, "chat", body).text
	}
	const tools = `,"tools":[{"type":"function","function":{"name":"bash"}}]`
	for i, tt := range []struct {
		prompt, tools string
		code          int
		text          string
	}{{"a title for it", "", 200, "Title"}, {"do it", tools, 429, ""}, {"do it", tools, 200, "the task"}, {"[[mock:dead]] a title", "", 500, ""}} {
		if code, text := ask(tt.prompt, tt.tools); code != tt.code || text != tt.text {
			t.Errorf("%d: %d %q, want %d %q", i, code, text, tt.code, tt.text)
		}
	}
	_, _, body := post(t, s.URL()+"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"who is next"}]}],"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"properties":{"next":{"type":"string","enum":["model","user"]},"sure":{"type":"BOOLEAN"},"n":{"type":"integer"},"l":{"type":"array"},"why":{"type":"string"}}}}}`)
	if got, want := collect(t, "gemini", body).text, `{"l":[],"n":1,"next":"user","sure":false,"why":"mock"}`; got != want {
		t.Errorf("an object for a schema: %s, want %s", got, want)
	}
}

func TestListensOnTheLoopbackAlone(t *testing.T) {
	if s, err := Start(Options{Addr: "0.0.0.0:0"}); err == nil {
		s.Close()
		t.Error("it listens to the world")
	} else if !strings.Contains(err.Error(), "127.0.0.1:0") {
		t.Errorf("%v names no remedy", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "NAME.json") {
		t.Errorf("an empty folder: %v", err)
	}
	write("slow.json", `{"parts":[[{"text":"wait","delay":"1m30s","do":[{"edits":[{"path":"a","old":"b","new":"c"}]}]}]],"repeat":true}`)
	got, err := Load(dir)
	want := Scenario{Parts: [][]Step{{{Text: "wait", Delay: Duration(90 * time.Second), Do: []Action{{Edits: []Edit{{"a", "b", "c"}}}}}}}, Repeat: true}
	if err != nil || compact(got["slow"]) != compact(want) {
		t.Errorf("got %s, %v", compact(got), err)
	}
	for name, text := range map[string]string{"unknown field": `{"parts":[[{"txet":"a"}]]}`, "no unit": `{"parts":[[{"delay":"5"}]]}`, "two": `{} {}`} {
		write("slow.json", text)
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "slow.json") {
			t.Errorf("%s: %v, want an error that names the file", name, err)
		}
	}
}
