package mockllm

import (
	"fmt"
	"regexp"
	"testing"
)

// offer makes a set of tools: "name" or "name param param".
func offer(kind string, tools map[string][]string) map[string]tool {
	out := map[string]tool{}
	for name, params := range tools {
		t := tool{kind: kind, params: map[string]bool{}}
		for _, p := range params {
			t.params[p] = true
		}
		out[name] = t
	}
	return out
}

func TestActionsBecomeToolsOfTheClient(t *testing.T) {
	edit := Action{Edits: []Edit{{"calc.go", "a - b", "a + b"}}}
	write := Action{Write: &File{"NOTES.md", "done\n"}}
	sh := Action{Sh: "ls", Edits: edit.Edits}
	for _, tt := range []struct {
		name  string
		kind  string
		tools map[string][]string
		do    Action
		want  string
	}{
		{"claude runs", "function", map[string][]string{"Bash": {"command", "description"}}, sh, `Bash {"command":"ls","description":"run a command"}`},
		{"claude edits", "function", map[string][]string{"Edit": {"file_path", "old_string", "new_string"}, "Bash": nil}, edit, `Edit {"file_path":"/p/calc.go","new_string":"a + b","old_string":"a - b"}`},
		{"claude writes", "function", map[string][]string{"Write": {"file_path", "content"}}, write, `Write {"content":"done\n","file_path":"/p/NOTES.md"}`},
		{"codex runs", "function", map[string][]string{"exec_command": {"cmd"}}, sh, `exec_command {"cmd":"ls"}`},
		{"an older codex", "function", map[string][]string{"shell": {"command"}}, sh, `shell {"command":["bash","-lc","ls"]}`},
		{"the shell of the API", "local_shell", map[string][]string{"local_shell": nil}, sh, `local_shell {"command":["bash","-lc","ls"],"env":{},"type":"exec"}`},
		{"codex patches", "custom", map[string][]string{"apply_patch": nil}, edit, `apply_patch "*** Begin Patch\n*** Update File: calc.go\n@@\n-a - b\n+a + b\n*** End Patch\n"`},
		{"gemini edits", "function", map[string][]string{"replace": {"file_path", "old_string", "new_string", "instruction"}}, edit, `replace {"file_path":"/p/calc.go","instruction":"make this edit","new_string":"a + b","old_string":"a - b"}`},
		{"opencode edits", "function", map[string][]string{"edit": {"filePath", "oldString", "newString"}}, edit, `edit {"filePath":"/p/calc.go","newString":"a + b","oldString":"a - b"}`},
		{"pi edits", "function", map[string][]string{"edit": {"path", "edits"}}, edit, `edit {"edits":[{"newText":"a + b","oldText":"a - b"}],"path":"/p/calc.go"}`},
		{"pi edited", "function", map[string][]string{"edit": {"path", "oldText", "newText"}}, edit, `edit {"newText":"a + b","oldText":"a - b","path":"/p/calc.go"}`},
		{"cline runs", "function", map[string][]string{"run_commands": {"commands", "requires_approval"}}, sh, `run_commands {"commands":["ls"],"requires_approval":false}`},
		{"qwen runs", "function", map[string][]string{"run_shell_command": {"command", "is_background"}}, sh, `run_shell_command {"command":"ls","is_background":false}`},
		{"no shell", "function", map[string][]string{"edit": {"filePath", "oldString", "newString"}}, sh, `edit {"filePath":"/p/calc.go","newString":"a + b","oldString":"a - b"}`},
		{"a shell alone writes", "function", map[string][]string{"Bash": {"command"}}, write, "Bash " + `{"command":"cat \u003e 'NOTES.md' \u003c\u003c'MOCK_END'\ndone\nMOCK_END"}`},
		{"by its own name", "function", map[string][]string{"Bash": {"command"}}, Action{Raw: &RawCall{"TodoWrite", []byte(`{"todos":[]}`)}}, `TodoWrite {"todos":[]}`},
		{"nothing fits", "function", map[string][]string{"think": nil}, Action{Sh: "ls"}, `bash {"command":"ls"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conversation{tools: offer(tt.kind, tt.tools), dir: "/p"}
			calls, text := c.calls(Step{Text: "so", Do: []Action{tt.do}}, "id")
			if len(calls) != 1 || text != "so" {
				t.Fatalf("calls %v and text %q, want one call", calls, text)
			}
			if got := calls[0].name + " " + calls[0].arguments(); got != tt.want || calls[0].id != "id_0" {
				t.Errorf("call %s: %s, want %s", calls[0].id, got, tt.want)
			}
		})
	}
}

func TestActionsBecomeTextForAider(t *testing.T) {
	c := conversation{turns: []turn{{system, "Answer with SEARCH/REPLACE blocks."}}, dir: "/p"}
	calls, text := c.calls(Step{Text: "So.", Do: []Action{
		{Sh: "sed", Edits: []Edit{{"calc.go", "a - b", "a + b"}}}, {Write: &File{"NOTES.md", "done\n"}}, {Sh: "go test"},
	}}, "id")
	want := "So.\n\ncalc.go\n```\n<<<<<<< SEARCH\na - b\n=======\na + b\n>>>>>>> REPLACE\n```\n" +
		"\n\nNOTES.md\n```\n<<<<<<< SEARCH\n=======\ndone\n>>>>>>> REPLACE\n```\n\n\n```bash\ngo test\n```\n"
	if len(calls) != 0 || text != want {
		t.Errorf("calls %v, text\n%s\nwant\n%s", calls, text, want)
	}
	if p := c.find(regexp.MustCompile(`x`)); p.side {
		t.Error("a request of aider, which offers no tools, is about the task all the same")
	}
}

func TestPlaceInTheScript(t *testing.T) {
	iteration := regexp.MustCompile(`\bIteration (\d+)\b`)
	ask := func(text string) turn { return turn{user, text} }
	said, ran := turn{role: assistant}, turn{role: result}
	for _, tt := range []struct {
		name  string
		turns []turn
		want  place
	}{
		{"nothing", nil, place{part: 1}},
		{"no marker", []turn{ask("do it"), said, ran}, place{part: 1, step: 1}},
		{"begins", []turn{{system, "[[mock:no]]"}, ask("[[mock:a]] do it")}, place{scenario: "a", prompt: "[[mock:a]] do it", part: 1}},
		{"goes on", []turn{ask("[[mock:a]] Iteration 3"), said, ran, said, ran}, place{scenario: "a", prompt: "[[mock:a]] Iteration 3", part: 3, step: 2}},
		{"two calls are one answer", []turn{ask("[[mock:a]]"), said, said, ran, ran}, place{scenario: "a", prompt: "[[mock:a]]", part: 1, step: 1}},
		{"feedback in between", []turn{ask("[[mock:a]]"), said, ask("go on"), said}, place{scenario: "a", prompt: "[[mock:a]]", part: 1, step: 2}},
		{"a session that goes on", []turn{ask("[[mock:a]]"), said, ran, ask("[[mock:b]]"), said}, place{scenario: "b", prompt: "[[mock:b]]", part: 1, step: 1}},
		{"the last marker of a turn", []turn{ask("[[mock:a]] [[mock:b]]")}, place{scenario: "b", prompt: "[[mock:a]] [[mock:b]]", part: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conversation{turns: tt.turns, tools: offer("function", map[string][]string{"Bash": nil})}
			if got := c.find(iteration); got != tt.want {
				t.Errorf("place %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	s := Scenario{Parts: [][]Step{{{Text: "1.0"}, {Text: "1.1"}}, {{Text: "2.0"}}}}
	var got []string
	for _, at := range [][2]int{{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}, {3, 0}, {0, 0}} {
		got = append(got, s.step(at[0], at[1]).Text)
	}
	if want := "[1.0 1.1 Done. 2.0 Done. 2.0 1.0]"; fmt.Sprint(got) != want {
		t.Errorf("steps %v, want %v", got, want)
	}
	s.Repeat = true
	if got := s.step(1, 7).Text; got != "1.1" {
		t.Errorf("step 7 repeats %q, want the last", got)
	}
	if got := (Scenario{}).step(1, 0).Text; got != "Done." {
		t.Errorf("an empty scenario says %q", got)
	}
}
