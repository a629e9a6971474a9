package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files writes files of a user and returns their folder.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// complete is a file that has all that is asked for.
const complete = `observed: {what: manually}
arguments: [run, "{{yolo}}", "{{prompt}}"]
yolo: [--do-it]
prompt: ["{{prompt}}"]
install: get it
login: log in
`

// Every built-in file is valid, has the program of its name, and says what was run.
func TestBuiltIn(t *testing.T) {
	k := Load("")
	for _, name := range k.Names() {
		p, err := k.ByName(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Path != "" || p.Checksum != "" || !slices.Contains(p.Programs, name) {
			t.Errorf("%s: from %q, programs %q; Recognise looks for the program in the file of its name", name, p.Path, p.Programs)
		}
	}
}

// A user's files add agents, and replace or change built-in ones.
func TestOwnFiles(t *testing.T) {
	dir := files(t, map[string]string{
		"mine.yaml":   complete + "programs: [mine-cli, mine2]\nevents:\n  - when: {kind: end}\n    ends: ok\nlines:\n  - line: '^Quota used up until (?P<at>.*)'\n    ends: rate_limit\n    message: [line]\n",
		"work.yaml":   "like: claude\nprograms: [claude-work]\nobserved: {what: every day}\nenv: {CLAUDE_CONFIG_DIR: /work}\n",
		"gemini.yaml": complete,
		"notes.txt":   "no agent",
	})
	k := Load(dir)
	if names := k.Names(); !slices.Contains(names, "mine") || !slices.Contains(names, "work") || slices.Contains(names, "notes") || names[0] != "claude" {
		t.Errorf("names %q", names)
	}
	mine, err := k.ByName("mine")
	if err != nil || mine.Path != filepath.Join(dir, "mine.yaml") || len(mine.Checksum) != 64 {
		t.Fatalf("%+v, %v", mine, err)
	}
	if got := strings.Join(mine.Command(Launch{Prompt: "P", Yolo: true}).Args, " "); got != "mine-cli run --do-it P" {
		t.Errorf("command %s", got)
	}
	for text, want := range map[string]Outcome{`{"kind":"end"}`: OK, "Quota used up until 3pm": RateLimit, "{}": Crashed, "says: Quota used up until 3pm": Crashed} {
		r := mine.NewReader(nil)
		_, _ = r.Write([]byte(text + "\n"))
		if got := r.Report().Outcome(mine, Ending{ExitCode: 1}, true); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	work, err := k.ByName("work")
	if err != nil || work.Hooks != "claude" || work.Programs[0] != "claude-work" || work.Observed.Supervised || work.Env["CLAUDE_CONFIG_DIR"] != "/work" || work.Env["DISABLE_AUTOUPDATER"] != "" {
		t.Errorf("%+v, %v", work, err)
	}
	if gemini, err := k.ByName("gemini"); err != nil || gemini.Events.IsDefined() || gemini.Args[0] != "run" {
		t.Errorf("a file of the same name does not replace the built-in one: %+v, %v", gemini, err)
	}
	for program, want := range map[string]string{"/bin/mine2": "mine", "claude-work": "work", "claude": "claude", "gemini": "gemini", "run": ""} {
		if p, _ := k.Recognize([]string{program}); p.Name != want {
			t.Errorf("%s is taken for %q, want %q", program, p.Name, want)
		}
	}
}

// What is wrong with a file is said with its line and a remedy, and is wrong for that
// agent alone.
func TestBrokenFiles(t *testing.T) {
	for text, want := range map[string]string{
		complete + "yollo: [x]\n":                                        "[7:1] unknown field \"yollo\"|did you mean yolo?",
		complete + "zzzzzzzzzz: 1\n":                                     "the keys are in docs/agents.md",
		complete + "env: [A=1]\n":                                        "[7:6] expected a mapping",
		complete + "like: cluade\n":                                      `[7:1] like: there is no agent "cluade"; the agents are `,
		complete + "model: [--model, \"{{session}}\"]\n":                 "[7:1] model: {{session}} has no meaning here; the placeholders are {{model}}",
		strings.Replace(complete, ", \"{{prompt}}\"]", "]", 1):           "[2:1] arguments must have the element {{prompt}}",
		strings.Replace(complete, "prompt: [", "prompt: [x, -y] #", 1):   "[4:1] prompt must have either {{prompt}} or {{prompt_file}}",
		strings.Replace(complete, "yolo: [--do-it]", "", 1):              "set yolo or yolo_env, which make",
		strings.Replace(complete, "observed: {what: manually}", "", 1):   "observed.what must say how the program was tested",
		complete + "exit_codes: {3: sleepy}\n":                           "[7:1] exit_codes: there is no outcome sleepy; the outcomes are ok, auth",
		complete + "events: klaude\n":                                    "[7:1] events: there is no dialect klaude; the dialects are claude, gemini, pi, qwen",
		complete + "events:\n  - line: ^x\n    ends: ok\n":               "[8:5] events: a rule of events must have when",
		complete + "lines:\n  - line: x\n    ends: ok\n":                 "[8:5] lines: line must begin with ^",
		complete + "lines:\n  - line: ^x\n    ends: fine\n":              "[9:5] lines: there is no outcome fine",
		complete + "lines:\n  - line: ^(x\n":                             "is no pattern",
		complete + "events:\n  - when: {a: 1}\n    usage: {tokens: b}\n": "[9:5] events: usage has no tokens; it has input",
		complete + "events:\n  - when: {a: 1}\n    retry: true\n":        "[9:5] events: retry needs message or status",
		complete + "events:\n  - when: {a: 1}\n    edns: ok\n":           "did you mean ends?",
	} {
		dir := files(t, map[string]string{"mine.yaml": text})
		k := Load(dir)
		_, err := k.ByName("mine")
		for part := range strings.SplitSeq(want, "|") {
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "mine.yaml")) || !strings.Contains(err.Error(), part) {
				t.Errorf("%s\n%v\nwant %s", text[min(len(text), len(complete)-10):], err, part)
			}
		}
		if _, err := k.ByName("claude"); err != nil {
			t.Error(err)
		}
	}
}

// What a process has read of an agent stays: its files may be written to meanwhile.
func TestReadOnce(t *testing.T) {
	dir := files(t, map[string]string{"mine.yaml": complete})
	k := Load(dir)
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte("like: claude\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := k.ByName("mine"); err != nil || p.Args[0] != "run" {
		t.Errorf("%+v, %v", p, err)
	}
}
