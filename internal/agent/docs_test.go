package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/internal/hook"
	"supervise/test/docs"
)

// TestPresetsAreDocumented compares the reference of the known agents with the
// presets. What an agent reports of its usage is read from its sample.
func TestPresetsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| `--agent` | known | command | `--yolo` adds | long prompts | `--session continue` | usage, while it runs | usage, at its end | hooks |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range Load("").Names() {
		p := preset(t, name)
		running, end := usageOf(t, p)
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s | %s | %s | %s | %s |\n", p.Name, known(p),
			strings.Join(p.Command(Launch{Prompt: "PROMPT", File: "FILE"}).Args, " "), consent(p), longPrompt(p),
			cmp.Or(quoted(p.Resume), "no"), running, end, hooks(p))
	}
	docs.Block(t, "agents.md", "known agents", "./internal/agent", b.String())
}

// TestNeedsAreDocumented compares the table of what programs are given in a sandbox.
func TestNeedsAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| agent | files in the home folder | hosts | variables |\n|---|---|---|---|\n")
	for _, name := range Load("").Names() {
		p := preset(t, name)
		n := p.Needs()
		if len(n.Home) == 0 || len(n.Hosts) == 0 || len(n.Vars) == 0 {
			t.Errorf("%s: nothing is known of what it needs in a sandbox", p.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, quoted(n.Home), quoted(n.Hosts), quoted(n.Vars))
	}
	docs.Block(t, "threat-model.md", "needs", "./internal/agent", b.String())
}

// known is of which version, and by what.
func known(p Preset) string {
	return strings.TrimPrefix(p.Observed.Version+" "+p.Observed.What, " ")
}

func consent(p Preset) string {
	switch {
	case p.Always:
		return "nothing: it never asks"
	case p.Root != "":
		return quoted(p.Yolo) + "; as root only where `" + p.Root + "` is set"
	}
	return cmp.Or(quoted(p.Yolo), quoted(Preset{YoloEnv: p.YoloEnv}.Environ(nil, true))+" (environment)")
}

func longPrompt(p Preset) string {
	inv := p.Command(Launch{Prompt: strings.Repeat("x", MaxArgument+1), File: "FILE"})
	if inv.By == ByFile {
		return "file"
	}
	return "standard input"
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
	case !p.Observed.Supervised && p.IsRead() == p.Events.Any():
		return "not tried", "not tried"
	case !p.Events.Any():
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
