package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"supervise/internal/hook"
	"supervise/test/docs"
)

// TestPresetsAreDocumented compares the reference of the known agents with their files.
// What an agent reports of its usage is read from its sample.
func TestPresetsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| `--agent` | tested with | `--yolo` adds | `--session continue` | usage, while it runs | at its end | hooks |\n|---|---|---|---|---|---|---|\n")
	for _, name := range Load("").Names() {
		p := preset(t, name)
		running, end := usageOf(t, p)
		fmt.Fprintf(&b, "| [`%s`](../internal/agent/presets/%[1]s.yaml) | %s | %s | %s | %s | %s | %s |\n", p.Name, known(p), consent(p), cmp.Or(quoted(p.Resume), "no"), running, end, hooks(p))
	}
	docs.Block(t, "agents.md", "known agents", "./internal/agent", b.String())
}

// TestKeysAreDocumented compares the reference of the keys of a file. Their comments are
// its text.
func TestKeysAreDocumented(t *testing.T) {
	for block, in := range map[string]struct{ file, name string }{"preset keys": {"agent.go", "Preset"}, "rule keys": {"rules.go", "Rule"}} {
		var b strings.Builder
		b.WriteString("| key | meaning |\n|---|---|\n")
		for _, f := range fieldsOf(t, in.file, in.name) {
			tag, _ := strconv.Unquote(f.Tag.Value)
			key := reflect.StructTag(tag).Get("yaml")
			if key == "-" {
				continue
			}
			text := strings.TrimSpace(f.Doc.Text())
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("%s.%s: the comment is the text of the reference; it has to be one line, and is %q", in.name, key, text)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", key, text)
		}
		docs.Block(t, "agents.md", block, "./internal/agent", b.String())
	}
}

// fieldsOf are the fields of a struct that have tags.
func fieldsOf(t *testing.T, file, name string) (out []*ast.Field) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == name {
			for _, field := range spec.Type.(*ast.StructType).Fields.List { //nolint:forcetypeassert // it is one
				if field.Tag != nil {
					out = append(out, field)
				}
			}
		}
		return true
	})
	return out
}

// TestNeedsAreDocumented compares what programs are given in a sandbox that let their user
// choose a service. What one needs besides is in its file.
func TestNeedsAreDocumented(t *testing.T) {
	for _, name := range Load("").Names() {
		if n := preset(t, name).Needs(); len(n.Home) == 0 || len(n.Hosts) == 0 || len(n.Vars) == 0 {
			t.Errorf("%s: nothing is known of what it needs in a sandbox", name)
		}
	}
	docs.Block(t, "threat-model.md", "any model", "./internal/agent", fmt.Sprintf("%s and the variables %s.\n", quoted(modelHosts), quoted(modelVars)))
}

// known is which version was run, and where that is not the suite, what of it.
func known(p Preset) string {
	if p.Observed.Supervised {
		return p.Observed.Version
	}
	return strings.TrimPrefix(p.Observed.Version+", "+p.Observed.What, ", ")
}

func consent(p Preset) string {
	switch {
	case p.NeverAsks:
		return "nothing: it never asks"
	case p.RootVar != "":
		return quoted(p.Yolo) + "; as root only if `" + p.RootVar + "` is set"
	}
	return cmp.Or(quoted(p.Yolo), quoted(Preset{YoloEnv: p.YoloEnv}.Environ(nil, true))+" (environment)")
}

func hooks(p Preset) string {
	if len(hook.Events(hook.Client(p.Hooks))) > 0 {
		return "yes"
	}
	return "no"
}

func quoted(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, " ") + "`"
}

// usageOf reads what the agent reports before and with the last event of its sample.
func usageOf(t *testing.T, p Preset) (running, end string) {
	text, err := os.ReadFile(filepath.Join("testdata/samples", p.Name+"-edit-ok.jsonl"))
	switch {
	case err == nil:
	case !p.Observed.Supervised && p.HasReader() == p.Events.IsDefined():
		return "not tested", "not tested"
	case !p.Events.IsDefined():
		return "none", "none"
	default:
		t.Errorf("agent preset %s has no sample of its output: record %s-edit-ok.jsonl as internal/agent/testdata/README.md describes, and add it to TestSamples", p.Name, p.Name)
		return "", ""
	}
	text = bytes.TrimRight(text, "\n")
	return usageIn(p, text[:bytes.LastIndexByte(text, '\n')+1]), usageIn(p, append(text, '\n'))
}

func usageIn(p Preset, text []byte) string {
	r := p.NewReader(nil)
	_, _ = r.Write(text)
	_ = r.Close()
	switch u := r.Report().Usage; {
	case u.Tokens() == nil:
		return "none"
	case u.CostUSD != nil:
		return "tokens, cost"
	case u.Output == nil || *u.Output == 0:
		return "input tokens"
	default:
		return "tokens"
	}
}
