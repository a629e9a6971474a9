//go:build unix

package main

import (
	"net/http"
	"regexp"
	"slices"
	"time"

	"supervise/test/mockllm"
)

// agentFailure is a way in which a service or a program fails, and what supervise makes of
// it.
type agentFailure struct {
	name    string
	step    mockllm.Step // of the model, always
	outcome []string     // of the agent; programs differ where there are several
	status  int          // of the loop
	text    string       // regular expression for why it ended
}

func answers(status int, message string, more object) mockllm.Step {
	return mockllm.Step{Failure: &mockllm.Failure{Status: status, Message: message, Fields: more}}
}

var agentFailures = []agentFailure{
	{"401", answers(http.StatusUnauthorized, "invalid api key", nil), []string{"auth"}, 2, `does not accept it: .*then: supervise resume`},
	{"403", answers(http.StatusForbidden, "your organisation may not use this", nil), []string{"auth"}, 2, `does not accept it: `},
	{"login expired", answers(http.StatusUnauthorized, "OAuth token has expired. Please obtain a new token or refresh your existing token.", nil), []string{"auth"}, 2, `does not accept it: `},
	{
		"429 with a reset", answers(http.StatusTooManyRequests, "The usage limit has been reached. Please try again in 2h0m0s.", object{
			"type": "usage_limit_reached", "plan_type": "plus", "resets_at": time.Now().Add(2 * time.Hour).Unix(), "resets_in_seconds": 7200, // read by codex
		}),
		[]string{"rate_limit", "timeout"}, // qwen asks again without a word
		4, `leaves no time to wait (2h0m\d+s|1h5\dm\d+s) more|the criterion is not met`,
	},
	{"529", answers(529, "Overloaded", nil), []string{"server_error"}, 4, `leaves no time to wait 10s more`},
	{ // claude takes what came for the whole answer
		"stream cut",
		mockllm.Step{Text: "I begin with the long work that is to be done here.", Cut: true},
		[]string{"server_error", "ok"},
		4, `leaves no time to wait 10s more|the criterion is not met`,
	},
	{"unknown model", answers(http.StatusNotFound, "The model `mock-model` does not exist or you do not have access to it.", object{"code": "model_not_found"}), []string{"bad_request"}, 2, `name a model that you have`},
	{
		"prompt too long", answers(http.StatusBadRequest, "prompt is too long: 250000 tokens > 200000 maximum", object{"code": "context_length_exceeded"}),
		[]string{"bad_request"},
		2, `give it a shorter task`,
	},
	{"crash", mockllm.Step{Text: "Oh.", Do: []mockllm.Action{{Sh: `kill -9 $PPID; sleep 5`}}}, []string{"crashed", "no_final_event"}, 4, `iteration`},
}

func failureCases() (cases []agentCase) {
	for _, f := range agentFailures {
		cases = append(cases, agentCase{
			name: "fails by " + f.name, run: f.run,
			without: func(c agentClient) bool { return (c.noTools || c.survives) && f.step.Do != nil }, why: "it runs nothing, or goes on",
		})
	}
	return cases
}

// run has the agent fail in its only iteration, without leave to wait.
func (f agentFailure) run(w *agentWorld) string {
	w.serve(mockllm.Scenario{Parts: [][]mockllm.Step{{f.step}}, Repeat: true})
	r := w.start("--hooks", "off", "--max-iterations", "1", "--max-wait", "0", "--idle-timeout", "8m") // some ask again for minutes, and say nothing
	code := r.end()
	ran, _ := r.find("agent_finished", 1)
	ended, _ := r.find("loop_finished", -1)
	if got := word(ran, "outcome"); !slices.Contains(f.outcome, got) || code != f.status || !regexp.MustCompile(f.text).MatchString(word(ended, "text")) {
		w.t.Errorf("outcome %q, status %d and %q; want %v, %d and %s\n%s\n%s", got, code, word(ended, "text"), f.outcome, f.status, f.text, ran, w.asked())
	}
	return r.story()
}
