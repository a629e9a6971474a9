package sarif

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/parsers/internal/parsed"
)

// sarifTool describes the tool of a run: its driver, which has most of the rules, and its
// extensions.
type sarifTool struct {
	Driver     sarifComponent   `json:"driver"`
	Extensions []sarifComponent `json:"extensions"`
}

// sarifComponent is the driver of a tool or one of its extensions. byID has its rules by ID and
// by GUID.
type sarifComponent struct {
	Name     string               `json:"name"`
	GUID     string               `json:"guid"`
	Rules    []sarifRule          `json:"rules"`
	Messages map[string]sarifText `json:"globalMessageStrings"`

	byID map[string]*sarifRule
}

// sarifRule describes a rule: its level and the texts of its messages.
type sarifRule struct {
	ID       string               `json:"id"`
	GUID     string               `json:"guid"`
	Config   sarifConfig          `json:"defaultConfiguration"`
	Messages map[string]sarifText `json:"messageStrings"`
	Short    sarifText            `json:"shortDescription"`
	Full     sarifText            `json:"fullDescription"`
}

// sarifConfig has the level of a rule, "" if it is not set.
type sarifConfig struct {
	Level string `json:"level"`
}

// sarifText is a text of a rule.
type sarifText struct {
	Text string `json:"text"`
}

// index makes the rules of all components available by their IDs.
func (t *sarifTool) index() {
	t.Driver.index()
	for i := range t.Extensions {
		t.Extensions[i].index()
	}
}

// index sets byID. Of rules with the same ID, the first counts.
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

// noRule is the rule of a reference that leads to none.
var noRule = &sarifRule{}

// findRule returns the rule that is referred to, or an empty one. It prefers the rule with
// the index if that has the right name, then a rule with the name in the named component, in
// the driver and in the extensions, and last the rule with the index.
func (t *sarifTool) findRule(ref sarifRuleRef) *sarifRule {
	c := t.findComponent(ref.ToolComponent)
	indexed := noRule
	if i := ref.Index; i != nil && *i >= 0 && *i < len(c.Rules) {
		indexed = &c.Rules[*i]
		if ref.ID == "" || indexed.ID == ref.ID || strings.HasPrefix(ref.ID, indexed.ID+"/") {
			return indexed
		}
	}

	components := []*sarifComponent{c, &t.Driver}
	for i := range t.Extensions {
		components = append(components, &t.Extensions[i])
	}
	for _, c := range components {
		if r := c.ruleByName(ref); r != nil {
			return r
		}
	}
	return indexed
}

// findComponent returns the component that is referred to, by index, GUID or name. It is the
// driver if ref is nil or no extension fits.
func (t *sarifTool) findComponent(ref *sarifRuleRef) *sarifComponent {
	if ref == nil {
		return &t.Driver
	}
	for i := range t.Extensions {
		e := &t.Extensions[i]
		hasIndex := ref.Index != nil && *ref.Index == i
		hasName := ref.GUID != "" && ref.GUID == e.GUID || ref.Name != "" && ref.Name == e.Name
		if hasIndex || hasName {
			return e
		}
	}
	return &t.Driver
}

// ruleByName returns the rule with the ID or GUID, nil for none. Of an ID like "CA1000/1",
// the first part may be that of the rule.
func (c *sarifComponent) ruleByName(ref sarifRuleRef) *sarifRule {
	for id := ref.ID; id != ""; {
		if r := c.byID[id]; r != nil {
			return r
		}
		i := strings.LastIndexByte(id, '/')
		id = id[:max(0, i)]
	}
	return c.byID[ref.GUID]
}

// filePath returns the path of a place, "" if it has none. A relative path is joined with its
// bases, except for the outermost one, which is the project.
func (r *sarifRun) filePath(p sarifPlace) string {
	if i := p.Index; p.URI == "" && i != nil && *i >= 0 && *i < len(r.artifacts) {
		p = r.artifacts[*i]
	}
	if p.URI == "" {
		return ""
	}

	uri := p.URI
	for base, n := p.Base, 0; base != "" && n < 8 && !parsed.URISchemePattern.MatchString(uri); n++ {
		b, ok := r.bases[base]
		if !ok || parsed.URISchemePattern.MatchString(b.URI) || strings.HasPrefix(b.URI, "/") || b.Base == "" {
			break
		}
		uri, base = strings.TrimSuffix(b.URI, "/")+"/"+uri, b.Base
	}
	return r.names.Intern(parsed.URIPath(uri))
}

// placeholderPattern matches the place of an argument in a message: "{0}".
var placeholderPattern = regexp.MustCompile(`\{(\d{1,3})\}`)

// format replaces the placeholders in text by the arguments of the message. A placeholder
// without an argument stays.
func (m *sarifMessage) format(text string) string {
	if len(m.Arguments) > 0 {
		text = placeholderPattern.ReplaceAllStringFunc(text, func(placeholder string) string {
			if n, err := strconv.Atoi(placeholder[1 : len(placeholder)-1]); err == nil && n < len(m.Arguments) {
				return m.Arguments[n]
			}
			return placeholder
		})
	}
	return textstream.ClipText(text)
}
