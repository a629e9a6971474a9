package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Conversation is a message in the format that agents use to talk to each other, as in
//
//	{"role": "user", "content": "…", "sender": "…", "metadata": {"hook_name": "post_iteration", …}}
//
// The request is in the metadata. An answer to such a message has the same format, with a
// message of this package as its metadata.
type Conversation struct {
	Role      string    `json:"role"` // user or assistant
	Content   string    `json:"content"`
	Metadata  any       `json:"metadata"` // fields of the request, or a message of this package
	Timestamp time.Time `json:"timestamp"`
	Sender    string    `json:"sender"`
}

// hookKinds maps the hook_name in the metadata of a conversation to the kind of the request.
var hookKinds = map[string]Kind{
	"pre_loop": KindBaseline, "loop_start": KindBaseline,
	"post_iteration": KindIteration,
	"loop_decision":  KindDecision,
	"post_loop":      KindDecision, "loop_complete": KindDecision,
}

// unwrapConversation converts a conversation to the fields of a plain message. It moves the
// metadata to the top level, replaces hook_name by the type, and unpacks inputs.
//
// The second result is the baseline that comes with an iteration, for a loop that has none yet;
// nil if there is none.
func unwrapConversation(raw map[string]json.RawMessage) (map[string]json.RawMessage, json.RawMessage, error) {
	var c struct {
		Role, Content, Sender string
		Timestamp             *time.Time
		Metadata              map[string]json.RawMessage
	}
	if err := decodeStrict(raw, &c); err != nil {
		return nil, nil, err
	}

	out := c.Metadata
	var hook string
	if text, ok := out["hook_name"]; ok {
		if err := json.Unmarshal(text, &hook); err != nil {
			return nil, nil, invalid("hook_name: %v", err)
		}
		delete(out, "hook_name")
		kind, known := hookKinds[hook]
		if !known {
			return nil, nil, invalid("hook_name is %q: give loop_start, post_iteration, loop_decision or loop_complete", hook)
		}
		out["type"] = quoteJSON(string(kind))
		if hook == "post_loop" || hook == "loop_complete" {
			out["complete"] = json.RawMessage("true")
		}
	}

	if c.Timestamp != nil && out["timestamp"] == nil {
		out["timestamp"] = raw["timestamp"]
	}
	baseline, err := unwrapInputs(out, hookKinds[hook])
	return out, baseline, err
}

// unwrapInputs moves the fields of "inputs" to the top level of the message. The field "current",
// or "baseline" in a request of that kind, becomes "metrics". It returns the field "baseline" of
// an iteration, nil if there is none.
func unwrapInputs(out map[string]json.RawMessage, kind Kind) (baseline json.RawMessage, err error) {
	text, ok := out["inputs"]
	if !ok {
		return nil, nil
	}

	delete(out, "inputs")
	var in map[string]json.RawMessage
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, invalid("inputs: %v", err)
	}

	current := "current"
	if kind == KindBaseline {
		current = "baseline"
	}

	if kind == KindIteration {
		baseline = in["baseline"]
		delete(in, "baseline")
	}

	if numbers, ok := in[current]; ok {
		in["metrics"] = numbers
		delete(in, current)
	}

	for name, value := range in {
		out[name] = value
	}
	return baseline, nil
}

// parseConversation parses the message in a conversation, and the baseline that comes with it.
func parseConversation(raw map[string]json.RawMessage) (Message, error) {
	fields, baseline, err := unwrapConversation(raw)
	if err != nil {
		return Message{inConversation: true}, err
	}
	m, err := ParseMessage(fields)
	m.inConversation = true
	if baseline == nil || err != nil {
		return m, err
	}
	var numbers map[string]json.RawMessage
	if err := json.Unmarshal(baseline, &numbers); err != nil {
		return m, invalid("inputs.baseline: %v", err)
	}
	first, err := ParseMessage(numbers)
	first.Type, first.LoopID, first.Timestamp = KindBaseline, m.LoopID, m.Timestamp
	m.baseline = &first
	return m, err
}

// quoteJSON returns a text as a JSON string.
func quoteJSON(text string) json.RawMessage { b, _ := json.Marshal(text); return b }

