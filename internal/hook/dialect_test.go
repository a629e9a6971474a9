package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestDialects holds what is read of what each client says, and what each is
// answered.
func TestDialects(t *testing.T) {
	for _, client := range Clients() {
		t.Run(string(client), func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", string(client)+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var got bytes.Buffer
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				var m struct {
					Event string
					In    json.RawMessage
				}
				if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
					t.Fatal(err)
				}
				call, err := ReadCall(string(client), m.Event, m.In)
				if err != nil {
					t.Fatal(err)
				}
				describe(&got, call)
			}
			golden(t, filepath.Join("testdata", string(client)+".golden"), got.Bytes())
		})
	}
}

// describe writes a call and the answers to it.
func describe(w *bytes.Buffer, call Call) {
	text, _ := json.MarshalIndent(call, "", "  ")
	fmt.Fprintf(w, "== %s %s\n%s\n", call.Name, call.Tool, text)
	for _, d := range []Decision{
		{Verdict: Allow},
		{Verdict: Warn, Reason: "R", Context: "C"},
		{Verdict: Ask, Reason: "R", Context: "C"},
		{Verdict: Deny, Reason: "R", Context: "C"},
	} {
		fmt.Fprintf(w, "%s: %s\n", d.Verdict, bytes.TrimSpace(FormatAnswer(call, d)))
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, event, text, want string }{
		{"a misspelt event", "PreTooluse", `{}`, `no hook event "PreTooluse"`},
		{"no JSON", "PreToolUse", `nonsense`, "read the input of the claude hook PreToolUse"},
		{"nothing", "PreToolUse", ``, "read the input of the claude hook"},
		{"a tool input of another kind", "PreToolUse", `{"tool_name":"Edit","tool_input":[1]}`, "of the claude tool Edit"},
	} {
		_, err := ReadCall("claude", c.event, []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := ParseClient("aider"); err == nil {
		t.Error("hooks of aider are known")
	}
}

// A command may be the arguments of a program.
func TestReadArgv(t *testing.T) {
	call, err := ReadCall("codex", "PreToolUse", []byte(`{"tool_name":"shell","tool_input":{"command":["bash","-lc","rm -rf 'a b'"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `bash -lc 'rm -rf '\''a b'\'''`; call.Command != want || call.Kind != Shell {
		t.Errorf("got %s %q, want %q", call.Kind, call.Command, want)
	}
}
