package configtext

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"supervise/internal/regexp"
	"supervise/internal/tomlfile"
	"supervise/internal/xmlstream"
)

// readYAML reads YAML; false means that its syntax is invalid.
func (r *Reading) readYAML(text []byte) (ok bool) {
	// The parser is not ours and sees whatever an agent writes: a fault in it
	// must not end the loop.
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return false
	}
	for _, doc := range file.Docs {
		r.addYAMLNode("", doc.Body)
	}
	return true
}

// addYAMLNode adds the settings of a node and of those within it. key is the key of the node.
// Elements of a list have the identity of the element between brackets, or nothing.
func (r *Reading) addYAMLNode(key string, n ast.Node) {
	switch n := n.(type) {
	case nil:
	case *ast.MappingNode:
		for _, v := range n.Values {
			r.addYAMLNode(joinKey(key, yamlText(v.Key)), v.Value)
		}
	case *ast.MappingValueNode:
		r.addYAMLNode(joinKey(key, yamlText(n.Key)), n.Value)
	case *ast.SequenceNode:
		for _, v := range n.Values {
			r.addYAMLNode(key+"["+yamlIdentity(v)+"]", v)
		}
	case *ast.AnchorNode:
		r.addYAMLNode(key, n.Value)
	case *ast.TagNode:
		r.addYAMLNode(key, n.Value)
	case *ast.LiteralNode:
		r.addSetting(key, n.Value.Value, n.Start.Position.Line+1)
	default:
		if t := n.GetToken(); t != nil {
			r.addSetting(key, yamlText(n), t.Position.Line)
		}
	}
}

// yamlText returns the text of a scalar without its quotes, "" for other nodes.
func yamlText(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case nil:
		return ""
	default:
		if t := n.GetToken(); t != nil {
			return t.Value
		}
		return ""
	}
}

// yamlIdentity returns a name for a mapping in a list, from its id, name or command, so that a step
// of a workflow is the same step when others come before it. It returns "" for a value that has no
// name.
func yamlIdentity(n ast.Node) string {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	for _, name := range []string{"id", "name", "uses", "run", "repo"} {
		for _, v := range values {
			if yamlText(v.Key) == name {
				text, _, _ := strings.Cut(yamlText(v.Value), "@")
				text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
				return strings.NewReplacer(".", "", "[", "", "]", "").Replace(NormalizeKey(text))
			}
		}
	}
	return ""
}

// readXML reads the texts and attributes of XML as settings. A key has the names of the elements
// without the root; that of an attribute ends in "@" and its name. It is false if the syntax is
// invalid.
func (r *Reading) readXML(text []byte) bool {
	in := xmlstream.NewReader(bytes.NewReader(text))
	var path []string
	key := func() string { return strings.Join(path[min(1, len(path)):], ".") }
	start := 0
	for {
		t, err := in.Next()
		if err != nil {
			return errors.Is(err, io.EOF)
		}

		switch t.Kind {
		case xmlstream.Start:
			path, start = append(path, NormalizeKey(t.Name)), in.Line()
			for _, a := range t.Attrs {
				r.addSetting(key()+"@"+NormalizeKey(a.Name), a.Value, start)
			}
		case xmlstream.End:
			path = path[:max(0, len(path)-1)]
		case xmlstream.Text:
			value := strings.TrimSpace(t.Text)
			if value == "" {
				continue
			}
			r.addSetting(key(), value, start)
			// The plugin is named by an element within it.
			if n := len(path); n >= 2 && path[n-1] == "artifactid" && path[n-2] == "plugin" {
				path[n-2] = "plugin[" + NormalizeKey(value) + "]"
			}
		case xmlstream.Comment:
		}
	}
}

// readTOML reads TOML. Lines with mistakes are left out.
func (r *Reading) readTOML(text []byte) {
	doc, _ := tomlfile.Parse("", text)
	for _, e := range doc {
		if !e.Scalar {
			continue
		}
		key := ""
		for _, name := range e.Path {
			if name == tomlfile.Element {
				key += name
			} else {
				key = joinKey(key, name)
			}
		}
		r.addSetting(key, e.Value, e.Line)
	}
}

// sectionHeadRE matches the head of a section, as in "[tool:pytest] ; for CI".
var sectionHeadRE = regexp.MustCompile(`^\s*\[\s*([^\]]+?)\s*\]\s*([#;].*)?$`)

// readINI reads INI files: names and values in sections. A value continues in the indented lines
// below it.
func (r *Reading) readINI(text string) {
	section := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		l := strings.TrimRight(lines[i], " \t\r")
		if m := sectionHeadRE.FindStringSubmatch(l); m != nil {
			section = sectionKey(m[1])
			continue
		}

		trimmed := strings.TrimSpace(l)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
			continue
		}

		name, value, ok := cutAssignment(l)
		if !ok {
			continue
		}

		at := i + 1
		for ; isContinued(lines[i+1:]); i++ {
			value += "\n" + strings.TrimRight(lines[i+1], " \t\r")
		}
		r.addINIValue(joinKey(section, name), value, at)
	}
}

// isContinued reports whether the first of the lines belongs to the value before it. Such a line is
// indented, or blank and followed by an indented one.
func isContinued(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return l[0] == ' ' || l[0] == '\t'
		}
	}
	return false
}

// sectionKey returns the key of a section: "tool.pytest" for the head tool:pytest.
func sectionKey(head string) string {
	return NormalizeKey(strings.NewReplacer(`"`, "", "'", "", ":", ".", " ", ".").Replace(head))
}

// addINIValue adds a value and, as elements of a list, each of its words. Comments are left out. at
// is the number of its first line.
func (r *Reading) addINIValue(key, value string, at int) {
	var kept []string
	for i, l := range strings.Split(value, "\n") {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "#") || strings.HasPrefix(l, ";") {
			l = ""
		}
		if n := strings.Index(l, " #"); n >= 0 {
			l = strings.TrimSpace(l[:n])
		}
		kept = append(kept, l)
		for _, element := range strings.FieldsFunc(l, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
			r.addSetting(key+"[]", element, at+i)
		}
	}
	first := at
	for len(kept) > 1 && kept[0] == "" {
		kept, first = kept[1:], first+1
	}
	r.addSetting(key, unquote(strings.TrimRight(strings.Join(kept, "\n"), "\n")), first)
}
