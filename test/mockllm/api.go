package mockllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// api is one way to talk to a model.
type api interface {
	read(body []byte) (conversation, error)
	reply(w http.ResponseWriter, c conversation, r reply)
	fail(w http.ResponseWriter, f Failure)
}

// reply is an answer, before it is written as an API wants it.
type reply struct {
	id    string
	text  string
	calls []call
	cut   bool // a stream breaks behind the text
	usage Usage
}

// apiOf recognises by its path which API a request is for; nil is none.
func apiOf(r *http.Request) api {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		return nil
	case strings.HasSuffix(path, "/messages"):
		return anthropic{}
	case strings.HasSuffix(path, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		model, method, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], ":")
		return gemini{model: model, stream: strings.HasPrefix(method, "stream")}
	}
	return nil
}

// stream writes server-sent events, each at once.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return stream{w}
}

// send writes an event; without a name it has data alone.
func (s stream) send(name string, v any) {
	data, _ := json.Marshal(v) // of our own values: it cannot fail
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", data)
	s.flush()
}

func (s stream) flush() {
	_ = http.NewResponseController(s.w).Flush() // the client may be gone
}

// cut breaks the connection.
func cut() { panic(http.ErrAbortHandler) }

// chunks are the pieces in which a stream sends a text: within words, so that a
// client that takes a piece for a line is found out.
func chunks(text string) []string {
	var out []string
	r := []rune(text)
	for len(r) > 0 {
		n := min(12, len(r))
		out = append(out, string(r[:n]))
		r = r[n:]
	}
	return out
}