// decodeStrict decodes fields into the struct that into points to. Unknown fields are errors.
func decodeStrict(raw map[string]json.RawMessage, into any) error {
	flat, err := json.Marshal(raw)
	if err != nil {
		return invalid("%v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(flat)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return invalid("%v", err)
	}
	return nil
}

// metricSections maps the JSON name of each metric to the section of a [Message] that has it, as
// in "test_count" to "testing". It is built from the tags of the structs.
var metricSections = func() map[string]string {
	out := map[string]string{}
	message := reflect.TypeFor[Message]()
	for _, section := range []string{"Testing", "Quality", "Codebase"} {
		f, _ := message.FieldByName(section)
		for field := range f.Type.Elem().Fields() {
			out[field.Tag.Get("json")] = strings.ToLower(section)
		}
	}
	return out
}()

// moveIntoSections moves metrics at the top level of a message into their sections, so that
// orchestrators may send {"test_count": 3} as well as {"testing": {"test_count": 3}}.
func moveIntoSections(raw map[string]json.RawMessage) error {
	moved := map[string]map[string]json.RawMessage{}
	for name, value := range raw {
		section, ok := metricSections[name]
		if !ok {
			continue
		}
		if moved[section] == nil {
			moved[section] = map[string]json.RawMessage{}
			if there := raw[section]; there != nil {
				if err := json.Unmarshal(there, new(moved[section])); err != nil {
					return invalid("%s: %v", section, err)
				}
			}
		}
		moved[section][name] = value
		delete(raw, name)
	}

	for section, fields := range moved {
		text, err := json.Marshal(fields)
		if err != nil {
			return invalid("%v", err)
		}
		raw[section] = text
	}
	return nil
}

// wrapAnswers wraps each answer in a [Conversation].
func wrapAnswers(answers []any, now time.Time) []any {
	out := make([]any, 0, len(answers))
	for _, a := range answers {
		out = append(out, Conversation{Role: "assistant", Content: summarizeAnswer(a), Metadata: a, Timestamp: now, Sender: "supervise"})
	}
	return out
}

// summarizeAnswer summarizes an answer in one line, "" for a message of an unknown type.
func summarizeAnswer(answer any) string {
	switch a := answer.(type) {
	case ProgressReport:
		if a.Metrics.Iteration == 0 {
			return "Baseline captured; " + a.Next
		}
		to := ""
		if a.Advice.Target != nil {
			to = fmt.Sprintf(" to iteration %d", *a.Advice.Target)
		}
		return fmt.Sprintf("Iteration %d: %s; %s%s: %s", a.Metrics.Iteration, a.Metrics.Class, a.Advice.Action, to, a.Advice.Reason)
	case RegressionAlert:
		return "REGRESSION DETECTED: " + cmp.Or(a.Regress, a.Severity.String())
	case BestIterationSelection:
		text := fmt.Sprintf("Selected iteration %d", a.Selected)
		if c := a.Comparison; c != nil {
			text += fmt.Sprintf(" (quality: %.2f vs final %.2f)", c.Selected, c.Final)
		}
		return text + ": " + a.Reason
	}
	return ""
}

// ReadMetrics parses the metrics in a JSON or YAML file. A text that starts with a brace is JSON.
func ReadMetrics(text []byte) (Message, error) {
	var raw map[string]json.RawMessage
	if trimmed := strings.TrimSpace(string(text)); !strings.HasPrefix(trimmed, "{") {
		var err error
		if text, err = yamlToJSON(text); err != nil {
			return Message{}, err
		}
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return Message{}, invalid("%v", err)
	}
	return ParseMessage(raw)
}

// yamlToJSON converts YAML to JSON. Aliases are refused, because a few of them can expand to more
// than the available memory.
func yamlToJSON(text []byte) ([]byte, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, invalid("neither JSON nor YAML: %v", err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, invalid("give one document, not %d", len(file.Docs))
	}
	if len(ast.Filter(ast.AliasType, file.Docs[0].Body)) > 0 {
		return nil, invalid("the YAML has an alias (*name): write the value")
	}
	out, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return out, nil
}
