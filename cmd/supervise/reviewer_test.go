package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"supervise/test/mockllm"
)

// object is a JSON object that a client reads as its configuration.
type object map[string]any

// asksModel is a small agent: it sends its prompt, the last argument, to the model server
// at $MODEL_URL, and prints the answer as pi does with --mode json.
func asksModel() int {
	reads := object{"type": "function", "function": object{"name": "read", "parameters": object{"type": "object", "properties": object{"path": object{"type": "string"}}}}}
	ask, err := json.Marshal(object{"model": "mock", "tools": []object{reads}, "messages": []object{{"role": "user", "content": os.Args[len(os.Args)-1]}}})
	if err != nil {
		panic(err) // of texts
	}
	res, err := http.Post(os.Getenv("MODEL_URL")+"/v1/chat/completions", "application/json", bytes.NewReader(ask))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer res.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Prompt int64 `json:"prompt_tokens"`
			Output int64 `json:"completion_tokens"`
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(body, &answer) != nil || len(answer.Choices) == 0 {
		fmt.Fprintf(os.Stderr, "the model answers %s: %s\n", res.Status, body)
		return 1
	}
	message := object{
		"role": "assistant", "model": "mock", "stopReason": "stop", "content": []object{{"type": "text", "text": answer.Choices[0].Message.Content}},
		"usage": object{"input": answer.Usage.Prompt, "output": answer.Usage.Output, "cost": object{"total": .25}},
	}
	for _, event := range []object{{"type": "session", "id": "s1"}, {"type": "message_end", "message": message}, {"type": "agent_end", "messages": []object{message}}} {
		fmt.Println(event)
	}
	return 0
}

// reviewWorld is a project whose test fails, an agent that repairs it, and a reviewer,
// known as pi, whose model says the text.
func reviewWorld(t *testing.T, says string) (*world, *mockllm.Server) {
	t.Helper()
	model, err := mockllm.Start(mockllm.Options{Default: "review", Scenarios: map[string]mockllm.Scenario{"review": {Parts: [][]mockllm.Step{{{Text: says}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	w := newWorld(t)
	w.write("proj/.supervise.yaml", "checks: {test: sh "+filepath.Join(w.dir, "check.sh")+"}\n")
	w.write("proj/double.sh", "double() { echo 0; }\n")
	w.write("proj/double_test.sh", "TestTwo() { [ \"$(double 2)\" = 4 ]; }\n")
	w.write("steps/1/double.sh", "double() { echo $(($1 * 2)); }\n")
	w.write("bin/pi", "#!/bin/sh\nexec asks \"$@\"\n")
	if err := os.Chmod(filepath.Join(w.dir, "bin/pi"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(w.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("MODEL_URL", model.URL())
	t.Setenv("API_TOKEN", "secret-of-the-user")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "start"}} {
		if out, err := w.command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return w, model
}

// runs runs supervise and returns what it printed.
func (w *world) runs(status int, args ...string) string {
	w.t.Helper()
	cmd := w.command("supervise", args...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !asExit(err, &exit) {
		w.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.t.Fatalf("supervise %v ended with status %d, want %d\n%s", args, got, status, out)
	}
	return string(out)
}

const gamed = `I have read it.
{"verdict": "gaming", "findings": [{"file": "double.sh", "line": 1, "reason": "it was written for secret-of-the-user"}]}`

// TestReviewerOfALoop has a known program review what a loop selected: it is asked once,
// its tokens and cost count, and secrets are masked in both directions.
func TestReviewerOfALoop(t *testing.T) {
	w, model := reviewWorld(t, gamed)
	out := w.runs(0, "run", "--reviewer", "pi", "--max-cost", "5", "-p", "[[mock:review]] Double it, for secret-of-the-user", "--", "agent")
	for _, want := range []string{"reviewer gaming", "MEDIUM review:gaming: The reviewer says of double.sh:1: it was written for", "$0.25"} {
		if !strings.Contains(out, want) {
			t.Errorf("the loop does not print %q:\n%s", want, out)
		}
	}
	asked := model.Requests()
	if len(asked) != 1 {
		t.Fatalf("the model was asked %d times, want once", len(asked))
	}
	for _, want := range []string{"Double it, for", "tests_failed: 1 before, 0 after", "double() { echo $(($1 * 2)); }"} {
		if !strings.Contains(asked[0].Prompt, want) {
			t.Errorf("the reviewer is not told %q:\n%s", want, asked[0].Prompt)
		}
	}
	if strings.Contains(out+asked[0].Prompt, "secret-of-the-user") {
		t.Error("a secret of the environment is not masked")
	}
	state := w.runs(0, "status", "--json")
	var s struct {
		Spending struct {
			Tokens int64   `json:"tokens"`
			Cost   float64 `json:"cost_usd"`
		} `json:"spending"`
	}
	if err := json.Unmarshal([]byte(state), &s); err != nil || s.Spending.Tokens != 1250 || s.Spending.Cost != .25 {
		t.Errorf("the review does not count in the spending: %v\n%s", err, state)
	}
}

// TestReviewerOutOfBudget: the reviewer is ended where it takes more than the loop may
// cost, and what it says then is no opinion.
func TestReviewerOutOfBudget(t *testing.T) {
	w, _ := reviewWorld(t, gamed)
	out := w.runs(0, "run", "--reviewer", "pi", "--max-cost", "0.2", "-p", "Double it", "--", "agent")
	if !strings.Contains(out, "reviewer no opinion: the limit of cost is reached: $0.2500 of $0.2") {
		t.Errorf("the reviewer may cost more than the loop:\n%s", out)
	}
}

// TestReviewerOfAGate has the same program review a change before it is merged.
func TestReviewerOfAGate(t *testing.T) {
	w, model := reviewWorld(t, gamed)
	w.write("proj/double.sh", "double() { echo $(($1 * 2)); }\n")
	out := w.runs(0, "gate", "--reviewer", "pi")
	if !strings.Contains(out, "review:gaming (text)  The reviewer says of double.sh:1: it was written for") {
		t.Errorf("the gate does not list the finding:\n%s", out)
	}
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	w.runs(3, "gate", "--reviewer", "pi", "--fail-on", "medium")
	model.Close()
	if out := w.runs(0, "gate", "--reviewer", "pi"); !strings.Contains(out, "reviewer  no opinion: it ended without success (server error): ") {
		t.Errorf("the gate does not say that there is no opinion:\n%s", out)
	}
}
