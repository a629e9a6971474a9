package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/measure"
	"supervise/snapshot"
	"supervise/test/docs"

	"github.com/google/go-cmp/cmp"
)

// A key is one line of the reference.
type key struct {
	path, kind, fallback, values, meaning string
}

// ranges are those that are in another package.
func ranges(name string) string {
	list := map[string][]string{"agents": agent.Load("").Names(), "runners": measure.Runners()}[name]
	if name == "actions" {
		for _, a := range detector.Actions() {
			list = append(list, string(a))
		}
	}
	if list == nil {
		return name
	}
	return strings.Join(list, "|")
}

// types are those of this package by name, with their comments.
type types map[string]*ast.StructType

func structs(t *testing.T) types {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := types{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					out[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return out
}

// walk lists the keys of a section. Named types are looked up, others stand where
// they are used.
func (all types) walk(t *testing.T, v reflect.Value, in *ast.StructType, before string) (out []key) {
	t.Helper()
	fields := map[string]*ast.Field{}
	for _, f := range in.Fields.List {
		for _, n := range f.Names {
			fields[n.Name] = f
		}
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		path := before + name
		node := fields[f.Name]
		switch inner, _ := node.Type.(*ast.StructType); {
		case inner != nil:
			out = append(out, all.walk(t, v.Field(i), inner, path+".")...)
		case f.Type == reflect.TypeFor[map[string]Rule]():
			out = append(out, all.walk(t, reflect.ValueOf(Rule{}), all["Rule"], path+".NAME.")...)
		case f.Type.Kind() == reflect.Struct:
			out = append(out, all.walk(t, v.Field(i), all[f.Type.Name()], path+".")...)
		default:
			k := key{path, kind(f), fallback(v.Field(i), f), ranges(f.Tag.Get("range")), strings.TrimSpace(node.Doc.Text())}
			if k.meaning == "" || strings.Contains(k.meaning, "\n") {
				t.Errorf("%s: the comment of %s.%s is the text of the reference; it has to be one line, and is %q", path, v.Type().Name(), f.Name, k.meaning)
			}
			out = append(out, k)
		}
		if f.Type == reflect.TypeFor[Checks]() {
			out = append(out, all.walk(t, reflect.ValueOf(Check{}), all["Check"], path+".*.")...)
		}
	}
	return out
}

// kind names what is written behind a key.
func kind(f reflect.StructField) string {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[OutputTimeout]():
		return "duration"
	case reflect.TypeFor[Argv]():
		return "command"
	case reflect.TypeFor[List]():
		return "checks"
	case reflect.TypeFor[Percent]():
		return "percent"
	case reflect.TypeFor[Parallel]():
		return "word, integer"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return "list of mappings"
		}
		return "list"
	case reflect.Map, reflect.Struct:
		return "mapping"
	default:
		if strings.Contains(ranges(f.Tag.Get("range")), "|") {
			return "word"
		}
		return "text"
	}
}

// fallback is the default as it is written in the file, or what its absence means.
func fallback(v reflect.Value, f reflect.StructField) string {
	if v.IsZero() {
		zero, said := f.Tag.Lookup("zero")
		switch {
		case said && zero == "free":
			return fmt.Sprintf("%d, at least %d %% of the disk", snapshot.DefaultMinFree>>20, snapshot.MinFreePercent)
		case said:
			return zero
		case v.Kind() == reflect.Bool:
			return "`false`"
		case v.Kind() == reflect.Pointer:
			return "not given"
		}
		return "none"
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return "`" + brief(d) + "`"
	}
	if v.Kind() == reflect.Slice {
		var words []string
		for i := range v.Len() {
			words = append(words, fmt.Sprint(v.Index(i)))
		}
		return "`[" + strings.Join(words, ", ") + "]`"
	}
	return fmt.Sprintf("`%v`", v)
}

// brief is a duration without its parts that are zero.
func brief(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if rest, ok := strings.CutSuffix(text, zero); ok && strings.HasSuffix(rest, map[string]string{"0s": "m", "0m": "h"}[zero]) {
			text = rest
		}
	}
	return text
}

func reference(t *testing.T) []key {
	t.Helper()
	all := structs(t)
	return all.walk(t, reflect.ValueOf(Default()), all["Settings"], "")
}

