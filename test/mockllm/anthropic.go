package mockllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) read(body []byte) (conversation, error) {
	var in struct {
		Model    string
		Stream   bool
		System   content
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct {
			Name   string
			Schema schema `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a Messages request: %w", err)
	}
	c := conversation{model: in.Model, stream: in.Stream, tools: map[string]tool{}, turns: []turn{{system, in.System.text}}}
	for _, m := range in.Messages {
		t := turn{text: m.Content.text}
		switch {
		case m.Role == "assistant":
			t.role = assistant
		case slices.Contains(m.Content.kinds, "tool_result") && !marker.MatchString(t.text):
			t.role = result
		}
		c.turns = append(c.turns, t)
	}
	for _, t := range in.Tools {
		c.tools[t.Name] = tool{kind: "function", params: t.Schema.names()}
	}
	return c, nil
}

func (anthropic) fail(w http.ResponseWriter, f Failure) {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden: "permission_error", http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}[f.Status]
	writeJSON(w, f.Status, fields{
		"type": "error", "error": fields{"type": cmp.Or(kind, "api_error"), "message": f.Message}, "request_id": "req_mock",
	})
}

func (anthropic) reply(w http.ResponseWriter, c conversation, r reply) {
	usage := fields{
		"input_tokens": r.usage.Input, "cache_creation_input_tokens": r.usage.CacheWrite,
		"cache_read_input_tokens": r.usage.CacheRead, "output_tokens": r.usage.Output,
	}
	stop := "end_turn"
	if len(r.calls) > 0 {
		stop = "tool_use"
	}
	message := func(content []any, stop any, usage fields) fields {
		return fields{
			"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": c.model, "content": content,
			"stop_reason": stop, "stop_sequence": nil, "usage": usage,
		}
	}
	if !c.stream {
		content := []any{}
		if r.text != "" {
			content = append(content, fields{"type": "text", "text": r.text})
		}
		for _, call := range r.calls {
			content = append(content, fields{"type": "tool_use", "id": "toolu_" + call.id, "name": call.name, "input": call.args})
		}
		writeJSON(w, http.StatusOK, message(content, stop, usage))
		return
	}
	begun := fields{}
	for k, v := range usage {
		begun[k] = v
	}
	begun["output_tokens"] = 1 // as the real one: the sum comes at the end
	s := newStream(w)
	s.send("message_start", fields{"type": "message_start", "message": message([]any{}, nil, begun)})
	anthropicBlocks(s, r)
	s.send("message_delta", fields{"type": "message_delta", "delta": fields{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	s.send("message_stop", fields{"type": "message_stop"})
}

// anthropicBlocks streams the text and the calls.
func anthropicBlocks(s stream, r reply) {
	n := 0
	block := func(start fields, deltas ...fields) {
		s.send("content_block_start", fields{"type": "content_block_start", "index": n, "content_block": start})
		for _, d := range deltas {
			s.send("content_block_delta", fields{"type": "content_block_delta", "index": n, "delta": d})
		}
		if r.cut {
			cut()
		}
		s.send("content_block_stop", fields{"type": "content_block_stop", "index": n})
		n++
	}
	if r.text != "" {
		var deltas []fields
		for _, piece := range chunks(r.text) {
			deltas = append(deltas, fields{"type": "text_delta", "text": piece})
		}
		block(fields{"type": "text", "text": ""}, deltas...)
	}
	for _, call := range r.calls {
		block(fields{"type": "tool_use", "id": "toolu_" + call.id, "name": call.name, "input": fields{}},
			fields{"type": "input_json_delta", "partial_json": call.arguments()})
	}
}
