package mockllm

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

type role uint8

const (
	user role = iota
	assistant
	result // of a tool
	system
)

// turn is one entry of what a client sends of the conversation so far.
type turn struct {
	role role
	text string
}

// tool is what a client offers to the model.
type tool struct {
	kind   string          // "function", "custom" and others, of the Responses API
	params map[string]bool // names of the parameters
}

// conversation is a request of any API.
type conversation struct {
	model  string
	stream bool
	turns  []turn
	tools  map[string]tool
	object *schema // that the answer has to fit, if any
	dir    string  // where the client works: most tools want whole paths
}

// marker names the scenario in a prompt.
var marker = regexp.MustCompile(`\[\[mock:([A-Za-z0-9_.-]+)\]\]`)

// place is a position of a conversation in the script.
type place struct {
	scenario string // "" without a marker
	prompt   string // the turn that carries the marker
	part     int    // from 1
	step     int    // from 0: the answers since the marker
	side     bool   // nothing can be done with the answer but read it
}

// find looks for the newest marker and counts the answers behind it. Answers in a
// row are one: some APIs list each call of a tool by itself.
func (c conversation) find(part *regexp.Regexp) place {
	p := place{part: 1, side: len(c.tools) == 0 && !c.editsInText()}
	at := 0
	for i, t := range c.turns {
		if t.role != user {
			continue
		}
		if m := marker.FindAllStringSubmatch(t.text, -1); m != nil {
			p.scenario, p.prompt, at = m[len(m)-1][1], t.text, i
		}
	}
	if m := part.FindStringSubmatch(p.prompt); len(m) > 1 {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.part = n
		}
	}
	answered := false
	for _, t := range c.turns[min(at, len(c.turns)):] {
		if t.role == assistant && !answered {
			p.step++
		}
		answered = t.role == assistant
	}
	return p
}

// editsInText says whether the client reads edits from the text, as aider does,
// which offers no tools.
func (c conversation) editsInText() bool {
	for _, t := range c.turns {
		if t.role == system && strings.Contains(t.text, "SEARCH/REPLACE") {
			return true
		}
	}
	return false
}

// content is a text, or a list of parts of which some have one.
type content struct {
	text  string
	kinds []string
}

// UnmarshalJSON reads both forms; null is empty.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.kinds = append(c.kinds, p.Type)
		if p.Text != "" {
			c.text += p.Text + "\n"
		}
	}
	return nil
}

// schema is what is read of a JSON schema.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

func (s schema) names() map[string]bool {
	out := map[string]bool{}
	for name := range s.Properties {
		out[name] = true
	}
	return out
}

// example is a small object that fits a schema: some clients ask for one to choose
// a model or to learn who speaks next.
func (s schema) example() string {
	out := map[string]any{}
	for name, data := range s.Properties {
		var p struct {
			Type json.RawMessage `json:"type"` // a name, or a list of names
			Enum []any           `json:"enum"`
		}
		_ = json.Unmarshal(data, &p) // a schema may be just true: anything fits
		switch kind := strings.ToLower(string(p.Type)); {
		case len(p.Enum) > 0:
			out[name] = p.Enum[len(p.Enum)-1]
		case strings.Contains(kind, "number"), strings.Contains(kind, "integer"):
			out[name] = 1
		case strings.Contains(kind, "boolean"):
			out[name] = false
		case strings.Contains(kind, "array"):
			out[name] = []any{}
		default:
			out[name] = "mock"
		}
	}
	data, _ := json.Marshal(out) // of what was decoded: it cannot fail
	return string(data)
}
