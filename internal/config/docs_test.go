package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// paths lists the keys of a type as they are written in the documentation: those of a
// check, or of a rule, behind its section with a star.
func paths(t reflect.Type, before string, seen []reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(seen, t) || t.PkgPath() != reflect.TypeFor[Settings]().PkgPath() {
		return []string{before}
	}
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		if before != "" {
			name = before + "." + name
		}
		out = append(out, paths(f.Type, name, append(seen, t))...)
	}
	if len(out) == 0 {
		return []string{before}
	}
	return out
}

// Every key is documented.
func TestEveryKeyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	for _, path := range paths(reflect.TypeFor[Settings](), "", nil) {
		section, key, _ := strings.Cut(path, ".")
		last := path[strings.LastIndex(path, ".")+1:]
		switch {
		case strings.HasPrefix(path, "checks."):
			if rest := strings.SplitN(path, ".", 3); len(rest) == 3 {
				path = "checks.*." + rest[2]
			}
		case section == "rules":
			path = "rules.NAME"
		}
		written := strings.Contains(text, "`"+path+"`") || strings.Contains(text, "`"+path+":") ||
			section == "agent_persistence" && strings.Contains(text, last) ||
			section == "quality_weights" && strings.Contains(text, "`"+key+"`")
		if !written {
			t.Errorf("docs/configuration.md does not have `%s`", path)
		}
	}
}
