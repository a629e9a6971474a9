package mockllm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// gemini is the API of Gemini; model and method are in the path.
type gemini struct {
	model  string
	stream bool
}

// geminiPart is a part of a turn.
type geminiPart struct {
	Text             string
	FunctionResponse json.RawMessage
}

func (g gemini) read(body []byte) (conversation, error) {
	var in struct {
		SystemInstruction struct{ Parts []geminiPart }
		Contents          []struct {
			Role  string
			Parts []geminiPart
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           schema
				ParametersJSONSchema schema `json:"parametersJsonSchema"`
			}
		}
		GenerationConfig struct {
			ResponseMimeType   string
			ResponseSchema     schema
			ResponseJSONSchema schema `json:"responseJsonSchema"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return conversation{}, fmt.Errorf("read a Gemini request: %w", err)
	}
	c := conversation{model: g.model, stream: g.stream, tools: map[string]tool{}}
	for _, t := range in.Contents {
		c.turns = append(c.turns, geminiTurn(t.Role, t.Parts))
	}
	for _, t := range in.Tools {
		for _, d := range t.FunctionDeclarations {
			params := d.Parameters.names()
			for name := range d.ParametersJSONSchema.names() {
				params[name] = true
			}
			c.tools[d.Name] = tool{kind: "function", params: params}
		}
	}
	if g := in.GenerationConfig; g.ResponseMimeType == "application/json" {
		c.object = &g.ResponseJSONSchema
		if c.object.Properties == nil {
			c.object = &g.ResponseSchema
		}
	}
	return c, nil
}

func geminiTurn(who string, parts []geminiPart) turn {
	t := turn{role: user}
	answer := false
	for _, p := range parts {
		if p.Text != "" {
			t.text += p.Text + "\n"
		}
		answer = answer || p.FunctionResponse != nil
	}
	switch {
	case who == "model":
		t.role = assistant
	case answer && !marker.MatchString(t.text):
		t.role = result
	}
	return t
}

func (gemini) fail(w http.ResponseWriter, f Failure) {
	status := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE",
	}[f.Status]
	writeJSON(w, f.Status, fields{"error": fields{"code": f.Status, "message": f.Message, "status": status}})
}

func (g gemini) reply(w http.ResponseWriter, c conversation, r reply) {
	answer := func(parts []any, finish any) fields {
		candidate := fields{"index": 0, "content": fields{"role": "model", "parts": parts}}
		if finish != nil {
			candidate["finishReason"] = finish
		}
		return fields{
			"candidates": []any{candidate}, "modelVersion": c.model, "responseId": r.id,
			"usageMetadata": fields{
				"promptTokenCount": r.usage.prompt(), "cachedContentTokenCount": r.usage.CacheRead,
				"candidatesTokenCount": r.usage.Output - r.usage.Reasoning, "thoughtsTokenCount": r.usage.Reasoning, "totalTokenCount": r.usage.total(),
			},
		}
	}
	calls := []any{}
	for _, call := range r.calls {
		calls = append(calls, fields{"functionCall": fields{"id": call.id, "name": call.name, "args": call.args}})
	}
	if !g.stream {
		parts := calls
		if r.text != "" {
			parts = append([]any{fields{"text": r.text}}, calls...)
		}
		writeJSON(w, http.StatusOK, answer(parts, "STOP"))
		return
	}
	s := newStream(w)
	for _, piece := range chunks(r.text) {
		s.send("", answer([]any{fields{"text": piece}}, nil))
	}
	if r.cut {
		cut()
	}
	if len(calls) == 0 {
		calls = append(calls, fields{"text": ""})
	}
	s.send("", answer(calls, "STOP"))
}
