package mockllm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// responses is the Responses API of OpenAI.
type responses struct{}

func (responses) read(body []byte) (conversation, error) {
	var in struct {
		Model  string
		Stream bool
		Input  json.RawMessage
		Tools  []struct {
			Type, Name string
			Parameters schema
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a Responses request: %w", err)
	}
	turns, err := responsesTurns(in.Input)
	if err != nil {
		return conversation{}, fmt.Errorf("read the input of a Responses request: %w", err)
	}
	c := conversation{model: in.Model, stream: in.Stream, turns: turns, tools: map[string]tool{}}
	for _, t := range in.Tools {
		c.tools[cmp.Or(t.Name, t.Type)] = tool{kind: t.Type, params: t.Parameters.names()}
	}
	return c, nil
}

// responsesTurns reads the input, which is a text or a list of items. Items of
// other kinds, such as reasoning, are no turns.
func responsesTurns(input json.RawMessage) ([]turn, error) {
	if len(input) > 0 && input[0] == '"' {
		t := turn{role: user}
		return []turn{t}, json.Unmarshal(input, &t.text)
	}
	var items []struct {
		Type, Role string
		Content    json.RawMessage
	}
	if err := json.Unmarshal(input, &items); err != nil {
		return nil, err
	}
	var out []turn
	for _, it := range items {
		switch it.Type {
		case "function_call", "custom_tool_call", "local_shell_call":
			out = append(out, turn{role: assistant})
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			out = append(out, turn{role: result})
		case "", "message":
			var text content
			if err := json.Unmarshal(it.Content, &text); err != nil {
				return nil, err
			}
			r, ok := map[string]role{"user": user, "assistant": assistant}[it.Role]
			if !ok {
				r = system
			}
			out = append(out, turn{r, text.text})
		}
	}
	return out, nil
}

func (responses) fail(w http.ResponseWriter, f Failure) { openAIFailure(w, f) }

func (responses) reply(w http.ResponseWriter, c conversation, r reply) {
	usage := fields{
		"input_tokens": r.usage.prompt(), "input_tokens_details": fields{"cached_tokens": r.usage.CacheRead},
		"output_tokens": r.usage.Output, "output_tokens_details": fields{"reasoning_tokens": r.usage.Reasoning},
		"total_tokens": r.usage.total(),
	}
	response := func(status string, items []any, usage any) fields {
		return fields{
			"id": "resp_" + r.id, "object": "response", "created_at": 1, "status": status, "model": c.model, "output": items,
			"usage": usage, "error": nil, "incomplete_details": nil, "parallel_tool_calls": true, "tools": []any{},
			"tool_choice": "auto", "metadata": fields{},
		}
	}
	items := responsesItems(r)
	if !c.stream {
		writeJSON(w, http.StatusOK, response("completed", items, usage))
		return
	}
	s, n := newStream(w), 0
	send := func(kind string, v fields) {
		v["type"], v["sequence_number"] = kind, n
		n++
		s.send(kind, v)
	}
	send("response.created", fields{"response": response("in_progress", []any{}, nil)})
	for i, item := range items {
		responsesItem(send, i, item.(fields), r)
	}
	send("response.completed", fields{"response": response("completed", items, usage)})
}

// responsesItems are the text and the calls, finished.
func responsesItems(r reply) []any {
	items := []any{}
	if r.text != "" {
		items = append(items, fields{
			"type": "message", "id": "msg_" + r.id, "role": "assistant", "status": "completed",
			"content": []any{textPart(r.text)},
		})
	}
	for _, call := range r.calls {
		item := fields{"call_id": call.id, "status": "completed"}
		switch call.kind {
		case "custom":
			item["type"], item["id"], item["name"], item["input"] = "custom_tool_call", "ctc_"+call.id, call.name, call.args
		case "local_shell":
			item["type"], item["id"], item["action"] = "local_shell_call", "lsh_"+call.id, call.args
		default:
			item["type"], item["id"], item["name"], item["arguments"] = "function_call", "fc_"+call.id, call.name, call.arguments()
		}
		items = append(items, item)
	}
	return items
}

func textPart(text string) fields {
	return fields{"type": "output_text", "text": text, "annotations": []any{}}
}

// responsesItem streams one item, from its beginning to its end.
func responsesItem(send func(string, fields), i int, item fields, r reply) {
	begun := fields{}
	for k, v := range item {
		begun[k] = v
	}
	begun["status"] = "in_progress"
	about := func(more fields) fields {
		more["output_index"], more["item_id"] = i, item["id"]
		return more
	}
	switch item["type"] {
	case "message":
		begun["content"] = []any{}
		send("response.output_item.added", fields{"output_index": i, "item": begun})
		send("response.content_part.added", about(fields{"content_index": 0, "part": textPart("")}))
		for _, piece := range chunks(r.text) {
			send("response.output_text.delta", about(fields{"content_index": 0, "delta": piece}))
		}
		if r.cut {
			cut()
		}
		send("response.output_text.done", about(fields{"content_index": 0, "text": r.text}))
		send("response.content_part.done", about(fields{"content_index": 0, "part": textPart(r.text)}))
	case "function_call":
		begun["arguments"] = ""
		send("response.output_item.added", fields{"output_index": i, "item": begun})
		send("response.function_call_arguments.delta", about(fields{"delta": item["arguments"]}))
		send("response.function_call_arguments.done", about(fields{"arguments": item["arguments"]}))
	default:
		send("response.output_item.added", fields{"output_index": i, "item": begun})
	}
	send("response.output_item.done", fields{"output_index": i, "item": item})
}
