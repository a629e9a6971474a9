package mockllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// chat is the Chat Completions API.
type chat struct{}

func (chat) read(body []byte) (conversation, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content content
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters schema
			}
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a Chat Completions request: %w", err)
	}
	c := conversation{model: in.Model, stream: in.Stream, tools: map[string]tool{}}
	roles := map[string]role{"user": user, "assistant": assistant, "tool": result, "function": result}
	for _, m := range in.Messages {
		r, ok := roles[m.Role]
		if !ok {
			r = system
		}
		c.turns = append(c.turns, turn{r, m.Content.text})
	}
	for _, t := range in.Tools {
		c.tools[t.Function.Name] = tool{kind: "function", params: t.Function.Parameters.names()}
	}
	return c, nil
}

func (chat) fail(w http.ResponseWriter, f Failure) { openAIFailure(w, f) }

// openAIFailure writes an error as both APIs of OpenAI do.
func openAIFailure(w http.ResponseWriter, f Failure) {
	type kind struct {
		name string
		code any
	}
	k := map[int]kind{
		http.StatusBadRequest: {"invalid_request_error", nil}, http.StatusUnauthorized: {"invalid_request_error", "invalid_api_key"},
		http.StatusForbidden: {"request_forbidden", "unsupported_country_region_territory"}, http.StatusNotFound: {"invalid_request_error", "model_not_found"},
		http.StatusTooManyRequests: {"rate_limit_exceeded", "rate_limit_exceeded"},
	}[f.Status]
	failure := fields{"message": f.Message, "type": cmp.Or(k.name, "server_error"), "param": nil, "code": k.code}
	maps.Copy(failure, f.Fields)
	writeJSON(w, f.Status, fields{"error": failure})
}

func (chat) reply(w http.ResponseWriter, c conversation, r reply) {
	usage := fields{
		"prompt_tokens": r.usage.prompt(), "completion_tokens": r.usage.Output, "total_tokens": r.usage.total(),
		"prompt_tokens_details":     fields{"cached_tokens": r.usage.CacheRead},
		"completion_tokens_details": fields{"reasoning_tokens": r.usage.Reasoning},
	}
	finish := "stop"
	var calls []any
	for i, call := range r.calls {
		finish = "tool_calls"
		calls = append(calls, fields{"index": i, "id": call.id, "type": "function", "function": fields{"name": call.name, "arguments": call.arguments()}})
	}
	head := func(object string, choices []any) fields {
		return fields{"id": "chatcmpl-" + r.id, "object": object, "created": 1, "model": c.model, "choices": choices}
	}
	if !c.stream {
		message := fields{"role": "assistant", "content": r.text}
		if calls != nil {
			message["tool_calls"] = calls
		}
		out := head("chat.completion", []any{fields{"index": 0, "message": message, "finish_reason": finish}})
		out["usage"] = usage
		writeJSON(w, http.StatusOK, out)
		return
	}
	s := newStream(w)
	send := func(delta fields, finish any) {
		s.send("", head("chat.completion.chunk", []any{fields{"index": 0, "delta": delta, "finish_reason": finish}}))
	}
	send(fields{"role": "assistant", "content": ""}, nil)
	for _, piece := range chunks(r.text) {
		send(fields{"content": piece}, nil)
	}
	if r.cut {
		cut()
	}
	for _, call := range calls {
		send(fields{"tool_calls": []any{call}}, nil)
	}
	send(fields{}, finish)
	last := head("chat.completion.chunk", []any{})
	last["usage"] = usage
	s.send("", last)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
