package hook

import (
	"strings"
	"testing"
)

// afterwards are the options of a project in which files have changed: "" means that
// a file is gone.
func afterwards(now map[string]string) Options {
	opt := options()
	opt.Tree.Before = func(rel string) ([]byte, bool) { text, ok := project[rel]; return []byte(text), ok }
	opt.Tree.Read = func(rel string) ([]byte, bool) {
		if text, ok := now[rel]; ok {
			return []byte(text), text != ""
		}
		text, ok := project[rel]
		return []byte(text), ok
	}
	return opt
}

// TestRisksAfterACall compares the messages about what a call did.
func TestRisksAfterACall(t *testing.T) {
	shell := shellCall("make clean")
	shell.Event = PostTool
	skipped := strings.Replace(calcTest, "func TestSub(t *testing.T) {", "func TestSub(t *testing.T) {\n\tt.Skip()", 1)
	edit := edited(Edit, "calc_test.go", "")
	edit.Event = PostTool
	for _, c := range []struct {
		name    string
		call    Call
		now     map[string]string
		changed []string
		mode    Mode
		want    string // in the warning; "" is none
	}{
		{"nothing changed", shell, nil, []string{"calc_test.go"}, "", ""},
		{"a test is gone", shell, map[string]string{"calc_test.go": ""}, []string{"calc_test.go"}, "", "calc_test.go: it deletes tests"},
		{"a test moved", shell, map[string]string{"calc_test.go": "", "add_test.go": calcTest}, []string{"calc_test.go", "add_test.go"}, "", ""},
		{"a file that is no test is gone", shell, map[string]string{"README.md": ""}, []string{"README.md"}, "", ""},
		{"a skip came", shell, map[string]string{"calc_test.go": skipped}, []string{"calc_test.go"}, "", "calc_test.go, TestSub: unconditional skip (TP-05)"},
		{"the file of the call is looked at", edit, map[string]string{"calc_test.go": skipped}, nil, "", "unconditional skip"},
		{"a case came", edit, map[string]string{"calc_test.go": calcTest + "\nfunc TestMul(t *testing.T) {\n\tif Mul(2, 3) != 6 {\n\t\tt.Fatal(\"Mul\")\n\t}\n}\n"}, nil, "", ""},
		{"off", shell, map[string]string{"calc_test.go": ""}, []string{"calc_test.go"}, ModeOff, ""},
	} {
		opt := afterwards(c.now)
		opt.Mode = c.mode
		got := WarningMessage(JudgeAfter(c.call, opt, c.changed))
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWarningAfterACall holds that a warning reaches the agents whose programs show it to people
// alone.
func TestWarningAfterACall(t *testing.T) {
	for client, want := range map[Client]bool{Claude: false, Qwen: false, Codex: true, Gemini: true} {
		call := shellCall("rm README.md")
		call.Client, call.Event = client, PostTool
		if got := DelayedWarning(call, options()); (got != "") != want {
			t.Errorf("%s: got %q", client, got)
		}
	}
}

func TestOpeningMessage(t *testing.T) {
	if got := SessionMessage(3, 4); !strings.Contains(got, "3 of 4 tests pass now") {
		t.Errorf("got %q", got)
	}
	if got := SessionMessage(0, 0); strings.Contains(got, "of 0 tests") {
		t.Errorf("what was not measured is told as a number: %q", got)
	}
}