// TestReference compares the reference in docs/configuration.md with the settings.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("| key | type | default | values | meaning |\n|---|---|---|---|---|\n")
	for _, k := range reference(t) {
		values := k.values
		if strings.Contains(values, "|") {
			values = "`" + strings.ReplaceAll(values, "|", "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.path, k.kind, k.fallback, values, k.meaning)
	}
	docs.Block(t, "configuration.md", "keys", "./internal/config", b.String())
}

// samples are values in a range, and values that are not.
func samples(values, kind string) (in, out []string) {
	switch values {
	case "≥ 0", "≥ 1", "≥ 2":
		n := int(values[len(values)-1] - '0')
		in, out = []string{fmt.Sprint(n), fmt.Sprint(n + 1)}, []string{fmt.Sprint(n - 1)}
	case "> 0":
		in, out = []string{"1"}, []string{"0", "-1"}
	case "auto, ≥ 1":
		return []string{"auto", "1"}, []string{"0", "some"}
	case "0–100":
		return []string{"0", "100"}, []string{"-0.1", "100.1"}
	case "> 0, ≤ 1":
		return []string{"0.001", "1"}, []string{"0", "1.01"}
	case "≥ 0, < 1":
		return []string{"0", "0.3"}, []string{"-0.1", "1"}
	case "https://… or http://…":
		return []string{"https://example.com/x"}, []string{"example.com", "ftp://example.com"}
	default:
		return strings.Split(values, "|"), []string{"nonsense"}
	}
	if kind == "duration" {
		for _, list := range [][]string{in, out} {
			for i := range list {
				list[i] += "s"
			}
		}
	}
	return in, out
}

// file is a configuration with one key, and what the key needs in addition.
func file(k key, value string) string {
	switch last := k.path[strings.LastIndex(k.path, ".")+1:]; {
	case strings.HasPrefix(k.path, "checks.*."):
		return fmt.Sprintf("checks: {test: {command: \"true\", %s: %s}}\n", last, value)
	case k.path == "rules.NAME.action":
		return fmt.Sprintf("rules: {coverage_regression: {severity: critical, action: %s}}\n", value)
	case strings.HasPrefix(k.path, "rules.NAME."):
		return fmt.Sprintf("rules: {coverage_regression: {%s: %s}}\n", last, value)
	case k.path == "session":
		return fmt.Sprintf("agent: claude\nsession: %s\n", value)
	case k.path == "until" && value == "command":
		return "until: make done\n"
	case k.path == "error_count":
		return fmt.Sprintf("error_count: [%s]\n", value)
	}
	var b strings.Builder
	parts := strings.Split(k.path, ".")
	for i, p := range parts {
		fmt.Fprintf(&b, "\n%s%s:", strings.Repeat("  ", i), p)
	}
	return strings.TrimPrefix(b.String(), "\n") + " " + value + "\n"
}

// What the reference says a value may be is what is accepted, and nothing else.
func TestRanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	for _, k := range reference(t) {
		if k.values == "" {
			continue
		}
		in, out := samples(k.values, k.kind)
		for i, value := range append(in, out...) {
			text := file(k, value)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path, true)
			switch {
			case i < len(in) && err != nil:
				t.Errorf("%s: %s is in its range, %s: %v", k.path, value, k.values, err)
			case i >= len(in) && err == nil:
				t.Errorf("%s: %s is accepted, and outside of its range, %s", k.path, value, k.values)
			case i >= len(in) && !strings.Contains(err.Error(), "["):
				t.Errorf("%s: %s: the error does not say where: %v", k.path, value, err)
			}
		}
	}
}

// The comments of the file that init writes show the defaults, but for these keys,
// which have none and are shown with an example.
func TestInitShowsTheDefaults(t *testing.T) {
	_, settings, _ := strings.Cut(footer, "\n# limits:")
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte("limits:"+strings.ReplaceAll(settings, "\n# ", "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path, true)
	if err != nil {
		t.Fatal(err)
	}
	all := structs(t)
	var examples []string
	shown := all.walk(t, reflect.ValueOf(s), all["Settings"], "")
	for i, k := range reference(t) {
		if shown[i].fallback != k.fallback {
			examples = append(examples, k.path)
		}
	}
	want := strings.Fields(`limits.max_time limits.iteration_timeout limits.idle_timeout limits.first_output_timeout
		limits.max_cost limits.max_tokens limits.max_window agent model completion_promise quality_target min_change_coverage allow_remove product hidden_tests.dir reviewer.agent
		snapshot.min_free_mb approval_timeout notify.webhook notify.command`)
	if diff := cmp.Diff(want, examples); diff != "" {
		t.Errorf("-examples +shown with another value than the default:\n%s", diff)
	}
}
