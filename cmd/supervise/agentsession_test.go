//go:build unix

package main

import (
	"encoding/json"
	"fmt"

	"supervise/internal/ledger"
)

// A continued session is the same in the second iteration, and what it consumed
// is counted once.
func continuedAgent(w *agentWorld) string {
	w.serve(steps(does("A function and its test.", addsMul), does("Sub adds; it has to subtract.", fixesSub)))
	r := w.start("--session", "continue")
	r.wants(0, "criterion_met")
	w.done()
	var runs [2]ledger.AgentRun
	for i := range runs {
		data, _ := r.find("agent_finished", i+1)
		if err := json.Unmarshal(data, &runs[i]); err != nil || runs[i].Usage == nil || runs[i].Usage.Output == nil && !w.client.noTokens {
			w.t.Fatalf("iteration %d ended as %s: %v", i+1, data, err)
		}
	}
	if runs[0].Session == "" || runs[0].Session != runs[1].Session {
		w.t.Errorf("session %q, then %q", runs[0].Session, runs[1].Session)
	}
	if w.client.noTokens {
		return r.story()
	}
	if first, second := *runs[0].Usage.Output, *runs[1].Usage.Output; first <= 0 || second <= 0 || second > first*3/2 {
		w.t.Errorf("%d tokens of output, then %d, although both answered as often", first, second)
	}
	return fmt.Sprintf("%s; %d tokens, then %d", r.story(), *runs[0].Usage.Tokens(), *runs[1].Usage.Tokens())
}
