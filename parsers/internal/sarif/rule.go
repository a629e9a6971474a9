package sarif

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// sarifTool describes the tool of a run: its driver, which has most rules, and
// its extensions.
type sarifTool struct {
	Driver     sarifComponent   `json:"driver"`
	Extensions []sarifComponent `json:"extensions"`
}

type sarifComponent struct {
	Name     string               `json:"name"`
	GUID     string               `json:"guid"`
	Rules    []sarifRule          `json:"rules"`
	Messages map[string]sarifText `json:"globalMessageStrings"`

	byID map[string]*sarifRule
}

type sarifRule struct {
	ID       string               `json:"id"`
	GUID     string               `json:"guid"`
	Config   sarifConfig          `json:"defaultConfiguration"`
	Messages map[string]sarifText `json:"messageStrings"`
	Short    sarifText            `json:"shortDescription"`
	Full     sarifText            `json:"fullDescription"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

func (t *sarifTool) index() {
	t.Driver.index()
	for i := range t.Extensions {
		t.Extensions[i].index()
	}
}

func (c *sarifComponent) index() {
	c.byID = make(map[string]*sarifRule, len(c.Rules))
	for i := range c.Rules {
		for _, id := range []string{c.Rules[i].ID, c.Rules[i].GUID} {
			if id != "" && c.byID[id] == nil {
				c.byID[id] = &c.Rules[i]
			}
		}
	}
}

var noRule = &sarifRule{}

// rule returns the rule that is referred to, or an empty one. A number counts
// if the rule there has the right name, a name in the named part of the tool
// first, then in all of them. Where nothing has the name, the number counts.
func (t *sarifTool) rule(ref sarifRuleRef) *sarifRule {
	c := t.component(ref.ToolComponent)
	numbered := noRule
	if i := ref.Index; i != nil && *i >= 0 && *i < len(c.Rules) {
		numbered = &c.Rules[*i]
		if ref.ID == "" || numbered.ID == ref.ID || strings.HasPrefix(ref.ID, numbered.ID+"/") {
			return numbered
		}
	}
	if r := c.find(ref); r != nil {
		return r
	}
	if r := t.Driver.find(ref); r != nil {
		return r
	}
	for i := range t.Extensions {
		if r := t.Extensions[i].find(ref); r != nil {
			return r
		}
	}
	return numbered
}

func (t *sarifTool) component(ref *sarifRuleRef) *sarifComponent {
	if ref == nil {
		return &t.Driver
	}
	for i := range t.Extensions {
		e := &t.Extensions[i]
		if ref.Index != nil && *ref.Index == i || ref.GUID != "" && ref.GUID == e.GUID || ref.Name != "" && ref.Name == e.Name {
			return e
		}
	}
	return &t.Driver
}

// find looks for the rule by its names; of a name like "CA1000/1" the first
// part is the rule's.
func (c *sarifComponent) find(ref sarifRuleRef) *sarifRule {
	for id := ref.ID; id != ""; {
		if r := c.byID[id]; r != nil {
			return r
		}
		i := strings.LastIndexByte(id, '/')
		id = id[:max(0, i)]
	}
	return c.byID[ref.GUID]
}

// file returns the path of a place: unchanged if it is absolute, else
// relative to the outermost of its bases.
func (r *sarifRun) file(p sarifPlace) string {
	if i := p.Index; p.URI == "" && i != nil && *i >= 0 && *i < len(r.artifacts) {
		p = r.artifacts[*i]
	}
	if p.URI == "" {
		return ""
	}
	uri := p.URI
	for base, n := p.Base, 0; base != "" && n < 8 && !parsed.Scheme.MatchString(uri); n++ {
		b, ok := r.bases[base]
		if !ok || parsed.Scheme.MatchString(b.URI) || strings.HasPrefix(b.URI, "/") || b.Base == "" {
			break
		}
		uri, base = strings.TrimSuffix(b.URI, "/")+"/"+uri, b.Base
	}
	return r.names.Of(parsed.URIPath(uri))
}

var placeholder = regexp.MustCompile(`\{(\d{1,3})\}`)

// fill puts the arguments of the message into text.
func (m *sarifMessage) fill(text string) string {
	if len(m.Arguments) > 0 {
		text = placeholder.ReplaceAllStringFunc(text, func(hole string) string {
			if n, err := strconv.Atoi(hole[1 : len(hole)-1]); err == nil && n < len(m.Arguments) {
				return m.Arguments[n]
			}
			return hole
		})
	}
	return textstream.ClipText(text)
}
