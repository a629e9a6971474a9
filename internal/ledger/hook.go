package ledger

import "encoding/json"

// eventHookCalled is the event of a tool call that an agent's hook reported.
const eventHookCalled = "hook_called"

// hookByEvent maps each event to the hook: the point of the loop at which it happens.
var hookByEvent = map[string]string{
	eventCreated: "loop_start", "loop_started": "loop_start", "loop_resumed": "loop_start", "loop_recorded": "loop_start", "baseline_measured": "loop_start",
	"iteration_started": "pre_iteration", "iteration_finished": "post_iteration", "iteration_recorded": "post_iteration", "iteration_replaced": "post_iteration",
	"rollback_started": "regression_detected", "iteration_rejected": "regression_detected", "approval_requested": "regression_detected",
	"approval_answered": "regression_detected", "tree_alarm": "regression_detected",
	"agent_retrying": "on_error", "agent_waiting": "on_error", "iteration_interrupted": "on_error",
	"reinforcement_changed": "reinforcement_escalation",
	"loop_stopping":         "loop_complete", "output_selected": "loop_complete", "output_verified": "loop_complete", "output_reviewed": "loop_complete",
	"selection_changed": "loop_complete", "selection_applied": "loop_complete", "loop_finished": "loop_complete",
}

// HookName returns the hook at which an event happens, "" if it has none.
func HookName(event string, data json.RawMessage) string {
	if event != eventHookCalled {
		return hookByEvent[event]
	}
	var c ToolCall
	if json.Unmarshal(data, &c) == nil && (c.Event == "PostToolUse" || c.Event == "AfterTool") {
		return "post_tool_call"
	}
	return "pre_tool_call"
}
