//go:build unix

package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/test/docs"
	"supervise/test/mockllm"
)

// agentFailure is a way in which a service or a program fails, and what supervise makes of
// it.
type agentFailure struct {
	name string
	step mockllm.Step // of the model, always
	agentEnd
	waits  string              // until the agent is run again, where it is
	unlike map[string]agentEnd // programs that end otherwise
	tried  string              // the case that tries it, where that is none of these
}

// agentEnd is how an agent fails, and its loop where the service does not recover.
type agentEnd struct {
	outcomes []string // programs differ where there are several
	status   int      // of the loop; 0: it continues
	text     string   // regular expression for why it ended
	why      string   // of a program that is unlike the others
}

var (
	refuses = agentEnd{outcomes: []string{"auth"}, status: 2, text: `does not accept it: .*then: supervise resume`}
	rejects = func(remedy string) agentEnd {
		return agentEnd{outcomes: []string{"bad_request"}, status: 2, text: remedy}
	}
	unavailable = func(outcome string) agentEnd {
		return agentEnd{outcomes: []string{outcome}, status: 4, text: `leaves no time to wait 10s more`}
	}
	goesOn = func(why string, outcomes ...string) agentEnd {
		return agentEnd{outcomes: outcomes, text: `the criterion is not met`, why: why}
	}
)

func answers(status int, message string, more object) mockllm.Step {
	return mockllm.Step{Failure: &mockllm.Failure{Status: status, Message: message, Fields: more}}
}

var agentFailures = []agentFailure{
	{name: "401", step: answers(http.StatusUnauthorized, "invalid api key", nil), agentEnd: refuses},
	{
		name: "403", step: answers(http.StatusForbidden, "your organisation may not use this", nil), agentEnd: refuses,
		unlike: map[string]agentEnd{"aider": goesOn("it prints no status", "crashed")},
	},
	{name: "login expired", step: answers(http.StatusUnauthorized, "OAuth token has expired. Please obtain a new token or refresh your existing token.", nil), agentEnd: refuses},
	{
		name: "429 with a reset", waits: "until then", step: answers(http.StatusTooManyRequests, "The usage limit has been reached. Please try again in 2h0m0s.", object{
			"type": "usage_limit_reached", "plan_type": "plus", "resets_at": time.Now().Add(2 * time.Hour).Unix(), "resets_in_seconds": 7200, // read by codex
		}),
		agentEnd: agentEnd{outcomes: []string{"rate_limit"}, status: 4, text: `leaves no time to wait (2h0m\d+s|1h5\dm\d+s) more`},
		unlike:   map[string]agentEnd{"qwen": goesOn("it retries without output, until `--idle-timeout`", "timeout")},
	},
	{name: "529", waits: "10 s, then longer", step: answers(529, "Overloaded", nil), agentEnd: unavailable("server_error")},
	{
		name: "stream cut", waits: "10 s, then longer", step: mockllm.Step{Text: "I begin with the long work that is to be done here.", Cut: true}, agentEnd: unavailable("server_error"),
		unlike: map[string]agentEnd{"claude": goesOn("treated as the complete answer", "ok")},
	},
	{
		name: "unknown model", step: answers(http.StatusNotFound, "The model `mock-model` does not exist or you do not have access to it.", object{"code": "model_not_found"}),
		agentEnd: rejects(`name a model that you have`),
	},
	{
		name: "prompt too long", step: answers(http.StatusBadRequest, "prompt is too long: 250000 tokens > 200000 maximum", object{"code": "context_length_exceeded"}),
		agentEnd: rejects(`give it a shorter task`),
	},
	{name: "crash", step: mockllm.Step{Text: "Oh.", Do: []mockllm.Action{{Sh: `kill -9 $PPID; sleep 5`}}}, agentEnd: goesOn("", "crashed", "no_final_event")},
	{name: "hang", tried: "hangs", agentEnd: goesOn("", "timeout")},
}

func failureCases() (cases []agentCase) {
	for _, f := range agentFailures {
		if f.tried != "" {
			continue
		}
		cases = append(cases, agentCase{
			name: "fails by " + f.name, run: f.run,
			without: func(c agentClient) bool { return (c.noTools || c.survives) && f.step.Do != nil }, why: "it runs nothing, or goes on",
		})
	}
	return cases
}

// of is how it ends with a program.
func (f agentFailure) of(program string) agentEnd {
	if end, ok := f.unlike[program]; ok {
		return end
	}
	return f.agentEnd
}

// run has the agent fail in its only iteration, without leave to wait.
func (f agentFailure) run(w *agentWorld) string {
	w.serve(mockllm.Scenario{Parts: [][]mockllm.Step{{f.step}}, Repeat: true})
	r := w.start("--hooks", "off", "--max-iterations", "1", "--max-wait", "0", "--idle-timeout", "8m") // some ask again for minutes, and say nothing
	code, want := r.end(), f.of(w.client.name)
	ran, _ := r.find("agent_finished", 1)
	ended, _ := r.find("loop_finished", -1)
	status := cmp.Or(want.status, 4) // the only iteration is over
	if got := word(ran, "outcome"); !slices.Contains(want.outcomes, got) || code != status || !regexp.MustCompile(want.text).MatchString(word(ended, "text")) {
		w.t.Errorf("outcome %q, status %d and %q; want %v, %d and %s\n%s\n%s", got, code, word(ended, "text"), want.outcomes, status, want.text, ran, w.asked())
	}
	return r.story()
}

// TestFailuresAreDocumented compares the table of failures with the one that the programs
// are run by.
func TestFailuresAreDocumented(t *testing.T) {
	var rows []*failureRow
	for _, f := range agentFailures {
		if f.tried != "" && !slices.ContainsFunc(agentCases, func(c agentCase) bool { return c.name == f.tried }) {
			t.Errorf("%s: there is no case %s", f.name, f.tried)
		}
		row := f.row()
		if at := slices.IndexFunc(rows, func(r *failureRow) bool { return r.then == row.then }); at >= 0 {
			row = rows[at]
		} else {
			rows = append(rows, row)
		}
		row.names = append(row.names, f.name)
		for _, name := range slices.Sorted(maps.Keys(f.unlike)) {
			end := f.unlike[name]
			row.other = append(row.other, fmt.Sprintf("%s, %s: `%s`, %s", name, f.name, end.outcomes[0], end.why))
		}
	}
	text := "| failure | outcome | then | but |\n|---|---|---|---|\n"
	for _, r := range rows {
		text += fmt.Sprintf("| %s | %s | %s |\n", strings.Join(r.names, ", "), r.then, strings.Join(r.other, "; "))
	}
	docs.Block(t, "agents.md", "failures", "./cmd/supervise", text)
}

// failureRow is what follows from one or more failures.
type failureRow struct {
	names []string
	then  string // cells
	other []string
}

func (f agentFailure) row() *failureRow {
	next := fmt.Sprintf("status %d", f.status)
	switch {
	case f.status == 0:
		next = "next iteration"
	case f.waits != "":
		next = "waits " + f.waits
	}
	return &failureRow{then: fmt.Sprintf("`%s` | %s", strings.Join(f.outcomes, "`, `"), next)}
}
